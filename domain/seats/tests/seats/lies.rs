//! Faults of a machine, planted in what it answers: the twin contradicts each.

use turnstile_seats::{BookingNumber, Command, Done, Outcome, Refusal};
use turnstile_trial::context;
use turnstile_types::Principal;

use crate::{
    scenery::{Theatre, book, name, numbers, section, show},
    twin::Twin,
};

/// What the machine answers to these when two seats are booked already.
fn honest(commands: &[Command]) -> Vec<(Command, Outcome)> {
    let mut theatre = Theatre::new();
    let before = [
        show("gala"),
        section("gala", "stalls", 3, 6),
        book("1-1,1-2", "ann"),
    ];
    let all = before.iter().chain(commands);
    all.map(|command| (*command, theatre.apply(command)))
        .collect()
}

/// Whether the twin gives all of these answers.
fn is_believed(told: &[(Command, Outcome)]) -> bool {
    let mut twin = Twin::default();
    let local = Principal::local();
    (1..).zip(told).all(|(position, (command, outcome))| {
        twin.apply(&context(position, 1_000_000, &local), command) == *outcome
    })
}

fn reference(outcome: Outcome) -> BookingNumber {
    match outcome {
        Outcome::Done(Done::Booked { reference, .. }) => reference,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_twin_believes_what_the_machine_says_and_no_lie() {
    let first = reference(honest(&[])[2].1);
    let cancel = Command::Cancel {
        booking: first,
        buyer: name("ann"),
    };
    assert!(is_believed(&honest(&[cancel, book("best:1", "ann")])));
    let booked = |reference, seats: &str| {
        Outcome::Done(Done::Booked {
            reference,
            seats: numbers(seats),
        })
    };
    let second = reference(honest(&[book("1-3", "ann")])[3].1);
    let taken = Outcome::Refused(Refusal::Taken {
        seats: numbers("1-3"),
    });
    let lies = [
        ("a seat is sold twice", "best:1", booked(second, "1-2")),
        ("a reference is given twice", "1-3", booked(first, "1-3")),
        ("fewer seats are sold", "1-3,1-4", booked(second, "1-3")),
        ("a free seat is refused", "1-3", taken),
    ];
    for (lie, seats, outcome) in lies {
        let mut told = honest(&[book(seats, "ann")]);
        assert!(is_believed(&told), "{seats}");
        told[3].1 = outcome;
        assert!(!is_believed(&told), "{lie}");
    }
}
