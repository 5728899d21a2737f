//! Head-to-head records.

use turnstile_chassis::{Slab, Table, hash_of_pair, some};

use crate::{Seat, Tally, Verdict};

/// A chunk of pairs is a few hundred kibibytes.
const CHUNK_BITS: u32 = 12;

/// Two players who have met. The one with the lower number stands first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) players: [u32; 2],
    /// Matches that each has won.
    pub(crate) won: [u64; 2],
    pub(crate) drawn: u64,
    /// The pair that each became a part of before this one.
    pub(crate) before: [u32; 2],
}

impl Pair {
    /// Counts a match between these two, who may have sat the other way round.
    pub(crate) fn count(&mut self, numbers: [u32; 2], verdict: Verdict) {
        let turned = self.players != numbers;
        match verdict.winner() {
            None => self.drawn += 1,
            Some(winner) => {
                let winner = if turned { winner.other() } else { winner };
                *winner.of_mut(&mut self.won) += 1;
            }
        }
    }

    pub(crate) fn has(&self, number: u32) -> bool {
        self.players.contains(&number)
    }

    /// The place of one of its players.
    pub(crate) fn seat_of(&self, number: u32) -> Seat {
        let [first, _] = self.players;
        if first == number {
            Seat::First
        } else {
            Seat::Second
        }
    }

    /// What the pair is from the side of one of its players.
    pub(crate) fn tally(&self, seat: Seat) -> Tally {
        Tally {
            won: *seat.of(&self.won),
            lost: *seat.other().of(&self.won),
            drawn: self.drawn,
        }
    }
}

/// All who have met, in the order in which they first did. The pairs of one player are chained,
/// the newest first.
#[derive(Debug)]
pub(crate) struct Pairs {
    rows: Slab<Pair, CHUNK_BITS>,
    numbers: Table,
}

impl Pairs {
    pub(crate) fn new() -> Self {
        Self {
            rows: Slab::empty(),
            numbers: Table::empty(),
        }
    }

    pub(crate) fn find(&self, numbers: [u32; 2]) -> Option<u32> {
        let players = sorted(numbers);
        self.numbers
            .find(hash(players), |row| self.rows.at(row).players == players)
    }

    /// Adds two who have not met. `before`: the newest pair of each.
    pub(crate) fn add(&mut self, numbers: [u32; 2], before: [u32; 2]) -> u32 {
        let players = sorted(numbers);
        let [first, second] = before;
        let row = self.rows.push(Pair {
            players,
            won: [0; 2],
            drawn: 0,
            before: if players == numbers {
                before
            } else {
                [second, first]
            },
        });
        self.numbers.insert(hash(players), row);
        row
    }

    pub(crate) const fn len(&self) -> u32 {
        self.rows.len()
    }

    pub(crate) fn get(&self, row: u32) -> Option<&Pair> {
        self.rows.get(row)
    }

    pub(crate) fn at(&self, row: u32) -> &Pair {
        self.rows.at(row)
    }

    pub(crate) fn at_mut(&mut self, row: u32) -> &mut Pair {
        self.rows.at_mut(row)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Pair> {
        self.rows.iter()
    }

    /// A player's pairs from one on, the newest first.
    pub(crate) fn chain(&self, number: u32, newest: u32) -> impl Iterator<Item = (u32, &Pair)> {
        let next = move |row: &u32| {
            let pair = self.rows.at(*row);
            some(*pair.seat_of(number).of(&pair.before))
        };
        std::iter::successors(some(newest), next).map(|row| (row, self.rows.at(row)))
    }
}

fn sorted(numbers: [u32; 2]) -> [u32; 2] {
    let [one, other] = numbers;
    [one.min(other), one.max(other)]
}

const fn hash([first, second]: [u32; 2]) -> u64 {
    hash_of_pair(first, second)
}
