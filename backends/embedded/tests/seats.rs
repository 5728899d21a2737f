//! Seats in a directory: nothing is lost by a restart, and a hold expires by the time on the journal.

use std::path::Path;

use turnstile_embedded::{Durability, Embedded, Options, verify};
use turnstile_services::seats::{Answer, Choice, Command, Done, Outcome, Query, Seats, UpTo};
use turnstile_types::{Author, Name, Position, Principal, Timestamp};

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const HOLD_SECONDS: u16 = 60;

fn open(directory: &Path, snapshot_records: u64) -> Embedded {
    let options = Options {
        snapshot_records,
        ..Options::with(Durability::Sync)
    };
    let (mut backend, _recovery) =
        Embedded::open(Some(directory), options).expect("a directory of the test");
    backend.tick(NOW).expect("a working disk");
    backend
}

fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).expect("a value of the test")
}

fn done(backend: &mut Embedded, command: &Command) -> Done {
    let reply = backend.execute::<Seats>(
        NOW,
        Author::unknown(&Principal::local()),
        None,
        command,
        None,
    );
    match reply.expect("a working disk").outcome {
        Outcome::Done(done) => done,
        Outcome::Refused(refusal) => panic!("{command:?}: {refusal:?}"),
    }
}

/// A show with a booking of two seats and a hold of three.
fn fill(backend: &mut Embedded) {
    let (show, section) = (name("gala"), name("stalls"));
    let begins = NOW.plus_ms(1_000_000);
    done(backend, &Command::AddShow { show, begins });
    let rows = UpTo::new(2).expect("a value of the test");
    let row_seats = UpTo::new(5).expect("a value of the test");
    done(
        backend,
        &Command::AddSection {
            show,
            section,
            rows,
            row_seats,
        },
    );
    let best = |count| Choice::Best(UpTo::new(count).expect("a value of the test"));
    done(
        backend,
        &Command::Book {
            show,
            section,
            seats: best(2),
            buyer: name("ann"),
        },
    );
    done(
        backend,
        &Command::Hold {
            show,
            section,
            seats: best(3),
            ttl_seconds: UpTo::new(HOLD_SECONDS).expect("a value of the test"),
        },
    );
    backend.commit().expect("a working disk");
}

fn totals(backend: &Embedded) -> (u64, u64) {
    match backend.query::<Seats>(NOW, &Principal::local(), &Query::Totals) {
        Answer::Totals(totals) => (totals.seats_booked, totals.seats_held),
        other => panic!("totals were asked for, not {other:?}"),
    }
}

#[test]
fn seats_are_as_they_were_after_a_restart_with_or_without_a_snapshot() {
    for snapshot_records in [0, 2] {
        let directory = tempfile::tempdir().unwrap();
        let mut backend = open(directory.path(), snapshot_records);
        fill(&mut backend);
        backend.await_snapshot();
        // As by SIGKILL: nothing is sealed.
        drop(backend);

        let mut backend = open(directory.path(), snapshot_records);
        assert_eq!(totals(&backend), (2, 3));
        let expires = NOW.plus_ms(u64::from(HOLD_SECONDS) * 1_000);
        assert_eq!(backend.deadline(), Some(expires));
        backend.tick(expires).unwrap();
        backend.commit().unwrap();
        assert_eq!(totals(&backend), (2, 0));
        backend.close().unwrap();

        let verdict = verify(directory.path()).unwrap();
        assert!(verdict.holds(), "{verdict:?}");
        let standing = [
            (0, "bookings stand".to_owned()),
            (2, "seats are booked".to_owned()),
            (0, "seats are held".to_owned()),
        ];
        assert_eq!(verdict.standing, standing);
    }
}

#[test]
fn the_events_of_a_replay_are_kept_for_those_who_follow() {
    let directory = tempfile::tempdir().unwrap();
    let mut backend = open(directory.path(), 0);
    fill(&mut backend);
    drop(backend);
    let options = Options::with(Durability::Sync);
    let (mut backend, recovery) = Embedded::open(Some(directory.path()), options).unwrap();
    assert_eq!(recovery.events_after::<Seats>(), Position(0));
    let mut events = Vec::new();
    backend.move_events::<Seats>(&mut events);
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.code()).collect();
    assert_eq!(kinds, ["show_added", "section_added", "booked", "held"]);
}
