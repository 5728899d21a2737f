//! A visitor who wants what others want, too, and notes all that it hears.

use std::{collections::VecDeque, time::Instant};

use turnstile_check::{
    Seen, Witness,
    rooms::{Booked, Cancelled, Operation, Place, Reference},
};
use turnstile_client::resp;

use super::{
    Config, NIGHTS,
    answer::{self, Names, Outcome},
};
use crate::{
    check::reply,
    pace::{self, Garbled, Heard, User},
    seed::Dice,
};

/// How many bookings a visitor remembers to cancel; what it forgets stays booked.
const HELD_MAX: usize = 64;

/// The longest stay.
const STAY_MAX: u64 = 3;

/// What is asked of a hundred: bookings, cancellations, looks; the rest are cancellations that must be
/// refused. More bookings than cancellations, so that the nights fill up until so many are refused.
const BOOKS: u64 = 40;
const CANCELS: u64 = 30;
const LOOKS: u64 = 20;

/// One visitor. Everything it will need is allocated when it is made.
#[derive(Debug)]
pub struct Visitor {
    dice: Dice,
    witness: Witness<Operation>,
    names: Names,
    rooms: u64,
    property: Vec<u8>,
    /// One name of a room.
    room: Vec<u8>,
    held: VecDeque<Booking>,
    /// The last that was cancelled.
    ended: Option<Booking>,
    /// Whether the connection speaks RESP2 still.
    is_new: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Booking {
    reference: Reference,
    place: Place,
    id: u64,
}

/// What a visitor asked.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// Whether it asked for RESP3 first: refusals tell their position only there.
    greets: bool,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Book { place: Place, id: u64 },
    Cancel { booking: Booking, id: u64 },
    Look { place: Place },
}

impl Visitor {
    pub(super) fn new(
        config: &Config,
        names: Names,
        rooms: u16,
        witness: Witness<Operation>,
    ) -> Self {
        let user = u64::try_from(witness.user()).expect("users are bounded");
        Self {
            dice: Dice::of_user(config.pace.seed, user),
            witness,
            room: Vec::with_capacity(64),
            names,
            rooms: u64::from(rooms),
            property: config.property.clone().into_bytes(),
            held: VecDeque::with_capacity(HELD_MAX),
            ended: None,
            is_new: true,
        }
    }

    fn below(&mut self, bound: u64) -> u16 {
        u16::try_from(self.dice.below(bound)).expect("bounds are small")
    }

    fn place(&mut self, longest: u64) -> Place {
        let nights = 1 + self.below(longest);
        Place {
            room: self.below(self.rooms),
            night: self.below(u64::from(NIGHTS - nights + 1)),
            nights,
        }
    }

    fn choose(&mut self) -> What {
        let throw = self.dice.below(100);
        if throw < LOOKS {
            let place = self.place(1);
            return What::Look { place };
        }
        if throw < LOOKS + CANCELS
            && let Some(booking) = self.held.pop_front()
        {
            let id = booking.id;
            return What::Cancel { booking, id };
        }
        if throw >= LOOKS + CANCELS + BOOKS {
            let wrong = self
                .held
                .back()
                .copied()
                .filter(|_booking| throw.is_multiple_of(2));
            let refused = wrong.map(|booking| (booking, booking.id + 1));
            let ended = self.ended.map(|booking| (booking, booking.id));
            if let Some((booking, id)) = refused.or(ended) {
                return What::Cancel { booking, id };
            }
        }
        // Twelve digits, the last even: its odd neighbour is nobody's.
        let id = 200_000_000_000 + 2 * self.dice.below(400_000_000_000);
        let place = self.place(STAY_MAX);
        What::Book { place, id }
    }

    /// The command's name, the property, the room and the nights.
    fn put_place(&mut self, out: &mut Vec<u8>, command: (&[u8], usize), place: Place) {
        let (name, words) = command;
        resp::put_count(out, b'*', words);
        resp::put_bulk(out, name);
        resp::put_bulk(out, &self.property);
        self.room.clear();
        self.names.put_room(&mut self.room, place.room);
        resp::put_bulk(out, &self.room);
        resp::put_bulk(out, self.names.night(place.night));
        resp::put_bulk(out, self.names.night(place.night + place.nights));
    }

    /// What was asked, with what was answered to it.
    fn outcome(&self, what: &What, outcome: &Outcome<'_>) -> Result<Operation, Garbled> {
        Ok(match (*what, outcome.reason) {
            (What::Book { place, id }, None) => {
                let reference = outcome.reference.ok_or(Garbled)?;
                let reference = Reference::parse(reference).map_err(|_none| Garbled)?;
                let answer = Booked::Done(reference);
                Operation::Book { place, id, answer }
            }
            (What::Book { place, id }, Some(reason)) => {
                let answer = match (reason, outcome.nights) {
                    (b"sold_out", Some(nights)) => Booked::SoldOut(nights),
                    _ => Booked::Strange,
                };
                Operation::Book { place, id, answer }
            }
            (What::Cancel { booking, id }, reason) => Operation::Cancel {
                reference: booking.reference,
                id,
                answer: match reason {
                    None => {
                        let Outcome {
                            room,
                            arrival,
                            departure,
                            ..
                        } = *outcome;
                        let place = self.names.place(room, arrival, departure);
                        Cancelled::Done(place.ok_or(Garbled)?)
                    }
                    Some(b"ended" | b"not_found") => Cancelled::Gone,
                    Some(b"wrong_guest") => Cancelled::WrongGuest,
                    Some(_) => Cancelled::Strange,
                },
            },
            (What::Look { .. }, _) => return Err(Garbled),
        })
    }

    /// Remembers what can be asked for next.
    fn learn(&mut self, what: &What, operation: &Operation) {
        match (*what, *operation) {
            (
                What::Book { place, id },
                Operation::Book {
                    answer: Booked::Done(reference),
                    ..
                },
            ) => {
                if self.held.len() == HELD_MAX {
                    self.held.pop_front();
                }
                self.held.push_back(Booking {
                    reference,
                    place,
                    id,
                });
            }
            (
                What::Cancel { booking, .. },
                Operation::Cancel {
                    answer: Cancelled::Done(_),
                    ..
                },
            ) => self.ended = Some(booking),
            _ => {}
        }
    }
}

impl What {
    /// The same without an answer.
    const fn unknown(&self) -> Operation {
        match *self {
            Self::Book { place, id } => Operation::Book {
                place,
                id,
                answer: Booked::Unknown,
            },
            Self::Cancel { booking, id } => Operation::Cancel {
                reference: booking.reference,
                id,
                answer: Cancelled::Unknown,
            },
            Self::Look { place } => Operation::Look { place, found: None },
        }
    }

    /// Whether it changes anything if it is carried out.
    fn changes(&self) -> bool {
        match self {
            Self::Book { .. } => true,
            Self::Cancel { booking, id } => booking.id == *id,
            Self::Look { .. } => false,
        }
    }
}

impl User for Visitor {
    type Ask = Ask;

    const OPERATIONS: &'static [&'static str] = &["book", "cancel", "look"];

    const REQUEST_BYTES_MAX: usize = 512;

    fn at(&mut self, now: Instant) {
        self.witness.at(now);
    }

    fn connected(&mut self) {
        self.is_new = true;
    }

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<Ask> {
        let greets = std::mem::take(&mut self.is_new);
        if greets {
            resp::put_command(out, &[b"HELLO", b"3"]);
        }
        let what = self.choose();
        match what {
            What::Book { place, id } => {
                self.put_place(out, (b"ROOMS.BOOK", 7), place);
                resp::put_bulk(out, b"ada");
                put_id(out, id);
            }
            What::Cancel { booking, id } => {
                resp::put_count(out, b'*', 3);
                resp::put_bulk(out, b"ROOMS.CANCEL");
                self.room.clear();
                booking.reference.put_text(&mut self.room);
                resp::put_bulk(out, &self.room);
                put_id(out, id);
            }
            What::Look { place } => self.put_place(out, (b"ROOMS.EXPLAIN", 5), place),
        }
        self.witness.asks();
        Some(Ask { greets, what })
    }

    fn operation(ask: &Ask) -> usize {
        match ask.what {
            What::Book { .. } => 0,
            What::Cancel { .. } => 1,
            What::Look { .. } => 2,
        }
    }

    fn hear<'a>(&mut self, ask: &Ask, bytes: &'a [u8]) -> Result<Option<Heard<'a>>, Garbled> {
        let Some(whole) = reply::whole(bytes, ask.greets)? else {
            return Ok(None);
        };
        let length = whole.end;
        let reply = &bytes[whole];
        let told = match ask.what {
            What::Book { place, .. } => answer::outcome(reply, &self.names, place.night)?,
            What::Cancel { .. } => answer::outcome(reply, &self.names, 0)?,
            What::Look { .. } => answer::look(reply, &self.names)?,
        };
        let answer = match told {
            answer::Answer::Error(code) => {
                if reply::is_unknown(code) && ask.what.changes() {
                    self.witness.hears(Seen::Unknown, ask.what.unknown());
                } else {
                    self.witness.hears_nothing();
                }
                pace::Answer::Error(code)
            }
            answer::Answer::Outcome(outcome) => {
                let operation = self.outcome(&ask.what, &outcome)?;
                self.learn(&ask.what, &operation);
                self.witness.hears(Seen::At(outcome.position), operation);
                match outcome.reason {
                    Some(reason) => pace::Answer::Refused(reason),
                    None => pace::Answer::Done,
                }
            }
            answer::Answer::Seen(found) => {
                let What::Look { place } = ask.what else {
                    return Err(Garbled);
                };
                let operation = Operation::Look { place, found };
                self.witness.hears(Seen::Reading, operation);
                pace::Answer::Done
            }
        };
        Ok(Some(Heard { length, answer }))
    }

    fn lost(&mut self, ask: &Ask) {
        if ask.what.changes() {
            self.witness.hears(Seen::Unknown, ask.what.unknown());
        } else {
            self.witness.hears_nothing();
        }
    }
}

fn put_id(out: &mut Vec<u8>, id: u64) {
    out.extend_from_slice(b"$12\r\n");
    resp::put_decimal(out, id);
    out.extend_from_slice(b"\r\n");
}
