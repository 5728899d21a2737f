//! What the caller of a log and its thread share.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};

use bytes::Bytes;
use tokio::sync::Notify;

use crate::{
    api::StreamState,
    event::{BrokerWarning, LogStatus},
    id::{ProposalId, Sequence},
};

/// Proposals without a fate that a log holds: about what brokers take in the time of one answer.
pub const OUTSTANDING_MAX: usize = 64;

/// Orders on their way to the thread: each proposal may be withdrawn, and a few purges are asked for.
pub(crate) const ORDERS_MAX: usize = 4 * OUTSTANDING_MAX;

/// Events on their way to the caller.
pub(crate) const EVENTS_MAX: usize = 1_024;

/// What the caller asks of the thread.
#[derive(Debug)]
pub(crate) enum Order {
    Propose(ProposalId, Bytes),
    Withdraw(ProposalId),
    PurgeBelow(Sequence),
    StepDown,
}

/// What both sides see.
#[derive(Debug, Default)]
pub(crate) struct LogShared {
    /// Bytes of entries that the caller has not taken.
    pub(crate) unread_bytes: AtomicUsize,
    /// The caller has taken something.
    pub(crate) room: Notify,
    /// The caller knows that something is there.
    pub(crate) is_woken: AtomicBool,
    /// The last entry of the stream, as far as known.
    pub(crate) hint: AtomicU64,
    /// The first entry of the stream, as far as known.
    pub(crate) first: AtomicU64,
    /// Bytes of the stream, as far as known.
    pub(crate) bytes: AtomicU64,
    pub(crate) retries: AtomicU64,
    pub(crate) reattached: AtomicU64,
    pub(crate) connects: AtomicU64,
    pub(crate) status: Mutex<LogStatus>,
}

impl LogShared {
    /// Takes note of what the brokers have counted; says the last entry of it.
    pub(crate) fn note_extent(&self, state: StreamState) -> u64 {
        self.first.store(state.first_seq, Ordering::Relaxed);
        self.hint.fetch_max(state.last_seq, Ordering::Relaxed);
        self.bytes.store(state.bytes, Ordering::Relaxed);
        state.last_seq
    }
}

/// A start that succeeded.
#[derive(Debug)]
pub(crate) struct StreamStart {
    pub(crate) identity: StreamIdentity,
    pub(crate) warnings: Vec<BrokerWarning>,
}

/// Which stream this is: a stream that is deleted and made anew is another one. A node keeps it beside
/// its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamIdentity(pub String);
