//! The machine that sells numbered seats of shows: a seat has at most one booking or open hold.

#![forbid(unsafe_code)]
#![deny(
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod about;
mod booking_number;
mod command;
mod event;
pub mod limits;
mod outcome;
mod query;
mod seat_number;
mod up_to;

mod machine;

mod check;
mod hall;
mod queries;
mod snapshot;
mod state;
mod subject;

pub use booking_number::{BookingNumber, InvalidBookingNumber};
pub use command::Command;
pub use event::{Event, EventKind};
pub use outcome::{Done, Outcome, Refusal};
pub use query::{
    Answer, Entry, MapRow, Query, SeatEntryState, SectionSummary, ShowSummary, Totals,
};
pub use seat_number::{Choice, InvalidSeats, SeatNumber, SeatNumbers};
pub use state::Seats;
pub use turnstile_chassis::Cursor;
pub use up_to::UpTo;
