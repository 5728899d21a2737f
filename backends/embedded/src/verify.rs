//! The proof of a directory: every checksum, two replays, equal hashes, and the business
//! invariants.

use std::{
    fmt,
    path::Path,
    time::{Duration, Instant},
};

use turnstile_journal::{RealDisk, Report, inspect, replay, snapshot};
use turnstile_sequencer::State;
use turnstile_types::{Machines, Position, Reader, hash_of};

use crate::{BackendOpenError, Services, id_key, newer};

/// What a proof found.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What the scan of the journal found; a torn tail is named there, and may have been
    /// acknowledged.
    pub journal: Report,
    /// Whether `id.key` can be told from another one. Not so in a directory of an earlier version, until
    /// a server has started on it.
    pub is_key_bound: bool,
    /// From which position the first replay began: that of the oldest snapshot that is kept.
    pub from: Position,
    /// From which position the second replay began: that of the newest snapshot.
    pub again_from: Position,
    /// The hash of the machines' state after the first replay.
    pub hash: u128,
    /// The hash after the second; equal, or the directory is not sound.
    pub hash_again: u128,
    /// A sentence for each invariant that does not hold.
    pub violations: Vec<String>,
    /// What stands: numbers and the words behind each, of every service that was used, of rooms always.
    pub standing: Vec<(u64, String)>,
    /// How long it took, wall clock.
    pub took: Duration,
}

impl Verdict {
    /// Whether everything holds.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.hash == self.hash_again && self.violations.is_empty()
    }
}

/// Why there is no verdict.
#[derive(Debug)]
pub enum VerifyError {
    /// There is no such directory, or no journal in it.
    NoJournal,
    /// The journal or a snapshot cannot be read; damage is named with its place.
    Open(BackendOpenError),
    /// A snapshot that is kept cannot be read.
    Snapshot {
        position: Position,
        cause: snapshot::Rotten,
    },
    /// A snapshot does not have the state that it was made with.
    SnapshotHash { position: Position },
}

/// The disk of a directory that is to be read.
pub(crate) fn disk_of(directory: &Path) -> Result<RealDisk, VerifyError> {
    if !directory.is_dir() {
        return Err(VerifyError::NoJournal);
    }
    let opened = RealDisk::open(directory).map_err(|cause| BackendOpenError::Directory {
        path: directory.to_owned(),
        cause,
    });
    Ok(opened?)
}

/// Proves a directory that no server uses. Nothing in it is changed, and nothing left behind.
///
/// # Errors
/// The directory is in use, or so damaged that its records cannot be replayed.
pub fn verify(directory: &Path) -> Result<Verdict, VerifyError> {
    prove(directory, |journal| {
        // Without the right key the directory could not be served.
        let key = id_key::read(directory, journal).map_err(BackendOpenError::IdKey)?;
        Ok(key.is_bound)
    })
}

/// The same of a directory whose `id.key` is kept elsewhere.
///
/// # Errors
/// As of [`verify`].
pub fn verify_without_key(directory: &Path) -> Result<Verdict, VerifyError> {
    prove(directory, |_journal| Ok(false))
}

fn prove(
    directory: &Path,
    is_key_bound: impl FnOnce(u64) -> Result<bool, VerifyError>,
) -> Result<Verdict, VerifyError> {
    let begun = Instant::now();
    let disk = disk_of(directory)?;
    newer::refuse(&disk, directory)?;
    // Held to the end: a server that came meanwhile would remove what is still to be read.
    let (inspected, _lock) = inspect(&disk)
        .map_err(BackendOpenError::Journal)?
        .ok_or(VerifyError::NoJournal)?;
    let (id, journal) = (inspected.journal, inspected.report);
    let is_key_bound = is_key_bound(id)?;
    let positions = snapshot::positions(&disk).map_err(BackendOpenError::Snapshot)?;
    let (from, first) = rebuild(&disk, id, positions.last().copied(), journal.last)?;
    let (again_from, second) = rebuild(&disk, id, positions.first().copied(), journal.last)?;
    let (hash, hash_again) = (hash_of(first.machines()), hash_of(second.machines()));
    drop(second);
    Ok(Verdict {
        from,
        again_from,
        hash,
        hash_again,
        violations: first.machines().check().err().unwrap_or_default(),
        standing: first.machines().standing(),
        journal,
        is_key_bound,
        took: begun.elapsed(),
    })
}

/// The state at the journal's end, built from a snapshot or from nothing.
///
/// A snapshot's own hash is compared too: what was written is what comes out of the replay.
pub(crate) fn rebuild(
    disk: &RealDisk,
    journal: u64,
    snapshot: Option<Position>,
    last: Position,
) -> Result<(Position, State<Services>), VerifyError> {
    let mut state = load(disk, journal, snapshot)?;
    let from = state.position();
    let each = |group: &turnstile_record::Group<'_>| {
        state.replay(group)?;
        state.machines_mut().forget_events();
        Ok(())
    };
    replay(disk, from, last, each).map_err(BackendOpenError::Replay)?;
    Ok((from, state))
}

/// The state of a snapshot, or the empty one.
pub(crate) fn load(
    disk: &RealDisk,
    journal: u64,
    snapshot: Option<Position>,
) -> Result<State<Services>, VerifyError> {
    let Some(position) = snapshot else {
        return Ok(State::empty());
    };
    let read = snapshot::load(disk, journal, position)
        .map_err(|cause| VerifyError::Snapshot { position, cause })?;
    let state = State::<Services>::restore(Reader::new(&read.state))
        .map_err(BackendOpenError::SnapshotContent)?;
    if hash_of(state.machines()) != read.title.hash {
        return Err(VerifyError::SnapshotHash { position });
    }
    Ok(state)
}

impl VerifyError {
    /// Whether a newer version of this program wrote the directory.
    #[must_use]
    pub fn is_newer(&self) -> bool {
        match self {
            Self::Open(cause) => cause.is_newer(),
            Self::Snapshot { cause, .. } => cause.is_newer(),
            Self::NoJournal | Self::SnapshotHash { .. } => false,
        }
    }
}

impl From<BackendOpenError> for VerifyError {
    fn from(cause: BackendOpenError) -> Self {
        Self::Open(cause)
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoJournal => f.write_str("there is no journal in this directory"),
            Self::Open(cause) => cause.fmt(f),
            Self::Snapshot { position, cause } => {
                write!(
                    f,
                    "the snapshot at position {position} cannot be used: {cause}"
                )
            }
            Self::SnapshotHash { position } => {
                write!(
                    f,
                    "the snapshot at position {position} has another state than it was made with"
                )
            }
        }
    }
}

impl std::error::Error for VerifyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoJournal | Self::SnapshotHash { .. } => None,
            Self::Open(cause) => Some(cause),
            Self::Snapshot { cause, .. } => Some(cause),
        }
    }
}
