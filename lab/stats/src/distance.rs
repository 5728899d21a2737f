//! How far two distributions are apart, whatever their shape.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::units::{count, to_float};

/// Up to so many pairs all ways to swap the two of a pair are tried.
const EXACT_PAIRS_MAX: usize = 12;

/// Durations in buckets: the longest of each in nanoseconds, and how many lie in it, as
/// [`Histogram::buckets`](crate::Histogram::buckets) gives them.
pub type Buckets = [(u64, u64)];

/// The largest difference between the shares of two samples below any one value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distance {
    /// Between 0 (the same) and 1 (they do not overlap).
    pub share: f64,
    /// The value in nanoseconds.
    pub at_ns: u64,
}

/// The distance of two systems over pairs of runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairedEffect {
    pub distance: Distance,
    /// How likely so large a one is if the two of each pair could be swapped; absent for many pairs
    /// and for fewer than two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
}

/// The shares of one run in each bucket of all.
type BucketShares = Vec<f64>;

impl Distance {
    /// Of two samples; nothing when one is empty. N. Smirnov, "Table for estimating the goodness of
    /// fit of empirical distributions", 1948.
    #[must_use]
    pub fn between(one: &Buckets, other: &Buckets) -> Option<Self> {
        let ends = ends([one, other].into_iter());
        let (one, other) = (shares(&ends, one)?, shares(&ends, other)?);
        let differences = one.iter().zip(&other).map(|(one, other)| one - other);
        Some(Self::of(&ends, differences))
    }

    /// Of the differences of the shares in each bucket.
    fn of(ends: &[u64], differences: impl Iterator<Item = f64>) -> Self {
        let mut sum = 0.0_f64;
        let mut most = Self {
            share: 0.0,
            at_ns: ends.first().copied().unwrap_or(0),
        };
        for (&at_ns, difference) in ends.iter().zip(differences) {
            sum += difference;
            if sum.abs() > most.share {
                let share = sum.abs();
                most = Self { share, at_ns };
            }
        }
        most
    }
}

impl PairedEffect {
    /// Of pairs of runs, each run counting alike. The unit is the run: responses of one run resemble
    /// each other, so that a test which takes each for itself calls equal systems different.
    #[must_use]
    pub fn of(pairs: &[(&Buckets, &Buckets)]) -> Option<Self> {
        let ends = ends(pairs.iter().flat_map(|(one, other)| [*one, *other]));
        let differences: Vec<BucketShares> = pairs
            .iter()
            .map(|(one, other)| {
                let (one, other) = (shares(&ends, one)?, shares(&ends, other)?);
                Some(
                    one.iter()
                        .zip(&other)
                        .map(|(one, other)| one - other)
                        .collect(),
                )
            })
            .collect::<Option<_>>()?;
        if differences.is_empty() {
            return None;
        }
        let swapped = |signs: usize| {
            let mean = (0..ends.len()).map(|bucket| {
                let signed = differences.iter().enumerate().map(|(pair, each)| {
                    if signs >> pair & 1 == 1 {
                        -each[bucket]
                    } else {
                        each[bucket]
                    }
                });
                signed.sum::<f64>() / count(differences.len())
            });
            Distance::of(&ends, mean)
        };
        let distance = swapped(0);
        let exact = (2..=EXACT_PAIRS_MAX).contains(&differences.len());
        let chance = exact.then(|| {
            let all = 1_usize << differences.len();
            let reached = distance.share * (1.0 - 1e-12);
            let far = (0..all).filter(|&signs| swapped(signs).share >= reached);
            count(far.count()) / count(all)
        });
        Some(Self { distance, chance })
    }
}

/// All ends of buckets, in order.
fn ends<'a>(all: impl Iterator<Item = &'a Buckets>) -> Vec<u64> {
    let mut ends: Vec<u64> = all.flatten().map(|(end, _)| *end).collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}

fn shares(ends: &[u64], buckets: &Buckets) -> Option<BucketShares> {
    let all: u64 = buckets.iter().map(|(_, count)| count).sum();
    let counts: BTreeMap<u64, u64> = buckets.iter().copied().collect();
    let share = |end| to_float(counts.get(end).copied().unwrap_or(0)) / to_float(all);
    (all > 0).then(|| ends.iter().map(share).collect())
}

#[cfg(test)]
mod tests {
    use turnstile_seed::Random;

    use super::{Distance, PairedEffect};
    use crate::{
        Histogram,
        chance::{exponential, normal, uniform},
    };

    /// A run of 400 responses of about a millisecond, on a machine that is faster or slower in each.
    fn run(draw: &mut impl FnMut() -> u64, slow: f64) -> Vec<(u64, u64)> {
        let level = 1e6 * (0.05 * normal(draw)).exp();
        let mut histogram = Histogram::new();
        for _ in 0..400 {
            let long = if uniform(draw) < slow { 5.0 } else { 1.0 };
            let response = level * (1.0 + exponential(draw, long));
            histogram.record(format!("{response:.0}").parse().unwrap());
        }
        histogram.buckets()
    }

    /// In what share of comparisons of so many pairs the chance was at most 5 %.
    fn alarms(pairs: usize, slow: f64) -> f64 {
        let mut random = Random::new(11);
        let mut draw = || random.draw();
        let mut alarms = 0.0;
        for _ in 0..200 {
            let runs: Vec<_> = (0..pairs)
                .map(|_| (run(&mut draw, 0.0), run(&mut draw, slow)))
                .collect();
            let runs: Vec<_> = runs
                .iter()
                .map(|(one, other)| (&one[..], &other[..]))
                .collect();
            let apart = PairedEffect::of(&runs).unwrap();
            alarms += f64::from(u8::from(apart.chance.unwrap() <= 0.05));
        }
        alarms / 200.0
    }

    #[test]
    fn the_distance_is_the_largest_difference_of_shares() {
        let one = [(10, 5), (20, 5)];
        let other = [(10, 1), (20, 5), (30, 4)];
        let distance = Distance::between(&one, &other).unwrap();
        assert!((distance.share - 0.4).abs() < 1e-12, "{distance:?}");
        assert_eq!(distance.at_ns, 10);
        assert_eq!(Distance::between(&one, &one).unwrap().share, 0.0);
        let apart = Distance::between(&[(1, 3)], &[(2, 9)]).unwrap();
        assert_eq!((apart.share, apart.at_ns), (1.0, 1));
        assert_eq!(Distance::between(&one, &[]), None);
    }

    #[test]
    fn equal_systems_are_seldom_called_different_and_a_tail_is_seen() {
        let false_alarms = alarms(7, 0.0);
        assert!(false_alarms <= 0.09, "{false_alarms}");
        let found = alarms(7, 0.2);
        assert!(found >= 0.9, "{found}");
    }

    #[test]
    fn one_pair_and_very_many_have_a_distance_but_no_chance() {
        let one: &[(u64, u64)] = &[(10, 5), (20, 5)];
        let other: &[(u64, u64)] = &[(10, 4), (20, 6)];
        for pairs in [1, 13] {
            let apart = PairedEffect::of(&vec![(one, other); pairs]).unwrap();
            assert!((apart.distance.share - 0.1).abs() < 1e-9, "{apart:?}");
            assert_eq!(apart.chance, None);
        }
        assert_eq!(PairedEffect::of(&[]), None);
    }
}
