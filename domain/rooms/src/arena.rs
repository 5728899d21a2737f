//! Room for many short runs of items, without an allocation for each.

use crate::slab::Slab;

/// Items of one chunk.
const CHUNK: usize = 1 << 16;

/// The smallest cell, in items, as a power of two.
const SMALLEST_BITS: u32 = 1;

/// The largest cell has 2^13 = 8,192 items: more than the blocks of nights that the calendar has,
/// and more than the bytes of the longest guest name.
const CLASSES: usize = 13;

/// Cells whose sizes are powers of two, in chunks that never move; a cell that is given back
/// serves the next run of its class. At most half of a cell is unused.
#[derive(Debug)]
pub(crate) struct Arena<T> {
    classes: [Class<T>; CLASSES],
}

#[derive(Debug)]
struct Class<T> {
    chunks: Vec<Vec<T>>,
    cells: u32,
    free: Slab<u32>,
}

impl<T: Copy + Default> Arena<T> {
    pub(crate) fn new() -> Self {
        Self {
            classes: std::array::from_fn(|_| Class {
                chunks: Vec::new(),
                cells: 0,
                free: Slab::empty(),
            }),
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
        if cell as usize * size / CHUNK == class.chunks.len() {
            class.chunks.push(vec![T::default(); CHUNK]);
        }
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
            .and_then(|class| class.chunks.get(start / CHUNK))
            .and_then(|chunk| chunk.get(start % CHUNK..start % CHUNK + length))
            .expect("a kept cell is in its class")
    }

    pub(crate) fn run_mut(&mut self, length: usize, cell: u32) -> &mut [T] {
        let start = cell as usize * cell_size(length);
        self.classes
            .get_mut(class_of(length))
            .and_then(|class| class.chunks.get_mut(start / CHUNK))
            .and_then(|chunk| chunk.get_mut(start % CHUNK..start % CHUNK + length))
            .expect("a kept cell is in its class")
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
