//! Whether the intervals and verdicts of the lab keep what they promise, on systems of known truth.
//!
//! Everything follows from the seed; no clock is read.

mod alarms;
mod intervals;
mod knees;

use anyhow::Result;
use clap::Args;
use turnstile_seed::Random;
use turnstile_stats::units::count;

use crate::{
    arguments::Extent,
    ratio::{Bound, Ratio},
    report::Report,
    section::{Figure, Section, Subject},
};

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
    let sections = vec![
        intervals(&intervals::rows(&mut random, runs), runs),
        knees(&knees::rows(&mut random, runs / 10), runs / 10),
        alarms(&alarms::rows(&mut random, runs * 20), runs * 20),
        powers(&alarms::powers(&mut random, runs * 20)),
    ];
    let report = Report {
        title: "The lab's statistics, on systems of known truth".to_owned(),
        about: format!(
            "`turnstile-bench statistics --seed {}` gives these figures again; no clock is read. Each claim \
             is judged by its worst case.",
            arguments.seed
        ),
        quick,
        machine: None,
        sections,
        not_measured: Vec::new(),
    };
    report.write(&arguments.extent.out, "statistics")?;
    Ok(report)
}

fn intervals(rows: &[intervals::Row], runs: u32) -> Section {
    let subjects = rows.iter().map(|row| {
        let figures = vec![
            Figure::one("once: accepted", row.accepted),
            Figure::new(
                "of those, truth held once",
                row.held_once.into_iter().collect(),
            ),
            Figure::one("doubled: reached", row.reached),
            Figure::one("of those, truth held", row.held),
            Figure::one("bins", row.bins),
        ];
        Subject::new(format!("{}, memory {}", row.warm_up, row.memory), figures)
    });
    let setting = format!(
        "{runs} runs for each row: bins of 100 ms with noise of 5 %, whose neighbours correlate by *memory*, \
         after a warm-up. *Once*: runs of 600 bins, whatever their interval. *Doubled*: from 600 bins until \
         the mean is known within 1 %, at most 9,600. All but the length in percent. With {runs} runs, 95 % \
         is known to 1.4 points"
    );
    let title = "Steady state and intervals";
    let mut section = Section::new(title, setting, subjects.collect());
    let held = |wanted: fn(&intervals::Row) -> bool| -> Vec<f64> {
        let rows = rows.iter().filter(|row| wanted(row));
        rows.map(|row| row.held).collect()
    };
    let lively = |row: &intervals::Row| row.warm_up == "none" && row.memory < 0.8;
    let still = |row: &intervals::Row| row.warm_up == "none" && row.memory > 0.8;
    let refused = rows.iter().filter(|row| row.warm_up == "none");
    let refused: Vec<f64> = refused.map(|row| 100.0 - row.accepted).collect();
    let mut claim = |target, bound, values: &[f64]| claim(&mut section, target, bound, values);
    let target = "intervals that hold the truth, memory <= 0.7, least";
    claim(target, Bound::AtLeast(93.0), &held(lively));
    claim("the same, most", Bound::AtMost(97.0), &held(lively));
    claim("the same, memory 0.9", Bound::AtLeast(90.0), &held(still));
    let target = "the same, after any warm-up";
    claim(target, Bound::AtLeast(85.0), &held(|_| true));
    claim("steady runs refused", Bound::AtMost(4.0), &refused);
    section
}

fn knees(rows: &[knees::Row], times: u32) -> Section {
    let subjects = rows.iter().map(|row| {
        let figures = vec![
            Figure::one("median error", row.median_error),
            Figure::one("p95 of the error", row.error_p95),
            Figure::one("worst", row.worst),
            Figure::one("truth in the interval", row.held),
            Figure::one("no estimate", row.missing),
        ];
        Subject::new(row.estimator, figures)
    });
    let setting = format!(
        "Twelve closed systems (a station of 1, 2, 4 or 16 servers: alone, with a second station, with users \
         who think), each up to 4 and up to 16 times its knee, {times} times. Exact figures by convolution, \
         measured with noise of 2 % and no background. In percent"
    );
    let mut section = Section::new("Capacity and knee", setting, subjects.collect());
    let mut claim = |target, bound, value| claim(&mut section, target, bound, &[value]);
    claim(
        "error of the capacity, p95",
        Bound::AtMost(3.0),
        rows[0].error_p95,
    );
    claim(
        "error of the knee, p95",
        Bound::AtMost(10.0),
        rows[2].error_p95,
    );
    section
}

fn alarms(rows: &[alarms::Row], comparisons: u32) -> Section {
    let subjects = rows.iter().map(|row| {
        let figures = vec![
            Figure::one("drift of the machine, % a run", row.drift),
            Figure::one("alarms", row.alarms),
        ];
        Subject::new(row.method, figures)
    });
    let setting = format!(
        "Two identical systems, 3 % from run to run, {comparisons} comparisons each: false alarms at 5 %, in \
         percent"
    );
    let mut section = Section::new("Comparisons", setting, subjects.collect());
    let drifting = rows.last().map(|row| row.alarms);
    let drifting: Vec<f64> = drifting.into_iter().collect();
    let target = "false alarms of pairs on a drifting machine";
    claim(&mut section, target, Bound::AtMost(6.0), &drifting);
    section
}

fn powers(rows: &[alarms::Power]) -> Section {
    let subjects = rows.iter().map(|row| {
        let figures = vec![
            Figure::one("pairs", count(row.pairs)),
            Figure::one("higher", row.higher),
            Figure::one("the same", row.same),
            Figure::one("lower", row.lower),
        ];
        let (change, deviation) = (row.change, row.deviation);
        let name = format!("true change {change:.0}, deviation of a pair {deviation:.0}");
        Subject::new(name, figures)
    });
    let setting = "As many pairs as are planned for a difference of 2 % with a power of 90 %, which is also \
                   the margin of \"the same\". In percent";
    let mut section = Section::new("Planned pairs", setting, subjects.collect());
    let mut claim = |target, bound, value| claim(&mut section, target, bound, &[value]);
    let target = "changes of 2 % found by five pairs";
    claim(target, Bound::AtLeast(90.0), rows[0].higher);
    let target = "changes of 2 % called the same";
    claim(target, Bound::AtMost(6.0), rows[0].same);
    section
}

/// Judges the figure in percent that comes nearest to breaking the bound, and what follows.
fn claim(section: &mut Section, target: &str, bound: Bound, figures: &[f64]) {
    let spread = Ratio::spread(figures);
    let worst = match bound {
        Bound::AtLeast(_) => spread.min,
        Bound::AtMost(_) | Bound::None => spread.max,
    };
    section.claim_ratio(&format!("{target}, %"), Ratio::spread(&[worst]), bound);
}

fn percent(part: u32, of: u32) -> f64 {
    100.0 * f64::from(part) / f64::from(of)
}
