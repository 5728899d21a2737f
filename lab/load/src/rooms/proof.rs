//! Whether the server did exactly what it acknowledged, and sold nothing twice.

use std::fmt;

use turnstile_check::{
    Charge, Model as _,
    rooms::{Booked, Cancelled, InlineReference, Operation, Place, Table},
};
use turnstile_client::{Connection, resp::Value};
use turnstile_result::Rule;
use turnstile_stats::units::Count;

use super::{Apart, Booking, PROPERTY, RoomNames, RoomVisitor};
use crate::{
    Error,
    door::{self, RoomCounters, field, refusal},
    pace::{self, Totals},
    point,
};

type Visitors = Totals<RoomVisitor<Apart>>;

/// How many bookings that stand, and how many cancelled ones, are looked up.
const LOOK_UPS_MAX: usize = 10_000;

/// How many bookings that stand are asked for again, by somebody else.
const ASKED_AGAIN_MAX: usize = 1_000;

/// How many questions are under way at once.
const BATCH: usize = 100;

/// The id number of somebody who never booked.
const SOMEBODY_ELSE: u64 = 100_000_000_001;

/// The reconciliation of a run with its server.
///
/// Bounds: uniqueness is checked for the first 8,388,608 references (`references_left_out` says
/// how many more there were), in at most 256 MiB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// Acknowledged to the generator, over the whole run.
    pub sold: u64,
    pub cancelled: u64,
    /// Requests without an answer that says whether they were carried out.
    pub sold_unknown: u64,
    pub cancelled_unknown: u64,
    /// By the server's own counters, after the run less before.
    pub sold_by_server: u64,
    pub cancelled_by_server: u64,
    pub references_checked: u64,
    pub references_left_out: u64,
    /// References given more than once, and rooms sold again while they were sold.
    pub twice: u64,
    /// Bookings that stand: looked up, and found as they were made.
    pub standing_looked_up: u64,
    /// Cancelled bookings: looked up, and not found.
    pub cancelled_looked_up: u64,
    /// Sold nights that somebody else asked for after the run, and was refused.
    pub asked_again: u64,
    /// A sentence for each broken promise; when there is none, the run is proven.
    pub violations: Vec<String>,
}

impl Proof {
    /// Whether no promise was broken.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.violations.is_empty()
    }

    /// The same for `run.json`.
    pub(super) fn rule(&self) -> Rule {
        let rule = "every booking and cancellation that was acknowledged was carried out once, and \
            no room was sold twice";
        point::found(point::rule(rule, &self.violations, None), self)
    }
}

/// Reconciles the server's counters, then holds what it says of the bookings against the witness, to
/// which everything is told that is looked up.
pub(super) fn prove(
    door: &mut Connection,
    before: RoomCounters,
    totals: &Visitors,
) -> Result<Proof, Error> {
    let (_, after) = door::info(door)?;
    let mut proof = reconcile(before, after, &totals.tally.operations);
    check_references(&mut proof, totals);
    let mut told = Told::of(totals);
    told.look_up(door, &mut proof)?;
    told.ask_again(door, &mut proof)?;
    proof.violations.extend(told.charge.sentences());
    Ok(proof)
}

fn reconcile(before: RoomCounters, after: RoomCounters, operations: &[pace::Operation]) -> Proof {
    let [book, cancel] = operations else {
        panic!("the rooms workload has two operations");
    };
    let mut proof = Proof {
        sold: book.done,
        cancelled: cancel.done,
        sold_unknown: book.unknown,
        cancelled_unknown: cancel.unknown,
        sold_by_server: after.booked.saturating_sub(before.booked),
        cancelled_by_server: after.cancelled.saturating_sub(before.cancelled),
        references_checked: 0,
        references_left_out: 0,
        twice: 0,
        standing_looked_up: 0,
        cancelled_looked_up: 0,
        asked_again: 0,
        violations: Vec::new(),
    };
    let rows = [
        ("sold", proof.sold_by_server, book),
        ("cancelled", proof.cancelled_by_server, cancel),
    ];
    for (word, counted, operation) in rows {
        let least = operation.done;
        let most = least + operation.unknown;
        if !(least..=most).contains(&counted) {
            proof.violations.push(format!(
                "the server counts {counted} {word}, between {least} and {most} were acknowledged \
                 (unless another client used it)"
            ));
        }
    }
    // The bookings that stand must follow from the two counters, exactly.
    if after.standing + proof.cancelled_by_server != before.standing + proof.sold_by_server {
        proof.violations.push(format!(
            "{} bookings stood before and {} after, which {} sold and {} cancelled do not explain",
            before.standing, after.standing, proof.sold_by_server, proof.cancelled_by_server
        ));
    }
    proof
}

fn check_references(proof: &mut Proof, totals: &Visitors) {
    let mut all = Vec::new();
    for visitor in &totals.users {
        let (references, left_out) = visitor.plan().references();
        all.extend_from_slice(references);
        proof.references_left_out += left_out;
    }
    all.sort_unstable();
    proof.references_checked = u64::try_from(all.len()).expect("references are bounded");
    let mut charge = Charge::default();
    for pair in all.windows(2) {
        if pair[0] == pair[1] {
            charge.add(|| format!("reference {} was given twice", pair[0]));
            proof.twice += 1;
        }
    }
    proof.violations.extend(charge.sentences());
}

/// Bookings that are looked up, and what the witness makes of them. Each has a room of its own in the
/// table: no two are for the same.
struct Told<'a> {
    table: Table,
    sample: Vec<(&'a RoomNames, Booking)>,
    /// How many of them stand, from the first.
    standing: usize,
    position: u64,
    charge: Charge,
}

impl<'a> Told<'a> {
    fn of(totals: &'a Visitors) -> Self {
        let mut sample = sample(totals, |plan| plan.held().iter());
        let standing = sample.len();
        sample.extend(self::sample(totals, |plan| plan.cancelled().iter()));
        let rooms = u32::try_from(sample.len()).expect("a sample is small");
        let mut told = Self {
            table: Table::new(rooms, 2),
            sample,
            standing,
            position: 0,
            charge: Charge::default(),
        };
        for number in 0..told.sample.len() {
            let (place, booking) = (Self::place(number), told.sample[number].1);
            let (reference, id) = (booking.reference, booking.id);
            let answer = Booked::Done(reference);
            told.hear(number, &Operation::Book { place, id, answer });
            if number >= standing {
                let answer = Cancelled::Done(place);
                told.hear(
                    number,
                    &Operation::Cancel {
                        reference,
                        id: Some(id),
                        answer,
                    },
                );
            }
        }
        told
    }

    /// Where a booking is in the table: in the first of two nights.
    fn place(number: usize) -> Place {
        Place {
            room: u32::try_from(number).expect("a sample is small"),
            night: 0,
            nights: 1,
        }
    }

    fn hear(&mut self, number: usize, operation: &Operation) {
        self.position += 1;
        if let Err(sentence) = self.table.apply(self.position, operation) {
            let room = self.room(number);
            self.charge.add(|| format!("{sentence}: {room}"));
        }
    }

    /// In words, what room of the server that of the table is.
    fn room(&self, number: usize) -> String {
        let (names, booking) = &self.sample[number];
        let room = String::from_utf8_lossy(&text(names, booking)[0]).into_owned();
        format!("room {number} is {room}, reference {}", booking.reference)
    }

    /// What stands is found as it was made, and what was cancelled is not.
    fn look_up(&mut self, door: &mut Connection, proof: &mut Proof) -> Result<(), Error> {
        let numbers: Vec<usize> = (0..self.sample.len()).collect();
        let mut request = Vec::new();
        for batch in numbers.chunks(BATCH) {
            for &number in batch {
                request.clear();
                self.sample[number].1.reference.put_text(&mut request);
                door.send(&[b"ROOMS.LOOK-UP", &request]);
            }
            for &number in batch {
                let answer = door.receive()?;
                self.look(number, &answer);
            }
        }
        proof.standing_looked_up = u64::try_from(self.standing).expect("a sample is small");
        let cancelled = self.sample.len() - self.standing;
        proof.cancelled_looked_up = u64::try_from(cancelled).expect("a sample is small");
        Ok(())
    }

    fn look(&mut self, number: usize, answer: &Value) {
        let (names, booking) = &self.sample[number];
        let place = Self::place(number);
        let [room, arrival, departure] = text(names, booking);
        let is = |name, text: &[u8]| field(answer, name).and_then(Value::as_bytes) == Some(text);
        let as_made = is("state", b"booked")
            && is("room", &room)
            && is("arrival", &arrival)
            && is("departure", &departure);
        let found = match refusal(answer) {
            Some("not_found" | "ended") => None,
            _ if as_made => Some((booking.reference, place)),
            // It is somewhere else.
            _ => Some((booking.reference, Place { night: 1, ..place })),
        };
        let reading = Operation::Look { place, found };
        if !self.table.agrees(&reading) {
            let (shown, room) = (self.table.shown(&reading), self.room(number));
            self.charge
                .add(|| format!("{shown}, but it is {answer}: {room}"));
        }
    }

    /// Somebody else asks for nights that are sold: only a refusal will do. A booking that was wrongly
    /// sold again stays with the server, as evidence.
    fn ask_again(&mut self, door: &mut Connection, proof: &mut Proof) -> Result<(), Error> {
        let step = self.standing.div_ceil(ASKED_AGAIN_MAX).max(1);
        let numbers: Vec<usize> = (0..self.standing).step_by(step).collect();
        let id = SOMEBODY_ELSE.to_string();
        for batch in numbers.chunks(BATCH) {
            for &number in batch {
                let (names, booking) = &self.sample[number];
                let [room, arrival, departure] = text(names, booking);
                door.send(&[
                    b"ROOMS.BOOK",
                    PROPERTY.as_bytes(),
                    &room,
                    &arrival,
                    &departure,
                    b"somebody-else",
                    id.as_bytes(),
                ]);
            }
            for &number in batch {
                let Some(answer) = sold(&door.receive()?) else {
                    continue;
                };
                proof.asked_again += 1;
                proof.twice += u64::from(matches!(answer, Booked::Done(_)));
                let (place, id) = (Self::place(number), SOMEBODY_ELSE);
                self.hear(number, &Operation::Book { place, id, answer });
            }
        }
        Ok(())
    }
}

/// The answer to a booking of one night; nothing when that is a place in line, which decides nothing.
fn sold(answer: &Value) -> Option<Booked> {
    let done = match answer.as_array().unwrap_or_default() {
        [Value::Integer(2), ..] => return None,
        [Value::Integer(1), reference, ..] => reference.as_bytes(),
        _ => None,
    };
    let done = done.and_then(|text| InlineReference::parse(text).ok());
    Some(match (done, refusal(answer)) {
        (Some(reference), _) => Booked::Done(reference),
        (None, Some("sold_out")) => Booked::SoldOut(1),
        (None, _) => Booked::Strange,
    })
}

/// A booking's room, arrival and departure.
fn text(names: &RoomNames, booking: &Booking) -> [Vec<u8>; 3] {
    let Place {
        room,
        night,
        nights,
    } = booking.place;
    let mut name = Vec::new();
    names.put_room(&mut name, room);
    [
        name,
        names.night(night).to_vec(),
        names.night(night + nights).to_vec(),
    ]
}

/// At most 10,000 bookings, as evenly as may be from all visitors, from the oldest to the newest of
/// each.
fn sample<'a, I>(totals: &'a Visitors, of: impl Fn(&'a Apart) -> I) -> Vec<(&'a RoomNames, Booking)>
where
    I: ExactSizeIterator<Item = &'a Booking>,
{
    let share = LOOK_UPS_MAX.div_ceil(totals.users.len().max(1));
    let mut sample = Vec::new();
    for visitor in &totals.users {
        let bookings = of(visitor.plan());
        let step = bookings.len().div_ceil(share).max(1);
        let bookings = bookings.step_by(step);
        sample.extend(bookings.map(|&booking| (visitor.names(), booking)));
    }
    sample.truncate(LOOK_UPS_MAX);
    sample
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "proof: {} sold, {} cancelled, {} twice",
            Count(self.sold),
            Count(self.cancelled),
            Count(self.twice)
        )?;
        let unknown = self.sold_unknown + self.cancelled_unknown;
        if unknown > 0 {
            write!(f, ", {} unknown", Count(unknown))?;
        }
        write!(
            f,
            "\n       {} references unique",
            Count(self.references_checked)
        )?;
        if self.references_left_out > 0 {
            write!(
                f,
                " (of {} more not checked)",
                Count(self.references_left_out)
            )?;
        }
        write!(
            f,
            ", {} standing found, {} cancelled gone, {} asked again",
            Count(self.standing_looked_up),
            Count(self.cancelled_looked_up),
            Count(self.asked_again)
        )?;
        for violation in &self.violations {
            write!(f, "\n       VIOLATED: {violation}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Proof;

    #[test]
    fn a_proof_is_told_in_two_lines_and_one_for_each_violation() {
        let mut proof = Proof {
            sold: 12_345,
            cancelled: 5_000,
            sold_unknown: 0,
            cancelled_unknown: 0,
            sold_by_server: 12_345,
            cancelled_by_server: 5_000,
            references_checked: 12_345,
            references_left_out: 0,
            twice: 0,
            standing_looked_up: 7_345,
            cancelled_looked_up: 4_000,
            asked_again: 1_000,
            violations: Vec::new(),
        };
        assert!(proof.holds());
        assert_eq!(
            proof.to_string(),
            "proof: 12 345 sold, 5 000 cancelled, 0 twice\n       \
             12 345 references unique, 7 345 standing found, 4 000 cancelled gone, \
             1 000 asked again"
        );
        proof.sold_unknown = 3;
        proof.references_left_out = 9;
        proof.violations = vec!["promise 0".to_owned(), "promise 1".to_owned()];
        assert!(!proof.holds());
        assert_eq!(
            proof.to_string(),
            "proof: 12 345 sold, 5 000 cancelled, 0 twice, 3 unknown\n       \
             12 345 references unique (of 9 more not checked), 7 345 standing found, \
             4 000 cancelled gone, 1 000 asked again\n       \
             VIOLATED: promise 0\n       VIOLATED: promise 1"
        );
    }
}
