//! The commands: their names, their arguments, and what is answered to them.

use std::fmt;

/// What a line can ask for, in the order in which `Help` lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    Help,
    Start,
    Commit,
    Abort,
    AddFlight,
    AddCars,
    AddRooms,
    AddCustomer,
    AddCustomerId,
    DeleteFlight,
    DeleteCars,
    DeleteRooms,
    DeleteCustomer,
    QueryFlight,
    QueryCars,
    QueryRooms,
    QueryCustomer,
    QueryFlightPrice,
    QueryCarsPrice,
    QueryRoomsPrice,
    ReserveFlight,
    ReserveCar,
    ReserveRoom,
    Bundle,
    Summary,
    Book,
    Hold,
    Confirm,
    Cancel,
    Itinerary,
    ResetCrashes,
    CrashMiddleware,
    CrashResourceManager,
    Shutdown,
    Quit,
}

/// One command.
struct VerbRow {
    verb: Verb,
    name: &'static str,
    /// The arguments, as `Help` tells them.
    arguments: &'static str,
    /// The answer when it is done, or what stands before the number that was asked for.
    done: &'static str,
    /// The answer when it cannot be done.
    refused: &'static str,
}

const fn row(
    verb: Verb,
    name: &'static str,
    arguments: &'static str,
    [done, refused]: [&'static str; 2],
) -> VerbRow {
    VerbRow {
        verb,
        name,
        arguments,
        done,
        refused,
    }
}

#[rustfmt::skip]
const TABLE: [VerbRow; 35] = [
    row(Verb::Help, "Help", "[command]", ["", ""]),
    row(Verb::Start, "Start", "", ["", "Transaction could not be started"]),
    row(Verb::Commit, "Commit", "xid", ["", ""]),
    row(Verb::Abort, "Abort", "xid", ["", ""]),
    row(Verb::AddFlight, "AddFlight", "xid, flight number, seats, price", ["Flight added", "Flight could not be added"]),
    row(Verb::AddCars, "AddCars", "xid, location, count, price", ["Cars added", "Cars could not be added"]),
    row(Verb::AddRooms, "AddRooms", "xid, location, count, price", ["Rooms added", "Rooms could not be added"]),
    row(Verb::AddCustomer, "AddCustomer", "xid", ["Add customer ID: ", "Customer could not be added"]),
    row(Verb::AddCustomerId, "AddCustomerID", "xid, customer", ["Add customer ID: ", "Customer could not be added"]),
    row(Verb::DeleteFlight, "DeleteFlight", "xid, flight number", ["Flight Deleted", "Flight could not be deleted"]),
    row(Verb::DeleteCars, "DeleteCars", "xid, location", ["Cars Deleted", "Cars could not be deleted"]),
    row(Verb::DeleteRooms, "DeleteRooms", "xid, location", ["Rooms Deleted", "Rooms could not be deleted"]),
    row(Verb::DeleteCustomer, "DeleteCustomer", "xid, customer", ["Customer Deleted", "Customer could not be deleted"]),
    row(Verb::QueryFlight, "QueryFlight", "xid, flight number", ["Number of seats available: ", ""]),
    row(Verb::QueryCars, "QueryCars", "xid, location", ["Number of cars at this location: ", ""]),
    row(Verb::QueryRooms, "QueryRooms", "xid, location", ["Number of rooms at this location: ", ""]),
    row(Verb::QueryCustomer, "QueryCustomer", "xid, customer", ["", ""]),
    row(Verb::QueryFlightPrice, "QueryFlightPrice", "xid, flight number", ["Price of a seat: ", ""]),
    row(Verb::QueryCarsPrice, "QueryCarsPrice", "xid, location", ["Price of cars at this location: ", ""]),
    row(Verb::QueryRoomsPrice, "QueryRoomsPrice", "xid, location", ["Price of rooms at this location: ", ""]),
    row(Verb::ReserveFlight, "ReserveFlight", "xid, customer, flight number", ["Flight Reserved", "Flight could not be reserved"]),
    row(Verb::ReserveCar, "ReserveCar", "xid, customer, location", ["Car Reserved", "Car could not be reserved"]),
    row(Verb::ReserveRoom, "ReserveRoom", "xid, customer, location", ["Room Reserved", "Room could not be reserved"]),
    row(Verb::Bundle, "Bundle", "xid, customer, flight number 1..n, location, car?, room?", ["Bundle Reserved", "Bundle could not be reserved"]),
    row(Verb::Summary, "Summary", "xid", ["", ""]),
    row(Verb::Book, "Book", "customer, flight number 0..n, location, car?, room?", ["", "Itinerary could not be booked"]),
    row(Verb::Hold, "Hold", "milliseconds, customer, flight number 0..n, location, car?, room?", ["", "Itinerary could not be held"]),
    row(Verb::Confirm, "Confirm", "locator", ["Itinerary confirmed", "Itinerary could not be confirmed"]),
    row(Verb::Cancel, "Cancel", "locator", ["Itinerary cancelled", "Itinerary could not be cancelled"]),
    row(Verb::Itinerary, "Itinerary", "locator", ["", ""]),
    row(Verb::ResetCrashes, "ResetCrashes", "", ["", ""]),
    row(Verb::CrashMiddleware, "CrashMiddleware", "mode", ["", ""]),
    row(Verb::CrashResourceManager, "CrashResourceManager", "name, mode", ["", ""]),
    row(Verb::Shutdown, "Shutdown", "", ["", ""]),
    row(Verb::Quit, "Quit", "", ["", ""]),
];

impl Verb {
    /// The command of this name; case does not count.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut rows = TABLE.iter();
        let row = rows.find(|row| row.name.eq_ignore_ascii_case(name));
        row.map(|row| row.verb)
    }

    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.verb)
    }

    fn row(self) -> &'static VerbRow {
        let mut rows = TABLE.iter();
        rows.find(|row| row.verb == self)
            .expect("each command has its row")
    }

    /// The name as the ancestor writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    pub(crate) const fn is_about_itineraries(self) -> bool {
        matches!(
            self,
            Self::Book | Self::Hold | Self::Confirm | Self::Cancel | Self::Itinerary
        )
    }

    /// Its arguments, as help shows them.
    pub(crate) fn usage(self) -> &'static str {
        match self.row().arguments {
            "" => "no arguments",
            arguments => arguments,
        }
    }

    pub(crate) fn done(self) -> &'static str {
        self.row().done
    }

    pub(crate) fn refused(self) -> &'static str {
        self.row().refused
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
