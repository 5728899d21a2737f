//! Why a state was not copied.

use std::fmt;

use turnstile_rooms::{Misfit, Piece, Reference};
use turnstile_types::{Principal, Timestamp};

use super::{Divergence, Gone};
use crate::Failure;

/// Why there is no copy. Nothing that can be used was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is a state in the target already.
    NotEmpty { place: String },
    /// An unfinished copy lies there.
    Unfinished { place: String },
    /// The target does not offer what a piece takes. Nothing was written.
    NotOffered {
        what: &'static str,
        piece: Box<Piece>,
    },
    /// A side failed, or cannot be reached.
    Failed { place: String, failure: Failure },
    /// A directory cannot be used, or what is in it.
    Directory { place: String, reason: String },
    /// Somebody changed a side meanwhile.
    Changed { place: String },
    /// Two bookings of the source lie in one slot, as no machine has them.
    SameSlot { one: Reference, other: Reference },
    /// A booking of the source stands although its reference has ended.
    Ended { reference: Reference },
    /// The source has something in a slot that it never gave.
    NeverGiven { slot: u32 },
    /// A piece of the source cannot be true.
    Misfit(Misfit),
    /// What an earlier version kept under a key of the source does not say enough for others.
    EarlierKey {
        principal: Principal,
        key: Box<str>,
        forgotten: Timestamp,
    },
    /// The target did not keep the secret.
    Secret,
    /// The target has something else than the source.
    Different(Divergence),
    /// Nobody listens any more: who did says why.
    Gone,
}

impl From<Gone> for Refusal {
    fn from(_gone: Gone) -> Self {
        Self::Gone
    }
}

impl From<Misfit> for Refusal {
    fn from(misfit: Misfit) -> Self {
        Self::Misfit(misfit)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEmpty { place } => {
                write!(
                    f,
                    "{place} is not empty: a state is copied to where none is"
                )
            }
            Self::Unfinished { place } => write!(
                f,
                "{place} holds an unfinished copy: what began it (`rooms copy` or `restore`) throws it \
                 away and begins anew with `--again`"
            ),
            Self::NotOffered { what, piece } => write!(
                f,
                "the target does not offer {what}, and the source has {piece}: nothing was written"
            ),
            Self::Failed { place, failure } => write!(f, "{place}: {failure}"),
            Self::Directory { place, reason } => write!(f, "{place}: {reason}"),
            Self::Changed { place } => {
                write!(f, "{place} was changed meanwhile: stop its servers first")
            }
            Self::SameSlot { one, other } => write!(
                f,
                "the source has {one} and {other} in one slot, which no other back end can keep"
            ),
            Self::Ended { reference } => {
                write!(f, "in the source {reference} stands, and has ended")
            }
            Self::NeverGiven { slot } => {
                write!(
                    f,
                    "the source has something in slot {slot}, which it never gave"
                )
            }
            Self::Misfit(misfit) => write!(f, "the source has a {misfit}"),
            Self::EarlierKey {
                principal,
                key,
                forgotten,
            } => write!(
                f,
                "the source has a key of an earlier version, {key} of {}, which cannot be moved: it \
                 is forgotten at {forgotten}",
                principal.0.as_str()
            ),
            Self::Secret => f.write_str("the target did not keep the secret of the id numbers"),
            Self::Different(difference) => {
                write!(f, "the target is not what the source is: {difference}")
            }
            Self::Gone => f.write_str("the other side broke off"),
        }
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Failed { failure, .. } => Some(failure),
            Self::Misfit(misfit) => Some(misfit),
            _ => None,
        }
    }
}
