//! A real directory that fails when it is ordered to.

use std::path::Path;

use turnstile_journal::{
    Chores, CommitError, Disk, DiskFile, Durability, Journal, Log, Options, RealDisk, Report, Room,
    Trouble,
};

use crate::{History, commit, history, long_history};

/// Files stay as they were made: each test orders its own trouble for as long as it runs.
fn trouble() -> &'static Trouble {
    Box::leak(Box::new(Trouble::new()))
}

fn open(directory: &Path, by: Option<&'static Trouble>) -> (Journal<RealDisk>, Report) {
    let disk = RealDisk::open(directory).unwrap().direct().troubled(by);
    let options = Options {
        segment_bytes: 16_384,
        durability: Durability::Sync,
        chores: Chores::Background,
        accept_loss: None,
    };
    Journal::open(disk, options).unwrap()
}

/// What a journal that is opened again has, when all was acknowledged up to a group that was not.
fn reopened(directory: &Path) -> History {
    history(&open(directory, None).0)
}

#[test]
fn a_sync_that_is_ordered_to_fail_is_final_and_takes_nothing_that_was_acknowledged() {
    let groups = long_history();
    let mut lost = 0;
    for nth in 1..=20 {
        let directory = tempfile::tempdir().unwrap();
        let trouble = trouble();
        let (mut journal, _) = open(directory.path(), Some(trouble));
        trouble.fail_sync(nth);
        let mut acked = History::new();
        let failure = groups.iter().find_map(|group| {
            let failure = commit(&mut journal, group).err();
            failure.is_none().then(|| acked.push(group.clone()));
            failure
        });
        assert!(matches!(failure, Some(CommitError::Sync(_))), "{failure:?}");
        // One group is one sync, and what makes a new segment whole is not counted.
        assert_eq!(acked.len() + 1, usize::try_from(nth).unwrap());
        assert!(matches!(journal.commit(), Err(CommitError::Poisoned)));
        drop(journal);
        let found = reopened(directory.path());
        assert!(groups.starts_with(&found) && found.len() >= acked.len());
        lost += usize::from(found.len() == acked.len());
    }
    assert!(lost > 5, "of 20 groups that failed {lost} were gone");
}

/// Whoever believes such a disk acknowledges what is lost: a check of promises must find that.
#[test]
fn syncs_that_lose_without_a_word_leave_what_was_synced_before() {
    let groups = long_history();
    let directory = tempfile::tempdir().unwrap();
    let trouble = trouble();
    let (mut journal, _) = open(directory.path(), Some(trouble));
    trouble.lose_sync(6);
    for group in &groups {
        commit(&mut journal, group).unwrap();
    }
    drop(journal);
    assert_eq!(reopened(directory.path()), groups[..5]);
}

#[test]
fn a_disk_that_is_full_for_a_while_refuses_records_and_then_takes_them() {
    let groups = long_history();
    let directory = tempfile::tempdir().unwrap();
    let trouble = trouble();
    let (mut journal, _) = open(directory.path(), Some(trouble));
    trouble.fill(true);
    let fits = |journal: &mut Journal<RealDisk>| journal.room(4_000) == Room::Fits;
    let mut taken = History::new();
    for group in groups.iter().cycle() {
        if !fits(&mut journal) {
            break;
        }
        commit(&mut journal, group).unwrap();
        taken.push(group.clone());
    }
    assert!(taken.len() > 3, "the segments that are there are filled");
    trouble.fill(false);
    while !fits(&mut journal) {
        std::thread::yield_now();
    }
    commit(&mut journal, &groups[0]).unwrap();
    taken.push(groups[0].clone());
    drop(journal);
    assert_eq!(reopened(directory.path()), taken);
}

#[test]
fn a_full_disk_has_room_within_files_and_none_beyond() {
    let directory = tempfile::tempdir().unwrap();
    let trouble = trouble();
    let disk = RealDisk::open(directory.path()).unwrap();
    let disk = disk.troubled(Some(trouble));
    let file = disk.create("file", 100).unwrap();
    trouble.fill(true);
    file.write_at(b"within", 94).unwrap();
    let full = std::io::ErrorKind::StorageFull;
    assert_eq!(file.write_at(b"beyond", 95).unwrap_err().kind(), full);
    assert_eq!(disk.create("other", 0).unwrap_err().kind(), full);
    assert_eq!(disk.list().unwrap(), ["file"]);
    trouble.fill(false);
    file.write_at(b"beyond", 95).unwrap();
    assert_eq!(file.size().unwrap(), 101);
}
