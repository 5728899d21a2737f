//! The statistics of a player.

use turnstile_chassis::{Bytes, Words};

use crate::{Glicko, Seat, Verdict};

/// How many matches somebody has won, lost and drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Bytes)]
pub struct Tally {
    pub won: u64,
    pub lost: u64,
    pub drawn: u64,
}

impl Tally {
    pub const NONE: Self = Self {
        won: 0,
        lost: 0,
        drawn: 0,
    };

    /// What the ancestor's wire says of somebody; none when it cannot be.
    #[must_use]
    pub fn of(played: u64, won: u64, lost: u64) -> Option<Self> {
        let drawn = played.checked_sub(won)?.checked_sub(lost)?;
        Some(Self { won, lost, drawn })
    }

    /// How many were played: the sum of all.
    #[must_use]
    pub const fn played(self) -> u64 {
        self.won
            .saturating_add(self.lost)
            .saturating_add(self.drawn)
    }

    /// Counts a match in which that seat was taken.
    pub(crate) fn add(&mut self, verdict: Verdict, seat: Seat) {
        match verdict.winner() {
            None => self.drawn += 1,
            Some(winner) if winner == seat => self.won += 1,
            Some(_) => self.lost += 1,
        }
    }
}

/// How good somebody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub struct Ratings {
    /// Elo points, in thousandths.
    pub elo_milli: i64,
    pub glicko: Glicko,
}

/// What the scores say of somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub struct Standing {
    pub tally: Tally,
    /// None where a foreign scores server said it, which knows no ratings.
    pub ratings: Option<Ratings>,
}

impl Standing {
    /// What a leaderboard is ordered by: the higher, the better; none without ratings.
    #[must_use]
    pub fn score(&self, measure: Measure) -> Option<i64> {
        Some(match measure {
            Measure::Elo => self.ratings?.elo_milli,
            Measure::Glicko => self.ratings?.glicko.rating,
            Measure::Won => i64::try_from(self.tally.won).unwrap_or(i64::MAX),
        })
    }
}

/// What leaderboards are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Words)]
pub enum Measure {
    Elo,
    Glicko,
    /// Matches won.
    Won,
}

impl Measure {
    pub const ALL: [Self; 3] = [Self::Elo, Self::Glicko, Self::Won];

    /// The measure of this word.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.code() == code)
    }
}
