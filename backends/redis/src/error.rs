//! Why a server cannot be used, in sentences.

use std::fmt;

use turnstile_contract::copy::{Others, Refusal};

use crate::{link::Trouble, order::SCHEMA};

/// Why a server cannot be a back end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// Not `redis://[user:password@]host[:port][/number]`.
    Address,
    /// It cannot be reached, or refuses us.
    Unavailable { place: String, reason: String },
    /// It is copied, or served and so not to be copied.
    Occupied { place: String, others: Others },
    /// An unfinished copy lies there.
    Unfinished { place: String },
    /// Its keys are of a later version than this.
    Newer { place: String, found: u32 },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address => {
                f.write_str("an address is redis://[user:password@]host[:port][/number]")
            }
            Self::Unavailable { place, reason } => {
                write!(f, "{place} cannot be used: {reason} (it takes Redis 7)")
            }
            Self::Occupied { place, others } => write!(f, "{place} cannot be used: {others}"),
            Self::Unfinished { place } => {
                let place = place.clone();
                Refusal::Unfinished { place }.fmt(f)
            }
            Self::Newer { place, found } => write!(
                f,
                "the keys in {place} are of version {found}, this server knows {SCHEMA}"
            ),
        }
    }
}

impl std::error::Error for OpenError {}

/// What went wrong, for whoever is told.
pub(crate) fn sentence(trouble: Trouble) -> String {
    match trouble {
        Trouble::Undone(reason) | Trouble::Lost(reason) | Trouble::Broken(reason) => reason,
        Trouble::Occupied(others) => others.to_string(),
        Trouble::NoFunctions => "it has lost our functions".to_owned(),
    }
}
