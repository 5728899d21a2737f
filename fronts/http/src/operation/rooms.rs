//! The operations of rooms.

use super::{
    EVENTS, Method, Operation, PAGED, RECEIPT, Success, command, document, read, with_problems,
    with_query,
};

const STAY: &[&str] = &["arrival!", "departure!"];

pub(super) const OPERATIONS: &[Operation] = &[
    command(
        Method::Post,
        "/v1/rooms/bookings",
        "book",
        "Book a room for every night of a stay, or for none",
        Some("NewBooking"),
        Success::Made("RoomsBooked"),
    ),
    with_problems(
        read(
            "/v1/rooms/bookings/{reference}",
            "lookUp",
            "Look up a booking or hold",
            &[],
            "RoomsEntry",
        ),
        &[304, 400, 404, 410],
    ),
    with_problems(
        command(
            Method::Post,
            "/v1/rooms/bookings/{reference}/cancel",
            "cancel",
            "Cancel a booking, with the id number that booked it",
            Some("Cancellation"),
            Success::Json("RoomsCancelled"),
        ),
        &[400, 403, 404, 409, 410, 412, 413, 415, 422],
    ),
    command(
        Method::Post,
        "/v1/rooms/holds",
        "hold",
        "Keep a room for a time, to be confirmed",
        Some("NewHold"),
        Success::Made("RoomsHeld"),
    ),
    read(
        "/v1/rooms/holds",
        "listHolds",
        "The caller's open holds, the oldest first",
        PAGED,
        "RoomsPage",
    ),
    with_problems(
        command(
            Method::Post,
            "/v1/rooms/holds/{reference}/extend",
            "extend",
            "Let a hold end so many seconds from now",
            Some("Extension"),
            Success::Json("RoomsExtended"),
        ),
        &[400, 404, 409, 410, 413, 415, 422],
    ),
    with_problems(
        command(
            Method::Post,
            "/v1/rooms/holds/{reference}/confirm",
            "confirm",
            "Turn a hold into a booking; also late, when the nights are still free",
            Some("Confirmation"),
            Success::Json("RoomsConfirmed"),
        ),
        &[400, 404, 409, 410, 413, 415, 422],
    ),
    with_problems(
        command(
            Method::Post,
            "/v1/rooms/holds/{reference}/release",
            "release",
            "Give a hold back",
            None,
            RECEIPT,
        ),
        &[400, 404, 409, 410, 422],
    ),
    Operation {
        method: Method::Post,
        body: Some("GuestSearch"),
        problems: &[400, 413, 415],
        ..read(
            "/v1/rooms/guests/search",
            "searchGuest",
            "A guest's bookings, the newest first",
            &[],
            "RoomsPage",
        )
    },
    command(
        Method::Post,
        "/v1/rooms/properties",
        "addProperty",
        "Open a property for business",
        Some("NewProperty"),
        Success::Made("Receipt"),
    ),
    read(
        "/v1/rooms/properties",
        "listProperties",
        "The properties, by name",
        PAGED,
        "RoomsProperties",
    ),
    command(
        Method::Post,
        "/v1/rooms/properties/{property}/rooms",
        "addRoom",
        "Add a room to a property",
        Some("NewRoom"),
        Success::Made("Receipt"),
    ),
    command(
        Method::Delete,
        "/v1/rooms/properties/{property}/rooms/{room}",
        "withdrawRoom",
        "Take a room out of sale for good",
        None,
        RECEIPT,
    ),
    with_query(
        command(
            Method::Put,
            "/v1/rooms/properties/{property}/rooms/{room}/stop-sell",
            "stopSell",
            "Stop the sale of a room for nights; bookings that stand stay",
            None,
            RECEIPT,
        ),
        STAY,
    ),
    with_query(
        command(
            Method::Delete,
            "/v1/rooms/properties/{property}/rooms/{room}/stop-sell",
            "resumeSell",
            "Resume the sale of a room for nights",
            None,
            RECEIPT,
        ),
        STAY,
    ),
    read(
        "/v1/rooms/properties/{property}/bookings",
        "listBookings",
        "Bookings and holds that touch the nights from `from` up to, not including, `to`",
        &["from!", "to!", "room", "limit", "cursor"],
        "RoomsPage",
    ),
    read(
        "/v1/rooms/properties/{property}/availability",
        "availability",
        "How many rooms are free, by type and night",
        &["arrival!", "departure!", "type"],
        "RoomsAvailability",
    ),
    read(
        "/v1/rooms/properties/{property}/explain",
        "explain",
        "What stands in the way of a booking",
        &["arrival!", "departure!", "room", "room_type"],
        "RoomsExplanation",
    ),
    Operation {
        query: &["since"],
        problems: &[400, 503],
        ..document(
            "/v1/rooms/events",
            "events",
            "Follow what happens, as server-sent events; resumes after Last-Event-ID or `since`",
            &[EVENTS],
        )
    },
];
