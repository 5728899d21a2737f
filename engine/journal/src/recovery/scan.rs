//! Scans the journal for its end: every group that continues the chain.

use turnstile_record::{Broken, Link};
use turnstile_types::Position;

use super::{OpenError, Report};
use crate::pieces::LastGroup;
use crate::sabotage::Sabotage;
use crate::segment::{self, FIRST_OFFSET, LabelError, NoGroup, Segment, Window, to_u32};
use crate::{Disk, DiskFile};

/// Where the last group that is kept lies.
#[derive(Clone, Copy)]
pub(super) struct Last {
    pub(super) index: usize,
    pub(super) offset: u32,
    pub(super) bytes: usize,
}

/// The end of the journal: where the next group would lie, and why none does.
pub(super) struct End {
    pub(super) index: usize,
    pub(super) offset: u32,
    pub(super) link: Option<Link>,
    pub(super) broken: Broken,
    /// Where the broken group begins: at the end, or, when nothing begins there, at the beginning
    /// of the next segment.
    pub(super) suspect: (usize, u32),
    pub(super) last: Option<Last>,
}

impl End {
    /// The place of the last group that is kept.
    pub(super) fn last_group<F>(&self, segments: &[Segment<F>]) -> Option<LastGroup> {
        let last = self.last?;
        let label = segments[last.index].label;
        Some(LastGroup {
            segment: label.number,
            segment_bytes: label.bytes,
            offset: last.offset,
            bytes: to_u32(last.bytes),
        })
    }
}

/// Opens all segments, without a gap from the first to the last.
pub(super) fn open_segments<D: Disk>(
    disk: &D,
    names: &[String],
    snapshot: Option<Position>,
) -> Result<Vec<Segment<D::File>>, OpenError> {
    let mut numbers: Vec<u32> = names
        .iter()
        .filter_map(|name| segment::number(name))
        .collect();
    numbers.sort_unstable();
    let missing = |number| OpenError::SegmentMissing {
        file: segment::name(number),
    };
    // Without a snapshot, everything since the first record is needed.
    if snapshot.is_none() && numbers.first().is_some_and(|&first| first != 1) {
        return Err(missing(1));
    }
    if snapshot.is_some() && numbers.is_empty() {
        return Err(missing(1));
    }
    let mut segments: Vec<Segment<D::File>> = Vec::with_capacity(numbers.len() + 1);
    for number in numbers {
        if let Some(before) = segments.last()
            && before.label.number + 1 != number
        {
            return Err(missing(before.label.number + 1));
        }
        let segment = Segment::open(disk, number).map_err(|error| refusal(number, error))?;
        if segments
            .first()
            .is_some_and(|first| first.label.journal != segment.label.journal)
        {
            return Err(OpenError::Foreign {
                file: segment::name(number),
            });
        }
        segments.push(segment);
    }
    Ok(segments)
}

pub(super) fn refusal(number: u32, error: LabelError) -> OpenError {
    let file = segment::name(number);
    match error {
        LabelError::Io(error) => OpenError::Io(error),
        LabelError::Rotten | LabelError::Misplaced => OpenError::SegmentRotten { file },
        LabelError::Version(version) => OpenError::Version {
            file,
            version,
            reads: segment::VERSION,
        },
    }
}

/// Reads group after group until none continues the chain.
pub(super) fn scan<F: DiskFile>(
    segments: &[Segment<F>],
    window: &mut Window,
    sabotage: Sabotage,
    report: &mut Report,
) -> Result<End, OpenError> {
    let first = segments.first().expect("a journal has a segment");
    let mut end = End {
        index: 0,
        offset: FIRST_OFFSET,
        link: (first.label.number == 1).then_some(Link::START),
        broken: Broken::Magic,
        suspect: (0, FIRST_OFFSET),
        last: None,
    };
    report.segments = to_u32(segments.len());
    loop {
        let here = step(segments, &mut end, window, sabotage, report, false)?;
        let Some(broken) = here else { continue };
        // A group that did not fit lies at the beginning of the next segment.
        let may_advance = end.link.is_some() && end.index + 1 < segments.len();
        let next = if may_advance {
            step(segments, &mut end, window, sabotage, report, true)?
        } else {
            Some(Broken::Magic)
        };
        let Some(broken_next) = next else { continue };
        let is_next = matches!(broken, Broken::Magic | Broken::Short)
            && matches!(
                broken_next,
                Broken::HeaderChecksum
                    | Broken::BodyChecksum
                    | Broken::Records
                    | Broken::Version(_)
                    | Broken::Unknown
            );
        (end.broken, end.suspect) = if is_next {
            (broken_next, (end.index + 1, FIRST_OFFSET))
        } else {
            (broken, (end.index, end.offset))
        };
        return Ok(end);
    }
}

/// Reads one group, at the end or at the beginning of the next segment, and moves the end past it;
/// says what is wrong when there is none.
fn step<F: DiskFile>(
    segments: &[Segment<F>],
    end: &mut End,
    window: &mut Window,
    sabotage: Sabotage,
    report: &mut Report,
    in_next: bool,
) -> Result<Option<Broken>, OpenError> {
    let (index, offset) = if in_next {
        (end.index + 1, FIRST_OFFSET)
    } else {
        (end.index, end.offset)
    };
    let group = match window.group(&segments[index], offset, end.link, sabotage) {
        Ok(group) => group,
        Err(NoGroup::Io(error)) => return Err(OpenError::Io(error)),
        Err(NoGroup::Broken(broken)) => return Ok(Some(broken)),
    };
    let header = group.header();
    let bytes = header.group_bytes();
    end.index = index;
    end.offset = offset + to_u32(bytes);
    end.link = Some(header.link());
    end.last = Some(Last {
        index,
        offset,
        bytes,
    });
    report.clean = group.is_seal();
    report.groups += u64::from(!group.is_seal());
    report.records += u64::from(header.records);
    report.last = Position(group.end().0 - 1);
    report.time = group.time();
    Ok(None)
}
