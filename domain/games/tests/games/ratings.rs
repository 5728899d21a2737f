//! Ratings in whole numbers beside a library that computes with floats.

use proptest::{collection::vec, prelude::*, sample::select};
use skillratings::{
    Outcomes,
    elo::{EloConfig, EloRating, elo},
    glicko2::{Glicko2Config, Glicko2Rating, glicko2},
};
use turnstile_games::{ELO_START, Glicko, Verdict, elo_gain};

const fn outcome(verdict: Verdict) -> Outcomes {
    match verdict {
        Verdict::FirstWon => Outcomes::WIN,
        Verdict::SecondWon => Outcomes::LOSS,
        Verdict::Drawn => Outcomes::DRAW,
    }
}

fn verdicts() -> impl Strategy<Value = Verdict> {
    select(vec![Verdict::FirstWon, Verdict::SecondWon, Verdict::Drawn])
}

#[expect(clippy::cast_precision_loss, reason = "a rating has few digits")]
fn points(milli: i64) -> f64 {
    milli as f64 / 1_000.0
}

fn check_glicko(ours: Glicko, theirs: &Glicko2Rating) {
    let apart = |milli, value: f64| (points(milli) - value).abs();
    let sum = [
        apart(ours.rating_milli(), theirs.rating),
        apart(ours.deviation_milli(), theirs.deviation),
        apart(ours.volatility_micro(), theirs.volatility * 1_000.0),
    ];
    assert!(
        sum.iter().all(|&off| off < 0.02),
        "{sum:?}: {ours:?}, {theirs:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn elo_is_that_of_the_library(
        first in 0..4_000_000_i64,
        second in 0..4_000_000_i64,
        verdict in verdicts(),
    ) {
        let gain = elo_gain([first, second], verdict);
        let mirrored = match verdict {
            Verdict::FirstWon => Verdict::SecondWon,
            Verdict::SecondWon => Verdict::FirstWon,
            Verdict::Drawn => Verdict::Drawn,
        };
        prop_assert_eq!(elo_gain([second, first], mirrored), -gain);
        let rating = |milli| EloRating { rating: points(milli) };
        let config = EloConfig { k: 32.0 };
        let (after, _) = elo(&rating(first), &rating(second), &outcome(verdict), &config);
        let off = (points(first + gain) - after.rating).abs();
        prop_assert!(off < 0.001, "{off}");
    }

    /// Four players and a long season: no difference builds up.
    #[test]
    fn glicko_is_that_of_the_library(
        season in vec((0..4_usize, 1..4_usize, verdicts()), 1..120),
    ) {
        let mut ours = [Glicko::START; 4];
        let mut theirs = [Glicko2Rating::new(); 4];
        for (first, next, verdict) in season {
            let second = (first + next) % 4;
            [ours[first], ours[second]] = Glicko::after([ours[first], ours[second]], verdict);
            let config = Glicko2Config::new();
            (theirs[first], theirs[second]) =
                glicko2(&theirs[first], &theirs[second], &outcome(verdict), &config);
            for (ours, theirs) in ours.iter().zip(&theirs) {
                check_glicko(*ours, theirs);
            }
        }
    }
}

#[test]
fn a_first_win_gives_what_the_paper_says() {
    let [winner, loser] = Glicko::after([Glicko::START; 2], Verdict::FirstWon);
    assert_eq!(winner.rating_milli(), 1_662_311);
    assert_eq!(loser.rating_milli(), 1_337_689);
    assert_eq!(winner.deviation_milli(), 290_319);
    assert_eq!(ELO_START, 1_500_000);
}
