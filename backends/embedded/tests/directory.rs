//! A back end and its directory: what a restart finds, what a snapshot saves, what is refused.

use std::{fs, path::Path};

use turnstile_embedded::{
    BackendOpenError, Durability, Embedded, Options, Recovery, Slowed, VerifyError, verify,
};
use turnstile_rooms::{Command, GuestName, IdNumber, Outcome, Rooms, Wish};
use turnstile_types::{Author, Name, Night, Position, Principal, Stay, Timestamp};

const OPTIONS: Options = Options {
    durability: Durability::Sync,
    segment_bytes: 256 * 1024,
    snapshot_records: 0,
    accept_loss: None,
    key_bytes: 1 << 20,
    slowed: Slowed::NOT,
    trouble: None,
};

fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).expect("a name of the test")
}

fn open(directory: &Path, options: Options) -> (Embedded, Recovery) {
    Embedded::open(Some(directory), options).expect("a sound directory")
}

/// Books rooms `from` up to `to` of an open property, in groups of fifty.
fn book(backend: &mut Embedded, from: u32, to: u32) {
    let (principal, now) = (Principal::local(), Timestamp(1_780_272_000_000));
    let add = Command::AddProperty {
        property: name("bench"),
        open: true,
    };
    backend
        .execute::<Rooms>(now, Author::unknown(&principal), None, &add, None)
        .expect("a working disk");
    let number = IdNumber::parse(b"234123412346", true).expect("an id number of the test");
    let id = backend.id_key().seal(number);
    let night = Night::parse(b"2027-01-01").expect("a date");
    let stay = Stay::new(night, night.checked_add(1).expect("a later date")).expect("one night");
    for room in from..to {
        let booking = Command::Book {
            property: name("bench"),
            wish: Wish::Room(name(&format!("room:{room}"))),
            stay,
            guest: GuestName::parse(b"ada").expect("a guest of the test"),
            id,
        };
        let reply = backend
            .execute::<Rooms>(now, Author::unknown(&principal), None, &booking, None)
            .expect("a working disk");
        assert!(matches!(reply.outcome, Outcome::Done(_)), "{reply:?}");
        if room % 50 == 0 {
            backend.commit().expect("a working disk");
        }
    }
    backend.commit().expect("a working disk");
}

/// The positions of what happened to rooms.
fn rooms_events(backend: &mut Embedded) -> Vec<Position> {
    let mut events = Vec::new();
    backend.move_events::<Rooms>(&mut events);
    events.iter().map(|event| event.position).collect()
}

fn segments(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).expect("the directory is there");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    names
        .filter(|name| name.to_string_lossy().starts_with("segment-"))
        .count()
}

#[test]
fn a_restart_replays_everything_and_keeps_the_events() {
    let directory = tempfile::tempdir().unwrap();
    let (mut backend, recovery) = open(directory.path(), OPTIONS);
    assert_eq!((recovery.position, recovery.records), (Position(0), 0));
    book(&mut backend, 0, 1_000);
    backend.close().unwrap();
    let (mut backend, recovery) = open(directory.path(), OPTIONS);
    assert_eq!(
        (recovery.position, recovery.records),
        (Position(1_001), 1_001)
    );
    assert!(
        recovery
            .journal
            .as_ref()
            .is_some_and(|journal| journal.clean)
    );
    let events = rooms_events(&mut backend);
    let expected: Vec<Position> = (1..=1_001).map(Position).collect();
    assert_eq!(
        (events, recovery.events_after::<Rooms>()),
        (expected, Position(0))
    );
}

#[test]
fn of_a_long_replay_the_latest_events_are_kept_without_a_gap() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        segment_bytes: 16 << 20,
        durability: Durability::Os,
        ..OPTIONS
    };
    let (mut backend, _recovery) = open(directory.path(), options);
    book(&mut backend, 0, 70_000);
    backend.close().unwrap();
    let (mut backend, recovery) = open(directory.path(), options);
    let events = rooms_events(&mut backend);
    let first = recovery.events_after::<Rooms>().next();
    let expected: Vec<Position> = (first.0..=70_001).map(Position).collect();
    assert_eq!(events, expected);
    assert_eq!(events.len(), 65_536);
}

#[test]
fn a_snapshot_is_made_beside_the_loop_and_lets_old_segments_go() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        snapshot_records: 2_000,
        ..OPTIONS
    };
    for life in 0..4 {
        let (mut backend, recovery) = open(directory.path(), options);
        assert_eq!(
            recovery.snapshot.0 > 0,
            life > 0,
            "life {life}: {recovery:?}"
        );
        book(&mut backend, life * 5_000, life * 5_000 + 5_000);
        backend.await_snapshot();
        backend.close().unwrap();
    }
    let verdict = verify(directory.path()).unwrap();
    assert!(verdict.holds(), "{verdict:?}");
    assert_eq!(verdict.standing, [(20_000, "bookings stand".to_owned())]);
    assert!(
        verdict.from > Position(0),
        "the oldest snapshot is not the beginning"
    );
    assert!(verdict.again_from > verdict.from, "there are two snapshots");
    assert!(
        segments(directory.path()) < 8,
        "20,000 records take more than eight segments"
    );
}

#[test]
fn a_directory_that_lost_its_id_key_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (mut backend, _recovery) = open(directory.path(), OPTIONS);
    book(&mut backend, 0, 3);
    backend.close().unwrap();
    fs::remove_file(directory.path().join("id.key")).unwrap();
    match Embedded::open(Some(directory.path()), OPTIONS) {
        Err(error @ BackendOpenError::IdKey(_)) => {
            assert!(error.to_string().contains("is missing"), "{error}");
            assert!(!error.is_newer());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_proof_needs_a_journal() {
    let directory = tempfile::tempdir().unwrap();
    assert!(matches!(
        verify(directory.path()),
        Err(VerifyError::NoJournal)
    ));
    assert!(matches!(
        verify(&directory.path().join("gone")),
        Err(VerifyError::NoJournal)
    ));
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the directory is there");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.into_string().expect("our names are ASCII"))
        .collect();
    names.sort();
    names
}

/// A proof left an empty lock file in a directory that had none: in a copy, or where no journal is.
#[test]
fn a_proof_leaves_no_file_behind() {
    let directory = tempfile::tempdir().unwrap();
    assert!(verify(directory.path()).is_err());
    assert_eq!(names(directory.path()), [""; 0]);

    let (mut backend, _recovery) = open(directory.path(), OPTIONS);
    book(&mut backend, 0, 3);
    assert!(verify(directory.path()).is_err(), "the directory is in use");
    backend.close().unwrap();
    fs::remove_file(directory.path().join("lock")).unwrap();
    let before = names(directory.path());
    assert!(verify(directory.path()).unwrap().holds());
    assert_eq!(names(directory.path()), before);
}

#[test]
fn only_its_owner_can_read_a_data_directory_and_an_older_one_is_tightened() {
    use std::{fs, os::unix::fs::PermissionsExt};

    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("data");
    let modes = || {
        let entries = fs::read_dir(&directory).unwrap();
        let mut modes: Vec<(String, u32)> = entries
            .map(|entry| entry.unwrap())
            .map(|entry| {
                let mode = entry.metadata().unwrap().permissions().mode();
                (entry.file_name().into_string().unwrap(), mode & 0o777)
            })
            .collect();
        let mode = fs::metadata(&directory).unwrap().permissions().mode();
        modes.push((".".to_owned(), mode & 0o777));
        modes.sort();
        modes
    };
    let is_private = |(name, mode): &(String, u32)| match name.as_str() {
        "." => *mode == 0o700,
        "notes" => *mode == 0o644,
        _ => *mode == 0o600,
    };
    let options = Options {
        snapshot_records: 100,
        ..OPTIONS
    };
    let (mut backend, _recovery) = open(&directory, options);
    book(&mut backend, 0, 500);
    backend.await_snapshot();
    backend.close().unwrap();
    assert!(modes().iter().all(is_private), "{:?}", modes());
    fs::write(directory.join("notes"), "not ours").unwrap();
    for (name, _) in modes() {
        let mode = if name == "." { 0o755 } else { 0o644 };
        fs::set_permissions(directory.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let (backend, _recovery) = open(&directory, options);
    backend.close().unwrap();
    assert!(modes().iter().all(is_private), "{:?}", modes());
}
