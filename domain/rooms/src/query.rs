//! What the machine can be asked without changing anything.

use turnstile_chassis::{Fields, Kind, Show, Value, Words};
use turnstile_types::{Name, Night, Position, Principal, Stay, Timestamp};

use crate::{GuestId, Nights, Reference, Refusal, Wish};

/// Where the next page of a listing begins: opaque to callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor(pub u64);

impl Value for Cursor {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.cursor(self.0)
    }

    fn kind() -> Kind {
        Kind::Cursor
    }
}

/// One whole request that only reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Query {
    LookUp {
        reference: Reference,
    },
    /// Bookings and holds of a property (or of one room) that touch the nights from `from` up to,
    /// not including, `to`; by room in natural order, then by arrival. In an open property the
    /// rooms of the type `open` follow the others, in the order in which they were first named.
    /// `limit` is at least 1.
    List {
        property: Name,
        room: Option<Name>,
        from: Night,
        to: Night,
        cursor: Option<Cursor>,
        limit: u16,
    },
    /// A guest's bookings, the newest first.
    Guest {
        id: GuestId,
        cursor: Option<Cursor>,
        limit: u16,
    },
    /// The caller's open holds, the oldest first.
    Holds {
        cursor: Option<Cursor>,
        limit: u16,
    },
    /// How many rooms are free, by type and night.
    Availability {
        property: Name,
        room_type: Option<Name>,
        stay: Stay,
    },
    /// What stands in the way of a booking.
    Explain {
        property: Name,
        wish: Wish,
        stay: Stay,
    },
    /// The properties, in the order of their names.
    Properties {
        cursor: Option<Cursor>,
        limit: u16,
    },
    Totals,
}

/// What is answered to a query.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub enum Answer {
    /// A look-up that found something.
    Entry(#[field(flatten)] Entry),
    /// A listing.
    Page(#[field(flatten)] Page),
    Availability(#[field(name = "types")] Vec<TypeAvailability>),
    Explanation(#[field(flatten)] Explanation),
    Properties {
        properties: Vec<PropertySummary>,
        /// Where the next page begins; not set on the last.
        next: Option<Cursor>,
    },
    Totals(#[field(flatten)] Totals),
    Refused(#[field(skip)] Refusal),
}

/// One page of bookings and holds.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct Page {
    pub entries: Vec<Entry>,
    /// Where the next page begins; not set on the last.
    pub next: Option<Cursor>,
}

/// A booking or hold, as listings show it.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct Entry {
    pub reference: Reference,
    #[field(flatten)]
    pub state: EntryState,
    pub property: Name,
    pub room: Name,
    #[field(flatten)]
    pub stay: Stay,
    /// The guest's name; a hold has none yet.
    pub guest: Option<Box<str>>,
    /// The sealed id number; a hold has none yet. Doors show it masked.
    #[field(name = "id_number")]
    pub id: Option<GuestId>,
    /// Who booked or held.
    pub principal: Principal,
    /// When it was booked or held, in logged time.
    pub since: Timestamp,
    /// The position of the record that last changed it: its version.
    pub position: Position,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields, Words)]
#[fields(tag = "state")]
pub enum EntryState {
    Booked,
    Held {
        until: Timestamp,
    },
    /// A hold whose time is over; it can still be confirmed late.
    Expired {
        #[field(name = "until")]
        at: Timestamp,
    },
}

/// The free rooms of one type on each night of a stay.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct TypeAvailability {
    #[field(name = "type")]
    pub room_type: Name,
    /// All rooms of the type in sale.
    pub rooms: u32,
    /// Free rooms, one number for each night of the stay.
    pub free: Vec<u32>,
    /// Rooms that are free on every night of the stay.
    pub free_throughout: u32,
}

/// Why a booking would be refused, or that it would not be.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct Explanation {
    /// The room that a booking would get now.
    pub would_get: Option<Name>,
    /// What stands in the way, room by room; at most the first 1,000.
    pub blocks: Vec<Block>,
}

/// One thing that keeps a room from being booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields, Words)]
#[fields(tag = "kind")]
pub enum Block {
    Booking {
        room: Name,
        reference: Reference,
        #[field(flatten)]
        stay: Stay,
    },
    Hold {
        room: Name,
        reference: Reference,
        #[field(flatten)]
        stay: Stay,
        until: Timestamp,
    },
    StopSell {
        room: Name,
        nights: Nights,
    },
}

/// One property in a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub struct PropertySummary {
    pub property: Name,
    pub open: bool,
    /// Rooms in sale; in an open property those that have been named so far.
    pub rooms: u32,
}

/// What the machine has done and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Fields)]
pub struct Totals {
    /// Bookings that stand now.
    pub bookings: u64,
    /// Holds that are open now.
    pub holds: u64,
    pub properties: u64,
    /// Rooms in sale, with the named ones of open properties.
    pub rooms: u64,
    /// Bookings ever made, confirmed holds among them.
    pub booked_total: u64,
    pub cancelled_total: u64,
    pub held_total: u64,
    pub expired_total: u64,
}
