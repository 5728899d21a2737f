//! Chance that is the same in every run.

use turnstile_seed::Random;

/// Enough to draw rooms, prices and symbols.
#[derive(Debug)]
pub(crate) struct Dice(Random);

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    pub(crate) const fn throw(&mut self) -> u64 {
        self.0.draw()
    }

    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        let remainder = self.throw() % u64::from(bound);
        u32::try_from(remainder).expect("a remainder is below its divisor")
    }
}

#[cfg(test)]
mod tests {
    use super::Dice;

    #[test]
    fn throws_stay_below_their_bound_and_reach_all_of_it() {
        let mut dice = Dice::new(1);
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[usize::try_from(dice.below(10)).unwrap()] += 1;
        }
        assert!(
            seen.iter().all(|&count| (800..1_200).contains(&count)),
            "{seen:?}"
        );
    }
}
