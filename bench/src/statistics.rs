//! Whether the intervals and verdicts of the lab keep what they promise, on systems of known truth.
//!
//! Everything follows from the seed; no clock is read.

mod alarms;
mod intervals;
mod knees;

use anyhow::Result;
use clap::Args;
use turnstile_seed::Random;

use crate::{
    arguments::RunExtent,
    ratio::{Bound, Ratio},
    report::Report,
    section::{MeasuredRow, Section},
};
use alarms::{ALARMS, HIGHER, SAME};
use intervals::{ACCEPTED, HELD, IntervalCase};
use knees::P95;

#[derive(Args, Debug)]
pub(crate) struct Statistics {
    /// What all simulations follow from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    extent: RunExtent,
}

/// Simulated runs for each case of intervals and, twenty times as many, for each of comparisons.
const RUNS: u32 = 1_000;

pub(crate) fn measure(arguments: &Statistics) -> Result<Report> {
    let quick = arguments.extent.quick;
    let runs = if quick { RUNS / 10 } else { RUNS };
    let mut random = Random::new(arguments.seed);
    let sections = vec![
        intervals(intervals::rows(&mut random, runs), runs),
        knees(knees::rows(&mut random, runs / 10), runs / 10),
        alarms(alarms::rows(&mut random, runs * 20), runs * 20),
        powers(alarms::powers(&mut random, runs * 20)),
    ];
    let about = format!(
        "`turnstile-bench statistics --seed {}` gives these figures again; no clock is read. Each claim is \
         judged by its worst case.",
        arguments.seed
    );
    let title = "The lab's statistics, on systems of known truth";
    Report::written(
        &arguments.extent,
        "statistics",
        [title, &about],
        (None, sections),
    )
}

fn intervals(rows: Vec<IntervalCase>, runs: u32) -> Section {
    let figures = |figure: &str, wanted: fn(&str, f64) -> bool| -> Vec<f64> {
        let rows = rows.iter().filter(|row| wanted(row.0, row.1));
        rows.map(|row| row.2.values(figure)[0]).collect()
    };
    let lively = figures(HELD, |warm_up, memory| warm_up == "none" && memory < 0.8);
    let still = figures(HELD, |warm_up, memory| warm_up == "none" && memory > 0.8);
    let all = figures(HELD, |_warm_up, _memory| true);
    let accepted = figures(ACCEPTED, |warm_up, _memory| warm_up == "none");
    let refused: Vec<f64> = accepted.iter().map(|accepted| 100.0 - accepted).collect();
    let subjects = rows.into_iter().map(|(.., subject)| subject);
    let setting = format!(
        "{runs} runs for each row: bins of 100 ms with noise of 5 %, whose neighbours correlate by *memory*, \
         after a warm-up. *Once*: runs of 600 bins, whatever their interval. *Doubled*: from 600 bins until \
         the mean is known within 1 %, at most 9,600. All but the length in percent. With {runs} runs, 95 % \
         is known to 1.4 points"
    );
    let title = "Steady state and intervals";
    let mut section = Section::new(title, setting, subjects.collect());
    let mut claim = |target, bound, values: &[f64]| claim(&mut section, target, bound, values);
    let target = "intervals that hold the truth, memory <= 0.7, least";
    claim(target, Bound::AtLeast(93.0), &lively);
    claim("the same, most", Bound::AtMost(97.0), &lively);
    claim("the same, memory 0.9", Bound::AtLeast(90.0), &still);
    let target = "the same, after any warm-up";
    claim(target, Bound::AtLeast(85.0), &all);
    claim("steady runs refused", Bound::AtMost(4.0), &refused);
    section
}

fn knees(rows: Vec<MeasuredRow>, times: u32) -> Section {
    let [capacity, knee] = [&rows[0], &rows[2]].map(|row| row.values(P95)[0]);
    let setting = format!(
        "Twelve closed systems (a station of 1, 2, 4 or 16 servers: alone, with a second station, with users \
         who think), each up to 4 and up to 16 times its knee, {times} times. Exact figures by convolution, \
         measured with noise of 2 % and no background. In percent"
    );
    let mut section = Section::new("Capacity and knee", setting, rows);
    let mut claim = |target, bound, value| claim(&mut section, target, bound, &[value]);
    claim("error of the capacity, p95", Bound::AtMost(3.0), capacity);
    claim("error of the knee, p95", Bound::AtMost(10.0), knee);
    section
}

fn alarms(rows: Vec<MeasuredRow>, comparisons: u32) -> Section {
    let drifting = rows.last().map(|row| row.values(ALARMS)[0]);
    let drifting: Vec<f64> = drifting.into_iter().collect();
    let setting = format!(
        "Two identical systems, 3 % from run to run, {comparisons} comparisons each: false alarms at 5 %, in \
         percent"
    );
    let mut section = Section::new("Comparisons", setting, rows);
    let target = "false alarms of pairs on a drifting machine";
    claim(&mut section, target, Bound::AtMost(6.0), &drifting);
    section
}

fn powers(rows: Vec<MeasuredRow>) -> Section {
    let [higher, same] = [HIGHER, SAME].map(|figure| rows[0].values(figure)[0]);
    let setting = "As many pairs as are planned for a difference of 2 % with a power of 90 %, which is also \
                   the margin of \"the same\". In percent";
    let mut section = Section::new("Planned pairs", setting, rows);
    let mut claim = |target, bound, value| claim(&mut section, target, bound, &[value]);
    let target = "changes of 2 % found by five pairs";
    claim(target, Bound::AtLeast(90.0), higher);
    let target = "changes of 2 % called the same";
    claim(target, Bound::AtMost(6.0), same);
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
