//! The instrument on trial: real servers of known delays, honest and lying, and generators likewise.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod liars;
mod parts;
