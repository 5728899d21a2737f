//! The events of travel, among them late answers.

use turnstile_chassis::{Fields, Words};
use turnstile_types::{Position, Principal, Timestamp};

use crate::{AbortReason, Desk, Locator, Outcome, Xid};

/// One thing that happened. `(position, ordinal)` is unique and grows.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct Event {
    pub position: Position,
    /// Counts the events of one record, from 0.
    pub ordinal: u32,
    pub at: Timestamp,
    #[field(flatten)]
    pub kind: EventKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Fields, Words)]
#[fields(tag = "kind")]
pub enum EventKind {
    /// The answer to the command at this position, which was told to wait. Those of one record come
    /// in the order in which they were decided.
    Answered {
        ticket: Position,
        #[field(with = Outcome::code)]
        outcome: Outcome,
    },
    Committed {
        xid: Xid,
    },
    Aborted {
        xid: Xid,
        #[field(flatten)]
        reason: AbortReason,
    },
    Booked {
        locator: Locator,
    },
    Held {
        locator: Locator,
        until: Timestamp,
    },
    Confirmed {
        locator: Locator,
    },
    Cancelled {
        locator: Locator,
    },
    Expired {
        locator: Locator,
    },
    /// An operator decided at the desk.
    Resolved {
        desk: Desk,
        xid: Xid,
        #[field(name = "decision", with = decision)]
        commit: bool,
        by: Principal,
    },
    /// A desk ended a transaction otherwise than was decided, because an operator said so. It may
    /// be told more than once.
    Disagreed {
        desk: Desk,
        xid: Xid,
    },
    /// A desk started anew, or was met for the first time.
    Met {
        desk: Desk,
    },
}

impl EventKind {
    /// Whether the record that caused it must be durable before anything is told of it.
    pub(crate) const fn is_firm(&self) -> bool {
        match self {
            Self::Answered { outcome, .. } => outcome.is_firm(),
            Self::Aborted { .. } => false,
            Self::Committed { .. }
            | Self::Booked { .. }
            | Self::Held { .. }
            | Self::Confirmed { .. }
            | Self::Cancelled { .. }
            | Self::Expired { .. }
            | Self::Resolved { .. }
            | Self::Disagreed { .. }
            | Self::Met { .. } => true,
        }
    }
}

const fn decision(commit: &bool) -> &'static str {
    if *commit { "commit" } else { "abort" }
}
