//! Whether the intervals and verdicts of the lab keep what they promise, on systems of known truth.
//!
//! Everything follows from the seed; no clock is read.

mod alarms;
mod intervals;
mod knees;
mod report;

use anyhow::Result;
use clap::Args;
use turnstile_seed::Random;

use crate::arguments::Extent;

pub(crate) use report::Report;

#[derive(Args, Debug)]
pub(crate) struct Statistics {
    /// What all simulations follow from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    extent: Extent,
}

/// Simulated runs for each case of intervals and, twenty times as many, for each of comparisons.
const RUNS: u32 = 1_000;

pub(crate) fn measure(arguments: &Statistics) -> Result<Report> {
    let quick = arguments.extent.quick;
    let runs = if quick { RUNS / 10 } else { RUNS };
    let mut random = Random::new(arguments.seed);
    let report = Report {
        quick,
        seed: arguments.seed,
        runs,
        intervals: intervals::rows(&mut random, runs),
        knees: knees::rows(&mut random, runs / 10),
        alarms: alarms::rows(&mut random, runs * 20),
        powers: alarms::powers(&mut random, runs * 20),
    };
    report.write(&arguments.extent.out)?;
    Ok(report)
}

fn percent(part: u32, of: u32) -> f64 {
    100.0 * f64::from(part) / f64::from(of)
}
