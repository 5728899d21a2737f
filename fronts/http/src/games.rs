//! Games in HTTP: bodies and parameters to commands and queries, outcomes and answers to JSON.
//!
//! A match is shown in the same words wherever it is: in answers, in problems, in streams and on
//! sockets.

mod answer;
mod event;
mod outcome;
pub mod play;
mod query;
mod request;
mod state;

pub use answer::tell_answer;
pub use event::{Form, concerned, concerns, is_about, put_event, put_lagged, put_reset, put_state};
pub use outcome::tell_outcome;
pub use query::{
    around, leaders, match_in, matches, measure_in, opponents, player_in, tickets, watching,
};
pub use request::{Answerable, Challenge, DrawAnswer, Move, NewMatch, PlayerNamed, Search};

pub(crate) use answer::{
    GamesTotals, LeaderView, LeadersAround, LeadersPage, MatchPage, OpponentView, OpponentsPage,
    PlayerView, TallyView, TicketPage,
};
pub(crate) use event::GamesEventView;
pub(crate) use outcome::{Acted, Paired};
pub(crate) use query::EACH_SIDE_MAX;
#[cfg(test)]
pub(crate) use state::tests;
pub(crate) use state::{MatchView, StandingView, TicketView};
