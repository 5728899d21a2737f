//! What a run of the travel workload gave, for people: beside what was published.

use std::fmt;

use turnstile_published::{MeanTimes, saturation};
use turnstile_result::{Point, Server};
use turnstile_stats::units::{Count, PerSecond, to_float};

use super::{Config, Contention, Experiment, Managers, Processes, Proof, Step};
use crate::{Verdict, pace::Length, point};

/// How far the sum of the parts and the whole may lie apart, as a share.
const TOLERANCE: f64 = 0.02;

/// The whole result of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// None where no RESP door is named, which tells it.
    pub server: Option<Server>,
    pub config: Config,
    pub proof: Proof,
    /// All figures, one point for each [step](Config::steps).
    pub points: Vec<Point>,
}

impl Report {
    /// What the proof is worth.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        Verdict::of_rules(&[self.proof.rule()])
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_setting(f)?;
        for (step, point) in self.config.steps().iter().zip(&self.points) {
            match step {
                Step::Requests { managers, .. } => {
                    write_beside(f, *managers, point)?;
                    point::write(f, "requests", None, point)?;
                }
                Step::Rate { clients, rate, .. } => {
                    point::write_wholes(f, &format!("{clients} clients at {rate}: "), point)?;
                }
            }
        }
        if let Experiment::Rates { .. } = self.config.experiment {
            let carried = self.points.iter().map(|point| point.throughput);
            let most = carried.fold(0.0, f64::max);
            let (shown, times) = (PerSecond(most), most / saturation());
            writeln!(
                f,
                "carried at most {shown}/s, {times:.1} x the original's saturation"
            )?;
        }
        write!(f, "{}", self.proof)
    }
}

impl Report {
    /// What was driven, and how hard.
    fn write_setting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = &self.config;
        match &config.experiment {
            Experiment::Requests { transactions, .. } => write!(
                f,
                "travel by lines, one client, {} transactions, the first fifth not measured",
                Count(*transactions)
            )?,
            Experiment::Rates {
                managers,
                contention,
                manner,
                ..
            } => {
                write!(f, "travel by lines, {managers}, ")?;
                match manner.length {
                    Length::Fixed { warm_up, duration } => {
                        write!(f, "{duration:?} after {warm_up:?} each, ")?;
                    }
                    Length::Precise { relative, .. } => {
                        write!(f, "each until known within {:.1} %, ", relative * 100.0)?;
                    }
                }
                match contention {
                    Contention::Apart => f.write_str("clients keep apart")?,
                    Contention::Zipf(theta) => write!(f, "journeys by Zipf {theta}")?,
                }
            }
        }
        writeln!(f, ", {} threads, seed {}", config.threads, config.seed)?;
        if let Some(server) = &self.server {
            let (version, durability) = (&server.version, &server.durability);
            let address = &config.address;
            write!(f, "server {version} at {address}, durability {durability}")?;
            writeln!(
                f,
                "{}",
                match config.processes {
                    Some(Processes::One) => ", middleware and managers in one process",
                    Some(Processes::Separate) =>
                        ", middleware and managers in processes of their own",
                    None => "",
                }
            )?;
        }
        Ok(())
    }
}

/// The mean of each kind of request beside the published one, and whether the parts add up to the whole.
fn write_beside(f: &mut fmt::Formatter<'_>, managers: Managers, point: &Point) -> fmt::Result {
    writeln!(f, "\n{managers:<16}  mean ms  published  published / ours")?;
    let means = means(point);
    let published = MeanTimes::of(managers).figures();
    for (name, (ours, theirs)) in MeanTimes::NAMES
        .into_iter()
        .zip(means.figures().into_iter().zip(published))
    {
        let ratio = if ours > 0.0 { theirs / ours } else { 0.0 };
        writeln!(f, "  {name:<14} {ours:>8.4}  {theirs:>9.4}  {ratio:>16.1}")?;
    }
    let composition = means.composed() / means.transaction;
    let adds_up = (composition - 1.0).abs() <= TOLERANCE;
    writeln!(
        f,
        "  start + 4 query + 3 reserve + commit = {composition:.3} x the transaction: {}\n",
        if adds_up { "holds" } else { "FAILS" }
    )
}

/// Means in milliseconds, as they were published.
fn means(point: &Point) -> MeanTimes {
    let mean = |names: &[&str]| {
        let operations = point.operations.iter();
        let named = operations.filter(|one| names.contains(&&*one.name));
        let (whole, count) = named.fold((0.0, 0), |(whole, count), one| {
            let times = &one.response;
            (
                whole + times.mean_ns * to_float(times.count),
                count + times.count,
            )
        });
        whole / to_float(count.max(1)) / 1e6
    };
    let transaction = point.wholes.first();
    MeanTimes {
        start: mean(&["start"]),
        query: mean(&["query_customer", "query_flight", "query_car", "query_room"]),
        reserve: mean(&["reserve_flight", "reserve_car", "reserve_room"]),
        commit: mean(&["commit"]),
        transaction: transaction.map_or(0.0, |whole| whole.response.mean_ns / 1e6),
    }
}
