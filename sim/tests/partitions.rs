//! Partitions over nodes: the same seed is the same history, faults are reached, and planted bugs are found.

use turnstile_sim::{PartitionBug, PartitionHistory, PartitionSummary};

/// How many histories a planted bug may survive at most.
const PATIENCE: u64 = 1_000;

#[test]
fn the_same_seed_gives_the_same_history() {
    for seed in 0..20 {
        let once = PartitionHistory::run(seed, PartitionBug::None);
        assert_eq!(
            once,
            PartitionHistory::run(seed, PartitionBug::None),
            "{seed}"
        );
    }
}

#[test]
fn every_request_finds_its_partition_and_every_kind_of_fault_is_reached() {
    let mut total = PartitionSummary::default();
    for seed in 1_000..1_500 {
        match PartitionHistory::run(seed, PartitionBug::None) {
            Ok(summary) => total.add(&summary),
            Err(violation) => panic!("seed {seed}: {violation}"),
        }
    }
    let reached = [
        total.entries,
        total.answers,
        total.of_others,
        total.retries,
        total.crashes,
        total.unknown,
        total.snapshots,
        total.relayed,
        total.relayed_again,
        total.relayed_answers,
    ];
    assert!(reached.iter().all(|&count| count > 20), "{total:?}");
}

#[test]
fn every_planted_bug_is_found() {
    for bug in PartitionBug::ALL {
        let found = (0..PATIENCE).find(|&seed| PartitionHistory::run(seed, bug).is_err());
        assert!(found.is_some(), "{bug:?} survived {PATIENCE} histories");
    }
}
