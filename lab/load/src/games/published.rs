//! What the ancestor's authors measured.

use serde::Serialize;

/// One row of their table: read off two plots, about 1 % off. 3,800 games a client thread; two
/// machines with four cores each (Intel i5-3330), one core for each server.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Published {
    pub players: usize,
    /// Player-games a second: a game counts for both.
    pub throughput: f64,
    /// The mean time of a game, in seconds.
    pub response: f64,
}

const TABLE: [(usize, f64, f64); 17] = [
    (10, 130.0, 0.0795),
    (100, 1_360.0, 0.0712),
    (200, 2_540.0, 0.0701),
    (300, 3_830.0, 0.0767),
    (400, 5_080.0, 0.0711),
    (500, 6_400.0, 0.0700),
    (700, 8_870.0, 0.0719),
    (900, 11_300.0, 0.0794),
    (1_100, 13_700.0, 0.0737),
    (1_300, 15_600.0, 0.0744),
    (1_500, 18_700.0, 0.0712),
    (1_700, 21_000.0, 0.0700),
    (1_900, 22_900.0, 0.0713),
    (2_000, 24_100.0, 0.0790),
    (2_010, 22_700.0, 0.0800),
    (2_050, 22_700.0, 0.0895),
    (2_100, 21_800.0, 0.0897),
];

impl Published {
    /// What was published for so many players; nothing where they measured none.
    #[must_use]
    pub fn of(players: usize) -> Option<Self> {
        TABLE
            .into_iter()
            .find(|(count, _, _)| *count == players)
            .map(|(players, throughput, response)| Self {
                players,
                throughput,
                response,
            })
    }

    /// Every number of players that they measured.
    pub fn players() -> impl Iterator<Item = usize> {
        TABLE.into_iter().map(|(players, _, _)| players)
    }
}

#[cfg(test)]
mod tests {
    use super::Published;

    /// In a closed loop players = throughput x response: what they print comes within 15 % of that.
    #[test]
    fn the_table_is_a_closed_loop() {
        for players in Published::players() {
            let row = Published::of(players).unwrap();
            let users = u32::try_from(players).unwrap();
            let found = row.throughput * row.response / f64::from(users);
            assert!((0.85..=1.08).contains(&found), "{row:?}: {found}");
        }
        assert_eq!(Published::of(11), None);
    }
}
