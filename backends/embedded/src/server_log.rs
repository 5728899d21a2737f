//! The log of the back end: a journal in a directory, or none.

use std::io;

use turnstile_journal::{
    CommitError, Durability, Journal, Log, LogThread, MemoryLog, Progress, RealDisk, ReplayError,
    Room,
};
use turnstile_record::{Group, RecordRef};
use turnstile_types::{Position, Timestamp};

/// Either of the two logs, chosen when the server starts.
#[derive(Debug)]
pub enum ServerLog {
    InDirectory(Box<Journal<RealDisk>>),
    Nowhere(MemoryLog),
}

macro_rules! either {
    ($kept:expr, $log:ident => $call:expr) => {
        match $kept {
            ServerLog::InDirectory($log) => $call,
            ServerLog::Nowhere($log) => $call,
        }
    };
}

impl ServerLog {
    /// Why nothing more is taken than reads, as the system said it.
    #[must_use]
    pub const fn shortage(&self) -> Option<&io::Error> {
        match self {
            Self::InDirectory(journal) => journal.shortage(),
            Self::Nowhere(_) => None,
        }
    }

    pub(crate) const fn log_thread(&self) -> LogThread {
        match self {
            Self::InDirectory(journal) => journal.log_thread(),
            Self::Nowhere(_) => LogThread::None,
        }
    }
}

impl Log for ServerLog {
    fn durability(&self) -> Durability {
        either!(self, log => log.durability())
    }

    fn next_position(&self) -> Position {
        either!(self, log => log.next_position())
    }

    fn last_time(&self) -> Timestamp {
        either!(self, log => log.last_time())
    }

    fn begin(&mut self, time: Timestamp) {
        either!(self, log => log.begin(time));
    }

    fn room(&mut self, bytes: usize) -> Room {
        either!(self, log => log.room(bytes))
    }

    fn push(&mut self, record: &RecordRef<'_>) -> Position {
        either!(self, log => log.push(record))
    }

    fn commit(&mut self) -> Result<(), CommitError> {
        either!(self, log => log.commit())
    }

    fn submit(&mut self) -> Result<(), CommitError> {
        either!(self, log => log.submit())
    }

    fn await_settled(&mut self) {
        either!(self, log => log.await_settled());
    }

    fn settle(&mut self) -> Result<Progress, CommitError> {
        either!(self, log => log.settle())
    }

    fn replay<E>(
        &self,
        after: Position,
        each: impl FnMut(&Group<'_>) -> Result<(), E>,
    ) -> Result<(), ReplayError<E>> {
        either!(self, log => log.replay(after, each))
    }

    fn close(self) -> Result<(), CommitError> {
        either!(self, log => log.close())
    }
}
