//! Why a database cannot be used.

use std::fmt;

use turnstile_contract::copy::Others;

use crate::{InvalidPlace, migrations::Unready, trouble::Trouble};

/// Why a database was not opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    Place(InvalidPlace),
    /// It cannot be reached, does not know us, or refuses to be written.
    Unavailable {
        place: String,
        reason: String,
    },
    /// It is served, or copied, and cannot be copied now.
    Occupied {
        place: String,
        others: Others,
    },
    /// Its tables were made by a later version than this.
    Newer {
        place: String,
        found: i32,
        known: i32,
    },
    /// Its tables cannot be made, or are not what they should be.
    Tables {
        place: String,
        reason: String,
    },
}

impl OpenError {
    pub(crate) fn new(place: String, unready: Unready) -> Self {
        match unready {
            Unready::Newer { found, known } => Self::Newer {
                place,
                found,
                known,
            },
            Unready::Occupied(others) => Self::Occupied { place, others },
            Unready::Trouble(Trouble::Broken(reason)) => Self::Tables { place, reason },
            Unready::Trouble(Trouble::Unavailable(reason) | Trouble::Lost(reason)) => {
                Self::Unavailable { place, reason }
            }
            Unready::Trouble(Trouble::Conflict | Trouble::Deadlock) => Self::Unavailable {
                place,
                reason: "another server is changing its tables".to_owned(),
            },
        }
    }
}

impl From<InvalidPlace> for OpenError {
    fn from(invalid: InvalidPlace) -> Self {
        Self::Place(invalid)
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place(invalid) => invalid.fmt(f),
            Self::Unavailable { place, reason } => write!(f, "{place} is unavailable: {reason}"),
            Self::Occupied { place, others } => write!(f, "{place} cannot be copied: {others}"),
            Self::Newer {
                place,
                found,
                known,
            } => write!(
                f,
                "the tables of {place} have version {found}, this program knows them up to {known}"
            ),
            Self::Tables { place, reason } => {
                write!(f, "the tables of {place} cannot be used: {reason}")
            }
        }
    }
}

impl std::error::Error for OpenError {}
