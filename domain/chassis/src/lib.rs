//! What every machine is built on, and none decides with: memory that does not move, events with
//! their numbers, early reads for commands on their way, faults found, and a snapshot on its way out.

#![deny(
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod belt;
mod events;
mod faults;
mod pieces;
mod prefetch;
mod slab;

pub use belt::Belt;
pub use events::Events;
pub use faults::Faults;
pub use pieces::Pieces;
pub use prefetch::prefetch;
pub use slab::{NONE, Slab, some};
