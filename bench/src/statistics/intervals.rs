//! How often the interval of a run's mean holds the truth, for every warm-up and memory of noise.

use turnstile_seed::Random;
use turnstile_stats::{
    precision::{self, MeanGoal, Step},
    truth::{Autoregressive, WarmUp},
};

use super::percent;
use crate::section::{MeasuredRow, SubjectMetric};

const TRUTH: f64 = 100.0;
/// Of a bin, as a share of the level.
const NOISE: f64 = 0.05;
/// The first look: a minute in bins of 100 ms.
const BINS: usize = 600;
const GOAL: MeanGoal = MeanGoal {
    relative: 0.01,
    bins_max: 9_600,
};
const MEMORIES: [f64; 4] = [0.0, 0.5, 0.7, 0.9];
const WARM_UPS: [(&str, WarmUp); 8] = [
    ("none", WarmUp::None),
    ("half, fading over 30 bins", exponential(-0.5, 30.0)),
    ("a tenth, fading over 100", exponential(-0.1, 100.0)),
    ("half, fading over 150", exponential(-0.5, 150.0)),
    ("half, fading over 400", exponential(-0.5, 400.0)),
    ("30 % too high, fading over 50", exponential(0.3, 50.0)),
    ("ramp over 100", WarmUp::Ramp { bins: 100 }),
    (
        "step of a tenth after 200",
        WarmUp::Step {
            depth: -0.1,
            bins: 200,
        },
    ),
];

const fn exponential(depth: f64, bins: f64) -> WarmUp {
    WarmUp::Exponential { depth, bins }
}

/// The figure of the runs that double.
pub(super) const HELD: &str = "of those, truth held";

/// The figure of the runs of 600 bins.
pub(super) const ACCEPTED: &str = "once: accepted";

/// One case: the warm-up, the correlation of neighbouring bins, and how often intervals hold the truth,
/// in percent.
pub(super) type IntervalCase = (&'static str, f64, MeasuredRow);

pub(super) fn rows(random: &mut Random, runs: u32) -> Vec<IntervalCase> {
    let cases = WARM_UPS
        .iter()
        .flat_map(|&warm_up| MEMORIES.map(|memory| (warm_up, memory)));
    cases
        .map(|((name, warm_up), memory)| {
            let system = Autoregressive::new(TRUTH, NOISE, memory, warm_up);
            let subject = MeasuredRow::new(
                format!("{name}, memory {memory}"),
                figures(&system, random, runs),
            );
            (name, memory, subject)
        })
        .collect()
}

fn figures(system: &Autoregressive, random: &mut Random, runs: u32) -> Vec<SubjectMetric> {
    let (mut accepted, mut held_once, mut reached, mut held, mut bins) = (0, 0, 0, 0, 0.0);
    for _ in 0..runs {
        let all = system.bins(&mut || random.draw(), GOAL.bins_max);
        if let Ok(steady) = precision::steady(&all[..BINS]) {
            accepted += 1;
            held_once += u32::from(steady.mean.contains(TRUTH));
        }
        let (length, step) = run(&all);
        bins += f64::from(u32::try_from(length).expect("at most 9,600 bins"));
        if let Step::Enough(steady) = step {
            reached += 1;
            held += u32::from(steady.mean.contains(TRUTH));
        }
    }
    let held_once = (accepted > 0).then(|| percent(held_once, accepted));
    vec![
        SubjectMetric::one(ACCEPTED, percent(accepted, runs)),
        SubjectMetric::new("of those, truth held once", held_once.into_iter().collect()),
        SubjectMetric::one("doubled: reached", percent(reached, runs)),
        SubjectMetric::one(HELD, percent(held, reached.max(1))),
        SubjectMetric::one("bins", bins / f64::from(runs)),
    ]
}

fn run(all: &[f64]) -> (usize, Step) {
    let mut length = BINS;
    loop {
        match GOAL.judge(&all[..length]) {
            Step::RunOn { bins, .. } => length = bins,
            step => return (length, step),
        }
    }
}
