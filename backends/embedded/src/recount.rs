//! Counts the statistics of games again from a directory's journal.

use std::{collections::VecDeque, path::Path};

use turnstile_games::{Event, EventKind, Games, PlayerId, Recount, Standing};
use turnstile_journal::{self as journal, inspect, replay, snapshot};
use turnstile_record::Group;
use turnstile_sequencer::{RecordReplayError, State};
use turnstile_types::{Hosts, Machine as _, Machines, Position};

use crate::{BackendOpenError, Services, VerifyError, found::find, verify};

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
        .map_err(BackendOpenError::Journal)?
        .ok_or(VerifyError::NoJournal)?;
    let positions = snapshot::positions(&disk).map_err(BackendOpenError::Snapshot)?;
    let oldest = positions.last().copied();
    let mut state = verify::load(&disk, inspected.journal, oldest)?;
    let from = state.position();
    let mut recount = Recount::of(state.machines().games());
    let each = |group: &Group<'_>| apply(&mut state, group, |event| recount.take(&event));
    replay(&disk, from, inspected.report.last, each).map_err(BackendOpenError::Replay)?;
    Ok(Recounted {
        from,
        results: recount.results(),
        differences: recount.differences(state.machines().games()),
    })
}

/// Why a count stops at a group.
enum RecountStopped {
    Replay(RecordReplayError),
    /// The caller has left.
    Left,
}

/// What the records of a journal say of one player, and whether all statistics follow from them.
#[derive(Clone, Debug, PartialEq)]
pub struct RecountedPlayer {
    /// As of [`Recounted`].
    pub from: Position,
    /// The last position that was read.
    pub last: Position,
    /// Results of all players, with those before.
    pub results: u64,
    /// As of [`Recounted`], of all players.
    pub differences: Vec<String>,
    /// How the player stands by this count; nothing where no result is known.
    pub standing: Option<Standing>,
    /// The last results of the player, the oldest first.
    pub history: VecDeque<Event>,
    /// Whether there were older ones.
    pub has_older: bool,
}

/// Counts again what the journal of a directory holds, also while a server uses it, and shows the last results
/// of a player. Nothing where the caller has left meanwhile.
///
/// # Errors
/// The directory is so damaged that its records cannot be replayed, or a server removes old segments while
/// they are read.
pub fn recount_player(
    directory: &Path,
    player: PlayerId,
    history_max: usize,
    is_left: impl Fn() -> bool,
) -> Result<Option<RecountedPlayer>, VerifyError> {
    let disk = verify::disk_of(directory)?;
    let (found, _lock) = find(&disk)?;
    let first = replay(&disk, Position(0), found.last, |_group| {
        Err(RecountStopped::Left)
    });
    let begin = match first {
        Err(journal::ReplayError::Gap { .. }) => {
            let positions = snapshot::positions(&disk).map_err(BackendOpenError::Snapshot)?;
            positions.last().copied()
        }
        _ => None,
    };
    let mut state = verify::load(&disk, found.journal, begin)?;
    let mut recount = Recount::of(state.machines().games());
    let mut recounted = RecountedPlayer {
        from: state.position(),
        last: found.last,
        results: 0,
        differences: Vec::new(),
        standing: None,
        history: VecDeque::new(),
        has_older: false,
    };
    let from = recounted.from;
    let each = |group: &Group<'_>| {
        if is_left() {
            return Err(RecountStopped::Left);
        }
        let applied = apply(&mut state, group, |event| {
            recount.take(&event);
            if is_result_of(&event, &player) {
                recounted.note(event, history_max);
            }
        });
        applied.map_err(RecountStopped::Replay)
    };
    match replay(&disk, from, found.last, each).map_err(journal::ReplayError::into_caller) {
        Ok(()) => {}
        Err(Ok(RecountStopped::Left)) => return Ok(None),
        Err(Ok(RecountStopped::Replay(cause))) => {
            return Err(BackendOpenError::Replay(journal::ReplayError::Caller(cause)).into());
        }
        Err(Err(failure)) => return Err(BackendOpenError::Replay(failure).into()),
    }
    recounted.results = recount.results();
    recounted.differences = recount.differences(state.machines().games());
    recounted.standing = recount.standing(&player);
    Ok(Some(recounted))
}

/// Applies a group, and hands over the events of games.
fn apply(
    state: &mut State<Services>,
    group: &Group<'_>,
    mut take: impl FnMut(Event),
) -> Result<(), RecordReplayError> {
    state.replay(group)?;
    let services = state.machines_mut();
    Hosts::<Games>::machine_mut(services).drain_events(&mut take);
    services.forget_events();
    Ok(())
}

fn is_result_of(event: &Event, player: &PlayerId) -> bool {
    matches!(&event.kind, EventKind::Counted { players, .. } if players.contains(player))
}

impl RecountedPlayer {
    fn note(&mut self, result: Event, history_max: usize) {
        self.history.push_back(result);
        if self.history.len() > history_max {
            self.history.pop_front();
            self.has_older = true;
        }
    }
}
