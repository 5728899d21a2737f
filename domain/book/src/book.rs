//! The book: matching, resting, cancelling.

use crate::{
    Incoming, Orders, Report, SelfTrade, Side, Slot, Stop, Taken, ladder::PriceLadder, slab::NONE,
};

/// The book of one symbol. Its orders are in an [`Orders`] that it may share with other books; all
/// calls on one book take the same one, and only slots of this book.
#[derive(Debug)]
pub struct Book {
    buys: PriceLadder,
    sells: PriceLadder,
}

impl Default for Book {
    fn default() -> Self {
        Self::new()
    }
}

impl Book {
    #[must_use]
    pub const fn new() -> Self {
        Self {
            buys: PriceLadder::new(),
            sells: PriceLadder::new(),
        }
    }

    /// Matches an incoming order against the other side and reports each trade and each expired
    /// maker, in order. The rest of the order is not put on the book; see [`Self::rest`].
    ///
    /// With [`SelfTrade::Skip`] it passes over the orders of its owner one by one, so that its
    /// cost grows with their number: whoever limits an owner's open orders limits this.
    #[inline]
    pub fn take(
        &mut self,
        orders: &mut Orders,
        incoming: &Incoming,
        report: &mut impl FnMut(Report),
    ) -> Taken {
        let limit = incoming.limit();
        let ladder = self.ladder_mut(incoming.side.opposite());
        let mut taker = Taker {
            incoming,
            left: incoming.quantity,
        };
        let mut level = ladder.best();
        while level != NONE && orders.levels.at(level).key <= limit {
            let stop = taker.sweep(orders, level, report);
            if stop.is_none() || orders.levels.at(level).orders == 0 {
                level = ladder.pass(&mut orders.levels, level);
            }
            if let Some(stop) = stop {
                return taker.stopped(stop);
            }
        }
        taker.stopped(Stop::NoMatch)
    }

    /// Puts `quantity` of the order, which is what `take` left, at the end of the queue of its
    /// price.
    ///
    /// # Panics
    /// The order has no price, or the quantity is zero.
    #[inline]
    pub fn rest(&mut self, orders: &mut Orders, incoming: &Incoming, quantity: u64) -> Slot {
        let Incoming {
            order, owner, side, ..
        } = *incoming;
        assert!(quantity > 0, "an order on the book has something left");
        let price = incoming.price.expect("an order on the book has a price");
        let ladder = self.ladder_mut(side);
        let level = ladder.find_or_add(&mut orders.levels, side.key(price));
        Slot::new(side, orders.append(level, order, owner, quantity))
    }

    /// Takes an order off the book; returns what it had left.
    ///
    /// # Panics
    /// No order rests there.
    #[inline]
    pub fn cancel(&mut self, orders: &mut Orders, slot: Slot) -> u64 {
        let (level, left) = orders.unlink(slot.index());
        if orders.levels.at(level).orders == 0 {
            let ladder = self.ladder_mut(slot.side());
            ladder.remove(&mut orders.levels, level);
        }
        left
    }

    /// Lowers what an order has left to `quantity`. It keeps its place in the queue.
    ///
    /// # Panics
    /// No order rests there, or `quantity` is zero or more than it has left.
    #[expect(
        clippy::unused_self,
        reason = "whoever does not own the book must not change its orders"
    )]
    pub fn reduce(&mut self, orders: &mut Orders, slot: Slot, quantity: u64) {
        let order = orders.orders.at_mut(slot.index());
        assert!(
            (1..=order.quantity).contains(&quantity),
            "a resting order is only reduced, and never to nothing"
        );
        let less = order.quantity - quantity;
        order.quantity = quantity;
        let level = order.level;
        orders.levels.decrease(level, less);
    }

    #[inline]
    pub(crate) const fn ladder(&self, side: Side) -> &PriceLadder {
        match side {
            Side::Buy => &self.buys,
            Side::Sell => &self.sells,
        }
    }

    #[inline]
    const fn ladder_mut(&mut self, side: Side) -> &mut PriceLadder {
        match side {
            Side::Buy => &mut self.buys,
            Side::Sell => &mut self.sells,
        }
    }
}

/// An incoming order on its way through the other side of a book.
struct Taker<'a> {
    incoming: &'a Incoming,
    left: u64,
}

impl Taker<'_> {
    const fn stopped(&self, stop: Stop) -> Taken {
        Taken {
            left: self.left,
            stop,
        }
    }

    /// Trades with the orders of a level, in turn, until something stops it.
    #[inline]
    fn sweep(
        &mut self,
        orders: &mut Orders,
        level: u32,
        report: &mut impl FnMut(Report),
    ) -> Option<Stop> {
        let place = orders.levels.at(level);
        let price = self.incoming.side.opposite().key(place.key);
        let mut maker = place.head;
        while maker != NONE {
            let order = orders.orders.at(maker);
            let next = order.next;
            if self.incoming.avoids(order.owner) {
                let expired = self.meet_own(orders, maker, price, report);
                if expired {
                    return Some(Stop::TakerExpired);
                }
            } else {
                self.trade(orders, maker, price, report);
                if self.left == 0 {
                    return Some(Stop::NoneLeft);
                }
            }
            maker = next;
        }
        None
    }

    #[inline]
    fn trade(
        &mut self,
        orders: &mut Orders,
        maker: u32,
        price: u64,
        report: &mut impl FnMut(Report),
    ) {
        let order = orders.orders.at_mut(maker);
        let quantity = self.left.min(order.quantity);
        let maker_left = order.quantity - quantity;
        let fill = Report::Fill {
            maker: Slot::new(self.incoming.side.opposite(), maker),
            maker_order: order.order,
            maker_owner: order.owner,
            price,
            quantity,
            maker_left,
        };
        self.left -= quantity;
        if maker_left == 0 {
            orders.unlink(maker);
        } else {
            order.quantity = maker_left;
            let level = order.level;
            orders.levels.decrease(level, quantity);
        }
        report(fill);
    }

    /// Meets an order of its own owner. Returns whether it goes no further.
    #[cold]
    fn meet_own(
        &self,
        orders: &mut Orders,
        maker: u32,
        price: u64,
        report: &mut impl FnMut(Report),
    ) -> bool {
        let (maker_expires, taker_expires) = match self.incoming.self_trade {
            SelfTrade::Allow | SelfTrade::Skip => (false, false),
            SelfTrade::ExpireMaker => (true, false),
            SelfTrade::ExpireTaker => (false, true),
            SelfTrade::ExpireBoth => (true, true),
        };
        if maker_expires {
            let order = *orders.orders.at(maker);
            orders.unlink(maker);
            report(Report::Expired {
                maker: Slot::new(self.incoming.side.opposite(), maker),
                maker_order: order.order,
                maker_owner: order.owner,
                price,
                left: order.quantity,
            });
        }
        taker_expires
    }
}
