//! The line between processes: golden bytes, refusals, and streams cut anywhere.

mod bytes;
mod hostile;
mod results;
mod streams;
