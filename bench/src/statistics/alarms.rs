//! False alarms of comparisons, and how often they find what there is.

use turnstile_seed::Random;
use turnstile_stats::{
    chance::normal,
    pairs::{self, LeadingSystem, PairedComparison, Verdict},
    sample,
    student::chance_beyond,
    units::count,
};

use super::percent;
use crate::section::{MeasuredRow, SubjectMetric};

/// Of runs of the same system, as a share of their mean.
const BETWEEN_RUNS: f64 = 0.03;
/// Of the bins inside a run.
const BETWEEN_BINS: f64 = 0.05;
const BINS: usize = 60;
const RUNS: usize = 5;
/// A difference below this does not matter.
const MARGIN: f64 = 0.02;
/// What the machine gains from run to run.
const DRIFTS: [f64; 2] = [0.0, 0.02];
const ALARM: f64 = 0.05;

/// Figures that are judged.
pub(super) const ALARMS: &str = "alarms";
pub(super) const HIGHER: &str = "higher";
pub(super) const SAME: &str = "the same";

/// How often two identical systems are called different, in percent.
pub(super) fn rows(random: &mut Random, repeats: u32) -> Vec<MeasuredRow> {
    type Method = fn(&mut Random, f64) -> bool;
    let methods: [(&str, Method); 3] = [
        ("one run each, Student's t on bins", bins_alarm),
        (
            "five runs each, all of one and then of the other",
            blocks_alarm,
        ),
        ("five pairs in random order", pairs_alarm),
    ];
    let cases = methods
        .iter()
        .flat_map(|method| DRIFTS.map(|drift| (method, drift)));
    cases
        .map(|(&(method, is_alarm), drift)| {
            let alarms = (0..repeats).filter(|_| is_alarm(random, drift));
            let alarms = u32::try_from(alarms.count()).expect("at most the repeats");
            let figures = vec![
                SubjectMetric::one("drift of the machine, % a run", 100.0 * drift),
                SubjectMetric::one(ALARMS, percent(alarms, repeats)),
            ];
            MeasuredRow::new(method, figures)
        })
        .collect()
}

/// What pairs say when the systems differ, in percent.
pub(super) fn powers(random: &mut Random, repeats: u32) -> Vec<MeasuredRow> {
    let cases = [(0.02, 0.01), (0.02, 0.02), (0.0, 0.01)];
    let powers = cases.map(|(change, deviation)| {
        let pairs = pairs::needed(deviation, MARGIN);
        let (mut higher, mut same, mut lower) = (0, 0, 0);
        for _ in 0..repeats {
            let runs = paired(random, pairs, change, deviation / 2.0_f64.sqrt(), 0.0);
            match compared(&runs).verdict {
                Verdict::Higher => higher += 1,
                Verdict::Same => same += 1,
                Verdict::Lower => lower += 1,
                Verdict::CannotTell { .. } => {}
            }
        }
        let figures = vec![
            SubjectMetric::one("pairs", count(pairs)),
            SubjectMetric::one(HIGHER, percent(higher, repeats)),
            SubjectMetric::one(SAME, percent(same, repeats)),
            SubjectMetric::one("lower", percent(lower, repeats)),
        ];
        let (change, deviation) = (100.0 * change, 100.0 * deviation);
        let name = format!("true change {change:.0}, deviation of a pair {deviation:.0}");
        MeasuredRow::new(name, figures)
    });
    powers.to_vec()
}

/// A run's mean; `at` counts the runs of the experiment.
fn run(random: &mut Random, at: u32, deviation: f64, drift: f64) -> f64 {
    let level = 100.0 * (1.0 + drift * f64::from(at));
    level * (1.0 + deviation * normal(&mut || random.draw()))
}

fn bins_alarm(random: &mut Random, drift: f64) -> bool {
    let mut bins = |at: u32| -> Vec<f64> {
        let mean = run(random, at, BETWEEN_RUNS, drift);
        let noisy = (0..BINS).map(|_| mean * (1.0 + BETWEEN_BINS * normal(&mut || random.draw())));
        noisy.collect()
    };
    let (old, new) = (bins(0), bins(1));
    is_alarm(&old, &new)
}

fn blocks_alarm(random: &mut Random, drift: f64) -> bool {
    let mut runs = (0..).map(|at| run(random, at, BETWEEN_RUNS, drift));
    let old: Vec<f64> = runs.by_ref().take(RUNS).collect();
    let new: Vec<f64> = runs.take(RUNS).collect();
    is_alarm(&old, &new)
}

fn pairs_alarm(random: &mut Random, drift: f64) -> bool {
    let runs = paired(random, RUNS, 0.0, BETWEEN_RUNS, drift);
    compared(&runs).chance < ALARM
}

/// Student's t for two independent samples of the same size.
fn is_alarm(old: &[f64], new: &[f64]) -> bool {
    let of = f64::from(u32::try_from(old.len()).expect("a few"));
    let error = ((sample::variance(old) + sample::variance(new)) / of).sqrt();
    let t = (sample::mean(new) - sample::mean(old)) / error;
    chance_beyond(t, 2.0 * of - 2.0) < ALARM
}

/// Runs `(old, new)` in the order of a plan.
fn paired(
    random: &mut Random,
    pairs: usize,
    change: f64,
    deviation: f64,
    drift: f64,
) -> Vec<(f64, f64)> {
    let plan = pairs::plan(&mut || random.draw(), pairs);
    plan.into_iter()
        .zip((0..).step_by(2))
        .map(|(first, at)| {
            let one = run(random, at, deviation, drift);
            let other = run(random, at + 1, deviation, drift);
            let (old, new) = match first {
                LeadingSystem::Old => (one, other),
                LeadingSystem::New => (other, one),
            };
            (old, new * (1.0 + change))
        })
        .collect()
}

fn compared(runs: &[(f64, f64)]) -> PairedComparison {
    PairedComparison::of(runs, MARGIN).expect("at least two pairs")
}
