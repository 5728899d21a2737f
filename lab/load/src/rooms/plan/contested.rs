//! A plan to want what others want, too: bookings, cancellations, holds and looks at few rooms.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use turnstile_check::rooms::{InlineReference, Place};

use super::Plan;
use crate::{
    rooms::what::{Booking, Kept, What},
    seed::Dice,
};

/// Nights that are sold.
pub(crate) const NIGHTS: u16 = 30;

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

/// What one visitor wants. Everything it will need is allocated when it is made.
#[derive(Debug)]
pub struct Contested {
    dice: Dice,
    rooms: u64,
    held: VecDeque<Booking>,
    /// The last that was cancelled.
    ended: Option<Booking>,
    /// Holds that it goes on with soon.
    kept: VecDeque<Kept>,
    /// One that it leaves alone until then, when its time is over or nearly so: as few nights are
    /// blocked for long as there are visitors.
    left: Option<(Kept, Instant)>,
    now: Instant,
}

impl Contested {
    /// Of so many rooms, with the dice of this user.
    pub(crate) fn new(seed: u64, user: u64, rooms: u32) -> Self {
        Self {
            dice: Dice::of_user(seed, user),
            rooms: u64::from(rooms),
            held: VecDeque::with_capacity(HELD_MAX),
            ended: None,
            kept: VecDeque::with_capacity(KEPT_MAX),
            left: None,
            now: Instant::now(),
        }
    }

    fn below(&mut self, bound: u64) -> u16 {
        u16::try_from(self.dice.below(bound)).expect("bounds are small")
    }

    fn place(&mut self, longest: u64) -> Place {
        let nights = 1 + self.below(longest);
        Place {
            room: u32::from(self.below(self.rooms)),
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

    fn wanted(&mut self) -> What {
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
        let guest = 0;
        What::Book { place, id, guest }
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
}

impl Plan for Contested {
    const OPERATIONS: &'static [&'static str] = &[
        "book", "cancel", "look", "hold", "extend", "confirm", "release",
    ];

    fn at(&mut self, now: Instant) {
        self.now = now;
    }

    fn choose(&mut self) -> Option<What> {
        Some(self.wanted())
    }

    fn learn(&mut self, what: &What, reference: Option<InlineReference>) {
        match (*what, reference) {
            (What::Book { place, id, .. }, Some(reference)) => self.remember(Booking {
                reference,
                place,
                id,
            }),
            (What::Hold { place, seconds }, Some(reference)) => {
                self.keep(Kept { reference, place }, seconds);
            }
            (What::Extend { hold, seconds }, _) => self.keep(hold, seconds),
            (What::Confirm { hold, id }, _) => self.remember(Booking {
                reference: hold.reference,
                place: hold.place,
                id,
            }),
            (What::Cancel { booking, .. }, _) => self.ended = Some(booking),
            _ => {}
        }
    }
}
