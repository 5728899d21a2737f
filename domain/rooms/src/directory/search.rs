//! The search for a free room among many.

use turnstile_types::Stay;

use super::PropertyDirectory;
use crate::{Nights, Refusal, order::natural, shelves::Mark};

/// Nights that are free although the words say otherwise: those of holds that are due, but not yet swept,
/// which only queries between two ticks meet, and those of a booking that is to be moved.
pub(crate) type Due = [(u32, Stay)];

/// A search through the shelves of some types for a stay; loose rooms are never searched.
#[derive(Debug)]
pub(crate) struct ShelfSearch<'a> {
    pub(crate) directory: &'a PropertyDirectory,
    pub(crate) kinds: &'a [u32],
    pub(crate) stay: Stay,
    pub(crate) due: &'a Due,
}

impl ShelfSearch<'_> {
    /// The first room in natural order that is free, and not stopped, on every night.
    pub(crate) fn first_free(&self) -> Option<u32> {
        let first = |&kind: &u32| {
            let from = if self.due.is_empty() {
                self.directory.frontier.of(kind, self.stay)
            } else {
                0
            };
            let shelves = self.directory.kind_at(kind).shelves_from(from);
            shelves.into_iter().find_map(|shelf| {
                let free = self.free_of(shelf) & !self.stopped_of(shelf);
                (free != 0).then(|| self.directory.shelves.first_of(shelf, free))?
            })
        };
        self.kinds.iter().filter_map(first).min_by(|&left, &right| {
            let name = |room| self.directory.name_bytes(self.directory.room_at(room));
            natural(name(left), name(right))
        })
    }

    /// Why no room is free: the stop-sell, when some room would be free without it; else all is
    /// sold.
    pub(crate) fn refusal(&self) -> Refusal {
        let mut stopped = 0;
        let mut open = 0;
        for shelf in self
            .kinds
            .iter()
            .flat_map(|&kind| self.directory.kind_at(kind).shelves())
        {
            let free = self.free_of(shelf);
            let stops = self.words(shelf, Mark::Stopped);
            let occupied = self.words(shelf, Mark::Occupied);
            let used = self.directory.shelves.used(shelf);
            for (night, (stops, occupied)) in stops.iter().zip(&occupied).enumerate() {
                stopped |= u128::from(free & stops != 0) << night;
                open |= u128::from(used & !stops & !occupied != 0) << night;
            }
        }
        let all = (1 << self.stay.nights()) - 1;
        if stopped != 0 {
            return Refusal::StopSell {
                nights: self.nights(stopped),
            };
        }
        Refusal::SoldOut {
            nights: self.nights(all & !open),
        }
    }

    const fn nights(&self, bits: u128) -> Nights {
        Nights {
            first: self.stay.arrival(),
            bits,
        }
    }

    /// The rooms of a shelf that nobody has on any night of the stay.
    pub(crate) fn free_of(&self, shelf: u32) -> u64 {
        let shelves = &self.directory.shelves;
        let occupied = if self.due.is_empty() {
            shelves.any(shelf, Mark::Occupied, self.stay)
        } else {
            self.words(shelf, Mark::Occupied)
                .iter()
                .fold(0, |union, word| union | word)
        };
        shelves.used(shelf) & !occupied
    }

    pub(crate) fn stopped_of(&self, shelf: u32) -> u64 {
        self.directory.shelves.any(shelf, Mark::Stopped, self.stay)
    }

    /// The rooms of a shelf that are marked, night by night.
    pub(crate) fn words(&self, shelf: u32, mark: Mark) -> Vec<u64> {
        let mut words = vec![0; usize::from(self.stay.nights())];
        self.directory
            .shelves
            .words(shelf, mark, self.stay)
            .each(|night, word| *words.get_mut(night).expect("a night of the stay") = word);
        if let Mark::Occupied = mark {
            for &(room, stay) in self.due {
                let room = self.directory.room_at(room);
                if room.shelf == shelf && !room.withdrawn {
                    self.free_due(&mut words, room.bit, stay);
                }
            }
        }
        words
    }

    fn free_due(&self, words: &mut [u64], bit: u8, stay: Stay) {
        for (night, word) in self.stay.iter().zip(words) {
            if stay.arrival() <= night && night < stay.departure() {
                *word &= !(1 << bit);
            }
        }
    }
}

impl PropertyDirectory {
    /// Moves the frontier of each night of a stay past the shelves without a free room, where
    /// types are so large that the next search should not pass them again.
    pub(crate) fn advance_frontier(&mut self, kinds: &[u32], stay: Stay) {
        for &kind in kinds.iter().filter(|&&kind| self.kinds.at(kind).is_long()) {
            for night in stay.iter() {
                let next = night
                    .checked_add(1)
                    .expect("a stay ends within the calendar");
                let stay = Stay::new(night, next).expect("one night is a stay");
                let from = self.frontier.of(kind, stay);
                let open = self.kinds.at(kind).shelves_from(from).find(|&shelf| {
                    let occupied = self.shelves.any(shelf, Mark::Occupied, stay);
                    let stopped = self.shelves.any(shelf, Mark::Stopped, stay);
                    self.shelves.used(shelf) & !occupied & !stopped != 0
                });
                let key = open.map_or(u128::MAX, |shelf| self.shelves.keyed_at(shelf, 0).0);
                self.frontier.raise(kind, night, key);
            }
        }
    }
}
