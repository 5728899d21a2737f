//! Growing arrays that never move what they hold.

/// Items of one chunk, as a power of two: a chunk of orders is a mebibyte and a half.
const CHUNK_BITS: u32 = 14;
const CHUNK: usize = 1 << CHUNK_BITS;

/// No item: an index that no slab reaches.
pub(crate) const NONE: u32 = u32::MAX;

/// The index, unless it is [`NONE`].
pub(crate) fn some(index: u32) -> Option<u32> {
    (index != NONE).then_some(index)
}

/// Items with 32-bit indexes, in chunks: growing allocates one chunk and copies nothing, so that
/// no command pays for all that came before. The cost is one more load for each access, from a
/// list that is always warm.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    chunks: Vec<Vec<T>>,
    length: u32,
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self {
            chunks: Vec::new(),
            length: 0,
        }
    }

    /// Adds an item and returns its index.
    pub(crate) fn push(&mut self, item: T) -> u32 {
        let index = self.length;
        assert!(index != NONE, "a slab has fewer than 2^32 - 1 items");
        let chunk = chunk_of(index);
        if chunk == self.chunks.len() {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        self.chunks
            .get_mut(chunk)
            .expect("the chunk was just made sure of")
            .push(item);
        self.length += 1;
        index
    }

    pub(crate) const fn len(&self) -> u32 {
        self.length
    }

    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        self.chunks.get(chunk_of(index))?.get(place_of(index))
    }

    pub(crate) fn at(&self, index: u32) -> &T {
        self.get(index).expect("a kept index is in its slab")
    }

    pub(crate) fn at_mut(&mut self, index: u32) -> &mut T {
        self.chunks
            .get_mut(chunk_of(index))
            .and_then(|chunk| chunk.get_mut(place_of(index)))
            .expect("a kept index is in its slab")
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }
}

const fn chunk_of(index: u32) -> usize {
    (index >> CHUNK_BITS) as usize
}

const fn place_of(index: u32) -> usize {
    index as usize & (CHUNK - 1)
}

/// A slab whose items are given back and used again, the last one first. The items that are free
/// are chained through a link that they lend: no list beside them, and whole chains come back in
/// one step.
#[derive(Debug)]
pub(crate) struct Pool<T> {
    items: Slab<T>,
    /// The free item that is used next.
    free: u32,
    used: u32,
}

/// An item that has room for the index of another one.
pub(crate) trait Linked {
    /// The next of the chain that the item is in; what it means otherwise is the item's affair.
    fn next_mut(&mut self) -> &mut u32;
}

impl<T: Linked> Pool<T> {
    pub(crate) const fn new() -> Self {
        Self {
            items: Slab::new(),
            free: NONE,
            used: 0,
        }
    }

    pub(crate) fn take(&mut self, item: T) -> u32 {
        self.used += 1;
        let Some(index) = some(self.free) else {
            return self.items.push(item);
        };
        let place = self.items.at_mut(index);
        self.free = *place.next_mut();
        *place = item;
        index
    }

    pub(crate) fn give_back(&mut self, index: u32) {
        self.give_back_chain(index, index, 1);
    }

    /// Gives back `count` items that are linked from the first to the last.
    pub(crate) fn give_back_chain(&mut self, first: u32, last: u32, count: u32) {
        *self.items.at_mut(last).next_mut() = self.free;
        self.free = first;
        self.used -= count;
    }

    pub(crate) fn at(&self, index: u32) -> &T {
        self.items.at(index)
    }

    pub(crate) fn at_mut(&mut self, index: u32) -> &mut T {
        self.items.at_mut(index)
    }

    /// How many items are in use.
    pub(crate) const fn used(&self) -> u32 {
        self.used
    }
}
