//! Prepares the next segment in advance, so that a commit never extends a file.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::sabotage::Sabotage;
use crate::segment::{self, Segment, SegmentLabel, UNFINISHED};
use crate::{Chores, Disk, DiskFile};

/// Why there is no next segment.
#[derive(Debug)]
pub(crate) enum PrepareError {
    /// Nothing happened that anybody could notice later; most often the disk is full.
    Retryable(io::Error),
    /// The directory may be in any state.
    Final(io::Error),
}

/// How long the thread rests after a failed attempt. A full disk is noticed to have space again
/// this much later.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Creates a segment: whole, synced, and only then under its name.
pub(crate) fn prepare<D: Disk>(
    disk: &D,
    label: SegmentLabel,
    sabotage: Sabotage,
) -> Result<Segment<D::File>, PrepareError> {
    let name = segment::name(label.number);
    let unfinished = format!("{name}{UNFINISHED}");
    let fill = || {
        let file = disk.create(&unfinished, u64::from(label.bytes))?;
        file.write_at(&label.encode(), 0)?;
        file.sync_data()?;
        Ok(file)
    };
    let file = fill().map_err(|error| {
        // The space goes back. When even that fails, the next attempt replaces the file, and a
        // restart removes it.
        drop(disk.remove(&unfinished));
        PrepareError::Retryable(error)
    })?;
    disk.rename(&unfinished, &name)
        .map_err(PrepareError::Final)?;
    sync_directory(disk, sabotage).map_err(PrepareError::Final)?;
    Ok(Segment {
        label,
        file: Arc::new(file),
    })
}

pub(crate) fn sync_directory<D: Disk>(disk: &D, sabotage: Sabotage) -> io::Result<()> {
    if sabotage.is(Sabotage::NoDirectorySync) {
        return Ok(());
    }
    disk.sync_directory()
}

/// The segment after the current one.
#[derive(Debug)]
pub(crate) enum NextSegment<F> {
    Ready(Segment<F>),
    /// Ordered from the thread.
    Coming,
    /// Ordered again after a failure.
    Retrying,
    /// The last attempt failed, and left nothing behind.
    Failed,
}

type Outcome<F> = Result<Segment<F>, PrepareError>;

/// Prepares segments, inline or in a thread that lives as long as this.
#[derive(Debug)]
pub(crate) struct Preparer<D: Disk> {
    disk: D,
    sabotage: Sabotage,
    worker: Option<SegmentWorker<D::File>>,
}

#[derive(Debug)]
struct SegmentWorker<F> {
    orders: SyncSender<SegmentLabel>,
    done: Receiver<Outcome<F>>,
    thread: JoinHandle<()>,
}

impl<D: Disk> Preparer<D> {
    pub(crate) fn start(disk: D, how: Chores, sabotage: Sabotage) -> io::Result<Self> {
        let worker = match how {
            Chores::Inline => None,
            Chores::Background => Some(SegmentWorker::start(disk.clone(), sabotage)?),
        };
        Ok(Self {
            disk,
            sabotage,
            worker,
        })
    }

    /// Begins to prepare; with a thread the answer comes later.
    pub(crate) fn order(&self, label: SegmentLabel) -> Result<NextSegment<D::File>, PrepareError> {
        match &self.worker {
            None => prepare(&self.disk, label, self.sabotage).map(NextSegment::Ready),
            Some(worker) => match worker.orders.send(label) {
                Ok(()) => Ok(NextSegment::Coming),
                Err(_gone) => Err(thread_ended()),
            },
        }
    }

    /// What became of an order; nothing while nobody knows.
    pub(crate) fn poll(&self) -> Option<Result<NextSegment<D::File>, PrepareError>> {
        match self.thread().done.try_recv() {
            Ok(outcome) => Some(outcome.map(NextSegment::Ready)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(thread_ended())),
        }
    }

    /// Waits for what becomes of an order.
    pub(crate) fn wait(&self) -> Result<NextSegment<D::File>, PrepareError> {
        match self.thread().done.recv() {
            Ok(outcome) => outcome.map(NextSegment::Ready),
            Err(_gone) => Err(thread_ended()),
        }
    }

    fn thread(&self) -> &SegmentWorker<D::File> {
        self.worker.as_ref().expect("only a thread's order is open")
    }
}

fn thread_ended() -> PrepareError {
    PrepareError::Final(io::Error::other(
        "the thread that prepares segments has ended",
    ))
}

impl<F: DiskFile> SegmentWorker<F> {
    fn start<D: Disk<File = F>>(disk: D, sabotage: Sabotage) -> io::Result<Self> {
        // One order at a time is open, so neither channel ever makes anyone wait.
        let (orders, inbox) = sync_channel::<SegmentLabel>(1);
        let (outbox, done) = sync_channel(1);
        let thread = thread::Builder::new()
            .name("segments".to_owned())
            .spawn(move || {
                for label in inbox {
                    let outcome = prepare(&disk, label, sabotage);
                    let has_failed = outcome.is_err();
                    if outbox.send(outcome).is_err() {
                        return;
                    }
                    if has_failed {
                        // Each refused command asks for another attempt.
                        thread::park_timeout(RETRY_PAUSE);
                    }
                }
            })?;
        Ok(Self {
            orders,
            done,
            thread,
        })
    }
}

impl<D: Disk> Drop for Preparer<D> {
    /// Ends the thread, so that nobody touches the directory once its lock is gone.
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            drop((worker.orders, worker.done));
            worker.thread.thread().unpark();
            drop(worker.thread.join());
        }
    }
}
