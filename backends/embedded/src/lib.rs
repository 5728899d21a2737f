//! The back end that keeps its own journal: a directory, its recovery, its snapshots, its proof.

#![forbid(unsafe_code)]

mod ahead;
mod audit;
mod claim;
mod copying;
mod embedded;
mod formats;
mod found;
mod held;
mod id_key;
mod joined;
mod leaving;
mod newer;
mod programs;
mod progress;
mod recent;
mod recount;
mod recovery;
mod reserve;
mod server_log;
mod services;
mod shared_log;
mod slowed;
mod snapshots;
mod standing;
mod start;
pub mod unfinished;
mod usage;
mod verify;

pub use audit::{AuditExtent, Auditor, audit};
pub use claim::Claim;
pub use copying::RoomsCopy;
pub use embedded::{Embedded, Options, Reply, Status};
pub use formats::{FORMATS, FormatVersion};
pub use found::{DirectoryReader, HeldJournal, ReadFrom};
pub use held::{DirectoryVersions, HeldFormat, JournalGrowth};
pub use id_key::{
    CHECK as ID_CHECK_FILE, FILE as ID_KEY_FILE, IdKeyError, key_of as id_key_of,
    put as put_id_file,
};
pub use joined::{ArrivedSnapshot, RefusedSnapshot, SHARED_LOG_FILE, install, installation_of};
pub use leaving::{LeaveError, LeftCluster, leave_cluster};
pub use programs::{FILE as PROGRAM_VERSIONS_FILE, ProgramStart, program_starts};
pub use progress::{Headway, RecoveryProgress, Stage};
pub use recent::Recent;
pub use recount::{Recounted, RecountedPlayer, recount_games, recount_player};
pub use recovery::{BackendOpenError, Recovery};
pub use server_log::ServerLog;
pub use services::{Hosted, HostedCommand, Recents, Services};
pub use slowed::Slowed;
pub use snapshots::SnapshotFile;
pub use standing::StandingState;
pub use start::UnsoundSettings;
pub use turnstile_journal::{CommitError, Durability, LogThread, Trouble, files};
pub use turnstile_sequencer::{ExecuteError, KeyFigures, Settled};
pub use usage::DiskUsage;
pub use verify::{Verdict, VerifyError, verify, verify_without_key};
