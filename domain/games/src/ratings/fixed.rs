//! Numbers with a fixed point: the same on every machine, to the last bit.

use std::ops::{Add, Neg, Sub};

/// A number in units of 2^-32: up to about 2,000,000,000 either way. What is beyond is taken for
/// the largest, so that nothing overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fixed(pub(super) i64);

const BITS: u32 = 32;

/// `1 / ln 2`.
const LOG2_E: Fixed = Fixed(6_196_328_019);

const LN_2: Fixed = Fixed(2_977_044_472);

/// Outside of this, a power of e is zero or too large.
const EXPONENTS: [Fixed; 2] = [Fixed(-23 << BITS), Fixed(21 << BITS)];

/// One over 9!, 8!, ... 1!, 0!.
const TAYLOR: [i64; 10] = [
    11_836,
    106_522,
    852_176,
    5_965_232,
    35_791_394,
    178_956_971,
    715_827_883,
    2_147_483_648,
    4_294_967_296,
    4_294_967_296,
];

/// One over 13, 11, ... 3, 1.
const ODD: [i64; 7] = [
    330_382_100,
    390_451_572,
    477_218_588,
    613_566_757,
    858_993_459,
    1_431_655_765,
    4_294_967_296,
];

impl Fixed {
    pub(super) const ONE: Self = Self(1 << BITS);
    pub(super) const HALF: Self = Self(1 << (BITS - 1));

    fn saturating(wide: i128) -> Self {
        let limit = if wide < 0 { i64::MIN } else { i64::MAX };
        Self(i64::try_from(wide).unwrap_or(limit))
    }

    pub(super) fn mul(self, other: Self) -> Self {
        Self::saturating((i128::from(self.0) * i128::from(other.0)) >> BITS)
    }

    pub(super) fn square(self) -> Self {
        self.mul(self)
    }

    pub(super) const fn times(self, whole: i64) -> Self {
        Self(self.0.saturating_mul(whole))
    }

    /// By zero, it is the largest.
    pub(super) fn div(self, other: Self) -> Self {
        let wide = (i128::from(self.0) << BITS).checked_div(i128::from(other.0));
        wide.map_or(Self(i64::MAX), Self::saturating)
    }

    /// One divided by it: what [`div`](Self::div) computes, without its 128 bits.
    pub(super) fn inverse(self) -> Self {
        let units = self.0.unsigned_abs();
        // One has 65 bits, which matters to the powers of two alone.
        let below = u64::MAX.checked_div(units).unwrap_or(u64::MAX);
        let inverse = below.saturating_add(units.is_power_of_two().into());
        let wide = i128::from(inverse);
        Self::saturating(if self.0 < 0 { -wide } else { wide })
    }

    /// A polynomial of a number that is at most two fifths either way. Its coefficients are at most
    /// those of `e` to a power, that of the highest power first: so every product has 64 bits.
    fn polynomial<const TERMS: usize>(self, coefficients: [i64; TERMS]) -> i64 {
        let coefficients = coefficients.into_iter();
        let sum = coefficients.reduce(|sum, term| ((self.0 * sum) >> BITS) + term);
        sum.expect("the polynomial has terms")
    }

    /// The nearest whole number.
    pub(super) const fn rounded(self) -> i64 {
        self.0.saturating_add(Self::HALF.0) >> BITS
    }

    /// `e` to this power: a power of two, and a series for the rest, which is at most `ln 2 / 2`.
    pub(super) fn exp(self) -> Self {
        let [low, high] = EXPONENTS;
        let twos = self.clamp(low, high).mul(LOG2_E);
        let whole = twos.rounded();
        let rest = (twos - Self(whole << BITS)).mul(LN_2);
        let series = rest.polynomial(TAYLOR);
        Self(match u32::try_from(whole) {
            Ok(left) => series << left,
            Err(_) => series >> whole.unsigned_abs(),
        })
    }

    /// The natural logarithm; of what is not positive, that of the smallest number.
    pub(super) fn ln(self) -> Self {
        let units = self.0.max(1);
        let twos = i64::from(63 - units.leading_zeros()) - i64::from(BITS);
        // From 1 up to 2.
        let part = match u32::try_from(twos) {
            Ok(right) => Self(units >> right),
            Err(_) => Self(units << twos.unsigned_abs()),
        };
        let s = (part - Self::ONE).div(part + Self::ONE);
        let series = s.square().polynomial(ODD);
        LN_2.times(twos) + s.mul(Self(series)).times(2)
    }

    /// Of what is negative: zero.
    pub(super) fn sqrt(self) -> Self {
        let units = u64::try_from(self.0).unwrap_or(0);
        let root = (u128::from(units) << BITS).isqrt();
        Self(i64::try_from(root).expect("the root of 95 bits has 48"))
    }
}

impl Add for Fixed {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Fixed {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Neg for Fixed {
    type Output = Self;

    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

#[cfg(test)]
#[expect(
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "compared with what the system computes"
)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UNIT: f64 = 4_294_967_296.0;

    const TWO_FIFTHS: i64 = Fixed::ONE.0 * 2 / 5;

    fn of(value: f64) -> Fixed {
        Fixed((value * UNIT) as i64)
    }

    fn value(of: Fixed) -> f64 {
        of.0 as f64 / UNIT
    }

    fn near(found: Fixed, expected: f64) -> bool {
        (value(found) - expected).abs() <= 2e-8 * expected.abs().max(1.0)
    }

    #[test]
    fn what_is_out_of_range_is_the_nearest_in_range() {
        assert_eq!(Fixed(i64::MAX).mul(Fixed(i64::MIN)), Fixed(i64::MIN));
        assert_eq!(Fixed(5).div(Fixed(0)), Fixed(i64::MAX));
        assert_eq!(Fixed(i64::MIN).exp(), Fixed(0));
        assert_eq!(Fixed(i64::MAX).exp(), of(21.0).exp());
        assert_eq!(Fixed(-1).sqrt(), Fixed(0));
        assert_eq!(Fixed(0).ln(), Fixed(1).ln());
        assert_eq!(-Fixed(i64::MIN), Fixed(i64::MAX));
    }

    /// A polynomial with products of 128 bits.
    fn wide_polynomial(at: Fixed, coefficients: &[i64]) -> i64 {
        let sum = coefficients.iter().copied();
        sum.reduce(|sum, term| at.mul(Fixed(sum)).0 + term).unwrap()
    }

    #[test]
    fn the_inverse_is_a_quotient_at_every_bound() {
        let powers = (0..63).map(|bits| 1_i64 << bits);
        let around = powers.flat_map(|power| [power - 1, power, power + 1]);
        for units in around.chain([i64::MAX, i64::MIN]) {
            for units in [units, units.wrapping_neg()] {
                let expected = Fixed::ONE.div(Fixed(units));
                assert_eq!(Fixed(units).inverse(), expected, "{units}");
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_computed_with_fewer_bits_is_the_same_to_the_last(
            units in any::<i64>(),
            part in -TWO_FIFTHS..=TWO_FIFTHS,
        ) {
            prop_assert_eq!(Fixed(units).inverse(), Fixed::ONE.div(Fixed(units)));
            let part = Fixed(part);
            prop_assert_eq!(part.polynomial(TAYLOR), wide_polynomial(part, &TAYLOR));
            let square = part.square();
            prop_assert_eq!(square.polynomial(ODD), wide_polynomial(square, &ODD));
        }

        #[test]
        fn powers_roots_and_logarithms_are_those_of_the_system(
            x in -22.0..21.0_f64,
            y in 0.000_001..1_000_000.0_f64,
        ) {
            prop_assert!(near(of(x).exp(), x.exp()), "{x}");
            prop_assert!(near(of(y).sqrt(), y.sqrt()), "{y}");
            let exact = value(of(y));
            prop_assert!(near(of(y).ln(), exact.ln()), "{y}");
            prop_assert!(near(of(x).mul(of(y)), value(of(x)) * exact), "{x} {y}");
            prop_assert!(near(of(x).div(of(y + 1.0)), x / (y + 1.0)), "{x} {y}");
        }
    }
}
