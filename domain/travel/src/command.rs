//! What the machine can be asked to do.

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Adds to what there is of an item; a price of zero leaves the price as it is.
    Add {
        item: Item,
        count: u32,
        price: u32,
    },
    Delete {
        item: Item,
    },
    Query {
        item: Item,
    },
    /// None: with a number that the desk picks.
    AddCustomer {
        customer: Option<CustomerId>,
    },
    DeleteCustomer {
        customer: CustomerId,
    },
    QueryCustomer {
        customer: CustomerId,
    },
    /// Reserves all of a trip, or nothing.
    Reserve {
        customer: CustomerId,
        trip: Trip,
    },
    Summary,
    Commit,
}

/// One whole request that may change the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Starts an interactive transaction.
    Start,
    Within {
        xid: Xid,
        step: Step,
    },
    /// Aborts a transaction, also while it waits.
    Abort {
        xid: Xid,
    },
    /// Aborts a transaction that its client has left, to make room for others.
    Evict {
        xid: Xid,
    },

    /// Books a trip in a transaction of its own. With `hold_ms` it is held for so long, and
    /// released if it is not confirmed by then; it stands on the bill meanwhile.
    Book {
        customer: CustomerId,
        trip: Trip,
        hold_ms: Option<u64>,
    },
    /// Makes a held itinerary a booked one.
    Confirm {
        locator: Locator,
    },
    /// Gives everything of an itinerary back.
    Cancel {
        locator: Locator,
    },

    Configure(Settings),
    /// The process has started anew: what was open is aborted, what was decided is finished, and for
    /// what was staged the missing votes are asked for. From now on trips are staged.
    Recover,
    /// The same as it was before trips were staged; only logs of that time have it.
    RecoverUnstaged,
    /// An operator decides, at a desk, a transaction that waits for its decision.
    Resolve {
        desk: Desk,
        xid: Xid,
        commit: bool,
    },
    /// A parcel of a peer has arrived.
    Deliver(Parcel),
}
