//! What happens before a journal serves: find its end, tell a torn tail from damage, and make what
//! is kept durable.
//!
//! The end is where no group continues the chain. What lies behind it was never acknowledged, so it
//! is cut, unless a later group proves that the disk once held more: then nothing is touched and
//! the journal refuses to open.

mod scan;
mod tail;

use std::{fmt, io};

use turnstile_record::{Broken, Link};
use turnstile_types::{Position, Timestamp};

use self::scan::{End, open_segments, scan};
use self::tail::{Tail, spot, survey, zero};
use crate::preparation::{self, PrepareError, sync_directory};
use crate::sabotage::Sabotage;
use crate::segment::{self, Label, Segment, UNFINISHED, Window};
use crate::{Disk, DiskFile, snapshot};

/// What recovery found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// There was no journal: this is a new one.
    pub created: bool,
    /// The last stop was clean: a seal is the last group, and nothing lay behind it.
    pub clean: bool,
    pub segments: u32,
    /// Groups with records that are kept.
    pub groups: u64,
    pub records: u64,
    /// The position of the last record; zero when there is none.
    pub last: Position,
    /// The logged time of the last group.
    pub time: Timestamp,
    /// The length of the torn tail that was cut, from the end of the last group to the last byte
    /// that was not zero.
    pub cut_bytes: u64,
    /// Where the torn tail began.
    pub cut_at: Option<Spot>,
}

/// A byte in a file of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub file: String,
    pub offset: u32,
}

/// Why a journal does not open. Only `Locked` and `Io` may pass by themselves; all else needs
/// somebody who decides what to restore, and nothing has been changed.
#[derive(Debug)]
pub enum OpenError {
    /// Another process, or another journal in this one, has the directory.
    Locked,
    /// The disk failed.
    Io(io::Error),
    /// The thread that prepares segments did not start.
    Thread(io::Error),
    /// A segment's header is rotten, or the file has another length than it says.
    SegmentRotten { file: String },
    /// Written by a version that this code does not read.
    Version { file: String, version: u16 },
    /// A segment of another journal.
    Foreign { file: String },
    /// A segment is not there, although later ones or snapshots are.
    SegmentMissing { file: String },
    /// Damage in the middle: what is broken was durable once.
    Corrupt {
        at: Spot,
        /// The position of the first record that cannot be read.
        position: Position,
        broken: Broken,
    },
    /// The journal ends before a snapshot that was made from it.
    Behind { last: Position, snapshot: Position },
}

/// A journal's files, ready to be written.
pub(crate) struct Recovered<D: Disk> {
    pub(crate) lock: D::Lock,
    pub(crate) current: Segment<D::File>,
    pub(crate) next: Option<Segment<D::File>>,
    pub(crate) offset: u32,
    pub(crate) link: Link,
    /// The last group is a seal.
    pub(crate) is_sealed: bool,
    pub(crate) report: Report,
}

/// A journal that was looked at and not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// The journal's random number, which its snapshots carry.
    pub journal: u64,
    /// What recovery would say; a torn tail is counted and still there.
    pub report: Report,
}

/// Looks at a journal as [`Journal::open`](crate::Journal::open) does, and changes nothing; `None`
/// when there is no journal. Nobody opens it while the lock that comes with it is held.
///
/// # Errors
/// Those with which the journal would not open. While somebody has it open it is `Locked`.
pub fn inspect<D: Disk>(disk: &D) -> Result<Option<(Inspected, D::Lock)>, OpenError> {
    let lock = disk.lock_to_read().map_err(OpenError::Io)?;
    let lock = lock.ok_or(OpenError::Locked)?;
    let names = disk.list().map_err(OpenError::Io)?;
    let snapshot = newest_snapshot(&names);
    let segments = open_segments(disk, &names, snapshot)?;
    let Some(first) = segments.first() else {
        return Ok(None);
    };
    let examined = examine(&segments, snapshot, &mut Window::default(), Sabotage::None)?;
    let inspected = Inspected {
        journal: first.label.journal,
        report: examined.report,
    };
    Ok(Some((inspected, lock)))
}

pub(crate) fn recover<D: Disk>(
    disk: &D,
    segment_bytes: u32,
    sabotage: Sabotage,
) -> Result<Recovered<D>, OpenError> {
    let lock = disk.lock().map_err(OpenError::Io)?;
    let lock = lock.ok_or(OpenError::Locked)?;
    let names = disk.list().map_err(OpenError::Io)?;
    let snapshot = newest_snapshot(&names);
    let mut segments = open_segments(disk, &names, snapshot)?;
    let is_new = segments.is_empty();
    if is_new {
        segments.push(create_first(disk, segment_bytes, sabotage)?);
    }
    let mut window = Window::default();
    let Examined {
        end,
        tail,
        is_sealed,
        mut report,
    } = examine(&segments, snapshot, &mut window, sabotage)?;
    report.created = is_new;
    settle(&segments, &end, &tail, &mut window, sabotage).map_err(OpenError::Io)?;
    remove_unfinished(disk).map_err(OpenError::Io)?;
    let next = keep_one_spare(disk, &mut segments, end.index).map_err(OpenError::Io)?;
    // Entries may be in the cache only: of a process that died between a rename and its sync.
    sync_directory(disk, sabotage).map_err(OpenError::Io)?;
    let current = segments.pop().expect("the segment of the end is there");
    Ok(Recovered {
        lock,
        current,
        next,
        offset: end.offset,
        link: end.link.unwrap_or(Link::START),
        is_sealed,
        report,
    })
}

/// What is known of a journal before anything is changed.
struct Examined {
    end: End,
    tail: Tail,
    is_sealed: bool,
    report: Report,
}

fn examine<F: DiskFile>(
    segments: &[Segment<F>],
    snapshot: Option<Position>,
    window: &mut Window,
    sabotage: Sabotage,
) -> Result<Examined, OpenError> {
    let mut report = Report::default();
    let end = scan(segments, window, sabotage, &mut report)?;
    let tail = survey(segments, &end, window, sabotage)?;
    if let Some(snapshot) = snapshot.filter(|&snapshot| snapshot > report.last) {
        return Err(OpenError::Behind {
            last: report.last,
            snapshot,
        });
    }
    let is_sealed = report.clean;
    report.note_tail(segments, &end, &tail);
    Ok(Examined {
        end,
        tail,
        is_sealed,
        report,
    })
}

fn newest_snapshot(names: &[String]) -> Option<Position> {
    names
        .iter()
        .filter_map(|name| snapshot::position(name))
        .max()
}

fn create_first<D: Disk>(
    disk: &D,
    bytes: u32,
    sabotage: Sabotage,
) -> Result<Segment<D::File>, OpenError> {
    let label = Label {
        journal: disk.random().map_err(OpenError::Io)?,
        number: 1,
        bytes,
    };
    preparation::prepare(disk, label, sabotage).map_err(|error| match error {
        PrepareError::Retryable(error) | PrepareError::Final(error) => OpenError::Io(error),
    })
}

impl Report {
    fn note_tail<F>(&mut self, segments: &[Segment<F>], end: &End, tail: &Tail) {
        for (segment, start, used) in tail.parts(segments, end) {
            if used > start {
                self.cut_bytes += u64::from(used - start);
                self.clean = false;
                self.cut_at.get_or_insert_with(|| spot(segment, start));
            }
        }
    }
}

/// Cuts the tail and makes the last group durable.
///
/// The last group may be in the page cache only: a sync that failed leaves its pages there, marked
/// clean, and after a restart they read well and are gone with the next power cut. Writing them
/// again is what makes them dirty, and durable by this sync. Only the last group can be in doubt.
fn settle<F: DiskFile>(
    segments: &[Segment<F>],
    end: &End,
    tail: &Tail,
    window: &mut Window,
    sabotage: Sabotage,
) -> io::Result<()> {
    for (segment, start, used) in tail.parts(segments, end) {
        if used > start {
            zero(segment, start, used)?;
            segment.file.sync_data()?;
        }
    }
    window.clear();
    let Some(last) = end.last else { return Ok(()) };
    if sabotage.is(Sabotage::TrustPageCache) {
        return Ok(());
    }
    let segment = &segments[last.index];
    let bytes = window.bytes(segment, last.offset, last.bytes)?;
    segment.file.write_at(bytes, u64::from(last.offset))?;
    segment.file.sync_data()
}

/// Removes what a crash left half made. Other files in the directory are not ours to touch.
fn remove_unfinished<D: Disk>(disk: &D) -> io::Result<()> {
    for name in disk.list()? {
        let Some(finished) = name.strip_suffix(UNFINISHED) else {
            continue;
        };
        if segment::number(finished).is_some() || snapshot::position(finished).is_some() {
            disk.remove(&name)?;
        }
    }
    Ok(())
}

/// Leaves the end's segment last in the list and gives away the one behind it; removes any others,
/// the last first, so that no gap can be seen at any moment.
fn keep_one_spare<D: Disk>(
    disk: &D,
    segments: &mut Vec<Segment<D::File>>,
    end: usize,
) -> io::Result<Option<Segment<D::File>>> {
    while segments.len() > end + 2 {
        let spare = segments.pop().expect("it was counted");
        disk.remove(&segment::name(spare.label.number))?;
        disk.sync_directory()?;
    }
    Ok(if segments.len() > end + 1 {
        segments.pop()
    } else {
        None
    })
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.file, self.offset)
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locked => f.write_str("another process has the journal's directory"),
            Self::Io(error) => write!(f, "the journal cannot be read or written: {error}"),
            Self::Thread(error) => {
                write!(
                    f,
                    "the thread that prepares segments does not start: {error}"
                )
            }
            Self::SegmentRotten { file } => {
                write!(
                    f,
                    "{file} has no sound header, or not its length: nothing was changed"
                )
            }
            Self::Version { file, version } => write!(
                f,
                "{file} has format version {version}, which this program does not read"
            ),
            Self::Foreign { file } => write!(f, "{file} belongs to another journal"),
            Self::SegmentMissing { file } => write!(f, "{file} is missing"),
            Self::Corrupt {
                at,
                position,
                broken,
            } => write!(
                f,
                "damage in the middle of the journal: {at}, position {position}: {broken}; \
                 later groups prove that it was durable, so nothing was cut"
            ),
            Self::Behind { last, snapshot } => write!(
                f,
                "the journal ends at position {last}, before its snapshot at {snapshot}"
            ),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) | Self::Thread(error) => Some(error),
            Self::Corrupt { broken, .. } => Some(broken),
            Self::Locked
            | Self::SegmentRotten { .. }
            | Self::Version { .. }
            | Self::Foreign { .. }
            | Self::SegmentMissing { .. }
            | Self::Behind { .. } => None,
        }
    }
}
