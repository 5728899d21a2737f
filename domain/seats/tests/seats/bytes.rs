//! The bytes of commands and outcomes: each kind as it is written in journals, and nothing else read.

use std::collections::BTreeSet;

use proptest::prelude::*;
use turnstile_seats::{BookingNumber, Command, Done, Outcome, Refusal, SeatNumber, Seats};
use turnstile_trial::{check_canonical, check_command, check_only_whole, check_outcome, unhex};
use turnstile_types::{Machine, Malformed, Timestamp};

use crate::scenery::{choice, name, numbers, up_to};

const BEGINS: Timestamp = Timestamp(0x0102_0304);
const REFERENCE: BookingNumber = BookingNumber(0x0201);

/// Every kind of command, with its bytes.
fn commands() -> Vec<(Command, &'static str)> {
    let (show, section, buyer) = (name("s"), name("c1"), name("b"));
    vec![
        (
            Command::AddShow {
                show,
                begins: BEGINS,
            },
            "01 0173 0403020100000000",
        ),
        (
            Command::AddSection {
                show,
                section,
                rows: up_to(200),
                row_seats: up_to(1),
            },
            "02 0173 026331 c800 0100",
        ),
        (Command::CloseSale { show, closed: true }, "03 0173 01"),
        (
            Command::CloseSale {
                show,
                closed: false,
            },
            "03 0173 00",
        ),
        (
            Command::Book {
                show,
                section,
                seats: choice("3-12,3-13"),
                buyer,
            },
            "04 0173 026331 00 02 03000c00 03000d00 0162",
        ),
        (
            Command::Hold {
                show,
                section,
                seats: choice("best:4"),
                ttl_seconds: up_to(900),
            },
            "05 0173 026331 01 0400 8403",
        ),
        (
            Command::Confirm {
                hold: REFERENCE,
                buyer,
            },
            "06 0102000000000000 0162",
        ),
        (Command::Release { hold: REFERENCE }, "07 0102000000000000"),
        (
            Command::Cancel {
                booking: REFERENCE,
                buyer,
            },
            "08 0102000000000000 0162",
        ),
    ]
}

/// Every kind of outcome, with its bytes.
fn outcomes() -> Vec<(Outcome, &'static str)> {
    let (reference, seats, until) = (REFERENCE, numbers("3-12"), BEGINS);
    let done = [
        (Done::ShowAdded, "01"),
        (Done::SectionAdded, "02"),
        (Done::SaleClosed, "03"),
        (Done::SaleOpened, "04"),
        (
            Done::Booked { reference, seats },
            "05 0102000000000000 01 03000c00",
        ),
        (
            Done::Held {
                reference,
                seats,
                until,
            },
            "06 0102000000000000 01 03000c00 0403020100000000",
        ),
        (
            Done::Confirmed { reference, seats },
            "07 0102000000000000 01 03000c00",
        ),
        (Done::Released, "08"),
        (Done::Cancelled { seats }, "09 01 03000c00"),
    ];
    let done = done.map(|(done, bytes)| (Outcome::Done(done), bytes));
    done.into_iter().chain(refusals()).collect()
}

/// Every kind of refusal, with its bytes.
fn refusals() -> Vec<(Outcome, &'static str)> {
    let (seats, limit) = (numbers("3-12"), 300);
    let seat = SeatNumber { row: 3, number: 12 };
    let refused = [
        (Refusal::UnknownShow, "81"),
        (Refusal::UnknownSection, "82"),
        (Refusal::UnknownSeat { seat }, "83 03000c00"),
        (Refusal::ShowExists, "84"),
        (Refusal::SectionExists, "85"),
        (Refusal::TooManyShows { limit }, "86 2c010000"),
        (Refusal::TooManySections { limit }, "87 2c010000"),
        (Refusal::TooManySeats { limit }, "88 2c010000"),
        (Refusal::Taken { seats }, "89 01 03000c00"),
        (Refusal::NotAdjacent { free: 300 }, "8a 2c010000"),
        (Refusal::SaleClosed, "8b"),
        (Refusal::Begun { begins: BEGINS }, "8c 0403020100000000"),
        (Refusal::NotFound, "8d"),
        (Refusal::Ended, "8e"),
        (Refusal::WrongBuyer, "8f"),
        (Refusal::AlreadyConfirmed, "90"),
        (Refusal::NotConfirmed, "91"),
    ];
    let refused = refused.map(|(refusal, bytes)| (Outcome::Refused(refusal), bytes));
    refused.into()
}

#[test]
fn commands_have_stable_words() {
    let commands = commands();
    let words: BTreeSet<&str> = commands.iter().map(|(one, _)| one.code()).collect();
    let expected = [
        "add_section",
        "add_show",
        "book",
        "cancel",
        "close_sale",
        "confirm",
        "hold",
        "open_sale",
        "release",
    ];
    assert_eq!(words, BTreeSet::from(expected));
}

#[test]
fn every_command_has_its_bytes_and_reads_back_from_them() {
    for (command, golden) in commands() {
        check_command::<Seats>(&command, &unhex(golden));
    }
}

#[test]
fn every_outcome_has_its_bytes_and_reads_back_from_them() {
    for (outcome, golden) in outcomes() {
        check_outcome::<Seats>(&outcome, &unhex(golden));
    }
}

#[test]
fn bytes_that_are_cut_or_continued_are_refused() {
    for (_, golden) in commands() {
        let read = |bytes: &[u8]| Seats::decode_command(bytes).map(drop);
        check_only_whole(&unhex(golden), "command", read);
    }
    for (_, golden) in outcomes() {
        check_only_whole(&unhex(golden), "outcome", Seats::decode_outcome);
    }
}

#[test]
fn values_out_of_range_are_refused() {
    let many = format!("04 0173 026331 00 15 {}", "03000c00".repeat(21));
    let rows = [
        ("00", "command"),
        ("09", "command"),
        ("02 0173 026331 0000 0100", "rows"),
        ("02 0173 026331 c900 0100", "rows"),
        ("02 0173 026331 0100 c900", "row seats"),
        ("04 0173 026331 02", "seats"),
        ("04 0173 026331 00 00", "seats"),
        ("04 0173 026331 00 01 00000100", "seats"),
        ("04 0173 026331 00 01 0100c900", "seats"),
        // In another order, or twice.
        ("04 0173 026331 00 02 03000d00 03000c00", "seats"),
        ("04 0173 026331 00 02 03000c00 03000c00", "seats"),
        (&many, "seats"),
        ("04 0173 026331 01 0000", "seats"),
        ("04 0173 026331 01 1500", "seats"),
        ("05 0173 026331 01 0100 8503", "ttl seconds"),
    ];
    for (text, field) in rows {
        let bytes = unhex(text);
        let found = Seats::decode_command(&bytes);
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
        row in 0_usize..9,
        at in 0_usize..40,
        byte in any::<u8>(),
    ) {
        let mut random = vec![kind];
        random.extend(rest);
        let mut flipped = unhex(commands()[row].1);
        let at = at % flipped.len();
        flipped[at] = byte;
        for bytes in [random, flipped] {
            check_canonical::<Seats>(&bytes);
        }
    }
}
