//! Names, seats and commands, as tests write them, and a machine to give them to.

use turnstile_seats::{Choice, Command, Done, Outcome, SeatNumbers, Seats, UpTo};
use turnstile_trial::context;
use turnstile_types::{Machine, Name, Principal, Timestamp};

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).unwrap()
}

pub(crate) fn numbers(text: &str) -> SeatNumbers {
    SeatNumbers::parse(text.as_bytes()).unwrap()
}

pub(crate) fn choice(text: &str) -> Choice {
    Choice::parse(text.as_bytes()).unwrap()
}

pub(crate) fn up_to<const MAX: u16>(number: u16) -> UpTo<MAX> {
    UpTo::new(number).unwrap()
}

pub(crate) fn section(show: &str, section: &str, rows: u16, row_seats: u16) -> Command {
    Command::AddSection {
        show: name(show),
        section: name(section),
        rows: up_to(rows),
        row_seats: up_to(row_seats),
    }
}

pub(crate) fn show(show: &str) -> Command {
    Command::AddShow {
        show: name(show),
        begins: Timestamp(2_000_000),
    }
}

/// Books seats of the section `stalls` of the show `gala`.
pub(crate) fn book(seats: &str, buyer: &str) -> Command {
    Command::Book {
        show: name("gala"),
        section: name("stalls"),
        seats: choice(seats),
        buyer: name(buyer),
    }
}

/// Holds seats of the section `stalls` of the show `gala`.
pub(crate) fn hold(seats: &str) -> Command {
    Command::Hold {
        show: name("gala"),
        section: name("stalls"),
        seats: choice(seats),
        ttl_seconds: up_to(60),
    }
}

/// A machine, and the time on it.
pub(crate) struct Theatre {
    pub(crate) seats: Seats,
    position: u64,
}

impl Theatre {
    pub(crate) fn new() -> Self {
        Self {
            seats: Seats::empty(),
            position: 0,
        }
    }

    pub(crate) fn apply(&mut self, command: &Command) -> Outcome {
        self.position += 1;
        let local = Principal::local();
        self.seats
            .apply(&context(self.position, 1_000_000, &local), command)
    }

    pub(crate) fn done(&mut self, command: &Command) -> Done {
        match self.apply(command) {
            Outcome::Done(done) => done,
            Outcome::Refused(refusal) => panic!("{command:?}: {refusal:?}"),
        }
    }
}
