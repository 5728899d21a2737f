//! One book with the order numbers of its traders: messages in, reports out.

use std::mem;

use turnstile_book::{Book, Depth, Incoming, Orders, Owner, Report, SelfTrade, Side, Slot, Stop};

/// Order numbers are below this. Four bytes are kept for each number up to the highest one in
/// use, so a harness numbers its orders from zero or one on.
pub const ORDER_NUMBERS: u64 = 1 << 30;

/// What a report tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// The new order is accepted.
    Accepted = 0,
    /// The order of the message traded with a maker.
    Traded = 1,
    /// The order is off the book, or what an immediate one left.
    Cancelled = 2,
    Modified = 3,
    /// The order to cancel does not rest: it traded, is cancelled, or never was.
    NotCancelled = 4,
    /// The order to modify does not rest, or would have nothing left.
    NotModified = 5,
    /// The new order has no quantity, or its number is in use or too high.
    Refused = 6,
}

/// One report, laid out like `ts_report` in `turnstile_book.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Told {
    pub kind: Kind,
    /// What is left of the maker after a trade, capped at `u32::MAX`; otherwise zero.
    pub maker_left: u32,
    /// The order of the message.
    pub order: u64,
    /// The resting order of a trade; otherwise zero.
    pub maker: u64,
    /// The maker's price of a trade, the order's price where it is accepted or modified; ticks.
    pub price: u64,
    /// What was traded, accepted, modified to, or taken off the book.
    pub quantity: u64,
}

/// A new order.
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

/// A book, which of its slots each order number has, and the reports that nobody has fetched.
///
/// It does what any session before a book does, and no more: sequential numbers, so a table and
/// no hash; all orders belong to one owner and may trade with each other.
#[derive(Debug)]
pub struct Desk {
    book: Book,
    orders: Orders,
    slots: Vec<Option<Slot>>,
    reports: Vec<Told>,
}

impl Desk {
    /// A desk with room for so many order numbers, so many orders at once on the book, and so many
    /// reports between two fetches. Beyond any of them it grows.
    #[must_use]
    pub fn new(numbers: usize, resting: usize, reports: usize) -> Self {
        Self {
            book: Book::new(),
            orders: Orders::with_capacity(resting),
            slots: vec![None; numbers],
            reports: Vec::with_capacity(reports),
        }
    }

    pub fn submit(&mut self, order: &Order) {
        let Some(place) = self.vacant(order) else {
            self.tell(Kind::Refused, order.number, order.price, order.quantity);
            return;
        };
        self.tell(Kind::Accepted, order.number, order.price, order.quantity);
        self.enter(order, place);
    }

    pub fn cancel(&mut self, number: u64) {
        let slot = self
            .place(number)
            .and_then(|place| self.slots[place].take());
        let Some(slot) = slot else {
            self.tell(Kind::NotCancelled, number, 0, 0);
            return;
        };
        let left = self.book.cancel(&mut self.orders, slot);
        self.tell(Kind::Cancelled, number, 0, left);
    }

    /// Less at the same price keeps the order's place in the queue; anything else is a new order
    /// in its stead.
    pub fn modify(&mut self, number: u64, price: u64, quantity: u64) {
        let place = self.place(number).filter(|_| quantity > 0);
        let found = place.and_then(|place| Some((place, self.slots[place]?)));
        let Some((place, slot)) = found else {
            self.tell(Kind::NotModified, number, price, quantity);
            return;
        };
        self.tell(Kind::Modified, number, price, quantity);
        let resting = self.orders.at(slot);
        if price == resting.price && quantity <= resting.quantity {
            self.book.reduce(&mut self.orders, slot, quantity);
            return;
        }
        self.book.cancel(&mut self.orders, slot);
        self.slots[place] = None;
        let order = Order {
            number,
            side: resting.side,
            price,
            quantity,
            immediate: false,
        };
        self.enter(&order, place);
    }

    /// The reports so far, in exchange for an empty list.
    pub fn fetch(&mut self, empty: Vec<Told>) -> Vec<Told> {
        mem::replace(&mut self.reports, empty)
    }

    #[must_use]
    pub fn reports(&self) -> &[Told] {
        &self.reports
    }

    /// Forgets the first reports, which somebody has copied.
    pub fn forget(&mut self, reports: usize) {
        self.reports.drain(..reports);
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
    #[inline]
    fn enter(&mut self, order: &Order, place: usize) {
        let incoming = Incoming {
            order: order.number,
            owner: Owner(0),
            side: order.side,
            price: Some(order.price),
            quantity: order.quantity,
            self_trade: SelfTrade::Allow,
        };
        let (slots, reports) = (&mut self.slots, &mut self.reports);
        let taken = self.book.take(&mut self.orders, &incoming, &mut |report| {
            reports.push(traded(order.number, &report, slots));
        });
        if taken.stop == Stop::NoneLeft {
            return;
        }
        if order.immediate {
            self.tell(Kind::Cancelled, order.number, 0, taken.left);
        } else {
            let slot = self.book.rest(&mut self.orders, &incoming, taken.left);
            self.slots[place] = Some(slot);
        }
    }

    /// The place of a number that was used before.
    #[inline]
    fn place(&self, number: u64) -> Option<usize> {
        let place = usize::try_from(number).ok()?;
        (place < self.slots.len()).then_some(place)
    }

    /// The place of a number that is not in use.
    #[inline]
    fn vacant(&mut self, order: &Order) -> Option<usize> {
        if order.quantity == 0 || order.number >= ORDER_NUMBERS {
            return None;
        }
        let place = usize::try_from(order.number).ok()?;
        if place >= self.slots.len() {
            self.slots.resize((place + 1).next_power_of_two(), None);
        }
        self.slots[place].is_none().then_some(place)
    }

    #[inline]
    fn tell(&mut self, kind: Kind, order: u64, price: u64, quantity: u64) {
        self.reports.push(Told {
            kind,
            maker_left: 0,
            order,
            maker: 0,
            price,
            quantity,
        });
    }
}

/// The report of a trade. A maker that traded in full loses its slot.
#[inline]
fn traded(order: u64, report: &Report, slots: &mut [Option<Slot>]) -> Told {
    let &Report::Fill {
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
        let place = usize::try_from(maker_order).expect("a number in use is below their end");
        slots[place] = None;
    }
    Told {
        kind: Kind::Traded,
        maker_left: u32::try_from(maker_left).unwrap_or(u32::MAX),
        order,
        maker: maker_order,
        price,
        quantity,
    }
}
