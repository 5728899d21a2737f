//! What a request says that it is about.

use crate::{CustomerId, Locator, Xid};

/// What a request is about, before the state is asked who has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// All customers, or whose locks are in the way.
    All,
    /// What every customer sees.
    Public,
    Customer(CustomerId),
    Itinerary(Locator),
    /// A step of a transaction, which is about this, and which belongs to whoever has started it.
    Step(Xid, StepAbout),
    /// A transaction as a whole: its customers are known only to the desks that it has touched.
    Transaction(Xid),
}

/// What a step of a transaction is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepAbout {
    All,
    Public,
    Customer(CustomerId),
    /// A new customer gets a number that no limit knows yet.
    NewCustomer(Option<CustomerId>),
    /// What the transaction has done.
    Transaction,
}
