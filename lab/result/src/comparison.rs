//! Two systems by runs in pairs.

use serde::{Deserialize, Serialize};
use turnstile_stats::{Interval, distance::PairedEffect, pairs::Verdict};

/// B against A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What A and B are, in words.
    pub a: String,
    pub b: String,
    /// Whether the runs of each pair followed each other in an order that chance decided; a
    /// comparison of old files did not, and drifts of the machine are in it.
    pub interleaved: bool,
    /// The share below which a difference does not matter.
    pub margin: f64,
    /// The points of each pair, A and B, by their place in the run.
    pub pairs: Vec<(u32, u32)>,
    pub metrics: Vec<Metric>,
    /// How the whole distributions of responses differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shape: Vec<Shape>,
    /// The largest difference between the shares of their responses below any one duration, and how
    /// likely so large a one is if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<PairedEffect>,
}

impl Comparison {
    /// What must be known of it beside its figures; nothing of runs that were interleaved.
    #[must_use]
    pub fn caution(&self) -> Option<&'static str> {
        match (self.interleaved, self.pairs.len()) {
            (true, _) => None,
            (false, 1) => Some(
                "one run each, compared by their own intervals: how much runs differ from each other, \
                 and what changed on the machine between them, is in the difference",
            ),
            (false, _) => Some("drifts of the machine are in the difference"),
        }
    }
}

/// One figure of each run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// `throughput`, `response mean`, `response p50`, `response p99`, `server cpu per answer`.
    pub name: String,
    /// `1/s` or `ns`.
    pub unit: String,
    pub better: Better,
    /// A and B of each pair.
    pub values: Vec<(f64, f64)>,
    /// B over A, geometric mean.
    pub ratio: Interval,
    /// How likely so large a difference is if there is none.
    pub chance: f64,
    /// The same, by all changes of sign; absent for many pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance_by_signs: Option<f64>,
    /// `chance`, made honest about the number of metrics (Holm).
    pub chance_of_all: f64,
    pub verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    Higher,
    Lower,
}

/// B over A at one percentile of the response, over the pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    pub quantile: f64,
    pub ratio: Interval,
}
