//! A plan to book one to four adjacent seats, and to cancel the oldest booking.

use std::{collections::VecDeque, time::Instant};

use turnstile_check::seats::{SeatBlock, SeatWish, ShowAnswer, ShowRequest};

use super::BuyerPlan;
use crate::{pace::Pace, seats::PLAN, seed::Dice};

/// The most seats of a booking.
const COUNT_MAX: u64 = 4;

/// Of a hundred requests of a buyer who holds bookings so many are cancels.
const CANCELS: u64 = 30;

/// Of a hundred bookings so many name their seats; the others take the best ones.
const NAMED: u64 = 25;

/// Bookings that all buyers together remember after they asked to cancel them: 56 bytes each.
const PAST_MAX: usize = 1 << 18;

/// What one buyer wants. Everything it will need is allocated when it is made.
#[derive(Debug)]
pub(crate) struct ApartBuying {
    dice: Dice,
    /// The number of its buyer.
    buyer: u16,
    held: VecDeque<SoldBlock>,
    /// Bookings that were to be cancelled, and when that was asked.
    past: VecDeque<(SoldBlock, Instant)>,
    /// With so many bookings a buyer cancels before it books again.
    held_max: usize,
    /// Bookings that were acknowledged with other seats than were asked for.
    strange: u64,
}

/// A booking that was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SoldBlock {
    pub(crate) number: u64,
    pub(crate) seats: SeatBlock,
    /// When it was acknowledged.
    pub(crate) since: Instant,
}

impl ApartBuying {
    /// Of one of so many buyers.
    pub(crate) fn new(pace: &Pace, users: usize, number: usize) -> Self {
        let user = u64::try_from(number).expect("users are bounded");
        // All buyers together can hold the whole show twice.
        let held_max = (2 * PLAN.seats() / users.max(1)).max(16);
        Self {
            dice: Dice::of_user(pace.seed, user),
            buyer: u16::try_from(number).expect("users are at most 50,000"),
            held: VecDeque::with_capacity(held_max + pace.pipeline),
            held_max,
            past: VecDeque::with_capacity((PAST_MAX / users.max(1)).max(16)),
            strange: 0,
        }
    }

    /// The bookings that were acknowledged and not cancelled.
    pub(crate) const fn held(&self) -> &VecDeque<SoldBlock> {
        &self.held
    }

    /// The last bookings that were to be cancelled, and when that was asked.
    pub(crate) const fn past(&self) -> &VecDeque<(SoldBlock, Instant)> {
        &self.past
    }

    pub(crate) const fn strange(&self) -> u64 {
        self.strange
    }

    fn draw<T: TryFrom<u64>>(&mut self, bound: impl Into<u64>) -> T {
        let drawn = T::try_from(self.dice.below(bound.into()));
        drawn.ok().expect("bounds are small")
    }

    fn wish(&mut self) -> SeatWish {
        let section: u16 = self.draw(PLAN.sections);
        let count = 1 + self.draw::<u8>(COUNT_MAX);
        if self.dice.below(100) >= NAMED {
            return SeatWish::Best { section, count };
        }
        let (row, first) = (self.draw(PLAN.rows), self.draw(PLAN.row_seats - count + 1));
        SeatWish::Named(SeatBlock::adjacent(section, row, first, count.into()))
    }
}

impl BuyerPlan for ApartBuying {
    const OPERATIONS: &'static [&'static str] = &["book", "cancel"];

    fn choose(&mut self) -> ShowRequest {
        let cancels = self.dice.below(100) < CANCELS || self.held.len() >= self.held_max;
        let oldest = if cancels { self.held.pop_front() } else { None };
        let buyer = self.buyer;
        let Some(booking) = oldest else {
            let wish = self.wish();
            return ShowRequest::Book { wish, buyer };
        };
        if self.past.len() == self.past.capacity() {
            self.past.pop_front();
        }
        self.past.push_back((booking, Instant::now()));
        ShowRequest::Cancel {
            number: booking.number,
            section: booking.seats.section,
            buyer,
        }
    }

    fn learn(&mut self, ask: &ShowRequest, answer: Option<&ShowAnswer>) {
        match (*ask, answer) {
            (ShowRequest::Book { wish, .. }, Some(ShowAnswer::Booked { number, seats })) => {
                if !wish.is_met_by(seats) {
                    self.strange += 1;
                    return;
                }
                self.held.push_back(SoldBlock {
                    number: *number,
                    seats: *seats,
                    since: Instant::now(),
                });
            }
            (ShowRequest::Book { .. }, Some(ShowAnswer::Strange)) => self.strange += 1,
            (ShowRequest::Cancel { .. }, Some(ShowAnswer::Cancelled(_))) => {}
            // It stands: the proof expects it in the listing.
            (ShowRequest::Cancel { number, .. }, _) => {
                let mut past = self.past.iter().rev().map(|(booking, _)| booking);
                if let Some(booking) = past.find(|booking| booking.number == number).copied() {
                    self.held.push_back(booking);
                }
            }
            _ => {}
        }
    }
}
