//! A plan to want what others want, too: bookings, cancellations, holds and looks at few seats.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use turnstile_check::seats::{MAP_ROWS, SeatBlock, SeatWish, ShowAnswer, ShowRequest};

use super::{BuyerPlan, NOBODY};
use crate::{seats::ShowPlan, seed::Dice};

/// Seats of a row: an even number, so that two blocks may be as near to the middle.
const ROW_SEATS: u8 = 12;

/// So many users share a section.
const USERS_OF_SECTION: usize = 8;

/// The most sections of the show: their seats are all listed at the end.
const SECTIONS_MAX: usize = 125;

/// The most seats of a booking.
const COUNT_MAX: u64 = 4;

/// What is asked of a hundred: bookings, cancellations, looks, holds, what becomes of these; the rest must
/// be refused. More bookings than cancellations, so that the show fills up until so many are refused.
const BOOKS: u64 = 34;
const CANCELS: u64 = 26;
const LOOKS: u64 = 18;
const HOLDS: u64 = 8;
const ENDS: u64 = 6;

/// One of so many requests closes the sale, and then one of so many opens it again.
const CLOSES_ONE_IN: u64 = 400;
const OPENS_ONE_IN: u64 = 4;

/// How many bookings a buyer remembers to cancel; what it forgets stays booked.
const HELD_MAX: usize = 64;

/// How long a hold is kept, in seconds: as briefly as can be, and longer.
const KEEP_SECONDS: u64 = 3;

/// A hold that was left alone is asked for so long before or after its time is over, in milliseconds at most.
const NEAR_MS: u64 = 100;

/// How many holds a buyer remembers; what it forgets ends by itself.
const KEPT_MAX: usize = 8;

/// What one buyer wants. Everything it will need is allocated when it is made.
#[derive(Debug)]
pub(crate) struct ContestedBuying {
    dice: Dice,
    sections: u16,
    /// The number of its buyer.
    buyer: u16,
    held: VecDeque<Sold>,
    /// The last that was cancelled.
    ended: Option<Sold>,
    /// Holds that it goes on with soon.
    kept: VecDeque<Sold>,
    /// One that it leaves alone until then, when its time is over or nearly so.
    left: Option<(Sold, Instant)>,
    /// Whether it has closed the sale.
    closed: bool,
    now: Instant,
}

/// A booking or hold, and the section of its seats.
#[derive(Clone, Copy, Debug)]
struct Sold {
    number: u64,
    section: u16,
}

/// The show of so many users: as few seats as they can fill.
pub(crate) fn plan(users: usize) -> ShowPlan {
    let sections = users.div_ceil(USERS_OF_SECTION).clamp(1, SECTIONS_MAX);
    ShowPlan {
        sections: u16::try_from(sections).expect("sections are few"),
        rows: u8::try_from(MAP_ROWS).expect("rows are few"),
        row_seats: ROW_SEATS,
    }
}

impl ContestedBuying {
    /// Of a buyer of this show.
    pub(crate) fn new(seed: u64, number: usize, show: ShowPlan) -> Self {
        let user = u64::try_from(number).expect("users are bounded");
        Self {
            dice: Dice::of_user(seed, user),
            sections: show.sections,
            buyer: u16::try_from(number).expect("users are at most 50,000"),
            held: VecDeque::with_capacity(HELD_MAX),
            ended: None,
            kept: VecDeque::with_capacity(KEPT_MAX),
            left: None,
            closed: false,
            now: Instant::now(),
        }
    }

    fn draw<T: TryFrom<u64>>(&mut self, bound: impl Into<u64>) -> T {
        let drawn = T::try_from(self.dice.below(bound.into()));
        drawn.ok().expect("bounds are small")
    }

    /// The best seats, or named ones of one row, adjacent or not.
    fn wish(&mut self) -> SeatWish {
        let section = self.draw(self.sections);
        let count = 1 + self.draw::<u8>(COUNT_MAX);
        let kind = self.dice.below(4);
        if kind < 2 {
            return SeatWish::Best { section, count };
        }
        let row = self.draw(u64::try_from(MAP_ROWS).expect("rows are few"));
        let first = self.draw(ROW_SEATS - count + 1);
        let mut seats = SeatBlock::adjacent(section, row, first, count.into());
        if kind == 2 {
            seats.bits |= 1 << self.draw::<u32>(ROW_SEATS);
        }
        SeatWish::Named(seats)
    }

    /// What becomes of a hold: of the one that was left, when it is time, or of one of the others.
    fn end(&mut self, throw: u64) -> Option<ShowRequest> {
        let due = self.left.take_if(|(_, when)| *when <= self.now);
        let Sold { number, section } = match due {
            Some((hold, _)) => hold,
            None if throw < ENDS => self.kept.pop_front()?,
            None => return None,
        };
        let buyer = self.buyer;
        Some(match self.dice.below(3) {
            0 => ShowRequest::Release { number, section },
            _ => ShowRequest::Confirm {
                number,
                section,
                buyer,
            },
        })
    }

    /// Something that must be refused: a cancellation by somebody else, of what is over, or of a hold.
    fn refused(&mut self) -> Option<ShowRequest> {
        let (sold, buyer) = match self.dice.below(4) {
            0 => (self.held.back().copied(), NOBODY),
            1 => (self.kept.back().copied(), self.buyer),
            _ => (self.ended, self.buyer),
        };
        let Sold { number, section } = sold?;
        Some(match self.dice.below(4) {
            0 => ShowRequest::Release { number, section },
            _ => ShowRequest::Cancel {
                number,
                section,
                buyer,
            },
        })
    }

    fn look(&mut self) -> ShowRequest {
        let sold = match self.dice.below(4) {
            0 => self.held.front().copied(),
            1 => self.kept.back().copied().or(self.ended),
            _ => None,
        };
        match sold {
            Some(Sold { number, section }) => ShowRequest::LookUp { number, section },
            None => ShowRequest::Map {
                section: self.draw(self.sections),
            },
        }
    }

    /// Remembers a hold: one it leaves alone, the others it goes on with.
    fn keep(&mut self, hold: Sold, ttl_ms: u64) {
        if self.left.is_none() && self.dice.below(2) == 0 {
            let later = Duration::from_millis(ttl_ms + self.dice.below(2 * NEAR_MS));
            let when = self.now + later;
            self.left = Some((hold, when - Duration::from_millis(NEAR_MS)));
            return;
        }
        push_bounded(&mut self.kept, hold, KEPT_MAX);
    }
}

/// Forgets the oldest when there is no room left.
fn push_bounded(kept: &mut VecDeque<Sold>, sold: Sold, most: usize) {
    if kept.len() == most {
        kept.pop_front();
    }
    kept.push_back(sold);
}

impl BuyerPlan for ContestedBuying {
    const OPERATIONS: &'static [&'static str] = &[
        "book", "cancel", "hold", "confirm", "release", "sale", "look",
    ];

    fn at(&mut self, now: Instant) {
        self.now = now;
    }

    fn choose(&mut self) -> ShowRequest {
        let one_in = if self.closed {
            OPENS_ONE_IN
        } else {
            CLOSES_ONE_IN
        };
        if self.dice.below(one_in) == 0 {
            self.closed = !self.closed;
            let closed = self.closed;
            return ShowRequest::Sale { closed };
        }
        let throw = self.dice.below(100);
        if let Some(ask) = self.end(throw) {
            return ask;
        }
        let buyer = self.buyer;
        let Some(throw) = throw.checked_sub(ENDS + HOLDS) else {
            let ttl_ms = 1_000 * (1 + self.dice.below(KEEP_SECONDS));
            let wish = self.wish();
            return ShowRequest::Hold { wish, ttl_ms };
        };
        if throw < LOOKS {
            return self.look();
        }
        if throw < LOOKS + CANCELS
            && let Some(Sold { number, section }) = self.held.pop_front()
        {
            return ShowRequest::Cancel {
                number,
                section,
                buyer,
            };
        }
        if throw >= LOOKS + CANCELS + BOOKS
            && let Some(ask) = self.refused()
        {
            return ask;
        }
        let wish = self.wish();
        ShowRequest::Book { wish, buyer }
    }

    fn learn(&mut self, ask: &ShowRequest, answer: Option<&ShowAnswer>) {
        let sold = |number: u64, seats: &SeatBlock| Sold {
            number,
            section: seats.section,
        };
        match (*ask, answer) {
            (_, Some(ShowAnswer::Booked { number, seats })) => {
                push_bounded(&mut self.held, sold(*number, seats), HELD_MAX);
            }
            (ShowRequest::Hold { ttl_ms, .. }, Some(ShowAnswer::Held { number, seats, .. })) => {
                self.keep(sold(*number, seats), ttl_ms);
            }
            (ShowRequest::Confirm { number, .. }, Some(ShowAnswer::Confirmed(seats))) => {
                push_bounded(&mut self.held, sold(number, seats), HELD_MAX);
            }
            (ShowRequest::Cancel { number, .. }, Some(ShowAnswer::Cancelled(seats))) => {
                self.ended = Some(sold(number, seats));
            }
            _ => {}
        }
    }
}
