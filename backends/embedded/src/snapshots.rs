//! Background snapshots, made by replaying the durable part of the journal.
//!
//! The loop never stops for one: a thread loads the last snapshot, replays the groups after it up
//! to a position that is durable, writes the next snapshot, and removes the segments that neither
//! of the two newest snapshots needs. While it runs, the state is in memory twice.
//!
//! A journal without room for its next segment asks for snapshots out of turn, because they are what
//! frees space; and a snapshot that has no room itself gets that of the [reserve](crate::reserve).

use std::{
    fmt,
    fs::File,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, TryRecvError, sync_channel},
    },
    thread,
};

use turnstile_journal::{
    RealDisk, last_boundary, replay, retire,
    snapshot::{self, Draft, WriteError},
};
use turnstile_sequencer::{RecordReplayError, State};
use turnstile_types::{Machines, Position, Sink, hash_of};

use crate::{BackendOpenError, RecoveryProgress, Services, recovery::newest_state, reserve};

/// A full journal asks for snapshots again after so many records: between two attempts a short record
/// may still fit now and then, and frees nothing.
const RELIEF_RECORDS: u64 = 256;

/// Decides when a snapshot is due, and runs at most one thread that makes it, or the reserve.
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
    /// The last position for which a full journal asked for snapshots.
    relieved: Option<Position>,
    /// The reserve may be missing.
    wants_reserve: bool,
    /// A snapshot that somebody waits for.
    wanted: Option<WantedSnapshot>,
    running: Option<SnapshotThread>,
}

/// What becomes of a snapshot that somebody waits for: its file, or why there is none.
pub type SnapshotFile = Result<File, String>;

/// Takes the file of a snapshot, on the thread that has made it.
pub(crate) type SnapshotTaker = Box<dyn FnOnce(SnapshotFile) + Send>;

/// A snapshot at exactly this position, and who waits for it.
struct WantedSnapshot {
    position: Position,
    take: SnapshotTaker,
}

impl fmt::Debug for WantedSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WantedSnapshot")
            .field(&self.position)
            .finish()
    }
}

/// The thread that makes a snapshot.
#[derive(Debug)]
struct SnapshotThread {
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
            relieved: None,
            wants_reserve: every > 0,
            wanted: None,
            running: None,
        }
    }

    /// The position of the newest snapshot; zero when there is none.
    pub(crate) const fn newest(&self) -> Position {
        self.newest
    }

    /// Has a snapshot made at this position, that of the open group or the last one, before any at a later
    /// position; `take` gets its file.
    pub(crate) fn want(&mut self, position: Position, take: SnapshotTaker) {
        let wanted = WantedSnapshot { position, take };
        if let Some(before) = self.wanted.replace(wanted) {
            (before.take)(Err("a later one is wanted".to_owned()));
        }
    }

    /// Takes note of a position that has become durable. `is_short` says that the journal has no room
    /// for its next segment.
    pub(crate) fn note(&mut self, durable: Position, is_short: bool) {
        let is_due = self.every > 0 && durable.0 - self.since.0 >= self.every;
        let may_reserve = self.wants_reserve && !is_short;
        let is_wanted = self
            .wanted
            .as_ref()
            .is_some_and(|wanted| wanted.position <= durable);
        if !is_due && !may_reserve && !is_wanted || self.is_running() {
            return;
        }
        if let Some(wanted) = self.wanted.take_if(|_| is_wanted) {
            self.since = wanted.position;
            self.start(Task::Wanted(wanted));
        } else if is_due {
            self.since = durable;
            self.start(Task::Due(durable));
        } else {
            // Not before the journal has room again: it would take the space that a segment needs.
            self.wants_reserve = false;
            self.start(Task::Reserve);
        }
    }

    /// Has segments go, if anything can, because the journal has no room for its next one.
    pub(crate) fn relieve(&mut self, durable: Position) {
        let is_early = self
            .relieved
            .is_some_and(|last| durable.0 - last.0 < RELIEF_RECORDS);
        // One that is wanted is made first, and frees space as well.
        let waits = self.wanted.is_some() || self.is_running();
        if self.every == 0 || is_early || waits || durable <= self.newest {
            return;
        }
        (self.relieved, self.since) = (Some(durable), durable);
        self.wants_reserve = true;
        self.start(Task::Relief(durable));
    }

    /// Whether the thread is still at work; takes note of what it has made.
    fn is_running(&mut self) -> bool {
        match self.running.as_ref().map(|running| running.made.try_recv()) {
            Some(Err(TryRecvError::Empty)) => return true,
            Some(Ok(Some(made))) => self.newest = made,
            Some(Ok(None) | Err(TryRecvError::Disconnected)) | None => {}
        }
        self.running = None;
        false
    }

    fn start(&mut self, task: Task) {
        let (told, made) = sync_channel(1);
        let work = Arc::new(Work::default());
        let shared = Arc::clone(&work);
        let (disk, journal) = (self.disk.clone(), self.journal);
        let making = move || {
            let mut maker = Maker::new(&disk, journal, &shared);
            // A receiver that is gone needs no answer.
            if told.send(maker.run(task)).is_err() {
                tracing::debug!("the receiver of a snapshot has gone");
            }
        };
        let spawned = thread::Builder::new()
            .name("snapshot".to_owned())
            .spawn(making);
        if let Err(failure) = &spawned {
            tracing::error!("no thread for a snapshot: {failure}");
        }
        self.running = spawned.ok().map(|_thread| SnapshotThread { made, work });
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
        let Some(SnapshotThread { made, work }) = self.running else {
            return;
        };
        work.reading.end();
        if !work.decide() && made.recv().is_err() {
            tracing::debug!("the last snapshot's outcome was known already");
        }
    }
}

type SnapshotFailure = Box<dyn std::error::Error + Send + Sync>;

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

/// What the thread does.
#[derive(Debug)]
enum Task {
    /// The snapshot that somebody waits for.
    Wanted(WantedSnapshot),
    /// The snapshot that is due at this position.
    Due(Position),
    /// Snapshots that free as many segments as they can, at this position and before.
    Relief(Position),
    /// The reserve.
    Reserve,
}

/// The thread's side.
struct Maker<'a> {
    disk: &'a RealDisk,
    journal: u64,
    work: &'a Work,
    /// It was for the thread to decide about the directory.
    has_decided: bool,
}

impl<'a> Maker<'a> {
    const fn new(disk: &'a RealDisk, journal: u64, work: &'a Work) -> Self {
        Self {
            disk,
            journal,
            work,
            has_decided: false,
        }
    }

    /// Does it; the position of the snapshot that was made.
    fn run(&mut self, task: Task) -> Option<Position> {
        let is_relief = matches!(task, Task::Relief(_));
        let (durable, made) = match task {
            Task::Wanted(WantedSnapshot { position, take }) => {
                let made = self.make_with_reserve(&[position]);
                take(self.file_of(position, &made));
                (position, made)
            }
            Task::Reserve => {
                self.keep_reserve();
                return None;
            }
            Task::Due(durable) => (durable, self.make_with_reserve(&[durable])),
            Task::Relief(durable) => {
                let boundary = last_boundary(self.disk).ok().flatten();
                let stops: Vec<_> = boundary.into_iter().chain([durable]).collect();
                (durable, self.make_with_reserve(&stops))
            }
        };
        match made {
            Ok(()) => {
                if is_relief {
                    tracing::info!(position = %durable, "snapshots freed segments of a full disk");
                } else {
                    self.keep_reserve();
                }
                Some(durable)
            }
            Err(failure) => {
                if !self.work.reading.is_ended() {
                    tracing::error!("no snapshot at position {durable}: {failure}");
                }
                None
            }
        }
    }

    /// The file of a snapshot that was made, or why there is none.
    fn file_of(&self, position: Position, made: &Result<(), SnapshotFailure>) -> SnapshotFile {
        match made {
            Ok(()) => File::open(self.disk.path().join(snapshot::name(position)))
                .map_err(|failure| failure.to_string()),
            Err(failure) => Err(failure.to_string()),
        }
    }

    /// The directory may be changed from now on, unless the loop has given up this work.
    fn claim(&mut self) -> Result<(), SnapshotFailure> {
        self.has_decided = self.has_decided || self.work.decide();
        if self.has_decided && !self.work.reading.is_ended() {
            Ok(())
        } else {
            Err(BackendOpenError::Ended.into())
        }
    }

    fn keep_reserve(&mut self) {
        if self.claim().is_ok()
            && let Err(failure) = reserve::keep(self.disk)
        {
            tracing::warn!("no space is reserved for a snapshot on a full disk: {failure}");
        }
    }

    /// Makes snapshots at these positions, with the space of the reserve when there is no other.
    fn make_with_reserve(&mut self, stops: &[Position]) -> Result<(), SnapshotFailure> {
        let made = self.make(stops);
        match made {
            Err(failure) if is_full(&failure) && reserve::give_up(self.disk)? => {
                tracing::warn!("the reserve is given up for a snapshot: {failure}");
                self.make(stops)
            }
            made => made,
        }
    }

    /// Makes a snapshot at each of these positions that none has passed, and lets go what each makes
    /// superfluous.
    fn make(&mut self, stops: &[Position]) -> Result<(), SnapshotFailure> {
        let mut state = newest_state(self.disk, self.journal, &self.work.reading)?;
        let newest = state.position();
        for &stop in stops {
            if stop <= newest && newest > Position(0) {
                continue;
            }
            self.replay(&mut state, stop)?;
            self.claim()?;
            self.write(&state)?;
            retire(self.disk, self.journal)?;
        }
        Ok(())
    }

    fn replay(&self, state: &mut State<Services>, upto: Position) -> Result<(), SnapshotFailure> {
        replay(self.disk, state.position(), upto, |group| {
            if self.work.reading.is_ended() {
                return Err(SnapshotFailure::from(BackendOpenError::Ended));
            }
            state.replay(group)?;
            state.machines_mut().forget_events();
            Ok(())
        })
        .map_err(|failure| {
            failure
                .into_caller::<RecordReplayError>()
                .unwrap_or_else(SnapshotFailure::from)
        })
    }

    fn write(&self, state: &State<Services>) -> Result<(), SnapshotFailure> {
        let (position, time) = (state.position(), state.time());
        let mut draft = Draft::begin(self.disk.clone(), self.journal, position, time);
        let mut writing = Writing {
            draft: &mut draft,
            work: self.work,
        };
        state.snapshot(&mut writing);
        let hash = hash_of(state.machines());
        if self.work.reading.is_ended() {
            draft.abandon();
            return Err(BackendOpenError::Ended.into());
        }
        draft.finish(hash)?;
        Ok(())
    }
}

fn is_full(failure: &SnapshotFailure) -> bool {
    let written = failure.downcast_ref::<WriteError>();
    matches!(written, Some(WriteError::Io(error)) if error.kind() == io::ErrorKind::StorageFull)
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
            let outcome = Maker::new(&disk, journal, &work).make(&[Position(0)]);
            assert_eq!(outcome.is_ok(), made == 1, "{outcome:?}");
            assert_eq!(snapshots(&directory), made, "{ends} {is_decided}");
        }
    }
}
