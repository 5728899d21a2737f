//! What the machine can be asked to do.

use std::fmt;

use turnstile_chassis::{Bytes, Fields, Kind, Operations, Show, Value, Words};

use crate::{
    CustomerId, Desk, Done, Item, Locator, Parcel, Settings, Xid,
    about::{About, StepAbout},
    limits,
};

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

impl Value for Trip {
    fn show<S: Show>(&self, show: S) -> S::Out {
        self.items.show(show)
    }

    fn kind() -> Kind {
        <Vec<Item>>::kind()
    }
}

/// No items, or too many for a [`Trip`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidTrip;

impl fmt::Display for InvalidTrip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = limits::ITEMS_PER_TRIP_MAX;
        write!(f, "a trip has from 1 to {most} items")
    }
}

impl std::error::Error for InvalidTrip {}

impl TryFrom<Vec<Item>> for Trip {
    type Error = InvalidTrip;

    fn try_from(items: Vec<Item>) -> Result<Self, InvalidTrip> {
        Self::new(items).ok_or(InvalidTrip)
    }
}

/// How an operator decides a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
enum Decision {
    Commit,
    Abort,
}

/// The word of a decision.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "fields are handed over by reference"
)]
const fn decision(commit: &bool) -> &'static str {
    if *commit {
        Decision::Commit.code()
    } else {
        Decision::Abort.code()
    }
}

impl From<Decision> for bool {
    fn from(decision: Decision) -> Self {
        decision == Decision::Commit
    }
}

/// One step of an interactive transaction.
#[derive(Clone, Debug, PartialEq, Eq, Bytes, Fields, Words, Operations)]
#[operations(answers = Done, about = StepAbout)]
pub enum Step {
    /// Adds to what there is of an item; a price of zero leaves the price as it is.
    #[byte(0x01)]
    #[word("add_item")]
    #[operation(answer = Added, right = manage, of_holder, may_wait)]
    Add { item: Item, count: u32, price: u32 },
    /// Removes an item of which nothing is reserved.
    #[byte(0x02)]
    #[word("delete_item")]
    #[operation(answer = Deleted, right = manage, of_holder, may_wait)]
    Delete { item: Item },
    /// Shows what there is of an item, and keeps it so until the transaction ends.
    #[byte(0x03)]
    #[word("query_item")]
    #[operation(answer = Stock, of_holder, may_wait, about = Public)]
    Query { item: Item },
    /// Adds a customer, with a number of its own or a new one.
    #[byte(0x04)]
    #[operation(answer = CustomerAdded, of_holder, may_wait, about = NewCustomer(*customer))]
    AddCustomer { customer: Option<CustomerId> },
    /// Removes a customer and gives back everything it has.
    #[byte(0x05)]
    #[operation(answer = CustomerDeleted, of_holder, may_wait, about = Customer(*customer))]
    DeleteCustomer { customer: CustomerId },
    /// Shows what a customer has, and keeps it so until the transaction ends.
    #[byte(0x06)]
    #[operation(answer = Bill, of_holder, may_wait, about = Customer(*customer))]
    QueryCustomer { customer: CustomerId },
    /// Reserves all of these items for a customer, or none.
    #[byte(0x07)]
    #[operation(answer = Reserved, of_holder, may_wait, about = Customer(*customer))]
    Reserve {
        customer: CustomerId,
        #[parameter(name = "items", repeated = Item, most = limits::ITEMS_PER_TRIP_MAX)]
        trip: Trip,
    },
    /// Shows what every customer has, and keeps it so until the transaction ends.
    #[byte(0x08)]
    #[word("query_customers")]
    #[operation(of_holder, may_wait)]
    Summary,
    /// Commits a transaction.
    #[byte(0x09)]
    #[operation(answer = Committed, of_holder, about = Transaction)]
    Commit,
}

/// One whole request that may change the state.
#[derive(Clone, Debug, PartialEq, Eq, Bytes, Fields, Words, Operations)]
#[operations(answers = Done, about = About)]
pub enum Command {
    /// Starts a transaction; it ends by itself when nothing is asked of it for long.
    #[byte(0x01)]
    #[operation(answer = Started, opens, about = Public)]
    Start,
    #[byte(0x02)]
    #[word(inner = step)]
    #[operation(about = Step(*xid, step.about()))]
    Within {
        xid: Xid,
        #[field(flatten)]
        step: Step,
    },
    /// Aborts a transaction, also while it waits.
    #[byte(0x03)]
    #[operation(answer = Aborted, of_holder, about = Transaction(*xid))]
    Abort { xid: Xid },
    /// Aborts a transaction that its client has left, to make room for others.
    #[byte(0x04)]
    #[operation(internal)]
    Evict { xid: Xid },

    /// Books a trip, all or nothing. With `hold_ms` it is held for that many milliseconds, unless
    /// it is confirmed; it stands on the bill meanwhile.
    #[byte(0x10)]
    #[operation(answer = Booked, may_wait, about = Customer(*customer))]
    Book {
        customer: CustomerId,
        #[parameter(name = "items", repeated = Item, most = limits::ITEMS_PER_TRIP_MAX)]
        trip: Trip,
        #[parameter(kind = Kind::Number { min: 0, max: limits::HOLD_MS_MAX })]
        hold_ms: Option<u64>,
    },
    /// Makes a held itinerary a booked one.
    #[byte(0x11)]
    #[operation(answer = Confirmed, about = Itinerary(*locator))]
    Confirm { locator: Locator },
    /// Gives everything of an itinerary back.
    #[byte(0x12)]
    #[operation(answer = Cancelled, may_wait, about = Itinerary(*locator))]
    Cancel { locator: Locator },

    #[byte(0x20)]
    #[operation(internal)]
    Configure(#[field(skip)] Settings),
    /// The process has started anew: what was open is aborted, what was decided is finished, and for
    /// what was staged the missing votes are asked for. From now on trips are staged.
    #[byte(0x24)]
    #[operation(internal)]
    Recover,
    /// The same as it was before trips were staged; only logs of that time have it.
    #[byte(0x21)]
    #[operation(internal)]
    RecoverUnstaged,
    /// Decides by hand, at one desk, a transaction that waits for its decision.
    #[byte(0x22)]
    #[operation(answer = Resolved, right = manage)]
    Resolve {
        desk: Desk,
        xid: Xid,
        #[parameter(name = "decision", read_as = Decision)]
        #[field(name = "decision", with = decision)]
        commit: bool,
    },
    /// A parcel of a peer has arrived.
    #[byte(0x23)]
    #[operation(internal)]
    Deliver(#[field(skip)] Parcel),
}
