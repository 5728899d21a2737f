//! The table of operations: the router, the OpenAPI document and the docs page are made of it.

/// The methods in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Delete,
}

impl Method {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

/// One operation of the door.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub method: Method,
    /// The path, with `{names}` for its parameters.
    pub path: &'static str,
    /// Unique; the name of the operation in generated clients.
    pub id: &'static str,
    pub summary: &'static str,
    /// The names of the query's parameters; a `!` marks one that must be given.
    pub query: &'static [&'static str],
    /// The schema of the body, where there is one.
    pub body: Option<&'static str>,
    pub success: Success,
    /// The words of the refusals and errors beyond those that every operation may answer.
    pub problems: &'static [u16],
}

/// What an operation answers when it succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Success {
    /// 201, or 200 when replayed, with JSON of this schema.
    Made(&'static str),
    /// 200 with JSON of this schema.
    Json(&'static str),
    /// 200 with another content type.
    Content(&'static str),
}

impl Operation {
    /// Whether it changes something, and so takes an `Idempotency-Key`.
    #[must_use]
    pub fn mutates(&self) -> bool {
        self.method != Method::Get && self.id != "searchGuest"
    }

    /// The names in the path.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        let parts = self.path.split('/');
        parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

/// A read of the machine, with no body.
const fn read(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    query: &'static [&'static str],
    schema: &'static str,
) -> Operation {
    Operation {
        method: Method::Get,
        path,
        id,
        summary,
        query,
        body: None,
        success: Success::Json(schema),
        problems: &[400, 404],
    }
}

/// A document of the door itself.
const fn document(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    content: &'static str,
) -> Operation {
    Operation {
        method: Method::Get,
        path,
        id,
        summary,
        query: &[],
        body: None,
        success: Success::Content(content),
        problems: &[],
    }
}

/// A command.
const fn command(
    method: Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    body: Option<&'static str>,
    success: Success,
) -> Operation {
    Operation {
        method,
        path,
        id,
        summary,
        query: &[],
        body,
        success,
        problems: &[400, 404, 409, 413, 415, 422],
    }
}

const fn with_query(operation: Operation, query: &'static [&'static str]) -> Operation {
    Operation { query, ..operation }
}

const fn with_problems(operation: Operation, problems: &'static [u16]) -> Operation {
    Operation {
        problems,
        ..operation
    }
}

const JSON: &str = "application/json";
const STAY: &[&str] = &["arrival!", "departure!"];
const PAGED: &[&str] = &["limit", "cursor"];
const RECEIPT: Success = Success::Json("Receipt");

/// Every operation, in the order of the docs page.
pub const OPERATIONS: &[Operation] = &[
    command(
        Method::Post,
        "/v1/rooms/bookings",
        "book",
        "Book a room for every night of a stay, or for none",
        Some("NewBooking"),
        Success::Made("BookingMade"),
    ),
    with_problems(
        read(
            "/v1/rooms/bookings/{reference}",
            "lookUp",
            "Look up a booking or hold",
            &[],
            "EntryView",
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
            Success::Json("BookingCancelled"),
        ),
        &[400, 403, 404, 409, 410, 412, 413, 415, 422],
    ),
    command(
        Method::Post,
        "/v1/rooms/holds",
        "hold",
        "Keep a room for a time, to be confirmed",
        Some("NewHold"),
        Success::Made("HoldMade"),
    ),
    read(
        "/v1/rooms/holds",
        "listHolds",
        "The caller's open holds, the oldest first",
        PAGED,
        "EntryPage",
    ),
    with_problems(
        command(
            Method::Post,
            "/v1/rooms/holds/{reference}/extend",
            "extend",
            "Let a hold end so many seconds from now",
            Some("Extension"),
            Success::Json("HoldExtended"),
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
            Success::Json("HoldConfirmed"),
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
            "EntryPage",
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
        "PropertyPage",
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
        "EntryPage",
    ),
    read(
        "/v1/rooms/properties/{property}/availability",
        "availability",
        "How many rooms are free, by type and night",
        &["arrival!", "departure!", "type"],
        "AvailabilityView",
    ),
    read(
        "/v1/rooms/properties/{property}/explain",
        "explain",
        "What stands in the way of a booking",
        &["arrival!", "departure!", "room", "room_type"],
        "ExplanationView",
    ),
    Operation {
        query: &["since"],
        problems: &[400],
        ..document(
            "/v1/rooms/events",
            "events",
            "Follow what happens, as server-sent events; resumes after Last-Event-ID or `since`",
            "text/event-stream",
        )
    },
    document("/livez", "live", "Whether the process runs", JSON),
    Operation {
        problems: &[503],
        ..document("/readyz", "ready", "Whether requests are answered", JSON)
    },
    document("/version", "version", "Which program this is", JSON),
    Operation {
        problems: &[503],
        ..document(
            "/metrics",
            "metrics",
            "Counters, in the Prometheus text format",
            "text/plain",
        )
    },
    document("/openapi.json", "openapi", "This description", JSON),
    document("/docs", "docs", "This description, to read", "text/html"),
    document(
        "/docs/style.css",
        "docsStyle",
        "How the docs page looks",
        "text/css",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_and_routes_are_unique() {
        for (at, operation) in OPERATIONS.iter().enumerate() {
            for other in &OPERATIONS[at + 1..] {
                assert_ne!(operation.id, other.id);
                let same = operation.path == other.path && operation.method == other.method;
                assert!(!same, "{} {}", operation.method.as_str(), operation.path);
            }
        }
    }

    #[test]
    fn path_parameters_are_found() {
        let withdraw = OPERATIONS
            .iter()
            .find(|found| found.id == "withdrawRoom")
            .unwrap();
        let names: Vec<&str> = withdraw.path_parameters().collect();
        assert_eq!(names, ["property", "room"]);
    }
}
