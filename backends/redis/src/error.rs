//! What went wrong with a server, in sentences.

use turnstile_contract::{Failure, Unready};

use crate::link::Trouble;

/// What went wrong, for whoever is told.
pub(crate) fn sentence(trouble: Trouble) -> String {
    match trouble {
        Trouble::Undone(reason) | Trouble::Lost(reason) | Trouble::Broken(reason) => reason,
        Trouble::Occupied(others) => others.to_string(),
        Trouble::NoFunctions => "it has lost our functions".to_owned(),
    }
}

/// Of a call that has done nothing.
impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Broken(reason) => Self::Broken { reason },
            other => Self::Unavailable {
                reason: sentence(other),
            },
        }
    }
}

impl From<Trouble> for Unready {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Occupied(others) => Self::Occupied(others),
            other => Self::Unavailable(format!("{} (it takes Redis 7)", sentence(other))),
        }
    }
}
