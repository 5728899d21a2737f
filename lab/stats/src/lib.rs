//! What may be said of a measurement, and how sure one is of it: histograms, steady states,
//! intervals, laws, capacities and comparisons.
//!
//! Pure functions of the figures; whatever needs chance takes a generator that the caller seeds.

#![forbid(unsafe_code)]

pub mod batch;
pub mod bottleneck;
pub mod capacity;
pub mod chance;
pub mod distance;
pub mod fit;
mod histogram;
pub mod interval;
mod knee;
pub mod ladder;
mod law;
pub mod operational;
pub mod pairs;
pub mod percentile;
pub mod precision;
pub mod regimes;
pub mod sample;
pub mod search;
pub mod steady;
pub mod student;
pub mod truth;
pub mod units;
pub mod usl;

pub use histogram::{Histogram, Summary};
pub use interval::Interval;
pub use knee::{knee, kneedle, share_of_most};
pub use law::{Little, throughput};
