//! A journal that starts from a copied state.

use std::io;

use turnstile_record::{Link, seal};
use turnstile_types::{Position, Sink as _, Timestamp};

use crate::preparation::{self, PrepareError};
use crate::recovery::OpenError;
use crate::sabotage::Sabotage;
use crate::segment::{self, FIRST_OFFSET, SegmentLabel, UNFINISHED};
use crate::snapshot::{self, Draft, Title, WriteError};
use crate::{Disk, DiskFile, mark};

/// The first segment of such a journal. One with the number 1 would have to begin with the first
/// record; from any other, what is before it may be in a snapshot alone.
const FIRST_SEGMENT: u32 = 2;

/// The file that says that a journal is being put in the place of another one: neither is whole.
pub const UNFINISHED_JOIN: &str = "unfinished-join";

/// A directory in which a journal is founded; nobody else opens it meanwhile.
///
/// The snapshot of the state is written first, with the number of the journal. Until
/// [`finish`](Self::finish) it is one without its journal, which no server opens.
#[derive(Debug)]
pub struct Founding<D: Disk> {
    disk: D,
    journal: u64,
    _lock: D::Lock,
}

impl<D: Disk> Founding<D> {
    /// Draws the number of a new journal in a directory without one, whose lock the caller holds.
    ///
    /// # Errors
    /// A failing disk.
    pub fn begin_taken(disk: D, lock: D::Lock) -> Result<Self, OpenError> {
        let journal = disk.random().map_err(OpenError::Io)?;
        Ok(Self {
            disk,
            journal,
            _lock: lock,
        })
    }

    /// The number of the journal, which its snapshots carry.
    #[must_use]
    pub const fn journal(&self) -> u64 {
        self.journal
    }

    /// Makes the journal, durably: it goes on after `last`, at `time`. Its first segment holds a seal
    /// and nothing else.
    ///
    /// # Errors
    /// The disk fails.
    pub fn finish(
        self,
        segment_bytes: u32,
        last: Position,
        time: Timestamp,
    ) -> Result<(), OpenError> {
        self.found(segment_bytes, last, time)
    }

    fn found(&self, segment_bytes: u32, last: Position, time: Timestamp) -> Result<(), OpenError> {
        let label = SegmentLabel {
            journal: self.journal,
            number: FIRST_SEGMENT,
            bytes: segment_bytes,
        };
        let prepared = preparation::prepare(&self.disk, label, Sabotage::None);
        let segment = prepared.map_err(|error| match error {
            PrepareError::Retryable(error) | PrepareError::Final(error) => OpenError::Io(error),
        })?;
        let link = Link {
            position: last.next(),
            time,
            chain: 0,
        };
        let (bytes, _link) = seal(segment.place(FIRST_OFFSET), link);
        let written = segment.file.write_at(&bytes, FIRST_OFFSET.into());
        written
            .and_then(|()| segment.file.sync_data())
            .map_err(OpenError::Io)
    }
}

/// Puts a journal that begins with this state in the place of the one that the directory has, whose lock
/// the caller holds. `others` are files that belong to the journal and are not its own: they go with it.
///
/// A crash on the way leaves the mark of an [unfinished join](is_unfinished), and a directory that is to
/// be [cleared](clear).
///
/// # Errors
/// The disk fails.
pub fn refound<D: Disk>(
    disk: &D,
    lock: D::Lock,
    (title, state): (&Title, &[u8]),
    (segment_bytes, others): (u32, &[&str]),
) -> Result<(), OpenError> {
    begin_join(disk).map_err(OpenError::Io)?;
    remove_journal(disk, others).map_err(OpenError::Io)?;
    let founding = Founding {
        journal: disk.random().map_err(OpenError::Io)?,
        disk: disk.clone(),
        _lock: lock,
    };
    let (position, time) = (title.position, title.time);
    let mut draft = Draft::begin(disk.clone(), founding.journal, position, time);
    draft.put(state);
    draft.finish(title.hash).map_err(|failure| match failure {
        WriteError::Io(cause) => OpenError::Io(cause),
        WriteError::Verify(rotten) => OpenError::Io(io::Error::other(rotten)),
    })?;
    founding.found(segment_bytes, position, time)?;
    end_join(disk).map_err(OpenError::Io)
}

/// Whether a journal was being put in the place of another one.
///
/// # Errors
/// The directory cannot be read.
pub fn is_unfinished<D: Disk>(disk: &D) -> io::Result<bool> {
    Ok(disk.list()?.iter().any(|name| name == UNFINISHED_JOIN))
}

/// Removes what an [unfinished join](is_unfinished) has left: the directory has no journal then. The
/// caller holds the lock.
///
/// # Errors
/// The disk fails.
pub fn clear<D: Disk>(disk: &D, others: &[&str]) -> io::Result<()> {
    remove_journal(disk, others)?;
    end_join(disk)
}

fn begin_join<D: Disk>(disk: &D) -> io::Result<()> {
    disk.create(UNFINISHED_JOIN, 0)?.sync_data()?;
    disk.sync_directory()
}

fn end_join<D: Disk>(disk: &D) -> io::Result<()> {
    // What was removed or made must not come back or go without its mark.
    disk.sync_directory()?;
    disk.remove(UNFINISHED_JOIN)?;
    disk.sync_directory()
}

/// Removes every file of a journal.
fn remove_journal<D: Disk>(disk: &D, others: &[&str]) -> io::Result<()> {
    let is_of_journal = |name: &str| {
        segment::number(name).is_some()
            || snapshot::position(name).is_some()
            || name == mark::NAME
            || others.contains(&name)
    };
    for name in disk.list()? {
        if is_of_journal(name.strip_suffix(UNFINISHED).unwrap_or(&name)) {
            disk.remove(&name)?;
        }
    }
    disk.sync_directory()
}
