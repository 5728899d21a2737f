//! The simulator itself: the same seed is the same history, faults are reached, and planted bugs
//! are found.

use turnstile_journal::Sabotage;
use turnstile_sim::{Bug, History, HistorySummary};

/// How many histories a planted bug may survive at most.
const PATIENCE: u64 = 20_000;

#[test]
fn the_same_seed_gives_the_same_history() {
    for seed in 0..50 {
        assert_eq!(
            History::run(seed, Bug::None),
            History::run(seed, Bug::None),
            "seed {seed}"
        );
    }
}

#[test]
fn no_promise_is_broken_and_every_kind_of_fault_is_reached() {
    let mut total = HistorySummary::default();
    for seed in 1_000..3_000 {
        match History::run(seed, Bug::None) {
            Ok(summary) => total.add(&summary),
            Err(violation) => panic!("seed {seed}: {violation}"),
        }
    }
    let reached = [
        total.crashes,
        total.crashes_in_recovery,
        total.commits,
        total.failed_commits,
        total.overlaps,
        total.soft_turns,
        total.taken_back,
        total.replayed_keys,
        total.refused_by_full_disk,
        total.refused_keys,
        total.snapshots,
        total.trades,
        total.results,
        total.late_answers,
        total.damage_refused,
    ];
    let mut reached = reached.iter().chain(&total.done[1..]);
    assert!(reached.all(|&count| count > 20), "{total:?}");
}

#[test]
fn every_planted_bug_is_found() {
    let bugs = Sabotage::ALL.map(Bug::Journal).into_iter().chain([
        Bug::IgnoreKeys,
        Bug::ForgetEvents,
        Bug::IgnorePromises,
    ]);
    for bug in bugs {
        let found = (0..PATIENCE).find(|&seed| History::run(seed, bug).is_err());
        assert!(found.is_some(), "{bug:?} survived {PATIENCE} histories");
    }
}
