//! Where what has a number lies.

pub(crate) use turnstile_chassis::{NONE, some};

/// A chunk of orders is a mebibyte and a half.
pub(crate) type Slab<T> = turnstile_chassis::Slab<T, 14>;

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
            items: Slab::empty(),
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
