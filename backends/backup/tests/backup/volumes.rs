//! Targets on a file system of their own: its power goes, or it is full.

use std::{fs, path::Path, thread};

use turnstile_backup::{
    BackupError, BackupSource, DirectorySource, JournalPieces, KeyChoice, PiecesPlace, RestoreWish,
    SourceDescription, SourceError, Standby, Until, check_backup, restore, take_backup,
};
use turnstile_embedded::unfinished;
use turnstile_trial::{Volume, VolumeLog};
use zeroize::Zeroizing;

use crate::{
    Folder, OPTIONS, failures::FailingSource, hash, restored, take, used, used_again, wish,
};

/// A source that is read by a machine whose power goes at a call.
struct CuttingSource<'a> {
    failing: FailingSource,
    volume: &'a Volume,
}

impl<'a> CuttingSource<'a> {
    fn new(directory: &Path, calls: usize, volume: &'a Volume) -> Self {
        Self {
            failing: FailingSource::new(directory, calls),
            volume,
        }
    }

    fn cut_at_failure<T>(&self, answer: Result<T, SourceError>) -> Result<T, SourceError> {
        answer.inspect_err(|_failed| self.volume.cut(VolumeLog::Lost))
    }
}

impl BackupSource for CuttingSource<'_> {
    fn describe(&mut self) -> Result<SourceDescription, SourceError> {
        let answer = self.failing.describe();
        self.cut_at_failure(answer)
    }

    fn pieces(&mut self, place: PiecesPlace) -> Result<JournalPieces, SourceError> {
        let answer = self.failing.pieces(place);
        self.cut_at_failure(answer)
    }

    fn snapshot(&mut self, position: u64, offset: u64) -> Result<Vec<u8>, SourceError> {
        let answer = self.failing.snapshot(position, offset);
        self.cut_at_failure(answer)
    }

    fn id_key(&mut self) -> Result<Option<Zeroizing<Vec<u8>>>, SourceError> {
        let answer = self.failing.id_key();
        self.cut_at_failure(answer)
    }
}

/// The power goes and comes back.
fn lose_power(volume: &mut Volume) {
    volume.cut(VolumeLog::Lost);
    volume.remount();
}

/// Takes backups until one ends before the power goes at a call; says at how many calls it went.
fn cut_at_every_call(
    (data, backup): (&Path, &Path),
    key: &KeyChoice,
    volume: &mut Volume,
    mut after: impl FnMut(),
) -> usize {
    for calls in 0.. {
        let taken = take_backup(&mut CuttingSource::new(data, calls, volume), backup, key);
        if taken.is_ok() {
            // What is done is durable.
            lose_power(volume);
            return calls;
        }
        volume.remount();
        after();
    }
    unreachable!("some backup ends");
}

#[test]
fn a_power_cut_at_any_moment_leaves_the_backup_before_it() {
    let Some(mut volume) = Volume::make(32, "power cuts under backups") else {
        return;
    };
    let folder = Folder::new();
    let (data, backup) = (folder.path("data"), volume.data());
    used(&data, OPTIONS, 1_000);
    let places = (&*data, &*backup);
    let cuts = cut_at_every_call(places, &KeyChoice::LeaveOut, &mut volume, || {
        let checked = check_backup(&backup);
        assert!(
            matches!(checked, Err(BackupError::None { .. })),
            "{checked:?}"
        );
    });
    assert!(cuts > 2, "{cuts}");
    let position = || {
        let check = check_backup(&backup).unwrap();
        assert_eq!(check.damaged, [""; 0], "{check:?}");
        check.manifest.end.position
    };
    assert_eq!(position(), 1_001);
    used_again(&data, OPTIONS, 1_000, 3_000);
    let cuts = cut_at_every_call(places, &KeyChoice::Unsaid, &mut volume, || {
        assert_eq!(position(), 1_001);
    });
    assert!(cuts > 2, "{cuts}");
    assert_eq!(position(), 3_001);
    restored(&backup, &folder.path("back"), Until::End);
    assert_eq!(hash(&folder.path("back")), hash(&data));
}

#[test]
fn a_power_cut_during_a_restore_leaves_nothing_that_starts() {
    let Some(mut volume) = Volume::make(64, "power cuts under restores") else {
        return;
    };
    let folder = Folder::new();
    let (data, backup) = (folder.path("data"), folder.path("backup"));
    used(&data, OPTIONS, 3_000);
    take(&data, &backup, &KeyChoice::LeaveOut).unwrap();
    let target = volume.data();
    let again = RestoreWish {
        again: true,
        ..wish(Until::End)
    };
    let files = || fs::read_dir(&target).map_or(0, Iterator::count);
    let mut broken = 0;
    for most in 1..5 {
        let ended = thread::scope(|scope| {
            let restoring = scope.spawn(|| restore(&backup, &target, &again));
            while files() < most && !restoring.is_finished() {
                thread::yield_now();
            }
            volume.cut(VolumeLog::Lost);
            restoring.join().unwrap()
        });
        volume.remount();
        match ended {
            Ok(_report) => assert_eq!(hash(&target), hash(&data)),
            Err(_) => {
                let has_journal = target.join("segment-00000001").exists();
                assert!(!has_journal || unfinished::is_marked(&target));
                broken += 1;
                restore(&backup, &target, &again).unwrap();
                lose_power(&mut volume);
                assert_eq!(hash(&target), hash(&data));
            }
        }
        fs::remove_dir_all(&target).unwrap();
    }
    assert!(broken > 0, "no power cut met a restore");
}

#[test]
fn a_standby_without_power_or_space_has_what_it_said_and_goes_on() {
    let Some(mut volume) = Volume::make(32, "power cuts and full disks under a standby") else {
        return;
    };
    let folder = Folder::new();
    let (data, copy) = (folder.path("data"), volume.data());
    used(&data, OPTIONS, 1_000);
    used_again(&data, OPTIONS, 1_000, 2_300);
    let mut calls = 0;
    let mut said = 0;
    while said < 2_301 {
        calls += 1;
        let mut source = CuttingSource::new(&data, calls, &volume);
        if let Ok(mut standby) = Standby::open(&mut source, &copy) {
            while let Ok(step) = standby.step(&mut source) {
                said = step.position;
                if step.lag() == 0 {
                    volume.cut(VolumeLog::Lost);
                    break;
                }
            }
        }
        volume.remount();
        let mut whole = DirectorySource::open(&data).unwrap();
        let standby = Standby::open(&mut whole, &copy).unwrap();
        assert!(standby.position().0 >= said, "{said} positions were said");
    }
    assert!(calls > 3, "{calls}");
    assert_eq!(hash(&copy), hash(&data));

    used_again(&data, OPTIONS, 2_300, 30_000);
    let mut source = DirectorySource::open(&data).unwrap();
    let mut standby = Standby::open(&mut source, &copy).unwrap();
    let ballast = volume.fill(0);
    let mut catch_up = |standby: &mut Standby| loop {
        match standby.step(&mut source) {
            Ok(step) if step.lag() == 0 => return Ok(step.position),
            Ok(_) => {}
            Err(failure) => return Err(failure),
        }
    };
    let refused = catch_up(&mut standby);
    assert!(
        matches!(refused, Err(BackupError::Io { .. })),
        "{refused:?}"
    );
    drop(standby);
    ballast.free();
    let mut whole = DirectorySource::open(&data).unwrap();
    let mut standby = Standby::open(&mut whole, &copy).unwrap();
    assert_eq!(catch_up(&mut standby).unwrap(), 30_001);
    drop((standby, whole, source));
    assert_eq!(hash(&copy), hash(&data));
}
