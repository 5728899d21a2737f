//! Response times in constant memory, whatever their number.

use std::fmt;

use hdrhistogram::Histogram as Hdr;
use serde::Serialize;

use crate::{
    percentile,
    units::{Count, Nanos, long_to_float, to_float},
};

/// The longest duration told apart: an hour. A longer one counts as an hour.
const NANOS_MAX: u64 = 3_600_000_000_000;

/// Three significant digits: a value is off by at most a thousandth.
const DIGITS: u8 = 3;

/// Durations in nanoseconds: 1 ns to 1 h, three digits, 264 KiB from the start to the end.
/// Recording neither allocates nor locks, and no duration touches memory that none has touched before;
/// each thread owns its own, merged after the run without any loss.
#[derive(Clone)]
pub struct Histogram {
    hdr: Hdr<u64>,
    /// The exact sum of all durations: the mean is not rounded to three digits, which the check of
    /// Little's law needs.
    sum: u128,
}

/// What is reported of a histogram; durations in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    pub count: u64,
    pub mean: f64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    /// Nothing when fewer than ten samples lie above it.
    pub p99_9: Option<u64>,
    pub max: u64,
}

impl Histogram {
    #[must_use]
    pub fn new() -> Self {
        let hdr = Hdr::new_with_bounds(1, NANOS_MAX, DIGITS)
            .expect("one nanosecond to one hour in three digits is a valid range");
        Self { hdr, sum: 0 }
    }

    /// Adds one duration in nanoseconds.
    pub fn record(&mut self, nanos: u64) {
        self.hdr.saturating_record(nanos);
        self.sum += u128::from(nanos);
    }

    /// Adds all that `other` holds.
    pub fn merge(&mut self, other: &Self) {
        self.hdr
            .add(&other.hdr)
            .expect("all histograms have the same range");
        self.sum += other.sum;
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.hdr.reset();
        self.sum = 0;
    }

    #[must_use]
    pub fn count(&self) -> u64 {
        self.hdr.len()
    }

    /// The exact mean in nanoseconds; zero when nothing was recorded.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count() == 0 {
            return 0.0;
        }
        long_to_float(self.sum) / to_float(self.count())
    }

    /// The shortest and the longest duration, in three digits; zero when nothing was recorded.
    #[must_use]
    pub fn min(&self) -> u64 {
        self.hdr.min()
    }

    #[must_use]
    pub fn max(&self) -> u64 {
        self.hdr.max()
    }

    /// Pairs of the longest duration of a bucket and how many lie in it, in increasing order, empty
    /// ones left out; eight buckets for each doubling.
    #[must_use]
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        let mut buckets: Vec<(u64, u64)> = Vec::new();
        for recorded in self.hdr.iter_recorded() {
            let end = bucket_end(recorded.value_iterated_to());
            let count = recorded.count_since_last_iteration();
            match buckets.last_mut() {
                Some((last, sum)) if *last == end => *sum += count,
                _ => buckets.push((end, count)),
            }
        }
        buckets
    }

    /// The duration below which the share `quantile` of the samples lies.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> u64 {
        self.hdr.value_at_quantile(quantile).min(self.hdr.max())
    }

    #[must_use]
    pub fn summary(&self) -> Summary {
        let supported = percentile::supported(self.count(), 0.999).is_ok();
        Summary {
            count: self.count(),
            mean: self.mean(),
            p50: self.quantile(0.5),
            p90: self.quantile(0.9),
            p99: self.quantile(0.99),
            p99_9: supported.then(|| self.quantile(0.999)),
            max: self.hdr.max(),
        }
    }
}

/// The longest duration of the bucket that a duration belongs to.
const fn bucket_end(nanos: u64) -> u64 {
    let width = match nanos.checked_ilog2() {
        Some(exponent @ 3..) => 1 << (exponent - 3),
        Some(_) | None => 1,
    };
    nanos / width * width + (width - 1)
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summary().fmt(f)
    }
}

impl Summary {
    /// The names of the columns that [`Display`](fmt::Display) prints.
    pub const HEAD: &str = "     count     mean      p50      p90      p99    p99.9      max";
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |nanos: u64| Nanos(to_float(nanos)).to_string();
        write!(
            f,
            "{:>10} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
            Count(self.count).to_string(),
            Nanos(self.mean).to_string(),
            shown(self.p50),
            shown(self.p90),
            shown(self.p99),
            self.p99_9.map_or_else(|| "-".to_owned(), shown),
            shown(self.max),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Histogram, NANOS_MAX, Summary};

    /// 1 us to n us, each once.
    fn steps(count: u64) -> Histogram {
        let mut histogram = Histogram::new();
        for step in 1..=count {
            histogram.record(step * 1_000);
        }
        histogram
    }

    #[track_caller]
    fn within_a_thousandth(found: u64, expected: u64) {
        let off = found.abs_diff(expected);
        assert!(off * 1_000 <= expected, "{found} is not {expected}");
    }

    #[test]
    fn buckets_hold_all_samples_eight_for_each_doubling() {
        let buckets = steps(10_000).buckets();
        let counted: u64 = buckets.iter().map(|(_, count)| count).sum();
        assert_eq!(counted, 10_000);
        assert!(
            buckets.is_sorted_by(|one, next| one.0 < next.0),
            "{buckets:?}"
        );
        let octave = buckets
            .iter()
            .filter(|(end, _)| (1 << 20..1 << 21).contains(end));
        assert_eq!(octave.count(), 8);
        let mut few = Histogram::new();
        for nanos in [0, 1, 7, 15, 16, 17] {
            few.record(nanos);
        }
        let alone = [(0, 1), (1, 1), (7, 1), (15, 1), (17, 2)];
        assert_eq!(few.buckets(), alone);
        assert_eq!(Histogram::new().buckets(), []);
    }

    #[test]
    fn known_values_have_their_known_percentiles() {
        let summary = steps(10_000).summary();
        assert_eq!(summary.count, 10_000);
        assert!((summary.mean - 5_000_500.0).abs() < 1e-6);
        within_a_thousandth(summary.p50, 5_000_000);
        within_a_thousandth(summary.p90, 9_000_000);
        within_a_thousandth(summary.p99, 9_900_000);
        within_a_thousandth(summary.p99_9.unwrap(), 9_990_000);
        within_a_thousandth(summary.max, 10_000_000);
    }

    #[test]
    fn the_highest_percentile_needs_ten_samples_above_it() {
        for (count, shown) in [(0, false), (9_999, false), (10_000, true)] {
            assert_eq!(steps(count).summary().p99_9.is_some(), shown, "{count}");
        }
    }

    /// How often this thread has touched memory that the system had not given it yet.
    fn touched() -> u64 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let (_name, rest) = stat.rsplit_once(") ").unwrap();
        rest.split(' ').nth(7).unwrap().parse().unwrap()
    }

    /// The system gives memory where it is written to for the first time. Were that where a duration is
    /// the first of its length, a run would grow for hours, as long as something rare can happen.
    #[test]
    fn no_duration_takes_memory_that_was_not_there_from_the_start() {
        // More of them than what other tests have left to be used again.
        let mut histograms = (0..64).map(|_| Histogram::new()).collect::<Vec<_>>();
        touched();
        let before = touched();
        for histogram in &mut histograms {
            for exponent in 0..42_u32 {
                for part in 0..16 {
                    histogram.record((16 + part) << exponent >> 4);
                }
            }
        }
        let more = touched() - before;
        assert!(histograms.iter().all(|one| one.count() == 42 * 16));
        assert!(more < 64, "{more} pages");
    }

    #[test]
    fn merging_equals_recording_in_one() {
        let mut merged = Histogram::new();
        let mut one = Histogram::new();
        for thread in 0..3 {
            let mut own = Histogram::new();
            for step in 0..1_000 {
                let nanos = 1 + step * 7_919 + thread;
                own.record(nanos);
                one.record(nanos);
            }
            merged.merge(&own);
        }
        assert_eq!(merged.summary(), one.summary());
        merged.clear();
        assert_eq!(merged.summary(), Histogram::new().summary());
    }

    #[test]
    fn more_than_an_hour_counts_as_an_hour_but_not_in_the_mean() {
        let mut histogram = Histogram::new();
        histogram.record(2 * NANOS_MAX);
        within_a_thousandth(histogram.quantile(0.5), NANOS_MAX);
        assert!((histogram.mean() - 7.2e12).abs() < 1.0);
    }

    #[test]
    fn a_summary_is_a_row_under_its_head() {
        let row = Summary {
            count: 14_210,
            mean: 887_300.0,
            p50: 840_000,
            p90: 1_200_000,
            p99: 2_100_000,
            p99_9: None,
            max: 41_000_000,
        };
        let shown = format!("{}\n{row}", Summary::HEAD);
        assert_eq!(
            shown,
            "     count     mean      p50      p90      p99    p99.9      max\n    \
             14 210    887us    840us   1.20ms   2.10ms        -   41.0ms"
        );
        assert_eq!(
            serde_json::to_string(&row).unwrap(),
            "{\"count\":14210,\"mean\":887300.0,\"p50\":840000,\"p90\":1200000,\
             \"p99\":2100000,\"p99_9\":null,\"max\":41000000}"
        );
    }
}
