//! A data directory that this process has locked and not yet recovered.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use turnstile_journal::{
    self as journal, Chores, Disk as _, Durability, Journal, LOCK_FILE, Log as _, RealDisk,
    RealLock,
};
use turnstile_sequencer::Sequencer;
use turnstile_types::Position;

use crate::{
    BackendOpenError, Embedded, Options, Recovery, RecoveryProgress, ahead, id_key, joined, newer,
    programs,
    progress::Stage,
    recovery::{Replayed, replay},
    server_log::ServerLog,
    snapshots::Snapshots,
    start::Start,
    unfinished,
};

/// A back end that is not recovered yet. Its directory, if it has one, is locked: no other process
/// serves it, and this one may open its doors.
#[derive(Debug)]
pub struct Claim {
    options: Options,
    place: Option<LockedDirectory>,
}

#[derive(Debug)]
struct LockedDirectory {
    directory: PathBuf,
    disk: RealDisk,
    lock: RealLock,
}

impl Claim {
    /// Locks `directory`, which is made if it is not there; without one, or with
    /// [`Durability::Memory`], there is nothing to lock.
    ///
    /// # Errors
    /// The directory is in use, cannot be made or read, or holds an unfinished copy.
    pub fn new(directory: Option<&Path>, options: Options) -> Result<Self, BackendOpenError> {
        let directory = directory.filter(|_| options.durability != Durability::Memory);
        let place = directory
            .map(|path| LockedDirectory::take(path, options))
            .transpose()?;
        Ok(Self { options, place })
    }

    /// Recovers what the directory holds.
    ///
    /// # Errors
    /// The directory cannot be read, or is damaged where nothing may be forgotten;
    /// [`BackendOpenError::Ended`] when `progress` was told to [end](RecoveryProgress::end).
    pub fn recover(
        self,
        progress: &RecoveryProgress,
    ) -> Result<(Embedded, Recovery), BackendOpenError> {
        let Some(LockedDirectory {
            directory,
            disk,
            lock,
        }) = self.place
        else {
            return Embedded::nowhere(self.options);
        };
        let begun = Instant::now();
        let options = journal::Options {
            segment_bytes: self.options.segment_bytes,
            durability: self.options.durability,
            chores: Chores::Background,
            accept_loss: self.options.accept_loss,
        };
        progress.begin(Stage::Checking, segment_bytes(&disk));
        let open = || {
            let opened = Journal::open_taken(disk.clone(), lock, options);
            let (journal, report) = opened.map_err(BackendOpenError::Journal)?;
            let is_new = journal.next_position() == Position(0).next();
            let id_key = id_key::of_directory(&directory, journal.id(), is_new);
            Ok((journal, report, id_key.map_err(BackendOpenError::IdKey)?))
        };
        let ((journal, report, id_key), ahead) = ahead::beside(&disk, progress, open)?;
        let Replayed {
            state,
            recents,
            snapshot,
        } = match ahead.and_then(|ahead| ahead.all_of(&journal)) {
            Some(replayed) => replayed,
            None => replay(&disk, &journal, progress)?,
        };
        note_program(&directory, journal.next_position());
        let recovery = Recovery {
            snapshot,
            records: state.position().0 - snapshot.0,
            position: state.position(),
            events_after: recents.complete_after(),
            journal: Some(report),
            took: begun.elapsed(),
        };
        let start = Start::of(state.machines());
        let every = self.options.snapshot_records;
        let snapshots = Snapshots::new(disk, journal.id(), every, snapshot);
        let mut sequencer = Sequencer::new(state, ServerLog::InDirectory(Box::new(journal)));
        sequencer.limit_keys(self.options.key_bytes);
        let embedded = Embedded {
            snapshots: Some(snapshots),
            sequencer,
            id_key,
            recents,
            start,
            groups: 0,
            slowed: self.options.slowed,
        };
        Ok((embedded, recovery))
    }
}

impl Embedded {
    /// Opens the back end that is kept in `directory`, or, without one, a new one that is kept
    /// nowhere.
    ///
    /// # Errors
    /// The directory is in use, cannot be read, or is damaged where nothing may be forgotten.
    pub fn open(
        directory: Option<&Path>,
        options: Options,
    ) -> Result<(Self, Recovery), BackendOpenError> {
        Claim::new(directory, options)?.recover(&RecoveryProgress::default())
    }
}

impl LockedDirectory {
    fn take(directory: &Path, options: Options) -> Result<Self, BackendOpenError> {
        unfinished::refuse(directory)?;
        let mut disk = RealDisk::open(directory).map_err(|cause| BackendOpenError::Directory {
            path: directory.to_owned(),
            cause,
        })?;
        newer::refuse(&disk, directory)?;
        if options.durability == Durability::Sync {
            let slowed = disk.direct().slowed(options.slowed.sync);
            disk = slowed.troubled(options.trouble);
        }
        let lock = journal::take(&disk).map_err(BackendOpenError::Journal)?;
        joined::clear_unfinished(&disk, options.durability)?;
        tighten(&disk);
        Ok(Self {
            directory: directory.to_owned(),
            disk,
            lock,
        })
    }
}

/// Notes in the directory that this version writes from a position on. That it cannot, on a full disk say, is
/// no reason not to serve.
fn note_program(directory: &Path, from: Position) {
    if let Err(failure) = programs::note(directory, from) {
        tracing::warn!(
            directory = %directory.display(),
            %failure,
            "the version of this program is not noted in the directory"
        );
    }
}

/// How the names of our files begin; others in the directory are not ours to touch.
const OURS: [&str; 11] = [
    LOCK_FILE,
    "durable-end",
    "id.",
    "pending-copy",
    "program-versions",
    "reserve",
    "segment-",
    "snapshot-",
    "unfinished-copy",
    "unfinished-join",
    "shared-log",
];

/// An earlier version let others read what the umask left them.
fn tighten(disk: &RealDisk) {
    let is_ours = |name: &str| OURS.iter().any(|ours| name.starts_with(ours));
    match disk.tighten(is_ours) {
        Ok(tightened) if tightened.is_empty() => {}
        Ok(tightened) => tracing::warn!(
            directory = %disk.path().display(),
            changed = tightened.len(),
            "others could read the data directory or its files; only its owner can from now on"
        ),
        Err(failure) => tracing::warn!(
            directory = %disk.path().display(),
            %failure,
            "others may be able to read the data directory, and that cannot be changed"
        ),
    }
}

/// The bytes of all segments, as far as the directory tells.
fn segment_bytes(disk: &RealDisk) -> u64 {
    let names = disk.list().unwrap_or_default();
    let segments = names.iter().filter(|name| journal::is_segment(name));
    segments.map(|name| disk.bytes(name)).sum()
}
