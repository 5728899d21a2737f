//! How long a run has to be: it is doubled until the steady mean is known well enough.

use serde::Serialize;

use crate::{
    batch,
    interval::Interval,
    steady::{self, Unsteady},
};

/// What the mean has to be known to, and how long that may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanGoal {
    /// Half of the interval as a share of the mean: 0.01 is the usual goal.
    pub relative: f64,
    /// The longest run, in bins.
    pub bins_max: usize,
}

/// What the bins of a run say so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The mean is known well enough.
    Enough(SteadyMean),
    /// Go on, without a pause, until there are so many bins.
    RunOn { bins: usize, why: Shortfall },
    /// The limit is reached; the run has no result, and this is why.
    GiveUp(Shortfall),
}

/// A mean from the steady part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SteadyMean {
    /// The first bin that is in it.
    pub from: usize,
    /// In the unit of the bins.
    pub mean: Interval,
}

/// Why a run is not long enough yet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shortfall {
    Unsteady(Unsteady),
    /// Steady, but the interval is wider than the goal.
    Imprecise(SteadyMean),
}

/// The mean of the steady part of a run, however wide its interval.
///
/// # Errors
/// When the gate refuses the run.
pub fn steady(bins: &[f64]) -> Result<SteadyMean, Unsteady> {
    let from = steady::start(bins)?;
    let mean = batch::interval(&bins[from..]);
    Ok(SteadyMean { from, mean })
}

impl MeanGoal {
    /// What to do after these bins, which are all of the run so far. It looks only when the run is
    /// over or has doubled, because whoever stops at the first good look is wrong too often.
    #[must_use]
    pub fn judge(&self, bins: &[f64]) -> Step {
        let why = match steady(bins) {
            Ok(steady) if steady.mean.relative() <= self.relative => return Step::Enough(steady),
            Ok(steady) => Shortfall::Imprecise(steady),
            Err(unsteady) => Shortfall::Unsteady(unsteady),
        };
        if bins.len() >= self.bins_max {
            return Step::GiveUp(why);
        }
        let bins = (2 * bins.len()).max(steady::BINS_MIN).min(self.bins_max);
        Step::RunOn { bins, why }
    }
}

#[cfg(test)]
mod tests {
    use turnstile_seed::Random;

    use super::{MeanGoal, Shortfall, Step};
    use crate::{
        steady::Unsteady,
        truth::{Autoregressive, WarmUp},
    };

    const GOAL: MeanGoal = MeanGoal {
        relative: 0.01,
        bins_max: 4_800,
    };

    /// The lengths at which the run was looked at, and the last step.
    fn run(goal: MeanGoal, system: &Autoregressive) -> (Vec<usize>, Step) {
        let mut random = Random::new(3);
        let all = system.bins(&mut || random.draw(), goal.bins_max);
        let mut looked_at = vec![300];
        loop {
            let bins = *looked_at.last().unwrap();
            match goal.judge(&all[..bins]) {
                Step::RunOn { bins, .. } => looked_at.push(bins),
                step => return (looked_at, step),
            }
        }
    }

    #[test]
    fn a_run_doubles_until_the_goal_is_met() {
        let system = Autoregressive::new(100.0, 0.05, 0.9, WarmUp::None);
        let (looked_at, step) = run(GOAL, &system);
        let doubled = [300, 600, 1_200, 2_400, 4_800];
        assert!(
            doubled.starts_with(&looked_at) && looked_at.len() > 2,
            "{looked_at:?}"
        );
        let Step::Enough(steady) = step else {
            panic!("{step:?}")
        };
        assert!(
            steady.mean.relative() <= 0.01 && steady.mean.contains(100.0),
            "{steady:?}"
        );
    }

    #[test]
    fn a_warm_up_of_a_run_is_outlasted() {
        let shape = WarmUp::Exponential {
            depth: -0.5,
            bins: 150.0,
        };
        let (looked_at, step) = run(GOAL, &Autoregressive::new(100.0, 0.05, 0.0, shape));
        assert!(looked_at.len() > 2, "{looked_at:?}");
        assert!(
            matches!(step, Step::Enough(steady) if steady.from >= 300),
            "{step:?}"
        );
    }

    #[test]
    fn the_limit_ends_a_run_with_the_reason() {
        let noisy = Autoregressive::new(100.0, 1.0, 0.0, WarmUp::None);
        let (looked_at, step) = run(
            MeanGoal {
                bins_max: 700,
                ..GOAL
            },
            &noisy,
        );
        assert_eq!(looked_at, [300, 600, 700]);
        assert!(
            matches!(step, Step::GiveUp(Shortfall::Imprecise(_))),
            "{step:?}"
        );
        let drifting = Autoregressive::new(100.0, 0.05, 0.0, WarmUp::Drift { over_run: 2.0 });
        let (_, step) = run(GOAL, &drifting);
        assert!(
            matches!(
                step,
                Step::GiveUp(Shortfall::Unsteady(
                    Unsteady::Drift { .. } | Unsteady::WarmUp { .. }
                ))
            ),
            "{step:?}"
        );
        let few = GOAL.judge(&[1.0; 20]);
        let why = Shortfall::Unsteady(Unsteady::TooShort { bins: 20 });
        assert_eq!(few, Step::RunOn { bins: 100, why });
    }
}
