//! The sequencer gives every command one place in one order, makes groups of them durable, applies
//! them to a machine, and remembers what it answered.

#![forbid(unsafe_code)]

mod execute_error;
mod keys;
mod ordered;
mod places;
mod remembered;
mod replay;
mod ring;
mod runs;
mod sequencer;
mod shared;
mod state;

pub use execute_error::ExecuteError;
pub use keys::{KEY_MS, KeyFigures, REFUSED_BYTES_MAX};
pub use ordered::{EntryFate, EntryOutcome, NotOrdered};
pub use remembered::{First, OUTCOME_BYTES_MAX, Remembered, SERVICE_UNKNOWN};
pub use replay::Replay;
pub use sequencer::{KEY_BYTES_MAX, Reply, Sequencer, Settled};
#[cfg(feature = "sabotage")]
pub use shared::EntrySabotage;
pub use shared::SharedPlace;
pub use state::{ReplayError, SNAPSHOT_VERSION, SNAPSHOT_VERSION_FIELD, State, content_of};
