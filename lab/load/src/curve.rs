//! What the points of a curve say together: capacity, knee, demands, and what other rules would say.

use turnstile_result::{Curve, OfferedLoad, OtherRules, Point, ResourceDemand, Usl, Verdict};
use turnstile_stats::{
    Interval,
    capacity::{self, Segments},
    knee, kneedle, share_of_most, usl,
};

use crate::seed::Dice;

/// The share of the highest throughput that one of the other rules asks for.
const SHARE_OF_MOST: f64 = 0.95;

/// What the server of a curve may use; nothing is said of what it may use all of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoreQuota {
    /// So many processors of its own.
    pub cores: Option<usize>,
    /// So much time of processors, in processors.
    pub quota: Option<f64>,
}

impl CoreQuota {
    /// The processors as `run.json` counts them.
    ///
    /// # Panics
    /// When there are more than 2^32 of them.
    #[must_use]
    pub fn processors(&self) -> Option<u32> {
        self.cores.map(narrow)
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("points and processors are few")
}

/// Of the points at these places. Points that may not be used have no part in it.
///
/// # Panics
/// When a place is not among the points.
#[must_use]
pub fn of(points: &[Point], places: &[usize], allowed: CoreQuota, why: &str, seed: u64) -> Curve {
    let mut places = places.to_vec();
    places.sort_by(|&one, &other| {
        let [first, second] = [one, other].map(|place| load(&points[place]));
        first.total_cmp(&second).then(one.cmp(&other))
    });
    let usable: Vec<&Point> = places
        .iter()
        .map(|&place| &points[place])
        .filter(|point| is_usable(point))
        .collect();
    let curve = mean_curve(&usable);
    let level = Segments::through(&curve);
    let lone = lone(&usable);
    let capacity = level.map(|segments| segments.level);
    // Of rates, who asks does not wait: there is no number of users to look for.
    let of_users = usable.iter().all(|point| !is_open(point));
    let other_rules = OtherRules {
        two_segments: level.map(|segments| segments.bend()),
        kneedle: kneedle(&curve),
        share_of_most: share_of_most(&curve, SHARE_OF_MOST),
    };
    Curve {
        cores: allowed.processors(),
        quota: allowed.quota,
        points: places.iter().map(|&place| narrow(place)).collect(),
        stopped: why.to_owned(),
        capacity,
        knee: capacity
            .zip(lone)
            .filter(|(capacity, lone)| capacity.low > 0.0 && lone.low > 0.0)
            .map(|(capacity, lone)| knee(&capacity, &lone.map(|nanos| nanos / 1e9))),
        lone_ns: lone,
        demands: demands(&usable),
        other_rules: if of_users {
            other_rules
        } else {
            OtherRules::default()
        },
        usl: of_users.then(|| fit(&curve, seed)).flatten(),
    }
}

/// Whether a point may enter a fit. A rate that the server could not keep up with is what shows its
/// capacity.
fn is_usable(point: &Point) -> bool {
    point.verdict < Verdict::Invalid || point.is_behind()
}

const fn is_open(point: &Point) -> bool {
    matches!(point.load, OfferedLoad::Open { .. })
}

/// The scalability law over the processors of the server.
#[must_use]
pub fn scaling(curves: &[Curve], seed: u64) -> Option<Usl> {
    let points: Vec<(f64, f64)> = curves
        .iter()
        .filter(|curve| curve.quota.is_none())
        .filter_map(|curve| Some((f64::from(curve.cores?), curve.capacity?.estimate)))
        .collect();
    fit(&points, seed)
}

fn fit(points: &[(f64, f64)], seed: u64) -> Option<Usl> {
    let mut dice = Dice::of_user(seed, 0);
    let fit = usl::Fit::of(points, &mut || dice.next())?;
    Some(Usl {
        rate: fit.rate,
        sigma: fit.sigma,
        kappa: fit.kappa,
        peak: fit.peak(),
    })
}

/// Where a point is along its axis: users, or a rate.
fn load(point: &Point) -> f64 {
    match point.load {
        OfferedLoad::Closed { users, .. } | OfferedLoad::Count { users, .. } => f64::from(users),
        OfferedLoad::Open { rate, .. } => rate,
    }
}

/// Each load and the mean throughput of all points that have it.
fn mean_curve(points: &[&Point]) -> Vec<(f64, f64)> {
    let mut curve: Vec<(f64, f64, f64)> = Vec::new();
    for point in points {
        let users = load(point);
        match curve.last_mut() {
            Some((last, sum, count)) if (*last - users).abs() < 0.5 => {
                *sum += point.throughput;
                *count += 1.0;
            }
            _ => curve.push((users, point.throughput, 1.0)),
        }
    }
    let means = curve
        .into_iter()
        .map(|(users, sum, count)| (users, sum / count));
    means.filter(|(_, rate)| *rate > 0.0).collect()
}

/// The round of a lone user, with its think time, in nanoseconds.
fn lone(points: &[&Point]) -> Option<Interval> {
    let lone: Vec<&Point> = points
        .iter()
        .copied()
        .filter(|point| {
            matches!(
                point.load,
                OfferedLoad::Closed {
                    users: 1,
                    pipeline: 1,
                    ..
                }
            )
        })
        .collect();
    let round = |point: &Point| 1e9 / point.throughput;
    let rounds: Vec<f64> = lone.iter().map(|point| round(point)).collect();
    Interval::of_mean(&rounds).or_else(|| {
        let point = lone.first()?;
        let known = point.throughput_interval?;
        (known.low > 0.0).then(|| Interval {
            low: 1e9 / known.high,
            estimate: round(point),
            high: 1e9 / known.low,
        })
    })
}

/// What a request asks of all that may be full, the fullest first.
fn demands(points: &[&Point]) -> Vec<ResourceDemand> {
    let mut names: Vec<&str> = Vec::new();
    for station in points.iter().flat_map(|point| &point.resources.stations) {
        if !names.contains(&station.resource.as_str()) {
            names.push(&station.resource);
        }
    }
    let mut demands: Vec<ResourceDemand> = names
        .into_iter()
        .filter_map(|name| {
            let mut servers = 1.0;
            let each: Vec<(f64, f64)> = points
                .iter()
                .filter_map(|point| {
                    let mut stations = point.resources.stations.iter();
                    let station = stations.find(|one| one.resource == name)?;
                    servers = station.servers;
                    Some((point.throughput, station.busy))
                })
                .collect();
            let demand = capacity::Demand::of(&each)?;
            Some(ResourceDemand {
                resource: name.to_owned(),
                busy_ns: demand.seconds.map(|seconds| seconds * 1e9),
                servers,
                capacity: demand.capacity(servers),
            })
        })
        .collect();
    let share = |demand: &ResourceDemand| demand.busy_ns.estimate / demand.servers;
    demands.sort_by(|one, other| share(other).total_cmp(&share(one)));
    demands
}

#[cfg(test)]
mod tests {
    use turnstile_result::{Arrivals, Outcome, Validity};
    use turnstile_stats::truth::{Network, QueueingStation};

    use super::*;

    /// The exact points of a server with one processor and 1 ms of work, of which half is CPU time.
    fn points() -> Vec<Point> {
        let stations = vec![QueueingStation {
            demand: 0.001,
            servers: 1,
        }];
        let network = Network {
            stations,
            think: 0.004,
        };
        let exact = network.up_to(64);
        let point = |users: u32| {
            let throughput = exact[usize::try_from(users).unwrap() - 1].throughput;
            let mut point = Point::blank("rooms");
            point.load = OfferedLoad::Closed {
                users,
                pipeline: 1,
                think_ns: Some(4e6),
            };
            point.throughput = throughput;
            point.throughput_interval = Some(Interval::about(throughput, throughput * 0.01));
            point.resources.stations.push(turnstile_result::Station {
                resource: "server cpu".to_owned(),
                servers: 1.0,
                busy: throughput * 0.000_5,
                bins: Vec::new(),
            });
            point
        };
        [1, 2, 4, 8, 16, 32, 64].map(point).to_vec()
    }

    #[test]
    fn a_known_system_is_recognised() {
        let points = points();
        // In whatever order they were measured.
        let curve = of(
            &points,
            &[3, 0, 6, 1, 5, 2, 4],
            CoreQuota::default(),
            "full",
            1,
        );
        assert_eq!(curve.points, [0, 1, 2, 3, 4, 5, 6]);
        let capacity = curve.capacity.unwrap();
        assert!(
            (capacity.estimate / 1_000.0 - 1.0).abs() < 0.02,
            "{capacity}"
        );
        let knee = curve.knee.unwrap();
        assert!((knee.estimate / 5.0 - 1.0).abs() < 0.03, "{knee}");
        let lone = curve.lone_ns.unwrap();
        assert!((lone.estimate - 5e6).abs() < 1.0, "{lone}");
        let [demand] = &curve.demands[..] else {
            panic!("{curve:?}");
        };
        assert_eq!((&*demand.resource, demand.servers), ("server cpu", 1.0));
        assert!(
            (demand.busy_ns.estimate - 500_000.0).abs() < 1.0,
            "{demand:?}"
        );
        assert!(curve.usl.is_some());
        assert!(curve.other_rules.share_of_most.is_some());
    }

    #[test]
    fn points_that_may_not_be_used_have_no_part_in_it() {
        let mut points = points();
        for point in &mut points {
            point.verdict = Verdict::Invalid;
        }
        let curve = of(
            &points,
            &[0, 1, 2, 3, 4, 5, 6],
            CoreQuota::default(),
            "full",
            1,
        );
        assert_eq!(
            (curve.capacity, curve.knee, curve.lone_ns),
            (None, None, None)
        );
        assert_eq!((curve.demands.len(), curve.points.len()), (0, 7));
    }

    #[test]
    fn rates_that_a_server_cannot_keep_up_with_show_its_capacity() {
        let at = |rate: f64, check: &str| {
            let mut point = Point::blank("rooms");
            point.load = OfferedLoad::Open {
                rate,
                arrivals: Arrivals::Poisson,
                connections: 8,
                deadline_ns: None,
            };
            point.throughput = rate.min(1_000.0);
            if rate > 1_000.0 {
                point.verdict = Verdict::Invalid;
                point.validity.push(Validity {
                    check: check.to_owned(),
                    outcome: Outcome::Fails,
                    found: String::new(),
                    cure: None,
                });
            }
            point
        };
        let rates = [250.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 8_000.0];
        let curve = |check: &str| {
            let points = rates.map(|rate| at(rate, check));
            of(
                &points,
                &[0, 1, 2, 3, 4, 5],
                CoreQuota::default(),
                "full",
                1,
            )
        };
        let found = curve("delivered");
        let capacity = found.capacity.unwrap();
        assert!(
            (capacity.estimate / 1_000.0 - 1.0).abs() < 0.01,
            "{capacity}"
        );
        assert_eq!((found.knee, found.usl), (None, None));
        assert_eq!(curve("run_delay").capacity, None);
    }

    #[test]
    fn processors_scale_by_the_law() {
        let of_cores = |cores: u32| Curve {
            cores: Some(cores),
            quota: None,
            points: Vec::new(),
            stopped: String::new(),
            capacity: Some(Interval::about(1_000.0 * f64::from(cores), 1.0)),
            lone_ns: None,
            knee: None,
            demands: Vec::new(),
            other_rules: OtherRules::default(),
            usl: None,
        };
        let curves = [1, 2, 4, 8].map(of_cores);
        let law = scaling(&curves, 1).unwrap();
        assert!((law.rate.estimate - 1_000.0).abs() < 1e-6, "{law:?}");
        assert!(law.sigma.estimate.abs() < 1e-9, "{law:?}");
        assert_eq!(scaling(&curves[..3], 1), None);
    }
}
