//! What the points of a curve say together: capacity, knee, demands, and what other rules would say.

use turnstile_result::{Curve, Demand, Load, OtherRules, Point, Usl, Verdict};
use turnstile_stats::{
    Interval,
    capacity::{self, Segments},
    knee, kneedle, share_of_most,
    units::to_float,
    usl,
};

use crate::seed::Dice;

/// The share of the highest throughput that one of the other rules asks for.
const SHARE_OF_MOST: f64 = 0.95;

/// Of the points at these places. Points that may not be used have no part in it.
///
/// # Panics
/// When a place is not among the points.
#[must_use]
pub fn of(points: &[Point], places: &[usize], cores: Option<usize>, why: &str, seed: u64) -> Curve {
    let mut places = places.to_vec();
    places.sort_by_key(|&place| (users(&points[place]), place));
    let usable: Vec<&Point> = places
        .iter()
        .map(|&place| &points[place])
        .filter(|point| point.verdict < Verdict::Invalid)
        .collect();
    let curve = mean_curve(&usable);
    let level = Segments::through(&curve);
    let lone = lone(&usable);
    let capacity = level.map(|segments| segments.level);
    let processors = cores
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    let narrow = |number: usize| u32::try_from(number).expect("points and processors are few");
    Curve {
        cores: cores.map(narrow),
        points: places.iter().map(|&place| narrow(place)).collect(),
        stopped: why.to_owned(),
        capacity,
        knee: capacity
            .zip(lone)
            .filter(|(capacity, lone)| capacity.low > 0.0 && lone.low > 0.0)
            .map(|(capacity, lone)| knee(&capacity, &lone.map(|nanos| nanos / 1e9))),
        lone_ns: lone,
        demands: demands(&usable, narrow(processors)),
        other_rules: OtherRules {
            two_segments: level.map(|segments| segments.bend()),
            kneedle: kneedle(&curve),
            share_of_most: share_of_most(&curve, SHARE_OF_MOST),
        },
        usl: fit(&curve, seed),
    }
}

/// The scalability law over the processors of the server.
#[must_use]
pub fn scaling(curves: &[Curve], seed: u64) -> Option<Usl> {
    let points: Vec<(f64, f64)> = curves
        .iter()
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

const fn users(point: &Point) -> u32 {
    match point.load {
        Load::Closed { users, .. } | Load::Count { users, .. } => users,
        Load::Open { connections, .. } => connections,
    }
}

/// Users and the mean throughput of all points that have so many.
fn mean_curve(points: &[&Point]) -> Vec<(f64, f64)> {
    let mut curve: Vec<(f64, f64, f64)> = Vec::new();
    for point in points {
        let users = f64::from(users(point));
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
                Load::Closed {
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

fn demands(points: &[&Point], processors: u32) -> Vec<Demand> {
    let mut demands: Vec<Demand> = ["server", "database", "generator"]
        .into_iter()
        .filter_map(|role| {
            let servers = if role == "generator" { 1 } else { processors };
            let each: Vec<(f64, f64)> = points
                .iter()
                .filter_map(|point| {
                    let process = point
                        .resources
                        .processes
                        .iter()
                        .find(|one| one.role == role)?;
                    Some((point.throughput, process.user + process.system))
                })
                .collect();
            let demand = capacity::Demand::of(&each)?;
            Some(Demand {
                resource: format!("{role} cpu"),
                busy_ns: demand.seconds.map(|seconds| seconds * 1e9),
                servers,
                capacity: demand.capacity(usize::try_from(servers).ok()?),
            })
        })
        .collect();
    let share = |demand: &Demand| demand.busy_ns.estimate / to_float(u64::from(demand.servers));
    demands.sort_by(|one, other| share(other).total_cmp(&share(one)));
    demands
}

#[cfg(test)]
mod tests {
    use turnstile_result::Process;
    use turnstile_stats::truth::{Network, Station};

    use super::*;

    /// The exact points of a server with one processor and 1 ms of work, of which half is CPU time.
    fn points() -> Vec<Point> {
        let stations = vec![Station {
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
            point.load = Load::Closed {
                users,
                pipeline: 1,
                think_ns: Some(4e6),
            };
            point.throughput = throughput;
            point.throughput_interval = Some(Interval::about(throughput, throughput * 0.01));
            point.resources.processes.push(Process {
                role: "server".to_owned(),
                pid: 1,
                threads: 1,
                user: throughput * 0.000_5,
                system: 0.0,
                run_delay: None,
                memory_bytes: 0,
                disk_written: None,
                disk_read: None,
                busy: Vec::new(),
                cpu_per_answer_ns: 0.0,
            });
            point
        };
        [1, 2, 4, 8, 16, 32, 64].map(point).to_vec()
    }

    #[test]
    fn a_known_system_is_recognised() {
        let points = points();
        // In whatever order they were measured.
        let curve = of(&points, &[3, 0, 6, 1, 5, 2, 4], Some(1), "full", 1);
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
        assert_eq!((&*demand.resource, demand.servers), ("server cpu", 1));
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
        let curve = of(&points, &[0, 1, 2, 3, 4, 5, 6], None, "full", 1);
        assert_eq!(
            (curve.capacity, curve.knee, curve.lone_ns),
            (None, None, None)
        );
        assert_eq!((curve.demands.len(), curve.points.len()), (0, 7));
    }

    #[test]
    fn processors_scale_by_the_law() {
        let of_cores = |cores: u32| Curve {
            cores: Some(cores),
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
