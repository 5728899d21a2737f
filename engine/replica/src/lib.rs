//! One of several servers on a log that they share.
//!
//! Each server proposes entries; the log puts the entries of all in one order; each server applies all
//! of them, and answers those who asked it. No two servers decide: the order does. Nothing here does
//! I/O: who drives a [`Replica`] carries the bytes of entries to the log and back.

#![forbid(unsafe_code)]

mod agreement;
mod proposer;
mod replica;

pub use proposer::{ProposalLimits, ProposedEntry, PutRecords, ServerRun, TooLargeForAnEntry};
pub use replica::{AppliedEntry, NotApplied, Replica, SettledJob, UnansweredJobs};
