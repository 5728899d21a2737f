//! Ratios inside a round, and what a target says of their median.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The same quotient in each round. The quotient of one round compares what was measured next to
/// each other; a machine that is slower in the next round slows both sides.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Ratio {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

/// What a ratio has to be.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
    /// Nothing: it is measured for comparison.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Met,
    Missed,
    /// The machine itself changed while it was measured.
    NoisyNotJudged,
    NoTarget,
}

impl Ratio {
    /// `ours / peers`, round by round.
    ///
    /// # Panics
    /// There is no round, or not the same number on both sides.
    pub(crate) fn of(ours: &[f64], peers: &[f64]) -> Self {
        assert_eq!(ours.len(), peers.len(), "both sides run in every round");
        let rounds = ours.iter().zip(peers).map(|(ours, peer)| ours / peer);
        Self::spread(&rounds.collect::<Vec<f64>>())
    }

    /// The middle and the ends of some values.
    ///
    /// # Panics
    /// There are none.
    pub(crate) fn spread(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else {
            panic!("a spread needs at least one value");
        };
        let middle = sorted.len() / 2;
        let median = if sorted.len().is_multiple_of(2) {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        } else {
            sorted[middle]
        };
        Self { median, min, max }
    }
}

impl Bound {
    pub(crate) fn judge(self, ratio: &Ratio, quiet: bool) -> Verdict {
        let met = match self {
            Self::AtLeast(least) => ratio.median >= least,
            Self::AtMost(most) => ratio.median <= most,
            Self::None => return Verdict::NoTarget,
        };
        match (quiet, met) {
            (false, _) => Verdict::NoisyNotJudged,
            (true, true) => Verdict::Met,
            (true, false) => Verdict::Missed,
        }
    }
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no bound: write >= 2 or <= 0.5");
        let (sign, number) = text.split_once(' ').ok_or_else(wrong)?;
        let number = number.parse().map_err(|_malformed| wrong())?;
        match sign {
            ">=" => Ok(Self::AtLeast(number)),
            "<=" => Ok(Self::AtMost(number)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, ">= {least}"),
            Self::AtMost(most) => write!(f, "<= {most}"),
            Self::None => f.write_str("-"),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Met => "met",
            Self::Missed => "**missed**",
            Self::NoisyNotJudged => "noisy: not judged",
            Self::NoTarget => "",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Bound, Ratio, Verdict};

    #[test]
    fn a_ratio_is_taken_inside_each_round() {
        // The second round ran on a machine half as fast; the quotients do not see it.
        let ratio = Ratio::of(&[200.0, 110.0, 180.0], &[100.0, 50.0, 100.0]);
        let expected = Ratio {
            median: 2.0,
            min: 1.8,
            max: 2.2,
        };
        assert_eq!(ratio, expected);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        let spread = Ratio::spread(&[8.0, 1.0, 2.0, 4.0]);
        let expected = Ratio {
            median: 3.0,
            min: 1.0,
            max: 8.0,
        };
        assert_eq!(spread, expected);
    }

    #[test]
    fn a_bound_is_a_sign_and_a_number() {
        for text in [">= 2", "<= 0.5"] {
            assert_eq!(text.parse::<Bound>().unwrap().to_string(), text);
        }
        for text in ["", "2", "> 2", ">= x", ">=2"] {
            assert!(text.parse::<Bound>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_target_is_judged_by_the_median_and_only_on_a_quiet_machine() {
        let ratio = Ratio {
            median: 0.8,
            min: 0.1,
            max: 9.0,
        };
        let rows = [
            (Bound::AtLeast(0.8), true, Verdict::Met),
            (Bound::AtLeast(0.81), true, Verdict::Missed),
            (Bound::AtMost(0.8), true, Verdict::Met),
            (Bound::AtMost(0.79), true, Verdict::Missed),
            (Bound::AtMost(0.79), false, Verdict::NoisyNotJudged),
            (Bound::AtLeast(0.1), false, Verdict::NoisyNotJudged),
            (Bound::None, false, Verdict::NoTarget),
        ];
        for (bound, quiet, verdict) in rows {
            assert_eq!(
                bound.judge(&ratio, quiet),
                verdict,
                "{bound} quiet: {quiet}"
            );
        }
    }
}
