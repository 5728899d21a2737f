//! Random numbers that a seed decides: the same on every machine and in every version.

/// `SplitMix64`: G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators",
/// 2014. Its numbers are part of what "the same seed" means, so they are ours and not a crate's.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub const fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is at least 1. Small bounds are hit evenly enough: the bias is
    /// `bound` in 2^64.
    pub const fn below(&mut self, bound: u64) -> u64 {
        self.draw() % bound
    }

    /// Whether one of `of` equal chances came true.
    pub const fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// One of these, of which there is at least one.
    ///
    /// # Panics
    /// When there is none.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        let index = self.below(of.len() as u64);
        of[usize::try_from(index).expect("an index below the length")]
    }

    pub const fn byte(&mut self) -> u8 {
        let [byte, ..] = self.draw().to_le_bytes();
        byte
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        let mut random = Random::new(1_234_567);
        let numbers = [random.draw(), random.draw(), random.draw()];
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }
}
