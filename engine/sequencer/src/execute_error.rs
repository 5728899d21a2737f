//! Why a command or a tick was not taken.

use std::fmt;

use turnstile_types::Position;

/// Why a command was not taken. Nothing of it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecuteError {
    /// The idempotency key was used for another command, in the record at this position. Final.
    KeyReused { first: Position },
    /// There is no room for another idempotency key. Commands without one go on; this one may be sent
    /// again after so many seconds, when the oldest key is forgotten.
    KeysFull { retry_after_s: u32 },
    /// The disk has no room for the record. Reads go on; the command may be sent again later.
    ReadOnly,
    /// The command is larger than a record may be. Final.
    TooLarge,
    /// A write or a sync has failed, and the process must stop.
    Stopped,
}

impl fmt::Display for ExecuteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyReused { first } => write!(
                f,
                "the idempotency key was used for another command, at position {first}"
            ),
            Self::KeysFull { retry_after_s } => write!(
                f,
                "the memory for idempotency keys is full: nothing was done, retry after \
                 {retry_after_s} s or raise limits.key_bytes"
            ),
            Self::ReadOnly => write!(f, "the disk is full: only reads are served until it is not"),
            Self::TooLarge => write!(f, "the command is larger than a record may be"),
            Self::Stopped => write!(f, "the journal has failed and the server is stopping"),
        }
    }
}

impl std::error::Error for ExecuteError {}
