//! The journal of a directory, also while a server uses it, and how far it can be read.

use std::{convert::Infallible, path::Path};

use turnstile_journal::{
    self as journal, JournalReadError, JournalReader, RealDisk, RealLock, ReplayError, inspect,
};
use turnstile_record::Group;
use turnstile_types::Position;

use crate::{BackendOpenError, VerifyError, verify};

/// The journal of a directory.
#[derive(Debug)]
pub(crate) struct FoundJournal {
    pub(crate) journal: u64,
    pub(crate) last: Position,
    pub(crate) is_live: bool,
    pub(crate) torn_bytes: u64,
}

/// Finds the journal, and takes its lock if no server has it.
pub(crate) fn find(disk: &RealDisk) -> Result<(FoundJournal, Option<RealLock>), VerifyError> {
    let refused = match inspect(disk) {
        Ok(Some((inspected, lock))) => {
            let found = FoundJournal {
                journal: inspected.journal,
                last: inspected.report.last,
                is_live: false,
                torn_bytes: inspected.report.cut_bytes,
            };
            return Ok((found, Some(lock)));
        }
        Ok(None) => return Err(VerifyError::NoJournal),
        Err(refused) => refused,
    };
    let live = match refused {
        journal::OpenError::Locked => {
            journal::acknowledged(disk).map_err(BackendOpenError::Journal)?
        }
        _ => None,
    };
    let (journal, last) = live.ok_or(BackendOpenError::Journal(refused))?;
    let found = FoundJournal {
        journal,
        last,
        is_live: true,
        torn_bytes: 0,
    };
    Ok((found, None))
}

/// With which record a reader begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFrom {
    /// The oldest that is kept.
    Oldest,
    /// The one after this position.
    After(Position),
    /// So many before the end, or the oldest that is kept.
    Last(u64),
}

/// The records of a directory in the order of its journal, group by group. A server may use it.
///
/// Nothing in the directory is changed. Where a server syncs each group, what it has acknowledged is read;
/// where it does not, everything that it has written. A server cannot start while this holds the lock of
/// a directory that none used.
#[derive(Debug)]
pub struct DirectoryReader {
    disk: RealDisk,
    found: FoundJournal,
    lock: Option<RealLock>,
    reader: JournalReader<RealDisk>,
    /// What may be read now.
    limit: Position,
}

impl DirectoryReader {
    /// Begins with the segment that holds the first wanted record, at its first group.
    ///
    /// # Errors
    /// There is no journal, it is damaged, or it does not reach back so far.
    pub fn open(directory: &Path, begin: ReadFrom) -> Result<Self, VerifyError> {
        let disk = verify::disk_of(directory)?;
        let (found, lock) = find(&disk)?;
        let after = match begin {
            ReadFrom::Oldest => Position(0),
            ReadFrom::After(after) => after.min(found.last),
            ReadFrom::Last(records) => Position(found.last.0.saturating_sub(records)),
        };
        let opened = match JournalReader::open(disk.clone(), after) {
            Err(ReplayError::Gap { oldest, .. })
                if !matches!(begin, ReadFrom::After(_)) && oldest.0 < u64::MAX =>
            {
                JournalReader::open(disk.clone(), Position(oldest.0 - 1))
            }
            opened => opened,
        };
        Ok(Self {
            limit: found.last,
            reader: opened.map_err(unreadable)?,
            disk,
            found,
            lock,
        })
    }

    /// The position before the first group.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.reader.position()
    }

    /// The journal's random number.
    #[must_use]
    pub const fn journal(&self) -> u64 {
        self.found.journal
    }

    /// The last position that was known when it was opened.
    #[must_use]
    pub const fn last(&self) -> Position {
        self.found.last
    }

    /// Whether a server used the directory when it was opened.
    #[must_use]
    pub const fn is_live(&self) -> bool {
        self.found.is_live
    }

    /// Bytes of a torn tail, which the next start cuts.
    #[must_use]
    pub const fn torn_bytes(&self) -> u64 {
        self.found.torn_bytes
    }

    /// The next group, if there is one by now. Groups without records are handed over too.
    ///
    /// # Errors
    /// The journal is damaged, or a server removes what is to be read.
    pub fn next_group(&mut self) -> Result<Option<Group<'_>>, VerifyError> {
        if self.reader.position() >= self.limit && self.lock.is_none() {
            self.look_further()?;
        }
        self.reader.next(self.limit).map_err(unreadable)
    }

    /// From now on a server may start on the directory, and what it writes is read.
    pub fn let_servers_in(&mut self) {
        self.lock = None;
    }

    /// How far a directory can be read that a server uses.
    fn look_further(&mut self) -> Result<(), VerifyError> {
        let known = journal::acknowledged(&self.disk).map_err(BackendOpenError::Journal)?;
        self.limit = known.map_or(self.limit, |(_, last)| last.max(self.limit));
        let is_behind = self.reader.position() < self.limit;
        if !is_behind && self.reader.is_unsynced_ahead().map_err(unreadable)? {
            self.limit = JournalReader::<RealDisk>::END;
        }
        Ok(())
    }
}

/// A journal that stays as it is while a copy of it is made, or goes on only behind `last`.
#[derive(Debug)]
pub struct HeldJournal {
    /// The journal's random number.
    pub journal: u64,
    /// The last position that may be copied.
    pub last: Position,
    /// Whether a server uses the directory.
    pub is_live: bool,
    /// Bytes of a torn tail, which the next start cuts.
    pub torn_bytes: u64,
    _lock: Option<RealLock>,
}

impl HeldJournal {
    /// Looks how far a directory can be copied, and keeps servers out of one that none uses.
    ///
    /// # Errors
    /// There is no journal, or it is damaged.
    pub fn find(directory: &Path) -> Result<Self, VerifyError> {
        let disk = verify::disk_of(directory)?;
        let (found, lock) = find(&disk)?;
        let mut held = Self {
            journal: found.journal,
            last: found.last,
            is_live: found.is_live,
            torn_bytes: found.torn_bytes,
            _lock: lock,
        };
        if held.is_live {
            held.read_on(&disk).map_err(unreadable)?;
        }
        Ok(held)
    }

    /// A server that does not sync its groups acknowledges what it has written.
    fn read_on(&mut self, disk: &RealDisk) -> Result<(), JournalReadError> {
        let mut reader = JournalReader::open(disk.clone(), self.last)?;
        while reader.next(self.last)?.is_some() {}
        if reader.is_unsynced_ahead()? {
            while reader.next(JournalReader::<RealDisk>::END)?.is_some() {}
            self.last = reader.position();
        }
        Ok(())
    }
}

pub(crate) fn unreadable(failure: JournalReadError) -> VerifyError {
    match failure.into_caller() {
        Ok::<Infallible, _>(never) => match never {},
        Err(failure) => BackendOpenError::Replay(failure).into(),
    }
}
