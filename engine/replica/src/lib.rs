//! One of several servers on a log that they share.
//!
//! Each server proposes entries; the log puts the entries of all in one order; each server applies all
//! of them, and answers those who asked it. No two servers decide: the order does. Nothing here does
//! I/O: who drives a [`Replica`] carries the bytes of entries to the log and back.

#![forbid(unsafe_code)]

mod agreement;
mod messages;
mod proposer;
mod relay;
mod replica;
mod snapshots;

pub use messages::{
    Credential, ReadRelay, RelayAnswer, RelayHead, RelayedAnswer, RelayedFailure, RelayedOutcome,
    RelayedRight, finish_relay, read_relay,
};
pub use proposer::{ProposalLimits, ProposedEntry, PutRecords, ServerRun, TooLargeForAnEntry};
pub use relay::{AnsweredRelay, DueRelays, RelayLimits, RelayedMessage, RequestRelay};
pub use replica::{AppliedEntry, NotApplied, Replica, SettledJob, UnansweredJobs};
pub use snapshots::{JoinWish, SnapshotDuty, SnapshotPace, StoredTitle, StreamRoom, UnfitSnapshot};
