//! The checker against histories of which it is known, by trying every order, whether they can be true.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod history;
mod orders;

use turnstile_seed::Random;

use history::{History, play};
use orders::is_possible;

/// What the checker says of a history: whether it found a violation.
fn is_charged(history: &History) -> bool {
    let findings = &history.findings;
    let charges = [&findings.order, &findings.answers, &findings.seen];
    charges.iter().any(|charge| !charge.is_empty())
}

#[test]
fn an_honest_history_is_never_charged() {
    for seed in 0..600 {
        let history = play(&mut Random::new(seed), 4, 60, 100, false);
        assert!(!is_charged(&history), "seed {seed}: {history:?}");
        let told = history.operations.len();
        let findings = &history.findings;
        let checked = findings.replayed + findings.readings + findings.unknown;
        assert_eq!(u64::try_from(told).unwrap(), checked, "seed {seed}");
    }
}

#[test]
fn what_every_order_contradicts_is_charged_and_nothing_else() {
    let (mut possible, mut impossible) = (0, 0);
    for seed in 0..4_000 {
        let history = play(&mut Random::new(seed), 3, 7, 0, true);
        let may_be = is_possible(&history.operations);
        assert_eq!(!is_charged(&history), may_be, "seed {seed}: {history:?}");
        possible += u32::from(may_be);
        impossible += u32::from(!may_be);
    }
    assert!(
        possible > 500 && impossible > 500,
        "{possible} {impossible}"
    );
}

#[test]
fn with_unknown_operations_nothing_is_charged_that_can_be_true() {
    let (mut charged, mut impossible) = (0, 0);
    for seed in 0..4_000 {
        let history = play(&mut Random::new(seed), 3, 8, 250, true);
        let may_be = is_possible(&history.operations);
        assert!(
            !(may_be && is_charged(&history)),
            "seed {seed}: {history:?}"
        );
        charged += u32::from(is_charged(&history));
        impossible += u32::from(!may_be);
    }
    // It may overlook what only several unknown operations together rule out: that is rare.
    assert!(
        charged * 100 >= impossible * 95,
        "{charged} of {impossible}"
    );
    assert!(impossible > 500, "{impossible}");
}
