//! What requests need of their callers, and which shows they are about.

use turnstile_chassis::{Needed, Needs as _, Right, Subject, SubjectOf as _};
use turnstile_seats::{BookingNumber, Command, Done, Outcome, Query, Seats};
use turnstile_trial::context;
use turnstile_types::{Machine, Principal, Timestamp};

use crate::scenery::{choice, name, up_to};

const SALE: Needed = Needed {
    waits_in_line: true,
    ..Needed::only(Right::Use)
};

const HELD: Needed = Needed {
    of_holder: true,
    ..Needed::only(Right::Use)
};

fn check_command(seats: &Seats, command: &Command, expected: &(Needed, Subject)) {
    let found = (command.needed(), seats.subject_of(command));
    assert_eq!(&found, expected, "{command:?}");
}

fn check_query(seats: &Seats, query: &Query, subject: Subject) {
    let found = (query.needed(), seats.subject_of_query(query));
    assert_eq!(found, (Needed::only(Right::Read), subject), "{query:?}");
}

fn set_up() -> [Command; 2] {
    let (show, section) = (name("hamlet"), name("stalls"));
    [
        Command::AddShow {
            show,
            begins: Timestamp(1_000_000),
        },
        Command::AddSection {
            show,
            section,
            rows: up_to(2),
            row_seats: up_to(9),
        },
    ]
}

fn sales() -> [Command; 2] {
    let (show, section) = (name("hamlet"), name("stalls"));
    [
        Command::Book {
            show,
            section,
            seats: choice("best:2"),
            buyer: name("ada"),
        },
        Command::Hold {
            show,
            section,
            seats: choice("best:2"),
            ttl_seconds: up_to(9),
        },
    ]
}

#[test]
fn a_show_is_set_up_by_its_manager_and_sold_by_its_users() {
    let seats = Seats::empty();
    let show = name("hamlet");
    let close = |closed| Command::CloseSale { show, closed };
    for command in set_up().into_iter().chain([true, false].map(close)) {
        check_command(&seats, &command, &(Needed::MANAGE, Subject::of(show)));
    }
    for command in sales() {
        let needed = Needed {
            opens: matches!(command, Command::Hold { .. }),
            ..SALE
        };
        check_command(&seats, &command, &(needed, Subject::of(show)));
    }
}

#[test]
fn a_reference_is_about_its_show_and_a_hold_about_its_holder_too() {
    let mut seats = Seats::empty();
    let kiosk = Principal(name("kiosk"));
    for command in set_up() {
        seats.apply(&context(1, 0, &kiosk), &command);
    }
    let [booking, hold] =
        sales().map(
            |command| match seats.apply(&context(2, 0, &kiosk), &command) {
                Outcome::Done(Done::Booked { reference, .. } | Done::Held { reference, .. }) => {
                    reference
                }
                other => panic!("{command:?}: {other:?}"),
            },
        );
    let about_hold = |hold| {
        let buyer = name("ada");
        [Command::Confirm { hold, buyer }, Command::Release { hold }]
    };
    let show = name("hamlet");
    let held = Subject::Things {
        names: [Some(show), None],
        holder: Some(kiosk),
    };
    for command in about_hold(hold) {
        check_command(&seats, &command, &(HELD, held.clone()));
    }
    let cancel = |booking| Command::Cancel {
        booking,
        buyer: name("ada"),
    };
    let look_up = |reference| Query::LookUp { reference };
    check_command(
        &seats,
        &cancel(booking),
        &(Needed::only(Right::Use), Subject::of(show)),
    );
    check_query(&seats, &look_up(booking), Subject::of(show));
    check_query(&seats, &look_up(hold), Subject::of(show));

    let absent = BookingNumber(99);
    for command in about_hold(absent) {
        check_command(&seats, &command, &(HELD, Subject::Unknown));
    }
    check_query(&seats, &look_up(absent), Subject::Unknown);
}

#[test]
fn bookings_are_shown_for_a_show_and_free_seats_to_all() {
    let seats = Seats::empty();
    let (show, section, cursor, limit) = (name("hamlet"), name("stalls"), None, 1);
    let list = Query::List {
        show,
        cursor,
        limit,
    };
    check_query(&seats, &list, Subject::of(show));
    let public = [
        Query::Availability {
            show,
            section: None,
        },
        Query::Map { show, section },
        Query::Shows { cursor, limit },
        Query::Totals,
    ];
    for query in public {
        check_query(&seats, &query, Subject::Public);
    }
}
