//! The messages of the WebSocket feed: requests of clients, and answers.

mod asked;
mod told;

use std::fmt;

use turnstile_exchange::{AccountId, Symbol};

pub use asked::{Wish, parse_message};
pub use told::{TopicProgress, TopicWriter, on_disconnect, unsubscribed};

/// What can be subscribed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The price levels of a symbol, change by change.
    Book(Symbol),
    Trades(Symbol),
    /// The best prices of a symbol, whole each time.
    Top(Symbol),
    /// The orders of an account.
    Orders(AccountId),
}

impl Topic {
    /// The name of its channel.
    #[must_use]
    pub const fn channel(self) -> &'static str {
        match self {
            Self::Book(_) => "book",
            Self::Trades(_) => "trades",
            Self::Top(_) => "top",
            Self::Orders(_) => "orders",
        }
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Book(symbol) | Self::Trades(symbol) | Self::Top(symbol) => {
                write!(f, "{} of {symbol}", self.channel())
            }
            Self::Orders(account) => write!(f, "{} of {account}", self.channel()),
        }
    }
}
