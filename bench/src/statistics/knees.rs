//! Capacity and knee of closed systems whose figures are known exactly, measured with noise.

use turnstile_seed::Random;
use turnstile_stats::{
    Interval,
    capacity::{Demand, Segments},
    chance::normal,
    knee, sample,
    truth::{Network, Operating, QueueingStation},
    units::count,
};

use super::percent;
use crate::section::{MeasuredRow, SubjectMetric};

/// Of every measured figure, as a share of it.
const NOISE: f64 = 0.02;
/// Standard errors of an interval of 95 % when the error is known.
const REACH: f64 = 1.96;
/// Servers of the station that limits.
const SERVERS: [usize; 4] = [1, 2, 4, 16];
/// How far beyond the knee the users go.
const SWEEPS: [f64; 2] = [4.0, 16.0];
/// Steps from one user to the last.
const POINTS: u32 = 12;

/// The figure that is judged.
pub(super) const P95: &str = "p95 of the error";

/// One measurement of a system at some number of users.
struct NoisyPoint {
    users: f64,
    throughput: f64,
    /// Busy servers of the station that limits.
    busy: f64,
}

/// What each estimator made of all systems, in percent.
pub(super) fn rows(random: &mut Random, repeats: u32) -> Vec<MeasuredRow> {
    let (mut demands, mut bends, mut knees) =
        (Errors::default(), Errors::default(), Errors::default());
    for (network, servers) in networks() {
        for sweep in SWEEPS {
            let known = ladder(&network, sweep);
            for _ in 0..repeats {
                let draw = &mut || random.draw();
                let curve = measured(&known, &network, draw);
                let points: Vec<(f64, f64)> =
                    curve.iter().map(|one| (one.throughput, one.busy)).collect();
                let capacity =
                    Demand::of(&points).and_then(|demand| demand.capacity(count(servers)));
                demands.add(capacity, network.capacity());
                let points: Vec<(f64, f64)> = curve
                    .iter()
                    .map(|one| (one.users, one.throughput))
                    .collect();
                let level = Segments::through(&points).map(|segments| segments.level);
                bends.add(level, network.capacity());
                let round = (known[0].response + network.think) * (1.0 + NOISE * normal(draw));
                let lone = Interval::about(round, REACH * NOISE * round);
                knees.add(
                    capacity.map(|capacity| knee(&capacity, &lone)),
                    network.knee(),
                );
            }
        }
    }
    vec![
        demands.row("capacity by service demand"),
        bends.row("capacity by two segments"),
        knees.row("knee by capacity and a lone user"),
    ]
}

/// Twelve systems: each number of servers alone with a delay, before a second station that is less
/// busy, and with users who think.
fn networks() -> impl Iterator<Item = (Network, usize)> {
    SERVERS.into_iter().flat_map(|servers| {
        let share = f64::from(u32::try_from(servers).expect("a small number"));
        let limit = QueueingStation {
            demand: 0.001 * share,
            servers,
        };
        let second = QueueingStation {
            demand: 0.0006,
            servers: 1,
        };
        let kinds = [
            (vec![limit], 0.0005),
            (vec![limit, second], 0.0005),
            (vec![limit], 0.02),
        ];
        kinds.map(|(stations, think)| (Network { stations, think }, servers))
    })
}

/// The exact figures at one user and at steps of equal factors up to `sweep` knees.
fn ladder(network: &Network, sweep: f64) -> Vec<Operating> {
    let last = sweep * network.knee();
    let steps = (0..POINTS).map(|step| last.powf(f64::from(step) / f64::from(POINTS - 1)));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from one to a thousand users"
    )]
    let mut users: Vec<usize> = steps.map(|users| users.round() as usize).collect();
    users.dedup();
    let most = *users.last().expect("at least one user");
    let all = network.up_to(most);
    users.into_iter().map(|users| all[users - 1]).collect()
}

fn measured(
    known: &[Operating],
    network: &Network,
    draw: &mut impl FnMut() -> u64,
) -> Vec<NoisyPoint> {
    let demand = network.stations[0].demand;
    let mut noisy = |exact: f64| exact * (1.0 + NOISE * normal(draw));
    let each = known.iter().map(|one| NoisyPoint {
        users: f64::from(u32::try_from(one.users).expect("at most a thousand users")),
        throughput: noisy(one.throughput),
        busy: noisy(one.throughput * demand),
    });
    each.collect()
}

/// The errors of one estimator.
#[derive(Default)]
struct Errors {
    /// Shares of the truth.
    errors: Vec<f64>,
    held: u32,
    missing: u32,
}

impl Errors {
    fn add(&mut self, found: Option<Interval>, truth: f64) {
        let Some(found) = found else {
            self.missing += 1;
            return;
        };
        self.errors.push(found.estimate / truth - 1.0);
        self.held += u32::from(found.contains(truth));
    }

    fn row(&self, estimator: &str) -> MeasuredRow {
        let sizes: Vec<f64> = self.errors.iter().map(|error| error.abs()).collect();
        let found = u32::try_from(sizes.len()).expect("a few thousand");
        let quantile = |errors: &[f64], at| 100.0 * sample::quantile(errors, at);
        let figures = vec![
            SubjectMetric::one("median error", quantile(&self.errors, 0.5)),
            SubjectMetric::one(P95, quantile(&sizes, 0.95)),
            SubjectMetric::one("worst", quantile(&sizes, 1.0)),
            SubjectMetric::one("truth in the interval", percent(self.held, found)),
            SubjectMetric::one("no estimate", percent(self.missing, found + self.missing)),
        ];
        MeasuredRow::new(estimator, figures)
    }
}
