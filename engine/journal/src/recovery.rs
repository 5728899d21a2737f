//! What happens before a journal serves: find its end, tell a torn tail from damage, and make what
//! is kept durable.
//!
//! The end is where no group continues the chain. A torn tail behind it is cut, unless a later group
//! or the durable mark proves that the disk once held more: then nothing is touched and the journal
//! refuses to open, until its caller accepts exactly that loss.

mod acknowledged;
mod scan;
mod tail;

use std::{fmt, io};

use turnstile_record::{Broken, Link};
use turnstile_types::{Position, Timestamp};

pub use self::acknowledged::{acknowledged, journal_id};
use self::scan::{End, open_segments, scan};
use self::tail::{Tail, spot, survey, zero};
use crate::mark::{self, DurableMark, MarkError};
use crate::pending;
use crate::pieces::LastGroup;
use crate::preparation::{self, PrepareError, sync_directory};
use crate::sabotage::Sabotage;
use crate::segment::{self, Segment, SegmentLabel, UNFINISHED, Window};
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
    /// The last position that was acknowledged for sure, as the durable mark says; nothing without
    /// a mark. It is exact unless the power failed since.
    pub acknowledged: Option<Position>,
    /// Acknowledged records that are lost: the caller accepted that.
    pub lost: u64,
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
    /// It is a copy, and some of its groups are not in their places yet. A start puts them there.
    Pending,
    /// The thread that prepares segments did not start, or the one that replays keys.
    Thread(io::Error),
    /// A segment's header is rotten, or the file has another length than it says.
    SegmentRotten { file: String },
    /// Written by a version that this code does not read: it reads up to `reads`.
    Version {
        file: String,
        version: u16,
        reads: u16,
    },
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
    /// The end of the journal is gone: records that were acknowledged are not there.
    Lost {
        /// Where the journal ends now.
        at: Spot,
        /// The last position that is there.
        last: Position,
        /// The last position that was acknowledged, at the least.
        acknowledged: Position,
    },
    /// The journal ends before a snapshot that was made from it.
    Behind { last: Position, snapshot: Position },
}

/// A journal's files, ready to be written.
pub(crate) struct Recovered<D: Disk> {
    pub(crate) current: Segment<D::File>,
    pub(crate) next: Option<Segment<D::File>>,
    pub(crate) offset: u32,
    pub(crate) link: Link,
    pub(crate) last: Option<LastGroup>,
    /// The last group is a seal.
    pub(crate) is_sealed: bool,
    pub(crate) mark: DurableMark<D::File>,
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
    if pending::is_there(disk).map_err(OpenError::Io)? {
        return Err(OpenError::Pending);
    }
    let names = disk.list().map_err(OpenError::Io)?;
    let snapshot = newest_snapshot(&names);
    let segments = open_segments(disk, &names, snapshot)?;
    let Some(first) = segments.first() else {
        return Ok(None);
    };
    let journal = first.label.journal;
    let known = Known {
        snapshot,
        acknowledged: read_mark(disk, journal)?,
        accept_loss: None,
    };
    let examined = examine(&segments, &known, &mut Window::default(), Sabotage::None)?;
    let inspected = Inspected {
        journal,
        report: examined.report,
    };
    Ok(Some((inspected, lock)))
}

/// Takes a directory for this process, and changes nothing in it yet.
///
/// # Errors
/// Another holder, or a failing disk.
pub fn take<D: Disk>(disk: &D) -> Result<D::Lock, OpenError> {
    let lock = disk.lock().map_err(OpenError::Io)?;
    lock.ok_or(OpenError::Locked)
}

/// Recovers a directory whose lock the caller holds.
pub(crate) fn recover<D: Disk>(
    disk: &D,
    segment_bytes: u32,
    accept_loss: Option<Position>,
    sabotage: Sabotage,
) -> Result<Recovered<D>, OpenError> {
    pending::settle(disk).map_err(OpenError::Io)?;
    let names = disk.list().map_err(OpenError::Io)?;
    let snapshot = newest_snapshot(&names);
    let mut segments = open_segments(disk, &names, snapshot)?;
    let is_new = segments.is_empty();
    if is_new {
        segments.push(create_first(disk, segment_bytes, sabotage)?);
    }
    let journal = segments[0].label.journal;
    let known = Known {
        snapshot,
        acknowledged: read_mark(disk, journal)?,
        accept_loss,
    };
    let mut window = Window::default();
    let Examined {
        end,
        tail,
        is_sealed,
        mut report,
    } = examine(&segments, &known, &mut window, sabotage)?;
    report.created = is_new;
    settle(&segments, &end, &tail, &mut window, sabotage).map_err(OpenError::Io)?;
    remove_unfinished(disk).map_err(OpenError::Io)?;
    let last = end.last_group(&segments);
    let next = keep_one_spare(disk, &mut segments, end.index).map_err(OpenError::Io)?;
    let mark = DurableMark::begin(disk, journal, report.last).map_err(OpenError::Io)?;
    // Entries may be in the cache only: of a process that died between a rename and its sync.
    sync_directory(disk, sabotage).map_err(OpenError::Io)?;
    let current = segments.pop().expect("the segment of the end is there");
    Ok(Recovered {
        current,
        next,
        offset: end.offset,
        link: end.link.unwrap_or(Link::START),
        last,
        is_sealed,
        mark,
        report,
    })
}

/// What is known of a journal beside its segments.
struct Known {
    /// The position of the newest snapshot.
    snapshot: Option<Position>,
    /// What the durable mark says.
    acknowledged: Option<Position>,
    /// A loss of all that comes after this position is accepted, and no other.
    accept_loss: Option<Position>,
}

fn read_mark<D: Disk>(disk: &D, journal: u64) -> Result<Option<Position>, OpenError> {
    mark::read(disk, journal).map_err(|error| match error {
        MarkError::Io(error) => OpenError::Io(error),
        MarkError::Version(version) => OpenError::Version {
            file: mark::NAME.to_owned(),
            version,
            reads: mark::VERSION,
        },
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
    known: &Known,
    window: &mut Window,
    sabotage: Sabotage,
) -> Result<Examined, OpenError> {
    let mut report = Report {
        acknowledged: known.acknowledged,
        ..Report::default()
    };
    let end = scan(segments, window, sabotage, &mut report)?;
    let accepts = end.link.is_some() && known.accept_loss == Some(report.last)
        || sabotage.is(Sabotage::CutMiddleRot);
    let tail = survey(segments, &end, window, accepts, sabotage)?;
    let acknowledged = tail.proven.max(known.acknowledged.unwrap_or_default());
    report.lost = acknowledged.0.saturating_sub(report.last.0);
    if report.lost > 0 && !accepts {
        return Err(OpenError::Lost {
            at: spot(&segments[end.index], end.offset),
            last: report.last,
            acknowledged,
        });
    }
    let snapshot = known.snapshot;
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
    let label = SegmentLabel {
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
            Self::Pending => f.write_str(
                "this copy of a journal was stopped while groups came: go on following, or start the \
                 server on it once",
            ),
            Self::Thread(error) => {
                write!(f, "a thread that the journal needs does not start: {error}")
            }
            Self::SegmentRotten { file } => {
                write!(
                    f,
                    "{file} has no sound header, or not its length: nothing was changed"
                )
            }
            Self::Version {
                file,
                version,
                reads,
            } if version > reads => write!(
                f,
                "{file} was written by a newer version of this program: it has format {version}, and \
                 this program reads up to {reads}; start the version that wrote it"
            ),
            Self::Version { file, version, .. } => {
                write!(
                    f,
                    "{file} has format {version}, which no version has written"
                )
            }
            Self::Foreign { file } => write!(f, "{file} belongs to another journal"),
            Self::SegmentMissing { file } => write!(f, "{file} is missing"),
            Self::Corrupt {
                at,
                position,
                broken,
            } => write!(
                f,
                "damage in the middle of the journal: {at}, position {position}: {broken}; \
                 later groups prove that it was durable, so nothing was cut: restore the directory \
                 from a backup{}",
                Salvage(position.0.checked_sub(1).filter(|_| broken.is_damage()))
            ),
            Self::Lost {
                at,
                last,
                acknowledged,
            } => write!(
                f,
                "acknowledged records are lost: the journal ends at position {last}, {at}, and was \
                 acknowledged up to position {acknowledged}; nothing was changed: restore the \
                 directory from a backup{}",
                Salvage(Some(last.0))
            ),
            Self::Behind { last, snapshot } => write!(
                f,
                "the journal ends at position {last}, before its snapshot at {snapshot}"
            ),
        }
    }
}

/// How to serve without what comes after a position.
struct Salvage(Option<u64>);

impl fmt::Display for Salvage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => Ok(()),
            Some(last) => write!(
                f,
                ", or start the server once with --accept-loss {last} to give up all that comes after \
                 position {last}"
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
            | Self::Pending
            | Self::SegmentRotten { .. }
            | Self::Version { .. }
            | Self::Foreign { .. }
            | Self::SegmentMissing { .. }
            | Self::Lost { .. }
            | Self::Behind { .. } => None,
        }
    }
}
