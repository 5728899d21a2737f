//! Storage of the resting orders of many books.

use turnstile_chassis::prefetch;

use crate::{
    Owner, Resting, Slot,
    levels::Levels,
    slab::{NONE, RecordSlab, Vacant},
};

/// An order in the queue of its level. Two of them fill a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Order {
    pub(crate) order: u64,
    /// What is untraded; zero only where the record is vacant.
    pub(crate) quantity: u64,
    pub(crate) owner: Owner,
    pub(crate) level: u32,
    pub(crate) prev: u32,
    pub(crate) next: u32,
}

/// The storage of any number of books: their orders, their levels, and the trees of these.
///
/// Shared, because of thousands of symbols most are quiet: what the busy ones need moves with the
/// market, and a quiet book owns nothing but 24 bytes. An order takes 32 bytes, a level 32 and
/// its share of the tree at most 80, wherever the prices lie. The price is that slots of one book
/// handed to another go unnoticed until [`Orders::check`].
#[derive(Debug)]
pub struct Orders {
    pub(crate) orders: RecordSlab<Order>,
    pub(crate) levels: Levels,
}

impl Vacant for Order {
    fn vacant(next: u32) -> Self {
        Self {
            order: 0,
            quantity: 0,
            owner: Owner(0),
            level: NONE,
            prev: NONE,
            next,
        }
    }

    fn next_vacant(&self) -> u32 {
        self.next
    }
}

impl Default for Orders {
    fn default() -> Self {
        Self::new()
    }
}

impl Orders {
    #[must_use]
    pub const fn new() -> Self {
        Self {
            orders: RecordSlab::new(),
            levels: Levels::new(),
        }
    }

    /// Reserves room for so many orders, each at a price of its own if need be. It is memory only
    /// where it is used, but growing beyond it copies what there is.
    #[must_use]
    pub fn with_capacity(orders: usize) -> Self {
        Self {
            orders: RecordSlab::with_capacity(orders),
            levels: Levels::with_capacity(orders),
        }
    }

    /// How many orders rest, in all books.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.orders.used()
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The order of a slot.
    ///
    /// # Panics
    /// No order rests there.
    #[must_use]
    pub fn at(&self, slot: Slot) -> Resting {
        let order = self.orders.at(slot.index());
        assert!(order.quantity > 0, "a slot names a resting order");
        let side = slot.side();
        Resting {
            slot,
            order: order.order,
            owner: order.owner,
            side,
            price: side.key(self.levels.at(order.level).key),
            quantity: order.quantity,
        }
    }

    /// The caller's number of the order of a slot; anything where no order rests there.
    ///
    /// # Panics
    /// No order was ever there.
    #[inline]
    #[must_use]
    pub fn number(&self, slot: Slot) -> u64 {
        self.orders.at(slot.index()).order
    }

    /// Asks memory for the record of a slot's order, for a command that is still to come.
    #[inline]
    pub fn prefetch(&self, slot: Slot) {
        if let Some(order) = self.orders.get(slot.index()) {
            prefetch(order);
        }
    }
}
