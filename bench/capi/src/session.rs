//! One book with the order numbers of its traders: messages in, reports out.

use turnstile_book::{Book, Depth, Incoming, Orders, Owner, Report, SelfTrade, Side, Stop};

use crate::order_index::OrderIndex;

/// A new order, or what became of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    pub number: u64,
    pub side: Side,
    /// Ticks.
    pub price: u64,
    pub quantity: u64,
    /// Whether what does not trade at once is cancelled.
    pub immediate: bool,
}

/// A trade of an order with one that rested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MakerFill {
    /// The number of the resting order.
    pub maker: u64,
    /// What is left of it.
    pub maker_left: u64,
    /// The maker's price, in ticks.
    pub price: u64,
    pub quantity: u64,
}

/// What a report tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ReportKind {
    /// The new order is accepted.
    #[default]
    Accepted = 0,
    /// The order of the message traded with one that rested.
    Traded = 1,
    /// The order is off the book, or what an immediate one left; its quantity is what was left.
    Cancelled = 2,
    Modified = 3,
    /// The order to cancel does not rest: it traded, is cancelled, or never was.
    NotCancelled = 4,
    /// The order to modify does not rest, or would have nothing left.
    NotModified = 5,
    /// The new order has no quantity, or its number is that of an order that rests.
    Refused = 6,
}

/// Where a session reports. Each message has one report, and one more for each trade and for what is
/// cancelled of an immediate order.
pub trait Reports {
    /// Takes any report but a trade. Of an order that does not rest, only the number and what was
    /// wanted of it is known.
    fn put(&mut self, kind: ReportKind, order: &Order);

    /// Takes a trade of the order of the message, accepted or modified.
    fn put_trade(&mut self, order: &Order, trade: &MakerFill);
}

/// What a modification does to an order that asks for less at the same price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It keeps its place in the queue.
    Kept,
    /// As after any other modification, it is a new order in its stead.
    Lost,
}

/// One book and the numbers of its orders. All orders belong to one owner and may trade with each
/// other.
#[derive(Debug)]
pub struct Session {
    book: Book,
    orders: Orders,
    index: OrderIndex,
}

impl Session {
    /// A session with room for so many orders at once on the book. Beyond that it grows.
    #[must_use]
    pub fn new(resting: usize) -> Self {
        Self {
            book: Book::new(),
            orders: Orders::with_capacity(resting),
            index: OrderIndex::with_capacity(resting),
        }
    }

    #[inline]
    pub fn submit(&mut self, order: &Order, reports: &mut impl Reports) {
        if order.quantity == 0 || self.index.contains(&self.orders, order.number) {
            reports.put(ReportKind::Refused, order);
            return;
        }
        reports.put(ReportKind::Accepted, order);
        self.enter(order, reports);
    }

    #[inline]
    pub fn cancel(&mut self, number: u64, reports: &mut impl Reports) {
        let Some(slot) = self.index.take(&self.orders, number) else {
            reports.put(ReportKind::NotCancelled, &unknown(number, (0, 0)));
            return;
        };
        let resting = self.orders.at(slot);
        self.book.cancel(&mut self.orders, slot);
        let gone = Order {
            side: resting.side,
            ..unknown(number, (resting.price, resting.quantity))
        };
        reports.put(ReportKind::Cancelled, &gone);
    }

    /// Changes price and quantity of an order that rests.
    #[inline]
    pub fn modify(
        &mut self,
        number: u64,
        wanted: (u64, u64),
        place: Place,
        reports: &mut impl Reports,
    ) {
        let named = (wanted.1 > 0).then_some(number);
        let slot = named.and_then(|number| self.index.take(&self.orders, number));
        let Some(slot) = slot else {
            reports.put(ReportKind::NotModified, &unknown(number, wanted));
            return;
        };
        let order = Order {
            side: slot.side(),
            ..unknown(number, wanted)
        };
        reports.put(ReportKind::Modified, &order);
        if place == Place::Kept {
            let resting = self.orders.at(slot);
            if order.price == resting.price && order.quantity <= resting.quantity {
                self.book.reduce(&mut self.orders, slot, order.quantity);
                self.index.insert(&self.orders, number, slot);
                return;
            }
        }
        self.book.cancel(&mut self.orders, slot);
        self.enter(&order, reports);
    }

    #[must_use]
    pub fn best(&self, side: Side) -> Option<Depth> {
        self.book.best(&self.orders, side)
    }

    #[must_use]
    pub fn at(&self, side: Side, price: u64) -> Option<Depth> {
        self.book.at(&self.orders, side, price)
    }

    /// How many orders rest.
    #[must_use]
    pub const fn resting(&self) -> u32 {
        self.orders.len()
    }

    /// How many price levels there are on both sides.
    #[must_use]
    pub fn levels(&self) -> usize {
        let levels = |side| self.book.levels(&self.orders, side).count();
        levels(Side::Buy) + levels(Side::Sell)
    }

    /// Checks the book.
    ///
    /// # Errors
    /// What is broken, in words.
    pub fn check(&self) -> Result<(), String> {
        self.orders.check([&self.book])
    }

    /// Matches an order, and puts the rest on the book or reports that it is gone.
    #[expect(
        clippy::inline_always,
        reason = "a call passes the order through memory, which is 7 % of a message in the harness"
    )]
    #[inline(always)]
    fn enter(&mut self, order: &Order, reports: &mut impl Reports) {
        let incoming = Incoming {
            order: order.number,
            owner: Owner(0),
            side: order.side,
            price: Some(order.price),
            quantity: order.quantity,
            self_trade: SelfTrade::Allow,
        };
        let index = &mut self.index;
        let taken = self.book.take(&mut self.orders, &incoming, &mut |report| {
            trade(&report, order, index, reports);
        });
        if taken.stop == Stop::NoneLeft {
            return;
        }
        if order.immediate {
            let gone = Order {
                quantity: taken.left,
                ..*order
            };
            reports.put(ReportKind::Cancelled, &gone);
        } else {
            let slot = self.book.rest(&mut self.orders, &incoming, taken.left);
            self.index.insert(&self.orders, order.number, slot);
        }
    }
}

/// An order of which only the number, the price and the quantity are known.
#[inline]
const fn unknown(number: u64, (price, quantity): (u64, u64)) -> Order {
    Order {
        number,
        side: Side::Buy,
        price,
        quantity,
        immediate: false,
    }
}

/// Reports a trade, and removes a maker from the index that traded in full.
#[inline]
fn trade(report: &Report, order: &Order, index: &mut OrderIndex, reports: &mut impl Reports) {
    let &Report::Fill {
        maker,
        maker_order,
        price,
        quantity,
        maker_left,
        ..
    } = report
    else {
        unreachable!("orders that may trade with each other never expire");
    };
    if maker_left == 0 {
        index.remove(maker_order, maker);
    }
    let trade = MakerFill {
        maker: maker_order,
        maker_left,
        price,
        quantity,
    };
    reports.put_trade(order, &trade);
}
