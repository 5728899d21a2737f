//! What the machine can be asked without changing anything, and what it answers.

use turnstile_types::{Position, Timestamp};

use crate::{AbortReason, Bill, CustomerId, Desk, Desks, Item, Locator, Outcome, Stock, Xid};

/// One whole request that only reads. It reads what is committed, and needs no lock.
///
/// Of what is not durable it tells what a crash would abort, not what it would break: which transactions
/// are open, waiting or aborted, their late answers, and totals. A transaction is shown as committed, an
/// itinerary as booked or over, and an item with what a commit left of it, by records that promise
/// something, and such an answer waits for them. After a crash, a transaction that was shown may be
/// unknown, but its xid is not given again; a ticket may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    Transaction {
        xid: Xid,
    },
    /// Transactions after this one, in order, of this state or of any.
    Transactions {
        after: Xid,
        state: Option<TransactionState>,
        limit: usize,
    },
    /// Transactions that wait at a desk for their decision.
    InDoubt {
        desk: Desk,
        after: Xid,
        limit: usize,
    },
    /// The late answer under a ticket.
    Answered {
        ticket: Position,
    },
    Itinerary {
        locator: Locator,
    },
    /// Items after this one, in order.
    Items {
        desk: Desk,
        after: Option<Item>,
        limit: usize,
    },
    Customer {
        customer: CustomerId,
    },
    Totals,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Transaction(Option<TransactionView>),
    Transactions(Vec<TransactionView>),
    InDoubt(Vec<Xid>),
    Answered(LateAnswer),
    Itinerary(Option<ItineraryView>),
    Items(Vec<(Item, Stock)>),
    Customer(Option<Bill>),
    Totals(Totals),
}

/// How much there is, of the roles that are played here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Xids given, with those that a restart skipped.
    pub xids: u64,
    /// Transactions that are not over.
    pub open: u64,
    /// Itineraries that stand, held ones among them.
    pub itineraries: u64,
    /// Itineraries ever made.
    pub booked: u64,
    pub items: u64,
    pub customers: u64,
}

/// Where a transaction stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionState {
    /// It may be asked for more.
    Active,
    /// It waits for a lock.
    Waiting,
    /// Votes are being gathered.
    Preparing,
    /// Its only desk decides.
    Delegated,
    /// Committed, and not every desk has said that it knows.
    Committing,
    Committed,
    Aborted(AbortReason),
}

/// Who has what, and why something waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionView {
    pub xid: Xid,
    pub state: TransactionState,
    pub touched: Desks,
    /// Desks whose word is missing.
    pub awaited: Desks,
    /// Who has what it waits for.
    pub holder: Option<Xid>,
    /// When it is given up, as things are.
    pub deadline: Option<Timestamp>,
}

/// What became of a command that was told to wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LateAnswer {
    Pending,
    Given(Outcome),
    /// It never waited, or it was answered so long ago that it is forgotten.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItineraryState {
    Booked,
    Held {
        until: Timestamp,
    },
    /// It is being cancelled.
    Releasing,
    /// It was cancelled or it expired.
    Over,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItineraryView {
    pub locator: Locator,
    pub state: ItineraryState,
    /// None and no items when it is over.
    pub customer: Option<CustomerId>,
    /// What is reserved, each at the price when it was.
    pub items: Vec<(Item, u32)>,
}
