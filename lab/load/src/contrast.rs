//! Two systems by the points of their runs, in pairs.

use turnstile_result::{Better, Metric, PERCENTILES, Point, Shape};
use turnstile_stats::{
    Interval,
    distance::{Buckets, PairedEffect},
    pairs::{self, holm},
    units::to_float,
};

/// A figure of a point, by name and unit, and its interval within the run; none where the point does
/// not have it.
type PointMetric = (
    &'static str,
    &'static str,
    Better,
    fn(&Point) -> Option<f64>,
    fn(&Point) -> Option<Interval>,
);

const FIGURES: [PointMetric; 5] = [
    (
        "throughput",
        "1/s",
        Better::Higher,
        |point| Some(point.throughput),
        |point| point.throughput_interval,
    ),
    (
        "response mean",
        "ns",
        Better::Lower,
        |point| Some(point.times.response.mean_ns),
        |point| point.response_interval,
    ),
    (
        "response p50",
        "ns",
        Better::Lower,
        |point| point.times.response.at(0.5).map(to_float),
        |_point| None,
    ),
    (
        "response p99",
        "ns",
        Better::Lower,
        |point| point.times.response.at(0.99).map(to_float),
        |point| point.p99_interval,
    ),
    (
        "server cpu per answer",
        "ns",
        Better::Lower,
        |point| {
            let mut processes = point.resources.processes.iter();
            let server = processes.find(|one| one.role == "server")?;
            Some(server.cpu_per_answer_ns)
        },
        |_point| None,
    ),
];

/// Each figure that all points have, B against A. Of one pair those whose intervals within both runs
/// are known, for there is nothing else to tell a difference from chance.
#[must_use]
pub fn metrics(pairs: &[(&Point, &Point)], margin: f64) -> Vec<Metric> {
    let mut metrics: Vec<Metric> = FIGURES
        .into_iter()
        .filter_map(|(name, unit, better, figure, interval)| {
            let values = values(pairs, figure)?;
            let found = match pairs {
                [(a, b)] => {
                    pairs::PairedComparison::of_one_pair(&interval(a)?, &interval(b)?, margin)?
                }
                _ => pairs::PairedComparison::of(&values, margin)?,
            };
            Some(Metric {
                name: name.to_owned(),
                unit: unit.to_owned(),
                better,
                values,
                ratio: found.ratio,
                chance: found.chance,
                chance_by_signs: found.chance_by_signs,
                chance_of_all: 0.0,
                verdict: found.verdict,
            })
        })
        .collect();
    let chances: Vec<f64> = metrics.iter().map(|metric| metric.chance).collect();
    for (metric, chance) in metrics.iter_mut().zip(holm(&chances)) {
        metric.chance_of_all = chance;
    }
    metrics
}

/// The ratio of B to A at each percentile that all points have.
#[must_use]
pub fn shape(pairs: &[(&Point, &Point)], margin: f64) -> Vec<Shape> {
    let at = |quantile: f64| {
        let values = values(pairs, |point| {
            point.times.response.at(quantile).map(to_float)
        })?;
        let ratio = pairs::PairedComparison::of(&values, margin)?.ratio;
        Some(Shape { quantile, ratio })
    };
    PERCENTILES.into_iter().filter_map(at).collect()
}

/// How far the responses of A and B are apart, whatever their shape: Kolmogorov and Smirnov's distance
/// over the pairs.
#[must_use]
pub fn apart(pairs: &[(&Point, &Point)]) -> Option<PairedEffect> {
    let buckets: Vec<(&Buckets, &Buckets)> = pairs
        .iter()
        .map(|(a, b)| (&*a.times.response.buckets, &*b.times.response.buckets))
        .collect();
    PairedEffect::of(&buckets)
}

fn values(
    pairs: &[(&Point, &Point)],
    figure: impl Fn(&Point) -> Option<f64>,
) -> Option<Vec<(f64, f64)>> {
    let above_zero = |point: &Point| figure(point).filter(|value| *value > 0.0);
    pairs
        .iter()
        .map(|(a, b)| Some((above_zero(a)?, above_zero(b)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use turnstile_result::Distribution;
    use turnstile_stats::{Histogram, pairs::Verdict};

    use super::*;

    fn point(throughput: f64, nanos: u64) -> Point {
        let mut histogram = Histogram::new();
        for step in 0..100 {
            histogram.record(nanos + step * nanos / 100);
        }
        let mut point = Point::blank("rooms");
        point.throughput = throughput;
        point.times.response = Distribution::of(&histogram);
        point
    }

    #[test]
    fn a_faster_server_is_seen_in_every_figure_that_tells_it() {
        let a: Vec<Point> = [100.0, 101.0, 99.0, 100.5]
            .map(|rate| point(rate, 1_000_000))
            .into();
        let b: Vec<Point> = [110.0, 110.5, 109.5, 110.0]
            .map(|rate| point(rate, 500_000))
            .into();
        let pairs: Vec<(&Point, &Point)> = a.iter().zip(&b).collect();
        let found = metrics(&pairs, 0.02);
        let told: Vec<(&str, Verdict)> = found
            .iter()
            .map(|metric| (&*metric.name, metric.verdict))
            .collect();
        // Of 100 samples one lies above p99, and of the server's processor nothing is known.
        let expected = [
            ("throughput", Verdict::Higher),
            ("response mean", Verdict::Lower),
            ("response p50", Verdict::Lower),
        ];
        assert_eq!(told, expected);
        assert!(
            found
                .iter()
                .all(|metric| metric.chance_of_all >= metric.chance)
        );
        let shape = shape(&pairs, 0.02);
        assert_eq!(shape.len(), 6);
        let apart = apart(&pairs).unwrap();
        // Almost all of B lie below all of A, as with all pairs swapped, and in none of the other 14 ways.
        assert!(apart.distance.share > 0.9, "{apart:?}");
        assert_eq!(apart.chance, Some(0.125));
        assert!(
            shape
                .iter()
                .all(|one| (one.ratio.estimate - 0.5).abs() < 0.01),
            "{shape:?}"
        );
    }

    #[test]
    fn one_pair_says_what_its_intervals_say() {
        let (mut a, mut b) = (point(1.0, 10), point(2.0, 10));
        assert_eq!(metrics(&[(&a, &b)], 0.02), []);
        a.throughput_interval = Some(Interval::about(1.0, 0.01));
        b.throughput_interval = Some(Interval::about(2.0, 0.02));
        let found = metrics(&[(&a, &b)], 0.02);
        let told: Vec<(&str, Verdict)> = found
            .iter()
            .map(|metric| (&*metric.name, metric.verdict))
            .collect();
        assert_eq!(told, [("throughput", Verdict::Higher)]);
        assert!(found[0].ratio.contains(2.0), "{found:?}");
        assert_eq!(metrics(&[], 0.02), []);
        assert_eq!(apart(&[]), None);
    }
}
