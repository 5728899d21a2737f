//! The back end that keeps its own journal: a directory, its recovery, its snapshots, its proof.

#![forbid(unsafe_code)]

mod embedded;
mod id_key;
mod kept;
mod snapshots;
mod verify;

pub use embedded::{Embedded, OpenError, Options, Recovery, Status};
pub use id_key::IdKeyError;
pub use turnstile_journal::{CommitError, Durability, LogThread};
pub use turnstile_sequencer::{ExecuteError, Settled};
pub use verify::{Verdict, VerifyError, verify};

/// What became of a command of the rooms machine.
pub type Reply = turnstile_sequencer::Reply<turnstile_rooms::Outcome>;
