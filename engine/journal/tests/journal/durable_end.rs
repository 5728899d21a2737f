//! The durable mark: what was acknowledged is missed when it is gone, and nothing else is.

use turnstile_journal::{
    Chores, Disk, FaultyDisk, Journal, Log, OpenError, Options, Progress, acknowledged, inspect,
    replay,
};
use turnstile_types::Position;

use crate::{History, OPTIONS, build, commit, disk_with, group, history, long_history, open};

const MARK: &str = "durable-end";
const SEGMENT: &str = "segment-00000001";
const PAGE: usize = 4_096;

/// A disk with these groups, closed cleanly or killed.
fn stopped(groups: &History, is_closed: bool) -> FaultyDisk {
    let mut disk = disk_with(groups, is_closed);
    disk.kill();
    disk
}

/// The seal of a clean stop lay in the same page as the tail that it proves: where that page was
/// zeroed at rest, acknowledged groups were gone, and the journal opened without a word.
#[test]
fn a_page_of_zeros_never_takes_an_acknowledged_group_in_silence() {
    let mut refused = 0;
    for last_bytes in (1..PAGE).step_by(97) {
        let groups = vec![
            group(1, 2, 300),
            group(2, 1, 2_500),
            group(3, 1, last_bytes),
        ];
        for is_closed in [true, false] {
            let used = stopped(&groups, is_closed).contents(SEGMENT);
            let used = used.iter().rposition(|&byte| byte != 0).unwrap();
            for page in 1..=used / PAGE {
                let disk = stopped(&groups, is_closed);
                disk.overwrite(SEGMENT, (page * PAGE) as u64, &[0; PAGE]);
                match open(&disk) {
                    Ok((journal, _)) => assert_eq!(history(&journal), groups),
                    Err(OpenError::Lost { .. } | OpenError::Corrupt { .. }) => refused += 1,
                    Err(other) => panic!("{last_bytes}, page {page}: {other}"),
                }
            }
        }
    }
    assert!(refused > 80, "{refused}");
}

#[test]
fn every_flipped_bit_of_the_last_group_of_a_killed_server_is_refused() {
    let groups = vec![group(1, 1, 30), group(2, 2, 20)];
    let first = stopped(&groups[..1].to_vec(), false).contents(SEGMENT);
    let both = stopped(&groups, false).contents(SEGMENT);
    let used = |bytes: &[u8]| bytes.iter().rposition(|&byte| byte != 0).unwrap() as u64 + 1;
    // The payload of the first group ends with a zero.
    for bit in (used(&first) + 1) * 8..used(&both) * 8 {
        let disk = stopped(&groups, false);
        disk.flip(SEGMENT, bit);
        match open(&disk) {
            Err(OpenError::Lost {
                last, acknowledged, ..
            }) => assert_eq!((last, acknowledged), (Position(1), Position(3))),
            other => panic!("bit {bit}: {other:?}"),
        }
    }
}

#[test]
fn a_loss_is_accepted_at_its_own_position_only() {
    let groups = long_history();
    let last = Position(groups.iter().map(Vec::len).sum::<usize>() as u64);
    let kept = Position(last.0 - groups[23].len() as u64);
    let disk = stopped(&groups, false);
    let (newest, used) = newest_segment(&disk);
    disk.overwrite(&newest, used as u64, &[0]);
    let accepting = |accept_loss| {
        Journal::open(
            disk.clone(),
            Options {
                accept_loss,
                ..OPTIONS
            },
        )
    };
    let before = disk.contents(&newest);
    for wrong in [None, Some(Position(kept.0 - 1)), Some(last)] {
        match accepting(wrong) {
            Err(refusal @ OpenError::Lost { .. }) => {
                let hint = format!("--accept-loss {kept} to give up");
                assert!(refusal.to_string().contains(&hint), "{refusal}");
            }
            other => panic!("{wrong:?}: {other:?}"),
        }
        assert_eq!(disk.contents(&newest), before, "nothing was changed");
    }
    let (mut journal, report) = accepting(Some(kept)).unwrap();
    assert_eq!((report.last, report.lost), (kept, last.0 - kept.0));
    assert_eq!(history(&journal), groups[..23]);
    commit(&mut journal, &group(99, 1, 10)).unwrap();
    drop(journal);
    let (_, report) = open(&disk).unwrap();
    assert_eq!((report.acknowledged, report.lost), (Some(kept.next()), 0));
}

/// The newest segment with groups, and where its last byte lies that is not zero.
fn newest_segment(disk: &FaultyDisk) -> (String, usize) {
    let mut names = disk.list().unwrap();
    names.retain(|name| name.starts_with("segment-"));
    names.sort();
    let used = |name: String| {
        let bytes = disk.contents(&name);
        let last = bytes.iter().rposition(|&byte| byte != 0)?;
        (last >= PAGE).then_some((name, last))
    };
    names.into_iter().rev().find_map(used).unwrap()
}

#[test]
fn damage_in_the_middle_is_given_up_when_its_position_is_accepted() {
    let groups = vec![group(1, 2, 30), group(2, 1, 20), group(3, 3, 30)];
    let disk = stopped(&groups, true);
    let second = stopped(&groups[..1].to_vec(), false).contents(SEGMENT);
    let second = second.iter().rposition(|&byte| byte != 0).unwrap() as u64 + 1;
    disk.flip(SEGMENT, (second + 70) * 8);
    assert!(matches!(open(&disk), Err(OpenError::Corrupt { .. })));
    let accept_loss = Some(Position(2));
    let accepted = Options {
        accept_loss,
        ..OPTIONS
    };
    let (journal, report) = Journal::open(disk, accepted).unwrap();
    assert_eq!((report.last, report.lost), (Position(2), 4));
    assert_eq!(history(&journal), groups[..1]);
}

#[test]
fn a_damaged_or_missing_mark_says_nothing() {
    let groups = vec![group(1, 1, 30), group(2, 2, 20)];
    let mark = stopped(&groups, false).contents(MARK);
    assert_eq!(mark.len(), 2 * PAGE);
    for bit in (0..32 * 8).chain(PAGE as u64 * 8..(PAGE as u64 + 32) * 8) {
        let disk = stopped(&groups, false);
        disk.flip(MARK, bit);
        assert_eq!(history(&open(&disk).unwrap().0), groups, "bit {bit}");
    }
    let without = stopped(&groups, false);
    without.remove(MARK).unwrap();
    let (journal, report) = open(&without).unwrap();
    assert_eq!((history(&journal), report.acknowledged), (groups, None));
    drop(journal);
    assert_eq!(open(&without).unwrap().1.acknowledged, Some(Position(3)));
}

#[test]
fn one_sound_slot_of_the_mark_is_enough_to_miss_all_groups_but_the_last() {
    let groups = vec![group(1, 1, 30), group(2, 1, 20), group(3, 1, 20)];
    for slot in 0..2 {
        let disk = stopped(&groups, false);
        disk.overwrite(MARK, slot * PAGE as u64, &[0; 64]);
        disk.overwrite(SEGMENT, PAGE as u64, &[0; PAGE]);
        match open(&disk) {
            Err(OpenError::Lost { acknowledged, .. }) => assert!(acknowledged >= Position(2)),
            other => panic!("slot {slot}: {other:?}"),
        }
    }
}

#[test]
fn the_mark_of_another_journal_says_nothing() {
    let many = stopped(&vec![group(1, 9, 30)], false);
    let mut other = FaultyDisk::new(8);
    let (mut journal, _) = open(&other).unwrap();
    commit(&mut journal, &group(1, 1, 30)).unwrap();
    other.kill();
    other.overwrite(MARK, 0, &many.contents(MARK));
    let (_, report) = open(&other).unwrap();
    assert_eq!((report.last, report.acknowledged), (Position(1), None));
}

/// The byte map of `docs/formats/journal.md`, by hand.
#[test]
fn a_mark_of_version_1_is_read_and_written_and_another_version_is_refused() {
    let mut slot = b"TSDE".to_vec();
    slot.extend_from_slice(&1_u16.to_le_bytes());
    slot.extend_from_slice(&open(&FaultyDisk::new(7)).unwrap().0.id().to_le_bytes());
    slot.extend_from_slice(&3_u64.to_le_bytes());
    slot.extend_from_slice(&crc32c::crc32c(&slot).to_le_bytes());
    let groups = vec![group(1, 1, 30), group(2, 2, 20)];
    let disk = stopped(&groups, true);
    assert_eq!(disk.contents(MARK)[..slot.len()], slot);

    slot[4] = 2;
    let covered = slot.len() - 4;
    let checksum = crc32c::crc32c(&slot[..covered]);
    slot[covered..].copy_from_slice(&checksum.to_le_bytes());
    disk.overwrite(MARK, 0, &slot);
    match open(&disk) {
        Err(OpenError::Version { file, version, .. }) => assert_eq!((&*file, version), (MARK, 2)),
        other => panic!("{other:?}"),
    }
}

/// The journal went on where a disk had no room for a file of eight kilobytes.
#[test]
fn a_full_disk_leaves_the_journal_without_a_mark_and_no_worse() {
    let groups = vec![group(1, 1, 30)];
    let disk = stopped(&groups, true);
    disk.remove(MARK).unwrap();
    disk.limit(Some(0));
    let (mut journal, _) = open(&disk).unwrap();
    commit(&mut journal, &group(2, 1, 30)).unwrap();
    journal.close().unwrap();
    disk.limit(None);
    let (_, report) = open(&disk).unwrap();
    assert_eq!((report.last, report.acknowledged), (Position(2), None));
}

#[test]
fn a_group_that_another_thread_carried_is_marked_before_it_is_called_durable() {
    for chores in [Chores::Inline, Chores::Background] {
        let disk = FaultyDisk::new(3);
        let options = Options { chores, ..OPTIONS };
        let (mut journal, _) = Journal::open(disk.clone(), options).unwrap();
        build(&mut journal, &group(1, 2, 30));
        journal.submit().unwrap();
        journal.await_settled();
        assert!(matches!(journal.settle(), Ok(Progress::Durable { .. })));
        drop(journal);
        disk.overwrite(SEGMENT, PAGE as u64, &[0; PAGE]);
        match inspect(&disk) {
            Err(OpenError::Lost { acknowledged, .. }) => assert_eq!(acknowledged, Position(2)),
            other => panic!("{chores:?}: {:?}", other.map(drop)),
        }
    }
}

#[test]
fn what_a_live_journal_has_acknowledged_is_known_and_read_without_its_lock() {
    let disk = FaultyDisk::new(7);
    assert_eq!(acknowledged(&disk).unwrap(), None);
    let (mut journal, _) = open(&disk).unwrap();
    let groups = long_history();
    for (at, group) in groups.iter().enumerate() {
        commit(&mut journal, group).unwrap();
        let last = Position(journal.next_position().0 - 1);
        assert_eq!(acknowledged(&disk).unwrap(), Some((journal.id(), last)));
        let mut read = History::new();
        let each = |group: &turnstile_record::Group<'_>| {
            let records = group.records();
            read.push(records.map(|record| record.payload.to_vec()).collect());
            Ok::<(), String>(())
        };
        replay(&disk, Position(0), last, each).unwrap();
        assert_eq!(read, groups[..=at]);
    }
    // Records that nobody has acknowledged do not count.
    let before = acknowledged(&disk).unwrap();
    build(&mut journal, &group(9, 2, 10));
    assert_eq!(acknowledged(&disk).unwrap(), before);
}
