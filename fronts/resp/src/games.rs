//! Games in RESP: arguments to commands and queries, outcomes and answers to replies.

#[cfg(test)]
mod tests;

use turnstile_chassis::{Field, Fields};
use turnstile_games::{
    Answer, Command, Done, Ending, MatchId, MatchView, Outcome, PlayerId, Query,
};
use turnstile_types::Position;

use crate::{
    Encoder,
    fields::{self, put_done},
    macros::{answers, requests},
};

/// The channel on which the service publishes its events.
pub const CHANNEL: &str = "games.events";

/// What is new to a player who did something in a match and knows how it was before.
#[derive(Fields)]
struct Deed<'a> {
    #[field(name = "match")]
    id: MatchId,
    ply: u16,
    seq: u32,
    last: Option<u16>,
    to_move: Option<&'a PlayerId>,
    ending: Option<Ending>,
    winner: Option<&'a PlayerId>,
}

impl<'a> Deed<'a> {
    #[inline]
    fn of(view: &'a MatchView) -> Self {
        Self {
            id: view.id,
            ply: view.ply,
            seq: view.seq,
            last: view.last_cell(),
            to_move: view.seated(view.to_move()),
            ending: view.ending,
            winner: view.seated(view.winner()),
        }
    }
}

/// The fields of the answer to something that a player did in a match.
pub(crate) fn deed_fields() -> Vec<Field> {
    Deed::describe()
}

/// Appends what was answered to a command. `replayed`: it is the answer to an earlier request with
/// the same key. A deed is answered with what it changed, not with the whole match.
#[inline]
pub fn put_outcome(reply: &mut Encoder<'_>, outcome: &Outcome, position: Position, replayed: bool) {
    match outcome {
        Outcome::Done(Done::Acted(view)) => {
            put_done(reply, &Deed::of(view), position, replayed);
        }
        outcome => fields::put_outcome(reply, outcome, position, replayed),
    }
}

answers!(Answer::Absent);

requests!(Command, Query);
