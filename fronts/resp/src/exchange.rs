//! The exchange in RESP: arguments to commands and queries, outcomes and answers to replies.

#[cfg(test)]
mod tests;

use turnstile_exchange::{Answer, Command, Query, Symbol};

use crate::macros::{answers, requests};

pub use crate::fields::put_outcome;

/// A pattern of every channel of the service.
pub const CHANNELS: &str = "exchange.events.*";

/// The channel of the events of one symbol; each event is published on one channel only.
#[must_use]
pub fn channel(symbol: Symbol) -> String {
    let prefix = CHANNELS.trim_end_matches('*');
    format!("{prefix}{symbol}")
}

answers!(Answer::Refused);

requests!(Command, Query);
