//! Why a database was not opened.

use std::fmt;

use crate::copy::{Others, Refusal};

/// Why a database was not opened, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotOpened {
    /// Without user and password; nothing where the address is none.
    pub place: String,
    pub why: Unready,
}

/// Why a database cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unready {
    /// Its address is none; what is wrong about it, without the text, which may hold a password.
    Address(String),
    /// It cannot be reached, does not let us in, or takes no writes.
    Unavailable(String),
    /// It is copied, or served and so not to be copied.
    Occupied(Others),
    /// An unfinished copy lies there.
    Unfinished,
    /// Its tables or keys are of a later version than this.
    Newer { found: u32, known: u32 },
    /// It may lose what it is given, by a setting; which, and what to set.
    Unsafe(String),
    /// Its tables cannot be made, or are not what they should be.
    Unusable(String),
}

impl Unready {
    /// Says where.
    #[must_use]
    pub fn at(self, place: &str) -> NotOpened {
        NotOpened {
            place: place.to_owned(),
            why: self,
        }
    }
}

impl From<Others> for Unready {
    fn from(others: Others) -> Self {
        Self::Occupied(others)
    }
}

impl fmt::Display for NotOpened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = &self.place;
        match &self.why {
            Unready::Address(reason) => f.write_str(reason),
            Unready::Unavailable(reason) => write!(f, "{place} is unavailable: {reason}"),
            Unready::Occupied(others) => write!(f, "{place} cannot be used: {others}"),
            Unready::Unsafe(reason) => write!(f, "{place} cannot be used: {reason}"),
            Unready::Unfinished => {
                let place = place.clone();
                Refusal::Unfinished { place }.fmt(f)
            }
            Unready::Newer { found, known } => write!(
                f,
                "{place} was written by a later version: its tables have version {found}, and this \
                 program knows them up to {known}"
            ),
            Unready::Unusable(reason) => {
                write!(f, "the tables of {place} cannot be used: {reason}")
            }
        }
    }
}

impl std::error::Error for NotOpened {}
