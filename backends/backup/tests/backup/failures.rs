//! Backups and restores that break off: a source that fails at each call, and a disk that is full.

use std::{fs, path::Path};

use turnstile_backup::{
    BackupError, BackupSource, DirectorySource, JournalPieces, KeyChoice, PiecesPlace, RestoreWish,
    SourceDescription, SourceError, Standby, Until, check_backup, restore, take_backup,
};
use turnstile_embedded::{BackendOpenError, Embedded};
use turnstile_trial::Volume;
use zeroize::Zeroizing;

use crate::{Folder, OPTIONS, WITH_SNAPSHOTS, hash, restored, take, used, used_again, wish};

/// A source that fails after so many calls, and whose last pieces are cut short.
pub(crate) struct FailingSource {
    pub(crate) inner: DirectorySource,
    pub(crate) calls: usize,
}

impl FailingSource {
    pub(crate) fn new(directory: &Path, calls: usize) -> Self {
        Self {
            inner: DirectorySource::open(directory).unwrap(),
            calls,
        }
    }

    fn call(&mut self) -> Result<(), SourceError> {
        self.calls = self.calls.checked_sub(1).ok_or_else(|| SourceError::Away {
            cause: "the line is cut".into(),
            is_passing: true,
        })?;
        Ok(())
    }
}

impl BackupSource for FailingSource {
    fn describe(&mut self) -> Result<SourceDescription, SourceError> {
        self.call()?;
        self.inner.describe()
    }

    /// A few groups at a time, the last of them cut in its middle.
    fn pieces(&mut self, place: PiecesPlace) -> Result<JournalPieces, SourceError> {
        self.call()?;
        let mut pieces = self.inner.pieces(place)?;
        pieces.bytes.truncate(30_000);
        Ok(pieces)
    }

    fn snapshot(&mut self, position: u64, offset: u64) -> Result<Vec<u8>, SourceError> {
        self.call()?;
        let mut part = self.inner.snapshot(position, offset)?;
        part.truncate(40_000);
        Ok(part)
    }

    fn id_key(&mut self) -> Result<Option<Zeroizing<Vec<u8>>>, SourceError> {
        self.call()?;
        self.inner.id_key()
    }
}

#[test]
fn a_first_backup_that_breaks_off_anywhere_is_none_and_the_next_is_whole() {
    let folder = Folder::new();
    let data = folder.path("data");
    used(&data, WITH_SNAPSHOTS, 1_500);
    let backup = folder.path("backup");
    let mut calls = 0;
    loop {
        let taken = take_backup(
            &mut FailingSource::new(&data, calls),
            &backup,
            &KeyChoice::LeaveOut,
        );
        if taken.is_ok() {
            break;
        }
        let checked = check_backup(&backup);
        assert!(
            matches!(checked, Err(BackupError::None { .. })),
            "{checked:?}"
        );
        calls += 1;
    }
    assert!(calls > 4, "{calls}");
    assert_eq!(check_backup(&backup).unwrap().damaged, [""; 0]);
    restored(&backup, &folder.path("back"), Until::End);
    assert_eq!(hash(&folder.path("back")), hash(&data));
}

#[test]
fn an_increment_that_breaks_off_anywhere_leaves_the_backup_before_it() {
    let folder = Folder::new();
    let data = folder.path("data");
    let backup = folder.path("backup");
    used(&data, OPTIONS, 300);
    take(&data, &backup, &KeyChoice::LeaveOut).unwrap();
    // As after a power cut as soon as the list was there.
    let begun = backup.join("unfinished-backup");
    fs::write(&begun, "").unwrap();
    used_again(&data, OPTIONS, 300, 3_000);
    let mut calls = 0;
    loop {
        let taken = take_backup(
            &mut FailingSource::new(&data, calls),
            &backup,
            &KeyChoice::Unsaid,
        );
        let check = check_backup(&backup).unwrap();
        assert_eq!(check.damaged, [""; 0], "{calls}: {check:?}");
        if taken.is_ok() {
            break;
        }
        assert_eq!(check.manifest.end.position, 301);
        let back = folder.path(&format!("back-{calls}"));
        assert_eq!(restored(&backup, &back, Until::End).last.0, 301);
        calls += 1;
    }
    assert!(!begun.exists(), "it is whole");
    assert!(calls > 4, "{calls}");
    restored(&backup, &folder.path("back"), Until::End);
    assert_eq!(hash(&folder.path("back")), hash(&data));
}

#[test]
fn a_standby_goes_on_after_its_source_failed_anywhere() {
    let folder = Folder::new();
    let (data, copy) = (folder.path("data"), folder.path("copy"));
    used(&data, WITH_SNAPSHOTS, 1_500);
    used_again(&data, WITH_SNAPSHOTS, 1_500, 2_300);
    let mut calls = 0;
    let reached = loop {
        calls += 1;
        let mut source = FailingSource::new(&data, calls);
        let Ok(mut standby) = Standby::open(&mut source, &copy) else {
            let opened = Embedded::open(Some(&copy), OPTIONS);
            let is_refused = matches!(opened, Err(BackendOpenError::UnfinishedCopy { .. }));
            assert!(
                is_refused || !copy.join("lock").exists() || calls == 0,
                "{opened:?}"
            );
            continue;
        };
        while let Ok(step) = standby.step(&mut source) {
            if step.lag() == 0 {
                break;
            }
        }
        if standby.position().0 == 2_301 {
            break standby;
        }
    };
    drop(reached);
    assert!(calls > 3, "{calls}");
    assert_eq!(hash(&copy), hash(&data));
}

#[test]
fn a_full_disk_at_the_target_leaves_the_backup_before_it_and_a_restore_that_is_refused() {
    let Some(volume) = Volume::make(8, "full disks under backups") else {
        return;
    };
    let folder = Folder::new();
    let (data, backup) = (folder.path("data"), volume.data());
    used(&data, OPTIONS, 300);
    take(&data, &backup, &KeyChoice::LeaveOut).unwrap();
    used_again(&data, OPTIONS, 300, 30_000);
    let ballast = volume.fill(0);
    let refused = take(&data, &backup, &KeyChoice::Unsaid);
    let Err(BackupError::Io { cause, .. }) = &refused else {
        panic!("{refused:?}");
    };
    assert_eq!(cause.kind(), std::io::ErrorKind::StorageFull);
    let check = check_backup(&backup).unwrap();
    assert_eq!((check.damaged.len(), check.manifest.end.position), (0, 301));
    ballast.free();
    take(&data, &backup, &KeyChoice::Unsaid).unwrap();
    let whole = folder.path("whole");
    take(&data, &whole, &KeyChoice::LeaveOut).unwrap();

    let target = volume.data().with_file_name("restored");
    let ballast = volume.fill(1);
    let refused = restore(&whole, &target, &wish(Until::End));
    assert!(
        matches!(refused, Err(BackupError::Io { .. })),
        "{refused:?}"
    );
    let opened = Embedded::open(Some(&target), OPTIONS);
    assert!(
        matches!(opened, Err(BackendOpenError::UnfinishedCopy { .. })),
        "{opened:?}"
    );
    ballast.free();
    fs::remove_dir_all(&backup).unwrap();
    let refused = restore(&whole, &target, &wish(Until::End));
    assert!(
        matches!(refused, Err(BackupError::Unfinished { .. })),
        "{refused:?}"
    );
    let again = RestoreWish {
        again: true,
        ..wish(Until::End)
    };
    assert_eq!(restore(&whole, &target, &again).unwrap().last.0, 30_001);
}
