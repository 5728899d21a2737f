//! The sequencer gives every command one place in one order, makes groups of them durable, applies
//! them to a machine, and remembers what it answered.

#![forbid(unsafe_code)]

mod keys;
mod sequencer;
mod state;

pub use keys::{First, KEY_MS, KEYS_MAX, Remembered, SERVICE_UNKNOWN};
pub use sequencer::{ExecuteError, Reply, Sequencer, Settled};
pub use state::{ReplayError, SNAPSHOT_VERSION, SNAPSHOT_VERSION_FIELD, State, content_of};
