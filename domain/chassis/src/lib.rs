//! What every machine is built on, and none decides with: memory that does not move, events with
//! their numbers, commands that wait, faults found, and a snapshot on its way out.

#![forbid(unsafe_code)]
#![deny(
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod events;
mod expected;
mod faults;
mod pieces;
mod slab;

pub use events::Events;
pub use expected::{Expected, GROUP};
pub use faults::Faults;
pub use pieces::Pieces;
pub use slab::{NONE, Slab, some};
