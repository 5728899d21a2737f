//! Statistics from the list of all results, counted again for every question.

use turnstile_games::{
    ELO_START, Glicko, HeadToHead, Leader, Measure, PlayerId, Ratings, Standing, Tally, Verdict,
    elo_gain,
};

#[derive(Debug, Default)]
pub(crate) struct Board {
    pub(crate) results: Vec<([PlayerId; 2], Verdict)>,
}

impl Board {
    /// Everybody, in the order in which they were counted first.
    pub(crate) fn all(&self) -> Vec<(PlayerId, Standing)> {
        let mut all: Vec<(PlayerId, Tally, i64, Glicko)> = Vec::new();
        for &(players, verdict) in &self.results {
            let [first, second] = players.map(|player| {
                let known = all.iter().position(|&(id, ..)| id == player);
                known.unwrap_or_else(|| {
                    all.push((player, Tally::NONE, ELO_START, Glicko::START));
                    all.len() - 1
                })
            });
            let gain = elo_gain([all[first].2, all[second].2], verdict);
            let [one, other] = Glicko::after([all[first].3, all[second].3], verdict);
            (all[first].2, all[first].3) = (all[first].2 + gain, one);
            (all[second].2, all[second].3) = (all[second].2 - gain, other);
            match verdict {
                Verdict::FirstWon => {
                    (all[first].1.won, all[second].1.lost) =
                        (all[first].1.won + 1, all[second].1.lost + 1)
                }
                Verdict::SecondWon => {
                    (all[second].1.won, all[first].1.lost) =
                        (all[second].1.won + 1, all[first].1.lost + 1)
                }
                Verdict::Drawn => {
                    (all[first].1.drawn, all[second].1.drawn) =
                        (all[first].1.drawn + 1, all[second].1.drawn + 1)
                }
            }
        }
        let standing = |(id, tally, elo_milli, glicko)| {
            let ratings = Some(Ratings { elo_milli, glicko });
            (id, Standing { tally, ratings })
        };
        all.into_iter().map(standing).collect()
    }

    pub(crate) fn standing(&self, player: &PlayerId) -> Option<Standing> {
        let all = self.all();
        let found = all.into_iter().find(|(id, _)| id == player);
        found.map(|(_, standing)| standing)
    }

    pub(crate) fn against(&self, player: &PlayerId, opponent: &PlayerId) -> Option<Tally> {
        let mut tally = Tally::NONE;
        for &([first, second], verdict) in &self.results {
            let won = match (first == *player && second == *opponent, verdict) {
                (true, Verdict::FirstWon) => Some(true),
                (true, Verdict::SecondWon) => Some(false),
                (_, Verdict::Drawn) => None,
                (false, Verdict::FirstWon) => Some(false),
                (false, Verdict::SecondWon) => Some(true),
            };
            if ![[first, second], [second, first]].contains(&[*player, *opponent]) {
                continue;
            }
            match won {
                Some(true) => tally.won += 1,
                Some(false) => tally.lost += 1,
                None => tally.drawn += 1,
            }
        }
        (tally != Tally::NONE).then_some(tally)
    }

    /// Those somebody has met, the one met first latest first.
    pub(crate) fn opponents(&self, player: &PlayerId) -> Vec<HeadToHead> {
        let mut met: Vec<PlayerId> = Vec::new();
        for ([first, second], _) in &self.results {
            for (one, other) in [(first, second), (second, first)] {
                if one == player && !met.contains(other) {
                    met.insert(0, *other);
                }
            }
        }
        let head_to_head = |opponent| HeadToHead {
            opponent,
            tally: self.against(player, &opponent).unwrap(),
        };
        met.into_iter().map(head_to_head).collect()
    }

    pub(crate) fn ladder(&self, measure: Measure) -> Vec<Leader> {
        let mut all = self.all();
        // Stable: of equal scores, whoever was counted first stands first.
        all.sort_by_key(|(_, standing)| std::cmp::Reverse(standing.score(measure)));
        let leaders = (1..).zip(all);
        leaders
            .map(|(place, (player, standing))| Leader {
                place,
                player,
                standing,
            })
            .collect()
    }
}
