//! The most that a system can do, by the demand of its busiest resource and by the bend of its curve.

use serde::Serialize;

use crate::{interval::Interval, sample::Line, student::critical, units::count};

/// What each request asks of one resource.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Demand {
    /// Busy seconds for each request, never below 0: an interval that would reach there ends at 0.
    pub seconds: Interval,
    /// Busy servers without any request, never below 0: what else runs there.
    pub background: f64,
}

impl Demand {
    /// From points `(requests a second, busy servers)` at several loads, or in several pieces of a
    /// run; `busy` is a share of time for a single server. Nothing for fewer than three points with
    /// requests, or when all have the same load.
    ///
    /// The line busy = background + demand x throughput, fitted to errors that grow with the load
    /// (the utilization law, as a regression). A background that may be none counts as none, for
    /// looking for it makes the demand twice as vague.
    #[must_use]
    pub fn of(points: &[(f64, f64)]) -> Option<Self> {
        let loaded = points.iter().filter(|(throughput, _)| *throughput > 0.0);
        let each: Vec<(f64, f64)> = loaded
            .map(|(throughput, busy)| (1.0 / throughput, busy / throughput))
            .collect();
        let line = Line::through(&each)?;
        let reach = critical(count(each.len()) - 2.0);
        if line.slope - reach * line.slope_error > 0.0 {
            let seconds = Interval::about(line.intercept, reach * line.intercept_error);
            let background = if seconds.estimate < 0.0 {
                proportional(&each)
            } else {
                line.slope
            };
            return Some(Self {
                seconds: seconds.map(|seconds| seconds.max(0.0)),
                background,
            });
        }
        let demands: Vec<f64> = each.iter().map(|(_, demand)| *demand).collect();
        Some(Self {
            seconds: Interval::of_mean(&demands)?.map(|seconds| seconds.max(0.0)),
            background: 0.0,
        })
    }

    /// Requests a second at which a resource of so many servers, of which one may be a part of a
    /// processor, would be busy all the time; nothing when its demand may be zero.
    #[must_use]
    pub fn capacity(&self, servers: f64) -> Option<Interval> {
        let free = servers - self.background;
        let Interval {
            low,
            estimate,
            high,
        } = self.seconds;
        (low > 0.0 && free > 0.0).then(|| Interval {
            low: free / high,
            estimate: free / estimate,
            high: free / low,
        })
    }
}

/// The slope of the line through the origin: the background of a resource of which requests ask nothing.
fn proportional(points: &[(f64, f64)]) -> f64 {
    let sum = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    sum(|(x, y)| x * y) / sum(|(x, _)| x * x)
}

/// A curve of throughput against users as a slope from zero and a level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Segments {
    /// Requests a second that each further user brings at first.
    pub slope: f64,
    /// Requests a second on the level: the capacity.
    pub level: Interval,
}

impl Segments {
    /// Through points `(users, requests a second)` in increasing order of users, both above 0. The
    /// bend is where the sum of squared relative errors is least, with at least one point before
    /// and three after it. Nothing for fewer points, or when the best bend leaves no level: the
    /// system was not saturated.
    #[must_use]
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let bends = 1..=points.len().checked_sub(3)?;
        let all = bends.map(|bend| Self::bent(points, bend));
        let best = all.min_by(|one, other| one.1.total_cmp(&other.1))?.0;
        let (users, _) = points.last()?;
        (best.slope * users > best.level.high).then_some(best)
    }

    /// The fit that rises through so many points, and its error.
    fn bent(points: &[(f64, f64)], bend: usize) -> (Self, f64) {
        let (rise, flat) = points.split_at(bend);
        let slopes: Vec<f64> = rise
            .iter()
            .map(|(users, rate)| (rate / users).ln())
            .collect();
        let levels: Vec<f64> = flat.iter().map(|(_, rate)| rate.ln()).collect();
        let level = Interval::of_mean(&levels).expect("three points on the level");
        let slope = slopes.iter().sum::<f64>() / count(slopes.len());
        let squares = |values: &[f64], centre: f64| -> f64 {
            values.iter().map(|value| (value - centre).powi(2)).sum()
        };
        let error = squares(&slopes, slope) + squares(&levels, level.estimate);
        let slope = slope.exp();
        let level = level.map(f64::exp);
        (Self { slope, level }, error)
    }

    /// Users at the bend.
    #[must_use]
    pub fn bend(&self) -> f64 {
        self.level.estimate / self.slope
    }
}

#[cfg(test)]
mod tests {
    use turnstile_seed::Random;

    use super::{Demand, Segments};
    use crate::{
        chance::normal,
        truth::{Network, QueueingStation},
    };

    const LADDER: [usize; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];

    /// Four cores with 8 ms of work, and 2 ms of delay.
    fn network() -> Network {
        let stations = vec![QueueingStation {
            demand: 0.008,
            servers: 4,
        }];
        Network {
            stations,
            think: 0.002,
        }
    }

    #[test]
    fn demand_and_background_are_told_apart() {
        let mut random = Random::new(6);
        let points = network().up_to(32);
        let measured: Vec<(f64, f64)> = LADDER
            .iter()
            .map(|users| {
                let throughput = points[users - 1].throughput;
                let noise = 1.0 + 0.01 * normal(&mut || random.draw());
                (throughput, (0.2 + throughput * 0.008) * noise)
            })
            .collect();
        let demand = Demand::of(&measured).unwrap();
        assert!(demand.seconds.contains(0.008), "{demand:?}");
        assert!(demand.seconds.relative() < 0.03, "{demand:?}");
        assert!((demand.background - 0.2).abs() < 0.02, "{demand:?}");
        let capacity = demand.capacity(4.0).unwrap();
        assert!(capacity.contains(3.8 / 0.008), "{capacity}");
    }

    #[test]
    fn a_demand_is_never_negative() {
        // A disk that others keep busy, a little less while this server works.
        let falling = [(100.0, 0.50), (200.0, 0.49), (400.0, 0.47), (800.0, 0.43)];
        let demand = Demand::of(&falling).unwrap();
        assert_eq!((demand.seconds.low, demand.seconds.estimate), (0.0, 0.0));
        assert!(demand.seconds.high >= 0.0, "{demand:?}");
        assert!((demand.background - 0.49).abs() < 0.02, "{demand:?}");
        assert_eq!(demand.capacity(1.0), None);
        // So uneven that the interval of the mean alone would reach below zero.
        let vague = [(100.0, 0.9), (200.0, 0.0), (400.0, 0.1), (800.0, 0.0)];
        let demand = Demand::of(&vague).unwrap();
        assert_eq!(demand.seconds.low, 0.0);
        assert!(demand.seconds.estimate > 0.0, "{demand:?}");
    }

    #[test]
    fn the_bend_of_a_known_system_is_its_capacity() {
        let points = network().up_to(32);
        let curve: Vec<(f64, f64)> = LADDER
            .iter()
            .map(|&users| {
                let x = f64::from(u32::try_from(users).unwrap());
                (x, points[users - 1].throughput)
            })
            .collect();
        let segments = Segments::through(&curve).unwrap();
        assert!(
            (segments.level.estimate / 500.0 - 1.0).abs() < 0.02,
            "{segments:?}"
        );
        assert!((segments.bend() / 5.0 - 1.0).abs() < 0.1, "{segments:?}");
        assert_eq!(Segments::through(&curve[..4]), None, "not saturated");
    }

    #[test]
    fn nothing_is_said_of_too_little() {
        assert_eq!(Demand::of(&[(1.0, 0.1), (2.0, 0.2)]), None);
        assert_eq!(
            Demand::of(&[(5.0, 0.1), (5.0, 0.2), (5.0, 0.3), (0.0, 0.1)]),
            None
        );
        assert_eq!(
            Segments::through(&[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]),
            None
        );
        let vague = Demand::of(&[(1.0, 0.5), (2.0, 0.1), (4.0, 0.9), (9.0, 0.2)]).unwrap();
        assert_eq!(vague.capacity(1.0), None);
    }
}
