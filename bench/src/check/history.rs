//! A history of rooms: what an honest server, as plain as the model, would have answered.

use std::collections::VecDeque;

use turnstile_check::{
    Seen,
    rooms::{Booked, Cancelled, InlineReference, Operation, Place},
};
use turnstile_seed::Random;

pub(super) const ROOMS: u16 = 50;
pub(super) const NIGHTS: u16 = 30;

/// An honest server of rooms that makes the history; on demand it sells a night twice, once.
pub(super) struct Server {
    random: Random,
    taken: Vec<bool>,
    standing: VecDeque<(InlineReference, Place)>,
    position: u64,
    /// From this position on the next booking that must be refused is done.
    sells_twice_from: Option<u64>,
}

impl Server {
    pub(super) fn new(seed: u64, sells_twice_from: Option<u64>) -> Self {
        Self {
            random: Random::new(seed),
            taken: vec![false; usize::from(ROOMS) * usize::from(NIGHTS)],
            standing: VecDeque::new(),
            position: 0,
            sells_twice_from,
        }
    }

    pub(super) fn next(&mut self) -> (Seen, Operation) {
        self.position += 1;
        let seen = Seen::At(self.position);
        if self.random.one_in(3)
            && let Some((reference, place)) = self.standing.pop_front()
        {
            self.fill(place, false);
            let answer = Cancelled::Done(place);
            return (
                seen,
                Operation::Cancel {
                    reference,
                    id: Some(2),
                    answer,
                },
            );
        }
        let nights = 1 + self.below(3);
        let place = Place {
            room: u32::from(self.below(ROOMS)),
            night: self.below(NIGHTS - nights + 1),
            nights,
        };
        let bits = (0..).zip(place.each());
        let bits = bits.filter(|(_, night)| self.taken[Self::cell(place.room, *night)]);
        let bits = bits.fold(0, |bits, (bit, _)| bits | 1_u64 << bit);
        let sells_twice = bits != 0 && self.sells_twice();
        let answer = if bits != 0 && !sells_twice {
            Booked::SoldOut(bits)
        } else {
            let text = format!("R{}", self.position);
            let reference = InlineReference::parse(text.as_bytes()).expect("it is short");
            if !sells_twice {
                self.fill(place, true);
                self.standing.push_back((reference, place));
            }
            Booked::Done(reference)
        };
        let id = 2;
        (seen, Operation::Book { place, id, answer })
    }

    /// Whether this is the one that is sold twice.
    fn sells_twice(&mut self) -> bool {
        let is_it = |from: u64| from <= self.position;
        self.sells_twice_from.take_if(|from| is_it(*from)).is_some()
    }

    fn below(&mut self, bound: u16) -> u16 {
        u16::try_from(self.random.below(u64::from(bound))).expect("bounds are small")
    }

    fn cell(room: u32, night: u16) -> usize {
        room as usize * usize::from(NIGHTS) + usize::from(night)
    }

    fn fill(&mut self, place: Place, taken: bool) {
        for night in place.each() {
            self.taken[Self::cell(place.room, night)] = taken;
        }
    }
}
