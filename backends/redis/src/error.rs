//! What went wrong with a server, in sentences.

use turnstile_contract::{Failure, Unready};

use crate::link::CallFailure;

/// What went wrong, for whoever is told.
pub(crate) fn sentence(trouble: CallFailure) -> String {
    match trouble {
        CallFailure::Undone(reason) | CallFailure::Lost(reason) | CallFailure::Broken(reason) => {
            reason
        }
        CallFailure::Occupied(others) => others.to_string(),
        CallFailure::NoFunctions => "it has lost our functions".to_owned(),
    }
}

/// Of a call that has done nothing.
impl From<CallFailure> for Failure {
    fn from(trouble: CallFailure) -> Self {
        match trouble {
            CallFailure::Broken(reason) => Self::Broken { reason },
            other => Self::Unavailable {
                reason: sentence(other),
            },
        }
    }
}

impl From<CallFailure> for Unready {
    fn from(trouble: CallFailure) -> Self {
        match trouble {
            CallFailure::Occupied(others) => Self::Occupied(others),
            other => Self::Unavailable(format!("{} (it takes Redis 7)", sentence(other))),
        }
    }
}
