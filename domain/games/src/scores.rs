//! The scores: results, and the statistics and ratings computed from them.

pub(crate) mod ladder;
pub(crate) mod pairs;

use std::collections::BTreeMap;

use crate::{
    Glicko, Measure, PlayerId, Ratings, Refusal, Rung, Seat, Standing, Tally, Verdict, limits,
    ratings::{ELO_START, elo_gain},
    roster::Roster,
};
use ladder::Leaderboard;
use pairs::Pairs;

/// What is known of all who have played.
///
/// Everything here is a fold of the results that were counted, in their order. A result changes
/// two records, one pair and six places on ladders, and nothing else ever changes them.
#[derive(Debug)]
pub(crate) struct Scores {
    pub(crate) records: Roster<Record>,
    pub(crate) pairs: Pairs,
    /// In the order of [`Measure::ALL`].
    pub(crate) ladders: [Leaderboard; 3],
    /// Results counted so far.
    pub(crate) results: u64,
    /// How many results of each distant arena were counted: these and no others.
    pub(crate) arenas: BTreeMap<u64, u64>,
}

/// What is known of one player.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) tally: Tally,
    /// Thousandths of a point.
    pub(crate) elo: i64,
    pub(crate) glicko: Glicko,
    /// The pair that this player became a part of last.
    pub(crate) newest_pair: u32,
}

impl Record {
    pub(crate) const fn ratings(&self) -> Ratings {
        Ratings {
            elo_milli: self.elo,
            glicko: self.glicko,
        }
    }

    pub(crate) fn standing(&self) -> Standing {
        Standing {
            tally: self.tally,
            ratings: Some(self.ratings()),
        }
    }

    /// Where the player of this number stands on a leaderboard.
    pub(crate) fn rung(&self, number: u32, measure: Measure) -> Rung {
        let score = self.standing().score(measure);
        let score = score.expect("a record has ratings");
        Rung { score, number }
    }
}

impl Scores {
    pub(crate) fn new() -> Self {
        Self {
            records: Roster::new(),
            pairs: Pairs::new(),
            ladders: Default::default(),
            results: 0,
            arenas: BTreeMap::new(),
        }
    }

    /// Whether a result of these two can be counted.
    pub(crate) fn has_room(&self, players: &[PlayerId; 2]) -> Result<(), Refusal> {
        let is_fresh = |id| u32::from(self.records.find(id).is_none());
        let fresh: u32 = players.iter().map(is_fresh).sum();
        if self.records.len() + fresh > limits::PLAYERS_MAX {
            return Err(Refusal::Full {
                limit: limits::PLAYERS_MAX,
            });
        }
        if self.pairs.len() >= limits::PAIRS_MAX {
            return Err(Refusal::Full {
                limit: limits::PAIRS_MAX,
            });
        }
        Ok(())
    }

    /// Counts a result. There is room for it.
    pub(crate) fn count(&mut self, players: &[PlayerId; 2], verdict: Verdict) -> [Standing; 2] {
        let numbers = players.map(|id| self.number(id));
        self.results += 1;
        self.count_pair(numbers, verdict);
        let before = numbers.map(|number| *self.records.at(number));
        let gain = elo_gain(before.map(|record| record.elo), verdict);
        let glicko = Glicko::after(before.map(|record| record.glicko), verdict);
        for (seat, gain) in Seat::BOTH.into_iter().zip([gain, -gain]) {
            let number = *seat.of(&numbers);
            let record = self.records.at_mut(number);
            record.tally.add(verdict, seat);
            record.elo += gain;
            record.glicko = *seat.of(&glicko);
            let (old, new) = (seat.of(&before), *record);
            for (measure, ladder) in Measure::ALL.into_iter().zip(&mut self.ladders) {
                ladder.replace(old.rung(number, measure), new.rung(number, measure));
            }
        }
        numbers.map(|number| self.standing(number))
    }

    fn count_pair(&mut self, numbers: [u32; 2], verdict: Verdict) {
        let pair = match self.pairs.find(numbers) {
            Some(pair) => pair,
            None => self.introduce(numbers),
        };
        self.pairs.at_mut(pair).count(numbers, verdict);
    }

    /// Adds a pair of two who have not met.
    fn introduce(&mut self, numbers: [u32; 2]) -> u32 {
        let before = numbers.map(|number| self.records.at(number).newest_pair);
        let pair = self.pairs.add(numbers, before);
        for number in numbers {
            self.records.at_mut(number).newest_pair = pair;
        }
        pair
    }

    fn number(&mut self, id: PlayerId) -> u32 {
        match self.records.find(&id) {
            Some(number) => number,
            None => self.enroll(id, Record::START),
        }
    }

    /// Adds the next player, as a snapshot has them or as one begins.
    pub(crate) fn enroll(&mut self, id: PlayerId, record: Record) -> u32 {
        for (measure, ladder) in Measure::ALL.into_iter().zip(&mut self.ladders) {
            ladder.insert(record.rung(self.records.len(), measure));
        }
        self.records.enroll(id, record)
    }

    pub(crate) fn standing(&self, number: u32) -> Standing {
        self.records.at(number).standing()
    }

    pub(crate) fn ladder(&self, measure: Measure) -> &Leaderboard {
        let [elo, glicko, won] = &self.ladders;
        match measure {
            Measure::Elo => elo,
            Measure::Glicko => glicko,
            Measure::Won => won,
        }
    }

    /// Players and arenas are known by their results.
    pub(crate) const fn is_new(&self) -> bool {
        self.results == 0
    }
}

impl Record {
    pub(crate) const START: Self = Self {
        tally: Tally::NONE,
        elo: ELO_START,
        glicko: Glicko::START,
        newest_pair: turnstile_chassis::NONE,
    };
}
