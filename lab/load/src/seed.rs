//! Randomness that is the same in every version and on every machine.

/// S. Vigna's SplitMix64: its numbers are part of what "the same seed" means, so they are ours
/// and not a crate's.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// The dice of one user: streams of different users share nothing.
    pub(crate) const fn of_user(seed: u64, user: u64) -> Self {
        let mut dice = Self(seed);
        let own = dice.next();
        Self(own ^ user.wrapping_mul(0xd134_2543_de82_ef95))
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`. The bias is below one part in a million for our bounds.
    pub(crate) const fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

#[cfg(test)]
mod tests {
    use super::Dice;

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        let mut dice = Dice(1_234_567);
        let numbers = [dice.next(), dice.next(), dice.next()];
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn users_and_seeds_have_streams_of_their_own() {
        let first = |seed, user| Dice::of_user(seed, user).next();
        assert_eq!(first(1, 2), first(1, 2));
        assert_ne!(first(1, 2), first(1, 3));
        assert_ne!(first(1, 2), first(2, 2));
    }
}
