//! Buckets of tokens that fill up steadily and hold a second's worth. Instants are durations since one
//! that all share.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::limits::QUOTA_DEBT_MOST;

/// What a bucket holds when it is full: a second's worth.
pub(super) const WINDOW: Duration = Duration::from_secs(1);

/// Parts of a token: as many as a second has nanoseconds, so that a rate is a whole number of parts in each.
const PARTS: u64 = 1_000_000_000;

/// A bucket of requests. Only the loop takes from it; others may read what is left.
#[derive(Debug, Default)]
pub(super) struct RequestBucket {
    /// What is missing until it is full, in parts of a token.
    gone: AtomicU64,
    /// The instant of that, in nanoseconds.
    at: AtomicU64,
}

impl RequestBucket {
    /// What is missing at an instant, in parts of a token. More may have been taken at a higher rate than
    /// the bucket holds at this one: of that, nothing is owed.
    fn gone(&self, now: Duration, a_second: u32) -> u64 {
        let elapsed = nanoseconds(now).saturating_sub(self.at.load(Ordering::Relaxed));
        let back = elapsed.saturating_mul(a_second.into());
        let taken = self.gone.load(Ordering::Relaxed);
        let gone = taken.min(u64::from(a_second) * PARTS);
        gone.saturating_sub(back)
    }

    /// Takes one token, or says how long it takes until there is one.
    pub(super) fn take(&self, now: Duration, a_second: u32) -> Result<(), Duration> {
        let (gone, all) = (self.gone(now, a_second), u64::from(a_second) * PARTS);
        let missing = (gone + PARTS).saturating_sub(all);
        if missing > 0 {
            return Err(Duration::from_nanos(missing.div_ceil(a_second.into())));
        }
        self.gone.store(gone + PARTS, Ordering::Relaxed);
        self.at.fetch_max(nanoseconds(now), Ordering::Relaxed);
        Ok(())
    }

    /// How many tokens are in it, and how long it takes until it is full.
    pub(super) fn left(&self, now: Duration, a_second: u32) -> (u32, Duration) {
        let (gone, all) = (self.gone(now, a_second), u64::from(a_second) * PARTS);
        let left = all.saturating_sub(gone) / PARTS;
        let wait = Duration::from_nanos(gone.div_ceil(a_second.max(1).into()));
        (u32::try_from(left).unwrap_or(u32::MAX), wait)
    }
}

/// A bucket of bytes, from which more may be taken than is in it: that is paid for afterwards. Every
/// thread may take from it.
#[derive(Debug, Default)]
pub(super) struct ByteBucket {
    /// The instant when it will be full, in nanoseconds.
    full_at: AtomicU64,
}

impl ByteBucket {
    /// Takes what is gone already, also where there is not so much.
    pub(super) fn charge(&self, now: Duration, bytes: u64, a_second: u32) {
        let (now, most) = (nanoseconds(now), nanoseconds(WINDOW + QUOTA_DEBT_MOST));
        let cost = u128::from(bytes) * u128::from(PARTS);
        let cost = cost.div_ceil(u128::from(a_second.max(1)));
        let cost = u64::try_from(cost).unwrap_or(u64::MAX);
        let mut known = self.full_at.load(Ordering::Relaxed);
        loop {
            let charged = known.max(now).saturating_add(cost).min(now + most);
            let (set, load) = (Ordering::Relaxed, Ordering::Relaxed);
            let set = self
                .full_at
                .compare_exchange_weak(known, charged, set, load);
            match set {
                Ok(_before) => return,
                Err(other) => known = other,
            }
        }
    }

    /// How long it takes until nothing of what is gone was borrowed.
    pub(super) fn debt(&self, now: Duration) -> Duration {
        self.until_full(now).saturating_sub(WINDOW)
    }

    pub(super) fn until_full(&self, now: Duration) -> Duration {
        let full_at = self.full_at.load(Ordering::Relaxed);
        Duration::from_nanos(full_at.saturating_sub(nanoseconds(now)))
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
