//! What simulated buyers of seats ask for.

use turnstile_seed::Random;
use turnstile_services::seats::{
    BookingNumber, Choice, Command, Done, Outcome, SeatNumber, SeatNumbers, Seats, UpTo,
};
use turnstile_types::{Name, Timestamp};

use crate::actors::SimulatedClients;

const SECTIONS: [&[u8]; 2] = [b"stalls", b"boxes"];
const BUYERS: [&[u8]; 3] = [b"ada", b"bob", b"cy"];
const ROWS: u16 = 2;
const ROW_SEATS: u16 = 5;

fn name(text: &[u8]) -> Name {
    Name::parse(text).expect("a name of the simulated world")
}

fn up_to<const MAX: u16>(number: u64) -> UpTo<MAX> {
    let number = u16::try_from(number).ok().and_then(UpTo::new);
    number.expect("a number of the simulated world")
}

/// Makes commands, and remembers the references that were given out.
#[derive(Debug, Default)]
pub(crate) struct SeatsClients {
    references: Vec<BookingNumber>,
}

impl SimulatedClients<Seats> for SeatsClients {
    fn opening() -> Vec<Command> {
        let show = name(b"gala");
        let begins = Timestamp::parse(b"2030-01-01T00:00:00Z").expect("an instant");
        let mut commands = vec![Command::AddShow { show, begins }];
        commands.extend(SECTIONS.map(|section| Command::AddSection {
            show,
            section: name(section),
            rows: up_to(ROWS.into()),
            row_seats: up_to(ROW_SEATS.into()),
        }));
        commands
    }

    fn next(&self, random: &mut Random, _now: Timestamp) -> Command {
        let show = name(b"gala");
        let section = name(random.pick(&SECTIONS));
        let buyer = name(random.pick(&BUYERS));
        match random.below(20) {
            0..=6 => Command::Book {
                show,
                section,
                seats: choice(random),
                buyer,
            },
            7..=10 => Command::Hold {
                show,
                section,
                seats: choice(random),
                ttl_seconds: up_to(1 + random.below(60)),
            },
            11..=13 => Command::Confirm {
                hold: self.reference(random),
                buyer,
            },
            14 => Command::Release {
                hold: self.reference(random),
            },
            15 => Command::CloseSale {
                show,
                closed: random.one_in(4),
            },
            _ => Command::Cancel {
                booking: self.reference(random),
                buyer,
            },
        }
    }

    fn note(&mut self, outcome: &Outcome) {
        if let Outcome::Done(Done::Booked { reference, .. } | Done::Held { reference, .. }) =
            outcome
        {
            self.references.push(*reference);
        }
    }
}

impl SeatsClients {
    fn reference(&self, random: &mut Random) -> BookingNumber {
        match &self.references[..] {
            [] => BookingNumber(1),
            given => random.pick(given),
        }
    }
}

fn choice(random: &mut Random) -> Choice {
    if random.one_in(2) {
        return Choice::Best(up_to(1 + random.below(3)));
    }
    let row = u16::try_from(1 + random.below(ROWS.into())).expect("a few rows");
    let number = u16::try_from(1 + random.below(ROW_SEATS.into())).expect("a few seats");
    let neighbour = SeatNumber {
        row,
        number: number + 1,
    };
    let seats = [SeatNumber { row, number }, neighbour];
    let count = if random.one_in(2) { 2 } else { 1 };
    let seats = SeatNumbers::new(seats.into_iter().take(count));
    Choice::Named(seats.expect("one or two seats"))
}
