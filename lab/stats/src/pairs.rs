//! Two systems compared by runs in pairs, in an order that chance decides.
//!
//! The unit is the run: bins of one run resemble each other more than those of the next. The two
//! runs of a pair follow each other, so that a machine that slows down in an hour slows both.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    chance::{below, shuffle},
    interval::Interval,
    sample,
    student::{chance_beyond, critical, quantile},
    units::count,
};

/// How often a difference of the given size should be found.
const POWER: f64 = 0.9;

/// Up to so many pairs all 2^n signs are tried for the permutation test.
const EXACT_PAIRS_MAX: usize = 16;

/// Degrees of freedom of an interval that rests on many pieces of a run: Student's t is the normal
/// distribution then.
const OF_MANY: f64 = 1e6;

/// More pairs than this are not proposed.
const PAIRS_MAX: usize = 10_000;

/// Which system of a pair runs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LeadingSystem {
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
pub struct PairedComparison {
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
pub fn plan(draw: &mut impl FnMut() -> u64, pairs: usize) -> Vec<LeadingSystem> {
    let odd = below(draw, 2);
    let mut order: Vec<LeadingSystem> = (0..pairs)
        .map(|pair| {
            if (pair + odd).is_multiple_of(2) {
                LeadingSystem::Old
            } else {
                LeadingSystem::New
            }
        })
        .collect();
    shuffle(draw, &mut order);
    order
}

impl PairedComparison {
    /// Of pairs `(old, new)` of one figure of each run, both above 0. `margin` is the share below
    /// which a difference does not matter: 0.02 is 2 %. Nothing for fewer than two pairs.
    ///
    /// "Same" is two one-sided tests at 5 % (D. Schuirmann, 1987). A difference that is certain goes
    /// before it, however small: the ratio says whether it matters.
    #[must_use]
    pub fn of(pairs: &[(f64, f64)], margin: f64) -> Option<Self> {
        let logs: Vec<f64> = pairs.iter().map(|(old, new)| (new / old).ln()).collect();
        if logs.len() < 2 {
            return None;
        }
        let difference = LogDifference {
            pairs: logs.len(),
            mean: sample::mean(&logs),
            error: (sample::variance(&logs) / count(logs.len())).sqrt(),
            freedom: count(logs.len()) - 1.0,
        };
        Some(difference.judged(margin, chance_by_signs(&logs)))
    }
}

impl PairedComparison {
    /// Of one run each, from what its own interval says of a figure above 0: the intervals' widths
    /// are added in squares. How much runs differ from each other is not in them, so a difference that
    /// is certain here may still be one of the machine. Nothing where an end is not above 0.
    #[must_use]
    pub fn of_one_pair(old: &Interval, new: &Interval, margin: f64) -> Option<Self> {
        if [old, new].iter().any(|figure| figure.low <= 0.0) {
            return None;
        }
        let reach = critical(OF_MANY);
        let error = |figure: &Interval| (figure.high / figure.low).ln() / 2.0 / reach;
        let difference = LogDifference {
            pairs: 1,
            mean: (new.estimate / old.estimate).ln(),
            error: error(old).hypot(error(new)),
            freedom: OF_MANY,
        };
        Some(difference.judged(margin, None))
    }
}

/// The mean of the logarithms of B over A, and how well it is known.
#[derive(Clone, Copy, Debug)]
struct LogDifference {
    pairs: usize,
    mean: f64,
    error: f64,
    freedom: f64,
}

impl LogDifference {
    fn judged(self, margin: f64, chance_by_signs: Option<f64>) -> PairedComparison {
        let (mean, error, freedom) = (self.mean, self.error, self.freedom);
        let interval = Interval::about(mean, critical(freedom) * error);
        let limit = margin.ln_1p();
        let reach = quantile(0.95, freedom) * error;
        let verdict = if interval.low > 0.0 {
            Verdict::Higher
        } else if interval.high < 0.0 {
            Verdict::Lower
        } else if mean.abs() + reach < limit {
            Verdict::Same
        } else {
            let needed = needed(error * count(self.pairs).sqrt(), limit);
            let more_pairs = needed.saturating_sub(self.pairs).max(1);
            Verdict::CannotTell { more_pairs }
        };
        PairedComparison {
            pairs: self.pairs,
            ratio: interval.map(f64::exp),
            chance: chance(mean, error, freedom),
            chance_by_signs,
            verdict,
        }
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

    use super::{LeadingSystem, PairedComparison, Verdict, holm, needed, plan};
    use crate::{Interval, chance::normal};

    #[test]
    fn one_run_each_is_compared_by_its_own_interval() {
        let within = |mean: f64, share: f64| Interval::about(mean, mean * share);
        let rows = [
            (within(100.0, 0.01), within(120.0, 0.01), Verdict::Higher),
            (within(100.0, 0.01), within(90.0, 0.01), Verdict::Lower),
            (within(100.0, 0.003), within(100.1, 0.003), Verdict::Same),
        ];
        for (old, new, verdict) in rows {
            let found = PairedComparison::of_one_pair(&old, &new, 0.02).unwrap();
            assert_eq!((found.pairs, found.verdict), (1, verdict), "{found:?}");
            // Widths of one part in a hundred each make one of 1.4 in a hundred.
            let expected = new.relative().hypot(old.relative());
            assert!((found.ratio.relative() / expected - 1.0).abs() < 0.01);
        }
        let vague = PairedComparison::of_one_pair(&within(100.0, 0.1), &within(105.0, 0.1), 0.02);
        assert!(matches!(
            vague.unwrap().verdict,
            Verdict::CannotTell { more_pairs: 1.. }
        ));
        let about_zero = Interval::about(1.0, 1.5);
        assert_eq!(
            PairedComparison::of_one_pair(&about_zero, &about_zero, 0.02),
            None
        );
    }

    #[test]
    fn each_system_is_first_in_half_of_the_pairs() {
        let mut random = Random::new(12);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let order = plan(&mut || random.draw(), 5);
            let old: Vec<bool> = order
                .iter()
                .map(|first| *first == LeadingSystem::Old)
                .collect();
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
            let found = PairedComparison::of(&pairs, 0.02).unwrap();
            assert_eq!(found.verdict, verdict, "{found:?}");
        }
        assert_eq!(PairedComparison::of(&[(1.0, 2.0)], 0.02), None);
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
        let found = PairedComparison::of(&pairs, 0.02).unwrap();
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
            PairedComparison::of(&runs, 0.001).unwrap().verdict == Verdict::Higher
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
