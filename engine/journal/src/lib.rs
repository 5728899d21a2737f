//! The ordered, durable list of groups of records: one write and one sync a group, recovery after
//! any crash, and snapshots that let old segments go.
//!
//! The files are described in `docs/formats/journal.md` and `docs/formats/snapshot.md`, with what
//! survives which fault.

#![forbid(unsafe_code)]

mod carrier;
mod chores;
mod commit_error;
mod copy;
mod disk;
pub mod files;
mod founding;
mod journal;
mod log;
mod mark;
mod pending;
mod pieces;
mod preparation;
mod reader;
mod recovery;
mod replay;
mod retirement;
mod sabotage;
mod segment;
pub mod snapshot;

pub use carrier::LogThread;
pub use chores::Chores;
pub use commit_error::CommitError;
pub use copy::{CopiedBytes, CopyError, JournalCopy};
pub use disk::{
    Disk, DiskFile, Fate, Fault, FaultyDisk, FaultyFile, FaultyLock, LOCK_FILE, RealDisk, RealFile,
    RealLock, Trouble, Unsynced,
};
pub use founding::{Founding, UNFINISHED_JOIN, clear, is_unfinished, refound};
pub use journal::{Journal, Options};
pub use log::{Durability, Log, MemoryLog, Progress, Room};
pub use pieces::{CopiedPiece, CopyBreak, CopyCursor, CopyEnd, LastGroup};
pub use reader::{JournalReadError, JournalReader};
pub use recovery::{Inspected, OpenError, Report, Spot, acknowledged, inspect, journal_id, take};
pub use replay::{ReplayError, replay};
pub use retirement::{Retired, last_boundary, retire};
#[cfg(feature = "sabotage")]
pub use sabotage::Sabotage;
pub use segment::{
    SEGMENT_BYTES_MIN, VERSION as JOURNAL_VERSION, is_segment, name as segment_name,
    version_of as segment_version,
};
