//! The exchange in RESP: arguments to commands and queries, outcomes and answers to replies.

mod answer;
mod event;
mod fields;
mod outcome;
mod request;
#[cfg(test)]
mod tests;
mod words;

pub use answer::{facts, put_answer};
pub use event::{CHANNELS, channel, event_json};
pub use outcome::put_outcome;
pub use request::{Request, parse};
pub use words::{Flaw, Invalid};

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
