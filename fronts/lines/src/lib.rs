//! Travel in command lines, as they are typed by hand or piped from a file: a sans-I/O codec.
//!
//! [`Lines`] finds the lines in a connection's bytes, [`read`] says what one asks for, and
//! [`put_outcome`], [`put_itinerary`], [`put_help`] and [`put_exception`] write the answer: one
//! line, or a block that ends with an empty line. [`client`] is the other side. Nothing here knows a
//! socket or a clock.

#![forbid(unsafe_code)]

mod answers;
pub mod client;
mod frame;
mod invalid;
mod itineraries;
pub mod limits;
mod request;
mod sentence;
mod verb;

pub use answers::{Options, put_help, put_ok, put_outcome};
pub use frame::{LineScan, Lines};
pub use invalid::{Excerpt, Invalid};
pub use itineraries::put_itinerary;
pub use request::{Ask, Crash, Wording, read};
pub use sentence::put_exception;
pub use verb::LineVerb;
