//! The operations of travel.

use super::{
    EVENTS, Method, Operation, PAGED, RECEIPT, Success, command, document, read, with_problems,
    with_query,
};

/// A step, or the end, of an open transaction.
const fn step(
    method: Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    body: Option<&'static str>,
    success: Success,
) -> Operation {
    with_problems(
        command(method, path, id, summary, body, success),
        &[400, 404, 409, 410, 413, 415, 421, 422],
    )
}

/// A read inside an open transaction: it locks what it reads, and may have to wait for that.
const fn look(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    schema: &'static str,
) -> Operation {
    Operation {
        acts: true,
        problems: &[400, 404, 409, 410, 421],
        ..read(path, id, summary, &[], schema)
    }
}

pub(super) const OPERATIONS: &[Operation] = &[
    step(
        Method::Post,
        "/v1/travel/transactions",
        "startTransaction",
        "Start a transaction; it is aborted when nothing is asked of it for too long",
        None,
        Success::Made("TravelStarted"),
    ),
    read(
        "/v1/travel/transactions",
        "listTransactions",
        "What is open, the oldest first; of one `state`, or all: `active`, `waiting` (for a lock), \
         `prepared` (its end has begun) or `in-doubt`",
        &["state", "limit", "cursor"],
        "TravelTransactions",
    ),
    read(
        "/v1/travel/transactions/{xid}",
        "getTransaction",
        "What a transaction has, what it waits for, and for whom; also of one that ended not long \
         ago",
        &[],
        "TravelTransactionView",
    ),
    step(
        Method::Post,
        "/v1/travel/transactions/{xid}/resolve",
        "resolveTransaction",
        "Decide by hand, at one desk, a transaction that waits there for its decision; the feed \
         tells who did",
        Some("Resolution"),
        RECEIPT,
    ),
    step(
        Method::Post,
        "/v1/travel/transactions/{xid}/items",
        "addStock",
        "Add to what there is of an item: `flight-<number>`, `car-<location>` or \
         `room-<location>`",
        Some("NewStock"),
        RECEIPT,
    ),
    look(
        "/v1/travel/transactions/{xid}/items/{item}",
        "readStock",
        "What there is of an item, inside the transaction",
        "TravelStockView",
    ),
    step(
        Method::Delete,
        "/v1/travel/transactions/{xid}/items/{item}",
        "deleteItem",
        "Delete an item of which nothing is reserved",
        None,
        RECEIPT,
    ),
    step(
        Method::Post,
        "/v1/travel/transactions/{xid}/customers",
        "addCustomer",
        "Add a customer, with a number of its own or with one that is picked",
        Some("NewCustomer"),
        Success::Made("TravelCustomerAdded"),
    ),
    look(
        "/v1/travel/transactions/{xid}/customers",
        "readSummary",
        "What every customer has, inside the transaction",
        "TravelSummary",
    ),
    look(
        "/v1/travel/transactions/{xid}/customers/{customer}",
        "readBill",
        "What a customer has, inside the transaction",
        "TravelBill",
    ),
    step(
        Method::Delete,
        "/v1/travel/transactions/{xid}/customers/{customer}",
        "deleteCustomer",
        "Delete a customer, and give back whatever is reserved for it",
        None,
        RECEIPT,
    ),
    step(
        Method::Post,
        "/v1/travel/transactions/{xid}/reservations",
        "reserve",
        "Reserve one of each of some items, or nothing of them",
        Some("NewReservation"),
        RECEIPT,
    ),
    step(
        Method::Post,
        "/v1/travel/transactions/{xid}/commit",
        "commitTransaction",
        "Commit: from the answer on, everything is durable at every desk",
        None,
        RECEIPT,
    ),
    step(
        Method::Post,
        "/v1/travel/transactions/{xid}/abort",
        "abortTransaction",
        "Abort, also while a command of the transaction waits",
        None,
        RECEIPT,
    ),
    step(
        Method::Post,
        "/v1/travel/itineraries",
        "bookItinerary",
        "Book some items in a transaction of its own, all or nothing, or hold them for a time",
        Some("NewItinerary"),
        Success::Made("TravelBooked"),
    ),
    with_problems(
        read(
            "/v1/travel/itineraries/{locator}",
            "getItinerary",
            "An itinerary, by its record locator",
            &[],
            "TravelItineraryView",
        ),
        &[304, 400, 404],
    ),
    step(
        Method::Post,
        "/v1/travel/itineraries/{locator}/confirm",
        "confirmItinerary",
        "Make a held itinerary a booked one",
        None,
        RECEIPT,
    ),
    step(
        Method::Post,
        "/v1/travel/itineraries/{locator}/cancel",
        "cancelItinerary",
        "Give everything of an itinerary back",
        None,
        RECEIPT,
    ),
    with_query(
        read(
            "/v1/travel/items",
            "listItems",
            "What is committed of the items of `desk`, in their order: `flights`, `cars` or `rooms`",
            PAGED,
            "TravelItems",
        ),
        &["desk!", "limit", "cursor"],
    ),
    with_problems(
        read(
            "/v1/travel/customers/{customer}",
            "getBill",
            "What is committed of a customer",
            &[],
            "TravelBill",
        ),
        &[304, 400, 404],
    ),
    with_problems(
        read(
            "/v1/travel/totals",
            "travelTotals",
            "How much there is",
            &[],
            "TravelTotals",
        ),
        &[400],
    ),
    Operation {
        query: &["since"],
        problems: &[400, 503],
        ..document(
            "/v1/travel/events",
            "travelEvents",
            "Follow what happens, as server-sent events; resumes after Last-Event-ID or `since`",
            &[EVENTS],
        )
    },
];
