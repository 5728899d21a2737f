//! A node's directory that begins with a snapshot of its cluster.

use std::{fmt, path::Path};

use turnstile_journal::{self as journal, Disk as _, Durability, RealDisk, snapshot};
use turnstile_sequencer::{SharedPlace, State};
use turnstile_types::{
    Machines as _, Malformed, PartitionFounding, Position, Reader, Timestamp, hash_of,
};
use xxhash_rust::xxh3::xxh3_64;

use crate::{BackendOpenError, Options, Services, id_key};

/// The file beside the journal that says which stream it is a copy of.
pub const SHARED_LOG_FILE: &str = "shared-log";

/// Files that belong to the journal of a directory and go with it. The secret stays: it is that of the
/// installation.
const OF_JOURNAL: [&str; 1] = [id_key::CHECK];

/// A snapshot that came from elsewhere, and holds what it says.
#[derive(Debug)]
pub struct ArrivedSnapshot {
    bytes: Vec<u8>,
    title: snapshot::Title,
    time: Timestamp,
    place: Option<SharedPlace>,
    partition: Option<PartitionFounding>,
}

/// Why bytes are no snapshot.
#[derive(Debug)]
pub enum RefusedSnapshot {
    /// They are damaged, or of a newer version.
    Rotten(snapshot::Rotten),
    Content(Malformed),
    /// The state is not the one that it was made of.
    Hash,
    /// The state breaks rules of its own.
    Unsound(Vec<String>),
}

impl ArrivedSnapshot {
    /// Reads the bytes of a snapshot's file, restores its state and checks both.
    ///
    /// # Errors
    /// They are none that can be believed.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, RefusedSnapshot> {
        let (title, state) = snapshot::parse(&bytes).map_err(RefusedSnapshot::Rotten)?;
        let state = State::<Services>::restore(Reader::new(state));
        let state = state.map_err(RefusedSnapshot::Content)?;
        if hash_of(state.machines()) != title.hash || state.position() != title.position {
            return Err(RefusedSnapshot::Hash);
        }
        state.machines().check().map_err(RefusedSnapshot::Unsound)?;
        let (time, place) = (state.time(), state.shared().cloned());
        let partition = state.partition().copied();
        Ok(Self {
            bytes,
            title,
            time,
            place,
            partition,
        })
    }

    /// The place of its state in the shared log; nothing for the state with which a log begins.
    #[must_use]
    pub const fn place(&self) -> Option<&SharedPlace> {
        self.place.as_ref()
    }

    /// The last position of its state.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.title.position
    }

    /// Which installation a log is of that begins with this state under a secret.
    #[must_use]
    pub fn installation_under(&self, secret: u64) -> u64 {
        let begun = (self.title.hash, self.title.position, self.time);
        installation_from(begun, self.partition.as_ref(), secret)
    }

    /// What it is of.
    #[must_use]
    pub const fn title(&self) -> &snapshot::Title {
        &self.title
    }

    /// The bytes of its state.
    #[must_use]
    pub fn state(&self) -> &[u8] {
        snapshot::parse(&self.bytes).map_or(&[], |(_title, state)| state)
    }
}

/// What servers have in common that begin with this state, its position and its time, as the same of several
/// partitions if there are several, and with the same secret.
#[must_use]
pub fn installation_of(state: &State<Services>, secret: u64) -> u64 {
    let begun = (hash_of(state.machines()), state.position(), state.time());
    installation_from(begun, state.partition(), secret)
}

fn installation_from(
    (hash, position, time): (u128, Position, Timestamp),
    partition: Option<&PartitionFounding>,
    secret: u64,
) -> u64 {
    let numbers = [position.0, time.0, secret].map(u64::to_le_bytes);
    let mut bytes = [&hash.to_le_bytes()[..], &numbers.concat()].concat();
    if let Some(partition) = partition {
        bytes.extend([partition.number.get(), partition.count]);
        bytes.extend(partition.list.to_le_bytes());
    }
    xxh3_64(&bytes)
}

/// Puts the state of a snapshot in the place of all that a directory has. The journal begins behind it; the
/// secret and which log it is a copy of stay. A start finds either the whole or a mark that it is
/// [to begin anew](crate::BackendOpenError::UnfinishedJoin).
///
/// # Errors
/// The directory is in use, or the disk fails.
pub fn install(
    directory: &Path,
    arrived: &ArrivedSnapshot,
    options: Options,
) -> Result<(), BackendOpenError> {
    let disk = RealDisk::open(directory).map_err(|cause| BackendOpenError::Directory {
        path: directory.to_owned(),
        cause,
    })?;
    let lock = journal::take(&disk).map_err(BackendOpenError::Journal)?;
    let state = (&arrived.title, arrived.state());
    let refounded = journal::refound(&disk, lock, state, (options.segment_bytes, &OF_JOURNAL));
    refounded.map_err(BackendOpenError::Journal)
}

/// Clears a node's directory that an unfinished join lies in; refuses it to anybody else.
pub(crate) fn clear_unfinished(
    disk: &RealDisk,
    durability: Durability,
) -> Result<(), BackendOpenError> {
    let failed = |cause| BackendOpenError::Directory {
        path: disk.path().to_owned(),
        cause,
    };
    if !journal::is_unfinished(disk).map_err(failed)? {
        return Ok(());
    }
    if durability != Durability::Cluster {
        let path = disk.path().to_owned();
        return Err(BackendOpenError::UnfinishedJoin { path });
    }
    tracing::warn!("a join was not finished: the node begins it anew");
    journal::clear(disk, &OF_JOURNAL).map_err(failed)
}

/// Removes the file that says which stream a directory was a copy of.
pub(crate) fn forget_stream(disk: &RealDisk) -> std::io::Result<()> {
    match disk.remove(SHARED_LOG_FILE) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => return Err(cause),
        Ok(()) | Err(_) => {}
    }
    disk.sync_directory()
}

impl fmt::Display for RefusedSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rotten(cause) => cause.fmt(f),
            Self::Content(cause) => write!(f, "the snapshot has {cause}"),
            Self::Hash => f.write_str("the snapshot has another state than it was made of"),
            Self::Unsound(violations) => {
                write!(f, "its state breaks its rules: {}", violations.join("; "))
            }
        }
    }
}

impl std::error::Error for RefusedSnapshot {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Rotten(cause) => Some(cause),
            Self::Content(cause) => Some(cause),
            Self::Hash | Self::Unsound(_) => None,
        }
    }
}
