//! Pieces of a journal that is copied: the heads of its segments and its groups, each of which says where it
//! belongs.

use std::fmt;

use turnstile_record::{Broken, Group, HEADER_BYTES, Header, Link, MAGIC, Place};
use turnstile_types::{Position, Timestamp};

use crate::segment::{FIRST_OFFSET, SEGMENT_HEADER_BYTES, SegmentLabel, to_u32};

/// Where a copy ends: the next group of the journal continues it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyEnd {
    /// The journal's random number.
    pub journal: u64,
    pub segment: u32,
    /// The length of that segment.
    pub segment_bytes: u32,
    /// The byte offset behind the last group.
    pub offset: u32,
    /// Nothing in front of the first group of a journal that does not begin with its first segment.
    pub link: Option<Link>,
}

/// Where the last group of a copy lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastGroup {
    pub segment: u32,
    /// The length of that segment.
    pub segment_bytes: u32,
    /// The byte offset at which the group begins.
    pub offset: u32,
    /// The length of the group.
    pub bytes: u32,
}

/// A piece that continues a copy.
#[derive(Clone, Copy, Debug)]
pub enum CopiedPiece<'a> {
    /// The beginning of a segment's file.
    Segment {
        number: u32,
        /// The length of the whole file.
        bytes: u32,
        head: &'a [u8],
    },
    Group {
        segment: u32,
        offset: u32,
        bytes: &'a [u8],
        group: Group<'a>,
    },
}

/// Why a piece does not continue a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyBreak {
    /// The head of a segment is damaged, or of an unknown version.
    Head,
    /// A piece of another journal.
    Foreign,
    /// This segment is not the one that follows.
    Segment { expected: u32, found: u32 },
    /// A group is damaged, or does not continue the group before it.
    Group { position: Position, broken: Broken },
}

/// Reads pieces, and checks that each continues the one before: place, chain and checksums.
#[derive(Clone, Debug, Default)]
pub struct CopyCursor {
    end: Option<CopyEnd>,
    last: Option<LastGroup>,
}

impl CopyCursor {
    /// Goes on where a copy ends.
    #[must_use]
    pub const fn after(end: CopyEnd) -> Self {
        Self::recovered(end, None)
    }

    pub(crate) const fn recovered(end: CopyEnd, last: Option<LastGroup>) -> Self {
        Self {
            end: Some(end),
            last,
        }
    }

    /// Where the copy ends; nothing before its first segment.
    #[must_use]
    pub const fn end(&self) -> Option<CopyEnd> {
        self.end
    }

    /// Where the last group lies; nothing where it is not known.
    #[must_use]
    pub const fn last_group(&self) -> Option<LastGroup> {
        self.last
    }

    /// Makes sure that pieces from the place of the [last group](Self::last_group) on begin with that group, and
    /// gives what follows it. Its checksum covers the chain, so then the source has the whole history of
    /// the copy. Without a last group, `bytes` stay as they are.
    ///
    /// # Errors
    /// The source has another group there, or none.
    pub fn behind_last<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], CopyBreak> {
        let (Some(end), Some(last)) = (self.end, self.last) else {
            return Ok(bytes);
        };
        let mut there = Self::after(CopyEnd {
            segment: last.segment,
            segment_bytes: last.segment_bytes,
            offset: last.offset,
            link: None,
            ..end
        });
        let mut rest = bytes;
        loop {
            match there.take(&mut rest)? {
                Some(CopiedPiece::Segment { .. }) => {}
                Some(CopiedPiece::Group { group, .. })
                    if Some(group.header().link()) == end.link =>
                {
                    return Ok(rest);
                }
                Some(CopiedPiece::Group { .. }) | None => {
                    return Err(CopyBreak::Group {
                        position: self.position().next(),
                        broken: Broken::Chain,
                    });
                }
            }
        }
    }

    /// The last position that was copied; zero when there is none.
    #[must_use]
    pub fn position(&self) -> Position {
        let link = self.end.and_then(|end| end.link);
        Position(link.map_or(0, |link| link.position.0 - 1))
    }

    /// The logged time of the last group.
    #[must_use]
    pub fn time(&self) -> Timestamp {
        let link = self.end.and_then(|end| end.link);
        link.map_or(Timestamp(0), |link| link.time)
    }

    /// Takes the next piece from `bytes`; nothing when they are used up or hold only a part of one.
    ///
    /// # Errors
    /// The piece does not continue the copy. The cursor stays where it is.
    pub fn take<'a>(&mut self, bytes: &mut &'a [u8]) -> Result<Option<CopiedPiece<'a>>, CopyBreak> {
        if bytes.starts_with(&MAGIC) {
            self.take_group(bytes)
        } else if bytes.is_empty() {
            Ok(None)
        } else {
            self.take_segment(bytes)
        }
    }

    fn take_segment<'a>(
        &mut self,
        bytes: &mut &'a [u8],
    ) -> Result<Option<CopiedPiece<'a>>, CopyBreak> {
        let Some((head, rest)) = bytes.split_at_checked(SEGMENT_HEADER_BYTES) else {
            return Ok(None);
        };
        let label = SegmentLabel::decode(head).map_err(|_label| CopyBreak::Head)?;
        let SegmentLabel {
            journal,
            number,
            bytes: length,
        } = label;
        let mut link = (number == 1).then_some(Link::START);
        if let Some(end) = self.end {
            if end.journal != journal {
                return Err(CopyBreak::Foreign);
            }
            // The same once more: a copy that broke off behind the head of a segment.
            let is_again =
                (end.segment, end.offset, end.segment_bytes) == (number, FIRST_OFFSET, length);
            if !is_again && end.segment.checked_add(1) != Some(number) {
                return Err(CopyBreak::Segment {
                    expected: end.segment.saturating_add(1),
                    found: number,
                });
            }
            link = end.link;
        }
        *bytes = rest;
        self.end = Some(CopyEnd {
            journal,
            segment: number,
            segment_bytes: length,
            offset: FIRST_OFFSET,
            link,
        });
        Ok(Some(CopiedPiece::Segment {
            number,
            bytes: length,
            head,
        }))
    }

    fn take_group<'a>(
        &mut self,
        bytes: &mut &'a [u8],
    ) -> Result<Option<CopiedPiece<'a>>, CopyBreak> {
        let Some(end) = &mut self.end else {
            return Err(CopyBreak::Head);
        };
        if bytes.len() < HEADER_BYTES {
            return Ok(None);
        }
        let position = end.link.map_or(Position(0), |link| link.position);
        let broken = |broken| CopyBreak::Group { position, broken };
        let length = Header::parse(bytes).map_err(broken)?.group_bytes();
        let Some((group_bytes, rest)) = bytes.split_at_checked(length) else {
            return Ok(None);
        };
        let place = Place {
            journal: end.journal,
            segment: end.segment,
            offset: end.offset,
        };
        let group = Group::parse(group_bytes, place, end.link).map_err(broken)?;
        let after = u64::from(end.offset) + u64::from(to_u32(length));
        if after > u64::from(end.segment_bytes) {
            return Err(broken(Broken::Short));
        }
        let offset = end.offset;
        self.last = Some(LastGroup {
            segment: end.segment,
            segment_bytes: end.segment_bytes,
            offset,
            bytes: to_u32(length),
        });
        end.offset += to_u32(length);
        end.link = Some(group.header().link());
        *bytes = rest;
        Ok(Some(CopiedPiece::Group {
            segment: end.segment,
            offset,
            bytes: group_bytes,
            group,
        }))
    }
}

impl fmt::Display for CopyBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head => f.write_str("the head of a segment is damaged"),
            Self::Foreign => f.write_str("the source has another journal"),
            Self::Segment { expected, found } => {
                write!(
                    f,
                    "segment {expected} is expected, and segment {found} is there"
                )
            }
            Self::Group { position, broken } => {
                write!(
                    f,
                    "position {position} does not continue the copy: {broken}"
                )
            }
        }
    }
}

impl std::error::Error for CopyBreak {}
