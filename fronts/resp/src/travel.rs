//! Travel in RESP: arguments to commands and queries, outcomes and answers to replies.

#[cfg(test)]
mod tests;

use turnstile_chassis::{Field, Fields, Show as _, Visitor};
use turnstile_travel::{Answer, Command, CustomerId, Outcome, Query, Refusal};
use turnstile_types::Position;

use crate::{
    Encoder, Protocol,
    fields::{put_done, put_no},
    macros::requests,
};

/// The channel on which the service publishes its events.
pub const CHANNEL: &str = "travel.events";

/// Where an outcome was decided that came later than its command: in which record, and behind how many
/// other events of it. Outcomes are decided in this order; what the record itself asked for came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub struct Decided {
    #[field(name = "decided")]
    pub position: Position,
    pub ordinal: u32,
}

/// Fields, and behind them where they were decided.
struct Placed<'a, F> {
    fields: &'a F,
    place: Option<Decided>,
}

impl<F: Fields> Fields for Placed<'_, F> {
    fn visit(&self, visitor: &mut impl Visitor) {
        self.fields.visit(visitor);
        self.place.visit(visitor);
    }

    fn describe() -> Vec<Field> {
        [F::describe(), <Option<Decided>>::describe()].concat()
    }
}

/// Appends what was answered to the command at this position, at once or late. `replayed`: it is
/// the answer to an earlier request with the same key.
///
/// The position of an answer that promises nothing may be given again after a crash, which aborts the
/// transaction that it is about.
pub fn put_outcome(reply: &mut Encoder<'_>, outcome: &Outcome, position: Position, replayed: bool) {
    put(reply, outcome, (position, None), replayed);
}

/// The same for an answer that came when its command had waited, with the place where it was decided:
/// in RESP3 only, where it has a name.
pub fn put_late(
    reply: &mut Encoder<'_>,
    outcome: &Outcome,
    (ticket, decided): (Position, Decided),
    replayed: bool,
) {
    put(reply, outcome, (ticket, Some(decided)), replayed);
}

fn put(
    reply: &mut Encoder<'_>,
    outcome: &Outcome,
    (position, decided): (Position, Option<Decided>),
    replayed: bool,
) {
    let place = decided.filter(|_place| reply.protocol() == Protocol::Resp3);
    match outcome {
        Outcome::Done(done) => {
            let placed = Placed {
                fields: done,
                place,
            };
            put_done(reply, &placed, position, replayed);
        }
        Outcome::Refused(refusal) => {
            let placed = Placed {
                fields: refusal,
                place,
            };
            put_no(reply, refusal.code(), &placed, Some(position), replayed);
        }
        Outcome::Waiting { ticket } => reply.error(format_args!(
            "UNKNOWN the command at {ticket} waits for a lock"
        )),
    }
}

/// Appends what was answered to a query: an object, or that there is none. [`put_late`] writes a
/// late answer.
pub fn put_answer(reply: &mut Encoder<'_>, answer: &Answer) {
    let absent = match answer {
        Answer::Transaction(None) => Refusal::UnknownTransaction.code(),
        Answer::Itinerary(None) => Refusal::NoSuchItinerary.code(),
        Answer::Customer(None) => Refusal::NoSuchCustomer(CustomerId(0)).code(),
        answer => return reply.object(answer),
    };
    put_no(reply, absent, &(), None, false);
}

requests!(Command, Query);
