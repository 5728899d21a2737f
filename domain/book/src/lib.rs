//! The limit order book of one symbol: price-time priority, the maker's price, nothing else.

#![forbid(unsafe_code)]
#![deny(
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod order;
mod report;

mod book;
mod check;
mod depth;

mod ladder;
mod levels;
mod orders;
mod queue;
mod slab;

pub use book::Book;
pub use order::{Incoming, Owner, SelfTrade, Side};
pub use orders::{Orders, Slot};
pub use report::{Depth, Report, Resting, Stop, Taken};
