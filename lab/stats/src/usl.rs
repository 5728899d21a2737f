//! The universal scalability law, as an explanation of a curve and not as its capacity.
//!
//! N. Gunther, "Guerrilla Capacity Planning", 2007: X(N) = rate N / (1 + sigma (N - 1) +
//! kappa N (N - 1)).

use serde::Serialize;

use crate::{chance::below, interval::Interval, units::count};

/// How often the fit is repeated on resampled residuals.
const RESAMPLES: usize = 1_000;

/// Parameters of the law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Law {
    /// Requests a second of a lone user or core.
    pub rate: f64,
    /// The share of the work that only one can do at a time: contention, at least 0.
    pub sigma: f64,
    /// The cost of each pair that must agree: coherence, at least 0.
    pub kappa: f64,
}

/// A law with its intervals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fit {
    pub law: Law,
    pub rate: Interval,
    pub sigma: Interval,
    pub kappa: Interval,
}

impl Law {
    /// The law that fits points `(users, requests a second)` best, by relative errors; both above
    /// 0. Nothing for fewer than four points, or when three numbers of users are not different.
    ///
    /// N / X is linear in the parameters, so that the best law without a negative parameter is one
    /// of four small problems of least squares.
    #[must_use]
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        if points.len() < 4 {
            return None;
        }
        let rows: Vec<[f64; 3]> = points
            .iter()
            .map(|(users, rate)| {
                let weight = rate / users;
                [
                    weight,
                    weight * (users - 1.0),
                    weight * users * (users - 1.0),
                ]
            })
            .collect();
        // Without the constraint first: it also tells whether the points suffice.
        solve(&rows, [true, true, true])?;
        let kept = [
            [true, true, true],
            [true, true, false],
            [true, false, true],
            [true, false, false],
        ];
        let solved = kept.iter().filter_map(|&kept| solve(&rows, kept));
        let feasible = solved.filter(|terms| terms[0] > 0.0 && terms[1] >= 0.0 && terms[2] >= 0.0);
        let [lone, sigma, kappa] =
            feasible.min_by(|one, other| error(&rows, one).total_cmp(&error(&rows, other)))?;
        Some(Self {
            rate: 1.0 / lone,
            sigma: sigma / lone,
            kappa: kappa / lone,
        })
    }

    /// Requests a second of so many users.
    #[must_use]
    pub fn at(&self, users: f64) -> f64 {
        let waiting = self.sigma * (users - 1.0) + self.kappa * users * (users - 1.0);
        self.rate * users / (1.0 + waiting)
    }
}

impl Fit {
    /// With intervals from resampled relative residuals. Nothing where [`Law::fit`] says nothing.
    #[must_use]
    pub fn of(points: &[(f64, f64)], draw: &mut impl FnMut() -> u64) -> Option<Self> {
        let law = Law::fit(points)?;
        // Residuals are smaller than errors, for the law was fitted to them.
        let stretch = (count(points.len()) / (count(points.len()) - 3.0)).sqrt();
        let residuals: Vec<f64> = points
            .iter()
            .map(|&(users, rate)| stretch * (rate / law.at(users)).ln())
            .collect();
        let laws: Vec<Law> = (0..RESAMPLES)
            .filter_map(|_| {
                let again: Vec<(f64, f64)> = points
                    .iter()
                    .map(|&(users, _)| {
                        let residual = residuals[below(draw, residuals.len())];
                        (users, law.at(users) * residual.exp())
                    })
                    .collect();
                Law::fit(&again)
            })
            .collect();
        let interval = |of: fn(&Law) -> f64| {
            let again: Vec<f64> = laws.iter().map(of).collect();
            Interval::of_resamples(of(&law), &again)
        };
        (!laws.is_empty()).then(|| Self {
            law,
            rate: interval(|law| law.rate),
            sigma: interval(|law| law.sigma),
            kappa: interval(|law| law.kappa),
        })
    }

    /// The number of users with the highest throughput; only when throughput surely falls beyond
    /// it, for else the peak is an artefact of the formula.
    #[must_use]
    pub fn peak(&self) -> Option<f64> {
        let Law { sigma, kappa, .. } = self.law;
        (self.kappa.low > 0.0 && sigma < 1.0).then(|| ((1.0 - sigma) / kappa).sqrt())
    }
}

/// The sum of squares of `row . terms - 1`.
fn error(rows: &[[f64; 3]], terms: &[f64; 3]) -> f64 {
    let off = |row: &[f64; 3]| {
        row.iter()
            .zip(terms)
            .map(|(row, term)| row * term)
            .sum::<f64>()
            - 1.0
    };
    rows.iter().map(|row| off(row).powi(2)).sum()
}

/// The terms of least error, those that are not kept being 0: the normal equations in columns of
/// length 1, by elimination. Nothing when they are singular.
fn solve(rows: &[[f64; 3]], kept: [bool; 3]) -> Option<[f64; 3]> {
    let lengths: [f64; 3] =
        std::array::from_fn(|at| rows.iter().map(|row| row[at] * row[at]).sum::<f64>().sqrt());
    let mut equations = [[0.0; 4]; 3];
    for (at, equation) in equations.iter_mut().enumerate() {
        if !kept[at] {
            equation[at] = 1.0;
            continue;
        }
        for (other, cell) in equation
            .iter_mut()
            .take(3)
            .enumerate()
            .filter(|(other, _)| kept[*other])
        {
            let products = rows.iter().map(|row| row[at] * row[other]);
            *cell = products.sum::<f64>() / (lengths[at] * lengths[other]);
        }
        equation[3] = rows.iter().map(|row| row[at]).sum::<f64>() / lengths[at];
    }
    for pivot in 0..3 {
        let leading = equations[pivot];
        // Correlations are at most 1: a pivot this small is rounding.
        if leading[pivot].abs() < 1e-9 || leading[pivot].is_nan() {
            return None;
        }
        for (_, equation) in equations
            .iter_mut()
            .enumerate()
            .filter(|(at, _)| *at != pivot)
        {
            let factor = equation[pivot] / leading[pivot];
            equation
                .iter_mut()
                .zip(leading)
                .for_each(|(cell, lead)| *cell -= factor * lead);
        }
    }
    Some(std::array::from_fn(|at| {
        let solved = equations[at][3] / equations[at][at];
        if kept[at] { solved / lengths[at] } else { 0.0 }
    }))
}

#[cfg(test)]
mod tests {
    use turnstile_seed::Random;

    use super::{Fit, Law};
    use crate::chance::normal;

    const USERS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0];

    fn points(law: &Law, noise: f64, random: &mut Random) -> Vec<(f64, f64)> {
        let noisy = USERS.map(|users| {
            let factor = 1.0 + noise * normal(&mut || random.draw());
            (users, law.at(users) * factor)
        });
        noisy.to_vec()
    }

    #[test]
    fn the_law_is_found_again_without_noise() {
        let rows = [(0.05, 0.001), (0.2, 0.0), (0.0, 0.01), (0.0, 0.0)];
        for (sigma, kappa) in rows {
            let law = Law {
                rate: 900.0,
                sigma,
                kappa,
            };
            let found = Law::fit(&points(&law, 0.0, &mut Random::new(1))).unwrap();
            let near = |found: f64, known: f64| (found - known).abs() < 1e-6 * (1.0 + known);
            assert!(
                near(found.rate, 900.0) && near(found.sigma, sigma) && near(found.kappa, kappa),
                "{found:?} {law:?}"
            );
        }
    }

    #[test]
    fn intervals_hold_the_truth_and_a_real_peak_is_told() {
        let law = Law {
            rate: 1_000.0,
            sigma: 0.05,
            kappa: 0.002,
        };
        let mut random = Random::new(8);
        let (mut sigmas, mut kappas) = (0, 0);
        for _ in 0..40 {
            let noisy = points(&law, 0.02, &mut random);
            let fit = Fit::of(&noisy, &mut || random.draw()).unwrap();
            sigmas += u32::from(fit.sigma.contains(0.05));
            kappas += u32::from(fit.kappa.contains(0.002));
            let peak = fit.peak().unwrap();
            assert!((peak / 21.8 - 1.0).abs() < 0.15, "{fit:?}");
        }
        assert!(sigmas >= 34 && kappas >= 34, "{sigmas} and {kappas} of 40");
    }

    #[test]
    fn a_curve_that_only_flattens_has_no_peak_and_no_negative_parameter() {
        let law = Law {
            rate: 1_000.0,
            sigma: 0.3,
            kappa: 0.0,
        };
        let mut random = Random::new(9);
        let mut peaks = 0;
        for _ in 0..20 {
            let noisy = points(&law, 0.02, &mut random);
            let fit = Fit::of(&noisy, &mut || random.draw()).unwrap();
            assert!(fit.kappa.low >= 0.0 && fit.sigma.low >= 0.0, "{fit:?}");
            peaks += u32::from(fit.peak().is_some());
        }
        assert!(peaks <= 2, "{peaks} of 20");
    }

    #[test]
    fn too_few_points_say_nothing() {
        assert_eq!(Law::fit(&[(1.0, 1.0), (2.0, 2.0), (3.0, 2.5)]), None);
        assert_eq!(
            Law::fit(&[(1.0, 1.0), (1.0, 1.1), (3.0, 2.5), (3.0, 2.4)]),
            None
        );
    }
}
