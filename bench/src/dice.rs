//! Chance that is the same in every run.

/// SplitMix64: enough to draw rooms, prices and symbols.
#[derive(Debug)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) const fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
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
        let mut dice = Dice(1);
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
