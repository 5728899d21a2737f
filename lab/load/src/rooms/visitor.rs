//! A user of rooms: asks what its plan wants, and tells the witness, if there is one, what it hears.

use std::time::Instant;

use turnstile_check::{
    Seen, Witness,
    rooms::{Booked, Held, InlineReference, Operation, Place},
};
use turnstile_client::resp;

use super::{
    answer::{self, RoomNames},
    plan::{AskEnd, Plan},
    what::What,
};
use crate::{
    door,
    pace::{self, Ended, Garbled, ParsedAnswer, User},
    reply::{self, Brief, IN_LINE},
};

const GUESTS: [&[u8]; 16] = [
    b"ada",
    b"alan",
    b"barbara",
    b"donald",
    b"edsger",
    b"frances",
    b"grace",
    b"jim",
    b"john",
    b"katherine",
    b"leslie",
    b"margaret",
    b"niklaus",
    b"radia",
    b"tony",
    b"vint",
];

/// The longest name of a room, and the longest reference.
const NAME_BYTES_MAX: usize = 64;

/// One visitor. Everything it will need is allocated when it is made.
///
/// Without a witness it speaks RESP2, whose answers are shorter. With one it speaks RESP3, in which
/// refusals tell their position, too.
#[derive(Debug)]
pub struct RoomVisitor<P> {
    plan: P,
    witness: Option<Witness<Operation>>,
    names: RoomNames,
    property: Vec<u8>,
    /// One name of a room, or a reference.
    name: Vec<u8>,
    /// Whether the connection speaks RESP2 still.
    is_new: bool,
}

/// What a visitor asked.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// Whether it asked for RESP3 first.
    greets: bool,
    what: What,
}

impl<P: Plan> RoomVisitor<P> {
    pub(crate) fn new(
        property: &str,
        names: RoomNames,
        plan: P,
        witness: Option<Witness<Operation>>,
    ) -> Self {
        Self {
            plan,
            witness,
            names,
            property: property.as_bytes().to_vec(),
            name: Vec::with_capacity(NAME_BYTES_MAX),
            is_new: true,
        }
    }

    pub(crate) const fn plan(&self) -> &P {
        &self.plan
    }

    pub(crate) const fn names(&self) -> &RoomNames {
        &self.names
    }

    /// The command's name and the property.
    fn put_head(&self, out: &mut Vec<u8>, (name, words): (&[u8], usize)) {
        resp::put_count(out, b'*', words);
        resp::put_bulk(out, name);
        resp::put_bulk(out, &self.property);
    }

    /// The command's name, the property, the room and the nights.
    fn put_place(&mut self, out: &mut Vec<u8>, command: (&[u8], usize), place: Place) {
        self.put_head(out, command);
        self.name.clear();
        self.names.put_room(&mut self.name, place.room);
        resp::put_bulk(out, &self.name);
        self.put_nights(out, place.night, place.nights);
    }

    fn put_nights(&self, out: &mut Vec<u8>, night: u16, nights: u16) {
        resp::put_bulk(out, self.names.night(night));
        resp::put_bulk(out, self.names.night(night + nights));
    }

    /// The command's name, and a reference.
    fn put_reference(
        &mut self,
        out: &mut Vec<u8>,
        (name, words): (&[u8], usize),
        reference: InlineReference,
    ) {
        resp::put_count(out, b'*', words);
        resp::put_bulk(out, name);
        self.name.clear();
        reference.put_text(&mut self.name);
        resp::put_bulk(out, &self.name);
    }

    /// Reads an answer where nothing is checked.
    fn hear_brief<'a>(
        &mut self,
        ask: &Ask,
        bytes: &'a [u8],
    ) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        let Some((reply, length)) = Brief::read(bytes)? else {
            return Ok(None);
        };
        let answer = match reply {
            Brief::Error(code) => pace::Answer::Error(code),
            Brief::Refused(reason) => pace::Answer::Refused(reason),
            Brief::Done(text) => {
                let reference = if ask.what.gives_reference() {
                    let text = text.ok_or(Garbled)?;
                    Some(InlineReference::parse(text).map_err(|_none| Garbled)?)
                } else {
                    None
                };
                self.plan.learn(&ask.what, reference);
                pace::Answer::Done
            }
        };
        Ok(Some(ParsedAnswer { length, answer }))
    }
}

impl<P: Plan> User for RoomVisitor<P> {
    type Ask = Ask;

    const OPERATIONS: &'static [&'static str] = P::OPERATIONS;

    const WHOLES: &'static [&'static str] = P::WHOLES;

    const REQUEST_BYTES_MAX: usize = 512;

    fn at(&mut self, now: Instant) {
        self.plan.at(now);
        if let Some(witness) = &mut self.witness {
            witness.at(now);
        }
    }

    fn connected(&mut self) {
        self.is_new = true;
    }

    fn due(&self) -> Option<u64> {
        self.plan.due()
    }

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<Ask> {
        let what = self.plan.choose()?;
        let words = if self.plan.key().is_some() { 9 } else { 7 };
        let greets = self.witness.is_some() && std::mem::take(&mut self.is_new);
        if greets {
            resp::put_command(out, &[b"HELLO", b"3"]);
        }
        match what {
            What::Book { place, id, guest } => {
                self.put_place(out, (b"ROOMS.BOOK", words), place);
                resp::put_bulk(out, GUESTS[usize::from(guest)]);
                put_id(out, id);
            }
            What::Pick { wish, by_type, id } => {
                self.put_head(out, (b"ROOMS.BOOK", words));
                resp::put_bulk(out, if by_type { b"type:rush" } else { b"any" });
                self.put_nights(out, wish.night, wish.nights);
                resp::put_bulk(out, GUESTS[0]);
                put_id(out, id);
            }
            What::Cancel { booking, id } => {
                self.put_reference(out, (b"ROOMS.CANCEL", 3), booking.reference);
                put_id(out, id);
            }
            What::Hold { place, seconds } => {
                self.put_place(out, (b"ROOMS.HOLD", 7), place);
                resp::put_bulk(out, b"TTL_SECONDS");
                put_small(out, seconds);
            }
            What::Extend { hold, seconds } => {
                self.put_reference(out, (b"ROOMS.EXTEND", 3), hold.reference);
                put_small(out, seconds);
            }
            What::Confirm { hold, id } => {
                self.put_reference(out, (b"ROOMS.CONFIRM", 4), hold.reference);
                resp::put_bulk(out, GUESTS[0]);
                put_id(out, id);
            }
            What::Release { hold } => {
                self.put_reference(out, (b"ROOMS.RELEASE", 2), hold.reference);
            }
            What::Look { place } => self.put_place(out, (b"ROOMS.EXPLAIN", 5), place),
        }
        if let Some(key) = self.plan.key() {
            resp::put_bulk(out, b"KEY");
            resp::put_bulk(out, key);
        }
        if let Some(witness) = &mut self.witness {
            witness.asks();
        }
        Some(Ask { greets, what })
    }

    fn operation(ask: &Ask) -> usize {
        ask.what.operation()
    }

    fn hear<'a>(
        &mut self,
        ask: &Ask,
        bytes: &'a [u8],
    ) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        let Some(witness) = &mut self.witness else {
            return self.hear_brief(ask, bytes);
        };
        let Some(whole) = reply::whole(bytes, ask.greets)? else {
            return Ok(None);
        };
        let length = whole.end;
        let told = answer::told(&bytes[whole], &self.names, &ask.what)?;
        let answer = match told {
            answer::Answer::Error(code) => {
                if door::is_outcome_unknown(code) && ask.what.changes() {
                    witness.hears(Seen::Unknown, ask.what.unknown());
                } else {
                    witness.hears_nothing();
                }
                self.plan.ends(AskEnd::Failed);
                pace::Answer::Error(code)
            }
            answer::Answer::Waits(line) => {
                witness.hears_nothing();
                self.plan.ends(AskEnd::Waits(line));
                pace::Answer::Refused(IN_LINE)
            }
            answer::Answer::Outcome(outcome) => {
                let operation = ask.what.told(&self.names, &outcome)?;
                witness.hears(Seen::At(outcome.position), operation);
                self.plan.ends(AskEnd::Decided);
                match outcome.reason {
                    Some(reason) => pace::Answer::Refused(reason),
                    None => {
                        self.plan.learn(&ask.what, given(&operation));
                        pace::Answer::Done
                    }
                }
            }
            answer::Answer::Seen(found) => {
                let What::Look { place } = ask.what else {
                    return Err(Garbled);
                };
                witness.hears(Seen::Reading, Operation::Look { place, found });
                pace::Answer::Done
            }
        };
        Ok(Some(ParsedAnswer { length, answer }))
    }

    fn heard(&mut self, _ask: &Ask, due: u64, free: u64) -> Option<Ended> {
        self.plan.heard(due, free)
    }

    fn lost(&mut self, ask: &Ask) {
        self.plan.ends(AskEnd::Failed);
        let Some(witness) = &mut self.witness else {
            return;
        };
        if ask.what.changes() {
            witness.hears(Seen::Unknown, ask.what.unknown());
        } else {
            witness.hears_nothing();
        }
    }
}

/// The reference that something was given.
const fn given(operation: &Operation) -> Option<InlineReference> {
    match operation {
        Operation::Book {
            answer: Booked::Done(reference),
            ..
        }
        | Operation::Hold {
            answer: Held::Done { reference, .. },
            ..
        } => Some(*reference),
        _ => None,
    }
}

/// A number of one digit.
fn put_small(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(b"$1\r\n");
    resp::put_decimal(out, number);
    out.extend_from_slice(b"\r\n");
}

fn put_id(out: &mut Vec<u8>, id: u64) {
    out.extend_from_slice(b"$12\r\n");
    resp::put_decimal(out, id);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests;
