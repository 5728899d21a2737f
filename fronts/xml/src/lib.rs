//! The exchange in XML, as the course protocol has it: a sans-I/O codec.
//!
//! [`frame()`] finds the frames in a connection's bytes, [`Requests`] reads one frame whole before
//! any of it is done, [`Batch`] gives its items in the order in which they were sent, and
//! [`Answers`] writes what became of each. [`client`] is the other side. Nothing here knows a
//! socket or a clock.

#![forbid(unsafe_code)]

mod answers;
mod attributes;
pub mod client;
mod digits;
mod echo;
mod fault;
mod frame;
mod items;
pub mod limits;
mod number;
mod requests;
mod scan;
mod sentence;
mod span;
#[cfg(test)]
mod tests;

pub use answers::{Answers, put_error};
pub use echo::Echo;
pub use fault::{Attribute, Fault, Flaw, Invalid, MalformedRequest};
pub use frame::{Framed, frame};
pub use items::{Ask, RequestItem};
pub use requests::{Batch, Requests, Root};

/// Where a deployment may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether a line with its length stands before each answer. Clients of both kinds exist.
    pub reply_length_line: bool,
    /// Whether an account may have any name that the machine takes, and not only digits.
    pub lenient_accounts: bool,
    /// Whether orders of one account match each other; else both rest.
    pub self_match: bool,
    /// The longest request, in bytes of XML.
    pub frame_bytes_max: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            reply_length_line: false,
            lenient_accounts: false,
            self_match: false,
            frame_bytes_max: limits::FRAME_BYTES_MAX,
        }
    }
}
