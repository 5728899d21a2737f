//! What requests need of their callers, and which properties they are about.

use turnstile_chassis::{Needed, Needs as _, Right, Subject, SubjectOf as _};
use turnstile_rooms::{Command, Done, Outcome, Query, Reference, Rooms, Wish};
use turnstile_trial::context;
use turnstile_types::{Machine, Name, Principal};

use crate::scenery::{guest, id, name, reason, stay};

const USE: Needed = Needed::only(Right::Use);
const READ: Needed = Needed::only(Right::Read);
const SALE: Needed = Needed {
    waits_in_line: true,
    ..USE
};
const OPENING: Needed = Needed {
    opens: true,
    ..SALE
};
const HELD: Needed = Needed {
    of_holder: true,
    ..USE
};

fn of_holder(property: &str, holder: &str) -> Subject {
    Subject::Things {
        names: [Some(name(property)), None],
        holder: Some(Principal(name(holder))),
    }
}

fn book(property: &str, room: &str) -> Command<'static> {
    Command::Book {
        property: name(property),
        wish: Wish::Room(name(room)),
        stay: stay(1, 2),
        guest: guest("ada"),
        id: id(1),
    }
}

fn hold(property: &str, room: &str) -> Command<'static> {
    Command::Hold {
        property: name(property),
        wish: Wish::Room(name(room)),
        stay: stay(1, 2),
        ttl_ms: 1_000,
    }
}

/// The reference that a command makes.
fn made(rooms: &mut Rooms, caller: &str, command: &Command<'_>) -> Reference {
    let caller = Principal(name(caller));
    match rooms.apply(&context(7, 0, &caller), command) {
        Outcome::Done(Done::Booked { reference, .. } | Done::Held { reference, .. }) => reference,
        other => panic!("{command:?}: {other:?}"),
    }
}

fn check_command(rooms: &Rooms, command: &Command<'_>, expected: &(Needed, Subject)) {
    let found = (command.needed(), rooms.subject_of(command));
    assert_eq!(&found, expected, "{command:?}");
}

fn check_query(rooms: &Rooms, query: &Query, subject: Subject) {
    let found = (query.needed(), rooms.subject_of_query(query));
    assert_eq!(found, (READ, subject), "{query:?}");
}

fn furnished() -> Rooms {
    let mut rooms = Rooms::empty();
    let local = Principal::local();
    for property in ["grand", "plaza"].map(name) {
        let add = Command::AddProperty {
            property,
            open: true,
        };
        rooms.apply(&context(1, 0, &local), &add);
    }
    rooms
}

#[test]
fn a_property_is_set_up_by_its_manager_and_sold_by_its_users() {
    let rooms = furnished();
    let [property, room, room_type]: [Name; 3] = ["grand", "1", "single"].map(name);
    let set_up = [
        Command::AddProperty {
            property,
            open: false,
        },
        Command::AddRoom {
            property,
            room,
            room_type,
        },
        Command::WithdrawRoom { property, room },
        Command::StopSell {
            property,
            room,
            stay: stay(1, 2),
            stopped: true,
        },
        Command::StopSell {
            property,
            room,
            stay: stay(1, 2),
            stopped: false,
        },
    ];
    for command in set_up {
        check_command(&rooms, &command, &(Needed::MANAGE, Subject::of(property)));
    }
    for (command, needed) in [(book("plaza", "1"), SALE), (hold("plaza", "1"), OPENING)] {
        check_command(&rooms, &command, &(needed, Subject::of(name("plaza"))));
    }
    // No state is needed to tell the property that is named.
    check_command(
        &Rooms::empty(),
        &book("elsewhere", "1"),
        &(SALE, Subject::of(name("elsewhere"))),
    );
}

#[test]
fn a_reference_is_about_its_property_and_a_hold_about_its_holder_too() {
    let mut rooms = furnished();
    let booking = made(&mut rooms, "shop", &book("plaza", "1"));
    let held = made(&mut rooms, "kiosk", &hold("grand", "2"));
    let about_hold = |hold| {
        [
            Command::Extend { hold, ttl_ms: 1 },
            Command::Confirm {
                hold,
                guest: guest("ada"),
                id: id(1),
            },
            Command::Release { hold },
        ]
    };
    for command in about_hold(held) {
        check_command(&rooms, &command, &(HELD, of_holder("grand", "kiosk")));
    }
    let cancel = |booking| Command::Cancel { booking, id: id(1) };
    check_command(&rooms, &cancel(booking), &(USE, Subject::of(name("plaza"))));
    let moves = Command::Move {
        booking,
        wish: Wish::Any,
        stay: stay(20, 1),
        id: id(1),
    };
    check_command(&rooms, &moves, &(SALE, Subject::of(name("plaza"))));
    let for_guest = |booking| Command::CancelForGuest {
        booking,
        reason: reason("guest phoned"),
    };
    let of_plaza = (Needed::MANAGE, Subject::of(name("plaza")));
    check_command(&rooms, &for_guest(booking), &of_plaza);
    check_command(
        &Rooms::empty(),
        &for_guest(booking),
        &(Needed::MANAGE, Subject::Unknown),
    );
    let look_up = |reference| Query::LookUp { reference };
    check_query(&rooms, &look_up(held), Subject::of(name("grand")));
    check_query(&rooms, &look_up(booking), Subject::of(name("plaza")));

    let caller = Principal(name("kiosk"));
    rooms.apply(&context(9, 0, &caller), &Command::Release { hold: held });
    for state in [rooms, Rooms::empty()] {
        for command in about_hold(held) {
            check_command(&state, &command, &(HELD, Subject::Unknown));
        }
        check_query(&state, &look_up(held), Subject::Unknown);
    }
}

#[test]
fn listings_show_guests_of_a_property_and_availability_is_public() {
    let rooms = furnished();
    let property = name("grand");
    let (from, to) = (stay(1, 2).arrival(), stay(1, 2).departure());
    let list = Query::List {
        property,
        room: None,
        from,
        to,
        cursor: None,
        limit: 1,
    };
    let explain = Query::Explain {
        property,
        wish: Wish::Any,
        stay: stay(1, 2),
    };
    check_query(&rooms, &list, Subject::of(property));
    check_query(&rooms, &explain, Subject::of(property));
    let (cursor, limit) = (None, 1);
    let inventory = [
        Query::ListRooms {
            property,
            cursor,
            limit,
        },
        Query::ListStopSells {
            property,
            stay: stay(1, 2),
            cursor,
            limit,
        },
    ];
    for query in inventory {
        check_query(&rooms, &query, Subject::of(property));
    }
    let guest = Query::Guest {
        id: id(1),
        cursor,
        limit,
    };
    check_query(&rooms, &guest, Subject::All);
    let availability = Query::Availability {
        property,
        room_type: None,
        stay: stay(1, 2),
    };
    let public = [
        availability,
        Query::Holds { cursor, limit },
        Query::Properties { cursor, limit },
        Query::Totals,
    ];
    for query in public {
        check_query(&rooms, &query, Subject::Public);
    }
}
