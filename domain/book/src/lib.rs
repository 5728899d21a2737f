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
mod quote;

mod ladder;
mod levels;
mod node;
mod orders;
mod queue;
mod slab;
mod slot;

pub use book::Book;
pub use order::{Incoming, Owner, SelfTrade, Side};
pub use orders::Orders;
pub use quote::Quote;
pub use report::{Depth, Report, Resting, Stop, Taken};
pub use slot::Slot;
