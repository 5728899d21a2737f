//! What the ancestor measured: milliseconds, with one client on the hardware of its time.

use serde::Serialize;

use super::Managers;

/// The rate beyond which the ancestor was saturated, in transactions a second.
pub(super) const SATURATION: f64 = 1_000.0;

/// Mean times in milliseconds: of a request of each kind, and of the transaction of nine: a start,
/// four queries, three reservations and a commit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Times {
    pub start: f64,
    pub query: f64,
    pub reserve: f64,
    pub commit: f64,
    pub transaction: f64,
}

impl Times {
    pub(super) const fn of(managers: Managers) -> Self {
        match managers {
            Managers::One => Self {
                start: 0.31,
                query: 0.533_768,
                reserve: 0.650_833,
                commit: 0.61,
                transaction: 5.02,
            },
            Managers::Several => Self {
                start: 0.337_5,
                query: 0.903_125,
                reserve: 1.057_5,
                commit: 2.287_5,
                transaction: 9.425,
            },
        }
    }

    /// What the parts come to: the transaction, if nothing was left out.
    pub(super) fn composed(&self) -> f64 {
        self.start + 4.0 * self.query + 3.0 * self.reserve + self.commit
    }

    /// The names of the times, with these and those.
    pub(super) const fn beside(&self, other: &Self) -> [(&'static str, f64, f64); 5] {
        [
            ("start", self.start, other.start),
            ("query", self.query, other.query),
            ("reserve", self.reserve, other.reserve),
            ("commit", self.commit, other.commit),
            ("transaction", self.transaction, other.transaction),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_table_is_sound_in_itself() {
        for managers in [Managers::One, Managers::Several] {
            let times = Times::of(managers);
            let ratio = times.composed() / times.transaction;
            assert!((ratio - 1.0).abs() < 0.003, "{managers}: {ratio}");
        }
    }
}
