//! What one principal has asked for lately, over all its keys and connections.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use turnstile_access::AccessQuota;

use super::{
    QuotaExceeded, QuotaKind,
    buckets::{ByteBucket, RequestBucket},
};

/// What a principal has asked for lately, and what it may ask for. All threads share it without a lock.
///
/// What is counted one by one is counted by those who hold it: a [`CountedConnection`] or a
/// [`PendingRequest`] takes itself away when it is dropped, so no count can drift.
#[derive(Debug)]
pub(crate) struct Meter {
    epoch: Instant,
    /// What it may have of each kind; 0 for as much as it likes.
    most: [AtomicU32; QuotaKind::ALL.len()],
    requests: RequestBucket,
    bytes: ByteBucket,
    connections: AtomicU32,
    under_way: AtomicU32,
}

/// A connection of a principal, among all of them.
#[derive(Debug)]
pub(crate) struct CountedConnection(Arc<Meter>);

/// A request of a principal that waits for its answer.
#[derive(Debug)]
pub(crate) struct PendingRequest(Arc<Meter>);

impl Meter {
    pub(super) fn new(epoch: Instant, quota: &AccessQuota) -> Self {
        let meter = Self {
            epoch,
            most: Default::default(),
            requests: RequestBucket::default(),
            bytes: ByteBucket::default(),
            connections: AtomicU32::new(0),
            under_way: AtomicU32::new(0),
        };
        meter.set(quota);
        meter
    }

    pub(super) fn set(&self, quota: &AccessQuota) {
        for (kind, most) in QuotaKind::ALL.into_iter().zip(&self.most) {
            most.store(kind.most_of(quota).unwrap_or(0), Ordering::Relaxed);
        }
    }

    /// What it may have of this kind, if that is bounded.
    pub(crate) fn most(&self, kind: QuotaKind) -> Option<u32> {
        let most = self.most.get(kind as usize)?.load(Ordering::Relaxed);
        (most > 0).then_some(most)
    }

    fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    /// Asserts that of something that has no time of its own there are fewer than the quota allows.
    ///
    /// # Errors
    /// There are as many.
    pub(crate) fn check(
        &self,
        kind: QuotaKind,
        have: impl FnOnce() -> u32,
    ) -> Result<(), QuotaExceeded> {
        match self.most(kind) {
            Some(most) if have() >= most => Err(QuotaExceeded {
                kind,
                most,
                retry_after: None,
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// Counts a request. Only the loop may do that.
    ///
    /// # Errors
    /// The principal has asked too often, or was answered too much.
    pub(crate) fn ask(&self) -> Result<(), QuotaExceeded> {
        self.ask_at(self.now())
    }

    pub(super) fn ask_at(&self, now: Duration) -> Result<(), QuotaExceeded> {
        self.check_debt_at(now)?;
        let kind = QuotaKind::Requests;
        let Some(most) = self.most(kind) else {
            return Ok(());
        };
        let taken = self.requests.take(now, most);
        taken.map_err(|wait| QuotaExceeded {
            kind,
            most,
            retry_after: Some(wait),
        })
    }

    /// Asserts that the principal was not sent more than its quota allows.
    ///
    /// # Errors
    /// It was.
    pub(crate) fn check_debt(&self) -> Result<(), QuotaExceeded> {
        self.check_debt_at(self.now())
    }

    fn check_debt_at(&self, now: Duration) -> Result<(), QuotaExceeded> {
        let kind = QuotaKind::BytesOut;
        let Some(most) = self.most(kind) else {
            return Ok(());
        };
        match self.bytes.debt(now) {
            Duration::ZERO => Ok(()),
            debt => Err(QuotaExceeded {
                kind,
                most,
                retry_after: Some(debt),
            }),
        }
    }

    /// Counts bytes that were sent.
    pub(crate) fn charge(&self, bytes: u64) {
        self.charge_at(self.now(), bytes);
    }

    pub(super) fn charge_at(&self, now: Duration, bytes: u64) {
        if let Some(most) = self.most(QuotaKind::BytesOut).filter(|_| bytes > 0) {
            self.bytes.charge(now, bytes, most);
        }
    }

    /// How long nothing more should be sent unasked; nothing while what was sent is paid for.
    pub(crate) fn debt(&self) -> Option<Duration> {
        self.check_debt().err()?.retry_after
    }

    /// What is left of a quota of so many a second: how many, and the time until all of it is back.
    pub(crate) fn left(&self, kind: QuotaKind) -> Option<(u32, Duration)> {
        let (now, most) = (self.now(), self.most(kind)?);
        match kind {
            QuotaKind::Requests => Some(self.requests.left(now, most)),
            QuotaKind::BytesOut => {
                let wait = self.bytes.until_full(now);
                let gone = wait.as_nanos() * u128::from(most) / 1_000_000_000;
                let left = u128::from(most).saturating_sub(gone);
                Some((u32::try_from(left).unwrap_or(most), wait))
            }
            QuotaKind::Connections
            | QuotaKind::RequestsUnderWay
            | QuotaKind::OpenHolds
            | QuotaKind::OpenTransactions
            | QuotaKind::OpenOrders
            | QuotaKind::IdempotencyKeys => None,
        }
    }

    /// Counts a connection, until it is dropped.
    ///
    /// # Errors
    /// The principal has as many as it may.
    pub(crate) fn connect(self: &Arc<Self>) -> Result<CountedConnection, QuotaExceeded> {
        self.add_one(QuotaKind::Connections, &self.connections)?;
        Ok(CountedConnection(Arc::clone(self)))
    }

    /// Counts a request that waits for its answer, until it is dropped.
    ///
    /// # Errors
    /// As many of the principal wait as may.
    pub(crate) fn begin(self: &Arc<Self>) -> Result<PendingRequest, QuotaExceeded> {
        self.add_one(QuotaKind::RequestsUnderWay, &self.under_way)?;
        Ok(PendingRequest(Arc::clone(self)))
    }

    /// The same of one that is known to wait already, however many do.
    pub(crate) fn go_on(self: &Arc<Self>) -> PendingRequest {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        PendingRequest(Arc::clone(self))
    }

    /// Asserts that one more request may wait.
    ///
    /// # Errors
    /// As many of the principal wait as may.
    pub(crate) fn check_under_way(&self) -> Result<(), QuotaExceeded> {
        let under_way = || self.under_way.load(Ordering::Relaxed);
        self.check(QuotaKind::RequestsUnderWay, under_way)
    }

    fn add_one(&self, kind: QuotaKind, count: &AtomicU32) -> Result<(), QuotaExceeded> {
        let most = self.most(kind);
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        let added = count.fetch_update(set, fetch, |have| {
            most.is_none_or(|most| have < most).then_some(have + 1)
        });
        added.map(drop).map_err(|have| QuotaExceeded {
            kind,
            most: most.unwrap_or(have),
            retry_after: None,
        })
    }

    /// Whether nothing is gone of what comes back with time.
    pub(super) fn is_full(&self) -> bool {
        self.is_full_at(self.now())
    }

    pub(super) fn is_full_at(&self, now: Duration) -> bool {
        let rate = self.most(QuotaKind::Requests);
        let requests = rate.is_none_or(|rate| self.requests.left(now, rate).1.is_zero());
        requests && self.bytes.until_full(now).is_zero()
    }
}

impl CountedConnection {
    pub(crate) const fn meter(&self) -> &Arc<Meter> {
        &self.0
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}
