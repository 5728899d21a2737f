//! How long a run is: as it was told, or until its mean is known well enough.

use std::time::Duration;

use turnstile_stats::{
    Interval, batch,
    precision::{self, MeanGoal, Shortfall, Step},
    regimes, steady,
    units::to_float,
};

use super::slices::{BIN_NANOS, Bin};

/// How long a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    Fixed {
        /// Answered before the measured window, and not part of it.
        warm_up: Duration,
        /// The measured window.
        duration: Duration,
    },
    /// The warm-up is found, and the run is doubled until the mean is known.
    Precise {
        /// Half of the interval as a share of the mean: of the throughput in a closed loop, of the
        /// response in an open one, where the throughput is given.
        relative: f64,
        /// The longest run.
        most: Duration,
    },
}

/// What is known of the steady state of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// The first bin of the window, and the first after it.
    pub from: usize,
    pub to: usize,
    /// Answers a second; nothing without a steady state, or for a window that is too short to tell.
    pub throughput: Option<Interval>,
    /// The mean response in nanoseconds; likewise.
    pub response: Option<Interval>,
    /// Why there is none, or not with the precision that was asked for.
    pub shortfall: Option<Shortfall>,
}

impl Length {
    /// From the start to the last request that is due.
    pub(super) const fn most(&self) -> Duration {
        match self {
            Self::Fixed { warm_up, duration } => warm_up.saturating_add(*duration),
            Self::Precise { most, .. } => *most,
        }
    }

    /// After how many bins the first look is.
    pub(super) fn first_look(&self) -> usize {
        match self {
            Self::Fixed { .. } => usize::MAX,
            Self::Precise { .. } => steady::BINS_MIN.min(self.bins_max()),
        }
    }

    pub(super) fn bins_max(&self) -> usize {
        bins(self.most())
    }

    /// What to do after these bins.
    pub(super) fn judge(&self, bins: &[Bin], open: bool) -> Step {
        let relative = match self {
            Self::Fixed { .. } => f64::INFINITY,
            Self::Precise { relative, .. } => *relative,
        };
        let goal = MeanGoal {
            relative,
            bins_max: self.bins_max(),
        };
        goal.judge(&figures(bins, open))
    }

    /// What the bins of a whole run say. `grain`: the window begins at a multiple of so many bins.
    pub(super) fn know(
        &self,
        bins: &[Bin],
        step: Option<&Step>,
        open: bool,
        grain: usize,
    ) -> Known {
        let (from, shortfall) = match (self, step) {
            (Self::Fixed { warm_up, .. }, _) => {
                let from = warm_up.as_nanos().div_ceil(u128::from(BIN_NANOS));
                let from =
                    usize::try_from(from).expect("a run has fewer bins than memory has bytes");
                let looked = precision::steady(&figures(bins.get(from..).unwrap_or(&[]), open));
                (from, looked.err().map(Shortfall::Unsteady))
            }
            (Self::Precise { .. }, Some(Step::Enough(steady))) => (steady.from, None),
            (Self::Precise { .. }, Some(Step::RunOn { why, .. } | Step::GiveUp(why))) => {
                let from = match why {
                    Shortfall::Imprecise(steady) => steady.from,
                    Shortfall::Unsteady(_) => 0,
                };
                (from, Some(*why))
            }
            (Self::Precise { .. }, None) => {
                let short = steady::Unsteady::TooShort { bins: bins.len() };
                (0, Some(Shortfall::Unsteady(short)))
            }
        };
        let from = match self {
            Self::Fixed { .. } => from,
            Self::Precise { .. } => from.next_multiple_of(grain),
        };
        let window = bins.get(from..).unwrap_or(&[]);
        let steady = matches!(shortfall, None | Some(Shortfall::Imprecise(_)));
        // A mean over several levels is that of none. Responses of an open loop wander without any
        // change of level when the server is busy.
        let several = (steady && !open)
            .then(|| regimes::several(&figures(window, false), from))
            .flatten();
        let shortfall = several.map(Shortfall::Unsteady).or(shortfall);
        let told = steady && several.is_none() && window.len() >= batch::BATCHES;
        let interval = |open| told.then(|| batch::interval(&figures(window, open)));
        Known {
            from: from.min(bins.len()),
            to: bins.len(),
            throughput: interval(false),
            response: interval(true),
            shortfall,
        }
    }
}

/// How many whole bins fit.
pub(super) fn bins(time: Duration) -> usize {
    usize::try_from(time.as_nanos() / u128::from(BIN_NANOS)).unwrap_or(usize::MAX)
}

/// The figure of each bin that a run is judged by: answers a second, or in an open loop their mean
/// response. A bin without answers has the response of the one before.
fn figures(bins: &[Bin], responses: bool) -> Vec<f64> {
    let mut last = bins
        .iter()
        .find(|bin| bin.answered > 0)
        .map_or(0.0, Bin::response);
    let figures = bins.iter().map(|bin| {
        if !responses {
            return f64::from(bin.answered) * 1e9 / to_float(BIN_NANOS);
        }
        if bin.answered > 0 {
            last = bin.response();
        }
        last
    });
    figures.collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use turnstile_seed::Random;
    use turnstile_stats::{
        precision::{Shortfall, Step},
        steady::Unsteady,
        truth::{Autoregressive, WarmUp},
    };

    use super::{Bin, Length};

    const PRECISE: Length = Length::Precise {
        relative: 0.01,
        most: Duration::from_secs(40),
    };

    /// Bins with these answers, each of which took so many nanoseconds.
    fn bins(answered: &[f64], response: u64) -> Vec<Bin> {
        let bin = |answered: &f64| {
            let answered: u32 = format!("{answered:.0}").parse().unwrap();
            Bin {
                answered,
                response: u64::from(answered) * response,
                ..Bin::default()
            }
        };
        answered.iter().map(bin).collect()
    }

    fn run(noise: f64, warm_up: WarmUp, length: usize) -> Vec<Bin> {
        let mut random = Random::new(3);
        let system = Autoregressive::new(1_000.0, noise, 0.0, warm_up);
        bins(&system.bins(&mut || random.draw(), length), 50_000)
    }

    #[test]
    fn a_quiet_system_is_known_at_the_first_look() {
        let warm_up = WarmUp::Exponential {
            depth: -0.5,
            bins: 4.0,
        };
        let bins = run(0.01, warm_up, 100);
        assert_eq!(PRECISE.first_look(), 100);
        let step = PRECISE.judge(&bins, false);
        let known = PRECISE.know(&bins, Some(&step), false, 5);
        let throughput = known.throughput.unwrap();
        assert!(throughput.contains(10_000.0), "{throughput}");
        assert!(
            (10..=60).contains(&known.from) && known.from.is_multiple_of(5),
            "{known:?}"
        );
        assert_eq!((known.to, known.shortfall), (100, None));
        assert!((known.response.unwrap().estimate - 50_000.0).abs() < 1e-6);
    }

    #[test]
    fn a_noisy_system_runs_on_and_at_the_limit_keeps_what_it_knows() {
        let bins = run(0.2, WarmUp::None, 400);
        let Step::RunOn { bins: more, .. } = PRECISE.judge(&bins[..100], false) else {
            panic!("it is too noisy");
        };
        assert_eq!(more, 200);
        let step = PRECISE.judge(&bins, false);
        assert!(matches!(step, Step::GiveUp(_)), "{step:?}");
        let known = PRECISE.know(&bins, Some(&step), false, 20);
        assert!(
            matches!(known.shortfall, Some(Shortfall::Imprecise(_))),
            "{known:?}"
        );
        assert!(known.throughput.unwrap().contains(10_000.0), "{known:?}");
    }

    #[test]
    fn what_drifts_has_no_interval() {
        let bins = run(0.01, WarmUp::Drift { over_run: 0.5 }, 400);
        let step = PRECISE.judge(&bins, false);
        let known = PRECISE.know(&bins, Some(&step), false, 20);
        assert_eq!((known.throughput, known.response), (None, None));
        let fixed = Length::Fixed {
            warm_up: Duration::from_millis(950),
            duration: Duration::from_secs(40),
        };
        let known = fixed.know(&bins, None, false, 5);
        assert_eq!((known.from, known.throughput), (10, None));
        let drifts = Some(Shortfall::Unsteady(Unsteady::Drift { change: 0.0 }));
        assert_eq!(
            known
                .shortfall
                .map(|shortfall| std::mem::discriminant(&shortfall)),
            drifts.map(|shortfall| std::mem::discriminant(&shortfall))
        );
    }

    #[test]
    fn two_levels_have_no_mean() {
        let mut bins = run(0.01, WarmUp::None, 400);
        for bin in &mut bins[250..] {
            bin.answered = bin.answered * 4 / 5;
        }
        let fixed = Length::Fixed {
            warm_up: Duration::from_secs(1),
            duration: Duration::from_secs(39),
        };
        // The gate finds that the level drifts; what it lets pass is looked at again.
        let known = fixed.know(&bins[150..350], None, false, 5);
        assert_eq!(
            (known.throughput, known.response),
            (None, None),
            "{known:?}"
        );
        let step = Step::Enough(turnstile_stats::precision::steady(&[1.0; 200]).unwrap());
        let known = PRECISE.know(&bins[150..350], Some(&step), false, 5);
        let Some(Shortfall::Unsteady(Unsteady::Levels {
            levels,
            bin,
            change,
        })) = known.shortfall
        else {
            panic!("{known:?}");
        };
        assert_eq!((levels, known.throughput), (2, None));
        assert!(
            bin.abs_diff(100) <= 1 && (change + 0.2).abs() < 0.02,
            "{known:?}"
        );
        let open = PRECISE.know(&bins[150..350], Some(&step), true, 5);
        assert_eq!(open.shortfall, None);
    }

    #[test]
    fn an_open_loop_is_judged_by_its_responses() {
        let steady = bins(&[100.0; 200], 50_000);
        assert!(matches!(PRECISE.judge(&steady, true), Step::Enough(_)));
        let mut slower = steady;
        for (at, bin) in (1..).zip(&mut slower) {
            bin.response += 1_000 * at * u64::from(bin.answered);
        }
        assert!(matches!(PRECISE.judge(&slower, false), Step::Enough(_)));
        assert!(matches!(PRECISE.judge(&slower, true), Step::RunOn { .. }));
    }

    #[test]
    fn a_bin_without_answers_has_the_response_before_it() {
        let mut some = bins(&[0.0, 10.0, 0.0], 70);
        some[2].failed = 3;
        assert_eq!(super::figures(&some, true), [70.0; 3]);
        assert_eq!(super::figures(&some, false), [0.0, 100.0, 0.0]);
    }
}
