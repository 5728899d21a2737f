//! The form of `run.json`: what is written comes back, and never changes in silence.

mod example;

use turnstile_result::{Distribution, ReadError, Run, Verdict};
use turnstile_stats::Histogram;

/// A run with everything in it, in the form of schema 1. A new optional field belongs into it; a
/// field that changes or goes needs a new schema.
const GOLDEN: &str = include_str!("schema-1.json");

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

#[test]
fn another_schema_and_no_json_are_told_apart() {
    let newer = GOLDEN.replacen("\"schema\":1", "\"schema\":2", 1);
    let refused = Run::read(newer.as_bytes()).unwrap_err();
    let told = "a run of schema 2; this lab reads schema 1";
    assert_eq!(refused.to_string(), told);
    let torn = Run::read(&GOLDEN.as_bytes()[..100]).unwrap_err();
    assert!(matches!(torn, ReadError::Form(_)), "{torn}");
}

#[test]
fn what_a_later_lab_has_added_is_skipped() {
    let later = GOLDEN.replacen("\"schema\":1", "\"schema\":1,\"weather\":\"fine\"", 1);
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
