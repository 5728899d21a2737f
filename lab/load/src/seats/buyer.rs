//! A buyer who books one to four adjacent seats and cancels its oldest bookings.

use std::{collections::VecDeque, time::Instant};

use turnstile_client::resp::{self, Token};
use turnstile_services::seats::BookingNumber;

use super::{Block, ROW_SEATS, ROWS, SEATS, SECTIONS};
use crate::{
    pace::{Answer, Garbled, Heard, Pace, User},
    reply::{Brief, Tokens},
    seed::Dice,
};

/// The most seats of a booking.
const COUNT_MAX: u64 = 4;

/// Of a hundred requests of a buyer who holds bookings so many are cancels.
const CANCELS: u64 = 30;

/// Of a hundred bookings so many name their seats; the others take the best ones.
const NAMED: u64 = 25;

/// Bookings that all buyers together remember after they asked to cancel them: 48 bytes each.
const PAST_MAX: usize = 1 << 18;

/// One buyer. Everything it will need is allocated when it is made.
#[derive(Debug)]
pub struct Buyer {
    dice: Dice,
    /// The unchanging beginning of a book request.
    head: Vec<u8>,
    name: String,
    held: VecDeque<Booking>,
    /// Bookings that were to be cancelled, and when that was asked.
    past: VecDeque<(Booking, Instant)>,
    /// With so many bookings a buyer cancels before it books again.
    held_max: usize,
    /// Bookings that were acknowledged with other seats than were asked for.
    strange: u64,
    /// Where the names of seats are written.
    text: Vec<u8>,
}

/// A booking that was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Booking {
    pub(super) reference: BookingNumber,
    pub(super) block: Block,
    /// When it was acknowledged.
    pub(super) since: Instant,
}

/// What a buyer asked.
#[derive(Clone, Copy, Debug)]
pub enum Ask {
    /// So many adjacent seats of a section.
    Best {
        section: usize,
        count: usize,
    },
    /// These seats.
    Named(Block),
    Cancel(Booking),
}

impl Buyer {
    pub(super) fn new(pace: &Pace, users: usize, number: usize, show: &str) -> Self {
        let user = u64::try_from(number).expect("users are bounded");
        let mut head = Vec::new();
        resp::put_count(&mut head, b'*', 5);
        resp::put_bulk(&mut head, b"SEATS.BOOK");
        resp::put_bulk(&mut head, show.as_bytes());
        // All buyers together can hold the whole show twice.
        let held_max = (2 * SEATS / users.max(1)).max(16);
        Self {
            dice: Dice::of_user(pace.seed, user),
            head,
            name: format!("u{number}"),
            held: VecDeque::with_capacity(held_max + pace.pipeline),
            held_max,
            past: VecDeque::with_capacity((PAST_MAX / users.max(1)).max(16)),
            strange: 0,
            text: Vec::with_capacity(64),
        }
    }

    /// The bookings that were acknowledged and not cancelled.
    pub(super) const fn held(&self) -> &VecDeque<Booking> {
        &self.held
    }

    /// The last bookings that were to be cancelled, and when that was asked.
    pub(super) const fn past(&self) -> &VecDeque<(Booking, Instant)> {
        &self.past
    }

    pub(super) const fn strange(&self) -> u64 {
        self.strange
    }

    fn draw(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).expect("a show is small");
        usize::try_from(self.dice.below(bound)).expect("below a small bound")
    }

    fn book(&mut self, out: &mut Vec<u8>) -> Ask {
        let section = self.draw(SECTIONS);
        let count = 1 + usize::try_from(self.dice.below(COUNT_MAX)).expect("below 4");
        let is_named = self.dice.below(100) < NAMED;
        self.text.clear();
        let ask = if is_named {
            let (row, seat) = (self.draw(ROWS), self.draw(ROW_SEATS - count + 1));
            let block = Block::new(section, row, seat, count);
            block.put(&mut self.text);
            Ask::Named(block)
        } else {
            self.text.extend_from_slice(b"best:");
            put_number(&mut self.text, count);
            Ask::Best { section, count }
        };
        out.extend_from_slice(&self.head);
        out.extend_from_slice(b"$2\r\ns");
        put_number(out, section);
        out.extend_from_slice(b"\r\n");
        resp::put_bulk(out, &self.text);
        resp::put_bulk(out, self.name.as_bytes());
        ask
    }

    fn cancel(&mut self, out: &mut Vec<u8>, booking: Booking) -> Ask {
        self.text.clear();
        self.text.push(b'S');
        resp::put_decimal(&mut self.text, booking.reference.0);
        resp::put_count(out, b'*', 3);
        resp::put_bulk(out, b"SEATS.CANCEL");
        resp::put_bulk(out, &self.text);
        resp::put_bulk(out, self.name.as_bytes());
        Ask::Cancel(booking)
    }

    /// Keeps a booking, if it has the seats that were asked for.
    fn booked(&mut self, reference: BookingNumber, wish: &Ask, block: Option<Block>) {
        let asked = |block: &Block| match *wish {
            Ask::Best { count, .. } => block.count() == count,
            Ask::Named(named) => *block == named,
            Ask::Cancel(_) => false,
        };
        match block.filter(asked) {
            Some(block) => self.held.push_back(Booking {
                reference,
                block,
                since: Instant::now(),
            }),
            None => self.strange += 1,
        }
    }
}

impl User for Buyer {
    type Ask = Ask;

    const OPERATIONS: &'static [&'static str] = &["book", "cancel"];

    const REQUEST_BYTES_MAX: usize = 256;

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<Ask> {
        let cancels = self.dice.below(100) < CANCELS || self.held.len() >= self.held_max;
        let oldest = if cancels { self.held.pop_front() } else { None };
        Some(match oldest {
            Some(booking) => {
                if self.past.len() == self.past.capacity() {
                    self.past.pop_front();
                }
                self.past.push_back((booking, Instant::now()));
                self.cancel(out, booking)
            }
            None => self.book(out),
        })
    }

    fn operation(ask: &Ask) -> usize {
        match ask {
            Ask::Best { .. } | Ask::Named(_) => 0,
            Ask::Cancel(_) => 1,
        }
    }

    fn hear<'a>(&mut self, ask: &Ask, bytes: &'a [u8]) -> Result<Option<Heard<'a>>, Garbled> {
        let Some((reply, length)) = Brief::read(bytes)? else {
            return Ok(None);
        };
        let answer = match reply {
            Brief::Error(code) => Answer::Error(code),
            Brief::Refused(reason) => Answer::Refused(reason),
            Brief::Done(_) => Answer::Done,
        };
        match (reply, *ask) {
            (Brief::Done(Some(reference)), Ask::Best { section, .. }) => {
                let reference = BookingNumber::parse(reference).map_err(|_invalid| Garbled)?;
                self.booked(reference, ask, read_block(section, &bytes[..length]));
            }
            (Brief::Done(Some(reference)), Ask::Named(block)) => {
                let reference = BookingNumber::parse(reference).map_err(|_invalid| Garbled)?;
                let block = read_block(block.section(), &bytes[..length]);
                self.booked(reference, ask, block);
            }
            (Brief::Done(None), Ask::Best { .. } | Ask::Named(_)) => return Err(Garbled),
            // It stands: the proof expects it in the listing.
            (Brief::Error(_) | Brief::Refused(_), Ask::Cancel(booking)) => {
                self.held.push_back(booking);
            }
            _ => {}
        }
        Ok(Some(Heard { length, answer }))
    }
}

/// The seats in the answer to a booking: behind three tokens there is an array of them.
fn read_block(section: usize, answer: &[u8]) -> Option<Block> {
    let mut tokens = Tokens(answer);
    for _ in 0..3 {
        tokens.next().ok()?;
    }
    let Token::Array(count) = tokens.next().ok()? else {
        return None;
    };
    Block::parse(section, (0..count).map_while(|_| tokens.text().ok()))
}

fn put_number(out: &mut Vec<u8>, number: usize) {
    resp::put_decimal(out, u64::try_from(number).expect("a show is small"));
}
