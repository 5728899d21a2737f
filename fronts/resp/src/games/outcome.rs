//! Outcomes as replies: an array that begins with 1 or 0 in RESP2, a map in RESP3.

use turnstile_games::{Done, Outcome, Refusal};
use turnstile_types::Position;

use super::values::{Field, Value, deed_fields};
use crate::{
    Encoder,
    verdict::{Tail, put_done, put_refused},
};

/// Appends what was answered to a command. `replayed`: it is the answer to an earlier request with
/// the same key.
///
/// Both protocols have the same fields in the same order; only RESP3 names them. A state or a
/// ticket is one field, with names in either.
#[inline]
pub fn put_outcome(reply: &mut Encoder<'_>, outcome: &Outcome, position: Position, replayed: bool) {
    match outcome {
        Outcome::Done(done) => {
            let tail = Tail {
                position,
                again: false,
                replayed,
            };
            with_done(done, |fields| put_done(reply, fields, tail));
        }
        Outcome::Refused(refusal) => {
            with_refusal(refusal, |fields| {
                put_refused(reply, refusal.code(), fields, Some(position), replayed);
            });
        }
    }
}

#[inline]
fn with_done(done: &Done, put: impl FnOnce(&[Field<'_>])) {
    match done {
        Done::Acted(view) => put(&deed_fields(view)),
        Done::Begun(view) | Done::Connected(Some(view)) => put(&[("state", Value::State(view))]),
        Done::Challenged | Done::Connected(None) => put(&[("state", Value::Nothing)]),
        Done::Seeking(ticket) => {
            put(&[("state", Value::Nothing), ("ticket", Value::Ticket(ticket))])
        }
        Done::Counted(standings) => put(&[("standings", Value::Standings(standings))]),
        Done::Withdrawn
        | Done::Disconnected
        | Done::Restarted
        | Done::Configured
        | Done::Acknowledged => put(&[]),
    }
}

fn with_refusal(refusal: &Refusal, put: impl FnOnce(&[Field<'_>])) {
    match refusal {
        Refusal::Over(view) | Refusal::Stale(view) | Refusal::NotYourTurn(view) => {
            put(&[("state", Value::State(view))]);
        }
        Refusal::Playing { player, match_id } => put(&[
            ("player", Value::Text(player.as_str())),
            ("match", Value::Number(match_id.0)),
        ]),
        Refusal::Waiting { player } => put(&[("player", Value::Text(player.as_str()))]),
        Refusal::TooEarly { until } => put(&[("until", Value::Instant(*until))]),
        Refusal::Full { limit } => put(&[("limit", Value::count(*limit))]),
        Refusal::OutOfOrder { expected } => put(&[("expected", Value::Number(*expected))]),
        Refusal::NotHere
        | Refusal::UnsoundSettings
        | Refusal::ScoresAway
        | Refusal::SamePlayer
        | Refusal::NotWaiting
        | Refusal::NoSuchMatch
        | Refusal::NotSeated
        | Refusal::IllegalMove(_)
        | Refusal::FalseClaim
        | Refusal::NoOffer
        | Refusal::OfferStands
        | Refusal::TooLate
        | Refusal::NothingToClaim => put(&[]),
    }
}
