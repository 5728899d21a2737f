//! What is said of a handful of numbers: mean, variance, quantiles, the line through them.

use crate::{student::chance_beyond, units::count};

/// The mean; not a number when there is nothing.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / count(values.len())
}

/// The variance of what the values were drawn from, estimated without bias (divided by one less than
/// their count); not a number for fewer than two.
#[must_use]
pub fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (count(values.len()) - 1.0)
}

/// The value below which the share `quantile` of the values lies, between two of them in proportion
/// (type 7 of R. Hyndman and Y. Fan, "Sample quantiles in statistical packages", 1996).
///
/// # Panics
/// When there is no value, or `quantile` is not between 0 and 1.
#[must_use]
pub fn quantile(values: &[f64], quantile: f64) -> f64 {
    assert!((0.0..=1.0).contains(&quantile), "{quantile} is no quantile");
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted
        .len()
        .checked_sub(1)
        .expect("a quantile of something");
    let rank = quantile * count(last);
    let at = (0..last).rev().find(|&at| count(at) <= rank).unwrap_or(0);
    let next = sorted[(at + 1).min(last)];
    sorted[at] + (rank - count(at)) * (next - sorted[at])
}

/// The line of least squares through points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Where it is at x = 0.
    pub intercept: f64,
    /// What y gains when x gains 1.
    pub slope: f64,
    /// The standard error of the slope, if the errors of the points are independent and alike.
    pub slope_error: f64,
    /// The standard error of the intercept, likewise.
    pub intercept_error: f64,
    points: usize,
}

impl Line {
    /// The line through points `(x, y)`; nothing for fewer than three, or when all have the same x.
    #[must_use]
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        if points.len() < 3 {
            return None;
        }
        let of = count(points.len());
        let (sum_x, sum_y) = points
            .iter()
            .fold((0.0, 0.0), |(xs, ys), (x, y)| (xs + x, ys + y));
        let (mean_x, mean_y) = (sum_x / of, sum_y / of);
        let spread: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
        // Equal numbers and their mean differ by rounding.
        if spread <= f64::EPSILON * mean_x * mean_x {
            return None;
        }
        let both = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y));
        let slope = both.sum::<f64>() / spread;
        let intercept = mean_y - slope * mean_x;
        let left = points
            .iter()
            .map(|(x, y)| (y - intercept - slope * x).powi(2));
        let residual = left.sum::<f64>() / (of - 2.0);
        Some(Self {
            intercept,
            slope,
            slope_error: (residual / spread).sqrt(),
            intercept_error: (residual * (1.0 / of + mean_x * mean_x / spread)).sqrt(),
            points: points.len(),
        })
    }

    /// How likely a slope so far from zero is by chance alone, between 0 and 1.
    #[must_use]
    pub fn chance_of_slope(&self) -> f64 {
        if self.slope_error <= 0.0 {
            return if self.slope == 0.0 { 1.0 } else { 0.0 };
        }
        chance_beyond(self.slope / self.slope_error, count(self.points) - 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, mean, quantile, variance};

    fn close(found: f64, known: f64) {
        assert!(
            (found - known).abs() < 1e-9 * known.abs().max(1.0),
            "{found} is not {known}"
        );
    }

    #[test]
    fn mean_and_variance_of_a_known_sample() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        close(mean(&values), 5.0);
        close(variance(&values), 32.0 / 7.0);
        assert!(mean(&[]).is_nan() && variance(&[1.0]).is_nan());
    }

    #[test]
    fn quantiles_lie_between_neighbours_in_proportion() {
        let values = [4.0, 1.0, 3.0, 2.0];
        let rows = [(0.0, 1.0), (0.25, 1.75), (0.5, 2.5), (0.9, 3.7), (1.0, 4.0)];
        for (share, known) in rows {
            close(quantile(&values, share), known);
        }
        close(quantile(&[7.0], 0.3), 7.0);
    }

    #[test]
    fn a_line_is_that_of_the_books() {
        // F. Anscombe, "Graphs in statistical analysis", 1973, the first of the four.
        let points = [
            (10.0, 8.04),
            (8.0, 6.95),
            (13.0, 7.58),
            (9.0, 8.81),
            (11.0, 8.33),
            (14.0, 9.96),
            (6.0, 7.24),
            (4.0, 4.26),
            (12.0, 10.84),
            (7.0, 4.82),
            (5.0, 5.68),
        ];
        let line = Line::through(&points).unwrap();
        let near = |found: f64, known: f64| assert!((found - known).abs() < 5e-5, "{found}");
        near(line.intercept, 3.000_09);
        near(line.slope, 0.500_09);
        near(line.slope_error, 0.117_91);
        near(line.intercept_error, 1.124_75);
        near(line.chance_of_slope(), 0.002_17);
    }

    #[test]
    fn no_line_through_too_few_points_or_one_place() {
        assert_eq!(Line::through(&[(0.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(Line::through(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }
}
