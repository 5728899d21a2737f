//! The invariants of the scores.

use turnstile_chassis::Faults;

use crate::{ELO_START, Measure, Tally, scores::Scores};

pub(super) fn examine(scores: &Scores, faults: &mut Faults) {
    let mut elo = 0_i128;
    let mut played = 0_u128;
    for (id, record) in scores.records.iter() {
        let tally = record.tally;
        let total = [tally.won, tally.lost, tally.drawn].map(u128::from);
        let total: u128 = total.into_iter().sum();
        played += total;
        elo += i128::from(record.elo) - i128::from(ELO_START);
        faults.unless(total > 0, || {
            format!("player {id} has a standing and no result")
        });
        faults.unless(record.glicko.is_sound(), || {
            format!("the rating of {id} is out of range")
        });
    }
    let results = u128::from(scores.results);
    faults.unless(played == 2 * results, || {
        format!("{results} results are {played} matches played, and not twice as many")
    });
    faults.unless(elo == 0, || {
        "the Elo points won and lost do not add up to zero".to_owned()
    });
    let arenas: u128 = scores.arenas.values().copied().map(u128::from).sum();
    faults.unless(arenas <= results, || {
        format!("{arenas} results of distant arenas are not among {results}")
    });
    faults.unless(!scores.arenas.values().any(|&counted| counted == 0), || {
        "an arena is known of which nothing was counted".to_owned()
    });
    examine_pairs(scores, faults);
    for measure in Measure::ALL {
        examine_ladder(scores, measure, faults);
    }
}

/// What each player has won and lost is the sum over the pairs, each of which is found.
fn examine_pairs(scores: &Scores, faults: &mut Faults) {
    for (number, (id, record)) in (0..).zip(scores.records.iter()) {
        let mut sum = Tally::NONE;
        for (row, pair) in scores.pairs.chain(number, record.newest_pair) {
            let tally = pair.tally(pair.seat_of(number));
            sum.won += tally.won;
            sum.lost += tally.lost;
            sum.drawn += tally.drawn;
            let found = scores.pairs.find(pair.players) == Some(row);
            faults.unless(found && pair.has(number) && tally.played() > 0, || {
                format!("player {id}: head-to-head record not found or empty")
            });
        }
        faults.unless(sum == record.tally, || {
            format!("the sums of {id} are not those of the pairs")
        });
    }
}

fn examine_ladder(scores: &Scores, measure: Measure, faults: &mut Faults) {
    let ladder = scores.ladder(measure);
    faults.unless(ladder.len() == scores.records.len(), || {
        format!(
            "a player is missing from the leaderboard by {}",
            measure.code()
        )
    });
    let mut before = None;
    for (place, rung) in (0..).zip(ladder.behind(0)) {
        let record = scores.records.at(rung.number);
        let key = (std::cmp::Reverse(rung.score), rung.number);
        let is_so = before < Some(key)
            && ladder.before(rung) == place
            && record.rung(rung.number, measure) == rung;
        faults.unless(is_so, || {
            format!("place {place} by {} holds another player", measure.code())
        });
        before = Some(key);
    }
}
