//! A directory of one of several partitions: references say which, and a restart forgets nothing of it.

use std::path::Path;

use turnstile_embedded::{Durability, Embedded, LeaveError, Options, leave_cluster, verify};
use turnstile_rooms::{GuestId, GuestName, Rooms, Wish};
use turnstile_services::seats::{self, BookingNumber, Choice, Seats, UpTo};
use turnstile_types::{
    Author, Name, Night, Outcome, PartitionFounding, PartitionNumber, Principal, Stay, Timestamp,
};

const NOW: Timestamp = Timestamp(1_800_000_000_000);

fn open(directory: &Path, snapshot_records: u64) -> Embedded {
    let options = Options {
        snapshot_records,
        ..Options::with(Durability::Sync)
    };
    let opened = Embedded::open(Some(directory), options);
    let (mut backend, _recovery) = opened.expect("a directory of the test");
    backend.tick(NOW).expect("a working disk");
    backend
}

fn second() -> PartitionFounding {
    let number = PartitionNumber::new(1).expect("a number");
    let names = ["main", "b"].into_iter();
    PartitionFounding::of(number, names).expect("one of two")
}

fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).expect("a value of the test")
}

macro_rules! done {
    ($machine:ty, $backend:expr, $command:expr) => {{
        let principal = Principal::local();
        let author = Author::unknown(&principal);
        let reply = $backend.execute::<$machine>(NOW, author, None, &$command, None);
        match reply.expect("a working disk").outcome {
            Outcome::Done(done) => done,
            Outcome::Refused(refusal) => panic!("{refusal:?}"),
        }
    }};
}

/// Books a room and a seat, and answers the slot and the number that their references hold.
fn book(backend: &mut Embedded, guest: &str) -> (u32, u64) {
    let arrival = Night::from_days(20_900);
    let room = turnstile_rooms::Command::Book {
        property: name("inn"),
        wish: Wish::Room(name(guest)),
        stay: Stay::new(arrival, Night::from_days(20_902)).expect("a stay"),
        guest: GuestName::parse(guest.as_bytes()).expect("a name"),
        id: GuestId {
            seal: 1,
            last_four: 2,
        },
    };
    let turnstile_rooms::Done::Booked { reference, .. } = done!(Rooms, backend, room) else {
        panic!("a booking was asked for");
    };
    assert_eq!(reference.partition(), second().number);
    let seat = seats::Command::Book {
        show: name("gala"),
        section: name("stalls"),
        seats: Choice::Best(UpTo::new(1).expect("one")),
        buyer: name(guest),
    };
    let seats::Done::Booked {
        reference: BookingNumber(number),
        ..
    } = done!(Seats, backend, seat)
    else {
        panic!("a booking was asked for");
    };
    assert_eq!(BookingNumber(number).partition(), second().number);
    backend.commit().expect("a working disk");
    (reference.slot, number)
}

fn furnish(backend: &mut Embedded) {
    let property = turnstile_rooms::Command::AddProperty {
        property: name("inn"),
        open: true,
    };
    done!(Rooms, backend, property);
    let show = seats::Command::AddShow {
        show: name("gala"),
        begins: NOW.plus_ms(1_000_000),
    };
    done!(Seats, backend, show);
    let section = seats::Command::AddSection {
        show: name("gala"),
        section: name("stalls"),
        rows: UpTo::new(2).expect("two"),
        row_seats: UpTo::new(5).expect("five"),
    };
    done!(Seats, backend, section);
}

#[test]
fn a_partition_goes_on_with_its_references_after_a_restart_with_or_without_a_snapshot() {
    for snapshot_records in [0, 4] {
        let directory = tempfile::tempdir().expect("a folder");
        let mut backend = open(directory.path(), snapshot_records);
        backend.found(second()).expect("a working disk");
        furnish(&mut backend);
        assert_eq!(book(&mut backend, "ann"), (1 << 26, (1 << 40) + 1));
        backend.await_snapshot();
        // As by SIGKILL: nothing is sealed.
        drop(backend);

        let mut backend = open(directory.path(), snapshot_records);
        assert_eq!(backend.sequencer().state().partition(), Some(&second()));
        assert_eq!(book(&mut backend, "bob"), ((1 << 26) + 1, (1 << 40) + 2));
        backend.close().expect("a working disk");
        let verdict = verify(directory.path()).expect("a directory of the test");
        assert!(verdict.holds(), "{verdict:?}");
        let left = leave_cluster(directory.path());
        assert!(matches!(left, Err(LeaveError::OfSeveral)), "{left:?}");
    }
}
