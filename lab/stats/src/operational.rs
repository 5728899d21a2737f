//! Laws that hold for any system in steady state, whatever its distributions, as checks.
//!
//! P. Denning and J. Buzen, "The operational analysis of queueing network models", 1978. A check
//! that fails says that the figures are wrong, not the system: time outside the timed region, a
//! window that does not fit, a counter that misses some.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::count;

/// How far both sides of a law may lie apart, as a share of what is expected.
pub const TOLERANCE: f64 = 0.02;

/// ... or in standard errors of their difference, whichever allows more.
pub const ERRORS_MAX: f64 = 3.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// Users = throughput x (response + think time). J. Little, 1961.
    Little,
    /// Busy time of a resource = throughput x its service demand.
    Utilization,
    /// Throughput of a resource = visits of a request x throughput of the system.
    ForcedFlow,
    /// Response = sum over the parts of visits x time of one visit.
    Composition,
    /// No response below the demand, nor below users x largest demand - think time.
    ResponseBound,
    /// No throughput above 1 / largest demand, nor above users / (demand + think time).
    ThroughputBound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Holds,
    Fails,
    /// A figure is missing, not finite, or nothing was expected.
    NotTestable,
}

/// Both sides of a law, in its own unit, and what follows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    pub law: Law,
    /// What the law asks for; of a bound, the bound.
    pub expected: f64,
    pub found: f64,
    pub verdict: Verdict,
}

/// The figures of one measured point of a system with a fixed number of users. Seconds and
/// requests a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub users: usize,
    pub throughput: f64,
    pub response: f64,
    /// The mean time from a reply to the user's next request; 0 when there is none.
    pub think: f64,
}

/// Service demands in seconds for each request, per server: a station of four servers with 8 ms
/// counts as 2 ms in `largest` and as 8 ms in `sum`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demands {
    pub sum: f64,
    pub largest: f64,
}

impl Check {
    /// A law of equality. `error` is the standard error of `found - expected`, 0 when unknown.
    #[must_use]
    pub fn equal(law: Law, expected: f64, found: f64, error: f64) -> Self {
        Self::within(law, expected, found, error, (found - expected).abs())
    }

    /// `beyond` is how far the figure is on the wrong side.
    fn within(law: Law, expected: f64, found: f64, error: f64, beyond: f64) -> Self {
        let allowed = (TOLERANCE * expected.abs()).max(ERRORS_MAX * error);
        let sensible = expected.is_finite() && expected > 0.0 && beyond.is_finite();
        let verdict = match (sensible, beyond <= allowed) {
            (false, _) => Verdict::NotTestable,
            (true, true) => Verdict::Holds,
            (true, false) => Verdict::Fails,
        };
        Self {
            law,
            expected,
            found,
            verdict,
        }
    }

    /// Little's law for a closed system: in users. `error` as in [`Self::equal`].
    #[must_use]
    pub fn little(point: &Point, error: f64) -> Self {
        let found = point.throughput * (point.response + point.think);
        Self::equal(Law::Little, count(point.users), found, error)
    }

    /// `busy` is the mean number of busy servers of a resource (a share of time when it is one),
    /// `demand` its seconds for each request.
    #[must_use]
    pub fn utilization(busy: f64, throughput: f64, demand: f64, error: f64) -> Self {
        Self::equal(Law::Utilization, throughput * demand, busy, error)
    }

    /// `visits` of each request to a resource that completes `there` a second.
    #[must_use]
    pub fn forced_flow(visits: f64, throughput: f64, there: f64, error: f64) -> Self {
        Self::equal(Law::ForcedFlow, visits * throughput, there, error)
    }

    /// `parts` are pairs of visits and seconds of one visit; `response` is in seconds.
    #[must_use]
    pub fn composition(parts: &[(f64, f64)], response: f64, error: f64) -> Self {
        let sum = parts.iter().map(|(visits, seconds)| visits * seconds).sum();
        Self::equal(Law::Composition, sum, response, error)
    }

    /// No response can be shorter.
    #[must_use]
    pub fn response_bound(point: &Point, demands: &Demands, error: f64) -> Self {
        let queued = count(point.users) * demands.largest - point.think;
        let bound = demands.sum.max(queued);
        let found = point.response;
        Self::within(Law::ResponseBound, bound, found, error, bound - found)
    }

    /// No throughput can be higher.
    #[must_use]
    pub fn throughput_bound(point: &Point, demands: &Demands, error: f64) -> Self {
        let lone = count(point.users) / (demands.sum + point.think);
        let bound = lone.min(1.0 / demands.largest);
        let found = point.throughput;
        Self::within(Law::ThroughputBound, bound, found, error, found - bound)
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Little => "little",
            Self::Utilization => "utilization",
            Self::ForcedFlow => "forced flow",
            Self::Composition => "composition",
            Self::ResponseBound => "response bound",
            Self::ThroughputBound => "throughput bound",
        })
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            law,
            expected,
            found,
            verdict,
        } = self;
        let said = match verdict {
            Verdict::Holds => "holds",
            Verdict::Fails => "FAILS",
            Verdict::NotTestable => "not testable",
        };
        write!(f, "{law}: found {found:.4}, expected {expected:.4}: {said}")
    }
}

#[cfg(test)]
mod tests {
    use super::{Check, Demands, Law, Point, Verdict};
    use crate::truth::{Network, Operating, QueueingStation};

    const DEMANDS: Demands = Demands {
        sum: 0.010,
        largest: 0.003,
    };

    /// Two cores of 6 ms in all, a disk of 4 ms (so 3 ms and 4 ms per server), 50 ms to think.
    fn points() -> impl Iterator<Item = Point> {
        let stations = vec![
            QueueingStation {
                demand: 0.006,
                servers: 2,
            },
            QueueingStation {
                demand: 0.004,
                servers: 1,
            },
        ];
        let think = 0.05;
        let network = Network { stations, think };
        network.up_to(100).into_iter().map(move |operating| {
            let Operating {
                users,
                throughput,
                response,
            } = operating;
            Point {
                users,
                throughput,
                response,
                think,
            }
        })
    }

    #[test]
    fn every_law_holds_in_a_system_of_known_truth() {
        let demands = Demands {
            sum: 0.010,
            largest: 0.004,
        };
        for point in points() {
            let checks = [
                Check::little(&point, 0.0),
                Check::response_bound(&point, &demands, 0.0),
                Check::throughput_bound(&point, &demands, 0.0),
            ];
            for check in checks {
                assert_eq!(check.verdict, Verdict::Holds, "{point:?}: {check}");
            }
        }
    }

    #[test]
    fn a_clock_that_misses_a_part_fails_little_and_the_bounds() {
        for point in points().skip(30) {
            let half = Point {
                response: point.response / 2.0,
                ..point
            };
            assert_eq!(Check::little(&half, 0.0).verdict, Verdict::Fails);
            let slow = Demands {
                sum: 0.010,
                largest: 0.008,
            };
            assert_eq!(
                Check::throughput_bound(&point, &slow, 0.0).verdict,
                Verdict::Fails
            );
            assert_eq!(
                Check::response_bound(&point, &slow, 0.0).verdict,
                Verdict::Fails
            );
        }
    }

    #[test]
    fn two_percent_or_three_standard_errors_are_allowed() {
        let rows = [
            (102.0, 0.0, Verdict::Holds),
            (102.1, 0.0, Verdict::Fails),
            (97.9, 0.0, Verdict::Fails),
            (108.9, 3.0, Verdict::Holds),
            (109.1, 3.0, Verdict::Fails),
            (f64::NAN, 0.0, Verdict::NotTestable),
        ];
        for (busy, error, verdict) in rows {
            let check = Check::utilization(busy, 1_000.0, 0.1, error);
            assert_eq!(check.verdict, verdict, "{check}");
        }
        assert_eq!(
            Check::equal(Law::Little, 0.0, 0.0, 0.0).verdict,
            Verdict::NotTestable
        );
    }

    #[test]
    fn flows_and_parts_add_up() {
        // Three reads and one write for each request.
        assert_eq!(
            Check::forced_flow(4.0, 250.0, 1_000.0, 0.0).verdict,
            Verdict::Holds
        );
        assert_eq!(
            Check::forced_flow(4.0, 250.0, 750.0, 0.0).verdict,
            Verdict::Fails
        );
        // The travel report: start + 4 queries + 3 reservations + commit, in ms of a printed 5.02.
        let parts = [(1.0, 0.5), (4.0, 0.55), (3.0, 0.6), (1.0, 0.508)];
        assert_eq!(
            Check::composition(&parts, 5.02, 0.0).verdict,
            Verdict::Holds
        );
        let failed = Check::composition(&parts, 5.4, 0.0);
        assert_eq!(
            failed.to_string(),
            "composition: found 5.4000, expected 5.0080: FAILS"
        );
    }

    #[test]
    fn a_bound_is_one_sided() {
        let idle = Point {
            users: 1,
            throughput: 5.0,
            response: 0.1,
            think: 0.1,
        };
        assert_eq!(
            Check::response_bound(&idle, &DEMANDS, 0.0).verdict,
            Verdict::Holds
        );
        assert_eq!(
            Check::throughput_bound(&idle, &DEMANDS, 0.0).verdict,
            Verdict::Holds
        );
    }
}
