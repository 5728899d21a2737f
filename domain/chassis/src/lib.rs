//! What every machine is built on, and none decides with: memory that grows without moving, tables that
//! find what lies there, events with their numbers, early reads for commands on their way, faults
//! found, stable bytes, what can be asked, who may ask it, what each has open, the fields that doors show, and a snapshot on
//! its way out.

#![deny(
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod belt;
mod bytes;
mod countable;
mod events;
mod faults;
mod fields;
mod looks;
mod lot;
mod operations;
mod pieces;
mod pool;
mod prefetch;
mod rights;
mod route;
mod served;
mod slab;
mod table;

pub use belt::Belt;
pub use bytes::{Decode, Encode, Tagged, put_count, put_text, read_all, read_text};
pub use countable::{Countable, OpenCounts};
pub use events::Events;
pub use faults::Faults;
pub use fields::{
    Class, Field, Fields, Kind, Meaning, Refuse, Show, Value, Variant, Variants, Visitor,
    count_fields, fields_with, joined, kind_with, merge, visit_or_null,
};
pub use looks::Looks;
pub use lot::{LARGE_PAGE, Lot};
pub use operations::{
    Cursor, Need, NoWord, NotWhole, Operation, Operations, PAGE, PAGE_MAX, Parameter, Parameters,
    Readable, Source, variants_named, whole,
};
pub use pieces::Pieces;
pub use pool::{Linked, Pool};
pub use prefetch::prefetch;
pub use rights::{Needed, Needs, Right, Subject};
pub use route::{PartitionRoute, Routed, Routing};
pub use served::{Served, SubjectOf};
pub use slab::{NONE, Slab, some};
pub use table::{Table, hash_of, hash_of_pair};
pub use turnstile_derive::{Bytes, Fields, Operations, Parameters, Words};
