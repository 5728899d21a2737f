//! Whether the server did exactly what it acknowledged, and sold nothing twice.

use std::fmt;

use serde::Serialize;
use turnstile_client::{Connection, resp::Value};
use turnstile_result::Rule;
use turnstile_stats::units::Count;

use super::{Guest, guest::Booking};
use crate::{
    Error,
    door::{self, Counters, field, refusal},
    pace::{Operation, Totals},
    point,
};

/// How many bookings that stand, and how many cancelled ones, are looked up.
const LOOK_UPS_MAX: usize = 10_000;

/// How many bookings that stand are asked for again, by somebody else.
const ASKED_AGAIN_MAX: usize = 1_000;

/// How many questions are under way at once.
const BATCH: usize = 100;

/// How many violations of one kind are told one by one.
const TOLD_MAX: u64 = 5;

/// The reconciliation of a run with its server.
///
/// Bounds: uniqueness is checked for the first 8,388,608 references (`references_left_out` says
/// how many more there were), in at most 256 MiB.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// Acknowledged to the generator, over the whole run.
    pub sold: u64,
    pub cancelled: u64,
    /// Requests whose answer never came: each may have been carried out or not.
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
        point::rule(rule, &self.violations, None)
    }

    fn violate(&mut self, before: u64, sentence: impl FnOnce() -> String) {
        if before < TOLD_MAX {
            self.violations.push(sentence());
        } else if before == TOLD_MAX {
            self.violations.push("and more of that kind".to_owned());
        }
    }
}

/// Reconciles the server's counters, then asks it about what it acknowledged.
pub(super) fn prove(
    door: &mut Connection,
    property: &str,
    before: Counters,
    totals: &mut Totals<Guest>,
) -> Result<Proof, Error> {
    let (_, after) = door::info(door)?;
    let mut proof = reconcile(before, after, &totals.tally.operations);
    check_references(&mut proof, &totals.users);
    look_up_standing(door, &mut proof, &mut totals.users)?;
    look_up_cancelled(door, &mut proof, &mut totals.users)?;
    ask_again(door, property, &mut proof, &mut totals.users)?;
    Ok(proof)
}

fn reconcile(before: Counters, after: Counters, operations: &[Operation]) -> Proof {
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
                 (unless somebody else used it)"
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

fn check_references(proof: &mut Proof, guests: &[Guest]) {
    let mut all = Vec::new();
    for guest in guests {
        let (references, left_out) = guest.references();
        all.extend_from_slice(references);
        proof.references_left_out += left_out;
    }
    all.sort_unstable();
    proof.references_checked = u64::try_from(all.len()).expect("references are bounded");
    for pair in all.windows(2) {
        if pair[0] == pair[1] {
            let text = String::from_utf8_lossy(&pair[0].to_be_bytes())
                .trim_end_matches('\0')
                .to_owned();
            proof.violate(proof.twice, || format!("reference {text} was given twice"));
            proof.twice += 1;
        }
    }
}

fn look_up_standing(
    door: &mut Connection,
    proof: &mut Proof,
    guests: &mut [Guest],
) -> Result<(), Error> {
    let sample = sample(guests, LOOK_UPS_MAX, |guest| guest.held().iter());
    let mut missing = 0;
    for batch in sample.chunks(BATCH) {
        for (_, booking) in batch {
            door.send(&[b"ROOMS.LOOK-UP", booking.reference()]);
        }
        for (guest, booking) in batch {
            let answer = door.receive()?;
            let room = guests[*guest].place(booking).room;
            proof.standing_looked_up += 1;
            let found = field(&answer, "room").and_then(Value::as_bytes);
            if found != Some(room) {
                proof.violate(missing, || {
                    let room = String::from_utf8_lossy(room);
                    format!(
                        "{} for room {room} was sold, but is {answer}",
                        shown(booking)
                    )
                });
                missing += 1;
            }
        }
    }
    Ok(())
}

fn look_up_cancelled(
    door: &mut Connection,
    proof: &mut Proof,
    guests: &mut [Guest],
) -> Result<(), Error> {
    let sample = sample(guests, LOOK_UPS_MAX, |guest| guest.cancelled().iter());
    let mut found = 0;
    for batch in sample.chunks(BATCH) {
        for (_, booking) in batch {
            door.send(&[b"ROOMS.LOOK-UP", booking.reference()]);
        }
        for (_, booking) in batch {
            let answer = door.receive()?;
            proof.cancelled_looked_up += 1;
            if refusal(&answer).is_none() {
                proof.violate(found, || {
                    format!("{} was cancelled, but is {answer}", shown(booking))
                });
                found += 1;
            }
        }
    }
    Ok(())
}

/// Somebody else asks for nights that are sold: only a refusal will do. A booking that was wrongly
/// sold again stays with the server, as evidence.
fn ask_again(
    door: &mut Connection,
    property: &str,
    proof: &mut Proof,
    guests: &mut [Guest],
) -> Result<(), Error> {
    let sample = sample(guests, ASKED_AGAIN_MAX, |guest| guest.held().iter());
    let mut wrong = 0;
    for batch in sample.chunks(BATCH) {
        for (guest, booking) in batch {
            let place = guests[*guest].place(booking);
            door.send(&[
                b"ROOMS.BOOK",
                property.as_bytes(),
                place.room,
                place.arrival,
                place.departure,
                b"somebody-else",
                b"100000000001",
            ]);
        }
        for (guest, booking) in batch {
            let answer = door.receive()?;
            proof.asked_again += 1;
            if refusal(&answer) != Some("sold_out") {
                let sold = answer.as_array().and_then(<[Value]>::first);
                proof.twice += u64::from(sold == Some(&Value::Integer(1)));
                let room = guests[*guest].place(booking).room;
                proof.violate(wrong, || {
                    let room = String::from_utf8_lossy(room);
                    format!("room {room} was sold, and asked for again it is {answer}")
                });
                wrong += 1;
            }
        }
    }
    Ok(())
}

/// At most `most` bookings, as evenly as may be from all guests, from the oldest to the newest of
/// each; with the guest's place among the guests.
fn sample<'a, I>(
    guests: &'a [Guest],
    most: usize,
    of: impl Fn(&'a Guest) -> I,
) -> Vec<(usize, Booking)>
where
    I: ExactSizeIterator<Item = &'a Booking>,
{
    let share = most.div_ceil(guests.len().max(1));
    let mut sample = Vec::new();
    for (number, guest) in guests.iter().enumerate() {
        let bookings = of(guest);
        let step = bookings.len().div_ceil(share).max(1);
        sample.extend(bookings.step_by(step).map(|&booking| (number, booking)));
    }
    sample.truncate(most);
    sample
}

fn shown(booking: &Booking) -> String {
    String::from_utf8_lossy(booking.reference()).into_owned()
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
        for told in 0..10 {
            proof.violate(told, || format!("promise {told}"));
        }
        assert!(!proof.holds());
        assert_eq!(
            proof.to_string(),
            "proof: 12 345 sold, 5 000 cancelled, 0 twice, 3 unknown\n       \
             12 345 references unique (of 9 more not checked), 7 345 standing found, \
             4 000 cancelled gone, 1 000 asked again\n       \
             VIOLATED: promise 0\n       VIOLATED: promise 1\n       VIOLATED: promise 2\n       \
             VIOLATED: promise 3\n       VIOLATED: promise 4\n       VIOLATED: and more of that kind"
        );
    }
}
