//! Commands of a journal that were decided again, for an audit.

use crate::{Effect, Origin, Position, Principal, Timestamp};

/// A command that was decided again.
#[derive(Clone, Copy, Debug)]
pub struct AuditedCommand<'a> {
    pub position: Position,
    pub time: Timestamp,
    pub principal: &'a Principal,
    pub origin: &'a Origin<'a>,
    /// The number of its service.
    pub service: u8,
    /// The machine's encoding of the command.
    pub payload: &'a [u8],
    /// What it came to.
    pub effect: Effect,
    /// The machine's encoding of that.
    pub outcome: &'a [u8],
}

/// What an audit hands over, in the order of the journal.
#[derive(Clone, Copy, Debug)]
pub enum Audited<'a> {
    Command(AuditedCommand<'a>),
    /// The answer to a command that had to wait and was handed over before.
    Answer {
        /// The position of the command.
        of: Position,
        /// The position of the record that decided it.
        by: Position,
        /// The machine's encoding of the outcome.
        outcome: &'a [u8],
    },
}

impl Audited<'_> {
    /// The position of the record that decided it, as far as it is decided.
    #[must_use]
    pub const fn by(&self) -> Position {
        match self {
            Self::Command(command) => command.position,
            Self::Answer { by, .. } => *by,
        }
    }
}
