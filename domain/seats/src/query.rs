//! What the machine can be asked without changing anything, and what it answers.

use turnstile_chassis::{Bytes, Cursor, Fields, Operations, PAGE, PAGE_MAX, Words};
use turnstile_types::{Name, Position, Principal, Timestamp};

use crate::{BookingNumber, Refusal, SeatNumbers, about::About};

/// One whole request that only reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Words, Operations)]
#[operations(answers = Answer, right = read, about = About, routed)]
pub enum Query {
    /// Shows one booking or hold.
    #[operation(answer = Entry, about = Booking(*reference), route = reference)]
    #[byte(0x00)]
    LookUp { reference: BookingNumber },
    /// Lists the bookings and holds of a show, in the order of their foremost seats.
    #[word("list_bookings")]
    #[operation(answer = Page, about = Show(*show), route = show)]
    #[byte(0x01)]
    List {
        show: Name,
        cursor: Option<Cursor>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Counts the free seats of every section of a show, or of one.
    #[word("get_availability")]
    #[operation(about = Public, route = show)]
    #[byte(0x02)]
    Availability { show: Name, section: Option<Name> },
    /// Shows which seats of a section are free, row by row.
    #[word("get_map")]
    #[operation(about = Public, route = show)]
    #[byte(0x03)]
    Map { show: Name, section: Name },
    /// Lists the shows in the order in which they were added to each partition.
    #[word("list_shows")]
    #[operation(about = Public, route = pages)]
    #[byte(0x04)]
    Shows {
        cursor: Option<Cursor>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Shows how much there is of everything.
    #[word("get_totals")]
    #[operation(about = Public, route = all)]
    #[byte(0x05)]
    Totals,
}

/// What is answered to a query.
#[derive(Clone, Debug, PartialEq, Eq, Bytes, Fields)]
pub enum Answer {
    /// A look-up that found something.
    #[byte(0x00)]
    Entry(#[field(flatten)] Box<Entry>),
    /// One page of bookings and holds.
    #[byte(0x01)]
    Page {
        entries: Vec<Entry>,
        /// Where the next page begins; not set on the last.
        next: Option<Cursor>,
    },
    #[byte(0x02)]
    Availability(#[field(name = "sections")] Vec<SectionSummary>),
    #[byte(0x03)]
    Map(#[field(name = "rows")] Vec<MapRow>),
    #[byte(0x04)]
    Shows {
        shows: Vec<ShowSummary>,
        /// Where the next page begins; not set on the last.
        next: Option<Cursor>,
    },
    #[byte(0x05)]
    Totals(#[field(flatten)] Totals),
    #[byte(0x06)]
    Refused(#[field(skip)] Refusal),
}

/// A booking or hold, as listings show it.
#[derive(Clone, Debug, PartialEq, Eq, Bytes, Fields)]
pub struct Entry {
    pub reference: BookingNumber,
    #[field(flatten)]
    pub state: SeatEntryState,
    pub show: Name,
    pub section: Name,
    pub seats: SeatNumbers,
    /// Who booked or held.
    pub principal: Principal,
    /// When it was booked or held, in logged time.
    pub since: Timestamp,
    /// The position of the record that last changed it: its version.
    pub position: Position,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words)]
#[fields(tag = "state")]
pub enum SeatEntryState {
    #[byte(0x00)]
    Booked { buyer: Name },
    #[byte(0x01)]
    Held { until: Timestamp },
}

/// The free seats of one section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields)]
pub struct SectionSummary {
    pub section: Name,
    pub rows: u16,
    pub row_seats: u16,
    pub free: u32,
    /// The most free seats next to each other in one row.
    pub adjacent: u16,
}

/// One row of a section.
#[derive(Clone, Debug, PartialEq, Eq, Bytes, Fields)]
pub struct MapRow {
    pub row: u16,
    pub free: u16,
    /// A point for each free seat and an `x` for each taken one, from seat 1 on.
    pub seats: Box<str>,
}

/// One show in a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields)]
pub struct ShowSummary {
    pub show: Name,
    pub begins: Timestamp,
    /// Whether the sale is closed. It also ends when the show begins.
    pub closed: bool,
    pub sections: u32,
    pub seats: u32,
    pub free: u32,
}

/// What the machine has done and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Bytes, Fields)]
pub struct Totals {
    /// Shows ever added.
    pub shows: u64,
    /// Seats of all shows.
    pub seats: u64,
    /// Bookings that stand now.
    pub bookings: u64,
    /// Holds that are open now.
    pub holds: u64,
    /// Seats that are booked now.
    pub seats_booked: u64,
    /// Seats that are held now.
    pub seats_held: u64,
    /// Bookings ever made, confirmed holds among them.
    pub booked_total: u64,
    /// Bookings ever cancelled.
    pub cancelled_total: u64,
    /// Holds ever made.
    pub held_total: u64,
    /// Holds that ever expired.
    pub expired_total: u64,
}
