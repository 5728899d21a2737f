//! Snapshots, made beside the loop by replaying what has become durable.
//!
//! The loop never stops for one: a thread loads the last snapshot, replays the groups after it up
//! to a position that is durable, writes the next snapshot, and removes the segments that neither
//! of the two newest snapshots needs. While it runs, the state is in memory twice.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, TryRecvError, sync_channel},
    },
    thread,
};

use turnstile_journal::{RealDisk, replay, retire, snapshot::Draft};
use turnstile_sequencer::ReplayError;
use turnstile_types::{Machines, Position, Sink, hash_of};

use crate::{OpenError, RecoveryProgress, recovery::newest_state};

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
    running: Option<Running>,
}

/// The thread that makes a snapshot.
#[derive(Debug)]
struct Running {
    made: Receiver<Option<Position>>,
    work: Arc<Work>,
}

/// What the thread and the loop agree on about the directory.
#[derive(Debug, Default)]
struct Work {
    reading: RecoveryProgress,
    /// Whether one of the two has decided about the directory: the thread that it changes it from now
    /// on, or the loop that the thread never may.
    is_decided: AtomicBool,
}

impl Work {
    /// Whether it is for the caller to decide.
    fn decide(&self) -> bool {
        !self.is_decided.swap(true, Ordering::AcqRel)
    }
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
        match self.running.as_ref().map(|running| running.made.try_recv()) {
            Some(Err(TryRecvError::Empty)) => return,
            Some(Ok(Some(made))) => self.newest = made,
            Some(Ok(None) | Err(TryRecvError::Disconnected)) | None => {}
        }
        self.since = durable;
        self.running = self.start(durable);
    }

    fn start(&self, durable: Position) -> Option<Running> {
        let (told, made) = sync_channel(1);
        let work = Arc::new(Work::default());
        let shared = Arc::clone(&work);
        let (disk, journal) = (self.disk.clone(), self.journal);
        let making = move || {
            let outcome = make(&disk, journal, durable, &shared);
            if let Err(failure) = &outcome
                && !shared.reading.is_ended()
            {
                tracing::error!("no snapshot at position {durable}: {failure}");
            }
            // A receiver that is gone needs no answer.
            if told.send(outcome.ok().map(|()| durable)).is_err() {
                tracing::debug!("nobody waits for the snapshot at position {durable}");
            }
        };
        let spawned = thread::Builder::new()
            .name("snapshot".to_owned())
            .spawn(making);
        if let Err(failure) = &spawned {
            tracing::error!("no snapshot at position {durable}: {failure}");
        }
        spawned.ok().map(|_thread| Running { made, work })
    }

    /// Waits for the snapshot that is being made.
    pub(crate) fn wait(&mut self) {
        let made = self.running.take().map(|running| running.made.recv());
        if let Some(Ok(Some(made))) = made {
            self.newest = made;
        }
    }

    /// Gives up the snapshot that is being made, so that nobody changes the directory once its lock is
    /// gone. A thread that still reads is not waited for: it ends by itself.
    pub(crate) fn end(self) {
        let Some(Running { made, work }) = self.running else {
            return;
        };
        work.reading.end();
        if !work.decide() && made.recv().is_err() {
            tracing::debug!("the last snapshot's outcome was known already");
        }
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Writes until the snapshot is given up.
struct Writing<'a> {
    draft: &'a mut Draft<RealDisk>,
    work: &'a Work,
}

impl Sink for Writing<'_> {
    fn put(&mut self, bytes: &[u8]) {
        if !self.work.reading.is_ended() {
            self.draft.put(bytes);
        }
    }
}

fn make(disk: &RealDisk, journal: u64, upto: Position, work: &Work) -> Result<(), Failure> {
    let mut state = newest_state(disk, journal, &work.reading)?;
    replay(disk, state.position(), upto, |group| {
        if work.reading.is_ended() {
            return Err(Failure::from(OpenError::Ended));
        }
        state.replay(group)?;
        state.machines_mut().forget_events();
        Ok(())
    })
    .map_err(|failure| {
        failure
            .into_caller::<ReplayError>()
            .unwrap_or_else(Failure::from)
    })?;
    if !work.decide() {
        return Err(OpenError::Ended.into());
    }
    let mut draft = Draft::begin(disk.clone(), journal, state.position(), state.time());
    let mut writing = Writing {
        draft: &mut draft,
        work,
    };
    state.snapshot(&mut writing);
    let hash = hash_of(state.machines());
    if work.reading.is_ended() {
        draft.abandon();
        return Err(OpenError::Ended.into());
    }
    draft.finish(hash)?;
    retire(disk, journal)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Durability, Embedded, Options};

    /// A journal of one record in a directory of its own.
    fn journal() -> (tempfile::TempDir, RealDisk, u64) {
        let directory = tempfile::tempdir().expect("a directory");
        let (backend, _) = Embedded::open(Some(directory.path()), Options::with(Durability::Os))
            .expect("a new one");
        backend.close().expect("a working disk");
        let disk = RealDisk::open(directory.path()).expect("it is there");
        let inspected = turnstile_journal::inspect(&disk).expect("a sound journal");
        let (inspected, _lock) = inspected.expect("there is one");
        (directory, disk, inspected.journal)
    }

    fn snapshots(directory: &tempfile::TempDir) -> usize {
        let entries = std::fs::read_dir(directory.path()).expect("it is there");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        names
            .filter(|name| name.to_string_lossy().starts_with("snapshot-"))
            .count()
    }

    #[test]
    fn a_snapshot_that_is_given_up_leaves_nothing_in_the_directory() {
        for (ends, is_decided, made) in [(false, false, 1), (true, false, 0), (false, true, 0)] {
            let (directory, disk, journal) = journal();
            let work = Work::default();
            if ends {
                work.reading.end();
            }
            if is_decided {
                assert!(work.decide(), "nobody has");
            }
            let outcome = make(&disk, journal, Position(0), &work);
            assert_eq!(outcome.is_ok(), made == 1, "{outcome:?}");
            assert_eq!(snapshots(&directory), made, "{ends} {is_decided}");
        }
    }
}
