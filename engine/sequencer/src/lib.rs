//! The sequencer gives every command one place in one order, makes groups of them durable, applies
//! them to a machine, and remembers what it answered.

#![forbid(unsafe_code)]

mod execute_error;
mod founding;
mod keys;
mod ordered;
mod places;
mod remembered;
mod replay;
mod replay_error;
mod reply;
mod ring;
mod runs;
mod sequencer;
mod shared;
mod state;
mod store;

pub use execute_error::ExecuteError;
pub use founding::founding_of;
pub use keys::{KEY_MS, KeyFigures, REFUSED_BYTES_MAX};
pub use ordered::{EntryFate, EntryOutcome, EntryWitness, NotOrdered};
pub use remembered::{First, OUTCOME_BYTES_MAX, Remembered, SERVICE_UNKNOWN};
pub use replay::Replay;
pub use replay_error::RecordReplayError;
pub use reply::Reply;
pub use runs::KnownServer;
pub use sequencer::{KEY_BYTES_MAX, Sequencer, Settled};
#[cfg(feature = "sabotage")]
pub use shared::EntrySabotage;
pub use shared::{EngineRecord, NotedEntry, SharedPlace};
pub use state::{
    SNAPSHOT_VERSION, SNAPSHOT_VERSION_FIELD, State, content_of,
    version_after as state_version_after,
};
pub use store::{
    OrderedSnapshot, OrderedSnapshots, SNAPSHOT_CLAIM_MS, SnapshotClaim, SnapshotStep,
};
