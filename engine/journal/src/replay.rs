//! Reads groups from the files, also while a writer appends.

use std::{fmt, io};

use turnstile_record::{Broken, Group, Header, Link};
use turnstile_types::Position;

use crate::recovery::Spot;
use crate::sabotage::Sabotage;
use crate::segment::{self, FIRST_OFFSET, LabelError, NoGroup, Segment, Window, to_u32};
use crate::{Disk, DiskFile};

/// Why groups could not be handed over. All but `Io` and `Caller` are final.
#[derive(Debug)]
pub enum ReplayError<E> {
    Io(io::Error),
    /// The oldest group that is kept begins after the wanted position.
    Gap {
        wanted: Position,
        oldest: Position,
    },
    /// A group has records on both sides of a position that was said to lie between groups.
    Inside(Position),
    /// A group that was durable cannot be read.
    Corrupt {
        at: Spot,
        position: Position,
        broken: Broken,
    },
    /// A segment's header is not what it was.
    SegmentRotten {
        file: String,
    },
    /// The caller's own failure.
    Caller(E),
}

/// Hands over the groups with records after `after` and up to `last`, in order, reading the files
/// only: a live journal may go on appending meanwhile. Both positions must lie between groups, and
/// everything up to `last` must be durable.
///
/// # Errors
/// See [`ReplayError`].
pub fn replay<D: Disk, E>(
    disk: &D,
    after: Position,
    last: Position,
    each: impl FnMut(&Group<'_>) -> Result<(), E>,
) -> Result<(), ReplayError<E>> {
    replay_files(disk, after, last, Sabotage::None, each)
}

pub(crate) fn replay_files<D: Disk, E>(
    disk: &D,
    after: Position,
    last: Position,
    sabotage: Sabotage,
    mut each: impl FnMut(&Group<'_>) -> Result<(), E>,
) -> Result<(), ReplayError<E>> {
    if after >= last {
        return Ok(());
    }
    let mut window = Window::default();
    let mut reading = Reading::start(disk, after, &mut window)?;
    loop {
        let group = reading.next(disk, &mut window, sabotage)?;
        let end = group.end();
        if end.0 > after.0 + 1 && !group.is_seal() {
            if group.first() <= after {
                return Err(ReplayError::Inside(after));
            }
            if end.0 > last.0 + 1 {
                return Err(ReplayError::Inside(last));
            }
            each(&group).map_err(ReplayError::Caller)?;
        }
        if end.0 == last.0 + 1 {
            return Ok(());
        }
    }
}

/// Where a reader is.
#[derive(Debug)]
pub(crate) struct Reading<F> {
    pub(crate) segment: Segment<F>,
    pub(crate) offset: u32,
    pub(crate) link: Option<Link>,
}

impl<F: DiskFile> Reading<F> {
    /// The last segment that begins at or before the record after `after`.
    pub(crate) fn start<D: Disk<File = F>, E>(
        disk: &D,
        after: Position,
        window: &mut Window,
    ) -> Result<Self, ReplayError<E>> {
        let mut numbers = segment_numbers(disk).map_err(ReplayError::Io)?;
        let mut oldest = Position(u64::MAX);
        while let Some(number) = numbers.pop() {
            let segment = open(disk, number)?;
            let first = first_position(&segment, window).map_err(ReplayError::Io)?;
            if first.is_some_and(|first| first <= after.next()) {
                let link = (number == 1).then_some(Link::START);
                return Ok(Self {
                    segment,
                    offset: FIRST_OFFSET,
                    link,
                });
            }
            oldest = first.unwrap_or(oldest);
        }
        Err(ReplayError::Gap {
            wanted: after.next(),
            oldest,
        })
    }

    /// The next group; it must be there.
    fn next<'w, D: Disk<File = F>, E>(
        &mut self,
        disk: &D,
        window: &'w mut Window,
        sabotage: Sabotage,
    ) -> Result<Group<'w>, ReplayError<E>> {
        let header = self.find_next(disk, window, sabotage)?;
        let header = header.map_err(|broken| self.corrupt(broken))?;
        self.pass(window, header)
    }

    /// Moves to where the next group lies, here or at the beginning of the next segment, and gives its
    /// header, or says what is wrong when there is none.
    pub(crate) fn find_next<D: Disk<File = F>, E>(
        &mut self,
        disk: &D,
        window: &mut Window,
        sabotage: Sabotage,
    ) -> Result<Result<Header, Broken>, ReplayError<E>> {
        match window.group(&self.segment, self.offset, self.link, sabotage) {
            Ok(group) => Ok(Ok(*group.header())),
            Err(NoGroup::Io(error)) => Err(ReplayError::Io(error)),
            Err(NoGroup::Broken(broken)) => Ok(self.advance(disk, window, sabotage)?.ok_or(broken)),
        }
    }

    /// Moves past the group that was found here, and gives it.
    pub(crate) fn pass<'w, E>(
        &mut self,
        window: &'w mut Window,
        header: Header,
    ) -> Result<Group<'w>, ReplayError<E>> {
        let group = window.again(&self.segment, self.offset, header);
        let group = group.map_err(ReplayError::Io)?;
        self.offset += to_u32(header.group_bytes());
        self.link = Some(header.link());
        Ok(group)
    }

    /// Goes to the next segment when the chain continues there, and gives the header of its first group.
    fn advance<D: Disk<File = F>, E>(
        &mut self,
        disk: &D,
        window: &mut Window,
        sabotage: Sabotage,
    ) -> Result<Option<Header>, ReplayError<E>> {
        let number = self.segment.label.number + 1;
        let numbers = segment_numbers(disk).map_err(ReplayError::Io)?;
        if self.link.is_none() || !numbers.contains(&number) {
            return Ok(None);
        }
        let segment = open(disk, number)?;
        match window.group(&segment, FIRST_OFFSET, self.link, sabotage) {
            Ok(group) => {
                self.segment = segment;
                self.offset = FIRST_OFFSET;
                Ok(Some(*group.header()))
            }
            Err(NoGroup::Io(error)) => Err(ReplayError::Io(error)),
            Err(NoGroup::Broken(_)) => Ok(None),
        }
    }

    pub(crate) fn corrupt<E>(&self, broken: Broken) -> ReplayError<E> {
        ReplayError::Corrupt {
            at: Spot {
                file: segment::name(self.segment.label.number),
                offset: self.offset,
            },
            position: self.link.map_or(Position(0), |link| link.position),
            broken,
        }
    }
}

/// All segments' numbers, ascending.
pub(crate) fn segment_numbers<D: Disk>(disk: &D) -> io::Result<Vec<u32>> {
    let names = disk.list()?;
    let mut numbers: Vec<u32> = names
        .iter()
        .filter_map(|name| segment::number(name))
        .collect();
    numbers.sort_unstable();
    Ok(numbers)
}

pub(crate) fn open<D: Disk, E>(disk: &D, number: u32) -> Result<Segment<D::File>, ReplayError<E>> {
    Segment::open(disk, number).map_err(|error| match error {
        LabelError::Io(error) => ReplayError::Io(error),
        LabelError::Rotten | LabelError::Misplaced | LabelError::Version(_) => {
            ReplayError::SegmentRotten {
                file: segment::name(number),
            }
        }
    })
}

/// The position of a segment's first record, when its first group has a sound header.
pub(crate) fn first_position<F: DiskFile>(
    segment: &Segment<F>,
    window: &mut Window,
) -> io::Result<Option<Position>> {
    let bytes = window.bytes(segment, FIRST_OFFSET, turnstile_record::HEADER_BYTES)?;
    let place = segment.place(FIRST_OFFSET);
    Ok(Header::parse(bytes)
        .ok()
        .filter(|header| header.continues(place, None).is_ok())
        .map(|header| header.first))
}

impl<E> ReplayError<E> {
    /// The caller's own failure, or the journal's.
    ///
    /// # Errors
    /// It is not the caller's.
    pub fn into_caller<O>(self) -> Result<E, ReplayError<O>> {
        Err(match self {
            Self::Caller(own) => return Ok(own),
            Self::Io(error) => ReplayError::Io(error),
            Self::Gap { wanted, oldest } => ReplayError::Gap { wanted, oldest },
            Self::Inside(position) => ReplayError::Inside(position),
            Self::Corrupt {
                at,
                position,
                broken,
            } => ReplayError::Corrupt {
                at,
                position,
                broken,
            },
            Self::SegmentRotten { file } => ReplayError::SegmentRotten { file },
        })
    }
}

impl<E: fmt::Display> fmt::Display for ReplayError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the journal cannot be read: {error}"),
            Self::Gap { wanted, oldest } => write!(
                f,
                "position {wanted} is not kept; the oldest group begins at {oldest}"
            ),
            Self::Inside(position) => {
                write!(f, "position {position} lies inside a group")
            }
            Self::Corrupt {
                at,
                position,
                broken,
            } => write!(
                f,
                "damage in the journal: {at}, position {position}: {broken}"
            ),
            Self::SegmentRotten { file } => write!(f, "{file} has no sound header"),
            Self::Caller(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for ReplayError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Corrupt { broken, .. } => Some(broken),
            Self::Caller(error) => Some(error),
            Self::Gap { .. } | Self::Inside(_) | Self::SegmentRotten { .. } => None,
        }
    }
}
