//! How often the interval of a run's mean holds the truth, for every warm-up and memory of noise.

use turnstile_seed::Random;
use turnstile_stats::{
    precision::{self, Goal, Step},
    truth::{Autoregressive, WarmUp},
};

use super::percent;

const TRUTH: f64 = 100.0;
/// Of a bin, as a share of the level.
const NOISE: f64 = 0.05;
/// The first look: a minute in bins of 100 ms.
const BINS: usize = 600;
const GOAL: Goal = Goal {
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

/// One case; all shares in percent.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) warm_up: &'static str,
    /// The correlation of neighbouring bins.
    pub(super) memory: f64,
    /// Of runs of 600 bins, those that the gate accepts.
    pub(super) accepted: f64,
    /// Of those, the intervals that hold the truth; nothing when none is accepted.
    pub(super) held_once: Option<f64>,
    /// Of runs that double until the mean is known within 1 %, those that reach it.
    pub(super) reached: f64,
    /// Of those, the intervals that hold the truth.
    pub(super) held: f64,
    /// Bins of a run on average.
    pub(super) bins: f64,
}

pub(super) fn rows(random: &mut Random, runs: u32) -> Vec<Row> {
    let cases = WARM_UPS
        .iter()
        .flat_map(|&warm_up| MEMORIES.map(|memory| (warm_up, memory)));
    cases
        .map(|((name, warm_up), memory)| {
            let system = Autoregressive::new(TRUTH, NOISE, memory, warm_up);
            row(name, memory, &system, random, runs)
        })
        .collect()
}

fn row(
    warm_up: &'static str,
    memory: f64,
    system: &Autoregressive,
    random: &mut Random,
    runs: u32,
) -> Row {
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
    Row {
        warm_up,
        memory,
        accepted: percent(accepted, runs),
        held_once: (accepted > 0).then(|| percent(held_once, accepted)),
        reached: percent(reached, runs),
        held: percent(held, reached.max(1)),
        bins: bins / f64::from(runs),
    }
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
