//! Whether the bookings that the server lists are those that it acknowledged, and no seat is in two.

use std::{collections::BTreeMap, fmt};

use turnstile_client::{Connection, resp::Value};
use turnstile_result::Rule;
use turnstile_services::seats::BookingNumber;
use turnstile_stats::units::Count;

use super::{Block, Buyer, SEATS, SECTION_SEATS, SECTIONS};
use crate::{Error, door::field, pace::Totals, point};

/// How many violations of one kind are told one by one.
const TOLD_MAX: usize = 5;

/// Bookings of a page of the listing.
const PAGE: &[u8] = b"1000";

/// The reconciliation of a run with its server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Bookings that were acknowledged and not cancelled.
    pub acknowledged: u64,
    /// Bookings that the server lists at the end, and their seats.
    pub listed: u64,
    pub seats: u64,
    /// Requests whose answer never came: each may have been carried out or not.
    pub unknown: u64,
    /// A sentence for each broken promise; when there is none, the run is proven.
    pub violations: Vec<String>,
}

impl Proof {
    /// The same for `run.json`.
    pub(super) fn rule(&self) -> Rule {
        let rule = "no seat was sold twice, every booking that was acknowledged and not cancelled is \
            listed with its seats, and all other seats are free";
        point::found(point::rule(rule, &self.violations, None), self)
    }

    /// Adds what was found of one kind.
    fn tell(&mut self, found: Vec<String>) {
        let more = found.len().saturating_sub(TOLD_MAX);
        self.violations.extend(found.into_iter().take(TOLD_MAX));
        if more > 0 {
            self.violations
                .push(format!("and {more} more of that kind"));
        }
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "proof: {} bookings acknowledged, {} listed with {} seats",
            Count(self.acknowledged),
            Count(self.listed),
            Count(self.seats)
        )?;
        if self.unknown > 0 {
            write!(f, ", {} requests without an answer", Count(self.unknown))?;
        }
        for violation in &self.violations {
            write!(f, "\n       VIOLATED: {violation}")?;
        }
        Ok(())
    }
}

/// Whose every seat is.
struct Owners(Vec<Option<BookingNumber>>);

impl Owners {
    fn new() -> Self {
        Self(vec![None; SEATS])
    }

    /// Gives the seats to this booking, and says which of them had another.
    fn give(&mut self, block: Block, reference: BookingNumber) -> Vec<String> {
        let mut twice = Vec::new();
        for seat in block.seats() {
            if let Some(other) = self.0[seat].replace(reference) {
                twice.push(format!("{other} and {reference} share a seat of {block}"));
            }
        }
        twice
    }

    /// Free seats of a section.
    fn free(&self, section: usize) -> usize {
        let seats = &self.0[section * SECTION_SEATS..][..SECTION_SEATS];
        seats.iter().filter(|owner| owner.is_none()).count()
    }
}

/// Compares the answers of the run with the server's listing of the show and its counts of free seats.
pub(super) fn prove(
    door: &mut Connection,
    show: &str,
    totals: &Totals<Buyer>,
) -> Result<Proof, Error> {
    let operations = &totals.tally.operations;
    let mut proof = Proof {
        unknown: operations.iter().map(|operation| operation.unknown).sum(),
        ..Proof::default()
    };
    let acknowledged = acknowledged(&mut proof, &totals.users);
    let owners = compare(&mut proof, acknowledged, &list(door, show)?);
    count_free(door, show, &mut proof, &owners)?;
    Ok(proof)
}

/// The bookings that the answers of the run leave standing.
fn acknowledged(proof: &mut Proof, buyers: &[Buyer]) -> BTreeMap<BookingNumber, Block> {
    let mut standing = BTreeMap::new();
    let mut owners = Owners::new();
    let (mut again, mut twice) = (Vec::new(), Vec::new());
    for booking in buyers.iter().flat_map(Buyer::held) {
        let reference = booking.reference;
        twice.extend(owners.give(booking.block, reference));
        if standing.insert(reference, booking.block).is_some() {
            again.push(format!("two bookings were acknowledged as {reference}"));
        }
    }
    proof.acknowledged = number(standing.len());
    proof.tell(again);
    proof.tell(twice);
    let strange: u64 = buyers.iter().map(Buyer::strange).sum();
    if strange > 0 {
        let sentence =
            format!("{strange} bookings were answered with seats that were not asked for");
        proof.violations.push(sentence);
    }
    standing
}

/// A listed booking; no block where its seats are not adjacent ones of the show.
type Listed = (BookingNumber, Option<Block>);

/// Every booking of the show that the server lists.
fn list(door: &mut Connection, show: &str) -> Result<Vec<Listed>, Error> {
    let mut listed = Vec::new();
    let mut cursor: Option<Value> = None;
    loop {
        let mut words = vec![&b"SEATS.LIST-BOOKINGS"[..], show.as_bytes(), b"LIMIT", PAGE];
        let from = cursor.as_ref().and_then(cursor_text);
        if let Some(from) = &from {
            words.extend([&b"CURSOR"[..], from.as_bytes()]);
        }
        let page = door.command(&words)?;
        let entries = field(&page, "entries").and_then(Value::as_array);
        let read: Option<Vec<Listed>> =
            entries.and_then(|entries| entries.iter().map(listed_booking).collect());
        let Some(read) = read else {
            return Err(unusable("SEATS.LIST-BOOKINGS", &page));
        };
        listed.extend(read);
        cursor = field(&page, "next").cloned();
        if cursor.as_ref().and_then(cursor_text).is_none() {
            return Ok(listed);
        }
    }
}

fn cursor_text(cursor: &Value) -> Option<String> {
    match cursor {
        Value::Integer(number) => Some(number.to_string()),
        other => other.as_str().map(str::to_owned),
    }
}

fn listed_booking(entry: &Value) -> Option<Listed> {
    let reference = field(entry, "reference")?.as_bytes()?;
    let section = field(entry, "section")?.as_str()?;
    let seats = field(entry, "seats")?.as_array()?;
    let section = section.strip_prefix('s')?.parse().ok()?;
    let texts = seats.iter().map_while(Value::as_bytes);
    Some((
        BookingNumber::parse(reference).ok()?,
        Block::parse(section, texts),
    ))
}

/// Compares the listing with the answers; whose every listed seat is.
fn compare(
    proof: &mut Proof,
    mut acknowledged: BTreeMap<BookingNumber, Block>,
    listed: &[Listed],
) -> Owners {
    let mut owners = Owners::new();
    let (mut twice, mut other, mut extra) = (Vec::new(), Vec::new(), Vec::new());
    for &(reference, block) in listed {
        if let Some(block) = block {
            twice.extend(owners.give(block, reference));
            proof.seats += number(block.count());
        }
        let shown = block.map_or_else(|| "strange seats".to_owned(), |block| block.to_string());
        match acknowledged.remove(&reference) {
            Some(sold) if Some(sold) == block => {}
            Some(sold) => other.push(format!(
                "{reference} was acknowledged for {sold}, but is listed with {shown}"
            )),
            None => extra.push(format!(
                "{reference} is listed with {shown}, but was cancelled or never acknowledged"
            )),
        }
    }
    proof.listed = number(listed.len());
    proof.tell(twice);
    proof.tell(other);
    // A request without an answer may have left a booking.
    if number(extra.len()) > proof.unknown {
        proof.tell(extra);
    }
    let missing = acknowledged.iter().map(|(reference, block)| {
        format!("{reference} was acknowledged for {block}, but is not listed")
    });
    proof.tell(missing.collect());
    owners
}

/// Compares the server's counts of free seats with its listing.
fn count_free(
    door: &mut Connection,
    show: &str,
    proof: &mut Proof,
    owners: &Owners,
) -> Result<(), Error> {
    let answer = door.command(&[b"SEATS.GET-AVAILABILITY", show.as_bytes()])?;
    let sections = field(&answer, "sections").and_then(Value::as_array);
    let Some(sections) = sections.filter(|sections| sections.len() == SECTIONS) else {
        return Err(unusable("SEATS.GET-AVAILABILITY", &answer));
    };
    for (section, told) in sections.iter().enumerate() {
        let free = owners.free(section);
        let expected = i64::try_from(free).expect("a show is small");
        match field(told, "free") {
            Some(Value::Integer(count)) if *count == expected => {}
            Some(count) => proof.violations.push(format!(
                "section s{section} has {count} free seats, but its bookings leave {free}"
            )),
            None => return Err(unusable("SEATS.GET-AVAILABILITY", &answer)),
        }
    }
    Ok(())
}

fn number(count: usize) -> u64 {
    u64::try_from(count).expect("a show is small")
}

fn unusable(command: &'static str, answer: &Value) -> Error {
    let answer = answer.to_string();
    Error::Preparation { command, answer }
}
