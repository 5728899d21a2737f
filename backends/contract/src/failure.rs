//! Why a back end gave no outcome.

use std::fmt;

use turnstile_access::MissingRight;
use turnstile_types::Position;

/// Why a command was not decided, or a query not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The idempotency key was used for another command, in the record at this position. Final.
    KeyReused { first: Position },
    /// It names what its caller may not: nothing was done.
    Forbidden(MissingRight),
    /// This back end does not offer it. Final.
    Unsupported { operation: &'static str },
    /// The database cannot be reached, takes no writes, or was too busy for all tries: nothing was
    /// done, and the command may be sent again later.
    Unavailable { reason: String },
    /// The connection was lost on the way, and the command had no idempotency key by which to find
    /// out: it was done whole or not at all.
    Unknown { reason: String },
    /// The database answered what it never should: its tables were changed by somebody else, or
    /// this is a defect. Whether the command was done is not known.
    Broken { reason: String },
}

impl Failure {
    /// The stable word for it on every door.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::KeyReused { .. } => "key_reused",
            Self::Forbidden(_) => "forbidden",
            Self::Unsupported { .. } => "unsupported",
            Self::Unavailable { .. } => "unavailable",
            Self::Unknown { .. } => "unknown",
            Self::Broken { .. } => "broken",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyReused { first } => write!(
                f,
                "the idempotency key was used for another command, at position {}",
                first.0
            ),
            Self::Forbidden(missing) => missing.fmt(f),
            Self::Unsupported { operation } => {
                write!(f, "the back end does not offer {operation}")
            }
            Self::Unavailable { reason } => {
                write!(f, "nothing was done, try again later: {reason}")
            }
            Self::Unknown { reason } => write!(
                f,
                "the command was done or not, send it under an idempotency key to know: {reason}"
            ),
            Self::Broken { reason } => {
                write!(f, "the database gave an invalid answer: {reason}")
            }
        }
    }
}

impl std::error::Error for Failure {}
