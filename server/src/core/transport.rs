//! How clients of other machines reach a server: not at all, with TLS, or in clear.

use std::sync::{PoisonError, RwLock};

use turnstile_types::Timestamp;

/// How clients of other machines reach a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DoorTransport {
    /// Not at all: every address is of loopback, and in clear.
    #[default]
    Loopback,
    /// With TLS, as clients of this machine do.
    Tls,
    /// In clear.
    Plain,
}

impl DoorTransport {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
            Self::Tls => "tls",
            Self::Plain => "plain",
        }
    }
}

/// When the first certificate of each file expires, by the word of the file. There is none without TLS.
#[derive(Debug, Default)]
pub(crate) struct CertificateExpiries(RwLock<Vec<(&'static str, Timestamp)>>);

impl CertificateExpiries {
    pub(crate) fn set(&self, expiries: Vec<(&'static str, Timestamp)>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = expiries;
    }

    /// The seconds until then; below 0 when it is over.
    pub(crate) fn seconds_left(&self, now: Timestamp) -> Vec<(&'static str, i64)> {
        let seconds = |at: Timestamp| i64::try_from(at.0 / 1_000).unwrap_or(i64::MAX);
        let expiries = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let left = expiries.iter();
        left.map(|(file, end)| (*file, seconds(*end) - seconds(now)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_certificate_is_counted_beyond_its_end() {
        let expiries = CertificateExpiries::default();
        assert_eq!(expiries.seconds_left(Timestamp(0)), []);
        expiries.set(vec![("certificate", Timestamp(10_000))]);
        for (now, left) in [(0, 10), (9_999, 1), (10_000, 0), (70_000, -60)] {
            assert_eq!(
                expiries.seconds_left(Timestamp(now)),
                [("certificate", left)]
            );
        }
    }
}
