//! Errors of the disk: final where they must be, passing where they may.

use turnstile_journal::{
    Chores, CommitError, Disk, Fault, FaultyDisk, Journal, Log, Options, Room,
};
use turnstile_record::RecordRef;
use turnstile_types::{Author, Principal, Timestamp};

use crate::{History, OPTIONS, commit, group, history, long_history, open};

#[test]
fn a_failed_write_or_sync_is_final() {
    for fault in [Fault::WriteError, Fault::SyncError] {
        let mut disk = FaultyDisk::new(5);
        let (mut journal, _) = open(&disk).unwrap();
        commit(&mut journal, &group(1, 1, 10)).unwrap();
        disk.inject(fault, 0);
        let first = commit(&mut journal, &group(2, 1, 10)).unwrap_err();
        assert!(matches!(
            (fault, first),
            (Fault::WriteError, CommitError::Write(_)) | (Fault::SyncError, CommitError::Sync(_))
        ));
        for _ in 0..3 {
            assert!(matches!(journal.commit(), Err(CommitError::Poisoned)));
        }
        disk.crash();
        let (journal, _) = open(&disk).unwrap();
        let found = history(&journal);
        assert_eq!(found[0], group(1, 1, 10));
        assert!(found.len() == 1 || found[1] == group(2, 1, 10));
    }
}

/// After a failed sync the pages read well and are not on the disk. Recovery serves what it reads,
/// so it must write it again: then the next power cut takes nothing.
#[test]
fn what_recovery_serves_after_a_failed_sync_survives_the_next_power_cut() {
    let last = group(2, 3, 2_000);
    for seed in 0..50 {
        let mut disk = FaultyDisk::new(seed);
        let (mut journal, _) = open(&disk).unwrap();
        commit(&mut journal, &group(1, 1, 10)).unwrap();
        disk.inject(Fault::SyncError, 0);
        commit(&mut journal, &last).unwrap_err();
        disk.kill();
        let (journal, _) = open(&disk).unwrap();
        let served = history(&journal);
        assert_eq!(served.len(), 2, "the cache shows the group");
        disk.crash();
        let (journal, _) = open(&disk).unwrap();
        assert_eq!(history(&journal), served, "seed {seed}");
    }
}

#[test]
fn a_power_cut_at_any_operation_loses_nothing_that_was_acknowledged() {
    let groups = long_history();
    let mut restarted = 0;
    for seed in 0..4 {
        for operation in 0.. {
            let mut disk = FaultyDisk::new(seed);
            disk.inject(Fault::PowerCut, operation);
            let mut acked = History::new();
            let is_whole = run(&disk, &groups, &mut acked).is_some();
            disk.crash();
            // Recovery is cut too, at each of its first operations in turn.
            for second in 0..operation % 40 {
                disk.inject(Fault::PowerCut, second);
                if open(&disk).is_err() {
                    restarted += 1;
                }
                disk.crash();
            }
            let (journal, _) = open(&disk).unwrap();
            let found = history(&journal);
            assert!(
                found.len() >= acked.len() && found.len() <= acked.len() + 1,
                "seed {seed}, operation {operation}: {} of {}",
                found.len(),
                acked.len()
            );
            assert_eq!(found, groups[..found.len()]);
            if is_whole {
                break;
            }
        }
    }
    assert!(
        restarted > 1_000,
        "recovery was interrupted {restarted} times"
    );
}

/// Opens, commits all groups and closes; nothing when the disk failed on the way.
fn run(disk: &FaultyDisk, groups: &History, acked: &mut History) -> Option<()> {
    let (mut journal, _) = open(disk).ok()?;
    for group in groups {
        commit(&mut journal, group).ok()?;
        acked.push(group.clone());
    }
    journal.close().ok()
}

#[test]
fn an_error_at_any_operation_loses_nothing_that_was_acknowledged() {
    let groups = long_history();
    let faults = [
        Fault::WriteError,
        Fault::SyncError,
        Fault::ReadError,
        Fault::DirectoryError,
    ];
    for fault in faults {
        let mut failed = 0;
        for operation in 0..80 {
            let mut disk = FaultyDisk::new(operation);
            disk.inject(fault, operation);
            let mut acked = History::new();
            let _full: Option<()> = run_until_full(&disk, &groups, &mut acked);
            failed += usize::from(acked.len() < groups.len());
            disk.kill();
            let (journal, _) = open(&disk).unwrap();
            let served = history(&journal);
            assert!(served.len() >= acked.len(), "{fault:?} {operation}");
            assert_eq!(served, groups[..served.len()]);
            drop(journal);
            disk.crash();
            let (journal, _) = open(&disk).unwrap();
            assert_eq!(history(&journal), served, "{fault:?} {operation}");
        }
        assert!(failed > 0, "{fault:?} was never felt");
    }
}

/// As [`run`], but stops where the journal has no room.
fn run_until_full(disk: &FaultyDisk, groups: &History, acked: &mut History) -> Option<()> {
    let (mut journal, _) = open(disk).ok()?;
    for group in groups {
        if journal.room(6_000) != Room::Fits {
            return None;
        }
        commit(&mut journal, group).ok()?;
        acked.push(group.clone());
    }
    journal.close().ok()
}

#[test]
fn a_full_disk_refuses_records_and_takes_them_again_when_there_is_space() {
    for chores in [Chores::Inline, Chores::Background] {
        let options = Options { chores, ..OPTIONS };
        let disk = FaultyDisk::new(2);
        // Room for two segments, the durable mark and a bit.
        disk.limit(Some(48_000));
        let (mut journal, _) = Journal::open(disk.clone(), options).unwrap();
        let mut acked = History::new();
        while journal.room(2_000) == Room::Fits {
            let next = group(u8::try_from(acked.len()).unwrap(), 1, 1_900);
            commit(&mut journal, &next).unwrap();
            acked.push(next);
        }
        assert_eq!(journal.room(2_000), Room::DiskFull);
        let why = journal.shortage().map(std::io::Error::kind);
        assert_eq!(why, Some(std::io::ErrorKind::StorageFull));
        assert!(acked.len() >= 10, "two segments are full: {}", acked.len());
        assert_eq!(history(&journal), acked, "reading goes on");
        assert_eq!(journal.room(20), Room::Fits, "what still fits is taken");
        disk.limit(None);
        while journal.room(2_000) != Room::Fits {
            std::thread::yield_now();
        }
        assert!(journal.shortage().is_none(), "there is space");
        commit(&mut journal, &group(200, 1, 1_900)).unwrap();
        acked.push(group(200, 1, 1_900));
        journal.close().unwrap();
        let (journal, report) = open(&disk).unwrap();
        assert_eq!((history(&journal), report.clean), (acked, true));
    }
}

#[test]
fn a_group_that_is_full_is_committed_first() {
    let disk = FaultyDisk::new(2);
    let (mut journal, _) = open(&disk).unwrap();
    journal.begin(Timestamp(1));
    let principal = Principal::local();
    let record = RecordRef {
        service: 1,
        author: Author::unknown(&principal),
        key: None,
        payload: &[7; 1_000],
    };
    let mut pushed = 0;
    while journal.room(record.size()) == Room::Fits {
        journal.push(&record);
        pushed += 1;
    }
    assert_eq!(
        (pushed, journal.room(record.size())),
        (12, Room::CommitFirst)
    );
    journal.commit().unwrap();
    journal.begin(Timestamp(1));
    assert_eq!(journal.room(record.size()), Room::Fits);
}

#[test]
fn a_directory_that_fails_behind_the_scenes_poisons_the_journal() {
    let disk = FaultyDisk::new(2);
    let (mut journal, _) = open(&disk).unwrap();
    commit(&mut journal, &group(1, 1, 8_000)).unwrap();
    // The next commit takes the prepared segment; creating the one after it works, its directory
    // sync does not.
    disk.inject(Fault::DirectoryError, 2);
    commit(&mut journal, &group(2, 1, 8_000)).unwrap();
    let error = journal.commit().unwrap_err();
    assert!(matches!(error, CommitError::Directory(_)), "{error}");
    assert!(matches!(journal.commit(), Err(CommitError::Poisoned)));
    // Three segments and the durable mark.
    assert_eq!(disk.list().unwrap().len(), 4);
}

/// Records found the journal full, as its directory had failed while the next segment was made; and as
/// nothing was committed any more, nobody ever heard of the failure.
#[test]
fn a_failed_directory_is_reported_also_where_no_record_fits() {
    let disk = FaultyDisk::new(2);
    let (mut journal, _) = open(&disk).unwrap();
    commit(&mut journal, &group(1, 1, 8_000)).unwrap();
    disk.inject(Fault::DirectoryError, 2);
    commit(&mut journal, &group(2, 1, 8_000)).unwrap();
    let error = commit(&mut journal, &group(3, 1, 8_000)).unwrap_err();
    assert!(matches!(error, CommitError::Directory(_)), "{error}");
}
