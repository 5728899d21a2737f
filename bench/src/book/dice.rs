//! Chance for the order flow that is the same on every machine.

use turnstile_seed::Random;

/// The randomness of a deterministic stream.
#[derive(Debug)]
pub(super) struct Dice(Random);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    pub(super) const fn next(&mut self) -> u64 {
        self.0.draw()
    }

    /// Any of `0..end`.
    pub(super) const fn below(&mut self, end: u64) -> u64 {
        self.0.below(end)
    }

    pub(super) fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < u64::from(percent)
    }

    /// In [0, 1).
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Exponential with mean 1, by comparisons alone (von Neumann): the library's logarithm may
    /// differ in its last bit from machine to machine, comparisons do not.
    pub(super) fn exponential(&mut self) -> f64 {
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
