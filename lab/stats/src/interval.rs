//! Intervals of 95 %.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    sample,
    student::{CONFIDENCE, critical},
    units::count,
};

/// An estimate and where the truth lies in 95 of 100 such intervals. In the unit of what was
/// measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub low: f64,
    pub estimate: f64,
    pub high: f64,
}

impl Interval {
    /// Equally far to both sides.
    #[must_use]
    pub fn about(estimate: f64, half_width: f64) -> Self {
        Self {
            low: estimate - half_width,
            estimate,
            high: estimate + half_width,
        }
    }

    /// Of the mean of independent values, such as one figure of each of several runs; nothing for
    /// fewer than two. Student, "The probable error of a mean", 1908.
    #[must_use]
    pub fn of_mean(values: &[f64]) -> Option<Self> {
        let of = count(values.len());
        (of >= 2.0).then(|| {
            let error = (sample::variance(values) / of).sqrt();
            Self::about(sample::mean(values), critical(of - 1.0) * error)
        })
    }

    /// The middle 95 % of estimates that were made from resamples, about the estimate from all.
    /// B. Efron, "Bootstrap methods: another look at the jackknife", 1979 (the percentile interval).
    ///
    /// # Panics
    /// When there is no resample.
    #[must_use]
    pub fn of_resamples(estimate: f64, resamples: &[f64]) -> Self {
        let tail = (1.0 - CONFIDENCE) / 2.0;
        Self {
            low: sample::quantile(resamples, tail),
            estimate,
            high: sample::quantile(resamples, 1.0 - tail),
        }
    }

    /// Half of its length.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Half of its length as a share of the estimate: 0.01 is "within 1 %".
    #[must_use]
    pub fn relative(&self) -> f64 {
        self.half_width() / self.estimate.abs()
    }

    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Both ends and the estimate through an increasing function.
    #[must_use]
    pub fn map(&self, increasing: impl Fn(f64) -> f64) -> Self {
        Self {
            low: increasing(self.low),
            estimate: increasing(self.estimate),
            high: increasing(self.high),
        }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(2);
        let Self {
            low,
            estimate,
            high,
        } = self;
        write!(f, "{estimate:.digits$} ({low:.digits$} .. {high:.digits$})")
    }
}

#[cfg(test)]
mod tests {
    use super::Interval;

    #[test]
    fn a_mean_of_runs_has_the_interval_of_student() {
        let interval = Interval::of_mean(&[10.0, 12.0, 9.0, 11.0, 13.0]).unwrap();
        // sqrt(2.5 / 5) = 0.7071 times 2.776.
        assert_eq!(format!("{interval:.3}"), "11.000 (9.037 .. 12.963)");
        assert!((interval.relative() - 0.178_48).abs() < 1e-4);
        assert!(interval.contains(9.1) && !interval.contains(9.0));
        assert_eq!(Interval::of_mean(&[1.0]), None);
    }

    #[test]
    fn resamples_lose_a_fortieth_at_either_end() {
        let resamples: Vec<f64> = (0..=1_000).map(f64::from).collect();
        let found = Interval::of_resamples(480.0, &resamples);
        assert_eq!(format!("{found:.1}"), "480.0 (25.0 .. 975.0)");
    }
}
