//! The line between the middleware of travel and a desk in another process, and that between an arena
//! of games and its scores: sans-I/O codecs.
//!
//! [`Frames`] and [`Commands`] find the messages in a connection's bytes, and the `put_` functions
//! write them.
//! Nothing here knows a socket or a clock.

#![forbid(unsafe_code)]

mod broken;
mod frame;
mod frames;
pub mod limits;
mod message;
mod opening;
mod results;

pub use broken::Broken;
pub use frames::{Frames, MessageScan};
pub use message::{Hello, Message, put_message, put_parcel, put_refusal};
pub use opening::put_opening;
pub use results::{Commands, put_command};
