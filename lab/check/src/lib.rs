//! Whether what a server answered under load can be true.
//!
//! Every operation is asked at an instant, answered at another, and its answer tells its position in
//! the server's order. Two things make such a history linearizable: replayed in the order of the
//! positions, a naive [`Model`] of the service gives the same answers; and no operation stands before
//! one that had been answered when it was asked. Both are checked while the load runs: users tell
//! what they ask and hear to their [`Witness`], and a [`Checker`] replays whatever nobody can come
//! before any more. Its memory is that of what is under way, and of the model. Where that would disturb
//! the load, a [`Spool`] keeps what was told in a file, and the same replay comes afterwards.
//!
//! An operation whose answer never came is *unknown*: it may have been carried out at any position
//! above those that had been answered when it was asked, or never.

#![forbid(unsafe_code)]

pub mod exchange;
pub mod games;
pub mod rooms;
pub mod seats;
pub mod travel;

mod charge;
mod checker;
mod compact;
mod doubts;
mod horizon;
mod model;
mod replay;
mod spool;
mod witness;

pub use charge::Charge;
pub use checker::{CheckedSoFar, Checker};
pub use compact::Compact;
pub use horizon::{Asked, Record, Seen};
pub use model::Model;
pub use replay::{Findings, GarbledRecord};
pub use spool::{Spool, Spooled};
pub use witness::{Chronicle, Witness, witnesses};
