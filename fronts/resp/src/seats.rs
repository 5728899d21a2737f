//! The seats service in RESP: arguments to commands and queries, answers to replies.

use turnstile_seats::{Answer, Command, Query};

use crate::macros::{answers, requests};

pub use crate::fields::put_outcome;

/// The channel on which the service publishes its events.
pub const CHANNEL: &str = "seats.events";

answers!(Answer::Refused);

requests!(Command, Query);
