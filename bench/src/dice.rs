//! Chance that is the same in every run.

use std::fmt;

use turnstile_seed::Random;

/// Enough to draw rooms, prices, symbols and the order flow.
#[derive(Debug)]
pub(crate) struct Dice(Random);

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    pub(crate) const fn throw(&mut self) -> u64 {
        self.0.draw()
    }

    /// Any of `0..end`.
    pub(crate) fn below<N>(&mut self, end: N) -> N
    where
        N: Into<u64> + TryFrom<u64, Error: fmt::Debug>,
    {
        let below = self.0.below(end.into());
        N::try_from(below).expect("what is below a number is of its type")
    }

    pub(crate) fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// In [0, 1).
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.throw() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Exponential with mean 1, by comparisons alone (von Neumann): the library's logarithm may
    /// differ in its last bit from machine to machine, comparisons do not.
    pub(crate) fn exponential(&mut self) -> f64 {
        let mut whole = 0.0;
        loop {
            let first = self.unit();
            let (mut last, mut length) = (first, 1);
            loop {
                let next = self.unit();
                if next >= last {
                    break;
                }
                (last, length) = (next, length + 1);
            }
            if length % 2 == 1 {
                return whole + first;
            }
            whole += 1.0;
        }
    }
}

/// Numbers of which the first are wanted most: the chance of number n is as that of 1 / (n + 1)^skew.
#[derive(Debug)]
pub(crate) struct Zipf {
    /// The chance of each number or one before it, the last 1.
    below: Vec<f64>,
}

impl Zipf {
    pub(crate) fn new(count: u32, skew: f64) -> Self {
        let weights = (1..=count).map(|rank| f64::from(rank).powf(-skew));
        let mut sum = 0.0;
        let mut below: Vec<f64> = weights
            .map(|weight| {
                sum += weight;
                sum
            })
            .collect();
        below.iter_mut().for_each(|bound| *bound /= sum);
        Self { below }
    }

    pub(crate) fn draw(&self, dice: &mut Dice) -> u32 {
        const STEPS: u32 = 1 << 30;
        let point = f64::from(dice.below(STEPS)) / f64::from(STEPS);
        let number = self.below.partition_point(|bound| *bound <= point);
        u32::try_from(number.min(self.below.len() - 1)).expect("below the count")
    }
}

#[cfg(test)]
mod tests {
    use super::{Dice, Zipf};

    #[test]
    fn throws_stay_below_their_bound_and_reach_all_of_it() {
        let mut dice = Dice::new(1);
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[usize::try_from(dice.below(10_u32)).unwrap()] += 1;
        }
        assert!(
            seen.iter().all(|&count| (800..1_200).contains(&count)),
            "{seen:?}"
        );
    }

    #[test]
    fn the_first_number_is_wanted_most() {
        let (zipf, mut dice) = (Zipf::new(100, 0.99), Dice::new(1));
        let mut seen = [0_u32; 100];
        for _ in 0..100_000 {
            seen[usize::try_from(zipf.draw(&mut dice)).unwrap()] += 1;
        }
        // Its chance is 1 / 5.29, that of the tenth 9.77 times smaller.
        assert!((18_300..19_500).contains(&seen[0]), "{seen:?}");
        assert!((1_700..2_200).contains(&seen[9]), "{seen:?}");
        assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
    }
}
