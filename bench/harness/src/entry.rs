//! Reports as the session makes them.

use turnstile_capi::ReportKind;

use crate::abi::Report;

/// A report, without what is zero in most of them: half a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(32))]
pub struct Entry {
    /// `me_report_type_t` has the same numbers, but for orders that are refused.
    pub kind: ReportKind,
    pub side: u8,
    pub quantity: u32,
    pub sequence: u64,
    /// The order that the report is about; of a trade the maker.
    pub order: u64,
    /// Ticks.
    pub price: i64,
}

/// Where a session sends its reports.
pub trait ReportSink {
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
