//! Which versions of the broker are trusted with a log.

use std::fmt;

/// The version of a broker, as it says itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BrokerVersion {
    pub major: u16,
    pub minor: u16,
    pub patch: u16,
}

/// Before this one, brokers that were killed could lose streams.
const OLDEST: BrokerVersion = BrokerVersion::new(2, 10, 23);

/// From here to [`LAST_STOPPING`], one refused publish stops a stream for good.
const FIRST_STOPPING: BrokerVersion = BrokerVersion::new(2, 14, 0);

/// The newest version that was tried.
const LAST_STOPPING: BrokerVersion = BrokerVersion::new(2, 15, 2);

/// A version that no log is trusted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusedVersion {
    /// It is older than 2.10.23.
    TooOld(BrokerVersion),
    /// It is one of 2.14.0 to 2.15.2.
    StopsStreams(BrokerVersion),
    /// It cannot be read.
    Unreadable(String),
}

impl BrokerVersion {
    const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// Reads `2.12.15` and `2.14.0-RC.1`; what is behind the `-` does not matter.
    fn parse(text: &str) -> Option<Self> {
        let numbers = text.split(['-', '+']).next()?;
        let mut parts = numbers.split('.').map(|part| part.parse().ok());
        let version = Self::new(parts.next()??, parts.next()??, parts.next()??);
        parts.next().is_none().then_some(version)
    }

    /// The version that a broker says it has, if it is trusted.
    ///
    /// # Errors
    /// It is not, with the reason.
    pub fn trusted(text: &str) -> Result<Self, RefusedVersion> {
        let Some(version) = Self::parse(text) else {
            return Err(RefusedVersion::Unreadable(text.chars().take(40).collect()));
        };
        if version < OLDEST {
            return Err(RefusedVersion::TooOld(version));
        }
        if (FIRST_STOPPING..=LAST_STOPPING).contains(&version) {
            return Err(RefusedVersion::StopsStreams(version));
        }
        Ok(version)
    }

    /// Whether it is newer than all that were tried.
    #[must_use]
    pub fn is_untried(self) -> bool {
        self > LAST_STOPPING
    }
}

impl fmt::Display for BrokerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl fmt::Display for RefusedVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooOld(version) => write!(
                f,
                "version {version} can lose a stream when brokers are killed: use {OLDEST} or newer, \
                 best 2.12.15"
            ),
            Self::StopsStreams(version) => write!(
                f,
                "version {version} stops a replicated stream for good after one refused publish, as \
                 do all from {FIRST_STOPPING} to {LAST_STOPPING}: use 2.12.15"
            ),
            Self::Unreadable(text) => write!(f, "version {text:?} cannot be read: use 2.12.15"),
        }
    }
}

impl std::error::Error for RefusedVersion {}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let told = match BrokerVersion::trusted(text) {
            Ok(version) if version.is_untried() => "untried".to_owned(),
            Ok(_) => "trusted".to_owned(),
            Err(refused) => refused.to_string(),
        };
        assert!(told.contains(expected), "{text}: {told}");
    }

    #[test]
    fn versions_are_trusted_or_refused_with_the_reason() {
        for text in [
            "2.10.23",
            "2.11.0",
            "2.12.12",
            "2.12.15",
            "2.13.9",
            "2.12.16-RC.1",
        ] {
            check(text, "trusted");
        }
        for text in [
            "2.14.0",
            "2.14.0-RC.1",
            "2.14.9",
            "2.15.0",
            "2.15.2",
            "2.15.2-dev",
        ] {
            check(text, "after one refused publish");
        }
        for text in ["2.10.22", "2.9.10", "1.99.99"] {
            check(text, "can lose a stream");
        }
        for text in ["", "2.12", "2.x.1", "v2.12.15", "2.12.15.1"] {
            check(text, "cannot be read");
        }
        check("2.15.3", "untried");
        check("3.0.0", "untried");
    }
}
