//! A journal that starts from a copied state.

use turnstile_record::{Link, seal};
use turnstile_types::{Position, Timestamp};

use crate::preparation::{self, PrepareError};
use crate::recovery::OpenError;
use crate::sabotage::Sabotage;
use crate::segment::{FIRST_OFFSET, SegmentLabel};
use crate::{Disk, DiskFile};

/// The first segment of such a journal. One with the number 1 would have to begin with the first
/// record; from any other, what is before it may be in a snapshot alone.
const FIRST_SEGMENT: u32 = 2;

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
    /// Takes a directory without a journal, and draws the number of the new one.
    ///
    /// # Errors
    /// Another holder, or a failing disk.
    pub fn begin(disk: D) -> Result<Self, OpenError> {
        let lock = disk.lock().map_err(OpenError::Io)?;
        let lock = lock.ok_or(OpenError::Locked)?;
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
