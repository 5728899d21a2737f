//! Storage for many short runs of items, without one allocation for each.

use turnstile_chassis::{LARGE_PAGE, Looks, Lot};

use crate::slab::ChunkSlab;

/// The smallest cell, in items, as a power of two.
const SMALLEST_BITS: u32 = 1;

/// The largest cell has 2^13 = 8,192 items: more than the blocks of nights that the calendar has,
/// and more than the bytes of the longest guest name.
const CLASSES: usize = 13;

/// Cells whose sizes are powers of two, in chunks that are not moved when more are taken; a cell that is
/// given back serves the next run of its class. At most half of a cell is unused. Runs that are
/// [looked for](CellArena::look) anywhere come to large pages; see [`Looks`].
#[derive(Debug)]
pub(crate) struct CellArena<T> {
    classes: [LotClass<T>; CLASSES],
    /// Whether a class has more than one chunk.
    is_large: bool,
}

#[derive(Debug)]
struct LotClass<T> {
    chunks: Vec<Lot<T>>,
    looks: Looks,
    cells: u32,
    free: ChunkSlab<u32>,
}

impl<T: Copy + Default> CellArena<T> {
    /// Items of one chunk, which may become a large page.
    const CHUNK: usize = LARGE_PAGE / size_of::<T>();

    pub(crate) fn new() -> Self {
        Self {
            classes: std::array::from_fn(|_| LotClass {
                chunks: Vec::new(),
                looks: Looks::NONE,
                cells: 0,
                free: ChunkSlab::empty(),
            }),
            is_large: false,
        }
    }

    /// A cell for `length` items; its contents are whatever they were.
    pub(crate) fn take(&mut self, length: usize) -> u32 {
        let size = cell_size(length);
        let class = self
            .classes
            .get_mut(class_of(length))
            .expect("no run is longer than the largest class");
        if let Some(cell) = class.free.pop() {
            return cell;
        }
        let cell = class.cells;
        if cell as usize * size / Self::CHUNK == class.chunks.len() {
            self.is_large |= !class.chunks.is_empty();
            class.chunks.push(Lot::with_room(Self::CHUNK));
        }
        let chunk = class.chunks.last_mut().expect("it was just made sure of");
        chunk.push_all(T::default(), size);
        class.cells = cell.checked_add(1).expect("fewer than 2^32 cells");
        cell
    }

    /// Gives back the cell of a run of `length` items.
    pub(crate) fn give_back(&mut self, length: usize, cell: u32) {
        self.classes
            .get_mut(class_of(length))
            .expect("the cell came from this class")
            .free
            .push(cell);
    }

    pub(crate) fn run(&self, length: usize, cell: u32) -> &[T] {
        let start = cell as usize * cell_size(length);
        self.classes
            .get(class_of(length))
            .and_then(|class| class.chunks.get(start / Self::CHUNK))
            .and_then(|chunk| chunk.get(start % Self::CHUNK..start % Self::CHUNK + length))
            .expect("a kept cell is in its class")
    }

    pub(crate) fn run_mut(&mut self, length: usize, cell: u32) -> &mut [T] {
        let start = cell as usize * cell_size(length);
        self.classes
            .get_mut(class_of(length))
            .and_then(|class| class.chunks.get_mut(start / Self::CHUNK))
            .and_then(|chunk| chunk.get_mut(start % Self::CHUNK..start % Self::CHUNK + length))
            .expect("a kept cell is in its class")
    }

    /// Notes that somebody looks for a run which may be anywhere.
    #[inline]
    pub(crate) fn look(&mut self, length: usize, cell: u32) {
        if !self.is_large {
            return;
        }
        if let Some(class) = self.classes.get_mut(class_of(length)) {
            let chunk = cell as usize * cell_size(length) / Self::CHUNK;
            class.looks.note(&mut class.chunks, chunk);
        }
    }

    /// How many cells are in use, of all classes.
    pub(crate) fn used(&self) -> u32 {
        self.classes
            .iter()
            .map(|class| class.cells - class.free.len())
            .sum()
    }
}

/// Whether runs of these two lengths live in cells of the same class.
pub(crate) fn same_class(left: usize, right: usize) -> bool {
    class_of(left) == class_of(right)
}

fn class_of(length: usize) -> usize {
    (length
        .next_power_of_two()
        .trailing_zeros()
        .max(SMALLEST_BITS)
        - SMALLEST_BITS) as usize
}

fn cell_size(length: usize) -> usize {
    length.next_power_of_two().max(1 << SMALLEST_BITS)
}
