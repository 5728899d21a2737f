//! The machine that keeps accounts and matches orders: no share and no cent appears or vanishes.

#![forbid(unsafe_code)]
#![deny(
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod about;
mod command;
mod decimal;
mod event;
mod label;
pub mod limits;
mod outcome;
mod query;

mod expected;
mod machine;
mod state;
mod subject;
mod warming;

mod apply;
mod check;
mod queries;
mod snapshot;

mod accounts;
mod positions;
mod symbols;

mod clients;
mod executions;
mod ids;
mod ledger;
mod senders;

mod slab;
mod table;

use turnstile_chassis::Bytes;

pub use turnstile_book::{SelfTrade, Side};

pub use command::{Command, InvalidOrderRef, Order, OrderRef, TimeInForce};
pub use decimal::{CASH_SCALE, Cash, Decimal, InvalidDecimal};
pub use event::{Event, EventKind, Level, Party, REPLACED};
pub use label::{AccountId, ClientId, InvalidLabel, Symbol};
pub use outcome::{CommandField, Done, EndReason, Outcome, Refusal, Ticket, TicketState};
pub use query::{
    AccountView, Answer, DepthLevel, DepthView, Execution, OrderView, Query, QueuedOrder,
    SymbolView, Totals, Trade, levels,
};
pub use state::Exchange;
pub use turnstile_chassis::Cursor;

/// An order's number: from 1, in the order of acceptance, over all symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Bytes)]
pub struct OrderId(pub u64);

impl turnstile_chassis::Value for OrderId {
    #[inline]
    fn show<S: turnstile_chassis::Show>(&self, show: S) -> S::Out {
        show.number(self.0)
    }

    fn kind() -> turnstile_chassis::Kind {
        turnstile_chassis::Kind::NUMBER
    }
}

impl std::fmt::Display for OrderId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
