//! What the server tells of several machines as of one, and how long a hold may be asked for.

use turnstile_chassis::{Kind, Operations, Served};
use turnstile_rooms::{Answer, Command, Rooms, Totals};

fn totals(first: u64) -> Totals {
    Totals {
        bookings: first,
        holds: first + 1,
        properties: first + 2,
        rooms: first + 3,
        booked_total: first + 4,
        cancelled_total: first + 5,
        held_total: first + 6,
        expired_total: first + 7,
    }
}

#[test]
fn totals_of_several_partitions_are_added_figure_by_figure() {
    let mut sum = Answer::Totals(totals(100));
    Rooms::add_answer(&mut sum, &Answer::Totals(totals(10)));
    let expected = Totals {
        bookings: 110,
        holds: 112,
        properties: 114,
        rooms: 116,
        booked_total: 118,
        cancelled_total: 120,
        held_total: 122,
        expired_total: 124,
    };
    assert_eq!(sum, Answer::Totals(expected));
}

#[test]
fn a_hold_may_be_asked_for_as_long_as_its_bytes_can_say() {
    let operations = Command::operations();
    let hold = operations.iter().find(|one| one.word == "hold").unwrap();
    let ttl = hold.parameters.iter().find(|one| one.name == "ttl_seconds");
    let kind = &ttl.unwrap().kind;
    let is_bounded = matches!(
        kind,
        Kind::Number {
            min: 1,
            max: 4_294_967
        }
    );
    assert!(is_bounded, "{kind:?}");
}
