//! Which of several resources holds a system back, and how sure that is.

use crate::{capacity::Demand, chance::below, interval::Interval, units::count};

/// A resource is full when this share of it is busy. Beyond it, what queues for it takes four times as
/// long as the work itself, if arrivals are random (M/M/1).
pub const FULL: f64 = 0.8;

/// How often the pieces are drawn anew.
const RESAMPLES: usize = 1_000;

/// A piece of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Requests a second.
    pub throughput: f64,
    /// Busy servers of each resource, in the order in which they are asked about.
    pub busy: Vec<f64>,
}

/// Runs at increasing loads, in pieces; the last is the one in question.
#[derive(Clone, Debug, PartialEq)]
pub struct RunPieces {
    /// How many of each resource can be busy at once.
    servers: Vec<f64>,
    runs: Vec<Vec<Piece>>,
}

/// What the last run says, or would have said.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    /// The share of each resource that is busy.
    pub used: Vec<f64>,
    /// Requests a second of each run.
    pub throughput: Vec<f64>,
}

/// A resource in the last run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Use {
    /// What a request asks of it; nothing when no run has two pieces.
    pub demand: Option<Demand>,
    /// The share of it that is busy.
    pub used: Interval,
}

impl RunPieces {
    /// Nothing when there is no run, or one has no piece, or a piece lacks a resource.
    #[must_use]
    pub fn new(servers: Vec<f64>, runs: Vec<Vec<Piece>>) -> Option<Self> {
        let whole = |piece: &Piece| piece.busy.len() == servers.len();
        let sound = !runs.is_empty()
            && runs
                .iter()
                .all(|run| !run.is_empty() && run.iter().all(whole));
        sound.then_some(Self { servers, runs })
    }

    /// What was measured.
    #[must_use]
    pub fn measured(&self) -> Draw {
        self.draw(|run, place| &run[place])
    }

    /// What might have been: in each run as many pieces, drawn from its own with replacement. `dice`
    /// gives equally likely numbers of 64 bits.
    ///
    /// B. Efron, "Bootstrap methods: another look at the jackknife", 1979.
    pub fn resampled(&self, dice: &mut impl FnMut() -> u64) -> Vec<Draw> {
        let one = |_| self.draw(|run, _place| &run[below(dice, run.len())]);
        (0..RESAMPLES).map(one).collect()
    }

    fn draw<'a>(&'a self, mut chosen: impl FnMut(&'a [Piece], usize) -> &'a Piece) -> Draw {
        let mut used = vec![0.0; self.servers.len()];
        let mut throughput = Vec::with_capacity(self.runs.len());
        for (number, run) in self.runs.iter().enumerate() {
            let share = 1.0 / count(run.len());
            let mut all = 0.0;
            for place in 0..run.len() {
                let piece = chosen(run, place);
                all += piece.throughput * share;
                if number + 1 == self.runs.len() {
                    for (used, (busy, servers)) in
                        used.iter_mut().zip(piece.busy.iter().zip(&self.servers))
                    {
                        *used += busy / servers * share;
                    }
                }
            }
            throughput.push(all);
        }
        Draw { used, throughput }
    }

    /// Each resource in the last run, with intervals from what might have been.
    #[must_use]
    pub fn uses(&self, drawn: &[Draw]) -> Vec<Use> {
        let measured = self.measured();
        let each = measured.used.iter().enumerate().map(|(resource, &used)| {
            let others: Vec<f64> = drawn.iter().map(|draw| draw.used[resource]).collect();
            Use {
                demand: self.demand(resource),
                used: Interval::of_resamples(used, &others),
            }
        });
        each.collect()
    }

    /// What a request asks of a resource: the line through all pieces of all runs.
    fn demand(&self, resource: usize) -> Option<Demand> {
        let pieces = self.runs.iter().flatten();
        let points: Vec<(f64, f64)> = pieces
            .map(|piece| (piece.throughput, piece.busy[resource]))
            .collect();
        Demand::of(&points)
    }
}

impl Draw {
    /// The fullest of these resources, if it is full.
    #[must_use]
    pub fn full(&self, among: impl IntoIterator<Item = usize>) -> Option<usize> {
        let full = among.into_iter().filter(|&one| self.used[one] >= FULL);
        full.max_by(|&one, &other| self.used[one].total_cmp(&self.used[other]))
    }

    /// How throughput grew from the run before the last: d ln throughput / d ln load. Near 1 nothing
    /// is full, near 0 something is. Nothing for fewer than two runs, or without requests.
    #[must_use]
    pub fn growth(&self, loads: &[f64]) -> Option<f64> {
        let last = self.throughput.len().checked_sub(1)?;
        let before = last.checked_sub(1)?;
        let ratio = |of: &[f64]| (of[last] / of[before]).ln();
        let growth = ratio(&self.throughput) / ratio(loads);
        growth.is_finite().then_some(growth)
    }
}

/// What a resource brings: d ln throughput / d ln resource, from pairs (without the change, with it) of
/// runs in which there was `factor` times as much of it. Nothing for fewer than two pairs.
///
/// # Panics
/// When the factor is not above 0, or is 1.
#[must_use]
pub fn elasticity(pairs: &[(f64, f64)], factor: f64) -> Option<Interval> {
    let scale = factor.ln();
    assert!(scale.is_finite() && scale != 0.0, "{factor} times as much");
    let each: Vec<f64> = pairs
        .iter()
        .map(|(without, with)| (with / without).ln() / scale)
        .collect();
    Interval::of_mean(&each)
}

/// How many times as much a system does with a change, from such pairs: the geometric mean. Nothing for
/// fewer than two pairs.
#[must_use]
pub fn ratio(pairs: &[(f64, f64)]) -> Option<Interval> {
    let each: Vec<f64> = pairs
        .iter()
        .map(|(without, with)| (with / without).ln())
        .collect();
    Some(Interval::of_mean(&each)?.map(f64::exp))
}

/// Pieces of a run of a known system, for tests: throughput and busy servers about their means.
#[cfg(test)]
fn simulated(
    means: (f64, &[f64]),
    pieces: usize,
    noise: f64,
    draw: &mut impl FnMut() -> f64,
) -> Vec<Piece> {
    let mut one = |mean: f64| mean * (1.0 + noise * draw());
    let pieces = (0..pieces).map(|_| Piece {
        throughput: one(means.0),
        busy: means.1.iter().map(|&busy| one(busy)).collect(),
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use turnstile_seed::Random;

    use super::*;
    use crate::{
        chance::normal,
        truth::{Network, QueueingStation},
    };

    /// Runs of a network at these users; background of the first station included.
    fn runs(network: &Network, users: &[usize], random: &mut Random) -> RunPieces {
        let known = network.up_to(*users.last().unwrap());
        let runs = users.iter().map(|&users| {
            let throughput = known[users - 1].throughput;
            let busy: Vec<f64> = network
                .stations
                .iter()
                .map(|station| throughput * station.demand)
                .collect();
            simulated((throughput, &busy), 8, 0.03, &mut || {
                normal(&mut || random.draw())
            })
        });
        let runs = runs.collect();
        let servers = network
            .stations
            .iter()
            .map(|station| count(station.servers));
        RunPieces::new(servers.collect(), runs).unwrap()
    }

    fn station(demand: f64, servers: usize) -> QueueingStation {
        QueueingStation { demand, servers }
    }

    #[test]
    fn the_full_station_of_a_known_network_is_named_and_its_demand_told() {
        let mut random = Random::new(7);
        let stations = vec![station(0.004, 4), station(0.003, 1), station(0.001, 1)];
        let network = Network {
            stations,
            think: 0.01,
        };
        let pieces = runs(&network, &[1, 8, 16, 32], &mut random);
        let drawn = pieces.resampled(&mut || random.draw());
        let named = drawn.iter().filter(|draw| draw.full(0..3) == Some(1));
        assert_eq!(named.count(), drawn.len());
        let found = &pieces.uses(&drawn)[1];
        let demand = found.demand.unwrap();
        // Throughput is known with noise, too, which no regression of busy time on it accounts for.
        let off = demand.seconds.estimate / 0.003 - 1.0;
        assert!(off.abs() < 0.05, "{demand:?}");
        assert!(found.used.contains(1.0), "{found:?}");
        let growth = pieces.measured().growth(&[1.0, 8.0, 16.0, 32.0]).unwrap();
        assert!(growth.abs() < 0.1, "{growth}");
    }

    #[test]
    fn nothing_is_full_where_users_only_wait() {
        let mut random = Random::new(8);
        let network = Network {
            stations: vec![station(0.000_1, 1)],
            think: 0.05,
        };
        let pieces = runs(&network, &[4, 8], &mut random);
        let drawn = pieces.resampled(&mut || random.draw());
        assert!(drawn.iter().all(|draw| draw.full(0..1).is_none()));
        let growth = pieces.measured().growth(&[4.0, 8.0]).unwrap();
        assert!(growth > 0.9, "{growth}");
    }

    #[test]
    fn what_a_resource_brings_is_told_with_its_interval() {
        // Four fifths of the quota, and four fifths of the throughput.
        let pairs = [(1_000.0, 800.0), (990.0, 800.0), (1_010.0, 802.0)];
        let brings = elasticity(&pairs, 0.8).unwrap();
        assert!(brings.contains(1.0) && brings.low > 0.85, "{brings}");
        let nothing = elasticity(&[(500.0, 501.0), (500.0, 498.0)], 2.0).unwrap();
        assert!(nothing.contains(0.0), "{nothing}");
        let twice = ratio(&[(10.0, 20.0), (20.0, 40.0)]).unwrap();
        assert!((twice.estimate - 2.0).abs() < 1e-9, "{twice}");
        assert_eq!((elasticity(&pairs[..1], 2.0), ratio(&[])), (None, None));
    }

    #[test]
    fn nothing_is_said_of_runs_without_pieces() {
        let piece = |busy: &[f64]| Piece {
            throughput: 1.0,
            busy: busy.to_vec(),
        };
        assert_eq!(RunPieces::new(vec![1.0], Vec::new()), None);
        assert_eq!(RunPieces::new(vec![1.0], vec![Vec::new()]), None);
        assert_eq!(RunPieces::new(vec![1.0], vec![vec![piece(&[])]]), None);
        let alone = RunPieces::new(vec![1.0], vec![vec![piece(&[0.9])]]).unwrap();
        assert_eq!(alone.measured().growth(&[1.0]), None);
        assert_eq!(alone.measured().full(0..1), Some(0));
    }
}
