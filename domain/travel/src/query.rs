//! What the machine can be asked without changing anything, and what it answers.

use turnstile_types::{Position, Timestamp};

use crate::{
    AbortReason, Bill, CustomerId, Desk, Desks, Item, Locator, LockMode, Outcome, Resource, Stock,
    Xid,
};

/// One whole request that only reads. It reads what is committed, and needs no lock.
///
/// Of what is not durable it tells what a crash would abort, not what it would break: which transactions
/// are open, waiting or aborted, their late answers, and totals. A transaction is shown as committed, an
/// itinerary as booked or over, and an item with what a commit left of it, by records that promise
/// something, and such an answer waits for them; but a staged trip is shown as booked when all have voted,
/// and after a crash as in doubt and being booked until they have said so again. After a crash, a transaction that was shown may be
/// unknown, but its xid is not given again; a ticket may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    Transaction {
        xid: Xid,
    },
    /// Open transactions after this one, in order, at this stage or at any. Of what each locks it
    /// tells the number only, and of those for whom it waits the holder only.
    Transactions {
        after: Xid,
        stage: Option<Stage>,
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
    /// How it ends is known elsewhere, and no word comes: a desk here has voted yes and waits for
    /// the decision, its only desk decides and is silent, or a restart has found it staged and asks the
    /// desks for their votes.
    InDoubt,
    /// Committed, and not every desk has said that it knows.
    Committing,
    Committed,
    Aborted(AbortReason),
}

/// Where an open transaction stands, as operators ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It may be asked for more.
    Active,
    /// It waits for a lock.
    Waiting,
    /// Its end has begun.
    Prepared,
    /// How it ends is not known here.
    InDoubt,
}

impl Stage {
    pub const ALL: [Self; 4] = [Self::Active, Self::Waiting, Self::Prepared, Self::InDoubt];

    /// The stable word on every door.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Waiting => "waiting",
            Self::Prepared => "prepared",
            Self::InDoubt => "in-doubt",
        }
    }

    /// What such a word stands for, whatever the case of its letters.
    #[must_use]
    pub fn named(word: &[u8]) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|stage| stage.code().as_bytes().eq_ignore_ascii_case(word))
    }
}

impl TransactionState {
    /// None: it is over.
    #[must_use]
    pub const fn stage(self) -> Option<Stage> {
        match self {
            Self::Active => Some(Stage::Active),
            Self::Waiting => Some(Stage::Waiting),
            Self::Preparing | Self::Delegated | Self::Committing => Some(Stage::Prepared),
            Self::InDoubt => Some(Stage::InDoubt),
            Self::Committed | Self::Aborted(_) => None,
        }
    }

    /// The stable word on every door, finer than that of the stage.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Waiting => "waiting",
            Self::Preparing => "preparing",
            Self::Delegated => "delegated",
            Self::InDoubt => "in-doubt",
            Self::Committing => "committing",
            Self::Committed => "committed",
            Self::Aborted(_) => "aborted",
        }
    }
}

/// Who has what, and why something waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionView {
    pub xid: Xid,
    pub state: TransactionState,
    /// Of the desks that are not played here, those that the coordinator knows of.
    pub touched: Desks,
    /// Desks whose word is missing.
    pub awaited: Desks,
    /// Who has what it waits for.
    pub holder: Option<Xid>,
    /// Those who must end before it gets that, or one who waits before it.
    pub before: Vec<Xid>,
    /// When it is given up, as things are.
    pub deadline: Option<Timestamp>,
    /// What it has at the desks that are played here.
    pub branches: Vec<BranchView>,
}

/// A transaction at one desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchView {
    pub desk: Desk,
    /// Whether the desk has voted yes, so that an operator may resolve it there.
    pub prepared: bool,
    /// How many locks it holds.
    pub held: u64,
    /// What it holds, in order of acquisition, up to a page of it.
    pub locks: Vec<(Resource, LockMode)>,
    /// What it waits for.
    pub wanted: Option<(Resource, LockMode)>,
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
    /// A restart has not heard yet from all desks whether it was booked.
    Booking,
    /// It was cancelled or it expired, or it never came to be.
    Over,
}

impl ItineraryState {
    /// The stable word on every door.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Booked => "booked",
            Self::Held { .. } => "held",
            Self::Releasing => "releasing",
            Self::Booking => "booking",
            Self::Over => "over",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItineraryView {
    pub locator: Locator,
    pub state: ItineraryState,
    /// None and no items when it is being booked or over.
    pub customer: Option<CustomerId>,
    /// What is reserved, each at the price when it was.
    pub items: Vec<(Item, u32)>,
}
