//! Snapshots: whole or not there, two of them, and the journal kept back to the older one.

use turnstile_journal::snapshot::{self, Draft, Rotten, Title};
use turnstile_journal::{
    Disk, Fault, FaultyDisk, Journal, Log, OpenError, ReplayError, Retired, replay, retire,
};
use turnstile_types::{Position, Sink, Timestamp};

use crate::{commit, disk_with, group, history, long_history, open};

fn state(position: Position) -> Vec<u8> {
    (0..position.0 * 100).flat_map(u64::to_le_bytes).collect()
}

fn take<D: Disk>(
    disk: &D,
    journal: u64,
    position: Position,
) -> Result<Title, snapshot::WriteError> {
    let mut draft = Draft::begin(disk.clone(), journal, position, Timestamp(position.0));
    for piece in state(position).chunks(777) {
        draft.put(piece);
    }
    draft.finish(u128::from(position.0) << 64 | 5)
}

fn newest(disk: &FaultyDisk, journal: u64) -> (Option<Position>, usize) {
    let found = snapshot::newest(disk, journal).unwrap();
    let position = found.snapshot.map(|snapshot| {
        assert_eq!(snapshot.state, state(snapshot.title.position));
        assert_eq!(
            snapshot.title.hash,
            u128::from(snapshot.title.position.0) << 64 | 5
        );
        snapshot.title.position
    });
    (position, found.rotten.len())
}

/// A journal with a long history and snapshots after these groups; it stays open.
fn with_snapshots(after_groups: &[usize]) -> (FaultyDisk, Journal<FaultyDisk>, Vec<Position>) {
    let disk = FaultyDisk::new(6);
    let (mut journal, _) = open(&disk).unwrap();
    let mut positions = Vec::new();
    for (index, group) in long_history().iter().enumerate() {
        commit(&mut journal, group).unwrap();
        if after_groups.contains(&(index + 1)) {
            let position = Position(journal.next_position().0 - 1);
            take(&disk, journal.id(), position).unwrap();
            positions.push(position);
        }
    }
    (disk, journal, positions)
}

#[test]
fn the_newest_sound_snapshot_is_found_and_rotten_ones_are_passed_over() {
    let (disk, journal, positions) = with_snapshots(&[5, 10, 15]);
    assert_eq!(newest(&disk, journal.id()), (Some(positions[2]), 0));
    let name = format!("snapshot-{:020}", positions[2].0);
    disk.flip(&name, 5_000);
    assert_eq!(newest(&disk, journal.id()), (Some(positions[1]), 1));
    let name = format!("snapshot-{:020}", positions[1].0);
    disk.flip(&name, 100);
    assert_eq!(newest(&disk, journal.id()), (Some(positions[0]), 2));
    assert_eq!(newest(&disk, 1), (None, 3), "of another journal");
}

#[test]
fn every_flipped_bit_of_a_snapshot_is_noticed() {
    let disk = FaultyDisk::new(6);
    take(&disk, 9, Position(1)).unwrap();
    let name = "snapshot-00000000000000000001";
    for bit in 0..disk.contents(name).len() as u64 * 8 {
        disk.flip(name, bit);
        let found = snapshot::newest(&disk, 9).unwrap();
        assert!(found.snapshot.is_none(), "bit {bit}");
        disk.flip(name, bit);
    }
    assert_eq!(newest(&disk, 9), (Some(Position(1)), 0));
}

#[test]
fn retiring_keeps_two_snapshots_and_the_journal_back_to_the_older() {
    let (disk, journal, positions) = with_snapshots(&[8, 20, 22]);
    let retired = retire(&disk, journal.id()).unwrap();
    assert_eq!(
        retired,
        Retired {
            snapshots: 1,
            segments: 3
        }
    );
    let all = history_after(&journal, positions[1]);
    assert_eq!(all, long_history()[20..].concat());
    let gap = journal.replay(positions[0], |_| Ok::<(), String>(()));
    assert!(matches!(gap, Err(ReplayError::Gap { wanted, .. }) if wanted == positions[0].next()));
    assert_eq!(retire(&disk, journal.id()).unwrap(), Retired::default());

    journal.close().unwrap();
    let (journal, report) = open(&disk).unwrap();
    assert!(report.clean && report.groups < 24);
    assert_eq!(
        history_after(&journal, positions[2]),
        long_history()[22..].concat()
    );
}

fn history_after(journal: &Journal<FaultyDisk>, after: Position) -> Vec<Vec<u8>> {
    let mut payloads = Vec::new();
    journal
        .replay(after, |group| {
            payloads.extend(group.records().map(|record| record.payload.to_vec()));
            Ok::<(), String>(())
        })
        .unwrap();
    payloads
}

#[test]
fn nothing_is_retired_while_the_second_snapshot_is_rotten() {
    let (disk, journal, positions) = with_snapshots(&[20, 22]);
    disk.flip(&format!("snapshot-{:020}", positions[0].0), 4_000);
    assert_eq!(retire(&disk, journal.id()).unwrap(), Retired::default());
    assert_eq!(history(&journal), long_history());
}

#[test]
fn a_reader_beside_the_writer_sees_what_was_durable() {
    let disk = FaultyDisk::new(6);
    let (mut journal, _) = open(&disk).unwrap();
    let mut last = Position(0);
    for (index, group) in long_history().iter().enumerate() {
        commit(&mut journal, group).unwrap();
        let end = Position(journal.next_position().0 - 1);
        let mut seen = Vec::new();
        replay(&disk, last, end, |group| {
            seen.extend(group.records().map(|record| record.payload.to_vec()));
            Ok::<(), String>(())
        })
        .unwrap();
        assert_eq!(&seen, group, "group {index}");
        last = end;
    }
    let beyond = replay(&disk, last, Position(last.0 + 1), |_| Ok::<(), String>(()));
    assert!(matches!(beyond, Err(ReplayError::Corrupt { .. })));
}

#[test]
fn a_journal_that_ends_before_its_snapshot_is_refused() {
    let disk = disk_with(&vec![group(1, 1, 10)], true);
    let (journal, _) = open(&disk).unwrap();
    take(&disk, journal.id(), Position(7)).unwrap();
    drop(journal);
    assert!(matches!(
        open(&disk),
        Err(OpenError::Behind {
            last: Position(1),
            snapshot: Position(7)
        })
    ));
}

#[test]
fn a_power_cut_at_any_step_of_snapshot_and_retirement_leaves_a_way_to_start() {
    let mut cut = 0;
    for operation in 0.. {
        let (mut disk, journal, positions) = with_snapshots(&[8, 20]);
        disk.inject(Fault::PowerCut, operation);
        let last = Position(journal.next_position().0 - 1);
        let taken = take(&disk, journal.id(), last);
        let retired = taken.is_ok().then(|| retire(&disk, journal.id()));
        disk.crash();
        let (journal, _) = open(&disk).unwrap();
        let (found, rotten) = newest(&disk, journal.id());
        assert_eq!(rotten, 0);
        let found = found.unwrap();
        assert!(
            found == positions[1] || found == last,
            "operation {operation}"
        );
        assert!(taken.is_err() || found == last, "a finished snapshot stays");
        let older = positions[1];
        assert_eq!(
            history_after(&journal, older),
            long_history()[20..].concat()
        );
        if matches!(retired, Some(Ok(_))) {
            break;
        }
        cut += 1;
    }
    assert!(cut > 20, "the power was cut at {cut} operations");
}

#[test]
fn a_snapshot_on_a_full_or_failing_disk_is_an_error_and_no_snapshot() {
    let (disk, mut journal, positions) = with_snapshots(&[8]);
    let last = Position(journal.next_position().0 - 1);
    disk.limit(Some(0));
    assert!(matches!(
        take(&disk, journal.id(), last),
        Err(snapshot::WriteError::Io(_))
    ));
    disk.limit(None);
    for fault in [Fault::WriteError, Fault::SyncError, Fault::DirectoryError] {
        disk.inject(fault, 0);
        assert!(take(&disk, journal.id(), last).is_err(), "{fault:?}");
    }
    // The last page that was written is not where it should be.
    disk.inject(Fault::LostWrite, 0);
    let error = take(&disk, journal.id(), last).unwrap_err();
    assert!(
        matches!(error, snapshot::WriteError::Verify(Rotten::Foreign)),
        "{error}"
    );
    commit(&mut journal, &group(1, 1, 10)).unwrap();
    assert_eq!(newest(&disk, journal.id()).0, Some(positions[0]));
}
