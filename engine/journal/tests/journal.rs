//! The journal over disks that fail: one binary, a module for each kind of trouble.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "journal/copies.rs"]
mod copies;
#[path = "journal/durable_end.rs"]
mod durable_end;
#[path = "journal/failures.rs"]
mod failures;
#[path = "journal/golden.rs"]
mod golden;
#[path = "journal/overlap.rs"]
mod overlap;
#[path = "journal/real_disk.rs"]
mod real_disk;
#[path = "journal/rot.rs"]
mod rot;
#[path = "journal/snapshots.rs"]
mod snapshots;
#[path = "journal/tails.rs"]
mod tails;
#[path = "journal/troubled.rs"]
mod troubled;

use turnstile_journal::{
    Chores, CommitError, Disk, Durability, FaultyDisk, Journal, Log, OpenError, Options, Report,
    Room,
};
use turnstile_record::RecordRef;
use turnstile_types::{Author, Position, Principal, Timestamp};

/// Four pages: one of header, three of groups.
const OPTIONS: Options = Options {
    segment_bytes: 16_384,
    durability: Durability::Sync,
    chores: Chores::Inline,
    accept_loss: None,
};

/// The groups of a journal, each with its records' payloads.
type History = Vec<Vec<Vec<u8>>>;

fn open(disk: &FaultyDisk) -> Result<(Journal<FaultyDisk>, Report), OpenError> {
    Journal::open(disk.clone(), OPTIONS)
}

/// Commits one group with these payloads.
fn commit<D: Disk>(journal: &mut Journal<D>, payloads: &[Vec<u8>]) -> Result<(), CommitError> {
    build(journal, payloads);
    journal.commit()
}

/// Begins a group with these payloads.
fn build<D: Disk>(journal: &mut Journal<D>, payloads: &[Vec<u8>]) {
    journal.begin(Timestamp(journal.last_time().0 + 1));
    let principal = Principal::local();
    let record = |payload| RecordRef {
        service: 1,
        author: Author::unknown(&principal),
        key: None,
        payload,
    };
    let bytes = payloads.iter().map(|payload| record(payload).size()).sum();
    assert_eq!(journal.room(bytes), Room::Fits);
    for payload in payloads {
        journal.push(&record(payload));
    }
}

/// A group that differs from every other, with `records` records of `bytes` bytes each.
fn group(seed: u8, records: u8, bytes: usize) -> Vec<Vec<u8>> {
    (0..records)
        .map(|record| {
            let mut payload = vec![seed; bytes];
            payload.push(record);
            payload
        })
        .collect()
}

/// Everything that a journal replays.
fn history<D: Disk>(journal: &Journal<D>) -> History {
    let mut groups = History::new();
    let mut next = Position(1);
    journal
        .replay(Position(0), |group| {
            assert_eq!(group.first(), next, "positions are contiguous");
            next = group.end();
            groups.push(
                group
                    .records()
                    .map(|record| record.payload.to_vec())
                    .collect(),
            );
            Ok::<(), String>(())
        })
        .unwrap();
    groups
}

/// A disk with these groups, each acknowledged; cleanly closed or not.
fn disk_with(groups: &History, is_closed: bool) -> FaultyDisk {
    let disk = FaultyDisk::new(7);
    let (mut journal, _) = open(&disk).unwrap();
    for group in groups {
        commit(&mut journal, group).unwrap();
    }
    if is_closed {
        journal.close().unwrap();
    }
    disk
}

/// Groups of several sizes that spread over three segments.
fn long_history() -> History {
    (1..=24)
        .map(|seed| group(seed, 1 + seed % 3, 80 * usize::from(seed)))
        .collect()
}

#[test]
fn a_journal_replays_what_was_committed_in_order_and_from_any_group_on() {
    let groups = long_history();
    let disk = disk_with(&groups, true);
    let (journal, report) = open(&disk).unwrap();
    assert_eq!(history(&journal), groups);
    let records: usize = groups.iter().map(Vec::len).sum();
    assert_eq!(
        (report.groups, report.records, report.last, report.clean),
        (24, records as u64, Position(records as u64), true)
    );
    assert!(report.segments >= 3, "{report:?}");

    let mut ends = vec![Position(0)];
    for group in &groups {
        ends.push(Position(ends.last().unwrap().0 + group.len() as u64));
    }
    for (index, &after) in ends.iter().enumerate() {
        let mut seen = Vec::new();
        let each = |group: &turnstile_record::Group<'_>| {
            seen.push(group.end().0 - 1);
            Ok::<(), String>(())
        };
        journal.replay(after, each).unwrap();
        let expected: Vec<u64> = ends[index + 1..].iter().map(|end| end.0).collect();
        assert_eq!(seen, expected, "after {after}");
    }
}

#[test]
fn a_replay_from_inside_a_group_is_refused() {
    let disk = disk_with(&vec![group(1, 3, 10)], true);
    let (journal, _) = open(&disk).unwrap();
    let outcome = journal.replay(Position(2), |_| Ok::<(), String>(()));
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "position 2 lies inside a group"
    );
}

#[test]
fn appending_goes_on_where_a_restart_found_the_end() {
    let groups = long_history();
    let mut disk = FaultyDisk::new(3);
    for (index, group) in groups.iter().enumerate() {
        let (mut journal, report) = open(&disk).unwrap();
        assert_eq!(report.groups, index as u64);
        assert_eq!(report.created, index == 0);
        commit(&mut journal, group).unwrap();
        match index % 3 {
            0 => journal.close().unwrap(),
            1 => disk.kill(),
            _ => disk.crash(),
        }
    }
    let (journal, _) = open(&disk).unwrap();
    assert_eq!(history(&journal), groups);
}

#[test]
fn a_second_opener_is_turned_away_until_the_first_has_gone() {
    let disk = disk_with(&vec![], true);
    let (first, _) = open(&disk).unwrap();
    assert!(matches!(open(&disk), Err(OpenError::Locked)));
    drop(first);
    assert!(open(&disk).is_ok());
}

#[test]
fn the_same_seed_gives_the_same_disk() {
    let run = || {
        let mut disk = FaultyDisk::new(11);
        let (mut journal, _) = open(&disk).unwrap();
        for group in long_history() {
            commit(&mut journal, &group).unwrap();
        }
        disk.crash();
        let mut names = disk.list().unwrap();
        names.sort();
        let files: Vec<_> = names.iter().map(|name| disk.contents(name)).collect();
        (names, files, disk.operations())
    };
    assert_eq!(run(), run());
}
