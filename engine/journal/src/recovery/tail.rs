//! Examines the bytes after the end: a torn tail, or damage.

use std::io;

use turnstile_record::{Broken, HEADER_BYTES, Header, MAGIC};
use turnstile_types::Position;

use super::scan::End;
use super::{OpenError, Spot};
use crate::DiskFile;
use crate::sabotage::Sabotage;
use crate::segment::{self, FIRST_OFFSET, Segment, Window, to_u32, to_usize};

/// How much is looked at, or zero-filled, at a time.
const STEP_BYTES: usize = 64 * 1024;

/// What lies behind the end: for each segment from the end's on, up to where it is not zero.
pub(super) struct Tail {
    /// Exclusive; equal to where the tail begins when all is zero.
    used: Vec<u32>,
    /// The last position behind the end that was durable once; zero when nothing proves one.
    pub(super) proven: Position,
}

/// Looks at everything behind the end, for what is not zero and for proof that more was durable.
/// Proven damage is an error, unless the caller accepts the loss of what cannot be read.
pub(super) fn survey<F: DiskFile>(
    segments: &[Segment<F>],
    end: &End,
    window: &mut Window,
    accepts: bool,
    sabotage: Sabotage,
) -> Result<Tail, OpenError> {
    if let Broken::Version(version) = end.broken {
        return Err(OpenError::Version {
            file: segment::name(segments[end.suspect.0].label.number),
            version,
            reads: turnstile_record::VERSION,
        });
    }
    let is_damage = end.broken.is_damage();
    let mut is_proven = !is_damage;
    let mut proven = Position(0);
    let mut used = Vec::with_capacity(segments.len() - end.index);
    for (index, segment) in segments.iter().enumerate().skip(end.index) {
        let start = if index == end.index {
            end.offset
        } else {
            FIRST_OFFSET
        };
        let seen = survey_segment(segment, start, window, |header, offset| {
            if proves_more(header, segment, offset, end) {
                is_proven = true;
                proven = proven.max(Position(header.link().position.0 - 1));
            }
        });
        used.push(seen.map_err(OpenError::Io)?);
    }
    let may_cut = accepts && is_damage || sabotage.is(Sabotage::CutMiddleRot);
    if is_proven && !may_cut {
        return Err(OpenError::Corrupt {
            at: spot(&segments[end.suspect.0], end.suspect.1),
            position: end.link.map_or(Position(0), |link| link.position),
            broken: end.broken,
        });
    }
    Ok(Tail { used, proven })
}

impl Tail {
    /// Each segment from the end's on, with where the tail begins and ends in it.
    pub(super) fn parts<'a, F>(
        &'a self,
        segments: &'a [Segment<F>],
        end: &'a End,
    ) -> impl Iterator<Item = (&'a Segment<F>, u32, u32)> {
        let behind = segments.iter().skip(end.index).zip(&self.used);
        behind.enumerate().map(|(index, (segment, &used))| {
            let start = if index == 0 { end.offset } else { FIRST_OFFSET };
            (segment, start, used)
        })
    }
}

pub(super) fn spot<F>(segment: &Segment<F>, offset: u32) -> Spot {
    Spot {
        file: segment::name(segment.label.number),
        offset,
    }
}

/// Whether a header behind the end proves that the missing group was durable once.
fn proves_more<F: DiskFile>(header: &Header, segment: &Segment<F>, offset: u32, end: &End) -> bool {
    let place = segment.place(offset);
    if header.place.journal != place.journal {
        return false;
    }
    // Without a link nothing is known, not even that this is the first group.
    let Some(link) = end.link else { return true };
    if header.first < link.position {
        return false;
    }
    if header.place != place {
        return true; // A misdirected write: this disk is not to be believed.
    }
    // A group that continues the chain is the torn one itself: its body is broken.
    header.after_sync && header.continues(place, end.link).is_err()
}

/// Calls `found` for each sound header from `start` on; says where the last byte that is not zero
/// ends, or `start`.
fn survey_segment<F: DiskFile>(
    segment: &Segment<F>,
    start: u32,
    window: &mut Window,
    mut found: impl FnMut(&Header, u32),
) -> io::Result<u32> {
    let mut used = start;
    let mut offset = start;
    while offset < segment.label.bytes {
        // Headers may begin in one step and end in the next.
        let bytes = window.bytes(segment, offset, STEP_BYTES + HEADER_BYTES - 1)?;
        let step = &bytes[..bytes.len().min(STEP_BYTES)];
        if let Some(last) = last_used(step) {
            used = offset + to_u32(last) + 1;
            for at in magic_offsets(step.len(), bytes) {
                if let Ok(header) = Header::parse(&bytes[at..]) {
                    found(&header, offset + to_u32(at));
                }
            }
        }
        offset += to_u32(step.len());
    }
    Ok(used)
}

/// The index of the last byte that is not zero.
fn last_used(bytes: &[u8]) -> Option<usize> {
    const ZEROS: [u8; 4096] = [0; 4096];
    // Whole blocks are compared at once: nearly all of them are empty.
    let mut blocks = bytes.chunks(ZEROS.len()).enumerate().rev();
    let (block, content) = blocks.find(|&(_, content)| content != &ZEROS[..content.len()])?;
    let last = content.iter().rposition(|&byte| byte != 0)?;
    Some(block * ZEROS.len() + last)
}

/// Where, before `end`, the first bytes of a group are.
fn magic_offsets(end: usize, bytes: &[u8]) -> impl Iterator<Item = usize> {
    let [first, ..] = MAGIC;
    bytes[..end]
        .iter()
        .enumerate()
        .filter(move |&(_, &byte)| byte == first)
        .map(|(at, _)| at)
        .filter(|&at| bytes[at..].starts_with(&MAGIC))
}

pub(super) fn zero<F: DiskFile>(segment: &Segment<F>, start: u32, used: u32) -> io::Result<()> {
    let zeros = [0; STEP_BYTES];
    let mut offset = start;
    while offset < used {
        let length = to_usize(used - offset).min(STEP_BYTES);
        segment.file.write_at(&zeros[..length], u64::from(offset))?;
        offset += to_u32(length);
    }
    Ok(())
}
