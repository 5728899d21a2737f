//! The exchange in RESP: arguments to commands and queries, outcomes and answers to replies.

mod request;
#[cfg(test)]
mod tests;
mod words;

use turnstile_chassis::Show as _;
use turnstile_exchange::{Answer, Symbol, Totals};

use crate::{Encoder, fields::put_refused};

pub use crate::fields::put_outcome;
pub use request::{Request, parse};
pub use words::{Flaw, Invalid};

/// A pattern of every channel of the service.
pub const CHANNELS: &str = "exchange.events.*";

/// The channel on which the events of one symbol are told; each event is told on one channel only.
#[must_use]
pub fn channel(symbol: Symbol) -> String {
    let prefix = CHANNELS.trim_end_matches('*');
    format!("{prefix}{symbol}")
}

/// Appends what was answered to a query: an object, or a refusal.
pub fn put_answer(reply: &mut Encoder<'_>, answer: &Answer) {
    match answer {
        Answer::Refused(refusal) => put_refused(reply, refusal, None, false),
        answer => reply.object(answer),
    }
}

/// The figures of `INFO`, in its words.
#[must_use]
pub fn facts(totals: &Totals) -> [(&'static str, u64); 5] {
    [
        ("exchange_accounts", u64::from(totals.accounts)),
        ("exchange_symbols", u64::from(totals.symbols)),
        ("exchange_open_orders", u64::from(totals.open_orders)),
        ("exchange_orders_total", totals.orders),
        ("exchange_trades_total", totals.trades),
    ]
}

/// The commands of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Account,
    Symbol,
    Grant,
    Deposit,
    Withdraw,
    Order,
    Cancel,
    Replace,
    CancelAll,
    Band,
    Halt,
    Resume,
    Limits,
    Status,
    Orders,
    Balance,
    Accounts,
    Symbols,
    Instrument,
    Depth,
    Top,
    Queue,
    Trades,
    Totals,
}

impl Verb {
    /// Whether it only reads.
    #[must_use]
    pub const fn is_read(self) -> bool {
        match self {
            Self::Account
            | Self::Symbol
            | Self::Grant
            | Self::Deposit
            | Self::Withdraw
            | Self::Order
            | Self::Cancel
            | Self::Replace
            | Self::CancelAll
            | Self::Band
            | Self::Halt
            | Self::Resume
            | Self::Limits => false,
            Self::Status
            | Self::Orders
            | Self::Balance
            | Self::Accounts
            | Self::Symbols
            | Self::Instrument
            | Self::Depth
            | Self::Top
            | Self::Queue
            | Self::Trades
            | Self::Totals => true,
        }
    }

    /// The command's name in the catalogue.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Account => "exchange.account",
            Self::Symbol => "exchange.symbol",
            Self::Grant => "exchange.grant",
            Self::Deposit => "exchange.deposit",
            Self::Withdraw => "exchange.withdraw",
            Self::Order => "exchange.order",
            Self::Cancel => "exchange.cancel",
            Self::Replace => "exchange.replace",
            Self::CancelAll => "exchange.cancelall",
            Self::Band => "exchange.band",
            Self::Halt => "exchange.halt",
            Self::Resume => "exchange.resume",
            Self::Limits => "exchange.limits",
            Self::Status => "exchange.status",
            Self::Orders => "exchange.orders",
            Self::Balance => "exchange.balance",
            Self::Accounts => "exchange.accounts",
            Self::Symbols => "exchange.symbols",
            Self::Instrument => "exchange.instrument",
            Self::Depth => "exchange.depth",
            Self::Top => "exchange.top",
            Self::Queue => "exchange.queue",
            Self::Trades => "exchange.trades",
            Self::Totals => "exchange.totals",
        }
    }
}
