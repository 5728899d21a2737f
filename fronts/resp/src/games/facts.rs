//! Figures about games.

use turnstile_games::Totals;

/// The lines of the section in `INFO`.
#[must_use]
pub fn facts(totals: &Totals) -> [(&'static str, u64); 9] {
    [
        ("games_players", totals.players.into()),
        ("games_open_matches", totals.open.into()),
        ("games_seeking", totals.seeking.into()),
        ("games_away", totals.away.into()),
        ("games_unreported", totals.unreported),
        ("games_rated", totals.rated.into()),
        ("games_matches_total", totals.begun),
        ("games_moves_total", totals.moves),
        ("games_results_total", totals.results),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_total_has_a_line_of_its_own() {
        let totals = Totals {
            players: 1,
            open: 2,
            begun: 3,
            moves: 4,
            seeking: 5,
            away: 6,
            unreported: 7,
            rated: 8,
            results: 9,
        };
        let told: Vec<String> = facts(&totals)
            .iter()
            .map(|(name, value)| format!("{name}:{value}"))
            .collect();
        let expected = [
            "games_players:1",
            "games_open_matches:2",
            "games_seeking:5",
            "games_away:6",
            "games_unreported:7",
            "games_rated:8",
            "games_matches_total:3",
            "games_moves_total:4",
            "games_results_total:9",
        ];
        assert_eq!(told, expected);
    }
}
