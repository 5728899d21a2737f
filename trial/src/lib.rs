//! What machines are tried with; nothing of the product is built with it.

mod allocations;

pub use allocations::{Counting, Tally};
