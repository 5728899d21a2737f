//! Recorded conversations: what was sent and answered on each connection, and when.
//!
//! The bytes are described in `docs/formats/trace.md`.

#![forbid(unsafe_code)]

mod entry;
mod reader;
mod writer;

pub use entry::{ENTRY_BYTES_MAX, Entry, Kind};
pub use reader::{Broken, Trace};
pub use writer::{SentHash, StreamHash, TraceWriter};
