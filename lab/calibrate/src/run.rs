//! One run of the generator on its processor, with what the machine did meanwhile.

use std::time::{Duration, Instant};

use turnstile_load::{
    pace::{self, Pace, User},
    processors,
    resources::Sampler,
    validity::{self, RUN_DELAY_MAX},
};
use turnstile_result::Point;

use crate::{CalibrationError, CalibrationSetting, ProgressWatch, Verdict};

/// A run that is over.
#[derive(Debug)]
pub struct Run {
    /// With its resources and its validity.
    pub point: Point,
    pub(crate) started: Instant,
}

/// Drives this.
pub(crate) fn measure<U: User>(
    name: &str,
    pace: &Pace,
    users: Vec<U>,
    setting: &CalibrationSetting,
    watch: ProgressWatch<'_>,
) -> Result<Run, CalibrationError> {
    let core = setting.generator_core();
    let stay = core.map(|core| processors::stay_on(&[core])).transpose();
    let _stay = stay.map_err(CalibrationError::Processors)?;
    let mut sampler = Sampler::new(Vec::new());
    // A look takes the generator's processor for a moment, which is seen in what it measures.
    let pause = setting.duration / 10;
    let mut next = Duration::ZERO;
    let totals = pace::run(pace, users, &mut |progress| {
        if progress.elapsed >= next {
            sampler.look(progress.elapsed);
            next = progress.elapsed + pause;
        }
        watch(progress);
    })?;
    let mut point = totals.point(name, pace);
    validity::judge_run(&mut point, &sampler, pace, None);
    Ok(Run {
        point,
        started: totals.started,
    })
}

impl Run {
    /// The share of the time in which this process could have run but did not.
    pub(crate) fn run_delay(&self) -> Option<f64> {
        let processes = &self.point.resources.processes;
        let own = processes.iter().find(|one| one.role == "generator");
        own.and_then(|own| own.run_delay)
    }

    /// A bound on how late the generator was: kept, or why not.
    pub(crate) fn keeps(&self, kept: bool) -> Verdict {
        let quiet = self.run_delay().is_none_or(|delay| delay <= RUN_DELAY_MAX);
        Verdict::of(kept, quiet)
    }
}
