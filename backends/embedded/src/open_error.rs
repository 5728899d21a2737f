//! Why a back end did not open.

use std::{fmt, io, path::PathBuf};

use turnstile_journal as journal;
use turnstile_sequencer::ReplayError;
use turnstile_types::Malformed;

use crate::id_key::IdKeyError;

/// Why a back end did not open.
#[derive(Debug)]
pub enum OpenError {
    Directory {
        path: PathBuf,
        cause: io::Error,
    },
    Journal(journal::OpenError),
    IdKey(IdKeyError),
    /// The directory's snapshots cannot be listed.
    Snapshot(io::Error),
    /// The snapshot's checksum holds, but it is not a state of this version.
    SnapshotContent(Malformed),
    Replay(journal::ReplayError<ReplayError>),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { path, cause } => write!(f, "{}: {cause}", path.display()),
            Self::Journal(cause) => cause.fmt(f),
            Self::IdKey(cause) => cause.fmt(f),
            Self::Snapshot(cause) => cause.fmt(f),
            Self::SnapshotContent(cause) => write!(f, "the snapshot has {cause}"),
            Self::Replay(cause) => cause.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Directory { cause, .. } => Some(cause),
            Self::Journal(cause) => Some(cause),
            Self::IdKey(cause) => Some(cause),
            Self::Snapshot(cause) => Some(cause),
            Self::SnapshotContent(cause) => Some(cause),
            Self::Replay(cause) => Some(cause),
        }
    }
}
