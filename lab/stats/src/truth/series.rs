//! Bins of a run whose neighbours resemble each other, after a warm-up of a known shape.

use crate::{chance::normal, units::count};

/// A level with noise of the first autoregressive order, and a warm-up before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Autoregressive {
    /// The true mean.
    mean: f64,
    /// The standard deviation of a bin, as a share of the mean.
    noise: f64,
    /// The correlation of neighbouring bins, from 0 to below 1.
    memory: f64,
    warm_up: WarmUp,
}

/// How a run begins; shares are of the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarmUp {
    None,
    /// `depth` away from the level at first (below it when negative), and nearer by the factor e
    /// every `bins`.
    Exponential {
        depth: f64,
        bins: f64,
    },
    /// From nothing straight up to the level in so many bins.
    Ramp {
        bins: usize,
    },
    /// `depth` away for so many bins, then at the level.
    Step {
        depth: f64,
        bins: usize,
    },
    /// No steady state: the level rises by this share from the first bin of the run to the last.
    Drift {
        over_run: f64,
    },
}

impl Autoregressive {
    #[must_use]
    pub const fn new(mean: f64, noise: f64, memory: f64, warm_up: WarmUp) -> Self {
        Self {
            mean,
            noise,
            memory,
            warm_up,
        }
    }

    /// So many bins from the start of a run.
    pub fn bins(&self, draw: &mut impl FnMut() -> u64, bins: usize) -> Vec<f64> {
        let fresh = (1.0 - self.memory * self.memory).sqrt();
        let mut error = normal(draw);
        let noisy = (0..bins).map(|at| {
            error = self.memory * error + fresh * normal(draw);
            self.mean * (1.0 + self.warm_up.away(at, bins) + self.noise * error)
        });
        noisy.collect()
    }
}

impl WarmUp {
    /// How far from the level a bin is, as a share of the level.
    fn away(&self, at: usize, of: usize) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Exponential { depth, bins } => depth * (-count(at) / bins).exp(),
            Self::Ramp { bins } => (count(at) / count(bins) - 1.0).min(0.0),
            Self::Step { depth, bins } if at < bins => depth,
            Self::Step { .. } => 0.0,
            Self::Drift { over_run } => over_run * count(at) / count(of),
        }
    }
}

#[cfg(test)]
mod tests {
    use turnstile_seed::Random;

    use super::{Autoregressive, WarmUp};
    use crate::sample;

    #[test]
    fn level_noise_and_memory_are_those_asked_for() {
        let mut random = Random::new(4);
        let system = Autoregressive::new(50.0, 0.1, 0.8, WarmUp::None);
        let bins = system.bins(&mut || random.draw(), 200_000);
        let (mean, variance) = (sample::mean(&bins), sample::variance(&bins));
        let neighbours: Vec<f64> = bins
            .windows(2)
            .map(|pair| (pair[0] - mean) * (pair[1] - mean))
            .collect();
        let memory = sample::mean(&neighbours) / variance;
        assert!((mean - 50.0).abs() < 0.1, "{mean}");
        assert!((variance - 25.0).abs() < 1.0, "{variance}");
        assert!((memory - 0.8).abs() < 0.01, "{memory}");
    }

    #[test]
    fn warm_ups_have_their_shapes() {
        let shapes = [
            (
                WarmUp::Exponential {
                    depth: -0.5,
                    bins: 2.0,
                },
                [50.0, 81.6, 93.2, 97.5],
            ),
            (WarmUp::Ramp { bins: 4 }, [0.0, 50.0, 100.0, 100.0]),
            (
                WarmUp::Step {
                    depth: 0.3,
                    bins: 3,
                },
                [130.0, 130.0, 100.0, 100.0],
            ),
            (
                WarmUp::Drift { over_run: 0.2 },
                [100.0, 105.0, 110.0, 115.0],
            ),
        ];
        for (shape, known) in shapes {
            let system = Autoregressive::new(100.0, 0.0, 0.0, shape);
            let bins = system.bins(&mut || 1, 8);
            for (bin, known) in bins.iter().step_by(2).zip(known) {
                assert!((bin - known).abs() < 0.05, "{shape:?}: {bins:?}");
            }
        }
    }
}
