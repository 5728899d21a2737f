//! Ratings: Elo and Glicko-2, in whole numbers.
//!
//! A machine knows no float, and the logarithms of two systems differ in their last bits, so the
//! formulas are computed here with fixed points: docs/decisions/0011-ratings-in-whole-numbers.md.

mod fixed;

use fixed::Fixed;
use turnstile_chassis::Bytes;

use crate::{Seat, Verdict, limits};

/// Elo points, in thousandths.
pub const ELO_START: i64 = 1_500_000;

/// What a win over an equal gives, twice, in thousandths of a point.
const ELO_K: i64 = 32_000;

/// `ln 10 / 400`: what an Elo point is on the natural scale.
const ELO_SCALE: Fixed = Fixed(24_723_819);

/// Who is better by as much, in thousandths of a point, surely wins.
const ELO_APART_MAX: i64 = 4_000_000;

/// How many thousandths of an Elo point the first player gains and the second loses.
#[must_use]
pub fn elo_gain(elo: [i64; 2], verdict: Verdict) -> i64 {
    let [first, second] = elo;
    let apart = first.saturating_sub(second);
    let apart = apart.clamp(-ELO_APART_MAX, ELO_APART_MAX);
    let expected = expectation(Fixed(ELO_SCALE.times(apart).0 / 1_000));
    let gain = (score_of(verdict, Seat::First) - expected).times(ELO_K);
    // Rounded to the nearest; halves away from zero, so that it is the same seen from either side.
    let half = if gain.0 < 0 {
        -Fixed::HALF
    } else {
        Fixed::HALF
    };
    (gain + half).0 / Fixed::ONE.0
}

/// A rating by Glicko-2, on its own scale: units of 2^-32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub struct Glicko {
    pub(crate) rating: i64,
    pub(crate) deviation: i64,
    pub(crate) volatility: i64,
}

/// What one unit of the scale of Glicko-2 is in thousandths of a point.
const GLICKO_SCALE: i64 = 173_718;

/// A rating of 1,500 points is zero on the scale.
const GLICKO_MIDDLE: i64 = 1_500_000;

/// A deviation of 350 points.
const DEVIATION_MAX: Fixed = Fixed(8_653_336_351);

/// Ratings of 0 and of 4,000 points: further apart nobody is.
const RATINGS: [Fixed; 2] = [Fixed(-37_085_727_220), Fixed(61_809_545_366)];

/// How much a volatility may change: half the square of the paper's tau, which is a half.
const HALF_TAU_SQUARED: Fixed = Fixed(Fixed::ONE.0 / 8);

/// Volatilities: a thousandth to one, beyond which no sequence of results leads.
const VOLATILITIES: [Fixed; 2] = [Fixed(4_294_967), Fixed::ONE];

/// Three over the square of pi.
const THREE_BY_PI_SQUARED: Fixed = Fixed(1_305_513_510);

/// How near the volatility's equation is solved: a millionth.
const TOLERANCE: i64 = 4_295;

/// The equation is solved in two or three rounds; there is an end to them in any case.
const ROUNDS_MAX: usize = 32;

impl Glicko {
    /// 1,500 points, give or take 350; volatility 0.06.
    pub const START: Self = Self {
        rating: 0,
        deviation: DEVIATION_MAX.0,
        volatility: 257_698_038,
    };

    /// In thousandths of a point.
    #[must_use]
    pub fn rating_milli(self) -> i64 {
        GLICKO_MIDDLE + Fixed(self.rating).times(GLICKO_SCALE).rounded()
    }

    /// In thousandths of a point.
    #[must_use]
    pub fn deviation_milli(self) -> i64 {
        Fixed(self.deviation).times(GLICKO_SCALE).rounded()
    }

    /// In millionths.
    #[must_use]
    pub fn volatility_micro(self) -> i64 {
        Fixed(self.volatility).times(1_000_000).rounded()
    }

    /// In whole points: 0 to 4,000.
    #[must_use]
    pub fn points(self) -> u32 {
        let points = self.rating_milli().div_euclid(1_000);
        u32::try_from(points).map_or(0, |points| points.min(limits::RATING_MAX))
    }

    /// Whether no rating is beyond what this module computes.
    pub(crate) fn is_sound(self) -> bool {
        let within = |value: i64, [low, high]: [Fixed; 2]| (low.0..=high.0).contains(&value);
        within(self.rating, RATINGS)
            && within(self.deviation, [Fixed(1), DEVIATION_MAX])
            && within(self.volatility, VOLATILITIES)
    }

    /// Both ratings after a match, which is a rating period of its own.
    #[must_use]
    pub fn after(both: [Self; 2], verdict: Verdict) -> [Self; 2] {
        let [first, second] = both;
        [
            first.met(second, score_of(verdict, Seat::First)),
            second.met(first, score_of(verdict, Seat::Second)),
        ]
    }

    /// The steps of the paper, in its letters: <https://www.glicko.net/glicko/glicko2.pdf>.
    fn met(self, opponent: Self, score: Fixed) -> Self {
        let (mu, phi) = (Fixed(self.rating), Fixed(self.deviation));
        let g = weight(Fixed(opponent.deviation));
        let x = g
            .mul(mu - Fixed(opponent.rating))
            .clamp(-EXPONENT_MAX, EXPONENT_MAX);
        // The paper's `E` is one over this and one.
        let odds = (-x).exp();
        // `1 / (E (1 - E))`, without the loss of what is close to zero.
        let spread = x.exp() + odds + Fixed::ONE.times(2);
        let v = spread.div(g.square());
        let surprise = g.mul(score - (Fixed::ONE + odds).inverse());
        let volatility = self.next_volatility(v, v.mul(surprise));
        let before = phi.square() + volatility.square();
        let variance = (before.inverse() + v.inverse()).inverse();
        let [low, high] = RATINGS;
        Self {
            rating: (mu + variance.mul(surprise)).clamp(low, high).0,
            deviation: variance.sqrt().clamp(Fixed(1), DEVIATION_MAX).0,
            volatility: volatility.0,
        }
    }

    /// Step 5: where the paper's `f` is zero, which is where
    /// `x = a + tau^2 e^x / 2 ((delta / d)^2 - 1 / d)` with `d = phi^2 + v + e^x`. The term behind
    /// `a` changes by less than a sixth of what `x` does, so that it is solved by putting it in
    /// again and again.
    fn next_volatility(self, v: Fixed, delta: Fixed) -> Fixed {
        let start = Fixed(self.volatility).ln().times(2);
        let rest = Fixed(self.deviation).square() + v;
        let mut x = start;
        for _ in 0..ROUNDS_MAX {
            let e = x.exp();
            let d = rest + e;
            let excess = delta.div(d).square() - d.inverse();
            let next = start + e.mul(excess).mul(HALF_TAU_SQUARED);
            let step = (next - x).0.abs();
            x = next;
            if step <= TOLERANCE {
                break;
            }
        }
        let [low, high] = VOLATILITIES;
        Fixed(x.0 / 2).exp().clamp(low, high)
    }
}

/// Beyond this, what was expected is certain: it is `e^-16` off.
const EXPONENT_MAX: Fixed = Fixed(16 * Fixed::ONE.0);

/// The logistic function: what is expected of somebody who is so much better.
fn expectation(x: Fixed) -> Fixed {
    let x = x.clamp(-EXPONENT_MAX, EXPONENT_MAX);
    (Fixed::ONE + (-x).exp()).inverse()
}

/// How much a result says that was had against somebody of this deviation: the paper's `g`.
fn weight(deviation: Fixed) -> Fixed {
    let inverse = Fixed::ONE + THREE_BY_PI_SQUARED.mul(deviation.square());
    inverse.sqrt().inverse()
}

fn score_of(verdict: Verdict, seat: Seat) -> Fixed {
    match verdict.winner() {
        None => Fixed::HALF,
        Some(winner) if winner == seat => Fixed::ONE,
        Some(_) => Fixed(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elo_of_equals_moves_by_sixteen_points() {
        let even = [ELO_START; 2];
        assert_eq!(elo_gain(even, Verdict::FirstWon), 16_000);
        assert_eq!(elo_gain(even, Verdict::SecondWon), -16_000);
        assert_eq!(elo_gain(even, Verdict::Drawn), 0);
        // 400 points apart, ten to one is expected.
        assert_eq!(elo_gain([1_900_000, 1_500_000], Verdict::FirstWon), 2_909);
        assert_eq!(elo_gain([1_500_000, 1_900_000], Verdict::FirstWon), 29_091);
        assert_eq!(elo_gain([i64::MAX, i64::MIN], Verdict::FirstWon), 0);
        assert_eq!(elo_gain([i64::MIN, i64::MAX], Verdict::FirstWon), 32_000);
    }

    #[test]
    fn glicko_stays_within_its_bounds() {
        let [mut strong, mut weak] = [Glicko::START; 2];
        for _ in 0..2_000 {
            [strong, weak] = Glicko::after([strong, weak], Verdict::FirstWon);
            assert!(strong.is_sound() && weak.is_sound());
        }
        for _ in 0..200 {
            [strong, weak] = Glicko::after([strong, weak], Verdict::SecondWon);
            assert!(strong.is_sound() && weak.is_sound());
        }
        let shown = |one: Glicko| [one.rating_milli(), one.deviation_milli()];
        assert_eq!(shown(Glicko::START), [1_500_000, 350_000]);
        assert_eq!(Glicko::START.volatility_micro(), 60_000);
        assert_eq!(Glicko::START.points(), 1_500);
    }
}
