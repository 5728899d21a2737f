//! Where a run has left its warm-up, and whether it has.
//!
//! K. White, M. Cobb and S. Spratt, "A comparison of five steady-state truncation heuristics for
//! simulation", 2000 (MSER-5): of all cuts take the one after which the mean is known best. Alone
//! it fails in silence when the warm-up is longer than the run, or when there is no steady state;
//! the gate refuses such runs. And it cuts where the warm-up has come down to the noise of the bins,
//! which is more than the error of their mean: as much again is left out.

use std::fmt;

use serde::Serialize;

use crate::{
    batch,
    sample::{self, Line},
    units::count,
};

/// MSER cuts between groups of so many bins.
const GROUP: usize = 5;

/// Fewer bins say nothing: ten seconds in bins of 100 ms.
pub const BINS_MIN: usize = 100;

/// A cut beyond this share of the run means that the warm-up may not be over.
const CUT_MAX: f64 = 1.0 / 3.0;

/// The drift is looked for in so many batch means.
const BATCHES: usize = 20;

/// A slope that chance makes more seldom than this is a drift.
const CHANCE_MIN: f64 = 0.01;

/// Why there is no steady state in a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unsteady {
    /// Fewer bins than [`BINS_MIN`].
    TooShort { bins: usize },
    /// More than a third of the run would have to be cut.
    WarmUp { cut: usize, bins: usize },
    /// After the cut the level still rises or falls: by this share of its mean from the first bin
    /// to the last.
    Drift { change: f64 },
    /// It stood at so many levels one after the other; the largest change of level was at this bin, by
    /// this share of the level before.
    Levels {
        levels: usize,
        bin: usize,
        change: f64,
    },
}

/// The first bin of the steady state: twice the cut of MSER-5, so at most two thirds of the run.
///
/// `bins` are figures of equally long pieces of the run, one after the other: the throughput of
/// each 100 ms, or the mean response in it.
///
/// # Errors
/// When the gate refuses the run.
pub fn start(bins: &[f64]) -> Result<usize, Unsteady> {
    if bins.len() < BINS_MIN {
        return Err(Unsteady::TooShort { bins: bins.len() });
    }
    let cut = mser5(bins);
    if count(cut) > CUT_MAX * count(bins.len()) {
        let bins = bins.len();
        return Err(Unsteady::WarmUp { cut, bins });
    }
    let means: Vec<(f64, f64)> = batch::means(&bins[cut..], BATCHES)
        .into_iter()
        .enumerate()
        .map(|(at, mean)| (count(at), mean))
        .collect();
    let line = Line::through(&means).expect("twenty batches");
    if line.chance_of_slope() < CHANCE_MIN {
        let rise = line.slope * count(BATCHES - 1);
        let change = rise / sample::mean(&bins[cut..]);
        return Err(Unsteady::Drift { change });
    }
    Ok(2 * cut)
}

/// Where MSER-5 cuts: the first of the bins that are kept. It looks at the first half only, for the
/// mean of a few last bins may look exact by chance.
#[must_use]
pub fn mser5(bins: &[f64]) -> usize {
    let centre = sample::mean(bins);
    let groups: Vec<f64> = bins
        .chunks_exact(GROUP)
        .map(|group| sample::mean(group) - centre)
        .collect();
    let (mut sum, mut squares, mut kept) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (at, group) in groups.iter().enumerate().rev() {
        sum += group;
        squares += group * group;
        kept += 1.0;
        let error = (squares - sum * sum / kept) / (kept * kept);
        if at <= groups.len() / 2 && error <= best.0 {
            best = (error, at * GROUP);
        }
    }
    best.1
}

impl fmt::Display for Unsteady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { bins } => write!(f, "{bins} bins are too few, {BINS_MIN} are needed"),
            Self::WarmUp { cut, bins } => {
                write!(
                    f,
                    "the warm-up takes {cut} of {bins} bins, more than a third"
                )
            }
            Self::Drift { change } => {
                write!(
                    f,
                    "the level drifts by {:+.1} % after the warm-up",
                    change * 100.0
                )
            }
            Self::Levels {
                levels,
                bin,
                change,
            } => {
                write!(
                    f,
                    "{levels} levels one after the other, the largest change {:+.1} % at bin {bin}",
                    change * 100.0
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use turnstile_seed::Random;

    use super::{Unsteady, mser5, start};
    use crate::{
        sample,
        truth::{Autoregressive, WarmUp},
    };

    const RUNS: usize = 300;

    /// What the gate says of runs of 600 bins: the starts of those it accepts.
    fn starts(memory: f64, warm_up: WarmUp) -> Vec<usize> {
        let mut random = Random::new(16);
        let system = Autoregressive::new(100.0, 0.05, memory, warm_up);
        let starts = (0..RUNS).map(|_| start(&system.bins(&mut || random.draw(), 600)));
        starts.filter_map(Result::ok).collect()
    }

    #[test]
    fn the_cut_is_where_the_error_of_the_mean_is_least() {
        let mut bins = vec![100.0; 200];
        bins[..20].fill(50.0);
        // Without noise any cut from 20 on is exact; the first of them is taken.
        assert_eq!(mser5(&bins), 20);
        assert_eq!(start(&bins), Ok(40));
        let by_hand = |cut: usize| {
            let kept = &bins[cut..];
            sample::variance(kept) / f64::from(u32::try_from(kept.len()).unwrap())
        };
        assert!(by_hand(20) < by_hand(15) && by_hand(20) <= by_hand(25));
    }

    #[test]
    fn steady_runs_are_accepted_with_all_but_a_little() {
        for memory in [0.0, 0.7, 0.9] {
            let accepted = starts(memory, WarmUp::None);
            assert!(
                accepted.len() >= RUNS * 94 / 100,
                "{memory}: {}",
                accepted.len()
            );
            let short = accepted.iter().filter(|&&start| start <= 200).count();
            assert!(short >= RUNS * 3 / 4, "{memory}: {short}");
        }
    }

    #[test]
    fn a_warm_up_is_left_out() {
        let accepted = starts(
            0.5,
            WarmUp::Step {
                depth: -0.5,
                bins: 120,
            },
        );
        assert!(accepted.len() >= RUNS * 9 / 10, "{}", accepted.len());
        assert!(accepted.iter().all(|start| *start >= 240), "{accepted:?}");
    }

    #[test]
    fn runs_without_a_steady_state_are_refused() {
        let never = WarmUp::Exponential {
            depth: -0.5,
            bins: 150.0,
        };
        assert!(starts(0.0, never).is_empty());
        let drifting = starts(0.5, WarmUp::Drift { over_run: 0.1 }).len();
        assert!(drifting <= RUNS / 20, "{drifting}");
    }

    #[test]
    fn a_refusal_says_why() {
        let rising: Vec<f64> = (0..200).map(f64::from).collect();
        let short = start(&rising[..99]).unwrap_err();
        assert_eq!(short.to_string(), "99 bins are too few, 100 are needed");
        let warming = start(&rising).unwrap_err();
        assert_eq!(
            warming,
            Unsteady::WarmUp {
                cut: 100,
                bins: 200
            }
        );
        let waves = [0.0, 9.0, -7.0, 4.0, -8.0, 6.0, -4.0];
        let drifting: Vec<f64> = (0..200_u32)
            .map(|at| 100.0 + 0.02 * f64::from(at) + 2.0 * waves[usize::try_from(at % 7).unwrap()])
            .collect();
        let drifting = start(&drifting).unwrap_err();
        assert!(
            matches!(drifting, Unsteady::Drift { change } if (0.01..0.05).contains(&change)),
            "{drifting}"
        );
    }
}
