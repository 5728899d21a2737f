//! The checker against histories of which it is known, by trying every order, whether they can be true.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod history;
mod orders;

use turnstile_seed::Random;

use history::{History, Kind, play, play_and_keep};
use orders::is_possible;

const HONEST: Kind = Kind {
    users: 4,
    length: 60,
    lost: 100,
    tampers: false,
};

const ALL_ANSWERED: Kind = Kind {
    users: 3,
    length: 7,
    lost: 0,
    tampers: true,
};

const SOME_UNKNOWN: Kind = Kind {
    users: 3,
    length: 8,
    lost: 250,
    tampers: true,
};

/// What the checker says of a history: whether it found a violation.
fn is_charged(history: &History) -> bool {
    let findings = &history.findings;
    let charges = [&findings.order, &findings.answers, &findings.seen];
    charges.iter().any(|charge| !charge.is_empty())
}

#[test]
fn an_honest_history_is_never_charged() {
    for seed in 0..600 {
        let history = play(&mut Random::new(seed), HONEST);
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
        let history = play(&mut Random::new(seed), ALL_ANSWERED);
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
        let history = play(&mut Random::new(seed), SOME_UNKNOWN);
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

/// What was found, without instants: those are of the clock.
fn found(history: &History) -> (u64, u64, u64, [usize; 3]) {
    let findings = &history.findings;
    let charges = [&findings.order, &findings.answers, &findings.seen];
    let sentences = charges.map(|charge| charge.clone().sentences().len());
    (
        findings.replayed,
        findings.readings,
        findings.unknown,
        sentences,
    )
}

#[test]
fn what_is_checked_afterwards_is_found_as_it_is_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let mut charged = 0;
    for seed in 0..500 {
        for kind in [HONEST, ALL_ANSWERED, SOME_UNKNOWN] {
            let meanwhile = play(&mut Random::new(seed), kind);
            let afterwards = play_and_keep(&mut Random::new(seed), kind, folder.path());
            assert_eq!(found(&meanwhile), found(&afterwards), "seed {seed}");
            charged += u32::from(is_charged(&afterwards));
        }
    }
    assert!(charged > 100, "{charged}");
    // Nothing of it is left.
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}
