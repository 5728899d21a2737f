//! Snapshots, made beside the loop by replaying what has become durable.
//!
//! The loop never stops for one: a thread loads the last snapshot, replays the groups after it up
//! to a position that is durable, writes the next snapshot, and removes the segments that neither
//! of the two newest snapshots needs. While it runs, the state is in memory twice.

use std::{
    sync::mpsc::{Receiver, TryRecvError, sync_channel},
    thread,
};

use turnstile_journal::{RealDisk, replay, retire, snapshot::Draft};
use turnstile_sequencer::ReplayError;
use turnstile_types::{Machines, Position, hash_of};

use crate::recovery::newest_state;

/// Decides when a snapshot is due, and runs at most one thread that makes it.
#[derive(Debug)]
pub(crate) struct Snapshots {
    disk: RealDisk,
    /// The journal's number.
    journal: u64,
    /// A snapshot is due after so many records; 0 for never.
    every: u64,
    newest: Position,
    /// The position from which records are counted: that of the newest snapshot, or of the last
    /// attempt, when that failed.
    since: Position,
    running: Option<Receiver<Option<Position>>>,
}

impl Snapshots {
    pub(crate) const fn new(disk: RealDisk, journal: u64, every: u64, newest: Position) -> Self {
        Self {
            disk,
            journal,
            every,
            newest,
            since: newest,
            running: None,
        }
    }

    /// The position of the newest snapshot; zero when there is none.
    pub(crate) const fn newest(&self) -> Position {
        self.newest
    }

    /// Takes note of a position that has become durable.
    pub(crate) fn note(&mut self, durable: Position) {
        if self.every == 0 || durable.0 - self.since.0 < self.every {
            return;
        }
        match self.running.as_ref().map(Receiver::try_recv) {
            Some(Err(TryRecvError::Empty)) => return,
            Some(Ok(Some(made))) => self.newest = made,
            Some(Ok(None) | Err(TryRecvError::Disconnected)) | None => {}
        }
        self.since = durable;
        self.running = self.start(durable);
    }

    fn start(&self, durable: Position) -> Option<Receiver<Option<Position>>> {
        let (made, running) = sync_channel(1);
        let (disk, journal) = (self.disk.clone(), self.journal);
        let work = move || {
            let outcome = make(&disk, journal, durable);
            if let Err(failure) = &outcome {
                tracing::error!("no snapshot at position {durable}: {failure}");
            }
            // A receiver that is gone needs no answer.
            if made.send(outcome.ok().map(|()| durable)).is_err() {
                tracing::debug!("nobody waits for the snapshot at position {durable}");
            }
        };
        let spawned = thread::Builder::new()
            .name("snapshot".to_owned())
            .spawn(work);
        if let Err(failure) = &spawned {
            tracing::error!("no snapshot at position {durable}: {failure}");
        }
        spawned.ok().map(|_thread| running)
    }

    /// Waits for the thread, so that nobody touches the directory once its lock is gone.
    pub(crate) fn wait(self) {
        if let Some(running) = self.running
            && running.recv().is_err()
        {
            tracing::debug!("the last snapshot's outcome was known already");
        }
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn make(disk: &RealDisk, journal: u64, upto: Position) -> Result<(), Failure> {
    let mut state = newest_state(disk, journal)?;
    replay(disk, state.position(), upto, |group| {
        state.replay(group)?;
        state.machines_mut().forget_events();
        Ok::<(), ReplayError>(())
    })?;
    let mut draft = Draft::begin(disk.clone(), journal, state.position(), state.time());
    state.snapshot(&mut draft);
    draft.finish(hash_of(state.machines()))?;
    retire(disk, journal)?;
    Ok(())
}
