//! Seats: what simulated buyers ask for, and a model of who has which seat.

use std::collections::BTreeMap;

use turnstile_seats::{
    BookingNumber, Choice, Command, Done, Event, Outcome, Refusal, SeatNumber, SeatNumbers, Seats,
    UpTo,
};
use turnstile_seed::Random;
use turnstile_types::{Name, Position, Timestamp};

use crate::actors::{Clients, Model};

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
pub(crate) struct Audience {
    references: Vec<BookingNumber>,
}

impl Clients<Seats> for Audience {
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

impl Audience {
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

/// Who has which seat: seats in a map, nothing else.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hall {
    seats: BTreeMap<(Name, Name, SeatNumber), BookingNumber>,
    taken: BTreeMap<BookingNumber, Taken>,
}

/// A booking or an open hold.
#[derive(Clone, Debug)]
struct Taken {
    show: Name,
    section: Name,
    seats: SeatNumbers,
    holder: Holder,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Holder {
    Buyer(Name),
    Until(Timestamp),
}

type Shown = Result<(), String>;

impl Model<Seats> for Hall {
    fn show(
        &mut self,
        (_position, now): (Position, Timestamp),
        asked: Option<(&Command, &Outcome)>,
        _events: &[Event],
    ) -> Shown {
        self.expire(now);
        match asked {
            None => Ok(()),
            Some((command, Outcome::Done(done))) => self.done(now, command, *done),
            Some((command, Outcome::Refused(refusal))) => self.refused(command, refusal),
        }
    }

    fn agrees(&self, _now: Timestamp, seats: &Seats) -> Shown {
        let is_booked = |taken: &&Taken| matches!(taken.holder, Holder::Buyer(_));
        let booked = self.taken.values().filter(is_booked);
        let expected: u64 = booked.map(|taken| u64::from(taken.seats.len())).sum();
        let found = seats.totals().seats_booked;
        if found != expected {
            return Err(format!("{found} seats are booked, not {expected}"));
        }
        Ok(())
    }
}

impl Hall {
    /// Frees the seats of holds whose time is over.
    fn expire(&mut self, now: Timestamp) {
        let over = |taken: &Taken| matches!(taken.holder, Holder::Until(until) if until <= now);
        let all = self.taken.iter().filter(|(_, taken)| over(taken));
        let references: Vec<BookingNumber> = all.map(|(reference, _)| *reference).collect();
        for reference in references {
            self.remove(reference);
        }
    }

    fn remove(&mut self, reference: BookingNumber) -> Option<Taken> {
        let taken = self.taken.remove(&reference)?;
        self.seats.retain(|_, owner| *owner != reference);
        Some(taken)
    }

    fn done(&mut self, now: Timestamp, command: &Command, done: Done) -> Shown {
        match (*command, done) {
            (
                Command::Book {
                    show,
                    section,
                    seats: choice,
                    buyer,
                },
                Done::Booked { reference, seats },
            ) => self.take(
                choice,
                reference,
                Taken {
                    show,
                    section,
                    seats,
                    holder: Holder::Buyer(buyer),
                },
            ),
            (
                Command::Hold {
                    show,
                    section,
                    seats: choice,
                    ttl_seconds,
                },
                Done::Held {
                    reference,
                    seats,
                    until,
                },
            ) if until == now.plus_ms(u64::from(ttl_seconds.get()) * 1_000) => self.take(
                choice,
                reference,
                Taken {
                    show,
                    section,
                    seats,
                    holder: Holder::Until(until),
                },
            ),
            (Command::Confirm { hold, buyer }, Done::Confirmed { reference, seats })
                if hold == reference =>
            {
                match self.taken.get_mut(&hold) {
                    Some(taken) if is_hold(taken) && taken.seats == seats => {
                        taken.holder = Holder::Buyer(buyer);
                        Ok(())
                    }
                    other => Err(format!("{hold} was confirmed, and is {other:?}")),
                }
            }
            (Command::Release { hold }, Done::Released) => match self.remove(hold) {
                Some(taken) if is_hold(&taken) => Ok(()),
                other => Err(format!("{hold} was released, and is {other:?}")),
            },
            (Command::Cancel { booking, buyer }, Done::Cancelled { seats }) => {
                match self.remove(booking) {
                    Some(taken) if taken.holder == Holder::Buyer(buyer) && taken.seats == seats => {
                        Ok(())
                    }
                    other => Err(format!("{booking} was cancelled, and is {other:?}")),
                }
            }
            (Command::AddShow { .. }, Done::ShowAdded)
            | (Command::AddSection { .. }, Done::SectionAdded)
            | (Command::CloseSale { closed: true, .. }, Done::SaleClosed)
            | (Command::CloseSale { closed: false, .. }, Done::SaleOpened) => Ok(()),
            other => Err(format!("{other:?} do not belong together")),
        }
    }

    fn take(&mut self, choice: Choice, reference: BookingNumber, taken: Taken) -> Shown {
        let is_wanted = match choice {
            Choice::Named(seats) => seats == taken.seats,
            Choice::Best(count) => u32::from(count.get()) == taken.seats.len(),
        };
        if !is_wanted || self.taken.contains_key(&reference) {
            return Err(format!("{reference} is not what was asked for: {taken:?}"));
        }
        for seat in taken.seats.iter() {
            let place = (taken.show, taken.section, seat);
            if let Some(owner) = self.seats.insert(place, reference) {
                return Err(format!(
                    "seat {seat} was sold to {owner} and to {reference}"
                ));
            }
        }
        self.taken.insert(reference, taken);
        Ok(())
    }

    /// A refusal that names seats or a booking must be right about them.
    fn refused(&self, command: &Command, refusal: &Refusal) -> Shown {
        let is_right = match (*command, *refusal) {
            (
                Command::Book { show, section, .. } | Command::Hold { show, section, .. },
                Refusal::Taken { seats },
            ) => seats
                .iter()
                .all(|seat| self.seats.contains_key(&(show, section, seat))),
            (
                Command::Confirm {
                    hold: reference, ..
                }
                | Command::Release { hold: reference }
                | Command::Cancel {
                    booking: reference, ..
                },
                Refusal::NotFound | Refusal::Ended,
            ) => !self.taken.contains_key(&reference),
            (
                Command::Confirm { hold, .. } | Command::Release { hold },
                Refusal::AlreadyConfirmed,
            ) => self.taken.get(&hold).is_some_and(|taken| !is_hold(taken)),
            (Command::Cancel { booking, .. }, Refusal::NotConfirmed) => {
                self.taken.get(&booking).is_some_and(is_hold)
            }
            (Command::Cancel { booking, buyer }, Refusal::WrongBuyer) => {
                let booked = self.taken.get(&booking);
                booked.is_some_and(|taken| taken.holder != Holder::Buyer(buyer))
            }
            _ => true,
        };
        if is_right {
            return Ok(());
        }
        Err(format!("{command:?} was refused: {refusal:?}"))
    }
}

const fn is_hold(taken: &Taken) -> bool {
    matches!(taken.holder, Holder::Until(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(0);

    fn book(seats: &str) -> Command {
        Command::Book {
            show: name(b"gala"),
            section: name(b"stalls"),
            seats: Choice::parse(seats.as_bytes()).unwrap(),
            buyer: name(b"ada"),
        }
    }

    fn booked(reference: u64, seats: &str) -> Outcome {
        Outcome::Done(Done::Booked {
            reference: BookingNumber(reference),
            seats: SeatNumbers::parse(seats.as_bytes()).unwrap(),
        })
    }

    fn shown(steps: &[(Command, Outcome)]) -> Shown {
        let mut hall = Hall::default();
        steps.iter().try_for_each(|(command, outcome)| {
            hall.show((Position(1), NOW), Some((command, outcome)), &[])
        })
    }

    #[test]
    fn a_history_in_which_no_seat_is_sold_twice_is_possible() {
        let cancel = Command::Cancel {
            booking: BookingNumber(1),
            buyer: name(b"ada"),
        };
        let seats = SeatNumbers::parse(b"1-1,1-2").unwrap();
        let steps = [
            (book("1-1,1-2"), booked(1, "1-1,1-2")),
            (cancel, Outcome::Done(Done::Cancelled { seats })),
            (book("best:1"), booked(2, "1-1")),
        ];
        assert_eq!(shown(&steps), Ok(()));
    }

    #[test]
    fn planted_bugs_are_found() {
        let first = (book("1-1,1-2"), booked(1, "1-1,1-2"));
        let taken = Outcome::Refused(Refusal::Taken {
            seats: SeatNumbers::parse(b"1-3").unwrap(),
        });
        let rows = [
            // A seat is sold twice.
            (book("best:1"), booked(2, "1-2")),
            // A reference is given twice.
            (book("1-3"), booked(1, "1-3")),
            // Fewer seats are sold than were asked for.
            (book("1-3,1-4"), booked(2, "1-3")),
            // A free seat is refused.
            (book("1-3"), taken),
        ];
        for wrong in rows {
            let shown = shown(&[first, wrong]);
            assert!(shown.is_err(), "{wrong:?}");
        }
    }
}
