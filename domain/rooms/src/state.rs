//! What the machine owns.

use std::{cell::RefCell, collections::BTreeSet};

use turnstile_chassis::Events;
use turnstile_types::Timestamp;

use crate::{
    Event, calendar::Calendar, directory::PropertyDirectory, expected::Expected, guests::Guests,
    ledger::Ledger, principals::Principals,
};

/// Rooms, and who has them when.
///
/// The ledger holds each booking and hold, the calendar says for each night of a room which of
/// them has it, and the directory holds the rooms, with one bit for each night for the search of
/// any free room; rooms that nobody added have no bits, because nothing searches them. A night is
/// changed in all three at one place: `occupy` and `vacate`.
/// Everything is numbered with 32 bits and lies in slabs that grow without moving, so that a booking
/// touches few cache lines, allocates nothing once the machine has its size, and never pays for
/// growth of the whole.
///
/// Time: before a command is decided, everything that is due at its instant is done, as by
/// [`tick`](turnstile_types::Machine::tick); a hold whose time is over never stands in the way,
/// whoever calls first. Beyond that a refusal changes nothing.
#[derive(Debug)]
pub struct Rooms {
    pub(crate) directory: PropertyDirectory,
    pub(crate) calendar: Calendar,
    pub(crate) ledger: Ledger,
    pub(crate) guests: Guests,
    pub(crate) principals: Principals,
    /// When holds expire, and when expired ones are forgotten.
    pub(crate) deadlines: BTreeSet<(Timestamp, u32)>,
    pub(crate) counts: Counts,
    pub(crate) expected: RefCell<Expected>,
    pub(crate) events: Events<Event>,
}

/// What has been done so far, and what stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Bookings that stand.
    pub(crate) bookings: u64,
    pub(crate) booked: u64,
    pub(crate) cancelled: u64,
    pub(crate) held: u64,
    pub(crate) expired: u64,
}
