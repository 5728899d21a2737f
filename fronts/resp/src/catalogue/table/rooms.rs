//! The commands of rooms.

use super::{
    Action, Argument, CURSOR, KEY, Kind, LIMIT, READ, Syntax, WRITE, argument, container, integer,
    option, optional, text, word,
};
use crate::rooms::Verb;

const PROPERTY: Argument = text("property");
const ROOM: Argument = text("room");
const ARRIVAL: Argument = text("arrival");
const DEPARTURE: Argument = text("departure");
const GUEST: Argument = text("guest");
const ID_NUMBER: Argument = text("id-number");
const HOLD: Argument = text("hold");
const REFERENCE: Argument = text("reference");
const WISH: Argument = argument(
    "wish",
    Kind::OneOf(&[text("room"), text("type:NAME"), word("any", "any")]),
);
const fn service(
    verb: Verb,
    arguments: &'static [Argument],
    flags: &'static [&'static str],
    summary: &'static str,
) -> Syntax {
    Syntax {
        name: verb.name(),
        summary,
        group: "rooms",
        arguments,
        flags,
        action: Some(Action::Rooms(verb)),
        subcommands: &[],
    }
}

/// Every command of rooms.
pub(super) const COMMANDS: &[Syntax] = &[
    service(
        Verb::Book,
        &[PROPERTY, WISH, ARRIVAL, DEPARTURE, GUEST, ID_NUMBER, KEY],
        WRITE,
        "Books a room for every night of a stay, or for none",
    ),
    service(
        Verb::Cancel,
        &[REFERENCE, ID_NUMBER, KEY],
        WRITE,
        "Cancels a booking; only with the id number that booked it",
    ),
    service(
        Verb::Hold,
        &[
            PROPERTY,
            WISH,
            ARRIVAL,
            DEPARTURE,
            option("TTL", integer("seconds")),
            KEY,
        ],
        WRITE,
        "Keeps a room for a while (600 seconds), to be confirmed",
    ),
    service(
        Verb::Extend,
        &[HOLD, integer("seconds"), KEY],
        WRITE,
        "Lets a hold end so many seconds from now",
    ),
    service(
        Verb::Confirm,
        &[HOLD, GUEST, ID_NUMBER, KEY],
        WRITE,
        "Turns a hold into a booking, also late when the nights are still free",
    ),
    service(Verb::Release, &[HOLD, KEY], WRITE, "Gives a hold back"),
    service(
        Verb::LookUp,
        &[REFERENCE],
        READ,
        "Shows one booking or hold",
    ),
    service(
        Verb::List,
        &[
            PROPERTY,
            text("from"),
            text("to"),
            option("ROOM", ROOM),
            LIMIT,
            CURSOR,
        ],
        READ,
        "Lists the bookings and holds that touch some nights",
    ),
    service(
        Verb::Guest,
        &[ID_NUMBER, LIMIT, CURSOR],
        READ,
        "Lists the bookings of a guest, the newest first",
    ),
    service(
        Verb::Holds,
        &[LIMIT, CURSOR],
        READ,
        "Lists the caller's open holds, the oldest first",
    ),
    service(
        Verb::Availability,
        &[PROPERTY, ARRIVAL, DEPARTURE, option("TYPE", text("type"))],
        READ,
        "Counts the free rooms by type and night",
    ),
    service(
        Verb::Explain,
        &[PROPERTY, WISH, ARRIVAL, DEPARTURE],
        READ,
        "Shows what stands in the way of a booking",
    ),
    service(
        Verb::Properties,
        &[LIMIT, CURSOR],
        READ,
        "Lists the properties by name",
    ),
    service(Verb::Totals, &[], READ, "How much there is of everything"),
    service(
        Verb::AddProperty,
        &[PROPERTY, optional(word("open", "OPEN")), KEY],
        WRITE,
        "Adds a property; in an open one every room name exists",
    ),
    container(
        "rooms.room",
        "rooms",
        &[
            service(
                Verb::AddRoom,
                &[PROPERTY, ROOM, text("type"), KEY],
                WRITE,
                "Adds a room of a type to a property",
            ),
            service(
                Verb::WithdrawRoom,
                &[PROPERTY, ROOM, KEY],
                WRITE,
                "Takes a room out of sale for good",
            ),
        ],
        "Adds and withdraws rooms",
    ),
    service(
        Verb::StopSell,
        &[
            PROPERTY,
            ROOM,
            ARRIVAL,
            DEPARTURE,
            optional(word("resume", "RESUME")),
            KEY,
        ],
        WRITE,
        "Stops or resumes the sale of a room for some nights",
    ),
];
