//! The form of `run.json`: what is written comes back, and never changes in silence.

mod example;

use turnstile_result::{Distribution, ReadError, Run, Verdict};
use turnstile_stats::Histogram;

/// A run with everything in it, in the form of schema 2. A new optional field belongs into it; a
/// field that changes or goes needs a new schema.
const GOLDEN: &str = include_str!("schema-2.json");

/// The same run as a lab of schema 1 wrote it, before fields were added: it does not change any more.
const OLD: &str = include_str!("schema-1.json");

#[test]
fn every_field_is_written_as_ever() {
    let written = example::run().to_json();
    assert_eq!(written, GOLDEN, "\n{written}");
}

#[test]
fn a_file_comes_back_equal_byte_for_byte() {
    let read = Run::read(GOLDEN.as_bytes()).unwrap();
    assert_eq!(read, example::run());
    assert_eq!(read.to_json(), GOLDEN);
}

/// What a lab of schema 1 could not say.
fn without_what_was_added(mut run: Run) -> Run {
    (run.asked.target.tls, run.asked.target.authenticated) = (false, false);
    for point in &mut run.points {
        point.quota = None;
        point.arrivals = None;
        point.resources.stations.clear();
        point.resources.stands = None;
        point.resources.others = None;
        point.check = None;
        for rule in &mut point.proof {
            rule.found.clear();
        }
        for whole in &mut point.wholes {
            whole.late = 0;
        }
    }
    for curve in run.sweep.iter_mut().flat_map(|sweep| &mut sweep.curves) {
        curve.quota = None;
        for demand in &mut curve.demands {
            demand.servers = 1.0;
        }
    }
    if let Some(comparison) = &mut run.comparison {
        comparison.apart = None;
    }
    run.bottleneck = None;
    run
}

#[test]
fn a_run_of_schema_1_is_read_with_all_that_it_says() {
    let read = Run::read(OLD.as_bytes()).unwrap();
    let mut expected = without_what_was_added(example::run());
    expected.schema = 1;
    assert_eq!(read, expected);
}

#[test]
fn only_of_games_and_travel_does_schema_1_count_otherwise() {
    for (schema, workload, counts_wholes) in [
        (1, "rooms", true),
        (1, "games", false),
        (1, "travel", false),
        (2, "rooms", true),
        (2, "games", true),
        (2, "travel", true),
    ] {
        let mut run = example::run();
        run.schema = schema;
        workload.clone_into(&mut run.asked.workload);
        assert_eq!(run.counts_wholes(), counts_wholes, "{schema} {workload}");
    }
}

#[test]
fn a_schema_that_is_not_known_and_no_json_are_told_apart() {
    for unknown in [0, 3] {
        let other = GOLDEN.replacen("\"schema\":2", &format!("\"schema\":{unknown}"), 1);
        let refused = Run::read(other.as_bytes()).unwrap_err();
        let told = format!("a run of schema {unknown}; this lab reads schemas 1 to 2");
        assert_eq!(refused.to_string(), told);
    }
    let torn = Run::read(&GOLDEN.as_bytes()[..100]).unwrap_err();
    assert!(matches!(torn, ReadError::Form(_)), "{torn}");
}

#[test]
fn what_a_later_lab_has_added_is_skipped() {
    let later = GOLDEN.replacen("\"schema\":2", "\"schema\":2,\"weather\":\"fine\"", 1);
    assert_eq!(Run::read(later.as_bytes()).unwrap(), example::run());
}

#[test]
fn a_percentile_needs_ten_samples_above_it() {
    let mut histogram = Histogram::new();
    for step in 1..=1_000 {
        histogram.record(step * 1_000);
    }
    let kept = Distribution::of(&histogram);
    let largest = kept.percentiles.last().unwrap().quantile;
    assert!((largest - 0.99).abs() < 1e-9, "{largest}");
    assert_eq!(kept.at(0.5), Some(histogram.quantile(0.5)));
    assert_eq!(kept.at(0.999), None);
    assert_eq!(Distribution::of(&Histogram::new()).count, 0);
}

#[test]
fn every_verdict_has_its_exit_code() {
    let codes = [
        (Verdict::Fine, 0),
        (Verdict::Unsteady, 96),
        (Verdict::Violated, 97),
        (Verdict::Invalid, 98),
        (Verdict::Missed, 99),
    ];
    for (verdict, code) in codes {
        assert_eq!(verdict.exit_code(), code, "{verdict:?}");
    }
}
