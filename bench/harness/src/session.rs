//! The harness's messages and reports for a session of ours.

use turnstile_book::Side;
use turnstile_capi::{MakerFill, Order, Place, ReportKind, Reports};

use crate::{
    abi::{Cancel, Modify, NewOrder},
    entry::{Entry, ReportSink},
};

/// Orders at once on the book for which there is room from the start. There is room for more, but
/// not without copying.
const RESTING: usize = 1 << 16;

/// A session by the harness's rules.
#[derive(Debug)]
pub struct Session(turnstile_capi::Session);

/// A sink, and the number of the message that is reported on.
struct Numbered<'a, S> {
    sink: &'a mut S,
    sequence: u64,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    #[must_use]
    pub fn new() -> Self {
        Self(turnstile_capi::Session::new(RESTING))
    }

    #[inline]
    pub fn submit(&mut self, new: &NewOrder, sink: &mut impl ReportSink) {
        let order = Order {
            number: new.order,
            side: side(new.side),
            price: price(new.price),
            quantity: u64::from(new.quantity),
            immediate: new.immediate != 0,
        };
        let sequence = new.sequence;
        self.0.submit(&order, &mut Numbered { sink, sequence });
    }

    #[inline]
    pub fn cancel(&mut self, cancel: &Cancel, sink: &mut impl ReportSink) {
        let sequence = cancel.sequence;
        self.0
            .cancel(cancel.order, &mut Numbered { sink, sequence });
    }

    /// Takes an order off the book and enters it again, also where it could keep its place in the
    /// queue: the harness demands it.
    #[inline]
    pub fn modify(&mut self, modify: &Modify, sink: &mut impl ReportSink) {
        let sequence = modify.sequence;
        let wanted = (price(modify.price), u64::from(modify.quantity));
        let reports = &mut Numbered { sink, sequence };
        self.0.modify(modify.order, wanted, Place::Lost, reports);
    }

    /// The best price of a side, in ticks.
    #[must_use]
    pub fn best(&self, side: Side) -> Option<i64> {
        Some(ticks(self.0.best(side)?.price))
    }

    /// What rests at a price.
    #[must_use]
    pub fn depth(&self, side: Side, ticks: i64) -> u64 {
        let depth = self.0.at(side, price(ticks));
        depth.map_or(0, |depth| depth.quantity)
    }
}

impl<S: ReportSink> Reports for Numbered<'_, S> {
    #[inline]
    fn put(&mut self, kind: ReportKind, order: &Order) {
        // The harness has no report for an order that is refused.
        let (kind, is_known) = match kind {
            ReportKind::Refused | ReportKind::NotModified => (ReportKind::NotModified, false),
            ReportKind::NotCancelled => (kind, false),
            _ => (kind, true),
        };
        let named = Entry {
            kind,
            sequence: self.sequence,
            order: order.number,
            ..Entry::default()
        };
        self.sink.put(if is_known {
            Entry {
                side: side_number(order.side),
                quantity: quantity(order.quantity),
                price: ticks(order.price),
                ..named
            }
        } else {
            named
        });
    }

    #[inline]
    fn put_trade(&mut self, order: &Order, trade: &MakerFill) {
        let entry = Entry {
            kind: ReportKind::Traded,
            side: 0,
            quantity: quantity(trade.quantity),
            sequence: self.sequence,
            order: trade.maker,
            price: ticks(trade.price),
        };
        self.sink.put_trade(entry, order.number);
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
