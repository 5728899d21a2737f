//! Copies of a journal: piece by piece, over disks that fail, and of journals that are written meanwhile.

use turnstile_journal::snapshot::Draft;
use turnstile_journal::{
    CopiedBytes, CopyBreak, CopyCursor, CopyError, Durability, Fault, FaultyDisk, Journal,
    JournalCopy, JournalReadError, JournalReader, Log, Options, acknowledged, retire,
};
use turnstile_record::Broken;
use turnstile_types::{Position, Sink as _, Timestamp};

use crate::{History, OPTIONS, commit, disk_with, group, history, long_history, open};

/// All pieces of a disk after the first byte, from its first segment on.
fn pieces(disk: &FaultyDisk, last: Position) -> Vec<u8> {
    let mut reader = JournalReader::open(disk.clone(), Position(0)).unwrap();
    let mut out = Vec::new();
    reader.ship(last, usize::MAX, &mut out).unwrap();
    out
}

fn last(groups: &History) -> Position {
    Position(groups.iter().map(Vec::len).sum::<usize>() as u64)
}

/// Copies what is missing, some groups at a time.
fn copy(from: &FaultyDisk, to: &FaultyDisk, upto: Position) -> Result<Position, String> {
    copy_by(3_000, from, to, upto)
}

/// Copies what is missing, this number of bytes at a time, and one piece more.
fn copy_by(
    length: usize,
    from: &FaultyDisk,
    to: &FaultyDisk,
    upto: Position,
) -> Result<Position, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let mut copy = JournalCopy::open(to.clone()).map_err(|error| text(&error))?;
    while copy.cursor().position() < upto {
        let mut reader = match copy.cursor().end() {
            None => JournalReader::open(from.clone(), Position(0)),
            Some(end) => {
                let after = copy.cursor().position();
                JournalReader::at(from.clone(), end.segment, end.offset, after)
            }
        }
        .unwrap();
        let mut bytes = Vec::new();
        reader.ship(upto, length, &mut bytes).unwrap();
        copy.put_whole(&bytes).map_err(|error| text(&error))?;
    }
    Ok(copy.cursor().position())
}

#[test]
fn a_copy_has_the_same_groups_and_a_journal_goes_on_in_it() {
    for is_closed in [false, true] {
        let groups = long_history();
        let disk = disk_with(&groups, is_closed);
        let to = FaultyDisk::new(8);
        assert_eq!(copy(&disk, &to, last(&groups)), Ok(last(&groups)));
        let (mut journal, report) = open(&to).unwrap();
        assert_eq!((history(&journal), report.cut_bytes), (groups, 0));
        commit(&mut journal, &group(99, 1, 10)).unwrap();
    }
}

/// What was synced before the power cut is there; the copy goes on and becomes the same.
#[test]
fn a_copy_that_loses_power_at_any_operation_goes_on() {
    let groups = long_history();
    let disk = disk_with(&groups, true);
    for seed in 0..3 {
        for operation in 0.. {
            let mut to = FaultyDisk::new(seed);
            to.inject(Fault::PowerCut, operation);
            let outcome = copy(&disk, &to, last(&groups));
            let is_whole = !to.has_struck();
            to.crash();
            if is_whole {
                assert_eq!(outcome, Ok(last(&groups)));
                break;
            }
            let again = copy(&disk, &to, last(&groups));
            assert_eq!(
                again,
                Ok(last(&groups)),
                "seed {seed}, operation {operation}"
            );
            let (journal, _) = open(&to).unwrap();
            assert_eq!(
                history(&journal),
                groups,
                "seed {seed}, operation {operation}"
            );
        }
    }
}

#[test]
fn what_was_synced_survives_a_power_cut() {
    let groups = long_history();
    let disk = disk_with(&groups, false);
    for seed in 0..20 {
        let mut to = FaultyDisk::new(seed);
        let half = last(&groups[..12].to_vec());
        copy(&disk, &to, half).unwrap();
        to.crash();
        let (journal, report) = open(&to).unwrap();
        assert_eq!(history(&journal), groups[..12], "seed {seed}");
        // The mark is not synced: it may be older, and never younger.
        assert!(report.acknowledged <= Some(half), "{report:?}");
    }
}

/// The file of pending pieces may name a segment that is not there any more: that the pieces are in their
/// places need not be durable.
#[test]
fn a_copy_opens_after_a_power_cut_behind_the_removal_of_segments() {
    let groups = long_history();
    let disk = disk_with(&groups, true);
    // The last segment of these begins before the older snapshot ends.
    let upto = last(&groups[..22].to_vec());
    for seed in 0..20 {
        let mut to = FaultyDisk::new(seed);
        // One group, after the head of a segment if it begins one.
        copy_by(100, &disk, &to, upto).unwrap();
        let journal = turnstile_journal::journal_id(&to).unwrap().unwrap();
        for count in [20, 22] {
            let position = last(&groups[..count].to_vec());
            let mut draft = Draft::begin(to.clone(), journal, position, Timestamp(1));
            draft.put(b"the state");
            draft.finish(1).unwrap();
        }
        assert_eq!(retire(&to, journal).unwrap().segments, 3);
        to.crash();
        let opened = JournalCopy::open(to.clone());
        let copied = opened.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(copied.cursor().position(), upto, "seed {seed}");
        drop(copied);
        assert_eq!(open(&to).unwrap().1.last, upto, "seed {seed}");
    }
}

#[test]
fn an_unwanted_group_ends_a_copy_and_is_not_in_it() {
    let groups = long_history();
    let disk = disk_with(&groups, true);
    let bytes = pieces(&disk, last(&groups));
    let to = FaultyDisk::new(8);
    let mut copy = JournalCopy::open(to.clone()).unwrap();
    let until = last(&groups[..15].to_vec());
    let CopiedBytes { is_whole, bytes } = copy
        .put(&bytes, |group| group.end().0 - 1 <= until.0)
        .unwrap();
    assert!(!is_whole && bytes > 0);
    copy.sync().unwrap();
    drop(copy);
    let (journal, _) = open(&to).unwrap();
    assert_eq!(history(&journal), groups[..15]);
}

#[test]
fn every_flipped_bit_of_the_pieces_stops_a_copy() {
    let groups: History = (1..=3).map(|seed| group(seed, 2, 20)).collect();
    let disk = disk_with(&groups, true);
    let sound = pieces(&disk, last(&groups));
    for bit in 0..sound.len() * 8 {
        let mut bytes = sound.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let mut cursor = CopyCursor::default();
        let mut rest = &bytes[..];
        let outcome = loop {
            match cursor.take(&mut rest) {
                Ok(None) => break Ok(()),
                Ok(Some(_)) => {}
                Err(broken) => break Err(broken),
            }
        };
        // A longer group than there are bytes for is waited for, and does not come.
        let is_stopped = outcome.is_err() || cursor.position() < last(&groups);
        assert!(is_stopped, "bit {bit}: {outcome:?}");
    }
}

#[test]
fn what_does_not_follow_is_refused() {
    let groups = long_history();
    let disk = disk_with(&groups, true);
    let to = FaultyDisk::new(8);
    copy(&disk, &to, last(&groups[..4].to_vec())).unwrap();
    let mut copied = JournalCopy::open(to).unwrap();
    let end = copied.cursor().end().unwrap();

    let other = disk_with(&vec![group(1, 1, 10)], true);
    let mut damaged = pieces(&other, Position(1));
    damaged[6] ^= 1;
    let outcome = copied.put(&damaged, |_group| true);
    assert!(
        matches!(outcome, Err(CopyError::Break(CopyBreak::Head))),
        "{outcome:?}"
    );

    // A gap: the group after the next.
    let mut reader = JournalReader::at(disk, end.segment, end.offset, Position(0)).unwrap();
    let mut bytes = Vec::new();
    let next = groups[4].len() as u64 + last(&groups[..4].to_vec()).0;
    reader.next(Position(next)).unwrap();
    reader.ship(last(&groups), 1, &mut bytes).unwrap();
    let outcome = copied.put(&bytes, |_group| true);
    assert!(
        matches!(
            outcome,
            Err(CopyError::Break(CopyBreak::Group {
                broken: Broken::Place { .. } | Broken::Position { .. },
                ..
            }))
        ),
        "{outcome:?}"
    );
}

#[test]
fn a_reader_goes_on_as_a_journal_is_written() {
    for durability in [Durability::Sync, Durability::Os] {
        let disk = FaultyDisk::new(4);
        let options = Options {
            durability,
            ..OPTIONS
        };
        let (mut journal, _) = Journal::open(disk.clone(), options).unwrap();
        let groups = long_history();
        commit(&mut journal, &groups[0]).unwrap();
        let mut reader = JournalReader::open(disk.clone(), Position(0)).unwrap();
        let mut seen = Vec::new();
        let mut position = 0;
        for group in &groups[1..] {
            position = journal.next_position().0 - 1;
            while let Some(group) = reader.next(Position(position)).unwrap() {
                seen.push(group.end().0 - 1);
            }
            assert_eq!(seen.last(), Some(&position));
            assert_eq!(reader.position(), Position(position));
            commit(&mut journal, group).unwrap();
        }
        assert!(seen.is_sorted() && position > 20);
        commit(&mut journal, &group(99, 1, 10)).unwrap();
        assert_eq!(
            reader.is_unsynced_ahead().unwrap(),
            durability == Durability::Os
        );
        let ahead = reader.next(JournalReader::<FaultyDisk>::END).unwrap();
        assert!(ahead.is_some(), "looking ahead moves nothing");
    }
}

#[test]
fn what_a_journal_has_acknowledged_can_be_told_while_it_is_open() {
    for durability in [Durability::Sync, Durability::Os] {
        let mut disk = FaultyDisk::new(4);
        let options = Options {
            durability,
            ..OPTIONS
        };
        for start in 0..3 {
            let (mut journal, _) = Journal::open(disk.clone(), options).unwrap();
            for group in &long_history()[..start + 1] {
                commit(&mut journal, group).unwrap();
                let last = Position(journal.next_position().0 - 1);
                assert_eq!(readable(&disk), last, "{durability:?}, start {start}");
            }
            drop(journal);
            disk.kill();
        }
    }
}

/// How far a directory can be read beside its journal.
fn readable(disk: &FaultyDisk) -> Position {
    let (_journal, acknowledged) = acknowledged(disk).unwrap().unwrap();
    let mut reader = JournalReader::open(disk.clone(), Position(0)).unwrap();
    while reader.next(acknowledged).unwrap().is_some() {}
    if reader.is_unsynced_ahead().unwrap() {
        while reader
            .next(JournalReader::<FaultyDisk>::END)
            .unwrap()
            .is_some()
        {}
    }
    reader.position()
}

#[test]
fn a_position_that_is_not_there_is_damage_and_one_inside_a_group_is_refused() {
    let groups = vec![group(1, 3, 10)];
    let disk = disk_with(&groups, true);
    let mut reader = JournalReader::open(disk.clone(), Position(0)).unwrap();
    let inside = reader.next(Position(2)).map(|group| group.is_some());
    assert!(
        matches!(inside, Err(JournalReadError::Inside(_))),
        "{inside:?}"
    );
    let mut reader = JournalReader::open(disk, Position(0)).unwrap();
    let mut outcome = Ok(());
    while outcome.is_ok() {
        outcome = match reader.next(Position(9)) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => break,
            Err(error) => Err(error),
        };
    }
    assert!(
        matches!(outcome, Err(JournalReadError::Corrupt { .. })),
        "{outcome:?}"
    );
}
