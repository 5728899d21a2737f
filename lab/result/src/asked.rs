//! What was asked of a run: enough to ask for it again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The question that a run answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// `run`, `sweep`, `capacity`, `compare`, ...
    pub command: String,
    /// The words of the command line, the program first.
    pub line: Vec<String>,
    /// `rooms`, `exchange`, `games`, `travel`, or for a server of somebody else `http` or `resp`.
    pub workload: String,
    /// What only this workload knows, by the name of its flag: `mix`, `symbols`, `door`, ...
    pub settings: BTreeMap<String, String>,
    pub target: Target,
    /// The same seed sends the same requests at the same instants.
    pub seed: u64,
    /// Generator threads.
    pub threads: u32,
    /// Half of the interval of the mean as a share of it, that a point should reach; absent when a
    /// point takes the time that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
    /// The longest that a point may take.
    pub point_s_max: f64,
    /// Which processors the server may use and which the generator, where that was asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pinned: BTreeMap<String, Vec<u32>>,
}

/// What was driven.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// As it was given, or found when the lab started the server: `127.0.0.1:8479`, `http://...`.
    pub address: String,
    /// Whether the lab started the server for the run.
    pub own: bool,
    /// Whether connections were encrypted. Runs of older versions do not tell.
    #[serde(default)]
    pub tls: bool,
    /// Whether a key was shown: on each connection, over HTTP with each request.
    #[serde(default)]
    pub authenticated: bool,
}

/// What the server says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    pub version: String,
    /// Of the service that was driven: `sync`, `os` or `memory`, or the settings of its database.
    pub durability: String,
    /// What keeps its data: `embedded`, or the database with its version and place.
    pub back_end: String,
}

/// How hard a point drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "loop", rename_all = "snake_case")]
pub enum OfferedLoad {
    /// Users who wait for the answer before they ask again.
    Closed {
        users: u32,
        /// Requests under way on each connection.
        pipeline: u32,
        /// The mean time from an answer to the user's next request; absent when there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        think_ns: Option<f64>,
    },
    /// Requests at instants that were fixed before the run, whatever the answers do.
    Open {
        /// Requests a second that were planned.
        rate: f64,
        arrivals: Arrivals,
        connections: u32,
        /// What a request may take from its due instant on; later ones count as failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline_ns: Option<u64>,
    },
    /// So many requests and then no more, as fast as the answers come.
    Count { users: u32, requests: u64 },
}

/// The law of the instants at which requests are due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "snake_case")]
pub enum Arrivals {
    /// Equal gaps.
    Fixed,
    /// Exponential gaps.
    Poisson,
    /// Equal gaps, each longer or shorter by up to this share.
    Jitter { share: f64 },
    /// So many at once, then a pause that keeps the rate.
    Burst { size: u32 },
    /// From a file of instants.
    Trace { file: String },
}
