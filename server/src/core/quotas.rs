//! How much each principal has asked for lately, and whether it may ask for more.
//!
//! Nothing here reads a clock: instants are durations since some fixed one, as the steady clock of the loop
//! tells them. While nobody has a quota, only connections are counted.

use std::{collections::HashMap, fmt, time::Duration};

use turnstile_access::{Access, AccessQuota};
use turnstile_chassis::Countable;
use turnstile_types::Principal;

use crate::limits::QUOTA_DEBT_MOST;

/// What a bucket holds when it is full: a second's worth.
const WINDOW: Duration = Duration::from_secs(1);

/// What there is a quota of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaKind {
    Requests,
    Connections,
    BytesOut,
    OpenHolds,
    OpenTransactions,
    OpenOrders,
    IdempotencyKeys,
}

impl QuotaKind {
    /// Its stable word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Connections => "connections",
            Self::BytesOut => "bytes-out",
            Self::OpenHolds => "open-holds",
            Self::OpenTransactions => "open-transactions",
            Self::OpenOrders => "open-orders",
            Self::IdempotencyKeys => "idempotency-keys",
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
            None => f.write_str("; end one and retry"),
        }
    }
}

impl std::error::Error for QuotaExceeded {}

/// The bound of a quota for what may be open, and what it is called.
pub(crate) const fn bound_of(quota: &AccessQuota, of: Countable) -> (QuotaKind, Option<u32>) {
    match of {
        Countable::Holds => (QuotaKind::OpenHolds, quota.open_holds),
        Countable::Transactions => (QuotaKind::OpenTransactions, quota.open_transactions),
        Countable::Orders => (QuotaKind::OpenOrders, quota.open_orders),
    }
}

/// Parts of a token: as many as a second has nanoseconds, so that a rate is a whole number of parts in each.
const PARTS: u128 = WINDOW.as_nanos();

/// A bucket of tokens that fills up steadily. It holds a second's worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bucket {
    /// What is missing until it is full, in parts of a token.
    gone: u128,
    /// The instant of that.
    at: Duration,
}

impl Bucket {
    fn fill_up(&mut self, now: Duration, a_second: u32) {
        let elapsed = now.saturating_sub(self.at).as_nanos();
        self.gone = self.gone.saturating_sub(elapsed * u128::from(a_second));
        self.at = self.at.max(now);
    }

    /// How long it takes until at least so many parts of a token are in it.
    fn wait_for(&self, parts: u128, a_second: u32) -> Duration {
        let a_second = u128::from(a_second.max(1));
        let missing = (self.gone + parts).saturating_sub(a_second * PARTS);
        let nanoseconds = missing.div_ceil(a_second);
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }

    /// Takes one token, or says how long it takes until there is one.
    fn take(&mut self, now: Duration, a_second: u32) -> Result<(), Duration> {
        self.fill_up(now, a_second);
        let wait = self.wait_for(PARTS, a_second);
        if wait.is_zero() {
            self.gone += PARTS;
            Ok(())
        } else {
            Err(wait)
        }
    }

    /// Takes what is gone already, also where there is not so much.
    fn charge(&mut self, now: Duration, tokens: u64, a_second: u32) {
        self.fill_up(now, a_second);
        let most = u128::from(a_second) * (WINDOW + QUOTA_DEBT_MOST).as_nanos();
        self.gone = (self.gone + u128::from(tokens) * PARTS).min(most);
    }

    /// How long it takes until nothing of what is gone was borrowed.
    fn debt(&mut self, now: Duration, a_second: u32) -> Duration {
        self.fill_up(now, a_second);
        self.wait_for(0, a_second)
    }

    /// Whether it is full, or nobody asks.
    fn is_full(&mut self, now: Duration, a_second: Option<u32>) -> bool {
        a_second.is_none_or(|a_second| {
            self.fill_up(now, a_second);
            self.gone == 0
        })
    }
}

/// What a principal has of each thing.
#[derive(Clone, Copy, Debug, Default)]
struct Spending {
    quota: AccessQuota,
    requests: Bucket,
    bytes: Bucket,
    connections: u32,
}

impl Spending {
    /// Whether it is as one that was never there.
    fn is_over(&mut self, now: Duration) -> bool {
        let quota = self.quota;
        self.connections == 0
            && self.requests.is_full(now, quota.requests_per_second)
            && self.bytes.is_full(now, quota.bytes_out_per_second)
    }
}

/// The spending of all principals.
#[derive(Debug, Default)]
pub(crate) struct Quotas {
    spending: HashMap<Principal, Spending>,
    /// Whether anybody has a quota.
    are_set: bool,
}

impl Quotas {
    /// Takes the quotas as they are now.
    pub(crate) fn renew(&mut self, access: &Access) {
        self.are_set = access.has_quotas();
        for (principal, spending) in &mut self.spending {
            spending.quota = access.quota_of(principal).unwrap_or_default();
        }
    }

    /// Whether anybody has a quota: if not, requests and bytes are not counted.
    #[inline]
    pub(crate) const fn are_set(&self) -> bool {
        self.are_set
    }

    fn of(&mut self, access: &Access, principal: &Principal) -> &mut Spending {
        self.spending.entry(*principal).or_insert_with(|| Spending {
            quota: access.quota_of(principal).unwrap_or_default(),
            ..Spending::default()
        })
    }

    /// Counts a request.
    ///
    /// # Errors
    /// The principal has asked too often, or was answered too much.
    pub(crate) fn ask(
        &mut self,
        access: &Access,
        now: Duration,
        principal: &Principal,
    ) -> Result<(), QuotaExceeded> {
        let spending = self.of(access, principal);
        if let Some(most) = spending.quota.bytes_out_per_second {
            let debt = spending.bytes.debt(now, most);
            if !debt.is_zero() {
                return Err(QuotaExceeded {
                    kind: QuotaKind::BytesOut,
                    most,
                    retry_after: Some(debt),
                });
            }
        }
        let Some(most) = spending.quota.requests_per_second else {
            return Ok(());
        };
        let taken = spending.requests.take(now, most);
        taken.map_err(|wait| QuotaExceeded {
            kind: QuotaKind::Requests,
            most,
            retry_after: Some(wait),
        })
    }

    /// Counts bytes that were answered.
    pub(crate) fn charge(&mut self, now: Duration, principal: &Principal, bytes: usize) {
        if let Some(spending) = self.spending.get_mut(principal)
            && let Some(most) = spending.quota.bytes_out_per_second
        {
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            spending.bytes.charge(now, bytes, most);
        }
    }

    /// Counts a connection, which [ends](Self::disconnect) some time.
    ///
    /// # Errors
    /// The principal has as many as it may.
    pub(crate) fn connect(
        &mut self,
        access: &Access,
        principal: &Principal,
    ) -> Result<(), QuotaExceeded> {
        let spending = self.of(access, principal);
        if let Some(most) = spending.quota.connections
            && spending.connections >= most
        {
            return Err(QuotaExceeded {
                kind: QuotaKind::Connections,
                most,
                retry_after: None,
            });
        }
        spending.connections += 1;
        Ok(())
    }

    pub(crate) fn disconnect(&mut self, principal: &Principal) {
        if let Some(spending) = self.spending.get_mut(principal) {
            spending.connections = spending.connections.saturating_sub(1);
        }
    }

    /// Forgets principals that are as if they had never been there.
    pub(crate) fn sweep(&mut self, now: Duration) {
        self.spending.retain(|_, spending| !spending.is_over(now));
    }
}

#[cfg(test)]
mod tests {
    use turnstile_access::Command;
    use turnstile_types::{Context, Machine, Name, Position, Timestamp};

    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text.as_bytes()).unwrap()
    }

    fn quota(requests: u32, bytes: u32) -> AccessQuota {
        AccessQuota {
            requests_per_second: Some(requests),
            bytes_out_per_second: Some(bytes),
            connections: Some(2),
            ..AccessQuota::NONE
        }
    }

    fn apply(access: &mut Access, command: &Command) {
        let context = Context {
            position: Position(1 + access.generation()),
            now: Timestamp(0),
            principal: &Principal::local(),
        };
        assert!(
            access.apply(&context, command).done().is_some(),
            "{command:?}"
        );
    }

    /// Two principals, of which `shop` has this quota.
    fn access(of_shop: AccessQuota) -> Access {
        let mut access = Access::empty();
        for text in ["shop", "desk"] {
            let principal = name(text);
            apply(&mut access, &Command::AddPrincipal { principal });
        }
        let (principal, quota) = (name("shop"), of_shop);
        apply(&mut access, &Command::SetQuota { principal, quota });
        access
    }

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn principals() -> [Principal; 2] {
        ["shop", "desk"].map(|text| Principal(name(text)))
    }

    #[test]
    fn a_second_s_worth_comes_at_once_and_then_one_request_after_the_other() {
        let access = access(quota(10, 1_000));
        let mut quotas = Quotas::default();
        quotas.renew(&access);
        let [shop, desk] = principals();
        for _ in 0..10 {
            assert_eq!(quotas.ask(&access, ms(5_000), &shop), Ok(()));
        }
        let refused = quotas.ask(&access, ms(5_000), &shop).unwrap_err();
        assert_eq!((refused.kind, refused.most), (QuotaKind::Requests, 10));
        assert_eq!(refused.retry_ms(), Some(100));
        assert_eq!(
            refused.to_string(),
            "your quota is 10 requests a second; retry in 100 ms"
        );
        // A refusal costs nothing, however often it comes.
        for _ in 0..100 {
            assert_eq!(
                quotas
                    .ask(&access, ms(5_099), &shop)
                    .unwrap_err()
                    .retry_ms(),
                Some(1)
            );
        }
        assert_eq!(quotas.ask(&access, ms(5_100), &shop), Ok(()));
        assert!(quotas.ask(&access, ms(5_100), &shop).is_err());
        // Nobody else waits for that.
        for _ in 0..1_000 {
            assert_eq!(quotas.ask(&access, ms(5_100), &desk), Ok(()));
        }
    }

    /// Whatever the instants are: as many as come back, no more and no fewer.
    #[test]
    fn whoever_asks_all_the_time_gets_its_rate() {
        for rate in [1, 3, 7, 1_000, 99_999] {
            let mut bucket = Bucket::default();
            let at_once = (0..)
                .take_while(|_| bucket.take(ms(7), rate).is_ok())
                .count();
            assert_eq!(u32::try_from(at_once), Ok(rate));
            // Three times as often as it may, until a thousand have come back.
            let step = Duration::from_nanos(333_333_333 / u64::from(rate) + 1);
            let mut taken = 0_u32;
            let mut now = ms(7);
            for _ in 0..3_000 {
                now += step;
                taken += u32::from(bucket.take(now, rate).is_ok());
            }
            assert!((995..=1_001).contains(&taken), "{rate}: {taken}");
        }
    }

    #[test]
    fn whoever_waits_as_long_as_it_was_told_may_ask_again() {
        for rate in [1, 2, 3, 7, 13, 1_000] {
            let mut bucket = Bucket::default();
            let mut now = ms(12_345);
            for _ in 0..3 * rate {
                if let Err(wait) = bucket.take(now, rate) {
                    let just_before = now + wait.checked_sub(Duration::from_nanos(1)).unwrap();
                    assert!(bucket.take(just_before, rate).is_err());
                    now += wait;
                    assert_eq!(bucket.take(now, rate), Ok(()));
                }
            }
        }
    }

    #[test]
    fn an_answer_that_is_too_long_is_paid_for_afterwards() {
        let access = access(quota(1_000, 1_000));
        let mut quotas = Quotas::default();
        quotas.renew(&access);
        let [shop, desk] = principals();
        assert_eq!(quotas.ask(&access, ms(0), &shop), Ok(()));
        quotas.charge(ms(0), &shop, 1_000);
        assert_eq!(quotas.ask(&access, ms(0), &shop), Ok(()));
        quotas.charge(ms(0), &shop, 500);
        let refused = quotas.ask(&access, ms(0), &shop).unwrap_err();
        assert_eq!(
            (refused.kind, refused.retry_ms()),
            (QuotaKind::BytesOut, Some(500))
        );
        assert_eq!(quotas.ask(&access, ms(500), &shop), Ok(()));
        quotas.charge(ms(500), &shop, usize::MAX);
        let refused = quotas.ask(&access, ms(500), &shop).unwrap_err();
        assert_eq!(refused.retry_after, Some(QUOTA_DEBT_MOST));
        quotas.charge(ms(500), &desk, usize::MAX);
        assert_eq!(quotas.ask(&access, ms(500), &desk), Ok(()));
    }

    #[test]
    fn connections_are_counted_also_before_there_is_a_quota() {
        let mut access = access(AccessQuota::NONE);
        let mut quotas = Quotas::default();
        quotas.renew(&access);
        let [shop, desk] = principals();
        for _ in 0..3 {
            assert_eq!(quotas.connect(&access, &shop), Ok(()));
        }
        let (principal, quota) = (name("shop"), quota(1, 1));
        apply(&mut access, &Command::SetQuota { principal, quota });
        quotas.renew(&access);
        let refused = quotas.connect(&access, &shop).unwrap_err();
        assert_eq!(
            (refused.kind, refused.retry_after),
            (QuotaKind::Connections, None)
        );
        assert_eq!(
            refused.to_string(),
            "your quota is 2 connections; end one and retry"
        );
        quotas.disconnect(&shop);
        assert!(quotas.connect(&access, &shop).is_err());
        quotas.disconnect(&shop);
        assert_eq!(quotas.connect(&access, &shop), Ok(()));
        assert_eq!(quotas.connect(&access, &desk), Ok(()));
    }

    #[test]
    fn a_quota_of_everyone_is_for_each_and_changes_at_once() {
        let mut access = access(quota(5, 1_000));
        let everyone = Command::SetDefaultQuota {
            quota: quota(1, 1_000),
        };
        let mut quotas = Quotas::default();
        quotas.renew(&access);
        let [shop, desk] = principals();
        let count = |quotas: &mut Quotas, access: &Access, principal, now| {
            (0..100)
                .filter(|_| quotas.ask(access, now, principal).is_ok())
                .count()
        };
        assert_eq!(count(&mut quotas, &access, &desk, ms(0)), 100);
        apply(&mut access, &everyone);
        quotas.renew(&access);
        assert_eq!(count(&mut quotas, &access, &desk, ms(1_000)), 1);
        assert_eq!(count(&mut quotas, &access, &shop, ms(1_000)), 5);
        let (principal, quota) = (name("shop"), quota(50, 1_000));
        apply(&mut access, &Command::SetQuota { principal, quota });
        quotas.renew(&access);
        assert_eq!(count(&mut quotas, &access, &shop, ms(2_000)), 50);
    }

    #[test]
    fn whoever_has_nothing_any_more_is_forgotten() {
        let access = access(quota(10, 1_000));
        let mut quotas = Quotas::default();
        quotas.renew(&access);
        let [shop, desk] = principals();
        quotas.ask(&access, ms(0), &shop).unwrap();
        quotas.connect(&access, &desk).unwrap();
        quotas.sweep(ms(99));
        assert_eq!(quotas.spending.len(), 2);
        quotas.sweep(ms(100));
        assert_eq!(quotas.spending.keys().copied().collect::<Vec<_>>(), [desk]);
        quotas.disconnect(&desk);
        quotas.sweep(ms(100));
        assert!(quotas.spending.is_empty());
    }
}
