//! Games in RESP: events as messages of a channel, and the figures of `INFO`.

mod event;
mod facts;

pub use event::{CHANNEL, event_json};
pub use facts::facts;
