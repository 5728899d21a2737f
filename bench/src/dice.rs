//! Chance that is the same in every run.

use std::fmt;

use turnstile_seed::Random;

/// Enough to draw rooms, nights and the order flow of the book.
#[derive(Debug)]
pub(crate) struct Draws(Random);

impl Draws {
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

#[cfg(test)]
mod tests {
    use super::Draws;

    #[test]
    fn throws_stay_below_their_bound_and_reach_all_of_it() {
        let mut dice = Draws::new(1);
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[usize::try_from(dice.below(10_u32)).unwrap()] += 1;
        }
        assert!(
            seen.iter().all(|&count| (800..1_200).contains(&count)),
            "{seen:?}"
        );
    }
}
