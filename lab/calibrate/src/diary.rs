//! What a generator's users write down of each request, for who wants to know where its time went.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

/// When each request of a run was asked and its answer heard, by its number. Its memory is taken at
/// the beginning, and its users write without a lock.
#[derive(Debug)]
pub struct RequestLog {
    epoch: Instant,
    /// Asked, last looked for in vain, heard; zero: not yet.
    pages: Box<[[AtomicU64; 3]]>,
}

/// One request; instants in nanoseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    pub asked: u64,
    /// When the generator last looked whether anything had come, and this answer had not.
    pub looked: u64,
    pub heard: u64,
}

impl RequestLog {
    /// Of so many requests; those beyond are not written down.
    #[must_use]
    pub fn new(epoch: Instant, requests: usize) -> Self {
        let blank = || [const { AtomicU64::new(0) }; 3];
        Self {
            epoch,
            pages: (0..requests).map(|_request| blank()).collect(),
        }
    }

    pub(crate) fn asks(&self, number: u64, now: Instant) {
        self.write(number, 0, now);
    }

    pub(crate) fn hears(&self, number: u64, looked: Instant, now: Instant) {
        self.write(number, 1, looked);
        self.write(number, 2, now);
    }

    fn write(&self, number: u64, column: usize, at: Instant) {
        let page = usize::try_from(number).ok();
        if let Some(page) = page.and_then(|number| self.pages.get(number)) {
            let since = at.saturating_duration_since(self.epoch).as_nanos();
            page[column].store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    /// Of this request; nothing of one that was not answered.
    #[must_use]
    pub fn page(&self, number: u64) -> Option<Page> {
        let page = self.pages.get(usize::try_from(number).ok()?)?;
        let at = |column: usize| page[column].load(Ordering::Relaxed);
        (at(2) > 0).then(|| Page {
            asked: at(0),
            looked: at(1),
            heard: at(2),
        })
    }
}
