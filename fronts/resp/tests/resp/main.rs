//! The codec as its users see it.

mod allocations;
