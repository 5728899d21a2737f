//! Two systems compared by runs in pairs, in an order that chance decides.
//!
//! The unit is the run: bins of one run resemble each other more than those of the next. The two
//! runs of a pair follow each other, so that a machine that slows down in an hour slows both.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    chance::{below, shuffle},
    interval::{Interval, chance_beyond, critical, quantile},
    sample,
    units::count,
};

/// How often a difference of the given size should be found.
const POWER: f64 = 0.9;

/// Up to so many pairs all 2^n signs are tried for the permutation test.
const EXACT_PAIRS_MAX: usize = 16;

/// More pairs than this are not proposed.
const PAIRS_MAX: usize = 10_000;

/// Which system of a pair runs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum First {
    Old,
    New,
}

/// What is known after the pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No certain difference, and surely none as large as the margin.
    Same,
    Higher,
    Lower,
    /// So many more pairs would find a difference as large as the margin in nine of ten cases.
    CannotTell {
        more_pairs: usize,
    },
}

/// New against old.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Comparison {
    pub pairs: usize,
    /// New over old, geometric mean.
    pub ratio: Interval,
    /// How likely so large a difference is if there is none: by Student's paired t.
    pub chance: f64,
    /// The same without any distribution: by all changes of sign; nothing for many pairs.
    pub chance_by_signs: Option<f64>,
    pub verdict: Verdict,
}

/// Who runs first in each pair: each system in half of them, in an order that chance decides, and
/// so does a drift of the machine no harm to either.
pub fn plan(draw: &mut impl FnMut() -> u64, pairs: usize) -> Vec<First> {
    let odd = below(draw, 2);
    let mut order: Vec<First> = (0..pairs)
        .map(|pair| {
            if (pair + odd).is_multiple_of(2) {
                First::Old
            } else {
                First::New
            }
        })
        .collect();
    shuffle(draw, &mut order);
    order
}

impl Comparison {
    /// Of pairs `(old, new)` of one figure of each run, both above 0. `margin` is the share below
    /// which a difference does not matter: 0.02 is 2 %. Nothing for fewer than two pairs.
    ///
    /// "Same" is two one-sided tests at 5 % (D. Schuirmann, 1987). A difference that is certain goes
    /// before it, however small: the ratio says whether it matters.
    #[must_use]
    pub fn of(pairs: &[(f64, f64)], margin: f64) -> Option<Self> {
        let logs: Vec<f64> = pairs.iter().map(|(old, new)| (new / old).ln()).collect();
        let interval = Interval::of_mean(&logs)?;
        let freedom = count(logs.len()) - 1.0;
        let deviation = sample::variance(&logs).sqrt();
        let error = deviation / count(logs.len()).sqrt();
        let limit = margin.ln_1p();
        let reach = quantile(0.95, freedom) * error;
        let mean = interval.estimate;
        let verdict = if interval.low > 0.0 {
            Verdict::Higher
        } else if interval.high < 0.0 {
            Verdict::Lower
        } else if mean.abs() + reach < limit {
            Verdict::Same
        } else {
            let needed = needed(deviation, limit);
            let more_pairs = needed.saturating_sub(logs.len()).max(1);
            Verdict::CannotTell { more_pairs }
        };
        Some(Self {
            pairs: logs.len(),
            ratio: interval.map(f64::exp),
            chance: chance(mean, error, freedom),
            chance_by_signs: chance_by_signs(&logs),
            verdict,
        })
    }
}

fn chance(mean: f64, error: f64, freedom: f64) -> f64 {
    if error > 0.0 {
        chance_beyond(mean / error, freedom)
    } else {
        f64::from(u8::from(mean == 0.0))
    }
}

/// How many pairs find a difference of `effect` in 90 % of cases, at a false alarm in 5 %, when the
/// differences of pairs have this standard deviation; both as shares. At least 2, at most 10,000.
#[must_use]
pub fn needed(deviation: f64, effect: f64) -> usize {
    let enough = |pairs: &usize| {
        let freedom = count(*pairs) - 1.0;
        let reach = critical(freedom) + quantile(POWER, freedom);
        reach * deviation <= effect * count(*pairs).sqrt()
    };
    (2..PAIRS_MAX).find(enough).unwrap_or(PAIRS_MAX)
}

/// The share of all changes of sign whose sum is as far from zero.
fn chance_by_signs(differences: &[f64]) -> Option<f64> {
    if differences.len() > EXACT_PAIRS_MAX {
        return None;
    }
    let reached = differences.iter().sum::<f64>().abs() * (1.0 - 1e-12);
    let all = 1_usize << differences.len();
    let far = (0..all).filter(|signs| {
        let signed = differences.iter().enumerate().map(|(at, difference)| {
            if signs >> at & 1 == 1 {
                -difference
            } else {
                *difference
            }
        });
        signed.sum::<f64>().abs() >= reached
    });
    Some(count(far.count()) / count(all))
}

/// Chances of several figures of the same runs, made honest about their number (S. Holm, "A simple
/// sequentially rejective multiple test procedure", 1979). In the order given.
#[must_use]
pub fn holm(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|&one, &other| chances[one].total_cmp(&chances[other]));
    let mut adjusted = vec![0.0; chances.len()];
    let mut highest = 0.0_f64;
    for (rank, at) in order.into_iter().enumerate() {
        highest = highest
            .max(chances[at] * count(chances.len() - rank))
            .min(1.0);
        adjusted[at] = highest;
    }
    adjusted
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same => f.write_str("the same"),
            Self::Higher => f.write_str("higher"),
            Self::Lower => f.write_str("lower"),
            Self::CannotTell { more_pairs } => {
                write!(f, "cannot tell, {more_pairs} more pairs would")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use turnstile_seed::Random;

    use super::{Comparison, First, Verdict, holm, needed, plan};
    use crate::chance::normal;

    #[test]
    fn each_system_is_first_in_half_of_the_pairs() {
        let mut random = Random::new(12);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let order = plan(&mut || random.draw(), 5);
            let old: Vec<bool> = order.iter().map(|first| *first == First::Old).collect();
            let firsts = old.iter().filter(|&&old| old).count();
            assert!(firsts == 2 || firsts == 3, "{order:?}");
            seen.insert(old);
        }
        assert_eq!(seen.len(), 20, "all orders come");
    }

    #[test]
    fn verdicts_follow_from_the_pairs() {
        let rows: [(&[f64], Verdict); 4] = [
            (&[1.001, 0.999, 1.002, 0.998, 1.0], Verdict::Same),
            (&[1.05, 1.06, 1.04, 1.05, 1.07], Verdict::Higher),
            (&[0.95, 0.94, 0.96, 0.95, 0.93], Verdict::Lower),
            (
                &[1.05, 0.95, 1.02, 0.97, 1.03],
                Verdict::CannotTell { more_pairs: 45 },
            ),
        ];
        for (ratios, verdict) in rows {
            let pairs: Vec<(f64, f64)> =
                ratios.iter().map(|ratio| (250.0, 250.0 * ratio)).collect();
            let found = Comparison::of(&pairs, 0.02).unwrap();
            assert_eq!(found.verdict, verdict, "{found:?}");
        }
        assert_eq!(Comparison::of(&[(1.0, 2.0)], 0.02), None);
    }

    #[test]
    fn a_comparison_has_ratio_interval_and_chances() {
        let pairs = [
            (100.0, 103.0),
            (50.0, 51.0),
            (200.0, 208.0),
            (80.0, 81.0),
            (10.0, 10.5),
        ];
        let found = Comparison::of(&pairs, 0.02).unwrap();
        assert_eq!(format!("{:.4}", found.ratio), "1.0304 (1.0119 .. 1.0492)");
        assert_eq!(found.chance_by_signs, Some(2.0 / 32.0));
        assert!((found.chance - 0.01009).abs() < 1e-5, "{}", found.chance);
        assert_eq!(found.verdict, Verdict::Higher);
    }

    #[test]
    fn the_planned_number_of_pairs_has_the_planned_power() {
        // The formula for large numbers says 10.5 (sd / effect)^2.
        assert_eq!(needed(0.10, 0.01), 1_053);
        let pairs = needed(0.01, 0.02);
        assert_eq!(pairs, 5);
        let mut random = Random::new(13);
        let found = (0..1_000).filter(|_| {
            let runs: Vec<(f64, f64)> = (0..pairs)
                .map(|_| (1.0, (0.02 + 0.01 * normal(&mut || random.draw())).exp()))
                .collect();
            Comparison::of(&runs, 0.001).unwrap().verdict == Verdict::Higher
        });
        let found = found.count();
        assert!(found >= 880, "{found} of 1000");
    }

    #[test]
    fn holm_is_that_of_the_books() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        let known = [0.03, 0.06, 0.06, 0.02];
        assert!(
            adjusted
                .iter()
                .zip(known)
                .all(|(found, known)| (found - known).abs() < 1e-12),
            "{adjusted:?}"
        );
    }
}
