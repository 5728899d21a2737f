//! What the machine can be asked to do.

use turnstile_chassis::{Bytes, Words};

use crate::{CustomerId, Desk, Item, Locator, Parcel, Settings, Xid, limits};

/// What is reserved together: 1 to 64 items, of any desks; what stands twice is reserved twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trip {
    items: Vec<Item>,
}

impl Trip {
    /// A trip of one item.
    #[must_use]
    pub fn of(item: Item) -> Self {
        Self { items: vec![item] }
    }

    /// None: no items, or too many.
    #[must_use]
    pub fn new(items: Vec<Item>) -> Option<Self> {
        let fits = !items.is_empty() && items.len() <= limits::ITEMS_PER_TRIP_MAX;
        fits.then_some(Self { items })
    }

    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }
}

/// One step of an interactive transaction.
#[derive(Clone, Debug, PartialEq, Eq, Bytes, Words)]
pub enum Step {
    /// Adds to what there is of an item; a price of zero leaves the price as it is.
    #[byte(0x01)]
    Add { item: Item, count: u32, price: u32 },
    #[byte(0x02)]
    Delete { item: Item },
    #[byte(0x03)]
    Query { item: Item },
    /// None: with a number that the desk picks.
    #[byte(0x04)]
    AddCustomer { customer: Option<CustomerId> },
    #[byte(0x05)]
    DeleteCustomer { customer: CustomerId },
    #[byte(0x06)]
    QueryCustomer { customer: CustomerId },
    /// Reserves all of a trip, or nothing.
    #[byte(0x07)]
    Reserve { customer: CustomerId, trip: Trip },
    #[byte(0x08)]
    Summary,
    #[byte(0x09)]
    Commit,
}

/// One whole request that may change the state.
#[derive(Clone, Debug, PartialEq, Eq, Bytes, Words)]
pub enum Command {
    /// Starts an interactive transaction.
    #[byte(0x01)]
    Start,
    #[byte(0x02)]
    #[word(inner = step)]
    Within { xid: Xid, step: Step },
    /// Aborts a transaction, also while it waits.
    #[byte(0x03)]
    Abort { xid: Xid },
    /// Aborts a transaction that its client has left, to make room for others.
    #[byte(0x04)]
    Evict { xid: Xid },

    /// Books a trip in a transaction of its own. With `hold_ms` it is held for so long, and
    /// released if it is not confirmed by then; it stands on the bill meanwhile.
    #[byte(0x10)]
    Book {
        customer: CustomerId,
        trip: Trip,
        hold_ms: Option<u64>,
    },
    /// Makes a held itinerary a booked one.
    #[byte(0x11)]
    Confirm { locator: Locator },
    /// Gives everything of an itinerary back.
    #[byte(0x12)]
    Cancel { locator: Locator },

    #[byte(0x20)]
    Configure(Settings),
    /// The process has started anew: what was open is aborted, what was decided is finished, and for
    /// what was staged the missing votes are asked for. From now on trips are staged.
    #[byte(0x24)]
    Recover,
    /// The same as it was before trips were staged; only logs of that time have it.
    #[byte(0x21)]
    RecoverUnstaged,
    /// An operator decides, at a desk, a transaction that waits for its decision.
    #[byte(0x22)]
    Resolve { desk: Desk, xid: Xid, commit: bool },
    /// A parcel of a peer has arrived.
    #[byte(0x23)]
    Deliver(Parcel),
}
