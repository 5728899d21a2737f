//! The log thread: writes and syncs one group while the loop decides the next.

use std::{
    fmt, io, mem,
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

use crate::{Chores, CommitError, DiskFile, sabotage::Sabotage};

/// Who carries submitted groups to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogThread {
    /// A thread that runs as soon as the disk has answered.
    RealTime,
    /// A thread that waits for its share of the processor like any other: the system granted no
    /// more.
    Ordinary,
    /// Nobody but the committing thread.
    None,
}

impl fmt::Display for LogThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RealTime => "real-time",
            Self::Ordinary => "ordinary",
            Self::None => "none",
        })
    }
}

/// A group's bytes and where they go.
struct Parcel<F> {
    file: Arc<F>,
    bytes: Vec<u8>,
    offset: u64,
}

impl<F: DiskFile> Parcel<F> {
    fn write(&self) -> Result<(), CommitError> {
        let written = self.file.write_at(&self.bytes, self.offset);
        written.map_err(CommitError::Write)
    }
}

/// What became of a parcel.
struct Delivery {
    outcome: Result<(), CommitError>,
    took: Duration,
    /// The parcel's memory, for the next one.
    bytes: Vec<u8>,
}

/// What lies between the two threads.
enum Desk<F> {
    Empty,
    Parcel(Parcel<F>),
    Delivery(Delivery),
    /// Nothing will come any more.
    Closed,
}

impl<F> Desk<F> {
    fn take_delivery(&mut self) -> Option<Delivery> {
        match mem::replace(self, Self::Empty) {
            Self::Delivery(delivery) => Some(delivery),
            other => {
                *self = other;
                None
            }
        }
    }
}

struct SharedDesk<F> {
    desk: Mutex<Desk<F>>,
    changed: Condvar,
}

/// Carries one group at a time: in a thread of its own or, where everything must happen in the same
/// order each time, when it is asked what became of the group.
pub(crate) struct Carrier<F> {
    way: WriteMode<F>,
    sabotage: Sabotage,
    is_busy: bool,
    /// The memory of the last parcel.
    spare: Vec<u8>,
}

enum WriteMode<F> {
    /// The group is written when it is handed over, and synced when somebody asks.
    OnDemand(Option<Arc<F>>),
    Thread {
        shared: Arc<SharedDesk<F>>,
        /// Nothing only while it ends.
        thread: Option<JoinHandle<()>>,
        kind: LogThread,
    },
}

impl<F: DiskFile> Carrier<F> {
    pub(crate) fn start(chores: Chores, sabotage: Sabotage) -> io::Result<Self> {
        let way = match chores {
            Chores::Inline => WriteMode::OnDemand(None),
            Chores::Background => start_thread(sabotage)?,
        };
        Ok(Self {
            way,
            sabotage,
            is_busy: false,
            spare: Vec::new(),
        })
    }

    pub(crate) const fn kind(&self) -> LogThread {
        match self.way {
            WriteMode::OnDemand(_) => LogThread::None,
            WriteMode::Thread { kind, .. } => kind,
        }
    }

    /// Whether a group is under way.
    pub(crate) const fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Takes a group. There MUST be none under way.
    pub(crate) fn take(
        &mut self,
        file: &Arc<F>,
        bytes: &[u8],
        offset: u64,
    ) -> Result<(), CommitError> {
        assert!(!self.is_busy, "one group at a time is under way");
        let mut copy = mem::take(&mut self.spare);
        copy.clear();
        copy.extend_from_slice(bytes);
        let parcel = Parcel {
            file: Arc::clone(file),
            bytes: copy,
            offset,
        };
        match &mut self.way {
            WriteMode::OnDemand(written) => {
                parcel.write()?;
                self.spare = parcel.bytes;
                *written = Some(parcel.file);
            }
            WriteMode::Thread { shared, .. } => shared.put(Desk::Parcel(parcel)),
        }
        self.is_busy = true;
        Ok(())
    }

    /// What became of the group under way, and how long it took; nothing while it is under way.
    pub(crate) fn ask(&mut self) -> Option<Result<Duration, CommitError>> {
        match &mut self.way {
            WriteMode::OnDemand(written) => {
                let file = written.take().expect("only what is under way is asked for");
                self.is_busy = false;
                let outcome = sync(&*file, self.sabotage);
                Some(outcome.map(|()| Duration::ZERO))
            }
            WriteMode::Thread { shared, .. } => {
                let delivery = shared.desk().take_delivery()?;
                self.is_busy = false;
                self.spare = delivery.bytes;
                Some(delivery.outcome.map(|()| delivery.took))
            }
        }
    }

    /// Waits until there is something to say about the group under way.
    pub(crate) fn wait(&self) {
        if let WriteMode::Thread { shared, .. } = &self.way {
            let mut desk = shared.desk();
            while !matches!(*desk, Desk::Delivery(_)) {
                desk = shared.wait(desk);
            }
        }
    }

    /// Lets the group under way be, unsynced: a planted bug.
    pub(crate) fn forget(&mut self) {
        if let WriteMode::OnDemand(written) = &mut self.way {
            *written = None;
            self.is_busy = false;
        }
    }
}

/// Syncs a file, or does what a planted bug would.
pub(crate) fn sync<F: DiskFile>(file: &F, sabotage: Sabotage) -> Result<(), CommitError> {
    let outcome = if sabotage.is(Sabotage::AckBeforeSync) {
        Ok(())
    } else if sabotage.is(Sabotage::RetryFailedSync) {
        file.sync_data().or_else(|_failed| file.sync_data())
    } else {
        file.sync_data()
    };
    outcome.map_err(CommitError::Sync)
}

fn start_thread<F: DiskFile>(sabotage: Sabotage) -> io::Result<WriteMode<F>> {
    let shared = Arc::new(SharedDesk {
        desk: Mutex::new(Desk::Empty),
        changed: Condvar::new(),
    });
    let theirs = Arc::clone(&shared);
    // The thread says first what the system granted it.
    let (granted, kind) = std::sync::mpsc::sync_channel(1);
    let thread = thread::Builder::new()
        .name("log".to_owned())
        .spawn(move || {
            if granted.send(claim_priority()).is_ok() {
                theirs.carry(sabotage);
            }
        })?;
    let kind = kind.recv().map_err(io::Error::other)?;
    Ok(WriteMode::Thread {
        shared,
        thread: Some(thread),
        kind,
    })
}

/// Asks that the calling thread runs as soon as it can: it runs for microseconds, and on a shared
/// core an ordinary thread would wait for the end of the loop's time slice first.
fn claim_priority() -> LogThread {
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    match set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy) {
        Ok(()) => LogThread::RealTime,
        Err(_refused) => LogThread::Ordinary,
    }
}

impl<F: DiskFile> SharedDesk<F> {
    fn desk(&self) -> MutexGuard<'_, Desk<F>> {
        self.desk.lock().expect("nobody panics at the desk")
    }

    fn wait<'a>(&self, desk: MutexGuard<'a, Desk<F>>) -> MutexGuard<'a, Desk<F>> {
        self.changed.wait(desk).expect("nobody panics at the desk")
    }

    fn put(&self, content: Desk<F>) {
        let mut desk = self.desk();
        if !matches!(*desk, Desk::Closed) {
            *desk = content;
        }
        drop(desk);
        self.changed.notify_all();
    }

    /// The thread's life.
    fn carry(&self, sabotage: Sabotage) {
        while let Some(parcel) = self.next() {
            let begun = Instant::now();
            let outcome = parcel.write().and_then(|()| sync(&*parcel.file, sabotage));
            self.put(Desk::Delivery(Delivery {
                outcome,
                took: begun.elapsed(),
                bytes: parcel.bytes,
            }));
        }
    }

    fn next(&self) -> Option<Parcel<F>> {
        let mut desk = self.desk();
        loop {
            match mem::replace(&mut *desk, Desk::Empty) {
                Desk::Parcel(parcel) => return Some(parcel),
                Desk::Closed => return None,
                other => *desk = other,
            }
            desk = self.wait(desk);
        }
    }
}

impl<F> Drop for Carrier<F> {
    /// Ends the thread, so that nobody touches the directory once its lock is gone.
    fn drop(&mut self) {
        if let WriteMode::Thread { shared, thread, .. } = &mut self.way {
            *shared.desk.lock().expect("nobody panics at the desk") = Desk::Closed;
            shared.changed.notify_all();
            drop(thread.take().map(JoinHandle::join));
        }
    }
}

impl<F> fmt::Debug for Carrier<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Carrier")
            .field("is_busy", &self.is_busy)
            .finish_non_exhaustive()
    }
}
