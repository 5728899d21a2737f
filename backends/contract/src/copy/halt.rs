//! What ends a side's work early.

use super::{Gone, Refusal};
use crate::Failure;

/// Why one side of a copy stopped, before it is said which side that is. Back ends make it from the
/// troubles of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    Failed(Failure),
    Refusal(Refusal),
}

impl Halt {
    /// The refusal, of the side that lies at this place.
    #[must_use]
    pub fn at(self, place: &str) -> Refusal {
        match self {
            Self::Refusal(refusal) => refusal,
            Self::Failed(failure) => Refusal::Failed {
                place: place.to_owned(),
                failure,
            },
        }
    }
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Self::Refusal(refusal)
    }
}

impl From<Gone> for Halt {
    fn from(gone: Gone) -> Self {
        Self::Refusal(gone.into())
    }
}
