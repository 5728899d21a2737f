//! Reports as the session makes them.

use crate::abi::Report;

/// `me_report_type_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    #[default]
    Accepted = 0,
    Traded = 1,
    /// Also what an immediate order leaves.
    Cancelled = 2,
    Modified = 3,
    NotCancelled = 4,
    NotModified = 5,
}

/// A report, without what is zero in most of them: half a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(32))]
pub struct Entry {
    pub kind: Kind,
    pub side: u8,
    pub quantity: u32,
    pub sequence: u64,
    /// The order that the report is about; of a trade the maker.
    pub order: u64,
    /// Ticks.
    pub price: i64,
}

/// Where a session sends its reports.
pub trait Sink {
    /// Takes any report but a trade.
    fn put(&mut self, entry: Entry);

    /// Takes a trade with an incoming order, the taker.
    fn put_trade(&mut self, entry: Entry, taker: u64);
}

impl Entry {
    /// The report as the harness knows it, unless it is a trade.
    #[inline]
    pub(crate) fn report(self) -> Report {
        Report {
            kind: self.kind as u8,
            side: self.side,
            sequence: self.sequence,
            order: self.order,
            price: self.price,
            quantity: self.quantity,
            ..Report::default()
        }
    }

    /// The report of a trade.
    #[inline]
    pub(crate) fn trade_report(self, taker: u64) -> Report {
        Report {
            maker: self.order,
            taker,
            ..self.report()
        }
    }
}
