//! The trait `Log`: where the sequencer's groups become durable.

use std::{fmt, time::Duration};

use turnstile_record::{BODY_BYTES_MAX, Group, RecordRef};
use turnstile_types::{Position, Timestamp};

use crate::{CommitError, ReplayError};

/// What an acknowledged group survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A power cut: each group is synced before [`Log::commit`] returns.
    Sync,
    /// The end of the process: each group is written, and the system syncs it when it likes.
    Os,
    /// What a log survives that several servers share: a majority of its brokers has each entry before it
    /// comes here. This journal is a copy of it, which the system syncs when it likes.
    Cluster,
    /// Nothing: no byte is kept.
    Memory,
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sync => "sync",
            Self::Os => "os",
            Self::Cluster => "cluster",
            Self::Memory => "memory",
        })
    }
}

/// Whether the open group takes one more record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// It does, and there is room on the disk to commit it.
    Fits,
    /// The group is full: commit it, then ask again.
    CommitFirst,
    /// The disk is full: refuse the record. Each later question tries again to get space, so this
    /// ends by itself.
    DiskFull,
}

/// How far a submitted group has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    UnderWay,
    /// It survives what the log promises. Writing and syncing it took so long.
    Durable {
        took: Duration,
    },
}

/// The ordered list of groups that a sequencer writes and, after a restart, reads again.
///
/// Contract. The caller builds one group at a time: [`begin`](Self::begin), any number of
/// [`room`](Self::room) and [`push`](Self::push), [`commit`](Self::commit). A record may be pushed
/// only after `room` said [`Room::Fits`] for its size. When `commit` returns `Ok`, the group
/// survives what [`durability`](Self::durability) says, whole; it is replayed with the positions
/// that `push` returned. When it returns an error, whether the group survives is unknown, and every
/// later call of `commit` MUST fail: the caller answers nothing from that group and stops.
///
/// Instead of waiting in `commit`, the caller may [`submit`](Self::submit) a group, build the next one,
/// and ask with [`settle`](Self::settle) what became of it; the same holds for what that returns.
/// At most one group is under way. No byte of a later one may reach the disk before it is durable,
/// so `submit` MUST NOT be called while there is one, and `commit` waits for it first.
pub trait Log {
    /// What a committed group survives.
    fn durability(&self) -> Durability;

    /// The position that the next record gets; inside a group, that after its last.
    fn next_position(&self) -> Position;

    /// The logged time of the last group; zero when there is none.
    fn last_time(&self) -> Timestamp;

    /// Begins a group. Its time MUST NOT be earlier than the last group's.
    ///
    /// # Panics
    /// When records of an earlier group wait for their commit, or time goes back.
    fn begin(&mut self, time: Timestamp);

    /// Whether the open group takes a record of `bytes` ([`RecordRef::size`]).
    fn room(&mut self, bytes: usize) -> Room;

    /// Adds a record to the open group, without I/O, and says its position.
    fn push(&mut self, record: &RecordRef<'_>) -> Position;

    /// Makes the open group durable, with one write and one sync. Without records it does nothing.
    ///
    /// # Errors
    /// Final; see the contract.
    fn commit(&mut self) -> Result<(), CommitError>;

    /// Sends the open group on its way to the disk; the next one may begin. Without records it does
    /// nothing. A log that has nothing to wait for makes it durable at once.
    ///
    /// # Errors
    /// Final; see the contract.
    ///
    /// # Panics
    /// When a group is under way.
    fn submit(&mut self) -> Result<(), CommitError>;

    /// How far the group that was submitted last has come. It does not wait.
    ///
    /// # Errors
    /// Final; see the contract.
    fn settle(&mut self) -> Result<Progress, CommitError>;

    /// Waits until [`settle`](Self::settle) has something to say.
    fn await_settled(&mut self);

    /// Hands over every committed group with records after `after`, in order. A snapshot at `after`
    /// was taken between two groups.
    ///
    /// # Errors
    /// The log does not reach back to `after`, cannot be read, or `each` failed.
    fn replay<E>(
        &self,
        after: Position,
        each: impl FnMut(&Group<'_>) -> Result<(), E>,
    ) -> Result<(), ReplayError<E>>;

    /// Ends cleanly: what was committed is durable, and the next start can tell.
    ///
    /// # Errors
    /// It is not; recovery will sort it out.
    ///
    /// # Panics
    /// When records wait for their commit.
    fn close(self) -> Result<(), CommitError>;
}

/// A log that keeps nothing: for tests, and for those who choose speed over memory of anything.
#[derive(Debug)]
pub struct MemoryLog {
    next: Position,
    time: Timestamp,
    waiting_bytes: usize,
    waiting: bool,
}

impl MemoryLog {
    /// A log in which nothing has happened.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            next: Position(1),
            time: Timestamp(0),
            waiting_bytes: 0,
            waiting: false,
        }
    }
}

impl Default for MemoryLog {
    fn default() -> Self {
        Self::new()
    }
}

impl Log for MemoryLog {
    fn durability(&self) -> Durability {
        Durability::Memory
    }

    fn next_position(&self) -> Position {
        self.next
    }

    fn last_time(&self) -> Timestamp {
        self.time
    }

    fn begin(&mut self, time: Timestamp) {
        assert!(!self.waiting, "a group is committed before the next begins");
        assert!(time >= self.time, "logged time never goes back");
        self.time = time;
    }

    fn room(&mut self, bytes: usize) -> Room {
        if self.waiting_bytes + bytes <= BODY_BYTES_MAX {
            Room::Fits
        } else {
            Room::CommitFirst
        }
    }

    fn push(&mut self, record: &RecordRef<'_>) -> Position {
        let position = self.next;
        self.next = position.next();
        self.waiting_bytes += record.size();
        self.waiting = true;
        position
    }

    fn commit(&mut self) -> Result<(), CommitError> {
        self.waiting_bytes = 0;
        self.waiting = false;
        Ok(())
    }

    fn submit(&mut self) -> Result<(), CommitError> {
        self.commit()
    }

    fn await_settled(&mut self) {}

    /// It keeps its promise, which is none, at once.
    fn settle(&mut self) -> Result<Progress, CommitError> {
        Ok(Progress::Durable {
            took: Duration::ZERO,
        })
    }

    /// There is nothing to hand over, and nothing that could be missing.
    fn replay<E>(
        &self,
        _after: Position,
        _each: impl FnMut(&Group<'_>) -> Result<(), E>,
    ) -> Result<(), ReplayError<E>> {
        Ok(())
    }

    fn close(self) -> Result<(), CommitError> {
        assert!(!self.waiting, "the last group is committed before the end");
        Ok(())
    }
}
