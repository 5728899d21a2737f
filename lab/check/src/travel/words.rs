//! What planners ask of an agency, and what they are answered.

use super::{BillRow, ItemOffer};
use crate::{compact::compact, rooms::InlineReference};

/// The most items of one trip.
pub const TRIP_MAX: usize = 3;

/// What is reserved together. Items are numbers within the run; what stands twice is reserved twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TripItems {
    items: [u16; TRIP_MAX],
    length: usize,
}

/// What was asked, and what was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgencyOperation {
    /// All of an interactive transaction; its place is that of its end.
    Transaction {
        steps: Vec<JourneyStep>,
        end: JourneyEnd,
    },
    /// A trip in a transaction of its own; its place is where that was decided.
    Book {
        customer: u16,
        trip: TripItems,
        answer: TripBooked,
    },
    Cancel {
        locator: InlineReference,
        answer: TripCancelled,
    },
    /// A hold becomes a booking.
    Confirm {
        locator: InlineReference,
        answer: TripConfirmed,
    },
}

/// How an interactive transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JourneyEnd {
    Committed,
    /// On request: it leaves nothing, but what it read was so.
    Aborted,
    Unknown,
}

/// One answered step of an interactive transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JourneyStep {
    /// None: there is no such item.
    Query { item: u16, found: Option<ItemOffer> },
    /// None: there is no such customer.
    Bill {
        customer: u16,
        found: Option<CustomerBill>,
    },
    Add {
        item: u16,
        count: i64,
        /// What each costs from then on; none: as before.
        price: Option<u32>,
    },
    Reserve {
        customer: u16,
        trip: TripItems,
        answer: ReserveAnswer,
    },
    /// It was refused, as this load cannot be.
    Strange,
}

/// What a customer has, sorted by item, and owes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomerBill {
    pub lines: Vec<BillRow>,
    pub total: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReserveAnswer {
    Done,
    /// There is not so much of this item.
    SoldOut(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TripBooked {
    Done {
        locator: InlineReference,
        price: u64,
    },
    /// There is not so much of this item.
    SoldOut(u16),
    Unknown,
    /// A refusal that this load cannot get.
    Strange,
    /// It is held, from when it was asked for until then, in milliseconds of the server.
    Held {
        locator: InlineReference,
        price: u64,
        asked: u64,
        until: u64,
    },
    /// It was to be held.
    HeldUnknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TripCancelled {
    Done,
    /// It was cancelled before, or its time was over.
    Over,
    Unknown,
    /// A refusal that this load cannot get.
    Strange,
    /// Its time is over, and it is being given back.
    Busy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TripConfirmed {
    Done,
    /// It was cancelled before, or its time was over.
    Over,
    /// Its time is over, and it is being given back.
    Busy,
    /// It is booked.
    NotHeld,
    Unknown,
    /// A refusal that this load cannot get.
    Strange,
}

compact!(struct TripItems { items, length });
compact!(enum AgencyOperation {
    0 = Transaction { steps, end },
    1 = Book { customer, trip, answer },
    2 = Cancel { locator, answer },
    3 = Confirm { locator, answer },
});
compact!(enum JourneyEnd { 0 = Committed, 1 = Aborted, 2 = Unknown });
compact!(enum JourneyStep {
    0 = Query { item, found },
    1 = Bill { customer, found },
    2 = Add { item, count, price },
    3 = Reserve { customer, trip, answer },
    4 = Strange,
});
compact!(struct CustomerBill { lines, total });
compact!(enum ReserveAnswer { 0 = Done, 1 = SoldOut(item) });
compact!(enum TripBooked {
    0 = Done { locator, price },
    1 = SoldOut(item),
    2 = Unknown,
    3 = Strange,
    4 = Held { locator, price, asked, until },
    5 = HeldUnknown,
});
compact!(enum TripCancelled { 0 = Done, 1 = Over, 2 = Unknown, 3 = Strange, 4 = Busy });
compact!(enum TripConfirmed {
    0 = Done,
    1 = Over,
    2 = Busy,
    3 = NotHeld,
    4 = Unknown,
    5 = Strange,
});

impl TripItems {
    /// A trip of the first of these items, as many as a trip has.
    #[must_use]
    pub fn new(items: &[u16]) -> Self {
        let mut trip = Self {
            items: [0; TRIP_MAX],
            length: items.len().min(TRIP_MAX),
        };
        trip.items[..trip.length].copy_from_slice(&items[..trip.length]);
        trip
    }

    #[must_use]
    pub fn items(&self) -> &[u16] {
        &self.items[..self.length]
    }

    /// How often an item is in it.
    pub(super) fn count(&self, item: u16) -> i64 {
        self.items().iter().map(|&one| i64::from(one == item)).sum()
    }
}
