//! Systems whose answer is known: what the statistics here are tried on.

mod network;
mod queue;
mod series;

pub use network::{Network, Operating, QueueingStation};
pub use queue::Queue;
pub use series::{Autoregressive, WarmUp};
