//! What a backup holds, first and as increments.

use std::fs;

use turnstile_backup::{
    BackupError, DirectorySource, IdKeyKept, KeyChoice, KeyFrom, RestoreWish, SourceError, Until,
    check_backup, restore, take_backup,
};
use turnstile_embedded::{Durability, Options, verify};

use crate::{
    Folder, OPTIONS, WITH_SNAPSHOTS, book, content, hash, open, passphrase, restored, take, used,
    used_again,
};

#[test]
fn a_backup_restores_to_the_same_state_and_the_same_groups() {
    for (options, begins) in [(OPTIONS, 0), (WITH_SNAPSHOTS, 1_000)] {
        let folder = Folder::new();
        let (data, backup, back) = (folder.path("data"), folder.path("b"), folder.path("back"));
        used(&data, options, 1_500);
        used_again(&data, options, 1_500, 2_500);
        let report = take(&data, &backup, &KeyChoice::Seal(passphrase())).unwrap();
        assert_eq!((report.before, report.manifest.end.position), (None, 2_501));
        assert!(report.manifest.snapshot >= begins, "{report:?}");
        let check = check_backup(&backup).unwrap();
        assert_eq!(
            (check.damaged.len(), check.notes.len()),
            (0, 0),
            "{check:?}"
        );
        let wish = RestoreWish {
            until: Until::End,
            key: KeyFrom::Passphrase(passphrase()),
            again: false,
        };
        let report = restore(&backup, &back, &wish).unwrap();
        assert_eq!((report.last.0, report.has_key), (2_501, true));
        assert!(verify(&back).unwrap().is_key_bound);
        assert_eq!(hash(&back), hash(&data));
        assert_eq!(
            fs::read(back.join("id.key")).unwrap(),
            fs::read(data.join("id.key")).unwrap()
        );
        // A server goes on with it.
        used_again(&back, options, 2_500, 2_600);
    }
}

#[test]
fn an_increment_adds_what_is_new_and_nothing_else() {
    let folder = Folder::new();
    let (data, backup) = (folder.path("data"), folder.path("backup"));
    used(&data, OPTIONS, 500);
    take(&data, &backup, &KeyChoice::LeaveOut).unwrap();
    let first = content(&backup);
    let again = take(&data, &backup, &KeyChoice::Unsaid).unwrap();
    assert_eq!((again.before, again.copied_bytes), (Some(501), 0));
    assert_eq!(content(&backup), first, "nothing new");
    for (index, (from, to)) in [(500, 501), (501, 3_000), (3_000, 7_000)]
        .into_iter()
        .enumerate()
    {
        used_again(&data, OPTIONS, from, to);
        let report = take(&data, &backup, &KeyChoice::Unsaid).unwrap();
        let (before, last) = (u64::from(from) + 1, u64::from(to) + 1);
        assert_eq!(
            (report.before, report.manifest.end.position),
            (Some(before), last)
        );
        let check = check_backup(&backup).unwrap();
        assert_eq!(check.damaged, [""; 0], "{check:?}");
        let back = folder.path(&format!("back-{index}"));
        assert_eq!(restored(&backup, &back, Until::End).last.0, last);
        assert_eq!(hash(&back), hash(&data));
    }
    let segments = content(&backup).into_keys();
    let segments = segments.filter(|path| path.to_string_lossy().contains("segment-"));
    assert!(segments.count() > 2, "several segments were copied");
    // Their empty ends take no space.
    let bytes: usize = content(&backup).values().map(Vec::len).sum();
    let full: usize = content(&data).values().map(Vec::len).sum();
    assert!(bytes < full, "{bytes} {full}");
}

#[test]
fn a_directory_that_is_used_is_backed_up_as_far_as_it_was_acknowledged() {
    for durability in [Durability::Sync, Durability::Os] {
        let options = Options {
            durability,
            ..OPTIONS
        };
        let folder = Folder::new();
        let (data, backup) = (folder.path("data"), folder.path("backup"));
        let mut backend = open(&data, options);
        let mut last = 0;
        for (index, rooms) in [700, 2_100].into_iter().enumerate() {
            book(&mut backend, last, rooms);
            last = rooms;
            let report = take(&data, &backup, &KeyChoice::LeaveOut).unwrap();
            let taken = report.manifest.end.position;
            assert_eq!(taken, u64::from(rooms) + 1, "{durability}");
            let back = folder.path(&format!("back-{index}"));
            assert_eq!(restored(&backup, &back, Until::End).last.0, taken);
        }
        // The server was not disturbed.
        book(&mut backend, last, last + 100);
        backend.close().unwrap();
    }
}

#[test]
fn a_journal_without_records_is_backed_up_and_grows() {
    let folder = Folder::new();
    let (data, backup) = (folder.path("data"), folder.path("backup"));
    open(&data, OPTIONS).close().unwrap();
    let report = take(&data, &backup, &KeyChoice::LeaveOut).unwrap();
    assert_eq!(report.manifest.end.position, 0);
    let back = folder.path("back");
    assert_eq!(restored(&backup, &back, Until::End).last.0, 0);
    used(&data, OPTIONS, 30);
    let report = take(&data, &backup, &KeyChoice::Unsaid).unwrap();
    assert_eq!(report.manifest.end.position, 31);
    assert_eq!(
        restored(&backup, &folder.path("more"), Until::End).last.0,
        31
    );
}

#[test]
fn what_becomes_of_the_key_is_said_once() {
    let folder = Folder::new();
    let (data, backup) = (folder.path("data"), folder.path("backup"));
    used(&data, OPTIONS, 10);
    let refused = take(&data, &backup, &KeyChoice::Unsaid);
    assert!(
        matches!(refused, Err(BackupError::NoKeyChoice)),
        "{refused:?}"
    );
    let report = take(&data, &backup, &KeyChoice::Seal(passphrase())).unwrap();
    assert_eq!(report.manifest.id_key, IdKeyKept::Sealed);
    let secret = fs::read(data.join("id.key")).unwrap();
    let holds = |bytes: &[u8]| bytes.windows(secret.len()).any(|window| window == secret);
    assert!(!content(&backup).values().any(|bytes| holds(bytes)));
    let changed = take(&data, &backup, &KeyChoice::LeaveOut);
    assert!(
        matches!(changed, Err(BackupError::KeyChanged)),
        "{changed:?}"
    );
    take(&data, &backup, &KeyChoice::Unsaid).unwrap();
}

/// A damaged `id.key` must be found when the backup is taken, not when it is needed.
#[test]
fn a_wrong_key_is_not_sealed() {
    let folder = Folder::new();
    let (data, backup) = (folder.path("data"), folder.path("backup"));
    used(&data, OPTIONS, 10);
    fs::write(data.join("id.key"), [0; 16]).unwrap();
    let refused = take(&data, &backup, &KeyChoice::Seal(passphrase()));
    assert!(
        matches!(
            refused,
            Err(BackupError::Source(SourceError::Unsuitable(_)))
        ),
        "{refused:?}"
    );
}

#[test]
fn a_source_that_does_not_continue_a_backup_is_refused_and_the_backup_stays() {
    let folder = Folder::new();
    let (data, backup) = (folder.path("data"), folder.path("backup"));
    used(&data, OPTIONS, 100);
    let early = folder.path("early");
    take(&data, &early, &KeyChoice::LeaveOut).unwrap();
    used_again(&data, OPTIONS, 100, 400);
    take(&data, &backup, &KeyChoice::LeaveOut).unwrap();
    let before = content(&backup);

    let other = folder.path("other");
    used(&other, OPTIONS, 500);
    let refused = take(&other, &backup, &KeyChoice::Unsaid);
    assert!(
        matches!(refused, Err(BackupError::OtherJournal)),
        "{refused:?}"
    );

    // The same journal, restored from an earlier backup: shorter, and then with another history.
    let restored_data = folder.path("restored");
    restored(&early, &restored_data, Until::End);
    fs::copy(data.join("id.key"), restored_data.join("id.key")).unwrap();
    let refused = take(&restored_data, &backup, &KeyChoice::Unsaid);
    assert!(
        matches!(refused, Err(BackupError::Behind { .. })),
        "{refused:?}"
    );
    used_again(&restored_data, OPTIONS, 100, 600);
    let refused = take(&restored_data, &backup, &KeyChoice::Unsaid);
    assert!(
        matches!(
            refused,
            Err(BackupError::Diverged(_) | BackupError::Source(SourceError::Damaged(_)))
        ),
        "{refused:?}"
    );
    let check = check_backup(&backup).unwrap();
    assert_eq!(check.damaged, [""; 0], "{check:?}");
    take(&data, &backup, &KeyChoice::Unsaid).unwrap();
    assert_eq!(content(&backup), before);
}

#[test]
fn a_backup_that_fell_behind_the_removal_of_segments_is_told_so() {
    let folder = Folder::new();
    let (data, backup) = (folder.path("data"), folder.path("backup"));
    used(&data, WITH_SNAPSHOTS, 500);
    take(&data, &backup, &KeyChoice::LeaveOut).unwrap();
    for life in 1..6 {
        used_again(
            &data,
            WITH_SNAPSHOTS,
            life * 1_500 - 1_000,
            life * 1_500 + 500,
        );
    }
    assert!(!data.join("segment-00000001").exists(), "it was removed");
    let refused = take(&data, &backup, &KeyChoice::Unsaid);
    assert!(
        matches!(refused, Err(BackupError::Source(SourceError::Gone))),
        "{refused:?}"
    );
    let check = check_backup(&backup).unwrap();
    assert_eq!(check.damaged, [""; 0], "{check:?}");
    take(&data, &folder.path("new"), &KeyChoice::LeaveOut).unwrap();
}

#[test]
fn a_rotten_snapshot_is_passed_over_and_the_older_one_taken() {
    let folder = Folder::new();
    let (data, backup) = (folder.path("data"), folder.path("backup"));
    for life in 0..4 {
        used_again(&data, WITH_SNAPSHOTS, life * 1_500, life * 1_500 + 1_500);
    }
    let snapshots: Vec<_> = content(&data)
        .into_keys()
        .filter(|path| path.to_string_lossy().contains("snapshot-"))
        .collect();
    let [older, newer] = &snapshots[..] else {
        panic!("{snapshots:?}");
    };
    let mut bytes = fs::read(newer).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(newer, bytes).unwrap();
    let report = take(&data, &backup, &KeyChoice::LeaveOut).unwrap();
    assert_eq!(report.passed_over.len(), 1, "{report:?}");
    let name = older.file_name().unwrap().to_string_lossy();
    assert!(
        name.ends_with(&report.manifest.snapshot.to_string()),
        "{name}"
    );
    assert_eq!(
        restored(&backup, &folder.path("back"), Until::End).last.0,
        6_001
    );
}

#[test]
fn nothing_is_backed_up_into_what_is_no_backup() {
    let folder = Folder::new();
    let data = folder.path("data");
    used(&data, OPTIONS, 10);
    let before = content(&data);
    let other = folder.path("other");
    used(&other, OPTIONS, 10);
    let refused = take(&other, &data, &KeyChoice::LeaveOut);
    assert!(
        matches!(refused, Err(BackupError::Occupied { .. })),
        "{refused:?}"
    );
    assert_eq!(content(&data), before);
    let mut source = DirectorySource::open(&data).unwrap();
    let backup = folder.path("backup");
    fs::create_dir(&backup).unwrap();
    let held = fs::File::create(backup.join("lock")).unwrap();
    held.lock().unwrap();
    let refused = take_backup(&mut source, &backup, &KeyChoice::LeaveOut);
    assert!(
        matches!(refused, Err(BackupError::Locked { .. })),
        "{refused:?}"
    );
}
