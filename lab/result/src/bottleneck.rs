//! What holds a server back: the resource that is full, how sure that is, and what a change of it does.

use serde::{Deserialize, Serialize};
use turnstile_stats::Interval;

/// What `bottleneck` finds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bottleneck {
    /// So many users made it show.
    pub users: u32,
    /// A [`crate::Station`]; or what none of them is: `lock`, `slots`, `sleep`, `delayed ack`,
    /// `neighbours`, `users` (more of them would bring more), `unseen`; [`Bottleneck::NOTHING`] where too
    /// few points are valid.
    pub named: String,
    /// How often the same is named when the pieces of the runs are drawn anew, 0 to 1; 0 for nothing.
    pub probability: f64,
    /// What speaks for it, in words.
    pub why: String,
    /// What can be done, in words.
    pub cure: String,
    /// All that may be full, the fullest first.
    pub suspects: Vec<Suspect>,
    /// Where the users stand; these add up to all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// Of `--confirm`: what happened when one resource was changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Whether the change of what is named moved the throughput; absent when it was not changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<bool>,
}

impl Bottleneck {
    /// The name of no bottleneck.
    pub const NOTHING: &str = "nothing";

    /// Whether what is named holds the server back, and not its measurement.
    #[must_use]
    pub fn is_known(&self) -> bool {
        let is_instrument = self.named == "neighbours" || self.named.starts_with("generator");
        self.named != Self::NOTHING && !is_instrument
    }
}

/// A resource, and how full it is with all users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suspect {
    /// As [`crate::Station`] names it.
    pub resource: String,
    pub servers: f64,
    /// Busy time of one request, never below 0.
    pub busy_ns: Interval,
    /// Servers that are busy without any request.
    pub background: f64,
    /// The share of the servers that is busy.
    pub used: Interval,
    /// How often it is what is named, 0 to 1: [`Bottleneck::probability`], for the one that is.
    pub probability: f64,
}

/// Where some of the users stand, by Little's law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    pub name: String,
    pub users: f64,
}

/// One resource was made more or less, and the rest left as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// In words.
    pub changed: String,
    /// Which resources it changes, as [`Bottleneck::named`] calls them.
    pub resources: Vec<String>,
    /// So many times as much of it; absent where it was taken out of the way altogether.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
    /// The throughput with the change over that without, by those pairs of which both points are valid.
    pub throughput: Interval,
    /// d ln throughput / d ln resource: 1 is all that it can bring, 0 is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elasticity: Option<Interval>,
    /// The places of the pairs among the points of the run: without it, with it.
    pub pairs: Vec<(u32, u32)>,
}
