//! Student's distribution, by which intervals and tests account for few values.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// How often an interval should hold the true value.
pub const CONFIDENCE: f64 = 0.95;

/// How many standard errors an interval of 95 % reaches to either side, for this many degrees of
/// freedom (more than 0).
#[must_use]
pub fn critical(freedom: f64) -> f64 {
    quantile(f64::midpoint(1.0, CONFIDENCE), freedom)
}

/// Below which a value of Student's t lies with this probability (between 0 and 1, neither
/// included), for this many degrees of freedom (more than 0).
///
/// # Panics
/// Outside these ranges.
#[must_use]
pub fn quantile(probability: f64, freedom: f64) -> f64 {
    student(freedom).inverse_cdf(probability)
}

/// How likely a value of Student's t is so far from zero, on either side, between 0 and 1.
///
/// # Panics
/// When there is no degree of freedom.
#[must_use]
pub fn chance_beyond(t: f64, freedom: f64) -> f64 {
    2.0 * student(freedom).cdf(-t.abs())
}

fn student(freedom: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, freedom).expect("there are degrees of freedom")
}

#[cfg(test)]
mod tests {
    use super::{chance_beyond, critical, quantile};

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
        let rows = [
            (0.975, 1.0, 12.706),
            (0.975, 4.0, 2.776),
            (0.95, 9.0, 1.833),
            (0.975, 9.0, 2.262),
            (0.99, 29.0, 2.462),
            (0.975, 100.0, 1.984),
            (0.05, 9.0, -1.833),
        ];
        for (probability, freedom, known) in rows {
            let found = quantile(probability, freedom);
            assert!((found - known).abs() < 6e-4, "{found} is not {known}");
            let tails = 2.0 * probability.min(1.0 - probability);
            assert!((chance_beyond(found, freedom) - tails).abs() < 1e-9);
        }
        assert!((critical(9.0) - 2.262).abs() < 6e-4);
    }
}
