//! What happened, for those who follow the service.

use turnstile_chassis::{Fields, Words};
use turnstile_types::{Name, Position, Timestamp};

use crate::{BookingNumber, SeatNumbers};

/// One thing that happened to a show or its seats.
///
/// Every record causes at most one event of its own; before it come the holds that expire at its instant,
/// which are all that a tick causes. `(position, ordinal)` is unique and grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub struct Event {
    pub position: Position,
    /// Counts the events of one record, from 0.
    pub ordinal: u32,
    pub at: Timestamp,
    pub kind: EventKind,
    pub show: Name,
    /// The section, where the event is about one.
    pub section: Option<Name>,
    /// The booking or hold, where the event is about one.
    pub reference: Option<BookingNumber>,
    /// The seats, where the event is about some.
    pub seats: Option<SeatNumbers>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum EventKind {
    ShowAdded,
    SectionAdded,
    SaleClosed,
    SaleOpened,
    Booked,
    Held,
    Confirmed,
    Released,
    Expired,
    Cancelled,
}
