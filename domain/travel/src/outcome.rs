//! What is answered to a command.

use std::fmt;

use turnstile_chassis::{Bytes, Fields, Words};
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

#[derive(Clone, Debug, PartialEq, Eq, Bytes, Fields)]
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
    Stock(#[field(flatten, or_null)] Option<Stock>),
    #[byte(0x07)]
    CustomerAdded(#[field(name = "customer")] CustomerId),
    #[byte(0x08)]
    CustomerDeleted,
    /// None: there is no such customer.
    #[byte(0x09)]
    Bill(#[field(flatten, or_null)] Option<Bill>),
    #[byte(0x0a)]
    Reserved,
    #[byte(0x0c)]
    Summary(#[field(name = "customers")] Vec<Bill>),
    #[byte(0x10)]
    Booked {
        locator: Locator,
        /// Of all its items.
        price: u64,
        /// When the hold ends.
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
#[derive(Clone, Debug, PartialEq, Eq, Bytes, Fields, Words)]
pub enum Refusal {
    #[byte(0x01)]
    #[refusal(not_found, "There is no such item")]
    NoSuchItem(#[field(name = "item")] Item),
    #[byte(0x02)]
    #[refusal(conflict, "Nothing of the item is free")]
    SoldOut(#[field(name = "item")] Item),
    /// Something of it is reserved.
    #[byte(0x03)]
    #[refusal(conflict, "Something of the item is reserved")]
    ItemReserved(#[field(name = "item")] Item),
    /// Less of it is reserved than was to be given back: the desks do not agree.
    #[byte(0x04)]
    #[refusal(conflict, "Less of the item is reserved than is to be given back")]
    NotReserved(#[field(name = "item")] Item),
    #[byte(0x05)]
    #[refusal(not_found, "There is no such customer")]
    NoSuchCustomer(#[field(name = "customer")] CustomerId),
    #[byte(0x06)]
    #[refusal(conflict, "The customer exists")]
    CustomerExists(#[field(name = "customer")] CustomerId),
    /// As many as there may be.
    #[byte(0x07)]
    #[refusal(conflict, "There are as many of them as there may be")]
    Full { limit: u32 },

    /// Never started, or ended so long ago that it is forgotten.
    #[byte(0x10)]
    #[refusal(not_found, "There never was such a transaction, or it is forgotten")]
    UnknownTransaction,
    #[byte(0x11)]
    #[refusal(conflict, "The transaction is committed")]
    AlreadyCommitted,
    #[byte(0x12)]
    #[refusal(conflict, "The transaction was aborted")]
    Aborted(#[field(flatten)] AbortReason),
    /// The transaction has not answered the last command yet, or is being committed.
    #[byte(0x13)]
    #[refusal(
        conflict,
        "The last command is not answered yet, or the end is being decided"
    )]
    Busy,
    /// Whether it is committed is known at this desk only, which does not answer.
    #[byte(0x14)]
    #[refusal(
        conflict,
        "Whether it is committed is known at one desk, which does not answer"
    )]
    InDoubt(#[field(name = "desk")] Desk),
    /// No transaction of this number waits for a decision at the desk.
    #[byte(0x15)]
    #[refusal(conflict, "The transaction does not wait for a decision at the desk")]
    NotInDoubt,
    /// The desk has voted for a trip that its client may have been told to be booked: with the votes
    /// of the others it is committed, and only the coordinator can know.
    #[byte(0x16)]
    #[refusal(conflict, "The trip may be committed by the votes of all desks")]
    MayBeCommitted,

    /// There never was such an itinerary.
    #[byte(0x20)]
    #[refusal(not_found, "There never was such an itinerary")]
    NoSuchItinerary,
    /// It was cancelled or it expired.
    #[byte(0x21)]
    #[refusal(gone, "The itinerary was cancelled, or its hold is over")]
    ItineraryOver,
    #[byte(0x22)]
    #[refusal(conflict, "The itinerary is booked already")]
    NotHeld,
    #[byte(0x23)]
    #[refusal(invalid, "An itinerary is not held so long")]
    HoldTooLong {
        #[field(name = "ttl_seconds_max", with = seconds)]
        limit_ms: u64,
    },
    /// All bills together have more lines, one for each customer among them.
    #[byte(0x24)]
    #[refusal(conflict, "All bills together are too long for one answer")]
    SummaryTooLong { limit: u32 },

    /// That role is not played here.
    #[byte(0x30)]
    #[refusal(elsewhere, "This server does not play that part of travel")]
    NotHere,
    /// A time that is zero or too long, or other roles than those with which it began.
    #[byte(0x31)]
    #[refusal(invalid, "Travel cannot be set so")]
    UnsoundSettings,
}

/// Why a transaction was aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words)]
#[fields(tag = "cause")]
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
    DeskAway(#[field(name = "desk")] Desk),
    /// The desk started anew, or had given it up.
    #[byte(0x07)]
    DeskLost(#[field(name = "desk")] Desk),
    /// The coordinator started anew.
    #[byte(0x08)]
    Restarted,
    /// Its client had left it, and room was needed for others.
    #[byte(0x09)]
    Evicted,
}

/// A sentence for people, of which the transaction is the subject.
impl fmt::Display for AbortReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => f.write_str("its client aborted it"),
            Self::Refused => f.write_str("what it was to do was refused"),
            Self::Expired => f.write_str("nothing was asked of it for its time to live"),
            Self::Deadlock { holder } => {
                write!(f, "it was in a deadlock with transaction {holder}")
            }
            Self::LockTimeout { holder } => {
                write!(f, "it waited too long for a lock of transaction {holder}")
            }
            Self::DeskAway(desk) => write!(f, "{desk} did not answer in time"),
            Self::DeskLost(desk) => write!(f, "{desk} has lost it"),
            Self::Restarted => f.write_str("the middleware started anew"),
            Self::Evicted => f.write_str("its connection was closed and room was needed"),
        }
    }
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

impl AbortReason {
    /// Whether the transaction may be begun anew: the cause was not in what it asked.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        match self {
            Self::Deadlock { .. }
            | Self::LockTimeout { .. }
            | Self::DeskAway(_)
            | Self::DeskLost(_)
            | Self::Restarted
            | Self::Evicted => true,
            Self::Asked | Self::Refused | Self::Expired => false,
        }
    }
}

/// Whole seconds.
const fn seconds(ms: &u64) -> u64 {
    *ms / 1_000
}
