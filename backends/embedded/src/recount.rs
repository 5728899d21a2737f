//! Counts the statistics of games again from a directory's journal.

use std::path::Path;

use turnstile_games::{Games, Recount};
use turnstile_journal::{inspect, replay, snapshot};
use turnstile_types::{Hosts, Machine as _, Position};

use crate::{OpenError, VerifyError, verify};

/// What a count came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recounted {
    /// From which position it counted: that of the oldest snapshot that is kept, whose statistics it
    /// took as they are; zero when it counted everything.
    pub from: Position,
    /// Results, with those before.
    pub results: u64,
    /// A sentence for each thing that the state says otherwise.
    pub differences: Vec<String>,
}

/// Counts again what the journal of a directory holds, and compares it with its state. No server may
/// use the directory; nothing in it is changed.
///
/// # Errors
/// The directory is in use, or so damaged that its records cannot be replayed.
pub fn recount_games(directory: &Path) -> Result<Recounted, VerifyError> {
    let disk = verify::disk_of(directory)?;
    let (inspected, _lock) = inspect(&disk)
        .map_err(OpenError::Journal)?
        .ok_or(VerifyError::NoJournal)?;
    let positions = snapshot::positions(&disk).map_err(OpenError::Snapshot)?;
    let oldest = positions.last().copied();
    let mut state = verify::load(&disk, inspected.journal, oldest)?;
    let from = state.position();
    let mut recount = Recount::of(state.machines().games());
    let each = |group: &turnstile_record::Group<'_>| {
        state.replay(group)?;
        let services = state.machines_mut();
        Hosts::<Games>::machine_mut(services).drain_events(&mut |event| recount.take(&event));
        turnstile_types::Machines::forget_events(services);
        Ok(())
    };
    replay(&disk, from, inspected.report.last, each).map_err(OpenError::Replay)?;
    Ok(Recounted {
        from,
        results: recount.results(),
        differences: recount.differences(state.machines().games()),
    })
}
