//! Read-only views of a book.

use std::iter;

use crate::{Book, Depth, Incoming, Orders, Resting, SelfTrade, Side, Slot, slab::NONE};

impl Book {
    /// Whether `take` would trade anything: the question of a post-only order. Where it would not,
    /// it may still expire makers, so a post-only order takes first and rests then, like any other.
    #[must_use]
    pub fn would_match(&self, orders: &Orders, incoming: &Incoming) -> bool {
        let queues = self.within(orders, incoming);
        let mut met = queues.flat_map(|level| orders.queue(level));
        let first = met.find_map(|index| {
            let passes = incoming.passes(orders.orders.at(index).owner);
            (passes != Some(true)).then_some(passes)
        });
        first == Some(Some(false))
    }

    /// The best price of a side.
    #[must_use]
    pub fn best(&self, orders: &Orders, side: Side) -> Option<Depth> {
        let best = self.ladder(side).best();
        (best != NONE).then(|| orders.depth(side, best))
    }

    /// What rests at a price.
    #[must_use]
    pub fn at(&self, orders: &Orders, side: Side, price: u64) -> Option<Depth> {
        let level = self.ladder(side).find(&orders.levels, side.key(price))?;
        Some(orders.depth(side, level))
    }

    /// The prices of a side, best first.
    pub fn levels<'a>(
        &self,
        orders: &'a Orders,
        side: Side,
    ) -> impl Iterator<Item = Depth> + use<'a> {
        let levels = orders.ladder(self.ladder(side).best());
        levels.map(move |level| orders.depth(side, level))
    }

    /// The orders of a price, in the order in which they trade.
    pub fn queue<'a>(
        &self,
        orders: &'a Orders,
        side: Side,
        price: u64,
    ) -> impl Iterator<Item = Resting> + use<'a> {
        let level = self.ladder(side).find(&orders.levels, side.key(price));
        let queue = level.into_iter().flat_map(|level| orders.queue(level));
        queue.map(move |index| orders.at(Slot::new(side, index)))
    }

    /// All orders of a side, in the order in which they trade. Resting them again one after the
    /// other gives an equal book.
    pub fn resting<'a>(
        &self,
        orders: &'a Orders,
        side: Side,
    ) -> impl Iterator<Item = Resting> + use<'a> {
        let levels = orders.ladder(self.ladder(side).best());
        let queues = levels.flat_map(|level| orders.queue(level));
        queues.map(move |index| orders.at(Slot::new(side, index)))
    }

    /// The levels that an order may trade at, best first.
    pub(crate) fn within<'a>(
        &self,
        orders: &'a Orders,
        incoming: &Incoming,
    ) -> impl Iterator<Item = u32> + use<'a> {
        let limit = incoming.limit();
        let best = self.ladder(incoming.side.opposite()).best();
        orders
            .ladder(best)
            .take_while(move |&level| orders.levels.at(level).key <= limit)
    }
}

impl Incoming {
    /// Whether it goes past an order of this owner without a trade; `None` where it goes no
    /// further.
    pub(crate) fn passes(&self, owner: crate::Owner) -> Option<bool> {
        match self.self_trade {
            _ if !self.avoids(owner) => Some(false),
            SelfTrade::Allow => Some(false),
            SelfTrade::Skip | SelfTrade::ExpireMaker => Some(true),
            SelfTrade::ExpireTaker | SelfTrade::ExpireBoth => None,
        }
    }
}

impl Orders {
    /// What rests at the price of a resting order, without a search for it.
    ///
    /// # Panics
    /// No order rests there.
    #[must_use]
    pub fn depth_at(&self, slot: Slot) -> Depth {
        let order = self.orders.at(slot.index());
        assert!(order.quantity > 0, "a slot names a resting order");
        self.depth(slot.side(), order.level)
    }

    fn depth(&self, side: Side, level: u32) -> Depth {
        let place = self.levels.at(level);
        Depth {
            price: side.key(place.key),
            quantity: saturated(self.levels.sum(level)),
            orders: place.orders,
        }
    }

    /// A level and all worse ones.
    fn ladder(&self, level: u32) -> impl Iterator<Item = u32> + use<'_> {
        let start = (level != NONE).then_some(level);
        iter::successors(start, |&level| {
            let next = self.levels.next(level);
            (next != NONE).then_some(next)
        })
    }

    pub(crate) fn queue(&self, level: u32) -> impl Iterator<Item = u32> + use<'_> {
        let head = self.levels.at(level).head;
        iter::successors((head != NONE).then_some(head), |&index| {
            let next = self.orders.at(index).next;
            (next != NONE).then_some(next)
        })
    }
}

fn saturated(sum: u128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}
