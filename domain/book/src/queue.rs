//! The queue of a level: a doubly linked list through the orders.

use crate::{
    Owner,
    orders::{Order, Orders},
    slab::NONE,
};

impl Orders {
    /// Puts a new order at the end of a level's queue.
    #[inline]
    pub(crate) fn append(&mut self, level: u32, order: u64, owner: Owner, quantity: u64) -> u32 {
        let tail = self.levels.at(level).tail;
        let index = self.orders.take(Order {
            order,
            quantity,
            owner,
            level,
            prev: tail,
            next: NONE,
        });
        let place = self.levels.at_mut(level);
        place.tail = index;
        place.orders += 1;
        if tail == NONE {
            place.head = index;
        } else {
            self.orders.at_mut(tail).next = index;
        }
        self.levels.increase(level, quantity);
        index
    }

    /// Takes an order out of its queue; returns its level, which may then be empty, and what the
    /// order had left.
    ///
    /// # Panics
    /// No order rests there.
    #[inline]
    pub(crate) fn unlink(&mut self, index: u32) -> (u32, u64) {
        let Order {
            quantity,
            level,
            prev,
            next,
            ..
        } = *self.orders.at(index);
        assert!(level != NONE, "a slot names a resting order");
        let place = self.levels.at_mut(level);
        place.orders -= 1;
        if next == NONE {
            place.tail = prev;
        } else {
            self.orders.at_mut(next).prev = prev;
        }
        if prev == NONE {
            place.head = next;
        } else {
            self.orders.at_mut(prev).next = next;
        }
        self.orders.give_back(index);
        self.levels.decrease(level, quantity);
        (level, quantity)
    }
}
