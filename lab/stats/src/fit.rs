//! Whether figures follow a distribution that was known before.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, Gamma};

use crate::units::{count, to_float};

/// Logarithms of nothing would be endless.
const LEAST: f64 = 1e-300;

/// How well figures follow a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AndersonDarling {
    /// How many figures there are.
    pub samples: u64,
    /// The statistic of Anderson and Darling, A squared: about 1 when they follow it.
    pub statistic: f64,
    /// How likely one so large is when they follow it.
    pub chance: f64,
}

/// Of independent figures, against the share of the distribution that lies below each. It sees the
/// tails better than most tests; nothing for fewer than eight figures.
///
/// T. Anderson and D. Darling, "A test of goodness of fit", 1954.
#[must_use]
pub fn anderson_darling(figures: &[f64], below: impl Fn(f64) -> f64) -> Option<AndersonDarling> {
    let of = figures.len();
    if of < 8 {
        return None;
    }
    let mut shares: Vec<f64> = figures.iter().map(|&figure| below(figure)).collect();
    shares.sort_by(f64::total_cmp);
    let both = shares.iter().zip(shares.iter().rev());
    let sum: f64 = (0..of)
        .zip(both)
        .map(|(rank, (low, high))| {
            let logs = low.max(LEAST).ln() + (1.0 - high).max(LEAST).ln();
            (2.0 * count(rank) + 1.0) * logs
        })
        .sum();
    let statistic = -count(of) - sum / count(of);
    Some(AndersonDarling {
        samples: u64::try_from(of).ok()?,
        statistic,
        chance: 1.0 - share_below(statistic),
    })
}

/// Gaps between every `step`-th arrival of a Poisson process with this rate: in the unit of one over
/// the rate. Nothing for fewer than eight gaps, or a rate that is none.
#[must_use]
pub fn poisson_gaps(gaps: &[f64], step: u64, rate: f64) -> Option<AndersonDarling> {
    let erlang = Gamma::new(to_float(step), rate).ok()?;
    anderson_darling(gaps, |gap| erlang.cdf(gap))
}

/// The share of all A squared below this one, for many figures.
///
/// G. Marsaglia and J. Marsaglia, "Evaluating the Anderson-Darling distribution", 2004 (`adinf`).
fn share_below(z: f64) -> f64 {
    let polynomial = |terms: &[f64]| terms.iter().rev().fold(0.0, |sum, term| sum * z + term);
    if z <= 0.0 {
        0.0
    } else if z < 2.0 {
        let terms = [
            2.000_12,
            0.247_105,
            -0.064_982_1,
            0.034_796_2,
            -0.011_672_0,
            0.001_686_91,
        ];
        (-1.233_714_1 / z).exp() / z.sqrt() * polynomial(&terms)
    } else {
        let terms = [
            1.0776,
            -2.306_95,
            0.434_24,
            -0.082_433,
            0.008_056,
            -0.000_314_6,
        ];
        (-polynomial(&terms).exp()).exp()
    }
}

#[cfg(test)]
mod tests {
    use turnstile_seed::Random;

    use super::{anderson_darling, poisson_gaps, share_below};
    use crate::chance::{exponential, uniform};

    const RUNS: usize = 2_000;

    /// In what share of runs of 500 gaps a thing with a chance below 1 % was seen.
    fn alarms(step: u64, mut gap: impl FnMut(&mut dyn FnMut() -> u64) -> f64) -> f64 {
        let mut random = Random::new(7);
        let mut draw = || random.draw();
        let mut alarms = 0.0;
        for _ in 0..RUNS {
            let gaps: Vec<f64> = (0..500).map(|_| gap(&mut draw)).collect();
            let fit = poisson_gaps(&gaps, step, 1.0).unwrap();
            alarms += f64::from(u8::from(fit.chance < 0.01));
        }
        alarms / 2_000.0
    }

    #[test]
    fn the_distribution_is_that_of_the_tables() {
        // M. Stephens, "EDF statistics for goodness of fit", 1974, case 0.
        for (share, z) in [(0.75, 1.248), (0.9, 1.933), (0.95, 2.492), (0.99, 3.857)] {
            let found = share_below(z);
            assert!((found - share).abs() < 5e-4, "{found} is not {share}");
        }
        assert_eq!((share_below(0.0), share_below(500.0)), (0.0, 1.0));
    }

    #[test]
    fn of_true_arrivals_one_run_in_a_hundred_is_an_alarm() {
        let each = alarms(1, |mut draw| exponential(&mut draw, 1.0));
        assert!((0.005..0.016).contains(&each), "{each}");
        let every_fifth = alarms(5, |mut draw| {
            (0..5).map(|_| exponential(&mut draw, 1.0)).sum()
        });
        assert!((0.005..0.016).contains(&every_fifth), "{every_fifth}");
    }

    #[test]
    fn arrivals_that_were_not_delivered_as_planned_are_seen() {
        // A fifth slower; evenly instead of at random; one in ten held back behind the next.
        let slower = alarms(1, |mut draw| exponential(&mut draw, 1.2));
        let even = alarms(1, |mut draw| 0.5 + uniform(&mut draw));
        let held = alarms(1, |mut draw| {
            let gap = exponential(&mut draw, 1.0);
            if uniform(&mut draw) < 0.1 {
                0.0
            } else {
                gap * 1.11
            }
        });
        for (name, seen) in [("slower", slower), ("even", even), ("held", held)] {
            assert!(seen > 0.8, "{name}: {seen}");
        }
    }

    #[test]
    fn too_few_say_nothing_and_what_cannot_be_has_no_chance() {
        assert_eq!(anderson_darling(&[0.5; 7], |figure| figure), None);
        assert_eq!(poisson_gaps(&[1.0; 20], 0, 1.0), None);
        let fit = anderson_darling(&[2.0; 20], |_outside| 1.0).unwrap();
        assert!(fit.statistic > 100.0 && fit.chance == 0.0, "{fit:?}");
    }
}
