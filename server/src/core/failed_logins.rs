//! Failed logins, counted for each source, so that nobody can try keys without end.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
};

use turnstile_types::Timestamp;

use crate::limits::{FAILED_LOGIN_SOURCES, FAILED_LOGINS, FAILED_LOGINS_MS};

/// How often logins from one source have failed lately.
#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    since: Timestamp,
}

/// Failed logins of the last minute.
///
/// A key has 256 bits of randomness, so the bound protects the log and the processor, not the keys. It
/// holds a bounded number of sources; beyond it the oldest is forgotten.
#[derive(Debug, Default)]
pub(crate) struct FailedLogins {
    by_source: HashMap<IpAddr, Failures>,
}

impl FailedLogins {
    /// How many milliseconds a source must wait for its next try; nothing: it may try now.
    pub(crate) fn wait_ms(&self, now: Timestamp, source: IpAddr) -> Option<u64> {
        let failures = self.by_source.get(&network(source))?;
        let age = now.ms_since(failures.since);
        let is_over = failures.count >= FAILED_LOGINS && age < FAILED_LOGINS_MS;
        is_over.then(|| FAILED_LOGINS_MS - age)
    }

    /// Counts a login that has failed; answers how many have from there lately.
    pub(crate) fn note(&mut self, now: Timestamp, source: IpAddr) -> u32 {
        let source = network(source);
        if !self.by_source.contains_key(&source) && self.by_source.len() == FAILED_LOGIN_SOURCES {
            self.forget(now);
        }
        let fresh = Failures {
            count: 0,
            since: now,
        };
        let failures = self.by_source.entry(source).or_insert(fresh);
        if now.ms_since(failures.since) >= FAILED_LOGINS_MS {
            *failures = fresh;
        }
        failures.count += 1;
        failures.count
    }

    /// Forgets the sources whose minute is over, or else the one whose minute began first.
    fn forget(&mut self, now: Timestamp) {
        let is_recent = |failures: &Failures| now.ms_since(failures.since) < FAILED_LOGINS_MS;
        self.by_source.retain(|_, failures| is_recent(failures));
        if self.by_source.len() == FAILED_LOGIN_SOURCES {
            let oldest = self.by_source.iter().min_by_key(|(_, one)| one.since);
            if let Some(oldest) = oldest.map(|(source, _)| *source) {
                self.by_source.remove(&oldest);
            }
        }
    }
}

/// One household has one address of version 4, and 2^64 addresses of version 6.
fn network(source: IpAddr) -> IpAddr {
    match source.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(
            address.to_bits() & !u128::from(u64::MAX),
        )),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(number: u32) -> IpAddr {
        std::net::Ipv4Addr::from_bits(number).into()
    }

    #[test]
    fn a_source_waits_after_too_many_failures_and_others_do_not() {
        let mut logins = FailedLogins::default();
        let begin = Timestamp(1_000_000);
        for _ in 0..FAILED_LOGINS {
            assert_eq!(logins.wait_ms(begin, source(1)), None);
            logins.note(begin, source(1));
        }
        let later = Timestamp(begin.0 + 1);
        assert_eq!(logins.wait_ms(later, source(1)), Some(FAILED_LOGINS_MS - 1));
        assert_eq!(logins.wait_ms(later, source(2)), None);
        let over = Timestamp(begin.0 + FAILED_LOGINS_MS);
        assert_eq!(logins.wait_ms(over, source(1)), None);
        assert_eq!(logins.note(over, source(1)), 1, "a new minute");
    }

    #[test]
    fn the_addresses_of_one_household_are_one_source() {
        let mut logins = FailedLogins::default();
        let now = Timestamp(1);
        for number in 0..FAILED_LOGINS {
            let address: IpAddr = format!("2001:db8::{number:x}").parse().unwrap();
            logins.note(now, address);
        }
        let wait = |address: &str| logins.wait_ms(now, address.parse().unwrap());
        assert!(wait("2001:db8::ffff").is_some());
        assert!(wait("2001:db8:0:1::1").is_none());
    }

    #[test]
    fn the_oldest_of_too_many_sources_is_forgotten() {
        let mut logins = FailedLogins::default();
        for number in 0..=u32::try_from(FAILED_LOGIN_SOURCES).unwrap() {
            logins.note(Timestamp(u64::from(number) / 1_000), source(number));
        }
        assert_eq!(logins.by_source.len(), FAILED_LOGIN_SOURCES);
        let last = u32::try_from(FAILED_LOGIN_SOURCES).unwrap();
        assert!(logins.by_source.contains_key(&source(last)));
    }
}
