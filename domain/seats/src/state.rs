//! What the machine knows: shows, bookings and holds.

use std::collections::{BTreeMap, BTreeSet};

use turnstile_chassis::{Events, OpenCounts};
use turnstile_types::{Name, Position, Principal, Timestamp};

use crate::{
    BookingNumber, Event, Refusal, SeatEntryState, SeatNumbers, Totals,
    hall::{HallShow, SeatSection},
    limits,
};

/// Numbered seats of shows.
///
/// A booking or hold owns its seats; each seat of a section knows its owner. Time: before a command is
/// decided, every hold that is due at its instant expires, as by a tick. Beyond that a refusal changes
/// nothing.
#[derive(Debug)]
pub struct Seats {
    /// In the order in which they were added.
    pub(crate) shows: Vec<HallShow>,
    pub(crate) by_name: BTreeMap<Name, usize>,
    pub(crate) bookings: BTreeMap<BookingNumber, SeatEntry>,
    /// Every open hold, by the instant at which it expires.
    pub(crate) expiries: BTreeSet<(Timestamp, BookingNumber)>,
    /// How many open holds each principal has.
    pub(crate) holders: OpenCounts,
    /// The number before the first that is given: zero where there are not several partitions.
    pub(crate) first: BookingNumber,
    /// The number given last.
    pub(crate) last: BookingNumber,
    pub(crate) totals: Totals,
    pub(crate) events: Events<Event>,
}

/// A booking or an open hold.
#[derive(Clone, Debug)]
pub(crate) struct SeatEntry {
    /// Where its show stands among the shows.
    pub(crate) show: usize,
    /// Where its section stands in the show.
    pub(crate) section: usize,
    pub(crate) seats: SeatNumbers,
    pub(crate) state: SeatEntryState,
    pub(crate) principal: Principal,
    pub(crate) since: Timestamp,
    pub(crate) position: Position,
}

impl Seats {
    pub(crate) fn new() -> Self {
        Self {
            shows: Vec::new(),
            by_name: BTreeMap::new(),
            bookings: BTreeMap::new(),
            expiries: BTreeSet::new(),
            holders: OpenCounts::new(),
            first: BookingNumber(0),
            last: BookingNumber(0),
            totals: Totals::default(),
            events: Events::empty(),
        }
    }

    /// What the machine has done and holds, as the last record left it.
    #[must_use]
    pub const fn totals(&self) -> Totals {
        self.totals
    }

    /// Whether it is as it was at first: then it need not be kept anywhere.
    #[must_use]
    pub const fn is_new(&self) -> bool {
        self.shows.is_empty()
    }

    /// Adds a show whose name is new.
    pub(crate) fn open(&mut self, show: HallShow) {
        self.by_name.insert(show.name, self.shows.len());
        self.shows.push(show);
        self.totals.shows += 1;
    }

    /// Adds a section, within the limits.
    pub(crate) fn furnish(&mut self, show: usize, section: SeatSection) -> Result<(), Refusal> {
        let all = self.totals.seats + u64::from(section.seats());
        let show = self.show_mut(show);
        if show.section(&section.name).is_ok() {
            return Err(Refusal::SectionExists);
        }
        let limit = limits::SECTIONS_PER_SHOW_MAX;
        if show.sections.len() >= limit as usize {
            return Err(Refusal::TooManySections { limit });
        }
        let limit = limits::SEATS_PER_SHOW_MAX;
        if show.seats() + section.seats() > limit {
            return Err(Refusal::TooManySeats { limit });
        }
        let limit = limits::SEATS_MAX;
        if all > u64::from(limit) {
            return Err(Refusal::TooManySeats { limit });
        }
        show.sections.push(section);
        self.totals.seats = all;
        Ok(())
    }

    /// Adds a booking or hold whose seats are free.
    pub(crate) fn admit(&mut self, number: BookingNumber, booking: SeatEntry) {
        let count = u64::from(booking.seats.len());
        match booking.state {
            SeatEntryState::Booked { .. } => {
                self.totals.bookings += 1;
                self.totals.seats_booked += count;
            }
            SeatEntryState::Held { until } => {
                self.totals.holds += 1;
                self.totals.seats_held += count;
                self.expiries.insert((until, number));
                self.holders.add(booking.principal.0);
            }
        }
        self.section_mut(&booking).take(&booking.seats, number);
        self.bookings.insert(number, booking);
    }

    /// Removes a booking or hold, and returns it.
    pub(crate) fn remove(&mut self, number: BookingNumber) -> SeatEntry {
        let booking = self.bookings.remove(&number);
        let booking = booking.expect("a booking that was looked up");
        let count = u64::from(booking.seats.len());
        match booking.state {
            SeatEntryState::Booked { .. } => {
                self.totals.bookings -= 1;
                self.totals.seats_booked -= count;
            }
            SeatEntryState::Held { until } => {
                self.totals.holds -= 1;
                self.totals.seats_held -= count;
                self.expiries.remove(&(until, number));
                self.holders.remove(booking.principal.0);
            }
        }
        self.section_mut(&booking).vacate(&booking.seats, number);
        booking
    }

    pub(crate) fn find(&self, show: &Name) -> Result<usize, Refusal> {
        let found = self.by_name.get(show).copied();
        found.ok_or(Refusal::UnknownShow)
    }

    pub(crate) fn show(&self, show: usize) -> &HallShow {
        self.shows.get(show).expect("a show is never removed")
    }

    pub(crate) fn show_mut(&mut self, show: usize) -> &mut HallShow {
        self.shows.get_mut(show).expect("a show is never removed")
    }

    fn section_mut(&mut self, booking: &SeatEntry) -> &mut SeatSection {
        let sections = &mut self.show_mut(booking.show).sections;
        let section = sections.get_mut(booking.section);
        section.expect("a section is never removed")
    }

    pub(crate) fn look_up(&self, number: BookingNumber) -> Result<&SeatEntry, Refusal> {
        let is_over = number > self.first && number <= self.last;
        let absent = if is_over {
            Refusal::Ended
        } else {
            Refusal::NotFound
        };
        self.bookings.get(&number).ok_or(absent)
    }
}
