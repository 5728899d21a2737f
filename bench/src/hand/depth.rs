//! What a booking costs when ten thousand, and when ten million bookings stand: the machine itself,
//! in this process, fed in batches as the server feeds it, and a whole server.

use std::{thread, time::Duration};

use anyhow::{Result, ensure};
use turnstile_rooms::{Command, Done, GuestId, GuestName, Outcome, Reference, Rooms, Wish};
use turnstile_types::{Context, Machine as _, Name, Night, Position, Principal, Stay, Timestamp};

use super::served;
use crate::{
    dice::Draws,
    ground::{Ground, tell},
    pin::{SERVER_CORE, pin},
    probe::joined,
    process::{self, us_each},
    ratio::Bound,
    section::{MeasuredRow, Section, SubjectMetric},
};

const CPU: &str = "CPU, us";

pub(super) const FEW: u32 = 10_000;
pub(super) const MANY: u32 = 10_000_000;

/// Each room has this many nights booked when it is measured; so both machines differ only in how
/// many properties they have.
pub(super) const NIGHTS_BOOKED: u16 = 100;

/// Nights after those, all free, from which the measured bookings are drawn.
pub(super) const NIGHTS_FREE: u16 = 300;

const ROOMS_PER_PROPERTY: u16 = 100;
const BOOKINGS_PER_PROPERTY: u32 = 10_000;

/// Commands between two looks at the clock, as of 50 connections with 16 under way.
pub(super) const BATCH: usize = 800;

/// Commands that are announced before the first of them is decided, as of one connection.
const AHEAD: usize = 16;

/// Batches of one sample.
pub(super) const BATCHES: u32 = 500;

/// 2027-01-01, in days since 1970.
pub(super) const FIRST_NIGHT: u16 = 20_819;

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let title = "Ten thousand and ten million bookings";
    let mut section = Section::between_probes(ground, title, || {
        let rounds = ground.rounds();
        let measurement = thread::spawn(move || in_process(rounds));
        let (mut subjects, bytes) = joined(measurement)?;
        subjects.extend(served::measure(ground)?);
        let setting = format!(
            "{BATCHES} batches of {BATCH} random rooms, nights and guests in each of {rounds} \
             rounds, {AHEAD} at a time announced and booked, then cancelled (in process, only booking is \
             measured); {MANY} bookings of one night in closed properties take {bytes:.0} bytes \
             each"
        );
        Ok((setting, subjects))
    })?;
    let target = "CPU of the machine for a booking, 10 M bookings in memory / 10 k";
    section.claim(target, CPU, (1, 0), Bound::AtMost(1.3));
    let target = "CPU of the server for a booking and its cancellation, 10 M bookings / 10 k";
    section.claim(target, CPU, (3, 2), Bound::AtMost(1.3));
    Ok(section)
}

fn in_process(rounds: usize) -> Result<(Vec<MeasuredRow>, f64)> {
    pin(SERVER_CORE)?;
    let mut few = Hotel::with(FEW)?;
    let empty = process::resident_bytes(std::process::id())?;
    let mut many = Hotel::with(MANY)?;
    let grown = process::resident_bytes(std::process::id())?.saturating_sub(empty);
    let bytes = process::bytes_each(grown, MANY)?;
    let (mut few_us, mut many_us) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        few_us.push(few.sample()?);
        many_us.push(many.sample()?);
    }
    tell(&format!(
        "Bookings in process: {few_us:.3?} and {many_us:.3?} us"
    ))?;
    let subjects = vec![
        subject("in process", FEW, few_us),
        subject("in process", MANY, many_us),
    ];
    Ok((subjects, bytes))
}

pub(super) fn subject(place: &str, bookings: u32, values: Vec<f64>) -> MeasuredRow {
    let name = format!("{place}, {bookings} bookings stand");
    MeasuredRow::new(name, vec![SubjectMetric::new(CPU, values)])
}

/// A machine with bookings in it, and who books more.
struct Hotel {
    rooms: Rooms,
    properties: u32,
    position: Position,
    principal: Principal,
    dice: Draws,
}

impl Hotel {
    /// Opens as many properties as it takes to hold so many bookings.
    fn with(bookings: u32) -> Result<Self> {
        let mut hotel = Self {
            rooms: Rooms::empty(),
            properties: bookings / BOOKINGS_PER_PROPERTY,
            position: Position(0),
            principal: Principal::local(),
            dice: Draws::new(u64::from(bookings)),
        };
        for property in 0..hotel.properties {
            hotel.open(property)?;
        }
        // Night by night, as time goes by, and not hotel by hotel: neighbours in time are not
        // neighbours in memory.
        for night in 0..NIGHTS_BOOKED {
            for property in 0..hotel.properties {
                for room in 0..ROOMS_PER_PROPERTY {
                    let id = guest(&mut hotel.dice);
                    let outcome = hotel.apply(&book((property, room), night, id));
                    ensure!(reference(&outcome).is_some(), "refused: {outcome:?}");
                }
            }
            hotel.rooms.drain_events(&mut |_event| {});
        }
        Ok(hotel)
    }

    fn open(&mut self, number: u32) -> Result<()> {
        let property = property_name(number);
        let outcome = self.apply(&Command::AddProperty {
            property,
            open: false,
        });
        ensure!(outcome == Outcome::Done(Done::PropertyAdded), "{outcome:?}");
        for room in 0..ROOMS_PER_PROPERTY {
            let outcome = self.apply(&Command::AddRoom {
                property,
                room: room_name(room),
                room_type: Name::parse(b"double").expect("a word is a name"),
            });
            ensure!(outcome == Outcome::Done(Done::RoomAdded), "{outcome:?}");
        }
        Ok(())
    }

    fn apply(&mut self, command: &Command<'_>) -> Outcome {
        self.position = self.position.next();
        let context = Context {
            position: self.position,
            now: Timestamp(self.position.0),
            principal: &self.principal,
        };
        self.rooms.apply(&context, command)
    }

    /// The CPU time of a booking, in microseconds. What was booked is cancelled outside of the
    /// measured time, so that the number of bookings stays what it was.
    fn sample(&mut self) -> Result<f64> {
        let (mut cpu, mut booked) = (Duration::ZERO, 0);
        let mut outcomes = Vec::with_capacity(BATCH);
        for _ in 0..BATCHES {
            let commands: Vec<Command<'_>> = (0..BATCH).map(|_| self.anywhere()).collect();
            outcomes.clear();
            let begin = process::cpu_of_this_thread();
            for run in commands.chunks(AHEAD) {
                for command in run {
                    self.rooms.prefetch(command);
                }
                for command in run {
                    outcomes.push(self.apply(command));
                }
            }
            self.rooms.drain_events(&mut |_event| {});
            cpu += process::cpu_of_this_thread() - begin;
            for (command, outcome) in commands.iter().zip(&outcomes) {
                if let (Command::Book { id, .. }, Some(booking)) = (command, reference(outcome)) {
                    let outcome = self.apply(&Command::Cancel { booking, id: *id });
                    ensure!(is_cancelled(&outcome), "refused: {outcome:?}");
                    booked += 1;
                }
            }
            self.rooms.drain_events(&mut |_event| {});
        }
        Ok(us_each(cpu, booked))
    }

    fn anywhere(&mut self) -> Command<'static> {
        let property = self.dice.below(self.properties);
        let room = self.dice.below(u32::from(ROOMS_PER_PROPERTY));
        let night = self.dice.below(u32::from(NIGHTS_FREE));
        let small = |number| u16::try_from(number).expect("it is below a 16-bit bound");
        let id = guest(&mut self.dice);
        book((property, small(room)), NIGHTS_BOOKED + small(night), id)
    }
}

fn book((property, room): (u32, u16), night: u16, id: GuestId) -> Command<'static> {
    let arrival = Night::from_days(FIRST_NIGHT + night);
    let departure = Night::from_days(FIRST_NIGHT + night + 1);
    Command::Book {
        property: property_name(property),
        wish: Wish::Room(room_name(room)),
        stay: Stay::new(arrival, departure).expect("one night is a stay"),
        guest: GuestName::parse(b"ada").expect("ada is a name"),
        id,
    }
}

/// One guest of very many: hardly any comes twice.
fn guest(dice: &mut Draws) -> GuestId {
    GuestId {
        seal: dice.throw(),
        last_four: 2_346,
    }
}

fn property_name(number: u32) -> Name {
    Name::parse(format!("hotel-{number}").as_bytes()).expect("a short word is a name")
}

fn room_name(number: u16) -> Name {
    Name::parse(format!("{number:03}").as_bytes()).expect("digits are a name")
}

const fn reference(outcome: &Outcome) -> Option<Reference> {
    if let Outcome::Done(Done::Booked { reference, .. }) = outcome {
        Some(*reference)
    } else {
        None
    }
}

const fn is_cancelled(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Done(Done::Cancelled { .. }))
}

#[cfg(test)]
mod tests {
    use turnstile_rooms::{Command, Wish};

    use super::{Draws, ROOMS_PER_PROPERTY, book, guest, property_name, room_name};

    #[test]
    fn a_measured_booking_names_one_room_for_one_night() {
        let Command::Book {
            property,
            wish,
            stay,
            ..
        } = book((7, ROOMS_PER_PROPERTY - 1), 399, guest(&mut Draws::new(1)))
        else {
            panic!("it books");
        };
        assert_eq!(property, property_name(7));
        assert_eq!(wish, Wish::Room(room_name(99)));
        assert_eq!(stay.nights(), 1);
    }
}
