//! Durations in a form that can be printed, drawn and compared without the samples.

use serde::{Deserialize, Serialize};
use turnstile_stats::{Histogram, percentile};

/// The percentiles that are kept, where the samples support them.
pub const PERCENTILES: [f64; 14] = [
    0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.999_5, 0.999_9, 0.999_99,
    0.999_999,
];

/// Durations of one kind, merged from all threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// How many samples everything here rests on.
    pub count: u64,
    /// Exact; zero when there are no samples.
    pub mean_ns: f64,
    pub min_ns: u64,
    pub max_ns: u64,
    /// Of [`PERCENTILES`] those above which at least ten samples lie, in increasing order.
    pub percentiles: Vec<Percentile>,
    /// Pairs of the longest duration of a bucket and how many lie in it, in increasing order;
    /// eight buckets for each doubling, empty ones left out.
    pub buckets: Vec<(u64, u64)>,
}

/// Below `at_ns` lies the share `quantile` of the samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// Between 0 and 1: 0.99 is p99.
    pub quantile: f64,
    pub at_ns: u64,
}

impl Distribution {
    #[must_use]
    pub fn of(histogram: &Histogram) -> Self {
        let count = histogram.count();
        let supported = PERCENTILES
            .into_iter()
            .filter(|&quantile| percentile::supported(count, quantile).is_ok());
        Self {
            count,
            mean_ns: histogram.mean(),
            min_ns: histogram.min(),
            max_ns: histogram.max(),
            percentiles: supported
                .map(|quantile| Percentile {
                    quantile,
                    at_ns: histogram.quantile(quantile),
                })
                .collect(),
            buckets: histogram.buckets(),
        }
    }

    /// One of the percentiles that are kept; nothing when the samples do not support it.
    #[must_use]
    pub fn at(&self, quantile: f64) -> Option<u64> {
        let near = |kept: &&Percentile| (kept.quantile - quantile).abs() < 1e-9;
        self.percentiles.iter().find(near).map(|kept| kept.at_ns)
    }
}
