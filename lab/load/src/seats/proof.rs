//! Whether the bookings that the server lists are those that it acknowledged, and no seat is in two.

use std::{collections::BTreeMap, fmt, time::Instant};

use turnstile_check::{
    Charge,
    seats::{SeatBlock, SoldEntry},
};
use turnstile_client::Connection;
use turnstile_result::Rule;
use turnstile_services::seats::BookingNumber;
use turnstile_stats::units::Count;

use super::{ApartBuying, Buyer, PLAN, RunShow, plan::SoldBlock, show::ListedBooking};
use crate::{Error, again::Keyed, pace::Totals, point};

/// The reconciliation of a run with its server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Bookings that were acknowledged and not cancelled.
    pub acknowledged: u64,
    /// Bookings that the server lists at the end, and their seats.
    pub listed: u64,
    pub seats: u64,
    /// Requests without an answer that says whether they were carried out.
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

    fn accuse(&mut self, charge: Charge) {
        self.violations.extend(charge.sentences());
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
            write!(f, ", {} requests unknown", Count(self.unknown))?;
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
        Self(vec![None; PLAN.seats()])
    }

    /// Gives the seats to this booking; it is a violation that another has one of them.
    fn give(&mut self, seats: &SeatBlock, reference: BookingNumber, twice: &mut Charge) {
        for seat in PLAN.numbers(seats) {
            if let Some(other) = self.0[seat].replace(reference) {
                twice.add(|| format!("{other} and {reference} share a seat of {seats}"));
            }
        }
    }

    /// Free seats of a section.
    fn free(&self, section: usize) -> usize {
        let seats = PLAN.section_seats();
        let seats = &self.0[section * seats..][..seats];
        seats.iter().filter(|owner| owner.is_none()).count()
    }
}

/// Compares the answers of the run with the server's listing of the show and its counts of free seats.
pub(super) fn prove(
    door: &mut Connection,
    show: &RunShow,
    totals: &Totals<Keyed<Buyer<ApartBuying>>>,
) -> Result<Proof, Error> {
    let operations = &totals.tally.operations;
    let mut proof = Proof {
        unknown: operations.iter().map(|operation| operation.unknown).sum(),
        ..Proof::default()
    };
    let acknowledged = acknowledged(&mut proof, &totals.users);
    let owners = compare(&mut proof, acknowledged, &show.list(door)?);
    count_free(door, show, &mut proof, &owners)?;
    Ok(proof)
}

/// The bookings that the answers of the run leave standing.
fn acknowledged(
    proof: &mut Proof,
    buyers: &[Keyed<Buyer<ApartBuying>>],
) -> BTreeMap<BookingNumber, SeatBlock> {
    let plans = || buyers.iter().map(|buyer| buyer.user.plan());
    let mut standing = BTreeMap::new();
    let mut again = Charge::default();
    for booking in plans().flat_map(ApartBuying::held) {
        let reference = BookingNumber(booking.number);
        if standing.insert(reference, booking.seats).is_some() {
            again.add(|| format!("two bookings were acknowledged as {reference}"));
        }
    }
    proof.acknowledged = number(standing.len());
    proof.accuse(again);
    let held = plans()
        .flat_map(ApartBuying::held)
        .map(|booking| (booking, None));
    let past = plans().flat_map(ApartBuying::past);
    let past = past.map(|(booking, until)| (booking, Some(*until)));
    proof.accuse(shared(held.chain(past)));
    let strange: u64 = plans().map(ApartBuying::strange).sum();
    if strange > 0 {
        let sentence =
            format!("{strange} bookings were answered with seats that were not asked for");
        proof.violations.push(sentence);
    }
    standing
}

/// Seats that two bookings had at once: each from its acknowledgement until its cancellation was asked for,
/// if it was.
fn shared<'a>(bookings: impl Iterator<Item = (&'a SoldBlock, Option<Instant>)>) -> Charge {
    let mut claims = Vec::new();
    for (booking, until) in bookings {
        let seats = PLAN.numbers(&booking.seats);
        claims.extend(seats.map(|seat| (seat, booking, until)));
    }
    claims.sort_unstable_by_key(|&(seat, booking, _)| (seat, booking.since));
    let mut twice = Charge::default();
    let mut last: Option<(usize, &SoldBlock, Option<Instant>)> = None;
    for (seat, booking, until) in claims {
        if let Some((_, holder, held_until)) = last.filter(|(other, ..)| *other == seat) {
            let had = held_until.is_none_or(|end| booking.since < end);
            if had && holder.number != booking.number {
                let [first, second] = [holder.number, booking.number].map(BookingNumber);
                let seats = booking.seats;
                twice.add(|| format!("{first} and {second} had a seat of {seats} at once"));
            }
            if held_until.is_none_or(|end| until.is_some_and(|until| until <= end)) {
                continue;
            }
        }
        last = Some((seat, booking, until));
    }
    twice
}

/// Compares the listing with the answers; whose every listed seat is.
fn compare(
    proof: &mut Proof,
    mut acknowledged: BTreeMap<BookingNumber, SeatBlock>,
    listed: &[ListedBooking],
) -> Owners {
    let mut owners = Owners::new();
    let (mut twice, mut other) = (Charge::default(), Charge::default());
    let (mut extra, mut extras) = (Charge::default(), 0);
    for &(reference, entry) in listed {
        let seats = entry.map(|SoldEntry { seats, .. }| seats);
        let seats = seats.filter(|seats| PLAN.has(seats));
        if let Some(seats) = &seats {
            owners.give(seats, reference, &mut twice);
            proof.seats += u64::from(seats.count());
        }
        let shown = seats.map_or_else(|| "strange seats".to_owned(), |seats| seats.to_string());
        match acknowledged.remove(&reference) {
            Some(sold) if Some(sold) == seats => {}
            Some(sold) => other.add(|| {
                format!("{reference} was acknowledged for {sold}, but is listed with {shown}")
            }),
            None => {
                extras += 1;
                extra.add(|| {
                    format!(
                        "{reference} is listed with {shown}, but was cancelled or never acknowledged"
                    )
                });
            }
        }
    }
    proof.listed = number(listed.len());
    proof.accuse(twice);
    proof.accuse(other);
    // A request whose outcome is unknown may have left a booking.
    if extras > proof.unknown {
        proof.accuse(extra);
    }
    let mut missing = Charge::default();
    for (reference, seats) in &acknowledged {
        missing.add(|| format!("{reference} was acknowledged for {seats}, but is not listed"));
    }
    proof.accuse(missing);
    owners
}

/// Compares the server's counts of free seats with its listing.
fn count_free(
    door: &mut Connection,
    show: &RunShow,
    proof: &mut Proof,
    owners: &Owners,
) -> Result<(), Error> {
    for (section, (count, _)) in show.availability(door)?.into_iter().enumerate() {
        let free = owners.free(section);
        if usize::try_from(count) != Ok(free) {
            proof.violations.push(format!(
                "section s{section} has {count} free seats, but its bookings leave {free}"
            ));
        }
    }
    Ok(())
}

fn number(count: usize) -> u64 {
    u64::try_from(count).expect("a show is small")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_seat_that_two_had_while_one_was_cancelled_is_shared() {
        let begin = Instant::now();
        let at = |second| begin + Duration::from_secs(second);
        let booking = |number, seat, second| SoldBlock {
            number,
            seats: SeatBlock::adjacent(0, 0, seat, 2),
            since: at(second),
        };
        let first = (booking(1, 0, 1), Some(at(3)));
        let rows = [
            ((booking(2, 1, 2), None), 1),
            ((booking(2, 1, 2), Some(at(9))), 1),
            // The seats were free again, or others.
            ((booking(2, 1, 3), None), 0),
            ((booking(2, 2, 2), None), 0),
            // Its cancellation was refused.
            ((booking(1, 0, 1), None), 0),
        ];
        for (second, count) in rows {
            for order in [[first, second], [second, first]] {
                let found = shared(order.iter().map(|(booking, until)| (booking, *until)));
                assert_eq!(found.sentences().len(), count, "{order:?}");
            }
        }
    }
}
