//! What goes wrong with backups.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use turnstile_embedded::VerifyError;
use turnstile_journal::{CopyBreak, CopyError};
use turnstile_types::{Position, Timestamp};

use crate::{KeyRefusal, SourceError};

/// Why a backup, a restore or a standby does not go on.
#[derive(Debug)]
pub enum BackupError {
    Source(SourceError),
    Io {
        path: PathBuf,
        cause: io::Error,
    },
    /// There is no backup.
    None {
        path: PathBuf,
    },
    /// A newer version wrote the backup.
    Newer {
        format: u32,
        /// The highest format that this version reads.
        reads: u32,
        program: String,
    },
    /// A file of the backup is missing or damaged.
    Damaged {
        file: String,
        cause: String,
    },
    /// The source does not continue the copy.
    Diverged(CopyBreak),
    /// The source has another journal.
    OtherJournal,
    /// The source ends before the copy.
    Behind {
        source: u64,
        copy: u64,
    },
    /// The target holds something else.
    Occupied {
        path: PathBuf,
    },
    /// The target holds a restore that was not finished.
    Unfinished {
        path: PathBuf,
    },
    /// Another process writes to the target.
    Locked {
        path: PathBuf,
    },
    /// The first backup must say what becomes of `id.key`.
    NoKeyChoice,
    /// The backup that is there says something else about `id.key`.
    KeyChanged,
    /// The source does not give away `id.key`.
    KeyStays,
    Key(KeyRefusal),
    /// The backup begins after what is wanted.
    TooEarly {
        snapshot: Position,
        time: Timestamp,
    },
    /// What was restored cannot be read.
    Unread(VerifyError),
    /// What was restored does not hold together.
    Violated(Vec<String>),
}

impl BackupError {
    pub(crate) fn io(path: &Path, cause: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            cause,
        }
    }

    /// Whether the backup, or what was restored from it, is damaged.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Damaged { .. }
                | Self::Unread(_)
                | Self::Violated(_)
                | Self::Source(SourceError::Damaged(_))
        )
    }

    /// Whether another command line would do.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::None { .. }
                | Self::Newer { .. }
                | Self::Occupied { .. }
                | Self::Unfinished { .. }
                | Self::NoKeyChoice
                | Self::KeyChanged
                | Self::KeyStays
                | Self::Key(_)
                | Self::TooEarly { .. }
        )
    }

    /// Whether the same may succeed a little later.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Source(SourceError::Away {
                is_passing: true,
                ..
            })
        )
    }

    /// Of a copy in a directory.
    pub(crate) fn of_copy(path: &Path, error: CopyError) -> Self {
        match error {
            CopyError::Io(cause) => Self::io(path, cause),
            CopyError::Break(cause) => Self::Diverged(cause),
            CopyError::Open(turnstile_journal::OpenError::Locked) => Self::Locked {
                path: path.to_owned(),
            },
            CopyError::Open(turnstile_journal::OpenError::Io(cause)) => Self::io(path, cause),
            CopyError::Open(cause) => {
                Self::Unread(turnstile_embedded::BackendOpenError::Journal(cause).into())
            }
        }
    }
}

impl From<SourceError> for BackupError {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

impl From<KeyRefusal> for BackupError {
    fn from(refusal: KeyRefusal) -> Self {
        Self::Key(refusal)
    }
}

impl fmt::Display for BackupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(error) => error.fmt(f),
            Self::Io { path, cause } => write!(f, "{}: {cause}", path.display()),
            Self::None { path } => write!(f, "there is no backup in {}", path.display()),
            Self::Newer {
                format,
                reads,
                program,
            } => write!(
                f,
                "the backup was written by version {program} of this program: it has format {format}, and \
                 this program reads up to {reads}; restore it with that version"
            ),
            Self::Damaged { file, cause } => write!(f, "{file} of the backup: {cause}"),
            Self::Diverged(cause) => write!(
                f,
                "the source does not continue this copy: {cause}; begin a new one in another directory"
            ),
            Self::OtherJournal => f.write_str(
                "the copy is of another journal than the source: name another directory",
            ),
            Self::Behind { source, copy } => write!(
                f,
                "the source ends at position {source}, before the copy at {copy}: it was restored, or has \
                 lost records; keep this copy, and begin a new one in another directory"
            ),
            Self::Occupied { path } => write!(
                f,
                "{} is not empty: name a directory that is empty or not there",
                path.display()
            ),
            Self::Unfinished { path } => write!(
                f,
                "{} holds a restore or a copy that was not finished: --again starts it over",
                path.display()
            ),
            Self::Locked { path } => {
                write!(f, "another process uses {}", path.display())
            }
            Self::NoKeyChoice => f.write_str(
                "say what becomes of id.key: --passphrase-file, --ask-passphrase or --without-id-key",
            ),
            Self::KeyChanged => f.write_str(
                "the first backup into this directory decided about id.key: name another directory to \
                 decide otherwise",
            ),
            Self::KeyStays => f.write_str(
                "a server does not hand out id.key: name --without-id-key, and keep a copy of the file",
            ),
            Self::Key(refusal) => refusal.fmt(f),
            Self::TooEarly { snapshot, time } => write!(
                f,
                "the backup begins with the state at position {snapshot} of {time}: name that or a later \
                 one, or take an older backup"
            ),
            Self::Unread(error) => error.fmt(f),
            Self::Violated(violations) => write!(
                f,
                "what was restored does not hold together: {}",
                violations.join("; ")
            ),
        }
    }
}

impl std::error::Error for BackupError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Source(error) => Some(error),
            Self::Io { cause, .. } => Some(cause),
            Self::Diverged(cause) => Some(cause),
            Self::Key(refusal) => Some(refusal),
            Self::Unread(error) => Some(error),
            _ => None,
        }
    }
}
