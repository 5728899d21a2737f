//! Directories that follow a server.

use std::{fs, path::Path};

use turnstile_backup::{
    BackupError, BackupSource, DirectorySource, JournalPieces, KeyChoice, PiecesPlace, RestoreWish,
    SourceDescription, SourceError, Standby, Until, restore,
};
use turnstile_embedded::Durability;
use turnstile_types::Position;
use zeroize::Zeroizing;

use crate::{
    Folder, OPTIONS, WITH_SNAPSHOTS, book, content, hash, open, restored, take, used, used_again,
    wish,
};

/// Asks until the copy has everything.
fn catch_up(standby: &mut Standby, source: &mut DirectorySource) -> u64 {
    loop {
        let step = standby.step(source).unwrap();
        if step.lag() == 0 {
            return step.position;
        }
    }
}

/// How many files of snapshots a directory has, finished or not.
fn snapshots(directory: &Path) -> usize {
    let names = content(directory).into_keys();
    let names = names.filter(|path| path.to_string_lossy().contains("snapshot-"));
    names.count()
}

/// A source that has removed a snapshot as soon as it is asked for it.
struct ForgetfulSource(DirectorySource);

impl BackupSource for ForgetfulSource {
    fn describe(&mut self) -> Result<SourceDescription, SourceError> {
        self.0.describe()
    }

    fn pieces(&mut self, place: PiecesPlace) -> Result<JournalPieces, SourceError> {
        self.0.pieces(place)
    }

    fn snapshot(&mut self, _position: u64, _offset: u64) -> Result<Vec<u8>, SourceError> {
        Err(SourceError::Gone)
    }

    fn id_key(&mut self) -> Result<Option<Zeroizing<Vec<u8>>>, SourceError> {
        self.0.id_key()
    }
}

#[test]
fn a_copy_follows_group_by_group_and_a_server_starts_on_it() {
    let folder = Folder::new();
    let (data, copy) = (folder.path("data"), folder.path("copy"));
    let mut backend = open(&data, OPTIONS);
    book(&mut backend, 0, 100);
    let mut source = DirectorySource::open(&data).unwrap();
    let mut standby = Standby::open(&mut source, &copy).unwrap();
    assert!(!standby.is_whole());
    assert_eq!(catch_up(&mut standby, &mut source), 101);
    assert!(standby.is_whole());
    for (from, rooms) in [(100, 110), (110, 700), (700, 2_500)] {
        book(&mut backend, from, rooms);
        let mut source = DirectorySource::open(&data).unwrap();
        assert_eq!(catch_up(&mut standby, &mut source), u64::from(rooms) + 1);
    }
    // The first is killed, and the second takes over.
    drop((backend, standby));
    fs::copy(data.join("id.key"), copy.join("id.key")).unwrap();
    assert_eq!(hash(&copy), hash(&data));
    used_again(&copy, OPTIONS, 2_500, 2_600);
    // The old first has not what the new one has, and does not follow it by mistake.
    let mut source = DirectorySource::open(&copy).unwrap();
    used_again(&data, OPTIONS, 2_500, 2_510);
    let mut late = Standby::open(&mut source, &data).unwrap();
    let refused = late.step(&mut source);
    assert!(
        matches!(
            refused,
            Err(BackupError::Diverged(_) | BackupError::Source(SourceError::Damaged(_)))
        ),
        "{refused:?}"
    );
}

#[test]
fn a_copy_takes_over_snapshots_and_lets_old_segments_go() {
    let folder = Folder::new();
    let (data, copy) = (folder.path("data"), folder.path("copy"));
    used(&data, WITH_SNAPSHOTS, 500);
    let mut source = DirectorySource::open(&data).unwrap();
    let mut standby = Standby::open(&mut source, &copy).unwrap();
    catch_up(&mut standby, &mut source);
    drop(source);
    // At most one snapshot in each life: with two, what the copy needs next would be removed.
    let mut renewals = 0;
    for life in 0..10 {
        used_again(&data, WITH_SNAPSHOTS, life * 900 + 500, life * 900 + 1_400);
        let mut source = DirectorySource::open(&data).unwrap();
        catch_up(&mut standby, &mut source);
        let mut forgetful = ForgetfulSource(source);
        assert!(!standby.renew(&mut forgetful).unwrap(), "{life}");
        let ForgetfulSource(mut source) = forgetful;
        renewals += u32::from(standby.renew(&mut source).unwrap());
        assert!(!standby.renew(&mut source).unwrap(), "{life}");
    }
    assert!(renewals > 4, "{renewals}");
    assert!(!copy.join("segment-00000001").exists());
    assert_eq!(snapshots(&copy), 2, "and none that is not finished");
    drop(standby);
    assert_eq!(hash(&copy), hash(&data));
}

#[test]
fn a_copy_goes_on_after_it_was_stopped_and_refuses_other_directories() {
    let folder = Folder::new();
    let (data, copy) = (folder.path("data"), folder.path("copy"));
    let options = turnstile_embedded::Options {
        durability: Durability::Os,
        ..OPTIONS
    };
    used(&data, options, 500);
    for rooms in [500, 900, 1_300] {
        used_again(&data, options, rooms, rooms + 300);
        let mut source = DirectorySource::open(&data).unwrap();
        let mut standby = Standby::open(&mut source, &copy).unwrap();
        let busy = Standby::open(&mut source, &copy);
        assert!(matches!(busy, Err(BackupError::Locked { .. })), "{busy:?}");
        assert!(catch_up(&mut standby, &mut source) > u64::from(rooms));
    }
    assert_eq!(hash(&copy), hash(&data));
    let other = folder.path("other");
    used(&other, OPTIONS, 10);
    let before = content(&other);
    let mut source = DirectorySource::open(&data).unwrap();
    let refused = Standby::open(&mut source, &other);
    assert!(
        matches!(refused, Err(BackupError::OtherJournal)),
        "{refused:?}"
    );
    // A copy that was killed before its mark had its name goes on by itself, and that of a restore does not.
    let fresh = folder.path("fresh");
    fs::create_dir(&fresh).unwrap();
    fs::write(fresh.join("unfinished-copy"), "restore").unwrap();
    let refused = Standby::open(&mut source, &fresh);
    assert!(
        matches!(refused, Err(BackupError::Unfinished { .. })),
        "{refused:?}"
    );
    fs::write(fresh.join("unfinished-copy"), "").unwrap();
    drop(Standby::open(&mut source, &fresh).unwrap());
    let strange = folder.path("strange");
    fs::create_dir(&strange).unwrap();
    fs::write(strange.join("letter.txt"), "dear").unwrap();
    let refused = Standby::open(&mut source, &strange);
    assert!(
        matches!(refused, Err(BackupError::Occupied { .. })),
        "{refused:?}"
    );
    assert_eq!(content(&other), before);
}

/// A server was restored to an earlier position, and goes on from there with other records. A copy of what
/// it had before would become a state of neither history if it took over the server's new snapshot.
#[test]
fn a_copy_refuses_a_server_whose_history_went_back() {
    let folder = Folder::new();
    let (data, backup) = (folder.path("data"), folder.path("backup"));
    used(&data, OPTIONS, 500);
    take(&data, &backup, &KeyChoice::LeaveOut).unwrap();
    let often = turnstile_embedded::Options {
        snapshot_records: 50,
        ..OPTIONS
    };
    // It ends before the copy, at the same position with groups of the same lengths, and after it.
    for (name, to) in [("shorter", 560), ("equal", 600), ("longer", 660)] {
        let (back, copy) = (folder.path(name), folder.path(&format!("copy-{name}")));
        let mut source = DirectorySource::open(&data).unwrap();
        let mut standby = Standby::open(&mut source, &copy).unwrap();
        assert_eq!(catch_up(&mut standby, &mut source), 501);
        drop(source);
        restored(&backup, &back, Until::Position(Position(401)));
        fs::copy(data.join("id.key"), back.join("id.key")).unwrap();
        used_again(&back, often, 500, to);
        assert!(snapshots(&back) > 0);
        let mut source = DirectorySource::open(&back).unwrap();
        for _ in 0..2 {
            for refused in [
                standby.step(&mut source).map(|_step| ()),
                standby.renew(&mut source).map(|_has| ()),
            ] {
                match name {
                    "shorter" => assert!(
                        matches!(
                            refused,
                            Err(BackupError::Behind {
                                source: 461,
                                copy: 501
                            })
                        ),
                        "{refused:?}"
                    ),
                    _ => assert!(
                        matches!(refused, Err(BackupError::Diverged(_))),
                        "{name}: {refused:?}"
                    ),
                }
            }
            // A copy that is opened again knows its last group too.
            drop(standby);
            let mut first = DirectorySource::open(&data).unwrap();
            standby = Standby::open(&mut first, &copy).unwrap();
        }
        drop(standby);
        assert_eq!(snapshots(&copy), 0, "{name}");
        assert_eq!(hash(&copy), hash(&data), "{name}");
    }
}

/// The copy has taken the snapshot, and the server went back before it.
#[test]
fn a_copy_that_is_not_whole_refuses_a_server_that_went_back_before_its_snapshot() {
    let folder = Folder::new();
    let (data, back) = (folder.path("data"), folder.path("back"));
    used(&data, OPTIONS, 300);
    take(&data, &folder.path("backup"), &KeyChoice::LeaveOut).unwrap();
    restored(&folder.path("backup"), &back, Until::End);
    used_again(&data, WITH_SNAPSHOTS, 300, 1_400);
    let mut source = DirectorySource::open(&data).unwrap();
    let mut standby = Standby::open(&mut source, &folder.path("copy")).unwrap();
    let mut source = DirectorySource::open(&back).unwrap();
    let refused = standby.step(&mut source);
    assert!(
        matches!(refused, Err(BackupError::Behind { source: 301, .. })),
        "{refused:?}"
    );
    assert!(!standby.is_whole());
}

/// A source during whose answers others try to fill the same directory.
struct CrowdedSource<'a> {
    inner: DirectorySource,
    data: &'a Path,
    backup: &'a Path,
    copy: &'a Path,
    tries: usize,
}

impl CrowdedSource<'_> {
    fn refuse_others(&mut self) {
        self.tries += 1;
        let before = content(self.copy);
        assert!(!before.is_empty());
        let mut source = DirectorySource::open(self.data).unwrap();
        let second = Standby::open(&mut source, self.copy).map(|_| ());
        let again = RestoreWish {
            again: true,
            ..wish(Until::End)
        };
        let restored = restore(self.backup, self.copy, &again).map(|_| ());
        for refused in [second, restored] {
            assert!(
                matches!(refused, Err(BackupError::Locked { .. })),
                "{refused:?}"
            );
        }
        assert_eq!(content(self.copy), before);
    }
}

impl BackupSource for CrowdedSource<'_> {
    fn describe(&mut self) -> Result<SourceDescription, SourceError> {
        self.inner.describe()
    }

    fn pieces(&mut self, place: PiecesPlace) -> Result<JournalPieces, SourceError> {
        self.refuse_others();
        self.inner.pieces(place)
    }

    fn snapshot(&mut self, position: u64, offset: u64) -> Result<Vec<u8>, SourceError> {
        self.refuse_others();
        self.inner.snapshot(position, offset)
    }

    fn id_key(&mut self) -> Result<Option<Zeroizing<Vec<u8>>>, SourceError> {
        self.inner.id_key()
    }
}

/// A second `follow`, or `restore --again`, once removed what the first had copied, and both wrote on.
#[test]
fn a_directory_that_is_being_filled_is_refused_to_others_and_loses_nothing() {
    let folder = Folder::new();
    let (data, copy) = (folder.path("data"), folder.path("copy"));
    used(&data, WITH_SNAPSHOTS, 1_500);
    let backup = folder.path("backup");
    take(&data, &backup, &KeyChoice::LeaveOut).unwrap();
    let mut source = CrowdedSource {
        inner: DirectorySource::open(&data).unwrap(),
        data: &data,
        backup: &backup,
        copy: &copy,
        tries: 0,
    };
    let mut standby = Standby::open(&mut source, &copy).unwrap();
    while !standby.is_whole() {
        standby.step(&mut source).unwrap();
    }
    assert!(source.tries > 2, "{}", source.tries);
    drop((standby, source));
    assert_eq!(hash(&copy), hash(&data));
}
