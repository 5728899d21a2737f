//! The views of a run: on runs of simulated systems, and in a real browser.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod browser;
mod golden;
mod simulated;
