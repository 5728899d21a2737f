//! The same journal in a directory of the operating system.

use std::fs;

use turnstile_journal::snapshot::{self, Draft};
use turnstile_journal::{
    Chores, Disk, DiskFile, Durability, Journal, Log, OpenError, Options, RealDisk, retire,
};
use turnstile_seed::Random;
use turnstile_types::{Position, Sink};

use crate::{commit, history, long_history};

const OPTIONS: Options = Options {
    segment_bytes: 16_384,
    durability: Durability::Sync,
    chores: Chores::Background,
    accept_loss: None,
};

#[test]
fn groups_survive_the_end_of_a_journal_that_was_closed_or_not() {
    for durability in [Durability::Sync, Durability::Os] {
        let directory = tempfile::tempdir().unwrap();
        let mut disk = RealDisk::open(directory.path().join("data")).unwrap();
        if durability == Durability::Sync {
            disk = disk.direct();
        }
        let options = Options {
            durability,
            ..OPTIONS
        };
        let groups = long_history();
        let (mut journal, report) = Journal::open(disk.clone(), options).unwrap();
        assert!(report.created);
        for group in &groups[..20] {
            commit(&mut journal, group).unwrap();
        }
        drop(journal);
        let (mut journal, report) = Journal::open(disk.clone(), options).unwrap();
        assert_eq!(
            (report.groups, report.clean, report.cut_bytes),
            (20, false, 0)
        );
        for group in &groups[20..] {
            commit(&mut journal, group).unwrap();
        }
        assert!(matches!(
            Journal::open(disk.clone(), options),
            Err(OpenError::Locked)
        ));
        journal.close().unwrap();
        let (journal, report) = Journal::open(disk, options).unwrap();
        assert_eq!((history(&journal), report.clean), (groups, true));
    }
}

#[test]
fn segments_are_as_long_as_they_say_and_filled_with_zeros() {
    let directory = tempfile::tempdir().unwrap();
    let disk = RealDisk::open(directory.path()).unwrap();
    for disk in [disk.clone(), disk.direct()] {
        let file = disk.create("zeros", 3_000_000).unwrap();
        assert_eq!(file.size().unwrap(), 3_000_000);
        let bytes = fs::read(directory.path().join("zeros")).unwrap();
        assert!(bytes.len() == 3_000_000 && bytes.iter().all(|&byte| byte == 0));
        file.write_at(b"behind", 3_000_000).unwrap();
        file.sync_data().unwrap();
        file.forget_cache().unwrap();
        let mut tail = [0; 6];
        file.read_at(&mut tail, 3_000_000).unwrap();
        assert_eq!(&tail, b"behind");
        assert!(file.read_at(&mut tail, 3_000_001).is_err());
    }
}

#[test]
fn a_file_holds_what_was_written_and_zeros_however_its_writes_follow_each_other() {
    const SIZE: usize = 1 << 20;
    let directory = tempfile::tempdir().unwrap();
    let disk = RealDisk::open(directory.path()).unwrap().direct();
    let mut random = Random::new(7);
    for _ in 0..40 {
        let file = disk.create("file", SIZE as u64).unwrap();
        let mut model = vec![0; SIZE];
        let mut end = 0;
        for step in 1..30 {
            let length = random.pick(&[1, 134, 4_095, 4_096, 9_000, 300_000]);
            let gap = random.pick(&[0, 0, 0, 1, 4_096, 50_000]);
            let offset = if random.one_in(20) {
                end / 2
            } else {
                end + gap
            };
            if offset + length > SIZE {
                break;
            }
            end = offset + length;
            file.write_at(&vec![step; length], offset as u64).unwrap();
            model[offset..end].fill(step);
        }
        file.sync_data().unwrap();
        let mut read = vec![0; SIZE];
        file.read_at(&mut read, 0).unwrap();
        assert!(read == model, "the last write ended at {end}");
    }
}

#[test]
fn snapshots_let_old_segments_go() {
    let directory = tempfile::tempdir().unwrap();
    let disk = RealDisk::open(directory.path()).unwrap();
    let (mut journal, _) = Journal::open(disk.clone(), OPTIONS).unwrap();
    let mut last = Position(0);
    for (index, group) in long_history().iter().enumerate() {
        commit(&mut journal, group).unwrap();
        last = Position(journal.next_position().0 - 1);
        if [14, 19].contains(&index) {
            let time = journal.last_time();
            let mut draft = Draft::begin(disk.clone(), journal.id(), last, time);
            draft.put(b"the state");
            draft.finish(1).unwrap();
        }
    }
    let retired = retire(&disk, journal.id()).unwrap();
    assert_eq!((retired.snapshots, retired.segments), (0, 1));
    assert!(!directory.path().join("segment-00000001").exists());
    let found = snapshot::newest(&disk, journal.id())
        .unwrap()
        .snapshot
        .unwrap();
    assert_eq!(found.state, b"the state");
    let mut records = 0;
    journal
        .replay(found.title.position, |group| {
            records += group.end().0 - group.first().0;
            Ok::<(), String>(())
        })
        .unwrap();
    assert_eq!(records, last.0 - found.title.position.0);
}
