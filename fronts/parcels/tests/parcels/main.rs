//! The line between processes: golden bytes, refusals, and streams cut anywhere.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod bytes;
mod hostile;
mod results;
mod streams;
