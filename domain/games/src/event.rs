//! What happened, for those who follow the service.

use turnstile_types::{Position, Timestamp};

use crate::{Game, MatchId, MatchView, Parcel, PlayerId, Seat, Standing, Verdict};

/// One thing that happened. `(position, ordinal)` is unique and grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub position: Position,
    /// Counts the events of one record, from 0.
    pub ordinal: u32,
    pub at: Timestamp,
    pub kind: EventKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Somebody named an opponent, who has not named them.
    Challenged {
        player: PlayerId,
        opponent: PlayerId,
        game: Game,
    },
    /// Somebody looks for anybody.
    Seeking { player: PlayerId, game: Game },
    /// Somebody waits no longer.
    Withdrawn { player: PlayerId },
    /// Something changed in a match, which is so now.
    Match { change: Change, state: MatchView },
    /// The arena has a result for its distant scores server.
    Reported(Parcel),
    /// The scores have counted a result. Who folds these has all statistics.
    Counted {
        source: Source,
        players: [PlayerId; 2],
        verdict: Verdict,
        standings: [Standing; 2],
    },
    /// The arena knows that a match was counted, and how its players stand.
    Scored {
        match_id: MatchId,
        players: [PlayerId; 2],
        standings: [Standing; 2],
    },
}

/// What changed in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Begun,
    /// The stone lies in the cell that the state says was the last.
    Moved {
        seat: Seat,
    },
    DrawOffered {
        seat: Seat,
    },
    DrawDeclined {
        seat: Seat,
    },
    /// The player's connection is gone.
    Left {
        seat: Seat,
    },
    Returned {
        seat: Seat,
    },
    /// It ended otherwise than by a move.
    Ended,
}

/// Where a result came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A match of this process.
    Here { match_id: MatchId },
    /// A match of a distant arena.
    Arena { arena: u64, match_id: MatchId },
    /// An arena that names no matches.
    Foreign,
}

impl EventKind {
    /// The stable word on every door.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Challenged { .. } => "challenged",
            Self::Seeking { .. } => "seeking",
            Self::Withdrawn { .. } => "withdrawn",
            Self::Match { change, .. } => change.code(),
            Self::Reported(_) => "reported",
            Self::Counted { .. } => "counted",
            Self::Scored { .. } => "scored",
        }
    }
}

impl Change {
    /// The stable word on every door.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Moved { .. } => "moved",
            Self::DrawOffered { .. } => "draw_offered",
            Self::DrawDeclined { .. } => "draw_declined",
            Self::Left { .. } => "left",
            Self::Returned { .. } => "returned",
            Self::Ended => "ended",
        }
    }
}
