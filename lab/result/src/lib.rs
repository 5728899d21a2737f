//! What a run of the lab gave, as `run.json` keeps it: figures, verdicts, and how to have them again.
//!
//! `docs/formats/run-json.md` describes the file. Times are nanoseconds (`_ns`), lengths of runs are
//! seconds (`_s`), throughput is answers a second.

#![forbid(unsafe_code)]

mod asked;
mod bottleneck;
mod comparison;
mod distribution;
mod file;
mod machine;
mod point;
mod resources;
mod sweep;
mod verdict;

pub use asked::{Arrivals, Asked, OfferedLoad, Server, Target};
pub use bottleneck::{Bottleneck, Change, Stage, Suspect};
pub use comparison::{Better, Comparison, Metric, Shape};
pub use distribution::{Distribution, PERCENTILES, Percentile};
pub use file::{ReadError, SCHEMA, SCHEMA_OLDEST};
pub use machine::Machine;
pub use point::{Bins, Checked, Operation, Point, Split, Steady, Times, Whole};
pub use resources::{Pressure, Process, Resources, Stall, Stands, Station};
pub use sweep::{Capacity, Curve, OtherRules, Probe, ResourceDemand, Sweep, Usl};
pub use verdict::{Objective, Outcome, Rule, Validity, Verdict};

use serde::{Deserialize, Serialize};

/// The whole of `run.json`. What a command does not find is absent, not empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The version of this form: raised when a field changes its meaning or goes.
    pub schema: u32,
    /// The lab's version.
    pub lab: String,
    /// When it began, in UTC: `2026-01-31T12:00:00Z`.
    pub began: String,
    /// From the first to the last request of all points.
    pub took_s: f64,
    pub asked: Asked,
    pub machine: Machine,
    /// Absent for a server that does not say who it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Server>,
    /// In the order in which they were measured.
    pub points: Vec<Point>,
    /// Of `sweep`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    /// Of `capacity`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Capacity>,
    /// Of `compare`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// Of `bottleneck`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<Bottleneck>,
    /// What `--slo` asked of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<Objective>,
    pub verdict: Verdict,
    /// That of the process: 0, 96, 97, 98 or 99.
    pub exit_code: u8,
}
