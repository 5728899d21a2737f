//! The price levels of many books, and the sums of their queues.

use std::collections::BTreeMap;

use crate::{
    node::Node,
    slab::{NONE, RecordSlab, Vacant},
};

/// A price with its queue of orders.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Level {
    /// The price; see [`Side::key`](crate::Side::key).
    pub(crate) key: u64,
    /// The sum of the queue, modulo 2^64; see [`Levels::sum`].
    quantity: u64,
    pub(crate) orders: u32,
    pub(crate) head: u32,
    pub(crate) tail: u32,
    /// The node that it hangs on, or `NONE`.
    pub(crate) parent: u32,
}

/// Levels of any number of books, and the forks of their ladders.
#[derive(Debug)]
pub(crate) struct Levels {
    levels: RecordSlab<Level>,
    pub(crate) nodes: RecordSlab<Node>,
    /// How often the sum of a level went over 2^64: no honest market gets there, so no level has
    /// room for it, but the sums are exact for any others, too.
    carries: BTreeMap<u32, u64>,
}

impl Vacant for Level {
    fn vacant(next: u32) -> Self {
        Self {
            key: 0,
            quantity: 0,
            orders: 0,
            head: NONE,
            tail: NONE,
            parent: next,
        }
    }

    fn next_vacant(&self) -> u32 {
        self.parent
    }
}

impl Levels {
    pub(crate) const fn new() -> Self {
        Self {
            levels: RecordSlab::new(),
            nodes: RecordSlab::new(),
            carries: BTreeMap::new(),
        }
    }

    pub(crate) fn with_capacity(levels: usize) -> Self {
        Self {
            levels: RecordSlab::with_capacity(levels),
            nodes: RecordSlab::with_capacity(levels),
            carries: BTreeMap::new(),
        }
    }

    #[inline]
    pub(crate) fn at(&self, level: u32) -> &Level {
        self.levels.at(level)
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, level: u32) -> &mut Level {
        self.levels.at_mut(level)
    }

    #[inline]
    pub(crate) fn add(&mut self, key: u64, parent: u32) -> u32 {
        let level = Level {
            key,
            ..Level::vacant(parent)
        };
        self.levels.take(level)
    }

    #[inline]
    pub(crate) fn give_back(&mut self, level: u32) {
        self.levels.give_back(level);
    }

    /// Levels and forks in use.
    pub(crate) const fn used(&self) -> (u32, u32) {
        (self.levels.used(), self.nodes.used())
    }

    /// The sum of a level's queue.
    pub(crate) fn sum(&self, level: u32) -> u128 {
        let carries = self.carries.get(&level).copied().unwrap_or(0);
        u128::from(carries) << 64 | u128::from(self.at(level).quantity)
    }

    #[inline]
    pub(crate) fn increase(&mut self, level: u32, quantity: u64) {
        let place = &mut self.at_mut(level).quantity;
        let (sum, carry) = place.overflowing_add(quantity);
        *place = sum;
        if carry {
            self.carry(level);
        }
    }

    #[inline]
    pub(crate) fn decrease(&mut self, level: u32, quantity: u64) {
        let place = &mut self.at_mut(level).quantity;
        let (sum, borrow) = place.overflowing_sub(quantity);
        *place = sum;
        if borrow {
            self.borrow(level);
        }
    }

    #[cold]
    fn carry(&mut self, level: u32) {
        *self.carries.entry(level).or_insert(0) += 1;
    }

    #[cold]
    fn borrow(&mut self, level: u32) {
        let carries = self
            .carries
            .get_mut(&level)
            .expect("no more is taken from a level than was put there");
        *carries -= 1;
        if *carries == 0 {
            self.carries.remove(&level);
        }
    }
}
