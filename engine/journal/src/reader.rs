//! Reads groups one after the other, and goes on when more have come.

use std::convert::Infallible;

use turnstile_record::{Broken, Group, Header, Link};
use turnstile_types::Position;

use crate::Disk;
use crate::replay::{self, Reading, ReplayError};
use crate::sabotage::Sabotage;
use crate::segment::{FIRST_OFFSET, NoGroup, Window, to_u32};

/// Why a reader cannot go on.
pub type JournalReadError = ReplayError<Infallible>;

/// Reads the groups of a directory in order. A live journal may go on appending: what it has appended is
/// read when it is asked for.
#[derive(Debug)]
pub struct JournalReader<D: Disk> {
    disk: D,
    window: Window,
    reading: Reading<D::File>,
    /// The last position that was read or passed.
    position: Position,
    /// The length of the last group that was read.
    last_bytes: usize,
}

impl<D: Disk> JournalReader<D> {
    /// The limit of a reader that takes everything that was written.
    pub const END: Position = Position(u64::MAX);

    /// Begins with the segment that holds the record after `after`, at the first of its groups: some of
    /// its groups may lie before.
    ///
    /// # Errors
    /// `Gap` when that record is not kept; others as of [`ReplayError`].
    pub fn open(disk: D, after: Position) -> Result<Self, JournalReadError> {
        let mut window = Window::default();
        let reading = match Reading::start(&disk, after, &mut window) {
            Err(ReplayError::Gap { oldest, .. }) if oldest == Self::END => {
                return Self::without_groups(disk, after);
            }
            started => started?,
        };
        let first = replay::first_position(&reading.segment, &mut window);
        let first = first.map_err(ReplayError::Io)?;
        Ok(Self {
            disk,
            window,
            reading,
            position: Position(first.map_or(0, |first| first.0 - 1)),
            last_bytes: 0,
        })
    }

    /// Begins with the first segment of a journal that has no groups yet.
    fn without_groups(disk: D, after: Position) -> Result<Self, JournalReadError> {
        let numbers = replay::segment_numbers(&disk).map_err(ReplayError::Io)?;
        match numbers.first() {
            Some(1) if after == Position(0) => Self::at(disk, 1, FIRST_OFFSET, after),
            _ => Err(ReplayError::Gap {
                wanted: after.next(),
                oldest: Self::END,
            }),
        }
    }

    /// Begins at the byte `offset` of a segment, where the group with the record at `after` ended. Nothing
    /// proves that the first group continues what the caller knows: the caller compares its chain.
    ///
    /// # Errors
    /// There is no such segment any more, or it is damaged.
    pub fn at(
        disk: D,
        segment: u32,
        offset: u32,
        after: Position,
    ) -> Result<Self, JournalReadError> {
        let segment = replay::open(&disk, segment)?;
        let is_start = segment.label.number == 1 && offset <= FIRST_OFFSET;
        Ok(Self {
            disk,
            window: Window::default(),
            reading: Reading {
                segment,
                offset: offset.max(FIRST_OFFSET),
                link: is_start.then_some(Link::START),
            },
            position: after,
            last_bytes: 0,
        })
    }

    /// The number of the segment in which it reads.
    #[must_use]
    pub const fn segment(&self) -> u32 {
        self.reading.segment.label.number
    }

    /// The last position that was read; at first, that before the first group.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.position
    }

    /// What the last group that was read has left for the next one to continue; nothing before that.
    #[must_use]
    pub const fn link(&self) -> Option<Link> {
        self.reading.link
    }

    /// The next group, if it ends at `upto` or before, which must lie between two groups. Everything up to
    /// there must have been written; with [`END`](Self::END) the first place without a group is the end.
    ///
    /// # Errors
    /// See [`ReplayError`].
    pub fn next(&mut self, upto: Position) -> Result<Option<Group<'_>>, JournalReadError> {
        if self.position >= upto {
            return Ok(None);
        }
        let header = match self.find()? {
            Ok(header) => header,
            Err(_broken) if upto == Self::END => return Ok(None),
            Err(broken) => return Err(self.reading.corrupt(broken)),
        };
        let position = Position(header.link().position.0 - 1);
        if position > upto {
            return Err(ReplayError::Inside(upto));
        }
        let group = self.reading.pass(&mut self.window, header)?;
        self.last_bytes = header.group_bytes();
        self.position = position;
        Ok(Some(group))
    }

    /// Whether the next two groups prove that this journal is not synced after each group. At most one
    /// group of a journal that is synced lies behind what it has acknowledged.
    ///
    /// # Errors
    /// See [`ReplayError`].
    pub fn is_unsynced_ahead(&mut self) -> Result<bool, JournalReadError> {
        let place = (self.reading.offset, self.reading.link);
        let segment = self.reading.segment.label.number;
        let mut is_unsynced = false;
        for _ in 0..2 {
            let Some(header) = self.find()?.ok().filter(|_| !is_unsynced) else {
                break;
            };
            is_unsynced = !header.after_sync;
            self.reading.pass::<Infallible>(&mut self.window, header)?;
        }
        if self.reading.segment.label.number != segment {
            self.reading.segment = replay::open(&self.disk, segment)?;
        }
        (self.reading.offset, self.reading.link) = place;
        Ok(is_unsynced)
    }

    /// Appends whole pieces to `out`, as a [`CopyCursor`](crate::CopyCursor) reads them, until there are
    /// `bytes` of them or none is left up to `upto`. One piece may go beyond `bytes`.
    ///
    /// # Errors
    /// See [`ReplayError`].
    pub fn ship(
        &mut self,
        upto: Position,
        bytes: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), JournalReadError> {
        // A segment that is empty yet is told too: then the copy has a place to go on from.
        if self.last_bytes == 0 && self.reading.offset == FIRST_OFFSET {
            out.extend_from_slice(&self.reading.segment.label.encode());
        }
        let mut segment = self.reading.segment.label.number;
        while out.len() < bytes && self.next(upto)?.is_some() {
            let label = self.reading.segment.label;
            if label.number != segment {
                segment = label.number;
                out.extend_from_slice(&label.encode());
            }
            let begin = self.reading.offset - to_u32(self.last_bytes);
            let group = self
                .window
                .bytes(&self.reading.segment, begin, self.last_bytes);
            out.extend_from_slice(group.map_err(ReplayError::Io)?);
        }
        Ok(())
    }

    /// Finds the next group. The file may have grown since it was last read.
    fn find(&mut self) -> Result<Result<Header, Broken>, JournalReadError> {
        let Self {
            disk,
            window,
            reading,
            ..
        } = self;
        if let Ok(header) = reading.find_next(disk, window, Sabotage::None)? {
            return Ok(Ok(header));
        }
        window.clear();
        let found = reading.find_next(disk, window, Sabotage::None)?;
        if found.is_ok() || reading.link.is_some() {
            return Ok(found);
        }
        // Without a link, only an offset behind a group says that the next may lie in the next segment.
        let number = reading.segment.label.number + 1;
        let numbers = replay::segment_numbers(disk).map_err(ReplayError::Io)?;
        if reading.offset == FIRST_OFFSET || !numbers.contains(&number) {
            return Ok(found);
        }
        let segment = replay::open(disk, number)?;
        match window.group(&segment, FIRST_OFFSET, None, Sabotage::None) {
            Ok(group) => {
                reading.segment = segment;
                reading.offset = FIRST_OFFSET;
                Ok(Ok(*group.header()))
            }
            Err(NoGroup::Io(error)) => Err(ReplayError::Io(error)),
            Err(NoGroup::Broken(_)) => Ok(found),
        }
    }
}
