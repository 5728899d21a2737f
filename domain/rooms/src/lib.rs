//! The machine that books room-nights: at most one booking for a room and a night, whoever asks.

#![forbid(unsafe_code)]
#![deny(
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod about;
mod command;
mod event;
mod guest;
mod outcome;
mod query;
mod reason;
mod reference;
mod text;

mod expected;
mod machine;
mod state;
mod subject;
mod warming;

mod apply;
mod check;
mod piece;
mod queries;
mod snapshot;

mod calendar;
mod directory;
mod guests;
mod ledger;
pub mod limits;
mod order;
mod principals;
mod shelves;

mod arena;
mod cells;
mod index;
mod slab;
mod table;
mod widths;

pub use command::{Command, Door, Wish};
pub use event::{Event, EventKind};
pub use guest::{GuestId, GuestName, IdKey, IdNumber, InvalidGuestName, InvalidIdNumber};
pub use outcome::{Done, FormerPlace, Nights, Outcome, Refusal};
pub use piece::{Assembly, Counted, Misfit, Piece, Standing};
pub use query::{
    Answer, Block, Entry, EntryState, Explanation, Page, PropertySummary, Query, RoomInSale,
    StoppedRoom, Totals, TypeAvailability,
};
pub use reason::{CancelReason, InvalidCancelReason};
pub use reference::{InvalidReference, Reference};
pub use state::Rooms;
pub use turnstile_chassis::Cursor;
