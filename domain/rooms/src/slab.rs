//! A growing array that never moves what it holds.

/// Items of one chunk, as a power of two. A chunk of 64-byte items is four mebibytes: large enough
/// that the list of chunks stays in the first-level cache, small enough to be allocated at once.
const CHUNK_BITS: u32 = 16;
const CHUNK: usize = 1 << CHUNK_BITS;

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
        let chunk = chunk_of(index);
        if chunk == self.chunks.len() {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        self.chunks
            .get_mut(chunk)
            .expect("the chunk was just made sure of")
            .push(item);
        self.length = index.checked_add(1).expect("fewer than 2^32 items");
        index
    }

    /// Takes the last item away; its chunk is kept for the next.
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.length = self.length.checked_sub(1)?;
        self.chunks.get_mut(chunk_of(self.length))?.pop()
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

/// A slab whose items are given back and used again, the last one first.
#[derive(Debug)]
pub(crate) struct Pool<T> {
    items: Slab<T>,
    free: Slab<u32>,
}

impl<T> Pool<T> {
    pub(crate) const fn new() -> Self {
        Self {
            items: Slab::new(),
            free: Slab::new(),
        }
    }

    pub(crate) fn take(&mut self, item: T) -> u32 {
        let Some(index) = self.free.pop() else {
            return self.items.push(item);
        };
        *self.items.at_mut(index) = item;
        index
    }

    pub(crate) fn give_back(&mut self, index: u32) {
        self.free.push(index);
    }

    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        self.items.get(index)
    }

    pub(crate) fn at(&self, index: u32) -> &T {
        self.items.at(index)
    }

    pub(crate) fn at_mut(&mut self, index: u32) -> &mut T {
        self.items.at_mut(index)
    }

    /// How many items are in use.
    pub(crate) const fn used(&self) -> u32 {
        self.items.len() - self.free.len()
    }
}
