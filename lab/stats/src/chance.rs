//! Draws for resampling and for simulated systems, from whichever generator the caller has seeded.
//!
//! A generator is a closure that returns numbers spread evenly over all of `u64`. The same numbers
//! give the same results, so that every interval that rests on chance can be had again.

use std::f64::consts::TAU;

use crate::units::to_float;

/// 2^-52: so wide are the steps, for the middle of the last one is still below 1.
const STEP: f64 = f64::EPSILON;

/// A number between 0 and 1, neither of them included.
pub fn uniform(draw: &mut impl FnMut() -> u64) -> f64 {
    (to_float(draw() >> 12) + 0.5) * STEP
}

/// A number below `bound`.
///
/// # Panics
/// When `bound` is 0.
pub fn below(draw: &mut impl FnMut() -> u64, bound: usize) -> usize {
    let bound = u64::try_from(bound).expect("a length has at most 64 bits");
    usize::try_from(draw() % bound).expect("below a length")
}

/// A number of the normal distribution with mean 0 and standard deviation 1.
///
/// G. Box and M. Muller, "A note on the generation of random normal deviates", 1958.
pub fn normal(draw: &mut impl FnMut() -> u64) -> f64 {
    let radius = (-2.0 * uniform(draw).ln()).sqrt();
    radius * (TAU * uniform(draw)).cos()
}

/// A number of the exponential distribution with this mean.
pub fn exponential(draw: &mut impl FnMut() -> u64, mean: f64) -> f64 {
    -mean * uniform(draw).ln()
}

/// Puts the items into one of all their orders, each equally likely (Fisher and Yates).
pub fn shuffle<T>(draw: &mut impl FnMut() -> u64, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(draw, last + 1));
    }
}

#[cfg(test)]
mod tests {
    use turnstile_seed::Random;

    use super::{exponential, normal, shuffle, uniform};
    use crate::sample;

    const DRAWS: usize = 200_000;

    #[test]
    fn the_moments_are_those_of_the_distributions() {
        let mut random = Random::new(1);
        let mut draw = || random.draw();
        let check = |name: &str, moments: (f64, f64), one: &mut dyn FnMut() -> f64| {
            let drawn: Vec<f64> = (0..DRAWS).map(|_| one()).collect();
            let found = (sample::mean(&drawn), sample::variance(&drawn));
            let near = |found: f64, known: f64| (found - known).abs() < 0.02;
            assert!(
                near(found.0, moments.0) && near(found.1, moments.1),
                "{name}: {found:?}"
            );
        };
        check("uniform", (0.5, 1.0 / 12.0), &mut || uniform(&mut draw));
        check("normal", (0.0, 1.0), &mut || normal(&mut draw));
        check("exponential", (1.0, 1.0), &mut || {
            exponential(&mut draw, 1.0)
        });
    }

    #[test]
    fn the_ends_of_the_generator_stay_between_zero_and_one() {
        assert!(uniform(&mut || 0) > 0.0);
        assert!(uniform(&mut || u64::MAX) < 1.0);
    }

    #[test]
    fn every_order_comes_equally_often() {
        let mut random = Random::new(2);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..60_000 {
            let mut items = ['a', 'b', 'c'];
            shuffle(&mut || random.draw(), &mut items);
            *seen.entry(items).or_insert(0_u32) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(
            seen.values().all(|count| (9_600..10_400).contains(count)),
            "{seen:?}"
        );
    }
}
