//! Counters of a back end.

use std::sync::atomic::{AtomicU64, Ordering};

/// One number that only grows.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a back end has done since the start.
#[derive(Debug, Default)]
pub struct Tally {
    /// Batches of commands that were committed.
    pub batches: Count,
    /// Commands in them.
    pub commands: Count,
    /// Times that a request went to the database and its answer was waited for.
    pub round_trips: Count,
    /// Transactions that were tried again after a serialization failure.
    pub serialization_retries: Count,
    /// Transactions that were tried again after a deadlock.
    pub deadlock_retries: Count,
    /// Commands that were given up after too many tries.
    pub given_up: Count,
    /// Connections made anew after one was lost.
    pub reconnects: Count,
    /// Outcomes that were found by their idempotency key after a connection was lost.
    pub resolved: Count,
    /// Times that the database began anew with empty tables: all that it held is lost.
    pub losses: Count,
}

impl Tally {
    /// Every number with its name, in their order.
    #[must_use]
    pub fn named(&self) -> [(&'static str, u64); 9] {
        [
            ("batches", &self.batches),
            ("commands", &self.commands),
            ("round_trips", &self.round_trips),
            ("serialization_retries", &self.serialization_retries),
            ("deadlock_retries", &self.deadlock_retries),
            ("given_up", &self.given_up),
            ("reconnects", &self.reconnects),
            ("resolved", &self.resolved),
            ("losses", &self.losses),
        ]
        .map(|(name, count)| (name, count.get()))
    }
}
