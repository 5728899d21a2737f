//! The report on travel: one client, and what the text says of several.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{TRAVEL_OPS, stated};

/// The rate beyond which the ancestor was saturated, in transactions a second.
#[must_use]
pub fn saturation() -> f64 {
    stated(TRAVEL_OPS, "saturation rate").0
}

/// Over which resource managers a journey goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Managers {
    /// Three flights.
    One,
    /// A flight, a car and a room.
    Several,
}

/// Mean times in milliseconds: of a request of each kind, and of the transaction of nine: a start,
/// four queries, three reservations and a commit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanTimes {
    pub start: f64,
    pub query: f64,
    pub reserve: f64,
    pub commit: f64,
    pub transaction: f64,
}

#[derive(Deserialize)]
struct Row {
    managers: Managers,
    start_ms: f64,
    query_ms: f64,
    reserve_ms: f64,
    commit_ms: f64,
    transaction_ms: f64,
}

/// Both rows, one client each.
#[must_use]
pub fn travel() -> Vec<(Managers, MeanTimes)> {
    let rows = TRAVEL_OPS.rows::<Row>().into_iter();
    rows.map(|row| {
        let times = MeanTimes {
            start: row.start_ms,
            query: row.query_ms,
            reserve: row.reserve_ms,
            commit: row.commit_ms,
            transaction: row.transaction_ms,
        };
        (row.managers, times)
    })
    .collect()
}

impl fmt::Display for Managers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::One => "one manager",
            Self::Several => "several managers",
        })
    }
}

impl MeanTimes {
    /// The names of the times.
    pub const NAMES: [&str; 5] = ["start", "query", "reserve", "commit", "transaction"];

    /// What was published.
    ///
    /// # Panics
    /// Never: the table has a row for each.
    #[must_use]
    pub fn of(managers: Managers) -> Self {
        let row = travel().into_iter().find(|(row, _)| *row == managers);
        row.expect("the table has a row for each").1
    }

    /// In the order of [`Self::NAMES`].
    #[must_use]
    pub const fn figures(&self) -> [f64; 5] {
        [
            self.start,
            self.query,
            self.reserve,
            self.commit,
            self.transaction,
        ]
    }

    /// What the parts come to: the transaction, if nothing was left out.
    #[must_use]
    pub fn composed(&self) -> f64 {
        self.start + 4.0 * self.query + 3.0 * self.reserve + self.commit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_whole_and_sound_in_themselves() {
        for (managers, sum) in [(Managers::One, 7.124_601), (Managers::Several, 14.010_625)] {
            let times = MeanTimes::of(managers);
            let found: f64 = times.figures().iter().sum();
            assert!((found - sum).abs() < 1e-9, "{managers:?}: {found}");
            let ratio = times.composed() / times.transaction;
            assert!((ratio - 1.0).abs() < 0.003, "{managers:?}: {ratio}");
        }
        assert_eq!(travel().len(), 2);
    }
}
