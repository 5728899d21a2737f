//! What is answered to a command.

use turnstile_types::{Position, Timestamp};

use crate::{Bill, CustomerId, Desk, Item, Locator, Stock, Xid, limits};

/// Done, refused, or later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done(Done),
    Refused(Refusal),
    /// The answer comes with an event `Answered` under this ticket, the position of the command.
    Waiting {
        ticket: Position,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    Started {
        xid: Xid,
    },
    Committed,
    Aborted,
    Added,
    Deleted,
    /// None: there is no such item.
    Stock(Option<Stock>),
    CustomerAdded(CustomerId),
    CustomerDeleted,
    /// None: there is no such customer.
    Bill(Option<Bill>),
    Reserved,
    Summary(Vec<Bill>),
    Booked {
        locator: Locator,
        price: u64,
        until: Option<Timestamp>,
    },
    Confirmed,
    Cancelled,
    Configured,
    Recovered,
    Resolved,
    Delivered,
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    NoSuchItem(Item),
    SoldOut(Item),
    /// Something of it is reserved.
    ItemReserved(Item),
    /// Less of it is reserved than was to be given back: the desks do not agree.
    NotReserved(Item),
    NoSuchCustomer(CustomerId),
    CustomerExists(CustomerId),
    /// As many as there may be.
    Full {
        limit: u32,
    },

    /// Never started, or ended so long ago that it is forgotten.
    UnknownTransaction,
    AlreadyCommitted,
    Aborted(AbortReason),
    /// The transaction has not answered the last command yet, or is being committed.
    Busy,
    /// Whether it is committed is known at this desk only, which does not answer.
    InDoubt(Desk),
    /// No transaction of this number waits for a decision at the desk.
    NotInDoubt,
    /// The desk has voted for a trip that its client may have been told to be booked: with the votes
    /// of the others it is committed, and only the coordinator can know.
    MayBeCommitted,

    /// There never was such an itinerary.
    NoSuchItinerary,
    /// It was cancelled or it expired.
    ItineraryOver,
    NotHeld,
    HoldTooLong {
        limit_ms: u64,
    },
    /// All bills together have more lines, one for each customer among them.
    SummaryTooLong {
        limit: u32,
    },

    /// That role is not played here.
    NotHere,
    /// A time that is zero or too long, or other roles than those with which it began.
    UnsoundSettings,
}

/// Why a transaction was aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbortReason {
    /// Somebody asked for it.
    Asked,
    /// A trip could not be booked.
    Refused,
    /// Nothing was asked of it for its lifetime.
    Expired,
    /// It waited in a circle, for this one next.
    Deadlock { holder: Xid },
    /// It waited too long; this one has what it wanted.
    LockTimeout { holder: Xid },
    /// The desk did not answer in time.
    DeskAway(Desk),
    /// The desk started anew, or had given it up.
    DeskLost(Desk),
    /// The coordinator started anew.
    Restarted,
    /// Its client had left it, and room was needed for others.
    Evicted,
}

impl Outcome {
    /// Whether it must be durable before it is told, unless it was staged: what is staged is durable
    /// before it is answered, and decided again after a crash. What is not firm is about a transaction
    /// that a crash would abort. The answer to a command with an idempotency key is always firm: it must
    /// be the same when it is asked for again. A record may be firm though its outcome is not, for
    /// what else it has done: see [`Travel`](crate::Travel).
    #[must_use]
    pub const fn is_firm(&self) -> bool {
        match self {
            Self::Waiting { .. } => false,
            Self::Done(done) => done.is_firm(),
            Self::Refused(refusal) => matches!(refusal, Refusal::InDoubt(_)),
        }
    }

    /// The stable word on every door and in every metric.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Refused(refusal) => refusal.code(),
            Self::Waiting { .. } => "waiting",
        }
    }
}

impl Done {
    const fn is_firm(&self) -> bool {
        match self {
            Self::Started { xid } => xid.0 % limits::XIDS_PER_BLOCK == 1,
            Self::Aborted
            | Self::Added
            | Self::Deleted
            | Self::Stock(_)
            | Self::CustomerAdded(_)
            | Self::CustomerDeleted
            | Self::Bill(_)
            | Self::Reserved
            | Self::Summary(_)
            | Self::Delivered => false,
            Self::Committed
            | Self::Booked { .. }
            | Self::Confirmed
            | Self::Cancelled
            | Self::Configured
            | Self::Recovered
            | Self::Resolved => true,
        }
    }
}

impl Refusal {
    /// The stable word for this refusal on every door and in every metric.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoSuchItem(_) => "no_such_item",
            Self::SoldOut(_) => "sold_out",
            Self::ItemReserved(_) => "item_reserved",
            Self::NotReserved(_) => "not_reserved",
            Self::NoSuchCustomer(_) => "no_such_customer",
            Self::CustomerExists(_) => "customer_exists",
            Self::Full { .. } => "full",
            Self::UnknownTransaction => "unknown_transaction",
            Self::AlreadyCommitted => "already_committed",
            Self::Aborted(_) => "aborted",
            Self::Busy => "busy",
            Self::InDoubt(_) => "in_doubt",
            Self::NotInDoubt => "not_in_doubt",
            Self::MayBeCommitted => "may_be_committed",
            Self::NoSuchItinerary => "no_such_itinerary",
            Self::ItineraryOver => "itinerary_over",
            Self::NotHeld => "not_held",
            Self::HoldTooLong { .. } => "hold_too_long",
            Self::SummaryTooLong { .. } => "summary_too_long",
            Self::NotHere => "not_here",
            Self::UnsoundSettings => "unsound_settings",
        }
    }
}

impl AbortReason {
    /// The stable word on every door.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Refused => "refused",
            Self::Expired => "expired",
            Self::Deadlock { .. } => "deadlock",
            Self::LockTimeout { .. } => "lock_timeout",
            Self::DeskAway(_) => "desk_away",
            Self::DeskLost(_) => "desk_lost",
            Self::Restarted => "restarted",
            Self::Evicted => "evicted",
        }
    }
}
