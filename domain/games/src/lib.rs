//! The machine of games: an arena in which two play against each other, and the scores, which
//! cannot drift.

#![forbid(unsafe_code)]
#![deny(
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod about;
pub mod limits;

mod command;
mod event;
mod outcome;
mod query;
mod settings;

mod game;
mod player;
mod rules;
mod standing;
mod view;

mod shown;

mod machine;
mod state;
mod subject;

mod arena;
mod outbox;

mod ratings;
mod scores;

mod line;
mod roster;

mod check;
mod queries;
mod recount;
mod snapshot;

pub use command::{Command, Deed};
pub use event::{Change, Event, EventKind, Source};
pub use game::{Claim, Ending, Game, Seat, Verdict};
pub use outbox::{MatchResult, Parcel};
pub use outcome::{Done, Outcome, Pairing, Refusal};
pub use player::{InvalidPlayer, PlayerId};
pub use query::{
    Absent, ActivityView, Answer, HeadToHead, InvalidRung, Leader, Opponent, PlayerView, Query,
    Rung, Totals,
};
pub use ratings::{ELO_START, Glicko, elo_gain};
pub use recount::Recount;
pub use rules::{Board, Illegal, Played, Shape, play};
pub use settings::{Roles, Settings};
pub use standing::{Measure, Ratings, Standing, Tally};
pub use state::Games;
pub use view::{MatchId, MatchView, TicketView, WaitReason};
