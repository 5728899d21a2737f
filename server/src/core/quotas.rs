//! How much each principal has asked for lately, and whether it may ask for more.

mod buckets;
mod meter;

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use turnstile_access::{Access, AccessQuota};
use turnstile_chassis::Countable;
use turnstile_types::{Machine as _, Principal};

pub(crate) use self::meter::{CountedConnection, Meter, PendingRequest};

/// What there is a quota of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaKind {
    Requests,
    Connections,
    RequestsUnderWay,
    BytesOut,
    OpenHolds,
    OpenTransactions,
    OpenOrders,
    IdempotencyKeys,
}

impl QuotaKind {
    /// All of them, in the order of their numbers.
    pub(crate) const ALL: [Self; 8] = [
        Self::Requests,
        Self::Connections,
        Self::RequestsUnderWay,
        Self::BytesOut,
        Self::OpenHolds,
        Self::OpenTransactions,
        Self::OpenOrders,
        Self::IdempotencyKeys,
    ];

    /// Its stable word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Connections => "connections",
            Self::RequestsUnderWay => "requests-under-way",
            Self::BytesOut => "bytes-out",
            Self::OpenHolds => "open-holds",
            Self::OpenTransactions => "open-transactions",
            Self::OpenOrders => "open-orders",
            Self::IdempotencyKeys => "idempotency-keys",
        }
    }

    /// What a quota allows of it.
    const fn most_of(self, quota: &AccessQuota) -> Option<u32> {
        match self {
            Self::Requests => quota.requests_per_second,
            Self::Connections => quota.connections,
            Self::RequestsUnderWay => quota.requests_under_way,
            Self::BytesOut => quota.bytes_out_per_second,
            Self::OpenHolds => quota.open_holds,
            Self::OpenTransactions => quota.open_transactions,
            Self::OpenOrders => quota.open_orders,
            Self::IdempotencyKeys => quota.idempotency_keys,
        }
    }
}

impl From<Countable> for QuotaKind {
    fn from(of: Countable) -> Self {
        match of {
            Countable::Holds => Self::OpenHolds,
            Countable::Transactions => Self::OpenTransactions,
            Countable::Orders => Self::OpenOrders,
        }
    }
}

/// A principal has asked for as much as it may: nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaExceeded {
    pub kind: QuotaKind,
    /// How many, or how many a second.
    pub most: u32,
    /// After this it may ask again; nothing: as soon as something of its own ends.
    pub retry_after: Option<Duration>,
}

impl QuotaExceeded {
    /// The time to wait in milliseconds, rounded up.
    #[must_use]
    pub fn retry_ms(&self) -> Option<u64> {
        let wait = self.retry_after?.as_nanos().div_ceil(1_000_000);
        Some(u64::try_from(wait).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for QuotaExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.most;
        match self.kind {
            QuotaKind::Requests => write!(f, "your quota is {most} requests a second")?,
            QuotaKind::Connections => write!(f, "your quota is {most} connections")?,
            QuotaKind::RequestsUnderWay => write!(f, "your quota is {most} requests under way")?,
            QuotaKind::BytesOut => write!(f, "your quota is {most} bytes of answers a second")?,
            QuotaKind::OpenHolds => write!(f, "your quota is {most} open holds")?,
            QuotaKind::OpenTransactions => write!(f, "your quota is {most} open transactions")?,
            QuotaKind::OpenOrders => write!(f, "your quota is {most} open orders")?,
            QuotaKind::IdempotencyKeys => {
                write!(f, "your quota is {most} idempotency keys, each for a day")?;
            }
        }
        match self.retry_ms() {
            Some(ms) => write!(f, "; retry in {ms} ms"),
            None if self.kind == QuotaKind::RequestsUnderWay => {
                f.write_str("; retry when one is answered")
            }
            None => f.write_str("; end one and retry"),
        }
    }
}

impl std::error::Error for QuotaExceeded {}

/// The meters of all principals, for the loop and for the thread of HTTP.
///
/// A connection or a request keeps the meter of its principal and asks for nothing here. So the lock is
/// taken only where a caller is looked at anew, and held for a look in a map.
#[derive(Debug)]
pub(crate) struct QuotaMeters {
    epoch: Instant,
    /// Whether anybody has a quota.
    are_set: AtomicBool,
    register: Mutex<MeterRegister>,
}

#[derive(Debug)]
struct MeterRegister {
    /// The quotas as they are now.
    access: Arc<Access>,
    of: HashMap<Principal, Arc<Meter>>,
}

impl Default for QuotaMeters {
    fn default() -> Self {
        Self {
            epoch: Instant::now(),
            are_set: AtomicBool::new(false),
            register: Mutex::new(MeterRegister {
                access: Arc::new(Access::empty()),
                of: HashMap::new(),
            }),
        }
    }
}

impl QuotaMeters {
    /// Takes the quotas as they are now.
    pub(crate) fn renew(&self, access: Arc<Access>) {
        let mut register = self.register();
        for (principal, meter) in &register.of {
            meter.set(&access.quota_of(principal).unwrap_or_default());
        }
        self.are_set.store(access.has_quotas(), Ordering::Relaxed);
        register.access = access;
    }

    /// The meter of a principal that has a quota.
    pub(crate) fn limited(&self, principal: &Principal) -> Option<Arc<Meter>> {
        if !self.are_set.load(Ordering::Relaxed) {
            return None;
        }
        let mut register = self.register();
        let quota = register.access.quota_of(principal)?;
        (quota != AccessQuota::NONE).then(|| register.meter(self.epoch, principal))
    }

    /// The meter of a principal, which has a quota or may be given one.
    pub(crate) fn of(&self, principal: &Principal) -> Arc<Meter> {
        self.register().meter(self.epoch, principal)
    }

    /// Forgets meters that are as if they had never been there.
    pub(crate) fn sweep(&self) {
        let held = |meter: &Arc<Meter>| Arc::strong_count(meter) > 1;
        self.register()
            .of
            .retain(|_, meter| held(meter) || !meter.is_full());
    }

    fn register(&self) -> MutexGuard<'_, MeterRegister> {
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MeterRegister {
    fn meter(&mut self, epoch: Instant, principal: &Principal) -> Arc<Meter> {
        let quota = || self.access.quota_of(principal).unwrap_or_default();
        let meter = self.of.entry(*principal);
        Arc::clone(meter.or_insert_with(|| Arc::new(Meter::new(epoch, &quota()))))
    }
}

#[cfg(test)]
mod tests;
