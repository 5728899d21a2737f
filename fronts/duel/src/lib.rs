//! Two-player games on the ancestor's wire, byte for byte: codecs without sockets and clocks.
//!
//! The wire has no frames: each message is one send, read by one `recv`. Two messages that a client
//! could read at once would put it out of step for good. So the arena's end is a state machine
//! that knows what its clients have read, and marks what the next message must not meet.
//!
//! [`Entry`] greets a client of the arena, [`Duel`] is the arena between the two of a pair, and
//! [`Guest`] the client's end of that wire. [`Clerk`] answers as the scores, [`Reporter`] asks
//! them.
//! The table in `docs/formats/duel.md` says which messages could meet, and what keeps them apart.

#![forbid(unsafe_code)]

mod clerk;
mod duel;
mod entry;
mod guest;
pub mod limits;
mod parcel;
mod refusal;
mod reporter;
mod scan;
mod words;

pub use clerk::{Asked, Clerk};
pub use duel::{Duel, Heard, Standing};
pub use entry::Entry;
pub use guest::{Guest, Told};
pub use parcel::Parcel;
pub use refusal::Refusal;
pub use reporter::{Reported, Reporter};
pub use words::{BoardCell, Claim, DuelSeat, Greeting, Move, Player, Report, Triple, Verdict};
