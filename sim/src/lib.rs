//! The simulator: the real machines, sequencer and journal on a simulated disk and clock.
//!
//! One seed is one history: some lives of a server, with traffic to all services, faults, crashes
//! and recoveries, judged by replay in order of position. The same seed gives the same history, byte for byte, so a failure is replayed with one command. Histories with a planted bug
//! prove that the judge would notice it.

#![forbid(unsafe_code)]

mod actors;
mod bug;
mod cluster;
mod follower;
mod history;
mod judge;
mod keyring;
mod patience;
mod services;
mod summary;
mod violation;
mod weather;
mod witness;

pub use bug::Bug;
pub use cluster::{
    ClusterBug, ClusterHistory, ClusterSummary, PartitionBug, PartitionHistory, PartitionSummary,
};
pub use history::History;
pub use summary::HistorySummary;
pub use violation::Violation;
