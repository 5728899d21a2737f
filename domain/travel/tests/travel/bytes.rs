//! Golden bytes: what was written once is read for ever.

use turnstile_travel::{
    AbortReason, Body, Command, CustomerId, Desk, Done, Order, Outcome, Parcel, Refusal, Request,
    Settings, Step, Travel, Xid,
};
use turnstile_types::{Machine, Malformed, Name, Position, Principal, Timestamp};

use crate::scenery::{Office, add, add_customer, bytes_of, item, query, reserve, trip, within};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check_command(command: &Command, expected: &str) {
    let mut bytes = Vec::new();
    Travel::encode_command(command, &mut bytes);
    assert_eq!(hex(&bytes), expected, "{command:?}");
    assert_eq!(Travel::decode_command(&bytes).as_ref(), Ok(command));
    for end in 0..bytes.len() {
        assert!(
            Travel::decode_command(&bytes[..end]).is_err(),
            "cut at {end}"
        );
    }
    bytes.push(0);
    let field = "command";
    assert_eq!(Travel::decode_command(&bytes), Err(Malformed { field }));
}

#[test]
fn commands_have_stable_bytes() {
    let customer = CustomerId(-2);
    let rows = [
        (Command::Start, "01"),
        (within(7, Step::Commit), "02070000000000000009"),
        (
            within(7, add("flight-9", 3, 250)),
            "02070000000000000001010900000003000000fa000000",
        ),
        (
            within(1, query("car-Rome")),
            "020100000000000000030004726f6d65",
        ),
        (
            within(1, add_customer(-2)),
            "0201000000000000000401feffffff",
        ),
        (
            within(1, reserve(-2, &["room-rome"])),
            "02010000000000000007feffffff010000000204726f6d65",
        ),
        (Command::Abort { xid: Xid(258) }, "030201000000000000"),
        (
            Command::Book {
                customer,
                trip: trip(&["flight-1", "flight-1"]),
                hold_ms: Some(1_000),
            },
            "10feffffff020000000101000000010100000001e803000000000000",
        ),
        (
            Command::Configure(Settings::FIRST),
            "20010f983a000000000000102700000000000001",
        ),
        (Command::Evict { xid: Xid(7) }, "040700000000000000"),
        (Command::RecoverUnstaged, "21"),
        (Command::Recover, "24"),
        (
            Command::Deliver(Parcel {
                desk: Desk::Rooms,
                life: 1,
                peer_life: 2,
                number: 3,
                received: 4,
                body: Body::Request(Some(Request {
                    xid: Xid(5),
                    order: Order::CommitAlone,
                })),
            }),
            "230201000000000000000200000000000000030000000000000004000000000000000101050000000000000004",
        ),
    ];
    for (command, expected) in rows {
        check_command(&command, expected);
    }
}

#[test]
fn outcomes_have_stable_bytes() {
    let rows = [
        (
            Outcome::Done(Done::Started { xid: Xid(1) }),
            "01010100000000000000",
        ),
        (Outcome::Done(Done::Bill(None)), "010900"),
        (
            Outcome::Refused(Refusal::SoldOut(item("flight-1"))),
            "02020101000000",
        ),
        (
            Outcome::Refused(Refusal::Aborted(AbortReason::LockTimeout {
                holder: Xid(2),
            })),
            "0212050200000000000000",
        ),
        (
            Outcome::Waiting {
                ticket: Position(9),
            },
            "030900000000000000",
        ),
    ];
    for (outcome, expected) in rows {
        let mut bytes = Vec::new();
        Travel::encode_outcome(&outcome, &mut bytes);
        assert_eq!(hex(&bytes), expected, "{outcome:?}");
        assert_eq!(Travel::decode_outcome(&bytes), Ok(outcome));
    }
}

#[test]
fn what_is_not_canonical_is_refused() {
    let rows = [
        ("00", "Command"),
        ("0201000000000000000300044f736c6f", "location"),
        ("0201000000000000000402", "flag"),
        ("0201000000000000000700000000000000", "Item"),
        ("10010000000000000000", "trip"),
        ("1100000000", "locator"),
        ("20011000", "desks"),
    ];
    for (text, field) in rows {
        let digit = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        let bytes: Vec<u8> = text.as_bytes().chunks(2).map(digit).collect();
        assert!(Travel::decode_command(&bytes).is_err(), "{text}: {field}");
    }
}

/// A state with something of everything that one process can have.
fn busy_office() -> Office {
    let mut office = Office::new();
    office.committed([
        add_customer(5),
        add("flight-1", 3, 100),
        add("room-oslo", 2, 20),
    ]);
    let book = |hold_ms| Command::Book {
        customer: CustomerId(5),
        trip: trip(&["flight-1", "room-oslo"]),
        hold_ms,
    };
    assert!(matches!(office.apply(&book(None)), Outcome::Done(_)));
    assert!(matches!(office.apply(&book(Some(9_000))), Outcome::Done(_)));
    let reader = office.start();
    office.within(reader, query("flight-1"));
    let writer = office.start();
    office.within(writer, add("car-oslo", 1, 10));
    office.within(writer, reserve(5, &["car-oslo", "flight-1"]));
    let summary = office.start();
    office.within(summary, Step::Summary);
    office
}

#[test]
fn a_snapshot_has_stable_bytes() {
    let office = busy_office();
    assert_eq!(
        format!("{:032x}", turnstile_types::hash_of(&office.travel)),
        "12d19f846f3c6297089f410e435972ef"
    );
}

/// A state without such transactions is written as it was before there were any.
#[test]
fn a_snapshot_with_a_transaction_that_belongs_to_a_principal_has_stable_bytes() {
    let mut office = busy_office();
    let plain = bytes_of(&office.travel);
    office.principal = Principal(Name::parse(b"shop").unwrap());
    let xid = office.start();
    let bytes = bytes_of(&office.travel);
    assert_eq!((plain[7], bytes[7]), (3, 4));
    let mut end = vec![1, 0, 0, 0];
    end.extend_from_slice(&xid.to_le_bytes());
    end.extend_from_slice(b"\x04shop");
    assert!(bytes.ends_with(&end), "one, its xid, and its principal");
    let restored = <Travel as Machine>::restore(&bytes).unwrap();
    assert_eq!(bytes_of(&restored), bytes);
    let mut without = bytes.clone();
    without.truncate(bytes.len() - end.len());
    without.extend_from_slice(&[0; 4]);
    let read = <Travel as Machine>::restore(&without);
    assert!(read.is_err(), "such a state is written in the older form");
    office.within(xid, Step::Commit);
    assert_eq!(bytes_of(&office.travel)[7], 3);
}

/// Before trips were staged, all itineraries had a locator and the snapshot ended with the late answers.
#[test]
fn a_snapshot_from_before_trips_were_staged_is_read() {
    let office = busy_office();
    let mut bytes = bytes_of(&office.travel);
    let end = bytes.split_off(bytes.len() - 5);
    assert_eq!(end, [2, 0, 0, 0, 0], "two itineraries, and nothing staged");
    assert_eq!(std::mem::replace(&mut bytes[7], 2), 3);
    let restored = <Travel as Machine>::restore(&bytes).unwrap();
    assert_eq!(bytes_of(&restored), bytes_of(&office.travel));
}

#[test]
fn the_reading_of_a_snapshot_can_be_watched_and_stopped() {
    turnstile_trial::check_watched(&busy_office().travel);
}

#[test]
fn a_machine_that_is_restored_goes_on_as_the_one_that_was_not() {
    let mut office = busy_office();
    let bytes = bytes_of(&office.travel);
    let mut restored = busy_office();
    restored.travel = <Travel as Machine>::restore(&bytes).unwrap();
    for office in [&mut office, &mut restored] {
        office.events();
        office.within(4, Step::Commit);
        office.pass(60_000);
    }
    assert_eq!(office.events(), restored.events());
    assert_eq!(bytes_of(&office.travel), bytes_of(&restored.travel));
    assert_eq!(Machine::next_deadline(&office.travel), None::<Timestamp>);
}

#[test]
fn a_snapshot_that_is_cut_or_changed_is_refused_or_is_another_one() {
    let bytes = bytes_of(&busy_office().travel);
    for end in 0..bytes.len() {
        assert!(
            <Travel as Machine>::restore(&bytes[..end]).is_err(),
            "cut at {end}"
        );
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x01;
        if let Ok(travel) = <Travel as Machine>::restore(&changed) {
            assert!(bytes_of(&travel) == changed, "what is read is written back");
        }
    }
}
