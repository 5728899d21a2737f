//! A session that keeps its reports until they are fetched, as the C interface has it.

use std::mem;

use turnstile_book::{Depth, Side};

use crate::session::{MakerFill, Order, Place, ReportKind, Reports, Session};

/// One report, laid out like `ts_report` in `turnstile_book.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Told {
    /// A [`ReportKind`].
    pub kind: u32,
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

/// A session, and the reports that nobody has fetched.
#[derive(Debug)]
pub struct Desk {
    session: Session,
    told: List,
}

/// Reports in their order.
#[derive(Debug)]
struct List(Vec<Told>);

impl Desk {
    /// A desk with room for so many orders at once on the book, and so many reports between two
    /// fetches. Beyond either it grows.
    #[must_use]
    pub fn new(resting: usize, reports: usize) -> Self {
        Self {
            session: Session::new(resting),
            told: List(Vec::with_capacity(reports)),
        }
    }

    #[inline]
    pub fn submit(&mut self, order: &Order) {
        self.session.submit(order, &mut self.told);
    }

    #[inline]
    pub fn cancel(&mut self, number: u64) {
        self.session.cancel(number, &mut self.told);
    }

    /// Less at the same price keeps the order's place in the queue; anything else is a new order
    /// in its stead.
    #[inline]
    pub fn modify(&mut self, number: u64, price: u64, quantity: u64) {
        let wanted = (price, quantity);
        self.session
            .modify(number, wanted, Place::Kept, &mut self.told);
    }

    /// The reports so far, in exchange for an empty list.
    pub fn fetch(&mut self, empty: Vec<Told>) -> Vec<Told> {
        mem::replace(&mut self.told.0, empty)
    }

    #[must_use]
    pub fn reports(&self) -> &[Told] {
        &self.told.0
    }

    /// Forgets the first reports, which somebody has copied.
    pub fn forget(&mut self, reports: usize) {
        self.told.0.drain(..reports);
    }

    #[must_use]
    pub fn best(&self, side: Side) -> Option<Depth> {
        self.session.best(side)
    }

    #[must_use]
    pub fn at(&self, side: Side, price: u64) -> Option<Depth> {
        self.session.at(side, price)
    }

    /// How many orders rest.
    #[must_use]
    pub const fn resting(&self) -> u32 {
        self.session.resting()
    }

    /// How many price levels there are on both sides.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.session.levels()
    }

    /// Checks the book.
    ///
    /// # Errors
    /// What is broken, in words.
    pub fn check(&self) -> Result<(), String> {
        self.session.check()
    }
}

impl Reports for List {
    #[inline]
    fn put(&mut self, kind: ReportKind, order: &Order) {
        let has_price = !matches!(kind, ReportKind::Cancelled | ReportKind::NotCancelled);
        self.0.push(Told {
            kind: kind as u32,
            maker_left: 0,
            order: order.number,
            maker: 0,
            price: if has_price { order.price } else { 0 },
            quantity: order.quantity,
        });
    }

    #[inline]
    fn put_trade(&mut self, order: &Order, trade: &MakerFill) {
        self.0.push(Told {
            kind: ReportKind::Traded as u32,
            maker_left: u32::try_from(trade.maker_left).unwrap_or(u32::MAX),
            order: order.number,
            maker: trade.maker,
            price: trade.price,
            quantity: trade.quantity,
        });
    }
}
