//! Backups of real directories: taken, damaged, broken off, restored, followed.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "backup/archives.rs"]
mod archives;
#[path = "backup/damage.rs"]
mod damage;
#[path = "backup/failures.rs"]
mod failures;
#[path = "backup/restores.rs"]
mod restores;
#[path = "backup/standbys.rs"]
mod standbys;
#[path = "backup/taken.rs"]
mod taken;
#[path = "backup/volumes.rs"]
mod volumes;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use turnstile_backup::{
    BackupError, BackupReport, DirectorySource, KeyChoice, KeyFrom, Passphrase, RestoreReport,
    RestoreWish, Until, restore, take_backup,
};
use turnstile_embedded::{Durability, Embedded, Options, Slowed};
use turnstile_rooms::{Command, GuestName, IdNumber, Outcome, Rooms, Wish};
use turnstile_types::{Author, Name, Night, Principal, Stay, Timestamp};

const OPTIONS: Options = Options {
    durability: Durability::Sync,
    segment_bytes: 128 * 1024,
    snapshot_records: 0,
    accept_loss: None,
    key_bytes: 1 << 20,
    slowed: Slowed::NOT,
    trouble: None,
};

/// Snapshots are made, so the journal does not begin with its first record for long.
const WITH_SNAPSHOTS: Options = Options {
    snapshot_records: 1_000,
    ..OPTIONS
};

const BEGIN: u64 = 1_780_272_000_000;

/// A folder that goes when the test does.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).unwrap()
}

fn open(directory: &Path, options: Options) -> Embedded {
    Embedded::open(Some(directory), options).unwrap().0
}

/// Books so many rooms, from this number on, ten in a group and each group a second after the one before.
fn book(backend: &mut Embedded, from: u32, to: u32) {
    let principal = Principal::local();
    let add = Command::AddProperty {
        property: name("bench"),
        open: true,
    };
    let number = IdNumber::parse(b"234123412346", true).unwrap();
    let id = backend.id_key().seal(number);
    let night = Night::parse(b"2027-01-01").unwrap();
    let stay = Stay::new(night, night.checked_add(1).unwrap()).unwrap();
    let mut execute = |second: u32, command: &Command<'_>| {
        let now = Timestamp(BEGIN + u64::from(second) * 1_000);
        let author = Author::unknown(&principal);
        let reply = backend.execute::<Rooms>(now, author, None, command, None);
        let reply = reply.unwrap();
        if second % 10 == 9 {
            backend.commit().unwrap();
        }
        reply.outcome
    };
    if from == 0 {
        execute(0, &add);
    }
    for room in from..to {
        let booking = Command::Book {
            property: name("bench"),
            wish: Wish::Room(name(&format!("room:{room}"))),
            stay,
            guest: GuestName::parse(b"ada").unwrap(),
            id,
        };
        let outcome = execute(room, &booking);
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    }
    backend.commit().unwrap();
}

/// A directory that was used and closed: its last position is one more than its rooms.
fn used(directory: &Path, options: Options, rooms: u32) {
    let mut backend = open(directory, options);
    book(&mut backend, 0, rooms);
    backend.await_snapshot();
    backend.close().unwrap();
}

/// The same, used some more.
fn used_again(directory: &Path, options: Options, from: u32, to: u32) {
    let mut backend = open(directory, options);
    book(&mut backend, from, to);
    backend.await_snapshot();
    backend.close().unwrap();
}

fn passphrase() -> Passphrase {
    Passphrase::new(b"correct horse battery".to_vec()).unwrap()
}

fn take(from: &Path, to: &Path, key: &KeyChoice) -> Result<BackupReport, BackupError> {
    let mut source = DirectorySource::open(from).unwrap();
    take_backup(&mut source, to, key)
}

fn wish(until: Until) -> RestoreWish {
    RestoreWish {
        until,
        key: KeyFrom::Nowhere,
        again: false,
    }
}

fn restored(from: &Path, to: &Path, until: Until) -> RestoreReport {
    restore(from, to, &wish(until)).unwrap()
}

/// Every file of a directory and its bytes, but for the lock.
fn content(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.file_name().is_some_and(|name| name != "lock"))
        .map(|path| (path.clone(), fs::read(&path).unwrap()))
        .collect()
}

/// The hash of the machines' state after all that a directory holds.
fn hash(directory: &Path) -> u128 {
    let verdict = turnstile_embedded::verify_without_key(directory).unwrap();
    assert!(verdict.holds(), "{verdict:?}");
    verdict.hash
}
