//! A growing array that never moves its items.

use crate::{Looks, Lot};

/// No item: an index that no slab reaches.
pub const NONE: u32 = u32::MAX;

/// The index, unless it is [`NONE`].
#[must_use]
pub fn some(index: u32) -> Option<u32> {
    (index != NONE).then_some(index)
}

/// Items with 32-bit indexes, in chunks of 2^`CHUNK_BITS`: growing allocates one chunk and copies
/// nothing, so that no command pays for all that came before. The cost is one more load for each
/// access, from a list that is always warm.
///
/// What is [looked for](Self::look) anywhere comes to large pages; see [`Looks`].
#[derive(Debug)]
pub struct Slab<T, const CHUNK_BITS: u32> {
    chunks: Vec<Lot<T>>,
    length: u32,
    looks: Looks,
}

#[expect(
    clippy::len_without_is_empty,
    reason = "who walks a slab needs its end, and nobody asks whether it is at the beginning"
)]
impl<T, const CHUNK_BITS: u32> Slab<T, CHUNK_BITS> {
    const CHUNK: usize = 1 << CHUNK_BITS;

    #[must_use]
    pub const fn empty() -> Self {
        Self {
            chunks: Vec::new(),
            length: 0,
            looks: Looks::NONE,
        }
    }

    /// Adds an item and returns its index.
    ///
    /// # Panics
    /// When there are 2^32 - 1 items.
    pub fn push(&mut self, item: T) -> u32 {
        let index = self.length;
        self.length = index
            .checked_add(1)
            .expect("a slab has fewer than 2^32 items");
        let chunk = Self::chunk_of(index);
        if chunk == self.chunks.len() {
            self.chunks.push(Lot::with_room(Self::CHUNK));
        }
        self.chunks
            .get_mut(chunk)
            .expect("the chunk was just made sure of")
            .push(item);
        index
    }

    /// Takes the last item away; its chunk is kept for the next.
    pub fn pop(&mut self) -> Option<T> {
        self.length = self.length.checked_sub(1)?;
        self.chunks.get_mut(Self::chunk_of(self.length))?.pop()
    }

    #[must_use]
    pub const fn len(&self) -> u32 {
        self.length
    }

    #[must_use]
    pub fn get(&self, index: u32) -> Option<&T> {
        self.chunks
            .get(Self::chunk_of(index))?
            .get(Self::place_of(index))
    }

    /// # Panics
    /// When there is no such item.
    #[must_use]
    pub fn at(&self, index: u32) -> &T {
        self.get(index).expect("a kept index is in its slab")
    }

    /// # Panics
    /// When there is no such item.
    pub fn at_mut(&mut self, index: u32) -> &mut T {
        self.chunks
            .get_mut(Self::chunk_of(index))
            .and_then(|chunk| chunk.get_mut(Self::place_of(index)))
            .expect("a kept index is in its slab")
    }

    /// Notes that somebody looks for an item which may be anywhere.
    #[inline]
    pub fn look(&mut self, index: u32) {
        self.looks.note(&mut self.chunks, Self::chunk_of(index));
    }

    /// The items in order of their indexes.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    const fn chunk_of(index: u32) -> usize {
        (index >> CHUNK_BITS) as usize
    }

    const fn place_of(index: u32) -> usize {
        index as usize & (Self::CHUNK - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Slab;

    #[test]
    fn items_keep_their_indexes_and_their_places_when_it_grows() {
        let mut slab = Slab::<u32, 2>::empty();
        let first = slab.push(0);
        let place: *const u32 = slab.at(first);
        for item in 1..11 {
            assert_eq!(slab.push(item), item);
        }
        assert!(std::ptr::eq(slab.at(first), place));
        *slab.at_mut(9) += 90;
        assert_eq!(slab.pop(), Some(10));
        assert_eq!(
            (slab.get(9), slab.get(10), slab.len()),
            (Some(&99), None, 10)
        );
        let items: Vec<u32> = slab.iter().copied().collect();
        assert_eq!(items, [0, 1, 2, 3, 4, 5, 6, 7, 8, 99]);
    }
}
