//! The state of a directory, also while a server uses it.

use std::path::Path;

use turnstile_journal::{RealLock, snapshot};
use turnstile_sequencer::{KeyFigures, State};
use turnstile_types::{Machines as _, Position, Timestamp};

use crate::{BackendOpenError, Services, VerifyError, found::find, verify};

/// The state at the end of a directory's journal, in memory. Nothing in the directory was changed.
///
/// A server may use the directory: then the state is that of the last position that it had acknowledged,
/// where it syncs its groups. No server can start on a directory that none used while this is there.
#[derive(Debug)]
pub struct StandingState {
    state: State<Services>,
    is_live: bool,
    _lock: Option<RealLock>,
}

impl StandingState {
    /// Loads the newest snapshot and replays what is behind it, as a start does.
    ///
    /// # Errors
    /// There is no journal, or it is damaged, or a server removes what is to be read.
    pub fn read(directory: &Path) -> Result<Self, VerifyError> {
        let disk = verify::disk_of(directory)?;
        let (found, lock) = find(&disk)?;
        let mut positions = snapshot::positions(&disk).map_err(BackendOpenError::Snapshot)?;
        positions.retain(|position| *position <= found.last);
        let newest = positions.first().copied();
        let (_from, mut state) = verify::rebuild(&disk, found.journal, newest, found.last)?;
        state.machines_mut().forget_events();
        Ok(Self {
            state,
            is_live: found.is_live,
            _lock: lock,
        })
    }

    #[must_use]
    pub const fn services(&self) -> &Services {
        self.state.machines()
    }

    /// The last position of which it has the outcome.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.state.position()
    }

    /// The logged time of that position.
    #[must_use]
    pub const fn time(&self) -> Timestamp {
        self.state.time()
    }

    /// Whether a server used the directory.
    #[must_use]
    pub const fn is_live(&self) -> bool {
        self.is_live
    }

    /// How many idempotency keys are remembered.
    #[must_use]
    pub fn key_figures(&self) -> KeyFigures {
        self.state.key_figures()
    }
}
