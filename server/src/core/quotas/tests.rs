//! The meters, and a naive twin of them.

use proptest::{collection::vec, option::of, prelude::*};
use turnstile_access::Command;
use turnstile_types::{Context, Name, Position, Timestamp};

use super::{
    buckets::{ByteBucket, RequestBucket},
    *,
};
use crate::limits::QUOTA_DEBT_MOST;

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

/// Principals with quotas, and their meters.
struct Site {
    access: Access,
    meters: QuotaMeters,
}

impl Site {
    /// Two principals, of which `shop` has this quota.
    fn new(of_shop: AccessQuota) -> Self {
        let mut site = Self {
            access: Access::empty(),
            meters: QuotaMeters::default(),
        };
        for text in ["shop", "desk"] {
            let principal = name(text);
            site.apply(&Command::AddPrincipal { principal });
        }
        site.give("shop", of_shop);
        site
    }

    fn apply(&mut self, command: &Command) {
        let context = Context {
            position: Position(1 + self.access.generation()),
            now: Timestamp(0),
            principal: &Principal::local(),
        };
        let outcome = self.access.apply(&context, command);
        assert!(outcome.done().is_some(), "{command:?}");
        self.meters.renew(Arc::new(self.access.clone()));
    }

    fn give(&mut self, to: &str, quota: AccessQuota) {
        let principal = name(to);
        self.apply(&Command::SetQuota { principal, quota });
    }

    fn of(&self, text: &str) -> Arc<Meter> {
        self.meters.of(&Principal(name(text)))
    }

    fn limited(&self, text: &str) -> bool {
        self.meters.limited(&Principal(name(text))).is_some()
    }
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn a_second_s_worth_comes_at_once_and_then_one_request_after_the_other() {
    let site = Site::new(quota(10, 1_000));
    let (shop, desk) = (site.of("shop"), site.of("desk"));
    for _ in 0..10 {
        assert_eq!(shop.ask_at(ms(5_000)), Ok(()));
    }
    let refused = shop.ask_at(ms(5_000)).unwrap_err();
    assert_eq!((refused.kind, refused.most), (QuotaKind::Requests, 10));
    assert_eq!(refused.retry_ms(), Some(100));
    assert_eq!(
        refused.to_string(),
        "your quota is 10 requests a second; retry in 100 ms"
    );
    // A refusal costs nothing, however often it comes.
    for _ in 0..100 {
        assert_eq!(shop.ask_at(ms(5_099)).unwrap_err().retry_ms(), Some(1));
    }
    assert_eq!(shop.ask_at(ms(5_100)), Ok(()));
    assert!(shop.ask_at(ms(5_100)).is_err());
    // Nobody else waits for that.
    for _ in 0..1_000 {
        assert_eq!(desk.ask_at(ms(5_100)), Ok(()));
    }
}

/// Whatever the instants are: as many as come back, no more and no fewer.
#[test]
fn whoever_asks_all_the_time_gets_its_rate() {
    for rate in [1, 3, 7, 1_000, 99_999] {
        let bucket = RequestBucket::default();
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
        let bucket = RequestBucket::default();
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
    let site = Site::new(quota(1_000, 1_000));
    let (shop, desk) = (site.of("shop"), site.of("desk"));
    assert_eq!(shop.ask_at(ms(0)), Ok(()));
    shop.charge_at(ms(0), 1_000);
    assert_eq!(shop.ask_at(ms(0)), Ok(()));
    shop.charge_at(ms(0), 500);
    let refused = shop.ask_at(ms(0)).unwrap_err();
    assert_eq!(
        (refused.kind, refused.retry_ms()),
        (QuotaKind::BytesOut, Some(500))
    );
    assert_eq!(shop.ask_at(ms(500)), Ok(()));
    shop.charge_at(ms(500), u64::MAX);
    let refused = shop.ask_at(ms(500)).unwrap_err();
    assert_eq!(refused.retry_after, Some(QUOTA_DEBT_MOST));
    desk.charge_at(ms(500), u64::MAX);
    assert_eq!(desk.ask_at(ms(500)), Ok(()));
}

#[test]
fn connections_are_counted_also_before_there_is_a_quota() {
    let mut site = Site::new(AccessQuota::NONE);
    let (shop, desk) = (site.of("shop"), site.of("desk"));
    let [one, two, _three] = [(); 3].map(|()| shop.connect().unwrap());
    site.give("shop", quota(1, 1));
    let refused = shop.connect().unwrap_err();
    assert_eq!(
        (refused.kind, refused.retry_after),
        (QuotaKind::Connections, None)
    );
    assert_eq!(
        refused.to_string(),
        "your quota is 2 connections; end one and retry"
    );
    drop(one);
    assert!(shop.connect().is_err());
    drop(two);
    let again = shop.connect();
    assert!(again.is_ok() && desk.connect().is_ok());
}

#[test]
fn a_quota_of_everyone_is_for_each_and_changes_at_once() {
    let mut site = Site::new(quota(5, 1_000));
    assert!(site.limited("shop") && !site.limited("desk"));
    let (shop, desk) = (site.of("shop"), site.of("desk"));
    let count = |meter: &Meter, now| (0..100).filter(|_| meter.ask_at(now).is_ok()).count();
    assert_eq!(count(&desk, ms(0)), 100);
    site.apply(&Command::SetDefaultQuota {
        quota: quota(1, 1_000),
    });
    assert!(site.limited("desk"));
    assert_eq!(count(&desk, ms(1_000)), 1);
    assert_eq!(count(&shop, ms(1_000)), 5);
    site.give("shop", quota(50, 1_000));
    assert_eq!(count(&shop, ms(2_000)), 50);
}

/// It took as long as what was taken at the higher rate is worth at the lower one.
#[test]
fn whoever_gets_a_lower_quota_waits_for_one_request_only() {
    let mut site = Site::new(quota(1_000, 1_000));
    let shop = site.of("shop");
    for _ in 0..1_000 {
        assert_eq!(shop.ask_at(ms(0)), Ok(()));
    }
    site.give("shop", quota(1, 1_000));
    assert_eq!(shop.ask_at(ms(0)).unwrap_err().retry_ms(), Some(1_000));
    assert_eq!(shop.ask_at(ms(1_000)), Ok(()));
}

#[test]
fn whoever_has_nothing_any_more_is_forgotten() {
    let site = Site::new(quota(1_000_000_000, 1_000));
    let left = || site.meters.register().of.len();
    let connection = site.of("desk").connect().unwrap();
    site.of("shop").charge(30);
    site.meters.sweep();
    assert_eq!(left(), 2, "one is connected, one has not paid");
    drop(connection);
    site.meters.sweep();
    assert_eq!(left(), 1);
    while !site.of("shop").is_full() {
        std::thread::yield_now();
    }
    site.meters.sweep();
    assert_eq!(left(), 0);
}

/// Something that a principal does, or an end of it.
#[derive(Clone, Debug)]
enum Deed {
    Ask,
    Charge(u64),
    Connect,
    Disconnect,
    Begin,
    End,
}

/// The same once more, as naively as can be: everything that was ever done, summed up whenever somebody
/// asks.
#[derive(Debug, Default)]
struct NaiveMeter {
    quota: AccessQuota,
    asked: Vec<Duration>,
    charged: Vec<(Duration, u64)>,
    connections: usize,
    under_way: usize,
}

impl NaiveMeter {
    /// For how many nanoseconds what was taken since any instant is more than a second's worth and what
    /// came back since.
    fn excess(taken: &[(Duration, u64)], now: Duration, rate: u32) -> u64 {
        let rate = u128::from(rate);
        let since = (0..taken.len()).map(|first| {
            let taken = &taken[first..];
            let sum: u128 = taken.iter().map(|(_, count)| u128::from(*count)).sum();
            let back = rate * (now - taken[0].0).as_nanos();
            let parts = (sum * 1_000_000_000).saturating_sub(back + rate * 1_000_000_000);
            u64::try_from(parts.div_ceil(rate)).unwrap()
        });
        since.max().unwrap_or(0)
    }

    /// How long it must wait, by which quota.
    fn wait(&self, now: Duration) -> Option<(QuotaKind, u64)> {
        if let Some(rate) = self.quota.bytes_out_per_second {
            let debt = Self::excess(&self.charged, now, rate);
            if debt > 0 {
                return Some((QuotaKind::BytesOut, debt));
            }
        }
        let rate = self.quota.requests_per_second?;
        let mut asked: Vec<_> = self.asked.iter().map(|at| (*at, 1)).collect();
        asked.push((now, 1));
        let wait = Self::excess(&asked, now, rate);
        (wait > 0).then_some((QuotaKind::Requests, wait))
    }

    fn fits(most: Option<u32>, have: usize) -> bool {
        most.is_none_or(|most| have < most as usize)
    }
}

fn deeds() -> impl Strategy<Value = (u64, Deed)> {
    let deed = prop_oneof![
        8 => Just(Deed::Ask),
        4 => (1..5_000_u64).prop_map(Deed::Charge),
        2 => Just(Deed::Connect),
        1 => Just(Deed::Disconnect),
        2 => Just(Deed::Begin),
        1 => Just(Deed::End),
    ];
    let waits = prop_oneof![
        3 => Just(0),
        3 => 0..50_000_000_u64,
        1 => 0..3_000_000_000_u64,
    ];
    (waits, deed)
}

fn quotas() -> impl Strategy<Value = AccessQuota> {
    let values = (
        of(1..40_u32),
        of(500..20_000_u32),
        of(1..4_u32),
        of(1..4_u32),
    );
    values.prop_map(|(requests, bytes, connections, under_way)| AccessQuota {
        requests_per_second: requests,
        bytes_out_per_second: bytes,
        connections,
        requests_under_way: under_way,
        ..AccessQuota::NONE
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_meter_and_its_naive_twin_admit_the_same(
        quota in quotas(),
        deeds in vec(deeds(), 1..150),
    ) {
        let meter = Arc::new(Meter::new(Instant::now(), &quota));
        let mut twin = NaiveMeter { quota, ..NaiveMeter::default() };
        let (mut connections, mut under_way) = (Vec::new(), Vec::new());
        let mut now = Duration::from_secs(5);
        for (wait, deed) in deeds {
            now += Duration::from_nanos(wait);
            match deed {
                Deed::Ask => {
                    let expected = twin.wait(now);
                    let refused = meter.ask_at(now).err();
                    let kind = refused.map(|refused| refused.kind);
                    prop_assert_eq!(kind, expected.map(|(kind, _)| kind));
                    if let Some((refused, (_, wait))) = refused.zip(expected) {
                        let told = refused.retry_after.unwrap().as_nanos();
                        // What is charged is rounded up, each time by a nanosecond at the most.
                        let most = u128::from(wait) + twin.charged.len() as u128;
                        prop_assert!((u128::from(wait)..=most).contains(&told));
                    } else {
                        twin.asked.push(now);
                    }
                }
                // A debt beyond the longest is another rule, with a test of its own.
                Deed::Charge(bytes) if twin.wait(now).is_none() => {
                    meter.charge_at(now, bytes);
                    twin.charged.push((now, bytes));
                }
                Deed::Charge(_) => {}
                Deed::Connect => {
                    let fits = NaiveMeter::fits(quota.connections, twin.connections);
                    let connection = meter.connect();
                    prop_assert_eq!(connection.is_ok(), fits);
                    twin.connections += usize::from(fits);
                    connections.extend(connection);
                }
                Deed::Disconnect => {
                    twin.connections -= usize::from(connections.pop().is_some());
                }
                Deed::Begin => {
                    let fits = NaiveMeter::fits(quota.requests_under_way, twin.under_way);
                    prop_assert_eq!(meter.check_under_way().is_ok(), fits);
                    let request = meter.begin();
                    prop_assert_eq!(request.is_ok(), fits);
                    twin.under_way += usize::from(fits);
                    under_way.extend(request);
                }
                Deed::End => {
                    twin.under_way -= usize::from(under_way.pop().is_some());
                }
            }
        }
    }

    /// However the rate changes, nobody waits longer than one request takes to come back, and waits no
    /// longer than it was told.
    #[test]
    fn whoever_may_not_ask_waits_for_one_request_whatever_the_rate_was(
        asks in vec((0..2_000_000_000_u64, 1..2_000_u32, 0..300_usize), 1..40),
    ) {
        let bucket = RequestBucket::default();
        let mut now = Duration::ZERO;
        for (wait, rate, count) in asks {
            now += Duration::from_nanos(wait);
            for _ in 0..count {
                if let Err(wait) = bucket.take(now, rate) {
                    prop_assert!(wait.as_nanos() <= 1_000_000_000_u128.div_ceil(rate.into()));
                    now += wait;
                    prop_assert_eq!(bucket.take(now, rate), Ok(()));
                }
            }
        }
    }

    /// Whoever waits as long as it was told has paid, and not before.
    #[test]
    fn a_debt_is_over_after_the_time_that_is_told(
        rate in 1..1_000_000_000_u32,
        charges in vec((0..2_000_000_000_u64, 0..100_000_000_u64), 1..40),
    ) {
        let bucket = ByteBucket::default();
        let mut now = Duration::ZERO;
        for (wait, bytes) in charges {
            now += Duration::from_nanos(wait);
            bucket.charge(now, bytes, rate);
            let debt = bucket.debt(now);
            prop_assert!(debt <= QUOTA_DEBT_MOST);
            prop_assert_eq!(bucket.debt(now + debt), Duration::ZERO);
            if let Some(less) = debt.checked_sub(Duration::from_nanos(1)) {
                prop_assert_eq!(bucket.debt(now + less), Duration::from_nanos(1));
            }
        }
    }
}
