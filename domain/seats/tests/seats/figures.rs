//! What the server tells of the whole machine: its totals, what stands, and where its events were made.

use turnstile_chassis::Served;
use turnstile_seats::{Seats, Totals};
use turnstile_types::{Machine, Position};

use crate::scenery::{Theatre, book, hold, section, show};

fn theatre() -> Theatre {
    let mut theatre = Theatre::new();
    theatre.done(&show("gala"));
    theatre.done(&section("gala", "stalls", 2, 5));
    theatre.done(&book("1-1,1-2,1-3", "ada"));
    theatre.done(&hold("2-1,2-2"));
    theatre
}

#[test]
fn what_stands_is_told_in_seats() {
    let expected = [(3, "seats are booked"), (2, "seats are held")];
    let expected = expected.map(|(number, words)| (number, words.to_owned()));
    assert_eq!(theatre().seats.standing(), expected);
}

#[test]
fn totals_of_several_partitions_are_added_figure_by_figure() {
    let of = |first: u64| Totals {
        shows: first,
        seats: first + 1,
        bookings: first + 2,
        holds: first + 3,
        seats_booked: first + 4,
        seats_held: first + 5,
        booked_total: first + 6,
        cancelled_total: first + 7,
        held_total: first + 8,
        expired_total: first + 9,
    };
    let mut sum = of(100);
    Seats::add_totals(&mut sum, &of(10));
    let expected = Totals {
        shows: 110,
        seats: 112,
        bookings: 114,
        holds: 116,
        seats_booked: 118,
        seats_held: 120,
        booked_total: 122,
        cancelled_total: 124,
        held_total: 126,
        expired_total: 128,
    };
    assert_eq!(sum, expected);
}

#[test]
fn an_event_has_the_place_of_its_record() {
    let mut places = Vec::new();
    theatre()
        .seats
        .drain_events(&mut |event| places.push(Seats::place_of(&event)));
    let expected = [1, 2, 3, 4].map(|position| (Position(position), 0));
    assert_eq!(places, expected);
}
