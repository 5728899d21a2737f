//! Storage of numbered rows.

/// A chunk of 64-byte items is four mebibytes: large enough that the list of chunks stays in the
/// first-level cache, small enough to be allocated at once.
pub(crate) type ChunkSlab<T, const CHUNK_BITS: u32 = 16> = turnstile_chassis::Slab<T, CHUNK_BITS>;

/// A chunk of 64-byte items that is two mebibytes, one large page.
pub(crate) const LINES: u32 = 15;

/// A slab whose items are given back and used again, the last one first.
#[derive(Debug)]
pub(crate) struct RecyclingSlab<T, const CHUNK_BITS: u32 = 16> {
    items: ChunkSlab<T, CHUNK_BITS>,
    free: ChunkSlab<u32>,
}

impl<T, const CHUNK_BITS: u32> RecyclingSlab<T, CHUNK_BITS> {
    pub(crate) const fn new() -> Self {
        Self {
            items: ChunkSlab::empty(),
            free: ChunkSlab::empty(),
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

    /// Notes that somebody looks for an item which may be anywhere.
    pub(crate) fn look(&mut self, index: u32) {
        self.items.look(index);
    }

    /// How many items are in use.
    pub(crate) const fn used(&self) -> u32 {
        self.items.len() - self.free.len()
    }
}
