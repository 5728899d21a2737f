//! What a sweep over loads finds: capacity, knee, and what explains them.

use serde::{Deserialize, Serialize};
use turnstile_stats::Interval;

/// The curves of a sweep, one for each number of the server's processors and each quota.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// What grows along a curve: `users` or `rate`.
    pub axis: String,
    pub curves: Vec<Curve>,
    /// Capacity against processors; absent for fewer than four of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Usl>,
}

/// Throughput and response against load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Processors of the server; absent when it may use all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Processors that a quota leaves to the server, such as 0.5; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<f64>,
    /// Its points, by their place in the run, in increasing order of load.
    pub points: Vec<u32>,
    /// Why it ends where it does, in words.
    pub stopped: String,
    /// The most it can do: the level of the curve; absent when it never bent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Interval>,
    /// The response of a lone user, in nanoseconds, with think time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lone_ns: Option<Interval>,
    /// Users from which on they wait for each other: capacity x response of a lone user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<Interval>,
    /// What each resource is asked for by a request, the greediest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub demands: Vec<ResourceDemand>,
    /// What other rules call the knee; beside the headline, never instead of it.
    pub other_rules: OtherRules,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usl: Option<Usl>,
}

/// What requests ask of one resource, and so what it allows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceDemand {
    /// As [`crate::Station`] names it.
    pub resource: String,
    /// Busy time of one request.
    pub busy_ns: Interval,
    /// How many can be busy at once; a quota makes it a fraction.
    pub servers: f64,
    /// Requests a second at which it would be busy all the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Interval>,
}

/// Users at the knee by other rules; each absent where it says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OtherRules {
    /// Where a fit of a slope and a level bends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub two_segments: Option<f64>,
    /// The farthest from the straight line between both ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kneedle: Option<f64>,
    /// The first point with 95 % of the highest throughput.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_of_most: Option<f64>,
}

/// The universal scalability law with its intervals: an explanation, not a capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Usl {
    /// Requests a second of a lone user or processor.
    pub rate: Interval,
    /// Contention.
    pub sigma: Interval,
    /// Coherence.
    pub kappa: Interval,
    /// Users or processors at the highest throughput; only when it surely falls beyond.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<f64>,
}

/// The highest rate that meets the objectives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// As they were asked.
    pub objectives: Vec<String>,
    /// Requests a second: the highest rate that surely met them, the estimate, and the lowest that
    /// surely missed them; absent when even the lowest rate missed, or none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Interval>,
    /// In the order in which they were tried.
    pub probes: Vec<Probe>,
    /// Why the search ended, in words.
    pub stopped: String,
}

/// One rate that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    pub rate: f64,
    /// Its place among the points of the run.
    pub point: u32,
    /// Absent when that was not sure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
}
