//! Counts the statistics again from the events, in the simplest way.

use std::collections::BTreeMap;

use crate::{
    ELO_START, Event, EventKind, Games, Glicko, PlayerId, Ratings, Seat, Standing, Tally, elo_gain,
    scores::Scores,
};

/// A fold of the events [`EventKind::Counted`], which shares nothing with the scores but the
/// formulas of ratings: plain maps, no chains, no ladders.
///
/// Whoever recounts begins with the state of a snapshot, or with nothing, lets a machine apply the
/// records that follow, gives each of its events to [`take`](Self::take), and compares the end
/// with the scores by [`differences`](Self::differences).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recount {
    results: u64,
    standings: BTreeMap<PlayerId, (Tally, Ratings)>,
    /// Each pair twice: from the side of the first.
    pairs: BTreeMap<(PlayerId, PlayerId), Tally>,
}

impl Recount {
    /// What a state says, from which the count goes on.
    #[must_use]
    pub fn of(games: &Games) -> Self {
        let scores = &games.scores;
        let mut recount = Self {
            results: scores.results,
            ..Self::default()
        };
        for (id, record) in scores.records.iter() {
            let standing = (record.tally, record.ratings());
            recount.standings.insert(id, standing);
        }
        recount.pairs = pairs_of(scores);
        recount
    }

    /// Takes note of what happened.
    pub fn take(&mut self, event: &Event) {
        let EventKind::Counted {
            players, verdict, ..
        } = event.kind
        else {
            return;
        };
        self.results += 1;
        let [first, second] = players;
        for (seat, (player, opponent)) in Seat::BOTH
            .into_iter()
            .zip([(first, second), (second, first)])
        {
            let pair = self.pairs.entry((player, opponent)).or_default();
            pair.add(verdict, seat);
        }
        let start = (
            Tally::NONE,
            Ratings {
                elo_milli: ELO_START,
                glicko: Glicko::START,
            },
        );
        let before = players.map(|id| *self.standings.get(&id).unwrap_or(&start));
        let gain = elo_gain(before.map(|(_, ratings)| ratings.elo_milli), verdict);
        let glicko = Glicko::after(before.map(|(_, ratings)| ratings.glicko), verdict);
        for (seat, gain) in Seat::BOTH.into_iter().zip([gain, -gain]) {
            let (mut tally, ratings) = *seat.of(&before);
            tally.add(verdict, seat);
            let ratings = Ratings {
                elo_milli: ratings.elo_milli + gain,
                glicko: *seat.of(&glicko),
            };
            self.standings.insert(*seat.of(&players), (tally, ratings));
        }
    }

    /// How many results there were.
    #[must_use]
    pub const fn results(&self) -> u64 {
        self.results
    }

    /// How somebody stands, by this count.
    #[must_use]
    pub fn standing(&self, player: &PlayerId) -> Option<Standing> {
        let &(tally, ratings) = self.standings.get(player)?;
        Some(Standing {
            tally,
            ratings: Some(ratings),
        })
    }

    /// A sentence for each thing that a state says otherwise.
    #[must_use]
    pub fn differences(&self, games: &Games) -> Vec<String> {
        let mut differences = Vec::new();
        let stated = Self::of(games);
        if stated.results != self.results {
            let (stated, counted) = (stated.results, self.results);
            differences.push(format!("{counted} results, and the state says {stated}"));
        }
        compare(&self.standings, &stated.standings, |player, say| {
            differences.push(format!("{player}: {say}"));
        });
        compare(&self.pairs, &stated.pairs, |(player, opponent), say| {
            differences.push(format!("{player} against {opponent}: {say}"));
        });
        self.compare_boards(games, &mut differences);
        differences
    }

    /// The leaderboards are read as anybody reads them.
    fn compare_boards(&self, games: &Games, differences: &mut Vec<String>) {
        for measure in crate::Measure::ALL {
            let mut cursor = None;
            let mut before = i64::MAX;
            let mut shown = 0;
            loop {
                let limit = crate::limits::PAGE_MAX.into();
                let (page, next) = games.scores.leaders(measure, cursor, limit);
                for leader in &page {
                    shown += 1;
                    let known = self.standing(&leader.player);
                    let score = known.and_then(|standing| standing.score(measure));
                    if score.is_none_or(|score| score > before) {
                        let player = leader.player;
                        differences.push(format!("{player} stands too low by {}", measure.code()));
                    }
                    before = score.unwrap_or(before);
                }
                cursor = next;
                if cursor.is_none() {
                    break;
                }
            }
            if shown != self.standings.len() {
                differences.push(format!("{shown} stand on the board by {}", measure.code()));
            }
        }
    }
}

fn pairs_of(scores: &Scores) -> BTreeMap<(PlayerId, PlayerId), Tally> {
    let sides = scores.pairs.iter().flat_map(|pair| {
        Seat::BOTH.map(|seat| {
            let own = scores.records.id(*seat.of(&pair.players));
            let other = scores.records.id(*seat.other().of(&pair.players));
            ((own, other), pair.tally(seat))
        })
    });
    sides.collect()
}

fn compare<K: Ord, V: PartialEq + std::fmt::Debug>(
    counted: &BTreeMap<K, V>,
    stated: &BTreeMap<K, V>,
    mut tell: impl FnMut(&K, String),
) {
    for (key, value) in counted {
        match stated.get(key) {
            Some(other) if other == value => {}
            other => tell(key, format!("{value:?}, and the state says {other:?}")),
        }
    }
    for key in stated.keys().filter(|key| !counted.contains_key(key)) {
        tell(key, "known to the state alone".to_owned());
    }
}
