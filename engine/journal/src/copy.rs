//! A journal that is a copy of another: a data directory that grows piece by piece.

use std::{fmt, io};

use turnstile_record::Group;

use crate::mark::DurableMark;
use crate::pending;
use crate::pieces::{CopiedPiece, CopyBreak, CopyCursor, CopyEnd};
use crate::preparation::{self, PrepareError};
use crate::recovery::{self, OpenError};
use crate::sabotage::Sabotage;
use crate::segment::{self, Segment, SegmentLabel};
use crate::{Disk, DiskFile};

/// How many bytes of pieces were put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopiedBytes {
    pub bytes: usize,
    /// Whether every group was wanted.
    pub is_whole: bool,
}

/// Why a copy in a directory cannot go on.
#[derive(Debug)]
pub enum CopyError {
    /// The directory's own journal does not open.
    Open(OpenError),
    Io(io::Error),
    Break(CopyBreak),
}

/// A journal that is a copy: a data directory that a server can be started on once it is given up.
///
/// It holds the directory's lock. What was put is durable after [`sync`](Self::sync).
#[derive(Debug)]
pub struct JournalCopy<D: Disk> {
    disk: D,
    cursor: CopyCursor,
    current: Option<Segment<D::File>>,
    mark: Option<DurableMark<D::File>>,
    is_synced: bool,
    _lock: D::Lock,
}

impl<D: Disk> JournalCopy<D> {
    /// Takes a directory: a copy that is there goes on, and what a crash left of its last group is cut.
    ///
    /// # Errors
    /// Another process has the directory, or its journal is damaged.
    pub fn open(disk: D) -> Result<Self, OpenError> {
        let lock = recovery::take(&disk)?;
        Self::open_taken(disk, lock)
    }

    /// The same of a directory that was [taken](crate::take) before.
    ///
    /// # Errors
    /// As [`open`](Self::open); nobody else has the directory.
    pub fn open_taken(disk: D, lock: D::Lock) -> Result<Self, OpenError> {
        let names = disk.list().map_err(OpenError::Io)?;
        let mut copy = Self {
            disk,
            cursor: CopyCursor::default(),
            current: None,
            mark: None,
            is_synced: true,
            _lock: lock,
        };
        if names.iter().any(|name| segment::is_segment(name)) {
            // There is a segment, so none is made; and pieces that are pending are put in their places.
            let recovered = recovery::recover(&copy.disk, 0, None, Sabotage::None)?;
            let end = CopyEnd {
                journal: recovered.current.label.journal,
                segment: recovered.current.label.number,
                segment_bytes: recovered.current.label.bytes,
                offset: recovered.offset,
                link: Some(recovered.link),
            };
            copy.cursor = CopyCursor::recovered(end, recovered.last);
            copy.mark = Some(recovered.mark);
            copy.current = Some(recovered.current);
        }
        Ok(copy)
    }

    /// How far the copy goes, synced or not.
    #[must_use]
    pub const fn cursor(&self) -> &CopyCursor {
        &self.cursor
    }

    /// The directory.
    #[must_use]
    pub const fn disk(&self) -> &D {
        &self.disk
    }

    /// Puts the pieces in `bytes` in their places, up to the first group for which `is_wanted` does not
    /// hold. A part of a piece at the end is left out.
    ///
    /// # Errors
    /// A piece does not continue the copy, or the disk failed. What was put before stays.
    pub fn put(
        &mut self,
        bytes: &[u8],
        mut is_wanted: impl FnMut(&Group<'_>) -> bool,
    ) -> Result<CopiedBytes, CopyError> {
        let mut rest = bytes;
        loop {
            let before = (self.cursor.clone(), rest);
            let piece = self.cursor.take(&mut rest).map_err(CopyError::Break)?;
            let mut is_whole = true;
            match piece {
                Some(CopiedPiece::Segment { number, bytes, .. }) => {
                    self.begin_segment(number, bytes)?;
                    continue;
                }
                Some(CopiedPiece::Group { group, .. }) if !is_wanted(&group) => {
                    (self.cursor, rest) = before;
                    is_whole = false;
                }
                Some(CopiedPiece::Group { offset, bytes, .. }) => {
                    let segment = self.current.as_ref().expect("the cursor is in a segment");
                    let written = segment.file.write_at(bytes, u64::from(offset));
                    written.map_err(CopyError::Io)?;
                    self.is_synced = false;
                    continue;
                }
                None => {}
            }
            return Ok(CopiedBytes {
                bytes: bytes.len() - rest.len(),
                is_whole,
            });
        }
    }

    /// Puts pieces and makes them durable, so that the directory is sound after a power cut at any moment:
    /// it holds all of them then, or a beginning.
    ///
    /// Groups say of those before them that they are durable, so several must not be written at once. They
    /// go to a file beside the journal first, from which a start puts them in their places. Before the copy
    /// has its first group, there is nothing to go on from: then they are [`put`](Self::put).
    ///
    /// # Errors
    /// As of [`put`](Self::put); nothing was put if a piece does not continue the copy.
    pub fn put_whole(&mut self, bytes: &[u8]) -> Result<(), CopyError> {
        let mut ahead = self.cursor.clone();
        let (mut rest, mut pieces) = (bytes, 0);
        while ahead.take(&mut rest).map_err(CopyError::Break)?.is_some() {
            pieces += 1;
        }
        let bytes = &bytes[..bytes.len() - rest.len()];
        let before = self.cursor.end().filter(|_| pieces > 1);
        if let Some(end) = before {
            pending::write(&self.disk, &end, bytes).map_err(CopyError::Io)?;
        }
        self.put(bytes, |_group| true)?;
        self.sync()?;
        if before.is_some() {
            pending::forget(&self.disk).map_err(CopyError::Io)?;
        }
        Ok(())
    }

    /// Makes everything durable that was put. Until then, a power cut may leave a journal that is refused.
    ///
    /// # Errors
    /// The disk failed: what was put since the last sync may be lost.
    pub fn sync(&mut self) -> Result<(), CopyError> {
        self.sync_segment()?;
        let Some(end) = self.cursor.end() else {
            return Ok(());
        };
        let position = self.cursor.position();
        let marked = match &mut self.mark {
            Some(mark) => mark.write(position),
            None => DurableMark::begin(&self.disk, end.journal, position)
                .map(|mark| self.mark = Some(mark))
                .and_then(|()| self.disk.sync_directory()),
        };
        marked.map_err(CopyError::Io)
    }

    fn sync_segment(&mut self) -> Result<(), CopyError> {
        if let Some(segment) = self.current.as_ref().filter(|_| !self.is_synced) {
            segment.file.sync_data().map_err(CopyError::Io)?;
            self.is_synced = true;
        }
        Ok(())
    }

    fn begin_segment(&mut self, number: u32, bytes: u32) -> Result<(), CopyError> {
        // Groups that are not durable never spread over two segments.
        self.sync_segment()?;
        let end = self.cursor.end().expect("it has taken the segment's head");
        let label = SegmentLabel {
            journal: end.journal,
            number,
            bytes,
        };
        let prepared = preparation::prepare(&self.disk, label, Sabotage::None);
        let segment = prepared.map_err(|error| match error {
            PrepareError::Retryable(error) | PrepareError::Final(error) => CopyError::Io(error),
        })?;
        self.current = Some(segment);
        Ok(())
    }
}

impl fmt::Display for CopyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::Io(error) => write!(f, "the copy cannot be written: {error}"),
            Self::Break(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CopyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Open(error) => Some(error),
            Self::Io(error) => Some(error),
            Self::Break(error) => Some(error),
        }
    }
}
