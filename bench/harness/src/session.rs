//! The harness's rules over our book: messages in, reports out.

use turnstile_book::{Book, Incoming, Orders, Owner, Report, SelfTrade, Side, Stop};

use crate::{
    abi::{Cancel, Modify, NewOrder},
    entry::{Entry, Kind, Sink},
    order_index::OrderIndex,
};

/// Orders at once on the book for which there is room from the start. There is room for more, but
/// not without copying.
const RESTING: usize = 1 << 16;

/// One book and the numbers of its orders. All orders belong to one owner and may trade with each
/// other.
#[derive(Debug)]
pub struct Session {
    book: Book,
    orders: Orders,
    index: OrderIndex,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    #[must_use]
    pub fn new() -> Self {
        Self {
            book: Book::new(),
            orders: Orders::with_capacity(RESTING),
            index: OrderIndex::with_capacity(RESTING),
        }
    }

    /// A new order. One without a quantity, or with the number of an order that rests, changes
    /// nothing; the harness has no report for it, so it is reported as not modified.
    #[inline]
    pub fn submit(&mut self, order: &NewOrder, sink: &mut impl Sink) {
        if order.quantity == 0 || self.index.contains(&self.orders, order.order) {
            sink.put(rejected(Kind::NotModified, order.order, order.sequence));
            return;
        }
        sink.put(of_order(Kind::Accepted, order));
        let left = self.enter(order, sink);
        if left > 0 && order.immediate != 0 {
            sink.put(Entry {
                quantity: left,
                ..of_order(Kind::Cancelled, order)
            });
        }
    }

    /// Takes an order off the book.
    #[inline]
    pub fn cancel(&mut self, cancel: &Cancel, sink: &mut impl Sink) {
        let Some(slot) = self.index.take(&self.orders, cancel.order) else {
            sink.put(rejected(Kind::NotCancelled, cancel.order, cancel.sequence));
            return;
        };
        let resting = self.orders.at(slot);
        self.book.cancel(&mut self.orders, slot);
        sink.put(Entry {
            kind: Kind::Cancelled,
            side: side_number(resting.side),
            quantity: quantity(resting.quantity),
            sequence: cancel.sequence,
            order: cancel.order,
            price: ticks(resting.price),
        });
    }

    /// Takes an order off the book and enters it again, also where it could keep its place in the
    /// queue: the harness demands it. One to which nothing would be left is not modified.
    #[inline]
    pub fn modify(&mut self, modify: &Modify, sink: &mut impl Sink) {
        let number = (modify.quantity > 0).then_some(modify.order);
        let slot = number.and_then(|number| self.index.take(&self.orders, number));
        let Some(slot) = slot else {
            sink.put(rejected(Kind::NotModified, modify.order, modify.sequence));
            return;
        };
        self.book.cancel(&mut self.orders, slot);
        let order = NewOrder {
            order: modify.order,
            sequence: modify.sequence,
            price: modify.price,
            quantity: modify.quantity,
            side: side_number(slot.side()),
            ..NewOrder::default()
        };
        sink.put(of_order(Kind::Modified, &order));
        self.enter(&order, sink);
    }

    /// The best price of a side, in ticks.
    #[must_use]
    pub fn best(&self, side: Side) -> Option<i64> {
        let best = self.book.best(&self.orders, side)?;
        Some(ticks(best.price))
    }

    /// What rests at a price.
    #[must_use]
    pub fn depth(&self, side: Side, ticks: i64) -> u64 {
        let depth = self.book.at(&self.orders, side, price(ticks));
        depth.map_or(0, |depth| depth.quantity)
    }

    /// Matches an order and, unless it is immediate, rests what is left. Returns what is left.
    #[inline]
    fn enter(&mut self, order: &NewOrder, sink: &mut impl Sink) -> u32 {
        let incoming = Incoming {
            order: order.order,
            owner: Owner(0),
            side: side(order.side),
            price: Some(price(order.price)),
            quantity: u64::from(order.quantity),
            self_trade: SelfTrade::Allow,
        };
        let index = &mut self.index;
        let taken = self.book.take(&mut self.orders, &incoming, &mut |report| {
            trade(&report, order, index, sink);
        });
        if taken.stop != Stop::NoneLeft && order.immediate == 0 {
            let slot = self.book.rest(&mut self.orders, &incoming, taken.left);
            self.index.insert(&self.orders, order.order, slot);
        }
        quantity(taken.left)
    }
}

/// Reports a trade, and removes a maker from the index that traded in full.
fn trade(report: &Report, taker: &NewOrder, index: &mut OrderIndex, sink: &mut impl Sink) {
    let &Report::Fill {
        maker,
        maker_order,
        price,
        quantity: traded,
        maker_left,
        ..
    } = report
    else {
        unreachable!("orders that may trade with each other never expire");
    };
    if maker_left == 0 {
        index.remove(maker_order, maker);
    }
    let entry = Entry {
        kind: Kind::Traded,
        side: 0,
        quantity: quantity(traded),
        sequence: taker.sequence,
        order: maker_order,
        price: ticks(price),
    };
    sink.put_trade(entry, taker.order);
}

#[inline]
const fn of_order(kind: Kind, order: &NewOrder) -> Entry {
    Entry {
        kind,
        side: order.side,
        quantity: order.quantity,
        sequence: order.sequence,
        order: order.order,
        price: order.price,
    }
}

#[inline]
const fn rejected(kind: Kind, order: u64, sequence: u64) -> Entry {
    Entry {
        kind,
        side: 0,
        quantity: 0,
        sequence,
        order,
        price: 0,
    }
}

#[inline]
pub(crate) const fn side(number: u8) -> Side {
    if number == 0 { Side::Buy } else { Side::Sell }
}

#[inline]
const fn side_number(side: Side) -> u8 {
    match side {
        Side::Buy => 0,
        Side::Sell => 1,
    }
}

/// Signed ticks as a number of the same order without a sign.
#[inline]
const fn price(ticks: i64) -> u64 {
    ticks.cast_unsigned() ^ (1 << 63)
}

#[inline]
const fn ticks(price: u64) -> i64 {
    (price ^ (1 << 63)).cast_signed()
}

#[inline]
fn quantity(quantity: u64) -> u32 {
    u32::try_from(quantity).expect("no order has more than it came with")
}
