//! The report on games.

use serde::{Deserialize, Serialize};

use crate::GAMES_USERS;

/// One row: a closed loop in which each player begins the next game when the last has ended.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Level {
    #[serde(rename(deserialize = "users"))]
    pub players: usize,
    /// Player-games a second: a game counts for both.
    pub throughput: f64,
    /// The mean time of a game in seconds.
    #[serde(rename(deserialize = "response_s"))]
    pub response: f64,
}

/// All rows.
#[must_use]
pub fn games() -> Vec<Level> {
    GAMES_USERS.rows()
}

impl Level {
    /// What was published for so many players; nothing where they measured none.
    #[must_use]
    pub fn of(players: usize) -> Option<Self> {
        games().into_iter().find(|row| row.players == players)
    }
}

#[cfg(test)]
mod tests {
    use super::{Level, games};

    /// In a closed loop players = throughput x response: what they print comes within 15 % of that.
    #[test]
    fn the_figures_are_whole_and_those_of_a_closed_loop() {
        let table = games();
        assert_eq!(table.len(), 17);
        let sums = [
            table.iter().map(|row| row.throughput).sum::<f64>(),
            table.iter().map(|row| row.response).sum(),
        ];
        assert!((sums[0] - 222_710.0).abs() < 1e-6, "{sums:?}");
        assert!((sums[1] - 1.2887).abs() < 1e-6, "{sums:?}");
        for row in table {
            let users = u32::try_from(row.players).unwrap();
            let found = row.throughput * row.response / f64::from(users);
            assert!((0.85..=1.08).contains(&found), "{row:?}: {found}");
            assert_eq!(Level::of(row.players), Some(row));
        }
        assert_eq!(Level::of(11), None);
    }
}
