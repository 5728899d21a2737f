//! The back end that keeps its own journal: a directory, its recovery, its snapshots, its proof.

#![forbid(unsafe_code)]

mod audit;
mod claim;
mod copying;
mod embedded;
mod id_key;
mod progress;
mod recent;
mod recount;
mod recovery;
mod reserve;
mod server_log;
mod services;
mod slowed;
mod snapshots;
mod start;
mod usage;
mod verify;

pub use audit::{AuditExtent, Auditor, audit};
pub use claim::Claim;
pub use copying::RoomsCopy;
pub use embedded::{Embedded, Options, Reply, Status};
pub use id_key::IdKeyError;
pub use progress::{Headway, RecoveryProgress, Stage};
pub use recent::Recent;
pub use recount::{Recounted, recount_games};
pub use recovery::{OpenError, Recovery};
pub use server_log::ServerLog;
pub use services::{Hosted, Recents, Services};
pub use slowed::Slowed;
pub use start::UnsoundSettings;
pub use turnstile_journal::{CommitError, Durability, LogThread, Trouble};
pub use turnstile_sequencer::{ExecuteError, KeyFigures, Settled};
pub use usage::DiskUsage;
pub use verify::{Verdict, VerifyError, verify};
