//! Backups of a data directory, restores to any position, and a standby that follows a server.
//!
//! All three copy a journal piece by piece, and check each piece as it comes. A backup's files are
//! described in `docs/formats/backup.md`.

#![forbid(unsafe_code)]

mod archive;
mod checking;
mod error;
mod files;
mod manifest;
mod restoring;
mod sealed;
mod source;
mod standby;
mod taking;

pub use archive::{is_archive, take_archive};
pub use checking::{BackupCheck, check_backup};
pub use error::BackupError;
pub use manifest::{IdKeyKept, Manifest, ManifestEnd, ManifestFile};
pub use restoring::{KeyFrom, RestoreReport, RestoreWish, Until, restore};
pub use sealed::{KeyRefusal, Passphrase};
pub use source::{
    BackupSource, CopyStart, DirectorySource, JournalPieces, PIECES_BYTES, PiecesPlace,
    SourceDescription, SourceError, describe, pieces_after, snapshot_part,
};
pub use standby::{Standby, StandbyStep};
pub use taking::{BackupReport, KeyChoice, take_backup};
