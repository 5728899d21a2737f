//! The bytes of commands and outcomes: each kind as it is written in journals, and nothing else
//! read.

use std::collections::BTreeSet;

use proptest::prelude::*;
use turnstile_rooms::{
    Command, Done, FormerPlace, GuestId, Nights, Outcome, Reference, Refusal, Rooms, Wish,
};
use turnstile_trial::{check_canonical, check_command, check_only_whole, check_outcome, unhex};
use turnstile_types::{Machine, Malformed, Night, Timestamp};

use crate::scenery::{guest, name, reason, stay};

const ID: GuestId = GuestId {
    seal: 0x0102_0304_0506_0708,
    last_four: 2_346,
};

const REFERENCE: Reference = Reference {
    slot: 5,
    generation: 0x0201,
};

const NIGHTS: Nights = Nights {
    first: Night::from_days(0x0201),
    bits: 0b101,
};

/// Every kind of command, with its bytes.
fn commands() -> Vec<(Command<'static>, &'static str)> {
    [first_commands(), later_commands()].concat()
}

/// Every kind of command that names a room, with its bytes.
fn first_commands() -> Vec<(Command<'static>, &'static str)> {
    let (property, room) = (name("p"), name("r1"));
    let stay = stay(0x5143, 3);
    let (guest, id) = (guest("\u{e9}"), ID);
    let wish = Wish::Room(room);
    vec![
        (
            Command::AddProperty {
                property,
                open: true,
            },
            "01 0170 01",
        ),
        (
            Command::AddRoom {
                property,
                room,
                room_type: name("t"),
            },
            "02 0170 027231 0174",
        ),
        (Command::WithdrawRoom { property, room }, "03 0170 027231"),
        (
            Command::StopSell {
                property,
                room,
                stay,
                stopped: false,
            },
            "04 0170 027231 435103 00",
        ),
        (
            Command::Book {
                property,
                wish,
                stay,
                guest,
                id,
            },
            "05 0170 00027231 435103 0200c3a9 08070605040302012a09",
        ),
        (
            Command::Book {
                property,
                wish: Wish::Type(name("t")),
                stay,
                guest,
                id,
            },
            "05 0170 010174 435103 0200c3a9 08070605040302012a09",
        ),
    ]
}

/// Every kind of command about a hold or a booking, with its bytes.
fn later_commands() -> Vec<(Command<'static>, &'static str)> {
    let (property, hold) = (name("p"), REFERENCE);
    let stay = stay(0x5143, 3);
    let (guest, id) = (guest("\u{e9}"), ID);
    vec![
        (
            Command::Hold {
                property,
                wish: Wish::Any,
                stay,
                ttl_ms: 60_000,
            },
            "06 0170 02 435103 60ea0000",
        ),
        (
            Command::Extend { hold, ttl_ms: 1 },
            "07 0500000001020000 01000000",
        ),
        (
            Command::Confirm { hold, guest, id },
            "08 0500000001020000 0200c3a9 08070605040302012a09",
        ),
        (Command::Release { hold }, "09 0500000001020000"),
        (
            Command::Cancel {
                booking: REFERENCE,
                id,
            },
            "0a 0500000001020000 08070605040302012a09",
        ),
        (
            Command::CancelForGuest {
                booking: REFERENCE,
                reason: reason("\u{e9}"),
            },
            "0b 0500000001020000 0200c3a9",
        ),
        (
            Command::Move {
                booking: REFERENCE,
                wish: Wish::Type(name("t")),
                stay,
                id,
            },
            "0c 0500000001020000 010174 435103 08070605040302012a09",
        ),
    ]
}

/// Every kind of outcome, with its bytes.
fn outcomes() -> Vec<(Outcome, &'static str)> {
    let (reference, room) = (REFERENCE, name("r1"));
    let until = Timestamp(0x0102_0304);
    let done = [
        (Done::PropertyAdded, "01"),
        (Done::RoomAdded, "02"),
        (Done::RoomWithdrawn, "03"),
        (Done::SaleStopped, "04"),
        (Done::SaleResumed, "05"),
        (
            Done::Booked { reference, room },
            "06 0500000001020000 027231",
        ),
        (
            Done::Held {
                reference,
                room,
                until,
            },
            "07 0500000001020000 027231 0403020100000000",
        ),
        (Done::Extended { until }, "08 0403020100000000"),
        (
            Done::Confirmed {
                reference,
                room,
                late: true,
            },
            "09 0500000001020000 027231 01",
        ),
        (Done::Released, "0a"),
        (
            Done::Cancelled {
                room,
                stay: stay(0x5143, 90),
            },
            "0b 027231 43515a",
        ),
        (
            Done::Moved {
                room,
                from: FormerPlace {
                    room: name("r2"),
                    stay: stay(0x5143, 3),
                },
            },
            "0c 027231 027232 435103",
        ),
    ];
    let done = done.map(|(done, bytes)| (Outcome::Done(done), bytes));
    done.into_iter().chain(refusals()).collect()
}

/// Every kind of refusal, with its bytes.
fn refusals() -> Vec<(Outcome, &'static str)> {
    let until = Timestamp(0x0102_0304);
    let nights = "0102 05000000000000000000000000000000";
    let sold_out: &'static str = Box::leak(format!("88 {nights}").into_boxed_str());
    let stop_sell: &'static str = Box::leak(format!("89 {nights}").into_boxed_str());
    let refused = [
        (Refusal::UnknownProperty, "81"),
        (Refusal::UnknownRoom, "82"),
        (Refusal::UnknownType, "83"),
        (Refusal::PropertyExists, "84"),
        (Refusal::RoomExists, "85"),
        (
            Refusal::RoomInUse {
                night: NIGHTS.first,
            },
            "86 0102",
        ),
        (Refusal::TooManyRooms { limit: 10_000 }, "87 10270000"),
        (Refusal::SoldOut { nights: NIGHTS }, sold_out),
        (Refusal::StopSell { nights: NIGHTS }, stop_sell),
        (Refusal::NotFound, "8a"),
        (Refusal::WrongGuest, "8b"),
        (Refusal::Ended, "8c"),
        (Refusal::HoldExpired, "8d"),
        (Refusal::AlreadyConfirmed, "8e"),
        (Refusal::NotConfirmed, "8f"),
        (Refusal::TooManyHolds { limit: 1_000 }, "90 e8030000"),
        (
            Refusal::HoldTooLong {
                ttl_ms_max: 900_000,
            },
            "91 a0bb0d00",
        ),
        (
            Refusal::HoldCeiling { until_max: until },
            "92 0403020100000000",
        ),
        (Refusal::Full { limit: 1 << 26 }, "93 00000004"),
    ];
    let refused = refused.map(|(refusal, bytes)| (Outcome::Refused(refusal), bytes));
    refused.into()
}

#[test]
fn commands_have_stable_words() {
    let commands = commands();
    let words: BTreeSet<&str> = commands.iter().map(|(one, _)| one.code()).collect();
    let expected = [
        "add_property",
        "add_room",
        "book",
        "cancel",
        "cancel_for_guest",
        "confirm",
        "extend",
        "hold",
        "move",
        "release",
        "resume_sell",
        "withdraw_room",
    ];
    assert_eq!(words, BTreeSet::from(expected));
}

#[test]
fn every_command_has_its_bytes_and_reads_back_from_them() {
    for (command, golden) in commands() {
        check_command::<Rooms>(&command, &unhex(golden));
    }
}

#[test]
fn every_outcome_has_its_bytes_and_reads_back_from_them() {
    for (outcome, golden) in outcomes() {
        check_outcome::<Rooms>(&outcome, &unhex(golden));
    }
}

#[test]
fn bytes_that_are_cut_or_continued_are_refused() {
    for (_, golden) in commands() {
        let read = |bytes: &[u8]| Rooms::decode_command(bytes).map(drop);
        check_only_whole(&unhex(golden), "command", read);
    }
    for (_, golden) in outcomes() {
        check_only_whole(&unhex(golden), "outcome", Rooms::decode_outcome);
    }
}

#[test]
fn values_out_of_range_are_refused() {
    let rows = [
        ("00", "command"),
        ("0d", "command"),
        ("01 0170 02", "open"),
        ("01 00 00", "property"),
        ("01 0120 00", "property"),
        ("05 0170 03", "wish"),
        ("05 0170 02 435100", "stay"),
        ("05 0170 02 43515b", "stay"),
        ("05 0170 02 ffff01", "stay"),
        ("05 0170 02 435101 0000", "guest"),
        ("05 0170 02 435101 0100ff", "guest"),
        ("0a 0500000001020000 08070605040302011027", "id"),
        ("0b 0500000001020000 0000", "reason"),
        ("0b 0500000001020000 0100ff", "reason"),
    ];
    for (text, field) in rows {
        let bytes = unhex(text);
        let found = Rooms::decode_command(&bytes);
        assert_eq!(found, Err(Malformed { field }), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// What is read from any bytes at all is written back as the same bytes: there is one form.
    #[test]
    fn hostile_bytes_never_panic_and_are_canonical(
        kind in 0_u8..0x98,
        rest in proptest::collection::vec(any::<u8>(), 0..40),
        row in 0_usize..13,
        at in 0_usize..40,
        byte in any::<u8>(),
    ) {
        let mut random = vec![kind];
        random.extend(rest);
        let mut flipped = unhex(commands()[row].1);
        let at = at % flipped.len();
        flipped[at] = byte;
        for bytes in [random, flipped] {
            check_canonical::<Rooms>(&bytes);
        }
    }
}
