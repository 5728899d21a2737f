//! The events of games.

use turnstile_chassis::{Fields, Words};
use turnstile_types::{Position, Timestamp};

use crate::{
    Game, MatchId, MatchView, Parcel, PlayerId, Seat, Standing, Verdict,
    shown::{arena, both},
};

/// One thing that happened. `(position, ordinal)` is unique and grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub struct Event {
    pub position: Position,
    /// Counts the events of one record, from 0.
    pub ordinal: u32,
    pub at: Timestamp,
    #[field(flatten)]
    pub kind: EventKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
#[fields(tag = "kind")]
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
    Match {
        #[field(skip)]
        change: Change,
        /// The match as it is now.
        state: MatchView,
    },
    /// The arena has a result for its distant scores server.
    Reported(#[field(flatten)] Parcel),
    /// The scores have counted a result. Who folds these has all statistics.
    Counted {
        #[field(flatten)]
        source: Source,
        #[field(flatten, with = both)]
        players: [PlayerId; 2],
        verdict: Verdict,
        /// How both stand now, the first player first.
        standings: [Standing; 2],
    },
    /// The arena knows that a match was counted, and how its players stand.
    Scored {
        #[field(name = "match")]
        match_id: MatchId,
        #[field(flatten, with = both)]
        players: [PlayerId; 2],
        /// How both stand now, the first player first.
        standings: [Standing; 2],
    },
}

/// What changed in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub enum Source {
    /// A match of this process.
    Here {
        #[field(name = "match")]
        match_id: MatchId,
    },
    /// A match of a distant arena.
    Arena {
        /// A distant arena, by its number in hexadecimal digits.
        #[field(with = arena)]
        arena: u64,
        #[field(name = "match")]
        match_id: MatchId,
    },
    /// An arena that names no matches.
    Foreign,
}

impl EventKind {
    /// The words of the kinds; a change of a match has a word of its own.
    pub const WORDS: &'static [&'static str] = &[
        "challenged",
        "seeking",
        "withdrawn",
        "begun",
        "moved",
        "draw_offered",
        "draw_declined",
        "left",
        "returned",
        "ended",
        "reported",
        "counted",
        "scored",
    ];

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
