//! Recovery of a data directory, and the reasons to refuse it.

use std::{fmt, io, path::PathBuf, time::Duration};

use turnstile_contract::copy::Refusal;
use turnstile_journal::{self as journal, Journal, Log, RealDisk, Report, snapshot};
use turnstile_sequencer::{
    RecordReplayError, Replay, SNAPSHOT_VERSION, SNAPSHOT_VERSION_FIELD, State,
};
use turnstile_types::{Malformed, Position, Reader};

use crate::{
    Hosted, RecoveryProgress, Services, id_key::IdKeyError, progress::Stage, services::Recents,
};

/// What a start found in its directory.
#[derive(Clone, Debug, Default)]
pub struct Recovery {
    /// The position of the snapshot that was loaded; zero when there was none.
    pub snapshot: Position,
    /// Records replayed after it.
    pub records: u64,
    /// The last position.
    pub position: Position,
    /// After which position every event of the replay was kept, by the numbers of the services.
    pub(crate) events_after: Vec<(u8, Position)>,
    /// What the journal's scan found; nothing for a back end without a directory.
    pub journal: Option<Report>,
    /// How long it took, wall clock.
    pub took: Duration,
}

impl Recovery {
    /// After which position every event of the replay was kept, for the feed of a service.
    #[must_use]
    pub fn events_after<M: Hosted>(&self) -> Position {
        let mut kept = self.events_after.iter();
        let found = kept.find(|(service, _)| *service == M::SERVICE);
        found.map_or_else(Position::default, |(_, after)| *after)
    }
}

/// Why a back end did not open.
#[derive(Debug)]
pub enum BackendOpenError {
    Directory {
        path: PathBuf,
        cause: io::Error,
    },
    /// A copy of a state was begun there and not finished.
    UnfinishedCopy {
        path: PathBuf,
    },
    /// A node was being given the state of its cluster. As a node it goes on with that; as anything else
    /// there is nothing to open.
    UnfinishedJoin {
        path: PathBuf,
    },
    Journal(journal::OpenError),
    IdKey(IdKeyError),
    /// A newer version of this program wrote a snapshot; this one reads up to `reads`.
    Newer {
        what: String,
        version: u16,
        reads: u16,
    },
    /// The directory's snapshots cannot be listed.
    Snapshot(io::Error),
    /// The snapshot's checksum holds, but it is not a state of this version.
    SnapshotContent(Malformed),
    Replay(journal::ReplayError<RecordReplayError>),
    /// It was [told to end](crate::RecoveryProgress::end).
    Ended,
}

/// Why a replay stops at a group.
pub(crate) enum Stopped {
    Replay(RecordReplayError),
    Ended,
}

impl From<journal::ReplayError<Stopped>> for BackendOpenError {
    fn from(failure: journal::ReplayError<Stopped>) -> Self {
        match failure.into_caller() {
            Ok(Stopped::Ended) => Self::Ended,
            Ok(Stopped::Replay(cause)) => Self::Replay(journal::ReplayError::Caller(cause)),
            Err(journal) => Self::Replay(journal),
        }
    }
}

/// The state of the newest snapshot that is whole, or the empty one.
pub(crate) fn newest_state(
    disk: &RealDisk,
    journal: u64,
    progress: &RecoveryProgress,
) -> Result<State<Services>, BackendOpenError> {
    let positions = snapshot::positions(disk).map_err(BackendOpenError::Snapshot)?;
    let bytes = positions
        .first()
        .map(|&newest| disk.bytes(&snapshot::name(newest)));
    progress.begin(Stage::Loading, bytes.unwrap_or_default());
    let found = snapshot::newest(disk, journal).map_err(BackendOpenError::Snapshot)?;
    for (name, why) in &found.rotten {
        tracing::error!("{name} is passed over: {why}");
    }
    found.snapshot.map_or_else(
        || Ok(State::empty()),
        |snapshot| {
            let reader = Reader::watched(&snapshot.state, progress.of_reader());
            State::restore(reader).map_err(|malformed| {
                if progress.is_ended() {
                    BackendOpenError::Ended
                } else {
                    BackendOpenError::SnapshotContent(malformed)
                }
            })
        },
    )
}

/// A state that replays a journal.
pub(crate) struct RecordReplay {
    replay: Replay<Services>,
    recents: Recents,
    /// The position of the snapshot.
    after: Position,
}

/// A state and what brought it there.
pub(crate) struct Replayed {
    pub(crate) state: State<Services>,
    /// The latest events.
    pub(crate) recents: Recents,
    /// The position of the snapshot with which it began.
    pub(crate) snapshot: Position,
}

impl RecordReplay {
    /// Begins with the state of a snapshot; the last record is expected at `last`.
    pub(crate) fn begin(
        state: State<Services>,
        last: Position,
        progress: &RecoveryProgress,
    ) -> Result<Self, BackendOpenError> {
        let after = state.position();
        progress.begin(Stage::Replaying, last.0.saturating_sub(after.0));
        let replay = Replay::begin(state);
        Ok(Self {
            replay: replay
                .map_err(|cause| BackendOpenError::Journal(journal::OpenError::Thread(cause)))?,
            recents: Recents::after(after),
            after,
        })
    }

    pub(crate) fn take(
        &mut self,
        group: &turnstile_record::Group<'_>,
        progress: &RecoveryProgress,
    ) -> Result<(), Stopped> {
        if progress.is_ended() {
            return Err(Stopped::Ended);
        }
        self.replay.replay(group).map_err(Stopped::Replay)?;
        self.recents.take_from(self.replay.machines_mut());
        progress.note(self.replay.state().position().0 - self.after.0);
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Replayed {
        self.recents.finish();
        Replayed {
            state: self.replay.finish(),
            recents: self.recents,
            snapshot: self.after,
        }
    }
}

/// The state of the newest snapshot and of all that the journal holds behind it.
pub(crate) fn replay(
    disk: &RealDisk,
    journal: &Journal<RealDisk>,
    progress: &RecoveryProgress,
) -> Result<Replayed, BackendOpenError> {
    let state = newest_state(disk, journal.id(), progress)?;
    let (after, last) = (state.position(), Position(journal.next_position().0 - 1));
    let mut replaying = RecordReplay::begin(state, last, progress)?;
    let each = |group: &turnstile_record::Group<'_>| replaying.take(group, progress);
    journal
        .replay(after, each)
        .map_err(BackendOpenError::from)?;
    Ok(replaying.finish())
}

impl BackendOpenError {
    /// What the system said when it could not read or write the directory; nothing for any other
    /// reason.
    #[must_use]
    pub const fn io(&self) -> Option<&io::Error> {
        match self {
            Self::Directory { cause, .. }
            | Self::Snapshot(cause)
            | Self::Journal(journal::OpenError::Io(cause))
            | Self::IdKey(IdKeyError::Io { cause, .. })
            | Self::Replay(journal::ReplayError::Io(cause)) => Some(cause),
            _ => None,
        }
    }

    /// Whether a newer version of this program wrote the directory.
    #[must_use]
    pub fn is_newer(&self) -> bool {
        match self {
            Self::Journal(journal::OpenError::Version { version, reads, .. }) => version > reads,
            Self::SnapshotContent(malformed) => malformed.field == SNAPSHOT_VERSION_FIELD,
            Self::IdKey(IdKeyError::CheckVersion { .. }) | Self::Newer { .. } => true,
            _ => false,
        }
    }
}

impl fmt::Display for BackendOpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { path, cause } => write!(f, "{}: {cause}", path.display()),
            Self::UnfinishedCopy { path } => Refusal::Unfinished {
                place: path.display().to_string(),
            }
            .fmt(f),
            Self::UnfinishedJoin { path } => write!(
                f,
                "{} is a node's directory whose join is not finished: start it as a node again",
                path.display()
            ),
            Self::Journal(cause) => cause.fmt(f),
            Self::IdKey(cause) => cause.fmt(f),
            Self::Newer {
                what,
                version,
                reads,
            } => write!(
                f,
                "{what} was written by a newer version of this program: it has format {version}, and \
                 this program reads up to {reads}; start the version that wrote it"
            ),
            Self::Snapshot(cause) => cause.fmt(f),
            Self::SnapshotContent(_) if self.is_newer() => write!(
                f,
                "the snapshot was written by a newer version of this program: its content has a format \
                 above {SNAPSHOT_VERSION}, and this program reads up to {SNAPSHOT_VERSION}; start the \
                 version that wrote it"
            ),
            Self::SnapshotContent(cause) => write!(f, "the snapshot has {cause}"),
            Self::Replay(cause) => cause.fmt(f),
            Self::Ended => f.write_str("the recovery was ended before its time"),
        }
    }
}

impl std::error::Error for BackendOpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Directory { cause, .. } => Some(cause),
            Self::UnfinishedCopy { .. }
            | Self::UnfinishedJoin { .. }
            | Self::Newer { .. }
            | Self::Ended => None,
            Self::Journal(cause) => Some(cause),
            Self::IdKey(cause) => Some(cause),
            Self::Snapshot(cause) => Some(cause),
            Self::SnapshotContent(cause) => Some(cause),
            Self::Replay(cause) => Some(cause),
        }
    }
}
