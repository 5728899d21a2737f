//! What must hold of a state.

use std::collections::{BTreeMap, BTreeSet};

use turnstile_chassis::{Faults, OpenCounts};

use crate::{SeatEntryState, Seats, Totals};

/// Checks everything that is kept twice against each other: the seats of bookings and the owners of
/// seats, holds and their expiries, the seats that are free, the totals.
pub(crate) fn examine(seats: &Seats) -> Result<(), Vec<String>> {
    let mut faults = Faults::default();
    check_owners(seats, &mut faults);
    check_expiries(seats, &mut faults);
    check_names(seats, &mut faults);
    check_totals(seats, &mut faults);
    faults.verdict()
}

/// Every seat of a booking knows that booking, so that none is sold twice, and no other seat is taken.
fn check_owners(seats: &Seats, faults: &mut Faults) {
    let mut sold = 0;
    for (number, booking) in &seats.bookings {
        let section = seats.shows.get(booking.show);
        let section = section.and_then(|show| show.sections.get(booking.section));
        for seat in booking.seats.iter() {
            let owner = section.and_then(|section| section.owner(seat).ok().flatten());
            faults.unless(owner == Some(*number), || {
                format!("seat {seat} of {number} belongs to {owner:?}")
            });
        }
        sold += booking.seats.len();
    }
    let mut taken = 0;
    for show in &seats.shows {
        for section in &show.sections {
            let name = || format!("section {} of {}", section.name, show.name);
            let mut free = 0;
            for (row, kept, owners) in section.each_row() {
                let counted = owners.iter().filter(|owner| **owner == 0).count();
                faults.unless(counted == usize::from(kept), || {
                    format!(
                        "row {row} of {} has {counted} free seats, not {kept}",
                        name()
                    )
                });
                free += u32::from(kept);
            }
            faults.unless(free == section.free, || {
                format!("{} has {free} free seats, not {}", name(), section.free)
            });
            taken += section.seats().saturating_sub(free);
        }
    }
    faults.unless(sold == taken, || {
        format!("bookings have {sold} seats, but {taken} are taken")
    });
}

fn check_expiries(seats: &Seats, faults: &mut Faults) {
    let held = seats
        .bookings
        .iter()
        .filter_map(|(number, booking)| match booking.state {
            SeatEntryState::Held { until } => Some((until, *number)),
            SeatEntryState::Booked { .. } => None,
        });
    faults.unless(held.collect::<BTreeSet<_>>() == seats.expiries, || {
        "open holds and their expiries differ".to_owned()
    });
    let open = seats.bookings.values();
    let open = open.filter(|booking| matches!(booking.state, SeatEntryState::Held { .. }));
    let holders: OpenCounts = open.map(|booking| booking.principal.0).collect();
    faults.unless(holders == seats.holders, || {
        "open holds are not counted for the principals that have them".to_owned()
    });
}

fn check_names(seats: &Seats, faults: &mut Faults) {
    let names: BTreeMap<_, _> = (0..)
        .zip(&seats.shows)
        .map(|(at, show)| (show.name, at))
        .collect();
    faults.unless(names == seats.by_name, || {
        "shows are not found by their names".to_owned()
    });
}

fn check_totals(seats: &Seats, faults: &mut Faults) {
    let totals = seats.totals;
    let mut counted = Totals {
        booked_total: totals.booked_total,
        cancelled_total: totals.cancelled_total,
        held_total: totals.held_total,
        expired_total: totals.expired_total,
        ..Totals::default()
    };
    for show in &seats.shows {
        counted.shows += 1;
        counted.seats += u64::from(show.seats());
    }
    for booking in seats.bookings.values() {
        let count = u64::from(booking.seats.len());
        match booking.state {
            SeatEntryState::Booked { .. } => {
                counted.bookings += 1;
                counted.seats_booked += count;
            }
            SeatEntryState::Held { .. } => {
                counted.holds += 1;
                counted.seats_held += count;
            }
        }
    }
    faults.unless(counted == totals, || {
        format!("the totals are {totals:?}, counted {counted:?}")
    });
    let ended = totals.cancelled_total.checked_add(totals.bookings);
    faults.unless(ended == Some(totals.booked_total), || {
        "bookings made are not those that stand and those that were cancelled".to_owned()
    });
    let past = totals.expired_total.checked_add(totals.holds);
    faults.unless(past.is_some_and(|past| past <= totals.held_total), || {
        "more holds are open or expired than were made".to_owned()
    });
    let last = seats.bookings.last_key_value().map(|(last, _)| *last);
    faults.unless(last.is_none_or(|last| last <= seats.last), || {
        "a booking has a number that was not given yet".to_owned()
    });
}

#[cfg(test)]
mod tests {
    use turnstile_types::{Name, Position, Principal, Timestamp};

    use super::*;
    use crate::{
        BookingNumber, SeatNumbers,
        hall::{HallShow, SeatSection},
        state::SeatEntry,
    };

    fn name(text: &str) -> Name {
        Name::parse(text.as_bytes()).unwrap()
    }

    fn numbers(text: &str) -> SeatNumbers {
        SeatNumbers::parse(text.as_bytes()).unwrap()
    }

    fn entry(seats: &str, state: SeatEntryState) -> SeatEntry {
        SeatEntry {
            show: 0,
            section: 0,
            seats: numbers(seats),
            state,
            principal: Principal::local(),
            since: Timestamp(1_000),
            position: Position(3),
        }
    }

    /// A show with a booking, 1, and a hold, 2.
    fn sold() -> Seats {
        let mut seats = Seats::new();
        seats.open(HallShow {
            name: name("gala"),
            begins: Timestamp(2_000_000),
            is_closed: false,
            sections: Vec::new(),
        });
        let section = SeatSection::new(name("stalls"), 2, 3);
        seats.furnish(0, section).unwrap();
        let buyer = name("ada");
        let booked = entry("1-1,1-2", SeatEntryState::Booked { buyer });
        seats.admit(BookingNumber(1), booked);
        let until = Timestamp(61_000);
        seats.admit(
            BookingNumber(2),
            entry("2-3", SeatEntryState::Held { until }),
        );
        seats.last = BookingNumber(2);
        (seats.totals.booked_total, seats.totals.held_total) = (1, 1);
        seats
    }

    /// What is told, and what is planted.
    type Fault = (&'static str, fn(&mut Seats));

    #[test]
    fn each_thing_that_is_kept_twice_and_differs_is_told() {
        assert_eq!(examine(&sold()), Ok(()));
        let faults: [Fault; 10] = [
            ("seat 2-1 of", |seats| {
                let booking = seats.bookings.get_mut(&BookingNumber(1)).unwrap();
                booking.seats = numbers("1-1,2-1");
            }),
            ("has 3 free seats, not 4", |seats| {
                seats.show_mut(0).sections[0].free = 4;
            }),
            ("bookings have 3 seats, but 4 are taken", |seats| {
                seats.show_mut(0).sections[0].take(&numbers("2-1"), BookingNumber(1));
            }),
            ("holds and their expiries differ", |seats| {
                seats.expiries.clear();
            }),
            ("are not counted for the principals", |seats| {
                seats.holders = OpenCounts::new();
            }),
            ("not found by their names", |seats| seats.by_name.clear()),
            ("the totals are", |seats| seats.totals.seats_held = 2),
            ("bookings made are not those", |seats| {
                seats.totals.booked_total = 2;
            }),
            ("more holds are open or expired", |seats| {
                seats.totals.expired_total = 1;
            }),
            ("a number that was not given yet", |seats| {
                seats.last = BookingNumber(1);
            }),
        ];
        for (sentence, plant) in faults {
            let mut seats = sold();
            plant(&mut seats);
            let told = examine(&seats).unwrap_err().join("; ");
            assert!(told.contains(sentence), "not \"{sentence}\": {told}");
        }
    }
}
