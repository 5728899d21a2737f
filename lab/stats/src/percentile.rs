//! What may be said of a percentile, and how sure one is of it.

use serde::Serialize;
use statrs::distribution::{Binomial, DiscreteCDF as _};

use crate::{interval::Interval, student::CONFIDENCE, units::to_float};

/// A percentile with fewer samples above it is not shown: the next run would show another.
pub const SAMPLES_ABOVE_MIN: f64 = 10.0;

/// Why a percentile is refused.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TooFew {
    /// Samples that there are, and that there should be.
    pub samples: u64,
    pub needed: u64,
}

/// Whether so many samples support the percentile `quantile` (0.999 is p99.9).
///
/// # Errors
/// When fewer than [`SAMPLES_ABOVE_MIN`] of them lie above it.
pub fn supported(samples: u64, quantile: f64) -> Result<(), TooFew> {
    let needed = needed(quantile);
    if samples < needed {
        return Err(TooFew { samples, needed });
    }
    Ok(())
}

/// How many samples the percentile `quantile` (below 1) needs: 10,000 for p99.9.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ten over a positive share, which saturates for a share of almost nothing"
)]
pub fn needed(quantile: f64) -> u64 {
    // A hair of slack, for 1.0 - 0.999 is not quite a thousandth.
    (SAMPLES_ABOVE_MIN / (1.0 - quantile) - 1e-6).ceil() as u64
}

/// The percentile `quantile` of independent samples in increasing order, with an interval that
/// assumes no distribution: between two of the samples, whose ranks the binomial distribution gives
/// (W. Conover, "Practical Nonparametric Statistics", 1971).
///
/// Response times of one run are not independent: take one percentile of each of several runs, and
/// [`Interval::of_mean`] of those.
///
/// # Errors
/// When too few samples lie above it.
///
/// # Panics
/// When `quantile` is not above 0 and below 1.
pub fn of_sorted(samples: &[f64], quantile: f64) -> Result<Interval, TooFew> {
    let of = u64::try_from(samples.len()).expect("a length has at most 64 bits");
    supported(of, quantile)?;
    let below = Binomial::new(quantile, of).expect("a quantile is a probability");
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let at = |rank: u64| {
        let index = usize::try_from(rank.clamp(1, of) - 1).expect("a rank is below the length");
        samples[index]
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count is between 0 and the count"
    )]
    let rank = (quantile * to_float(of)).ceil() as u64;
    Ok(Interval {
        low: at(below.inverse_cdf(tail)),
        estimate: at(rank),
        high: at(below.inverse_cdf(1.0 - tail) + 1),
    })
}

#[cfg(test)]
mod tests {
    use turnstile_seed::Random;

    use super::{TooFew, of_sorted, supported};
    use crate::{chance::exponential, interval::Interval, sample, truth::Queue};

    #[test]
    fn ten_samples_must_lie_above() {
        let rows = [
            (0.5, 20),
            (0.9, 100),
            (0.99, 1_000),
            (0.999, 10_000),
            (0.9999, 100_000),
        ];
        for (quantile, needed) in rows {
            assert_eq!(supported(needed, quantile), Ok(()));
            let samples = needed - 1;
            assert_eq!(
                supported(samples, quantile),
                Err(TooFew { samples, needed })
            );
        }
        assert!(of_sorted(&[1.0; 999], 0.99).is_err());
    }

    #[test]
    fn the_interval_of_independent_samples_holds_the_truth() {
        let mut random = Random::new(10);
        for quantile in [0.5, 0.9, 0.99] {
            let known = -(1.0_f64 - quantile).ln();
            let held = (0..1_000).filter(|_| {
                let mut samples: Vec<f64> = (0..1_200)
                    .map(|_| exponential(&mut || random.draw(), 1.0))
                    .collect();
                samples.sort_by(f64::total_cmp);
                of_sorted(&samples, quantile).unwrap().contains(known)
            });
            let held = held.count();
            assert!((935..=985).contains(&held), "p{quantile}: {held} of 1000");
        }
    }

    #[test]
    fn one_percentile_of_each_run_holds_the_truth_of_a_queue() {
        let queue = Queue {
            arrivals: 700.0,
            services: 1_000.0,
        };
        let known = queue.quantile(0.99);
        let mut random = Random::new(11);
        let held = (0..60).filter(|_| {
            let percentiles: Vec<f64> = (0..8)
                .map(|_| {
                    let responses = queue.responses(&mut || random.draw(), 22_000);
                    sample::quantile(&responses[2_000..], 0.99)
                })
                .collect();
            Interval::of_mean(&percentiles).unwrap().contains(known)
        });
        let held = held.count();
        assert!(held >= 51, "{held} of 60");
    }
}
