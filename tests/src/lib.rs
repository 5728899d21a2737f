//! Whole-system tests: the real binary as a child process, talked to by real clients.

mod binary;
mod process;

pub use binary::{automation, call, path as program, run};
pub use process::{Starting, Turnstile};
