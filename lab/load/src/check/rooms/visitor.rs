//! A visitor who wants what others want, too, and notes all that it hears.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use turnstile_check::{
    Seen, Witness,
    rooms::{Booked, Cancelled, Confirmed, Extended, Held, Operation, Place, Reference},
};
use turnstile_client::resp;

use super::{
    Config, NIGHTS,
    answer::{self, Names},
    what::{Booking, Kept, What},
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

/// What is asked of a hundred: bookings, cancellations, looks, holds, what becomes of these; the rest
/// are cancellations that must be refused. More bookings than cancellations, so that the nights fill up
/// until so many are refused.
const BOOKS: u64 = 34;
const CANCELS: u64 = 28;
const LOOKS: u64 = 18;
const HOLDS: u64 = 6;
const ENDS: u64 = 6;

/// How long a hold is kept, in seconds: as briefly as can be, and longer.
const KEEP_SECONDS: u64 = 3;

/// A hold that was left alone is asked for so long before or after its time is over, in milliseconds at most.
const NEAR_MS: u64 = 100;

/// How many holds a visitor remembers; what it forgets ends by itself.
const KEPT_MAX: usize = 8;

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
    /// Holds that it goes on with soon.
    kept: VecDeque<Kept>,
    /// One that it leaves alone until then, when its time is over or nearly so: as few nights are
    /// blocked for long as there are visitors.
    left: Option<(Kept, Instant)>,
    now: Instant,
    /// Whether the connection speaks RESP2 still.
    is_new: bool,
}

/// What a visitor asked.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// Whether it asked for RESP3 first: refusals tell their position only there.
    greets: bool,
    what: What,
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
            kept: VecDeque::with_capacity(KEPT_MAX),
            left: None,
            now: Instant::now(),
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

    /// Twelve digits, the last even: its odd neighbour is nobody's.
    fn id(&mut self) -> u64 {
        200_000_000_000 + 2 * self.dice.below(400_000_000_000)
    }

    /// What becomes of a hold: of the one that was left, when it is time, or of one of the others.
    fn end(&mut self, throw: u64) -> Option<What> {
        let due = self.left.take_if(|(_, when)| *when <= self.now);
        let hold = match due {
            Some((hold, _)) => hold,
            None if throw < ENDS => self.kept.pop_front()?,
            None => return None,
        };
        Some(match self.dice.below(4) {
            0 => What::Release { hold },
            1 => What::Extend {
                hold,
                seconds: 1 + self.dice.below(KEEP_SECONDS),
            },
            _ => What::Confirm {
                hold,
                id: self.id(),
            },
        })
    }

    fn choose(&mut self) -> What {
        let throw = self.dice.below(100);
        if let Some(what) = self.end(throw) {
            return what;
        }
        let Some(throw) = throw.checked_sub(ENDS + HOLDS) else {
            let (place, seconds) = (self.place(STAY_MAX), 1 + self.dice.below(KEEP_SECONDS));
            return What::Hold { place, seconds };
        };
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
        let id = self.id();
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

    /// The command's name, and a reference.
    fn put_reference(
        &mut self,
        out: &mut Vec<u8>,
        (name, words): (&[u8], usize),
        reference: Reference,
    ) {
        resp::put_count(out, b'*', words);
        resp::put_bulk(out, name);
        self.room.clear();
        reference.put_text(&mut self.room);
        resp::put_bulk(out, &self.room);
    }

    /// Remembers a hold: one it leaves alone, the others it goes on with.
    fn keep(&mut self, hold: Kept, seconds: u64) {
        if self.left.is_none() && self.dice.below(2) == 0 {
            let later = Duration::from_millis(self.dice.below(2 * NEAR_MS));
            let when = self.now + Duration::from_secs(seconds) + later;
            self.left = Some((hold, when - Duration::from_millis(NEAR_MS)));
            return;
        }
        if self.kept.len() == KEPT_MAX {
            self.kept.pop_front();
        }
        self.kept.push_back(hold);
    }

    fn remember(&mut self, booking: Booking) {
        if self.held.len() == HELD_MAX {
            self.held.pop_front();
        }
        self.held.push_back(booking);
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
                self.remember(Booking {
                    reference,
                    place,
                    id,
                });
            }
            (
                What::Hold { place, seconds },
                Operation::Hold {
                    answer: Held::Done { reference, .. },
                    ..
                },
            ) => self.keep(Kept { reference, place }, seconds),
            (
                What::Extend { hold, seconds },
                Operation::Extend {
                    answer: Extended::Done(_),
                    ..
                },
            ) => self.keep(hold, seconds),
            (
                What::Confirm { hold, id },
                Operation::Confirm {
                    answer: Confirmed::Done { .. },
                    ..
                },
            ) => self.remember(Booking {
                reference: hold.reference,
                place: hold.place,
                id,
            }),
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

impl User for Visitor {
    type Ask = Ask;

    const OPERATIONS: &'static [&'static str] = &[
        "book", "cancel", "look", "hold", "extend", "confirm", "release",
    ];

    const REQUEST_BYTES_MAX: usize = 512;

    fn at(&mut self, now: Instant) {
        self.now = now;
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
                resp::put_bulk(out, b"ada");
                put_id(out, id);
            }
            What::Release { hold } => {
                self.put_reference(out, (b"ROOMS.RELEASE", 2), hold.reference);
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
            What::Hold { .. } => 3,
            What::Extend { .. } => 4,
            What::Confirm { .. } => 5,
            What::Release { .. } => 6,
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
            What::Hold { place, .. } => answer::outcome(reply, &self.names, place.night)?,
            What::Cancel { .. }
            | What::Extend { .. }
            | What::Confirm { .. }
            | What::Release { .. } => answer::outcome(reply, &self.names, 0)?,
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
                let operation = ask.what.told(&self.names, &outcome)?;
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
