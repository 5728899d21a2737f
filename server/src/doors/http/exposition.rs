//! Metrics as text: OpenMetrics, written by its library, and the classic format of Prometheus.

use std::fmt;

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text::encode},
    metrics::{MetricType, exemplar::Exemplar},
    registry::Registry,
};

/// What every metric of the server's own begins with.
const PREFIX: &str = "turnstile_";

/// The ending of the samples of counters. The library appends it to the names of families.
const TOTAL: &str = "_total";

/// The metrics of one answer, in their order.
#[derive(Debug, Default)]
pub(super) struct Exposition {
    families: Vec<Family>,
}

/// One metric, with a sample for each set of labels.
#[derive(Debug)]
struct Family {
    /// Without `_total`.
    name: String,
    kind: MetricType,
    help: String,
    samples: Vec<(Vec<(&'static str, String)>, Value)>,
}

/// One value.
#[derive(Debug)]
pub(super) enum Value {
    Whole(u64),
    Signed(i64),
    Real(f64),
    /// The sum of what was observed, how often, and how often in each bucket up to a bound.
    Buckets(f64, u64, Vec<(f64, u64)>),
}

impl Exposition {
    /// Begins a metric of the server. The names of counters, and no others, end in `_total`.
    pub(super) fn begin(&mut self, name: &str, kind: &str, help: &str) {
        self.begin_plain(&format!("{PREFIX}{name}"), kind, help);
    }

    /// Begins a metric whose name is not the server's own.
    pub(super) fn begin_plain(&mut self, name: &str, kind: &str, help: &str) {
        let (kind, name) = match kind {
            "counter" => (MetricType::Counter, name.strip_suffix(TOTAL)),
            "histogram" => (MetricType::Histogram, Some(name)),
            _ => (MetricType::Gauge, Some(name)),
        };
        self.families.push(Family {
            name: name.expect("a counter's name ends in _total").to_owned(),
            kind,
            help: help.to_owned(),
            samples: Vec::new(),
        });
    }

    /// Adds a sample to the metric that was begun last.
    pub(super) fn sample(&mut self, labels: &[(&'static str, &str)], value: Value) {
        let labels = labels.iter().map(|&(name, of)| (name, of.to_owned()));
        let family = self.families.last_mut().expect("a metric was begun");
        family.samples.push((labels.collect(), value));
    }

    /// The text of OpenMetrics 1.0.
    pub(super) fn openmetrics(self) -> String {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(self));
        let mut text = String::new();
        encode(&mut text, &registry).expect("a string takes all text");
        text
    }

    /// The classic text, version 0.0.4. It differs in two things: the lines before a counter's samples
    /// name it as the samples do, and there is no mark at the end.
    pub(super) fn classic(self) -> String {
        let counters = self.families.iter();
        let counters = counters.filter(|family| matches!(family.kind, MetricType::Counter));
        let counters: Vec<String> = counters.map(|family| family.name.clone()).collect();
        let mut classic = String::new();
        for line in self.openmetrics().lines().filter(|line| *line != "# EOF") {
            let mut words = line.splitn(4, ' ');
            match (words.next(), words.next(), words.next(), words.next()) {
                (Some("#"), Some(word), Some(name), Some(rest))
                    if counters.iter().any(|counter| counter == name) =>
                {
                    classic.push_str(&format!("# {word} {name}{TOTAL} {rest}"));
                }
                _ => classic.push_str(line),
            }
            classic.push('\n');
        }
        classic
    }
}

impl Collector for Exposition {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for family in &self.families {
            let kind = family.kind;
            let mut metric = encoder.encode_descriptor(&family.name, &family.help, None, kind)?;
            for (labels, value) in &family.samples {
                if labels.is_empty() {
                    encode_value(&mut metric, kind, value)?;
                } else {
                    encode_value(&mut metric.encode_family(labels)?, kind, value)?;
                }
            }
        }
        Ok(())
    }
}

fn encode_value(
    sample: &mut MetricEncoder<'_>,
    kind: MetricType,
    value: &Value,
) -> Result<(), fmt::Error> {
    const NO_EXEMPLAR: Option<&Exemplar<NoLabelSet, f64>> = None;
    match (kind, value) {
        (MetricType::Counter, Value::Whole(count)) => sample.encode_counter(count, NO_EXEMPLAR),
        (MetricType::Counter, Value::Real(count)) => sample.encode_counter(count, NO_EXEMPLAR),
        (_, Value::Whole(level)) => sample.encode_gauge(level),
        (_, Value::Signed(level)) => sample.encode_gauge(level),
        (_, Value::Real(level)) => sample.encode_gauge(level),
        (_, Value::Buckets(sum, count, buckets)) => {
            sample.encode_histogram::<NoLabelSet>(*sum, *count, buckets, None)
        }
    }
}
