//! The queries of rooms.

use turnstile_chassis::{Bytes, Cursor, Fields, Operations, PAGE, PAGE_MAX, Words};
use turnstile_types::{Name, Night, Position, Principal, Stay, Timestamp};

use crate::{Door, GuestId, IdNumber, Nights, Reference, Refusal, Wish, about::About};

/// One whole request that only reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Words, Operations)]
#[operations(door = Door<'d>, answers = Answer, right = read, checked, about = About, routed)]
pub enum Query {
    /// Shows one booking or hold.
    #[operation(answer = Entry, about = Entry(*reference), route = reference)]
    #[byte(0x00)]
    LookUp { reference: Reference },
    /// Lists the bookings and holds of a property, or of one room, that touch the nights from `from` up
    /// to, not including, `to`; by room in natural order, then by arrival. In an open property the
    /// rooms of the type `open` follow the others, in the order in which they were first named.
    #[word("list_bookings")]
    #[operation(answer = Page, about = Property(*property), route = property)]
    #[byte(0x01)]
    List {
        property: Name,
        room: Option<Name>,
        from: Night,
        to: Night,
        cursor: Option<Cursor>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Lists the bookings of a guest, the newest first in each partition.
    #[word("list_guest_bookings")]
    #[operation(answer = Page, route = pages)]
    #[byte(0x02)]
    Guest {
        #[parameter(name = "id_number", door = guest_id, kind = IdNumber::KIND)]
        id: GuestId,
        cursor: Option<Cursor>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Lists the caller's open holds, the oldest first in each partition.
    #[word("list_holds")]
    #[operation(answer = Page, about = Public, route = pages)]
    #[byte(0x03)]
    Holds {
        cursor: Option<Cursor>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Counts the free rooms by type and night.
    #[word("get_availability")]
    #[operation(about = Public, route = property)]
    #[byte(0x04)]
    Availability {
        property: Name,
        #[parameter(name = "type")]
        room_type: Option<Name>,
        #[parameter(flatten)]
        stay: Stay,
    },
    /// Shows what stands in the way of a booking.
    #[operation(answer = Explanation, about = Property(*property), route = property)]
    #[byte(0x05)]
    Explain {
        property: Name,
        wish: Wish,
        #[parameter(flatten)]
        stay: Stay,
    },
    /// Lists the properties by name in each partition.
    #[word("list_properties")]
    #[operation(about = Public, route = pages)]
    #[byte(0x06)]
    Properties {
        cursor: Option<Cursor>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Shows how much there is of everything.
    #[word("get_totals")]
    #[operation(about = Public, route = all)]
    #[byte(0x07)]
    Totals,
    /// Lists the rooms of a property that are in sale, in natural order. In an open property the rooms
    /// of the type `open` follow the others, in the order in which they were first named.
    #[operation(answer = Rooms, about = Property(*property), route = property)]
    #[byte(0x08)]
    ListRooms {
        property: Name,
        cursor: Option<Cursor>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Lists the rooms of a property whose sale is stopped on some nights of a stay, and these nights;
    /// in the order of `list_rooms`.
    #[operation(answer = StopSells, about = Property(*property), route = property)]
    #[byte(0x09)]
    ListStopSells {
        property: Name,
        #[parameter(flatten)]
        stay: Stay,
        cursor: Option<Cursor>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
}

impl Query {
    /// What is wrong with parameters that could be read one by one: the name of one, and why.
    fn flaw(&self) -> Option<(&'static str, &'static str)> {
        let Self::List { from, to, .. } = self else {
            return None;
        };
        (to <= from).then_some(("to", "the end is a date after the start"))
    }
}

/// What is answered to a query.
#[derive(Clone, Debug, PartialEq, Eq, Bytes, Fields)]
pub enum Answer {
    /// A look-up that found something.
    #[byte(0x00)]
    Entry(#[field(flatten)] Entry),
    /// A listing.
    #[byte(0x01)]
    Page(#[field(flatten)] Page),
    #[byte(0x02)]
    Availability(#[field(name = "types")] Vec<TypeAvailability>),
    #[byte(0x03)]
    Explanation(#[field(flatten)] Explanation),
    #[byte(0x04)]
    Properties {
        properties: Vec<PropertySummary>,
        /// Where the next page begins; not set on the last.
        next: Option<Cursor>,
    },
    #[byte(0x05)]
    Totals(#[field(flatten)] Totals),
    #[byte(0x06)]
    Refused(#[field(skip)] Refusal),
    #[byte(0x07)]
    Rooms {
        rooms: Vec<RoomInSale>,
        /// Where the next page begins; not set on the last.
        next: Option<Cursor>,
    },
    #[byte(0x08)]
    StopSells {
        stop_sells: Vec<StoppedRoom>,
        /// Where the next page begins; not set on the last.
        next: Option<Cursor>,
    },
}

/// One page of bookings and holds.
#[derive(Clone, Debug, PartialEq, Eq, Bytes, Fields)]
pub struct Page {
    pub entries: Vec<Entry>,
    /// Where the next page begins; not set on the last.
    pub next: Option<Cursor>,
}

/// A booking or hold, as listings show it.
#[derive(Clone, Debug, PartialEq, Eq, Bytes, Fields)]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words)]
#[fields(tag = "state")]
pub enum EntryState {
    #[byte(0x00)]
    Booked,
    #[byte(0x01)]
    Held { until: Timestamp },
    /// A hold whose time is over; it can still be confirmed late.
    #[byte(0x02)]
    Expired {
        #[field(name = "until")]
        at: Timestamp,
    },
}

/// The free rooms of one type on each night of a stay.
#[derive(Clone, Debug, PartialEq, Eq, Bytes, Fields)]
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
#[derive(Clone, Debug, PartialEq, Eq, Bytes, Fields)]
pub struct Explanation {
    /// The room that a booking would get now.
    pub would_get: Option<Name>,
    /// What stands in the way, room by room; at most the first 1,000.
    pub blocks: Vec<Block>,
}

/// One thing that keeps a room from being booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words)]
#[fields(tag = "kind")]
pub enum Block {
    #[byte(0x00)]
    Booking {
        room: Name,
        reference: Reference,
        #[field(flatten)]
        stay: Stay,
    },
    #[byte(0x01)]
    Hold {
        room: Name,
        reference: Reference,
        #[field(flatten)]
        stay: Stay,
        until: Timestamp,
    },
    #[byte(0x02)]
    StopSell { room: Name, nights: Nights },
}

/// One property in a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields)]
pub struct PropertySummary {
    pub property: Name,
    pub open: bool,
    /// Rooms in sale; in an open property those that have been named so far.
    pub rooms: u32,
}

/// One room in a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields)]
pub struct RoomInSale {
    pub room: Name,
    #[field(name = "type")]
    pub room_type: Name,
}

/// A room, and the nights of a stay on which its sale is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields)]
pub struct StoppedRoom {
    pub room: Name,
    pub nights: Nights,
}

/// What the machine has done and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Bytes, Fields)]
pub struct Totals {
    /// Bookings that stand now.
    pub bookings: u64,
    /// Holds that are open now.
    pub holds: u64,
    /// Properties.
    pub properties: u64,
    /// Rooms in sale, with the named ones of open properties.
    pub rooms: u64,
    /// Bookings ever made, confirmed holds among them.
    pub booked_total: u64,
    /// Bookings ever cancelled.
    pub cancelled_total: u64,
    /// Holds ever made.
    pub held_total: u64,
    /// Holds that ever expired.
    pub expired_total: u64,
}
