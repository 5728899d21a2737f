//! Rooms on Redis: whole commands, decided by functions that Redis runs one at a time.

#![forbid(unsafe_code)]

mod answer;
mod backend;
mod copying;
mod error;
mod facts;
mod line;
mod link;
mod names;
mod order;
mod presence;
mod replies;

pub use backend::Redis;
pub use copying::RedisCopy;
