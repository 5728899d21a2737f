//! What every machine is built on, and none decides with: memory that does not move, tables that
//! find what lies there, events with their numbers, early reads for commands on their way, faults
//! found, stable bytes, and a snapshot on its way out.

#![deny(
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod belt;
mod events;
mod faults;
mod pieces;
mod pool;
mod prefetch;
mod roomy;
mod slab;
mod table;
mod wire;

pub use belt::Belt;
pub use events::Events;
pub use faults::Faults;
pub use pieces::Pieces;
pub use pool::{Linked, Pool};
pub use prefetch::prefetch;
pub use roomy::roomy;
pub use slab::{NONE, Slab, some};
pub use table::{Table, hash_of, hash_of_pair};
pub use wire::{Wire, put_count, read_all};
