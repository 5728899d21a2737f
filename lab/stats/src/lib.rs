//! Histograms, laws and units of measurements.

#![forbid(unsafe_code)]

mod histogram;
mod law;
pub mod units;

pub use histogram::{Histogram, Summary};
pub use law::{Little, throughput};
