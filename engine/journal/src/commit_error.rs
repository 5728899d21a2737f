//! Failures of a commit.

use std::{fmt, io};

/// Why a group is not durable. All of it is final: the journal takes nothing more, and the process
/// must stop. Whether the group survived is found out by the next recovery.
#[derive(Debug)]
pub enum CommitError {
    Write(io::Error),
    Sync(io::Error),
    /// The directory could not be changed for the next segment.
    Directory(io::Error),
    /// An earlier failure, already reported.
    Poisoned,
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(error) => write!(f, "the journal cannot be written: {error}"),
            Self::Sync(error) => write!(f, "the journal cannot be synced: {error}"),
            Self::Directory(error) => {
                write!(f, "the journal's directory cannot be changed: {error}")
            }
            Self::Poisoned => f.write_str("the journal failed before and takes nothing more"),
        }
    }
}

impl std::error::Error for CommitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Write(error) | Self::Sync(error) | Self::Directory(error) => Some(error),
            Self::Poisoned => None,
        }
    }
}
