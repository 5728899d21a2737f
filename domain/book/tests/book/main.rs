//! The order book against its slow twin, and what it costs.

mod allocations;
mod histories;
mod rules;
mod twin;
