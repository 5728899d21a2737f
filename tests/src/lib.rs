//! Whole-system tests: the real binary as a child process, talked to by real clients.

mod binary;
mod process;

pub use binary::run;
pub use process::{Starting, Turnstile};
