//! The events of rooms.

use turnstile_chassis::{Fields, Words};
use turnstile_types::{Name, Position, Stay, Timestamp};

use crate::{FormerPlace, Reference};

/// One thing that happened to a room.
///
/// Every record causes at most one event of its own; before it come the holds that expire at its
/// instant, which are all that a tick causes. `(position, ordinal)` is unique and grows.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct Event {
    pub position: Position,
    /// Counts the events of one record, from 0.
    pub ordinal: u32,
    pub at: Timestamp,
    pub kind: EventKind,
    pub property: Name,
    /// The room; for `PropertyAdded` there is none.
    pub room: Option<Name>,
    /// The booking or hold, where the event is about one.
    pub reference: Option<Reference>,
    /// The nights, where the event is about some.
    #[field(flatten)]
    pub stay: Option<Stay>,
    /// Why a manager cancelled the booking for its guest; nothing where the guest's id number did.
    pub reason: Option<Box<str>>,
    /// Where a booking was before it moved.
    #[field(flatten)]
    pub from: Option<FormerPlace>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum EventKind {
    PropertyAdded,
    RoomAdded,
    RoomWithdrawn,
    SaleStopped,
    SaleResumed,
    Booked,
    Held,
    Extended,
    Confirmed,
    Released,
    Expired,
    Cancelled,
    Moved,
}
