//! A plan to book rooms that nobody ever asked for, and to cancel the oldest that it holds.

use std::collections::VecDeque;

use turnstile_check::rooms::{InlineReference, Place};

use super::Plan;
use crate::{
    rooms::{
        Mix,
        what::{Booking, What},
    },
    seed::Dice,
};

/// How many references all visitors together keep to prove that each is unique: 16 bytes each,
/// 128 MiB in all, touched only as they come.
const REFERENCES_MAX: usize = 8 << 20;

/// How many bookings all visitors together keep to cancel or to look up: 32 bytes each, 64 MiB.
const HELD_MAX: usize = 2 << 20;

/// How many cancelled bookings all visitors together keep to look up.
const CANCELLED_MAX: usize = 20_000;

/// Nights that are booked.
pub(crate) const NIGHTS: u16 = 365;

/// A visitor takes so many rooms in turn, so that neighbours in time are not neighbours in memory.
const ROOMS_IN_TURN: u64 = 16;

/// What one visitor wants. Everything it will need is allocated when it is made.
///
/// Its n-th booking is for a room and a night that follow from n, so that it asks for nothing twice.
#[derive(Debug)]
pub struct Apart {
    dice: Dice,
    mix: Mix,
    /// How many bookings were asked for.
    asked: u64,
    held: VecDeque<Booking>,
    cancelled: VecDeque<Booking>,
    /// Every acknowledged reference, as long as there is room.
    references: Vec<InlineReference>,
    references_left_out: u64,
}

impl Apart {
    /// Of one of so many visitors.
    pub(crate) fn new(seed: u64, (user, users): (u64, usize), mix: Mix) -> Self {
        let share = |all: usize| (all / users.max(1)).max(64);
        Self {
            dice: Dice::of_user(seed, user),
            mix,
            asked: 0,
            held: VecDeque::with_capacity(share(HELD_MAX)),
            cancelled: VecDeque::with_capacity(share(CANCELLED_MAX)),
            references: Vec::with_capacity(share(REFERENCES_MAX)),
            references_left_out: 0,
        }
    }

    /// Bookings that stand, as far as this visitor remembers them; the oldest first.
    pub(crate) const fn held(&self) -> &VecDeque<Booking> {
        &self.held
    }

    /// The last bookings that were cancelled.
    pub(crate) const fn cancelled(&self) -> &VecDeque<Booking> {
        &self.cancelled
    }

    /// The acknowledged references, and how many more there were.
    pub(crate) fn references(&self) -> (&[InlineReference], u64) {
        (&self.references, self.references_left_out)
    }

    fn book(&mut self) -> What {
        let number = self.asked;
        self.asked += 1;
        // Twelve digits, the first of them not zero, the last even: its odd neighbour is nobody's.
        let id = 200_000_000_000 + 2 * self.dice.below(400_000_000_000);
        let guest = u8::try_from(self.dice.below(16)).expect("below 16");
        let place = place(number);
        What::Book { place, id, guest }
    }

    fn booked(&mut self, booking: Booking) {
        if self.references.len() < self.references.capacity() {
            self.references.push(booking.reference);
        } else {
            self.references_left_out += 1;
        }
        push_bounded(&mut self.held, booking);
    }
}

impl Plan for Apart {
    const OPERATIONS: &'static [&'static str] = &["book", "cancel"];

    fn choose(&mut self) -> Option<What> {
        if self.mix.is_book(self.dice.next()) {
            return Some(self.book());
        }
        let Some(booking) = self.held.pop_front() else {
            return Some(self.book());
        };
        let id = booking.id;
        Some(What::Cancel { booking, id })
    }

    fn learn(&mut self, what: &What, reference: Option<InlineReference>) {
        match (*what, reference) {
            (What::Book { place, id, .. }, Some(reference)) => self.booked(Booking {
                reference,
                place,
                id,
            }),
            (What::Cancel { booking, .. }, _) => push_bounded(&mut self.cancelled, booking),
            _ => {}
        }
    }
}

/// Where a visitor's booking with this number is.
fn place(number: u64) -> Place {
    let year = ROOMS_IN_TURN * u64::from(NIGHTS);
    let room = number / year * ROOMS_IN_TURN + number % ROOMS_IN_TURN;
    let night = number / ROOMS_IN_TURN % u64::from(NIGHTS);
    Place {
        room: u32::try_from(room).expect("a run books less than 10^12 nights"),
        night: u16::try_from(night).expect("below 365"),
        nights: 1,
    }
}

/// Forgets the oldest when there is no room left: nothing grows during a run.
fn push_bounded(bookings: &mut VecDeque<Booking>, booking: Booking) {
    if bookings.len() == bookings.capacity() {
        bookings.pop_front();
    }
    bookings.push_back(booking);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_visitor_remembers_is_bounded() {
        let mut plan = Apart::new(1, (0, 1), Mix::new(70, 30).unwrap());
        plan.held = VecDeque::with_capacity(4);
        plan.references = Vec::with_capacity(4);
        let held = plan.held.capacity();
        assert_eq!(plan.references.capacity(), 4);
        let reference =
            |number: usize| InlineReference::parse(format!("R{number}").as_bytes()).unwrap();
        for number in 0..held + 7 {
            let What::Book { place, id, .. } = plan.book() else {
                panic!("a booking");
            };
            let reference = reference(number);
            plan.booked(Booking {
                reference,
                place,
                id,
            });
        }
        assert_eq!((plan.held.len(), plan.held.capacity()), (held, held));
        assert_eq!(plan.held[0].reference, reference(7));
        let (kept, left_out) = plan.references();
        let expected = u64::try_from(held + 3).unwrap();
        assert_eq!((kept.len(), left_out), (4, expected));
    }
}
