//! A slab with reusable items.

use crate::{NONE, Slab, some};

/// A slab whose items are given back and used again, the last one first. The items that are free
/// are chained through a link that they lend: no list beside them, and whole chains come back in
/// one step.
#[derive(Debug)]
pub struct Pool<T, const CHUNK_BITS: u32> {
    items: Slab<T, CHUNK_BITS>,
    /// The free item that is used next.
    free: u32,
    used: u32,
}

/// An item that has room for the index of another one.
pub trait Linked {
    /// The next of the chain that the item is in; what it means otherwise is the item's affair.
    fn next_mut(&mut self) -> &mut u32;
}

impl<T: Linked, const CHUNK_BITS: u32> Pool<T, CHUNK_BITS> {
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            items: Slab::empty(),
            free: NONE,
            used: 0,
        }
    }

    /// Puts an item where one was given back, or at the end.
    pub fn take(&mut self, item: T) -> u32 {
        self.used += 1;
        let Some(index) = some(self.free) else {
            return self.items.push(item);
        };
        let place = self.items.at_mut(index);
        self.free = *place.next_mut();
        *place = item;
        index
    }

    /// Gives one item back.
    pub fn give_back(&mut self, index: u32) {
        self.give_back_chain(index, index, 1);
    }

    /// Gives back `count` items that are linked from the first to the last.
    pub fn give_back_chain(&mut self, first: u32, last: u32, count: u32) {
        *self.items.at_mut(last).next_mut() = self.free;
        self.free = first;
        self.used -= count;
    }

    /// # Panics
    /// When there is no such item.
    #[must_use]
    pub fn at(&self, index: u32) -> &T {
        self.items.at(index)
    }

    /// # Panics
    /// When there is no such item.
    pub fn at_mut(&mut self, index: u32) -> &mut T {
        self.items.at_mut(index)
    }

    /// How many items are in use.
    #[must_use]
    pub const fn used(&self) -> u32 {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Linked for u32 {
        fn next_mut(&mut self) -> &mut u32 {
            self
        }
    }

    #[test]
    fn what_is_given_back_is_used_again_the_last_first() {
        let mut pool = Pool::<u32, 2>::empty();
        let items: Vec<u32> = (10..16).map(|item| pool.take(item)).collect();
        assert_eq!(items, [0, 1, 2, 3, 4, 5]);
        pool.give_back(1);
        pool.give_back(4);
        assert_eq!(pool.used(), 4);
        assert_eq!((pool.take(20), pool.take(21), pool.take(22)), (4, 1, 6));
        assert_eq!((*pool.at(4), *pool.at(1), *pool.at(0)), (20, 21, 10));
    }
}
