//! A guest who books rooms that nobody ever asked for, and cancels the oldest it holds.

use std::collections::VecDeque;

use turnstile_client::resp::{self, Limits, Token};
use turnstile_types::Night;

use super::{Config, Mix};
use crate::{
    door::code,
    pace::{Answer, Garbled, Heard, User},
    seed::Dice,
};

/// How many references all guests together keep to prove that each is unique: 16 bytes each,
/// 128 MiB in all, touched only as they come.
const REFERENCES_MAX: usize = 8 << 20;

/// How many bookings all guests together keep to cancel or to look up: 32 bytes each, 64 MiB.
const HELD_MAX: usize = 2 << 20;

/// How many cancelled bookings all guests together keep to look up.
const CANCELLED_MAX: usize = 20_000;

/// The first night that is booked, and how many follow.
const FIRST_NIGHT: &[u8] = b"2027-01-01";
const NIGHTS: u16 = 365;

/// A guest takes so many rooms in turn, so that neighbours in time are not neighbours in memory.
const ROOMS_IN_TURN: u64 = 16;

const NAMES: [&[u8]; 16] = [
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

/// One guest. Everything it will need is allocated when it is made.
///
/// The n-th booking of a guest is for a room and a night that follow from its number, the server's
/// position before the run and n, so that nothing is asked for twice, by nobody, in no run against
/// the same server.
#[derive(Debug)]
pub struct Guest {
    dice: Dice,
    mix: Mix,
    /// The unchanging beginning of a book request.
    head: Vec<u8>,
    /// The unchanging beginning of a room's name.
    room: Vec<u8>,
    room_stem: usize,
    nights: Vec<[u8; 10]>,
    /// How many bookings were asked for.
    asked: u64,
    held: VecDeque<Booking>,
    cancelled: VecDeque<Booking>,
    /// Every acknowledged reference, as long as there is room.
    references: Vec<u128>,
    references_left_out: u64,
}

/// A booking that was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Booking {
    reference: Reference,
    /// Which of the guest's bookings it is, from 0.
    number: u64,
    /// The id number that booked it.
    id: u64,
}

/// A reference in place: up to 16 bytes, zeros behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reference([u8; 16]);

/// A room and a stay of one night, as texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) room: &'a [u8],
    pub(super) arrival: &'a [u8],
    pub(super) departure: &'a [u8],
}

/// What a guest asked.
#[derive(Clone, Copy, Debug)]
pub enum Ask {
    Book { number: u64, id: u64 },
    Cancel { booking: Booking },
}

impl Reference {
    fn parse(text: &[u8]) -> Result<Self, Garbled> {
        let mut bytes = [0; 16];
        let place = bytes.get_mut(..text.len()).ok_or(Garbled)?;
        place.copy_from_slice(text);
        if text.is_empty() || text.contains(&0) {
            return Err(Garbled);
        }
        Ok(Self(bytes))
    }

    fn as_bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|&byte| byte == 0);
        &self.0[..end.unwrap_or(self.0.len())]
    }
}

impl Booking {
    pub(super) fn reference(&self) -> &[u8] {
        self.reference.as_bytes()
    }
}

impl Guest {
    /// The guest with this number of a run that begins at this position of the server.
    #[must_use]
    pub fn new(config: &Config, number: usize, position: u64) -> Self {
        let user = u64::try_from(number).expect("users are bounded");
        let share = |all: usize| (all / config.users.max(1)).max(64);
        let mut head = Vec::new();
        resp::put_count(&mut head, b'*', 7);
        resp::put_bulk(&mut head, b"ROOMS.BOOK");
        resp::put_bulk(&mut head, config.property.as_bytes());
        let mut room = Vec::with_capacity(64);
        room.extend_from_slice(format!("lab{position}-u{number}-").as_bytes());
        Self {
            dice: Dice::of_user(config.pace.seed, user),
            mix: config.mix,
            head,
            room_stem: room.len(),
            room,
            nights: nights(),
            asked: 0,
            held: VecDeque::with_capacity(share(HELD_MAX)),
            cancelled: VecDeque::with_capacity(share(CANCELLED_MAX)),
            references: Vec::with_capacity(share(REFERENCES_MAX)),
            references_left_out: 0,
        }
    }

    /// Bookings that stand, as far as this guest remembers them; the oldest first.
    pub(super) const fn held(&self) -> &VecDeque<Booking> {
        &self.held
    }

    /// The last bookings that were cancelled.
    pub(super) const fn cancelled(&self) -> &VecDeque<Booking> {
        &self.cancelled
    }

    /// The acknowledged references, and how many more there were.
    pub(super) fn references(&self) -> (&[u128], u64) {
        (&self.references, self.references_left_out)
    }

    /// What a booking is for.
    pub(super) fn place(&mut self, booking: &Booking) -> Place<'_> {
        self.name_room(booking.number);
        let night = night_of(booking.number);
        Place {
            room: &self.room,
            arrival: &self.nights[night],
            departure: &self.nights[night + 1],
        }
    }

    fn name_room(&mut self, number: u64) {
        let turn = number / (ROOMS_IN_TURN * u64::from(NIGHTS));
        self.room.truncate(self.room_stem);
        let room = turn * ROOMS_IN_TURN + number % ROOMS_IN_TURN;
        resp::put_decimal(&mut self.room, room);
    }

    fn put_book(&mut self, out: &mut Vec<u8>, number: u64, id: u64, guest: &[u8]) {
        self.name_room(number);
        let night = night_of(number);
        out.extend_from_slice(&self.head);
        resp::put_bulk(out, &self.room);
        resp::put_bulk(out, &self.nights[night]);
        resp::put_bulk(out, &self.nights[night + 1]);
        resp::put_bulk(out, guest);
        put_id(out, id);
    }

    fn book(&mut self, out: &mut Vec<u8>) -> Ask {
        let number = self.asked;
        self.asked += 1;
        // Twelve digits, the first of them not zero, the last even: its odd neighbour is nobody's.
        let id = 200_000_000_000 + 2 * self.dice.below(400_000_000_000);
        let guest = NAMES[usize::try_from(self.dice.below(16)).expect("below 16")];
        self.put_book(out, number, id, guest);
        Ask::Book { number, id }
    }

    fn booked(&mut self, reference: Reference, number: u64, id: u64) {
        if self.references.len() < self.references.capacity() {
            self.references.push(u128::from_be_bytes(reference.0));
        } else {
            self.references_left_out += 1;
        }
        push_bounded(
            &mut self.held,
            Booking {
                reference,
                number,
                id,
            },
        );
    }
}

impl User for Guest {
    type Ask = Ask;

    const OPERATIONS: &'static [&'static str] = &["book", "cancel"];

    const REQUEST_BYTES_MAX: usize = 512;

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<Ask> {
        if self.mix.is_book(self.dice.next()) {
            return Some(self.book(out));
        }
        let Some(booking) = self.held.pop_front() else {
            return Some(self.book(out));
        };
        resp::put_count(out, b'*', 3);
        resp::put_bulk(out, b"ROOMS.CANCEL");
        resp::put_bulk(out, booking.reference());
        put_id(out, booking.id);
        Some(Ask::Cancel { booking })
    }

    fn operation(ask: &Ask) -> usize {
        match ask {
            Ask::Book { .. } => 0,
            Ask::Cancel { .. } => 1,
        }
    }

    fn hear<'a>(&mut self, ask: &Ask, bytes: &'a [u8]) -> Result<Option<Heard<'a>>, Garbled> {
        let Some((reply, length)) = Reply::read(bytes)? else {
            return Ok(None);
        };
        let answer = match (reply, *ask) {
            (Reply::Error(code), _) => Answer::Error(code),
            (Reply::Refused(reason), _) => Answer::Refused(reason),
            (Reply::Done(Some(reference)), Ask::Book { number, id }) => {
                self.booked(Reference::parse(reference)?, number, id);
                Answer::Done
            }
            (Reply::Done(None), Ask::Book { .. }) => return Err(Garbled),
            (Reply::Done(_), Ask::Cancel { booking }) => {
                push_bounded(&mut self.cancelled, booking);
                Answer::Done
            }
        };
        Ok(Some(Heard { length, answer }))
    }
}

/// An answer of the rooms door, as far as a guest reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply<'a> {
    Error(&'a [u8]),
    Refused(&'a [u8]),
    /// With the reference, when one follows.
    Done(Option<&'a [u8]>),
}

impl<'a> Reply<'a> {
    /// Reads one whole answer in RESP2 and says how many bytes it takes.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Option<(Self, usize)>, Garbled> {
        let garbled = |_malformed| Garbled;
        let Some(length) = resp::reply_length(bytes, &Limits::REPLY).map_err(garbled)? else {
            return Ok(None);
        };
        let mut rest = &bytes[..length];
        let mut next = || -> Result<Option<Token<'a>>, Garbled> {
            let token = resp::token(rest, &Limits::REPLY).map_err(garbled)?;
            Ok(token.map(|(token, used)| {
                rest = &rest[used..];
                token
            }))
        };
        let reply = match (next()?, next()?, next()?) {
            (Some(Token::Error(text)), ..) => Self::Error(code(text)),
            (
                Some(Token::Array(2..)),
                Some(Token::Integer(0)),
                Some(Token::Bulk(reason) | Token::Simple(reason)),
            ) => Self::Refused(reason),
            (
                Some(Token::Array(2..)),
                Some(Token::Integer(1)),
                Some(Token::Bulk(text) | Token::Simple(text)),
            ) => Self::Done(Some(text)),
            (Some(Token::Array(_)), Some(Token::Integer(1)), _) => Self::Done(None),
            _ => return Err(Garbled),
        };
        Ok(Some((reply, length)))
    }
}

/// The index of the night of a guest's booking with this number.
fn night_of(number: u64) -> usize {
    usize::try_from(number / ROOMS_IN_TURN % u64::from(NIGHTS)).expect("below 365")
}

/// Forgets the oldest when there is no room left: nothing grows during a run.
fn push_bounded(bookings: &mut VecDeque<Booking>, booking: Booking) {
    if bookings.len() == bookings.capacity() {
        bookings.pop_front();
    }
    bookings.push_back(booking);
}

fn put_id(out: &mut Vec<u8>, id: u64) {
    out.extend_from_slice(b"$12\r\n");
    resp::put_decimal(out, id);
    out.extend_from_slice(b"\r\n");
}

/// The texts of all nights that are booked, and of the last departure.
fn nights() -> Vec<[u8; 10]> {
    let first = Night::parse(FIRST_NIGHT).expect("the first night is a date");
    (0..=NIGHTS)
        .map(|later| {
            let night = first.checked_add(later).expect("a year later is a date");
            night
                .to_string()
                .into_bytes()
                .try_into()
                .expect("a date has ten characters")
        })
        .collect()
}

#[cfg(test)]
mod tests;
