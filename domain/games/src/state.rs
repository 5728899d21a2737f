//! What the machine owns: an arena and its scores, and what is between them.

use turnstile_chassis::Events;

use crate::{Event, Settings, arena::Arena, scores::Scores};

/// Matches between two players, and what they amount to.
///
/// Two roles are here in every process, and the settings say which of them are played. The arena
/// knows who plays with whom and how it stands; the scores know what was won and lost, and nothing
/// of matches. Between them goes nothing but results: handed over in the record that ended the
/// match where both are played here, put into the arena's outbox otherwise.
///
/// Time: before a command is decided, everything that is due at its instant is done, as by
/// [`tick`](turnstile_types::Machine::tick). Beyond that a refusal changes nothing.
#[derive(Debug)]
pub struct Games {
    pub(crate) settings: Settings,
    pub(crate) arena: Arena,
    pub(crate) scores: Scores,
    pub(crate) events: Events<Event>,
}
