//! Why a journal cannot be replayed.

use turnstile_record::Record;
use turnstile_types::{Malformed, Position, Unapplied};

/// Why a journal cannot be replayed: it was written by another version, or it is damaged in a way
/// that its checksums do not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordReplayError {
    /// The record is for a service that no machine here decides.
    UnknownService { position: Position, service: u8 },
    Malformed {
        position: Position,
        cause: Malformed,
    },
    /// A record is missing: the next one should have had the position `expected`.
    Gap { expected: Position, found: Position },
}

impl RecordReplayError {
    /// Why a record was not applied.
    #[must_use]
    pub const fn unapplied(record: &Record<'_>, cause: Unapplied) -> Self {
        let Record {
            position, service, ..
        } = *record;
        match cause {
            Unapplied::UnknownService => Self::UnknownService { position, service },
            Unapplied::Malformed(cause) => Self::Malformed { position, cause },
        }
    }
}

impl std::fmt::Display for RecordReplayError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnknownService { position, service } => {
                write!(
                    f,
                    "the record at position {position} is for the unknown service {service}"
                )
            }
            Self::Malformed { position, cause } => {
                write!(f, "the record at position {position} has {cause}")
            }
            Self::Gap { expected, found } => {
                write!(
                    f,
                    "the record at position {expected} is missing: position {found} follows"
                )
            }
        }
    }
}

impl std::error::Error for RecordReplayError {}
