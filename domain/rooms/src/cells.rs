//! Memory for the parts of a table, where those of one size lie side by side.

use turnstile_chassis::Lot;

/// No entry. An index is never `u32::MAX`, so no entry looks like this.
pub(crate) const EMPTY: u64 = u64::MAX;

/// Slots of a chunk: eight mebibytes, four large pages.
const CHUNK_SLOTS: usize = 1 << 20;

/// The most cells of a chunk, so that a small table takes little.
const CHUNK_CELLS: usize = 256;

/// The smallest cell, one cache line, as a power of two.
const SMALLEST_BITS: u32 = 3;

/// The largest cell has a slot for every index.
const CLASSES: usize = 30;

/// A run of slots, their number a power of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    chunk: usize,
    start: usize,
    size: usize,
}

/// Cells of every size. A look into a large table hits any page of it, and each page that the
/// processor does not know costs a walk through the tables of pages. So cells lie in chunks that
/// are large enough for large pages, and those of one size together: as the parts of a table grow
/// at about the same time, all of a size are soon given back, and then their chunks go too.
#[derive(Debug)]
pub(crate) struct Cells {
    /// Each as long as its cells that were ever taken; empty ones wait to be used again.
    chunks: Vec<Lot<u64>>,
    /// By the power of two of their size; on the heap, so that whoever holds a table stays small.
    classes: Box<[SizeClass]>,
}

/// The cells of one size.
#[derive(Debug, Default)]
struct SizeClass {
    chunks: Vec<usize>,
    free: Vec<Cell>,
    used: usize,
}

impl Cell {
    pub(crate) const fn size(self) -> usize {
        self.size
    }
}

impl Cells {
    /// The size of the smallest cell.
    pub(crate) const SMALLEST: usize = 1 << SMALLEST_BITS;

    pub(crate) fn new() -> Self {
        Self {
            chunks: Vec::new(),
            classes: (0..CLASSES).map(|_| SizeClass::default()).collect(),
        }
    }

    /// A cell of so many slots, all of them empty.
    pub(crate) fn take(&mut self, size: usize) -> Cell {
        let class = self.class_mut(size);
        class.used += 1;
        if let Some(cell) = class.free.pop() {
            self.slots_mut(cell).fill(EMPTY);
            return cell;
        }
        let room = size * (CHUNK_SLOTS / size).clamp(1, CHUNK_CELLS);
        let last = class.chunks.last().copied();
        let has_room = |&chunk: &usize| self.chunks.get(chunk).is_some_and(|one| one.len() < room);
        let chunk = last.filter(has_room).unwrap_or_else(|| {
            let chunk = self.add(room);
            self.class_mut(size).chunks.push(chunk);
            chunk
        });
        let slots = self.chunks.get_mut(chunk).expect("it was just looked at");
        let start = slots.len();
        slots.push_all(EMPTY, size);
        Cell { chunk, start, size }
    }

    /// Adds a chunk, and says where it is.
    fn add(&mut self, room: usize) -> usize {
        let unused = self.chunks.iter().position(|chunk| chunk.is_empty());
        let chunk = unused.unwrap_or(self.chunks.len());
        match self.chunks.get_mut(chunk) {
            Some(place) => *place = Lot::with_large_pages(room),
            None => self.chunks.push(Lot::with_large_pages(room)),
        }
        chunk
    }

    /// Gives back a cell; the last one of its size gives back their chunks.
    pub(crate) fn give_back(&mut self, cell: Cell) {
        let class = self.class_mut(cell.size);
        class.used -= 1;
        if class.used > 0 {
            class.free.push(cell);
            return;
        }
        for chunk in std::mem::take(class).chunks {
            if let Some(chunk) = self.chunks.get_mut(chunk) {
                *chunk = Lot::none();
            }
        }
    }

    #[inline]
    pub(crate) fn slots(&self, cell: Cell) -> &[u64] {
        self.chunks
            .get(cell.chunk)
            .and_then(|chunk| chunk.get(cell.start..cell.start + cell.size))
            .expect("a taken cell is in its chunk")
    }

    #[inline]
    pub(crate) fn slots_mut(&mut self, cell: Cell) -> &mut [u64] {
        self.chunks
            .get_mut(cell.chunk)
            .and_then(|chunk| chunk.get_mut(cell.start..cell.start + cell.size))
            .expect("a taken cell is in its chunk")
    }

    fn class_mut(&mut self, size: usize) -> &mut SizeClass {
        self.classes
            .get_mut((size.trailing_zeros() - SMALLEST_BITS) as usize)
            .expect("no part of a table outgrows the largest cell")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_what_was_put_into_them_while_others_come_and_go() {
        let mut cells = Cells::new();
        let mut kept: Vec<(Cell, u64)> = Vec::new();
        let mut state = 1_u32;
        for mark in 0..4_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state & 64 == 0 && !kept.is_empty() {
                let (cell, mark) = kept.swap_remove((state >> 7) as usize % kept.len());
                assert!(cells.slots(cell).iter().all(|&slot| slot == mark));
                cells.give_back(cell);
            } else {
                let cell = cells.take(Cells::SMALLEST << (state >> 28));
                assert!(cells.slots(cell).iter().all(|&slot| slot == EMPTY));
                cells.slots_mut(cell).fill(mark);
                kept.push((cell, mark));
            }
        }
        for (cell, mark) in kept {
            assert!(cells.slots(cell).iter().all(|&slot| slot == mark));
            cells.give_back(cell);
        }
        assert!(cells.chunks.iter().all(|chunk| chunk.is_empty()));
    }

    #[test]
    fn memory_is_given_back_with_the_last_cell_of_a_size_and_its_place_is_used_again() {
        for size in [Cells::SMALLEST, 1 << 13, CHUNK_SLOTS * 2] {
            let mut cells = Cells::new();
            let other = cells.take(size * 2);
            let of_a_size = [0, 1, 2].map(|_| cells.take(size));
            for cell in of_a_size {
                assert!(
                    cells
                        .chunks
                        .get(cell.chunk)
                        .is_some_and(|one| !one.is_empty())
                );
                cells.give_back(cell);
            }
            let left = cells.chunks.iter().filter(|chunk| !chunk.is_empty());
            assert_eq!(left.count(), 1);
            let again = cells.take(size);
            assert_eq!((again.chunk, again.start), (of_a_size[0].chunk, 0));
            assert_eq!(cells.slots(other).len(), size * 2);
        }
    }
}
