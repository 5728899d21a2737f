//! Nodes on a shared log: the same seed is the same history, faults are reached, and planted bugs are
//! found.

use turnstile_sim::{ClusterBug, ClusterHistory, ClusterSummary};

/// How many histories a planted bug may survive at most.
const PATIENCE: u64 = 3_000;

#[test]
fn the_same_seed_gives_the_same_history() {
    for seed in 0..30 {
        let once = ClusterHistory::run(seed, ClusterBug::None);
        assert_eq!(once, ClusterHistory::run(seed, ClusterBug::None), "{seed}");
    }
}

#[test]
fn nodes_agree_and_every_kind_of_fault_is_reached() {
    let mut total = ClusterSummary::default();
    for seed in 1_000..2_000 {
        match ClusterHistory::run(seed, ClusterBug::None) {
            Ok(summary) => total.add(&summary),
            Err(violation) => panic!("seed {seed}: {violation}"),
        }
    }
    let reached = [
        total.entries,
        total.void,
        total.lost,
        total.repeated,
        total.crashes,
        total.applied_again,
        total.answers,
        total.readings,
        total.runs,
        total.retries,
        total.unknown,
        total.snapshots,
        total.stored,
        total.not_stored,
        total.leftovers,
        total.purges,
        total.joins,
        total.lost_directories,
        total.upgrades,
        total.newest,
    ];
    assert!(reached.iter().all(|&count| count > 20), "{total:?}");
}

#[test]
fn every_planted_bug_is_found() {
    for bug in ClusterBug::ALL {
        let found = (0..PATIENCE).find(|&seed| ClusterHistory::run(seed, bug).is_err());
        assert!(found.is_some(), "{bug:?} survived {PATIENCE} histories");
    }
}
