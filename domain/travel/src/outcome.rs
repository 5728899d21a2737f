//! What is answered to a command.

use turnstile_chassis::Bytes;
use turnstile_types::{Position, Timestamp};

use crate::{Bill, CustomerId, Desk, Item, Locator, Stock, Xid, limits};

/// Done, refused, or later.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub enum Outcome {
    #[byte(0x01)]
    Done(Done),
    #[byte(0x02)]
    Refused(Refusal),
    /// The answer comes with an event `Answered` under this ticket, the position of the command.
    #[byte(0x03)]
    Waiting { ticket: Position },
}

#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub enum Done {
    #[byte(0x01)]
    Started { xid: Xid },
    #[byte(0x02)]
    Committed,
    #[byte(0x03)]
    Aborted,
    #[byte(0x04)]
    Added,
    #[byte(0x05)]
    Deleted,
    /// None: there is no such item.
    #[byte(0x06)]
    Stock(Option<Stock>),
    #[byte(0x07)]
    CustomerAdded(CustomerId),
    #[byte(0x08)]
    CustomerDeleted,
    /// None: there is no such customer.
    #[byte(0x09)]
    Bill(Option<Bill>),
    #[byte(0x0a)]
    Reserved,
    #[byte(0x0c)]
    Summary(Vec<Bill>),
    #[byte(0x10)]
    Booked {
        locator: Locator,
        price: u64,
        until: Option<Timestamp>,
    },
    #[byte(0x11)]
    Confirmed,
    #[byte(0x12)]
    Cancelled,
    #[byte(0x20)]
    Configured,
    #[byte(0x21)]
    Recovered,
    #[byte(0x22)]
    Resolved,
    #[byte(0x23)]
    Delivered,
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub enum Refusal {
    #[byte(0x01)]
    NoSuchItem(Item),
    #[byte(0x02)]
    SoldOut(Item),
    /// Something of it is reserved.
    #[byte(0x03)]
    ItemReserved(Item),
    /// Less of it is reserved than was to be given back: the desks do not agree.
    #[byte(0x04)]
    NotReserved(Item),
    #[byte(0x05)]
    NoSuchCustomer(CustomerId),
    #[byte(0x06)]
    CustomerExists(CustomerId),
    /// As many as there may be.
    #[byte(0x07)]
    Full { limit: u32 },

    /// Never started, or ended so long ago that it is forgotten.
    #[byte(0x10)]
    UnknownTransaction,
    #[byte(0x11)]
    AlreadyCommitted,
    #[byte(0x12)]
    Aborted(AbortReason),
    /// The transaction has not answered the last command yet, or is being committed.
    #[byte(0x13)]
    Busy,
    /// Whether it is committed is known at this desk only, which does not answer.
    #[byte(0x14)]
    InDoubt(Desk),
    /// No transaction of this number waits for a decision at the desk.
    #[byte(0x15)]
    NotInDoubt,
    /// The desk has voted for a trip that its client may have been told to be booked: with the votes
    /// of the others it is committed, and only the coordinator can know.
    #[byte(0x16)]
    MayBeCommitted,

    /// There never was such an itinerary.
    #[byte(0x20)]
    NoSuchItinerary,
    /// It was cancelled or it expired.
    #[byte(0x21)]
    ItineraryOver,
    #[byte(0x22)]
    NotHeld,
    #[byte(0x23)]
    HoldTooLong { limit_ms: u64 },
    /// All bills together have more lines, one for each customer among them.
    #[byte(0x24)]
    SummaryTooLong { limit: u32 },

    /// That role is not played here.
    #[byte(0x30)]
    NotHere,
    /// A time that is zero or too long, or other roles than those with which it began.
    #[byte(0x31)]
    UnsoundSettings,
}

/// Why a transaction was aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub enum AbortReason {
    /// Somebody asked for it.
    #[byte(0x01)]
    Asked,
    /// A trip could not be booked.
    #[byte(0x02)]
    Refused,
    /// Nothing was asked of it for its lifetime.
    #[byte(0x03)]
    Expired,
    /// It waited in a circle, for this one next.
    #[byte(0x04)]
    Deadlock { holder: Xid },
    /// It waited too long; this one has what it wanted.
    #[byte(0x05)]
    LockTimeout { holder: Xid },
    /// The desk did not answer in time.
    #[byte(0x06)]
    DeskAway(Desk),
    /// The desk started anew, or had given it up.
    #[byte(0x07)]
    DeskLost(Desk),
    /// The coordinator started anew.
    #[byte(0x08)]
    Restarted,
    /// Its client had left it, and room was needed for others.
    #[byte(0x09)]
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
