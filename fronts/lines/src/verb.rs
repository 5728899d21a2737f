//! The commands: their names, their arguments, and what is answered to them.

use std::fmt;

/// What a line can ask for, in the order in which `Help` lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineVerb {
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
    verb: LineVerb,
    name: &'static str,
    /// The arguments, as `Help` tells them.
    arguments: &'static str,
    /// The answer when it is done, or what stands before the number that was asked for.
    done: &'static str,
    /// The answer when it cannot be done.
    refused: &'static str,
}

const fn row(
    verb: LineVerb,
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
    row(LineVerb::Help, "Help", "[command]", ["", ""]),
    row(LineVerb::Start, "Start", "", ["", "Transaction could not be started"]),
    row(LineVerb::Commit, "Commit", "xid", ["", ""]),
    row(LineVerb::Abort, "Abort", "xid", ["", ""]),
    row(LineVerb::AddFlight, "AddFlight", "xid, flight number, seats, price", ["Flight added", "Flight could not be added"]),
    row(LineVerb::AddCars, "AddCars", "xid, location, count, price", ["Cars added", "Cars could not be added"]),
    row(LineVerb::AddRooms, "AddRooms", "xid, location, count, price", ["Rooms added", "Rooms could not be added"]),
    row(LineVerb::AddCustomer, "AddCustomer", "xid", ["Add customer ID: ", "Customer could not be added"]),
    row(LineVerb::AddCustomerId, "AddCustomerID", "xid, customer", ["Add customer ID: ", "Customer could not be added"]),
    row(LineVerb::DeleteFlight, "DeleteFlight", "xid, flight number", ["Flight Deleted", "Flight could not be deleted"]),
    row(LineVerb::DeleteCars, "DeleteCars", "xid, location", ["Cars Deleted", "Cars could not be deleted"]),
    row(LineVerb::DeleteRooms, "DeleteRooms", "xid, location", ["Rooms Deleted", "Rooms could not be deleted"]),
    row(LineVerb::DeleteCustomer, "DeleteCustomer", "xid, customer", ["Customer Deleted", "Customer could not be deleted"]),
    row(LineVerb::QueryFlight, "QueryFlight", "xid, flight number", ["Number of seats available: ", ""]),
    row(LineVerb::QueryCars, "QueryCars", "xid, location", ["Number of cars at this location: ", ""]),
    row(LineVerb::QueryRooms, "QueryRooms", "xid, location", ["Number of rooms at this location: ", ""]),
    row(LineVerb::QueryCustomer, "QueryCustomer", "xid, customer", ["", ""]),
    row(LineVerb::QueryFlightPrice, "QueryFlightPrice", "xid, flight number", ["Price of a seat: ", ""]),
    row(LineVerb::QueryCarsPrice, "QueryCarsPrice", "xid, location", ["Price of cars at this location: ", ""]),
    row(LineVerb::QueryRoomsPrice, "QueryRoomsPrice", "xid, location", ["Price of rooms at this location: ", ""]),
    row(LineVerb::ReserveFlight, "ReserveFlight", "xid, customer, flight number", ["Flight Reserved", "Flight could not be reserved"]),
    row(LineVerb::ReserveCar, "ReserveCar", "xid, customer, location", ["Car Reserved", "Car could not be reserved"]),
    row(LineVerb::ReserveRoom, "ReserveRoom", "xid, customer, location", ["Room Reserved", "Room could not be reserved"]),
    row(LineVerb::Bundle, "Bundle", "xid, customer, flight number 1..n, location, car?, room?", ["Bundle Reserved", "Bundle could not be reserved"]),
    row(LineVerb::Summary, "Summary", "xid", ["", ""]),
    row(LineVerb::Book, "Book", "customer, flight number 0..n, location, car?, room?", ["", "Itinerary could not be booked"]),
    row(LineVerb::Hold, "Hold", "milliseconds, customer, flight number 0..n, location, car?, room?", ["", "Itinerary could not be held"]),
    row(LineVerb::Confirm, "Confirm", "locator", ["Itinerary confirmed", "Itinerary could not be confirmed"]),
    row(LineVerb::Cancel, "Cancel", "locator", ["Itinerary cancelled", "Itinerary could not be cancelled"]),
    row(LineVerb::Itinerary, "Itinerary", "locator", ["", ""]),
    row(LineVerb::ResetCrashes, "ResetCrashes", "", ["", ""]),
    row(LineVerb::CrashMiddleware, "CrashMiddleware", "mode", ["", ""]),
    row(LineVerb::CrashResourceManager, "CrashResourceManager", "name, mode", ["", ""]),
    row(LineVerb::Shutdown, "Shutdown", "", ["", ""]),
    row(LineVerb::Quit, "Quit", "", ["", ""]),
];

impl LineVerb {
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

impl fmt::Display for LineVerb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
