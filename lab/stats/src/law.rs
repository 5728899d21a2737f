//! What must hold for the figures of any closed system, whoever measured them.

use std::{fmt, time::Duration};

use serde::Serialize;

use crate::units::to_float;

/// How far both sides of Little's law may lie apart, as a share.
const TOLERANCE: f64 = 0.02;

/// Little's law in a closed loop without think time: users = throughput x response time.
///
/// When it fails, part of each user's time lies outside the timed region (or is counted twice),
/// and neither the rate nor the mean response is what it says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Little {
    /// How many requests were meant to be under way at any time.
    pub users: f64,
    /// How many the figures say were under way: throughput x mean response.
    pub found: f64,
}

impl Little {
    /// `throughput` in operations a second, `response` their mean response time in nanoseconds.
    #[must_use]
    pub fn new(users: u64, throughput: f64, response: f64) -> Self {
        Self {
            users: to_float(users),
            found: throughput * response / 1e9,
        }
    }

    /// What was found over what was meant; 1 when the law holds.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.found / self.users
    }

    /// Whether both sides agree within 2 %.
    #[must_use]
    pub fn holds(&self) -> bool {
        (self.ratio() - 1.0).abs() <= TOLERANCE
    }
}

impl fmt::Display for Little {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "little: {:.2} of {:.0} users found in throughput x response ({:.3}): {}",
            self.found,
            self.users,
            self.ratio(),
            if self.holds() { "holds" } else { "FAILS" }
        )
    }
}

/// Operations a second; zero for an empty window.
#[must_use]
pub fn throughput(operations: u64, window: Duration) -> f64 {
    if window.is_zero() {
        return 0.0;
    }
    to_float(operations) / window.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Little, throughput};

    #[test]
    fn little_holds_within_two_percent_and_not_beyond() {
        // 50 users at 10,000 operations a second must wait 5 ms each.
        let rows = [
            (5_000_000.0, true),
            (5_099_000.0, true),
            (4_901_000.0, true),
            (5_101_000.0, false),
            (4_899_000.0, false),
        ];
        for (response, holds) in rows {
            let little = Little::new(50, 10_000.0, response);
            assert_eq!(little.holds(), holds, "{little}");
        }
    }

    #[test]
    fn little_finds_the_published_figure_that_cannot_be() {
        // 300 users, 425 a second, a printed mean of 166 ms: it had to be 705 ms.
        let little = Little::new(300, 425.0, 166e6);
        assert_eq!(
            little.to_string(),
            "little: 70.55 of 300 users found in throughput x response (0.235): FAILS"
        );
    }

    #[test]
    fn nothing_measured_is_not_taken_for_a_law_that_holds() {
        assert!(!Little::new(0, 0.0, 0.0).holds());
        assert!(!Little::new(5, 0.0, 0.0).holds());
    }

    #[test]
    fn throughput_is_operations_over_time() {
        let rate = throughput(1_500, Duration::from_millis(500));
        assert!((rate - 3_000.0).abs() < 1e-9);
        assert!(throughput(5, Duration::ZERO).abs() < 1e-9);
    }
}
