//! A user of seats: asks what its plan wants. With a witness it asks under keys until each answer is known,
//! and tells all that it hears.

use std::time::Instant;

use turnstile_check::seats::{SeatBlock, SeatWish, ShowAnswer, ShowOperation, ShowRequest};
use turnstile_client::resp::{self, Token};
use turnstile_services::seats::BookingNumber;

use super::{
    RunShow, answer,
    plan::{self, BuyerPlan, NOBODY},
    show::ShowPlan,
};
use crate::{
    again::{KeyedReply, KeyedUser, WitnessOf},
    door,
    pace::{Answer, Garbled, ParsedAnswer},
    reply::{Brief, Tokens},
};

/// The longest names of seats: 20 of them.
const TEXT_BYTES_MAX: usize = 256;

/// One buyer. Everything it will need is allocated when it is made.
#[derive(Debug)]
pub(crate) struct Buyer<P> {
    plan: P,
    show: RunShow,
    /// Where names and numbers are written.
    text: Vec<u8>,
}

impl<P: BuyerPlan> Buyer<P> {
    pub(crate) fn new(show: &RunShow, plan: P) -> Self {
        Self {
            plan,
            show: show.clone(),
            text: Vec::with_capacity(TEXT_BYTES_MAX),
        }
    }

    pub(crate) const fn plan(&self) -> &P {
        &self.plan
    }

    /// A letter and a number, such as `u7`.
    fn put_name(&mut self, out: &mut Vec<u8>, letter: u8, number: u64) {
        self.text.clear();
        self.text.push(letter);
        resp::put_decimal(&mut self.text, number);
        resp::put_bulk(out, &self.text);
    }

    fn put_buyer(&mut self, out: &mut Vec<u8>, buyer: u16) {
        if buyer == NOBODY {
            return resp::put_bulk(out, b"nobody");
        }
        self.put_name(out, b'u', u64::from(buyer));
    }

    /// The name of a command of so many words, and the show.
    fn put_head(&self, out: &mut Vec<u8>, command: &[u8], words: usize) {
        resp::put_count(out, b'*', words);
        resp::put_bulk(out, command);
        resp::put_bulk(out, self.show.name.as_bytes());
    }

    /// The name of a command of so many words, and a booking or hold.
    fn put_about(&mut self, out: &mut Vec<u8>, command: &[u8], words: usize, number: u64) {
        resp::put_count(out, b'*', words);
        resp::put_bulk(out, command);
        self.put_name(out, b'S', number);
    }

    /// The section and the seats.
    fn put_wish(&mut self, out: &mut Vec<u8>, wish: SeatWish) {
        self.put_name(out, b's', u64::from(wish.section()));
        self.text.clear();
        match wish {
            SeatWish::Named(seats) => seats.put_text(&mut self.text),
            SeatWish::Best { count, .. } => {
                self.text.extend_from_slice(b"best:");
                resp::put_decimal(&mut self.text, u64::from(count));
            }
        }
        resp::put_bulk(out, &self.text);
    }
}

/// The seats in the answer to a booking: behind three tokens there is an array of them.
fn read_block(section: u16, show: ShowPlan, answer: &[u8]) -> Option<SeatBlock> {
    let mut tokens = Tokens(answer);
    for _ in 0..3 {
        tokens.next().ok()?;
    }
    let Token::Array(count) = tokens.next().ok()? else {
        return None;
    };
    let seats = SeatBlock::parse(section, (0..count).map_while(|_| tokens.text().ok()));
    seats.filter(|seats| show.has(seats))
}

impl<P: BuyerPlan> KeyedUser for Buyer<P> {
    type What = ShowRequest;

    type Operation = ShowOperation;

    const OPERATIONS: &'static [&'static str] = P::OPERATIONS;

    fn at(&mut self, now: Instant) {
        self.plan.at(now);
    }

    fn choose(&mut self) -> Option<ShowRequest> {
        Some(self.plan.choose())
    }

    fn put(&mut self, out: &mut Vec<u8>, what: &ShowRequest, more: usize) {
        match *what {
            ShowRequest::Book { wish, buyer } => {
                self.put_head(out, b"SEATS.BOOK", 5 + more);
                self.put_wish(out, wish);
                self.put_buyer(out, buyer);
            }
            ShowRequest::Hold { wish, ttl_ms } => {
                self.put_head(out, b"SEATS.HOLD", 6 + more);
                self.put_wish(out, wish);
                resp::put_bulk(out, b"TTL_SECONDS");
                self.text.clear();
                resp::put_decimal(&mut self.text, ttl_ms / 1_000);
                resp::put_bulk(out, &self.text);
            }
            ShowRequest::Confirm { number, buyer, .. } => {
                self.put_about(out, b"SEATS.CONFIRM", 3 + more, number);
                self.put_buyer(out, buyer);
            }
            ShowRequest::Release { number, .. } => {
                self.put_about(out, b"SEATS.RELEASE", 2 + more, number);
            }
            ShowRequest::Cancel { number, buyer, .. } => {
                self.put_about(out, b"SEATS.CANCEL", 3 + more, number);
                self.put_buyer(out, buyer);
            }
            ShowRequest::Sale { closed } => {
                let command: &[u8] = if closed {
                    b"SEATS.CLOSE-SALE"
                } else {
                    b"SEATS.OPEN-SALE"
                };
                self.put_head(out, command, 2 + more);
            }
            ShowRequest::Map { section } => {
                self.put_head(out, b"SEATS.GET-MAP", 3);
                self.put_name(out, b's', u64::from(section));
            }
            ShowRequest::LookUp { number, .. } => {
                self.put_about(out, b"SEATS.LOOK-UP", 2, number);
            }
        }
    }

    fn operation(what: &ShowRequest) -> usize {
        plan::operation(what)
    }

    fn changes(what: &ShowRequest) -> bool {
        !what.is_reading()
    }

    fn unknown(&mut self, what: &ShowRequest) -> Option<ShowOperation> {
        let (ask, answer) = (*what, ShowAnswer::Unknown);
        (!what.is_reading()).then_some(ShowOperation { ask, answer })
    }

    fn hear_briefly<'a>(
        &mut self,
        what: &ShowRequest,
        bytes: &'a [u8],
    ) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        let Some((reply, length)) = Brief::read(bytes)? else {
            return Ok(None);
        };
        let (answer, told) = match (reply, what) {
            // Done or not: the plan learns as little as if no answer came.
            (Brief::Error(code), _) if door::is_outcome_unknown(code) => {
                let answer = Answer::Error(code);
                return Ok(Some(ParsedAnswer { length, answer }));
            }
            (Brief::Error(code), _) => (Answer::Error(code), None),
            (Brief::Refused(reason), _) => (Answer::Refused(reason), None),
            (Brief::Done(reference), ShowRequest::Book { wish, .. }) => {
                let number = BookingNumber::parse(reference.ok_or(Garbled)?);
                let number = number.map_err(|_invalid| Garbled)?.0;
                let seats = read_block(wish.section(), self.show.plan, &bytes[..length]);
                let booked = seats.map(|seats| ShowAnswer::Booked { number, seats });
                (Answer::Done, Some(booked.unwrap_or(ShowAnswer::Strange)))
            }
            (Brief::Done(_), ShowRequest::Cancel { .. }) => (
                Answer::Done,
                Some(ShowAnswer::Cancelled(SeatBlock::default())),
            ),
            (Brief::Done(_), _) => return Err(Garbled),
        };
        self.plan.learn(what, told.as_ref());
        Ok(Some(ParsedAnswer { length, answer }))
    }

    fn hear_whole<'a>(
        &mut self,
        what: &ShowRequest,
        reply: &'a [u8],
        witness: &mut WitnessOf<Self>,
    ) -> Result<Answer<'a>, Garbled> {
        let reply = answer::told(reply, what, self.show.plan)?;
        let answer = match &reply {
            KeyedReply::Answered { answer, .. } => Some(answer),
            KeyedReply::Error(_) | KeyedReply::Waits => None,
        };
        self.plan.learn(what, answer);
        let ask = *what;
        let operation = |answer| ShowOperation { ask, answer };
        Ok(witness.takes(reply, self.unknown(what), operation))
    }
}
