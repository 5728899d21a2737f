//! The events of the exchange.

use turnstile_chassis::{Fields, Words};
use turnstile_types::{Position, Timestamp};

use crate::{AccountId, ClientId, Decimal, EndReason, OrderId, Side, Symbol};

/// One thing that happened. `(position, ordinal)` is unique and grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub struct Event {
    pub position: Position,
    /// Counts the events of one record, from 0.
    pub ordinal: u32,
    pub at: Timestamp,
    pub symbol: Symbol,
    /// The number of this change of the symbol's book: each is one more than the one before. None
    /// where the book did not change.
    pub seq: Option<u64>,
    /// The price level that changed, as it is now; with `seq` and in no other case.
    pub level: Option<Level>,
    #[field(flatten)]
    pub kind: EventKind,
}

/// One price on one side of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub struct Level {
    pub side: Side,
    pub price: Decimal,
    /// Everything that waits at this price; zero: the level is gone.
    pub quantity: Decimal,
    pub orders: u32,
}

/// The word for an end that is none: the order was moved by a replacement.
pub const REPLACED: &str = "replaced";

/// One side of an event about an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub struct Party {
    pub order: OrderId,
    pub account: AccountId,
    pub client_id: Option<ClientId>,
    /// What is left open of the order after the event.
    pub open: Decimal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields, Words)]
#[fields(tag = "kind")]
pub enum EventKind {
    /// An order rests on the book: a new one, the rest of one, or one that was replaced.
    Opened {
        #[field(flatten)]
        party: Party,
        side: Side,
        price: Decimal,
    },
    /// Two orders matched. `trade` counts all trades, from 1; the side is the taker's.
    Traded {
        trade: u64,
        price: Decimal,
        quantity: Decimal,
        side: Side,
        maker: Party,
        taker: Party,
    },
    /// An order was reduced where it stood.
    Reduced {
        #[field(flatten)]
        party: Party,
        side: Side,
        price: Decimal,
    },
    /// What was left of an order is off the book, or never came on it. `quantity` is what was
    /// cancelled. For an order that was moved by a replacement, `Opened` or `Traded` follow.
    Cancelled {
        #[field(flatten)]
        party: Party,
        side: Side,
        quantity: Decimal,
        /// None: it was moved by a replacement; [`REPLACED`] is the word for that.
        #[field(with = end)]
        reason: Option<EndReason>,
    },
    /// An order was refused.
    Rejected {
        account: AccountId,
        client_id: Option<ClientId>,
        /// [`Refusal::code`](crate::Refusal::code).
        #[field(name = "reason")]
        code: &'static str,
    },
    Halted,
    Resumed,
}

/// The word for an end.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "fields are handed over by reference"
)]
fn end(reason: &Option<EndReason>) -> &'static str {
    reason.map_or(REPLACED, EndReason::code)
}
