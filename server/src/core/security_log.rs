//! What happens to the security of the server and is no record: failed logins, and what operators do.

use std::{
    collections::VecDeque,
    fmt,
    net::IpAddr,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use tokio::sync::{Notify, futures::Notified};
use turnstile_http::{EventId, SecurityEvent, SecurityEventKind};
use turnstile_types::{Origin, Position, Principal, Timestamp};

use crate::{
    core::{clock, failed_logins::FailedLogins},
    limits::{FAILED_LOGINS, SECURITY_EVENTS},
};

/// The channel of RESP on which these events are told.
pub(crate) const SECURITY_CHANNEL: &str = "security.events";

/// The last events, and the failed logins of all doors.
///
/// The loop and the thread of HTTP write and read it. A login that fails costs a lock and, at most, a
/// wake-up; everything else looks at one number.
#[derive(Debug)]
pub(crate) struct SecurityLog {
    /// The time of the start, by which events are told from those of other runs.
    run: u64,
    /// The number of the last event.
    last: AtomicU32,
    kept: Mutex<KeptEvents>,
    news: Notify,
}

#[derive(Debug, Default)]
struct KeptEvents {
    failed: FailedLogins,
    /// The last ones, oldest first.
    events: VecDeque<SecurityEvent>,
}

/// Where a reader goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SecurityPlace {
    /// The number of the last event that it has seen, or that is lost to it.
    pub(crate) seen: u32,
    /// Whether it has missed some.
    pub(crate) is_gap: bool,
}

/// A login that failed.
pub(crate) struct FailedLogin<'a> {
    pub(crate) now: Timestamp,
    pub(crate) source: IpAddr,
    /// The door, and the address as far as it is kept.
    pub(crate) origin: Origin<'a>,
    /// Why.
    pub(crate) refused: &'a dyn fmt::Display,
}

impl SecurityLog {
    pub(crate) fn new() -> Self {
        Self {
            run: clock::system().wall.0,
            last: AtomicU32::new(0),
            kept: Mutex::default(),
            news: Notify::new(),
        }
    }

    /// Counts a login that has failed. Its first failure in a minute is logged and told, and then the
    /// tenth, the hundredth and the one after which its source has to wait: so nobody can fill the log.
    ///
    /// # Errors
    /// How many milliseconds its source must wait for the next try.
    pub(crate) fn login_failed(&self, login: &FailedLogin<'_>) -> Result<(), u64> {
        let FailedLogin {
            now,
            source,
            origin,
            refused,
        } = *login;
        let mut kept = self.kept();
        if let Some(wait_ms) = kept.failed.wait_ms(now, source) {
            return Err(wait_ms);
        }
        let failures = kept.failed.note(now, source);
        drop(kept);
        let is_throttled = failures == FAILED_LOGINS;
        if !is_throttled && !matches!(failures, 1 | 10 | 100) {
            return Ok(());
        }
        let (door, address) = (origin.door.word(), origin.address);
        tracing::warn!(%source, door, failures, is_throttled, %refused, "a login was refused");
        let kept = address.kept.to_string();
        let kind = if is_throttled {
            SecurityEventKind::LoginsThrottled
        } else {
            SecurityEventKind::LoginFailed
        };
        self.add(SecurityEvent {
            door: Some(door),
            address_class: Some(address.class.word()),
            address: (!kept.is_empty()).then(|| kept.into()),
            reason: Some(refused.to_string().into()),
            failures: Some(failures),
            ..event(now, kind)
        });
        Ok(())
    }

    /// Notes what an operator has done, and what it has changed.
    pub(crate) fn operated(
        &self,
        kind: SecurityEventKind,
        by: Option<Principal>,
        changed: Option<&str>,
    ) {
        self.add(SecurityEvent {
            by,
            changed: changed.map(Into::into),
            ..event(clock::system().wall, kind)
        });
    }

    fn add(&self, event: SecurityEvent) {
        let mut kept = self.kept();
        let seq = self.last() + 1;
        if kept.events.len() == SECURITY_EVENTS {
            kept.events.pop_front();
        }
        kept.events.push_back(SecurityEvent {
            run: self.run,
            seq,
            ..event
        });
        self.last.store(seq, Ordering::Release);
        drop(kept);
        self.news.notify_waiters();
    }

    /// The number of the last event; 0 before the first.
    pub(crate) fn last(&self) -> u32 {
        self.last.load(Ordering::Acquire)
    }

    /// The id of the event behind this one.
    pub(crate) const fn id_after(&self, seen: u32) -> EventId {
        EventId::of((Position(self.run), seen + 1))
    }

    /// Where a reader goes on that has seen this event last.
    pub(crate) fn after(&self, last: EventId) -> SecurityPlace {
        let lost = self.lost();
        let is_ours = last.position.0 == self.run && last.ordinal <= self.last();
        if is_ours && last.ordinal >= lost {
            return SecurityPlace {
                seen: last.ordinal,
                is_gap: false,
            };
        }
        SecurityPlace {
            seen: lost,
            is_gap: true,
        }
    }

    /// The events behind this one that are kept, and how many are lost before them.
    pub(crate) fn read(&self, seen: u32) -> (u32, Vec<SecurityEvent>) {
        let kept = self.kept();
        let behind = kept.events.iter().filter(|event| event.seq > seen);
        let events: Vec<SecurityEvent> = behind.cloned().collect();
        let first = events.first().map_or(seen + 1, |event| event.seq);
        (first - seen - 1, events)
    }

    /// Rings with the next event. Whoever waits enables it before reading.
    pub(crate) fn news(&self) -> Notified<'_> {
        self.news.notified()
    }

    /// The number of the last event that is not kept any more.
    fn lost(&self) -> u32 {
        let kept = self.kept();
        kept.events.front().map_or(0, |event| event.seq - 1)
    }

    fn kept(&self) -> MutexGuard<'_, KeptEvents> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn event(at: Timestamp, kind: SecurityEventKind) -> SecurityEvent {
    SecurityEvent {
        run: 0,
        seq: 0,
        at,
        kind,
        door: None,
        address_class: None,
        address: None,
        reason: None,
        failures: None,
        by: None,
        changed: None,
    }
}

#[cfg(test)]
mod tests {
    use turnstile_types::{AddressPolicy, DoorKind};

    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn fail(log: &SecurityLog, source: &str) -> Result<(), u64> {
        let source = source.parse().unwrap();
        log.login_failed(&FailedLogin {
            now: NOW,
            source,
            origin: Origin::at(DoorKind::Resp, source, AddressPolicy::Network),
            refused: &"invalid key",
        })
    }

    fn told(log: &SecurityLog) -> Vec<(u32, &'static str, u32)> {
        let (lost, events) = log.read(0);
        assert_eq!(lost, 0);
        let told = events.iter();
        told.map(|one| (one.seq, one.kind.code(), one.failures.unwrap_or(0)))
            .collect()
    }

    #[test]
    fn few_of_many_failures_of_a_source_are_told_and_the_last_throttles_it() {
        let log = SecurityLog::new();
        for _ in 0..FAILED_LOGINS {
            assert_eq!(fail(&log, "203.0.113.7"), Ok(()));
        }
        assert_eq!(fail(&log, "203.0.113.7"), Err(60_000));
        assert_eq!(fail(&log, "198.51.100.1"), Ok(()), "others are not");
        let expected = [
            (1, "login_failed", 1),
            (2, "login_failed", 10),
            (3, "login_failed", 100),
            (4, "logins_throttled", FAILED_LOGINS),
            (5, "login_failed", 1),
        ];
        assert_eq!(told(&log), expected);
        let (_, events) = log.read(0);
        let first = &events[0];
        assert_eq!(first.address.as_deref(), Some("203.0.113.0/24"));
        assert_eq!(
            (first.door, first.address_class),
            (Some("resp"), Some("public"))
        );
        assert_eq!(first.reason.as_deref(), Some("invalid key"));
    }

    #[test]
    fn a_reader_goes_on_where_it_was_unless_that_is_gone_or_of_another_run() {
        let log = SecurityLog::new();
        let id = |seq| EventId::of((Position(log.run), seq));
        let place = |seen, is_gap| SecurityPlace { seen, is_gap };
        assert_eq!(log.after(id(0)), place(0, false));
        let add = || log.operated(SecurityEventKind::Reloaded, None, None);
        (0..3).for_each(|_| add());
        assert_eq!(log.after(id(2)), place(2, false));
        assert_eq!(log.after(id(4)), place(0, true), "it was never told");
        let other = EventId::of((Position(log.run - 1), 2));
        assert_eq!(log.after(other), place(0, true));
        let (lost, events) = log.read(2);
        assert_eq!((lost, events.len(), events[0].seq), (0, 1, 3));
        (0..SECURITY_EVENTS).for_each(|_| add());
        assert_eq!(log.after(id(2)), place(3, true));
        assert_eq!(log.read(1).0, 2, "two are lost to it");
    }
}
