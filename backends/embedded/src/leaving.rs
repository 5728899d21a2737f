//! A node's directory becomes that of an ordinary server.

use std::{fmt, io, path::Path};

use turnstile_journal::{CommitError, Disk as _, DiskFile as _, Durability, RealDisk, is_segment};
use turnstile_sequencer::ExecuteError;
use turnstile_types::{Position, hash_of};

use crate::{BackendOpenError, Embedded, Options, joined};

/// A directory that was a node's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftCluster {
    /// The last entry of the shared log that it has; nothing if it had left before.
    pub entry: Option<u64>,
    /// Its last position.
    pub position: Position,
    /// The digest of its state, which is that of the node.
    pub hash: u128,
}

/// Why a directory did not leave. Nothing has changed, or the same may be asked for again.
#[derive(Debug)]
pub enum LeaveError {
    /// It is in use, damaged, or no directory of a server.
    Open(BackendOpenError),
    /// It is no node's directory, and was none.
    NotANode,
    /// It is one of several partitions: an ordinary server has what all of them have.
    OfSeveral,
    Journal(ExecuteError),
    Commit(CommitError),
    File(io::Error),
}

/// Makes the directory of a stopped node that of an ordinary server, with the same state, keys and
/// journal. What the log has beyond its last entry is not in it. Asked again after a crash, it goes on.
///
/// # Errors
/// See [`LeaveError`].
pub fn leave_cluster(directory: &Path) -> Result<LeftCluster, LeaveError> {
    let options = Options {
        snapshot_records: 0,
        ..Options::with(Durability::Sync)
    };
    if !directory.join("id.key").exists() {
        return Err(LeaveError::NotANode);
    }
    let (mut backend, _) = Embedded::open(Some(directory), options).map_err(LeaveError::Open)?;
    if backend.sequencer().state().partition().is_some() {
        return Err(LeaveError::OfSeveral);
    }
    let place = backend.sequencer().state().shared();
    let entry = place.map(|place| place.sequence);
    let was_node = directory.join(joined::SHARED_LOG_FILE).exists();
    if entry.is_none() && !was_node {
        return Err(LeaveError::NotANode);
    }
    let disk = RealDisk::open(directory).map_err(LeaveError::File)?;
    if entry.is_some() {
        // A node does not sync its copy: until now the log had it.
        sync_segments(&disk).map_err(LeaveError::File)?;
        let left = backend.sequencer.leave_shared_log();
        left.map_err(LeaveError::Journal)?;
        backend.commit().map_err(LeaveError::Commit)?;
    }
    let state = backend.sequencer().state();
    let left = LeftCluster {
        entry,
        position: state.position(),
        hash: hash_of(state.machines()),
    };
    joined::forget_stream(&disk).map_err(LeaveError::File)?;
    backend.close().map_err(LeaveError::Commit)?;
    Ok(left)
}

fn sync_segments(disk: &RealDisk) -> io::Result<()> {
    for name in disk.list()? {
        if is_segment(&name) {
            disk.open(&name)?.sync_data()?;
        }
    }
    disk.sync_directory()
}

impl fmt::Display for LeaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(cause) => cause.fmt(f),
            Self::NotANode => f.write_str("it is no node's copy of a shared log"),
            Self::OfSeveral => f.write_str(
                "it is one of several partitions, of which each has a part of the state: none of them can be \
                 an ordinary server",
            ),
            Self::Journal(cause) => write!(f, "the journal takes nothing: {cause}"),
            Self::Commit(cause) => cause.fmt(f),
            Self::File(cause) => write!(f, "which log it was a copy of is not forgotten: {cause}"),
        }
    }
}

impl std::error::Error for LeaveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Open(cause) => Some(cause),
            Self::NotANode | Self::OfSeveral => None,
            Self::Journal(cause) => Some(cause),
            Self::Commit(cause) => Some(cause),
            Self::File(cause) => Some(cause),
        }
    }
}
