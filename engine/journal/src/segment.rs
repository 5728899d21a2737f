//! A segment: a file of fixed size that holds groups one after the other, and how it is read.

use std::{io, sync::Arc};

use turnstile_record::{Broken, Group, HEADER_BYTES, Header, Link, Place};
use turnstile_types::{Reader, put_u16, put_u32, put_u64};

use crate::sabotage::Sabotage;
use crate::{Disk, DiskFile};

/// Where the first group begins: the segment's own header has a page for itself, so that no later
/// write touches it.
pub(crate) const FIRST_OFFSET: u32 = 4096;

/// The smallest segment: a page of header and one of groups. A segment must also hold the largest
/// record; this small, it is for simulations with small records.
pub const SEGMENT_BYTES_MIN: u32 = 2 * FIRST_OFFSET;

const MAGIC: [u8; 4] = *b"TSSG";
/// The version of segments.
pub const VERSION: u16 = 1;
pub(crate) const SEGMENT_HEADER_BYTES: usize = 26;

/// How much is read at a time.
const CHUNK_BYTES: usize = 256 * 1024;

const PREFIX: &str = "segment-";

/// The suffix of a file that is not finished; such files mean nothing and are removed at the start.
pub(crate) const UNFINISHED: &str = ".new";

/// The name of the file of the segment with this number.
#[must_use]
pub fn name(number: u32) -> String {
    format!("{PREFIX}{number:08}")
}

/// The number of a segment's file, or nothing for other files.
pub(crate) fn number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix(PREFIX)?;
    let number = digits.parse().ok()?;
    (self::name(number) == name).then_some(number)
}

/// Whether a file of a journal's directory is a segment, by its name.
#[must_use]
pub fn is_segment(name: &str) -> bool {
    number(name).is_some()
}

/// The version of the segment in a file of this name; nothing if its header is damaged.
///
/// # Errors
/// The file cannot be read.
pub fn version_of<D: Disk>(disk: &D, name: &str) -> io::Result<Option<u16>> {
    let file = disk.open(name)?;
    let mut head = [0; SEGMENT_HEADER_BYTES];
    if file.size()? < u64::from(FIRST_OFFSET) {
        return Ok(None);
    }
    read_twice(&file, &mut head, 0)?;
    match SegmentLabel::decode(&head) {
        Ok(_label) => Ok(Some(VERSION)),
        Err(LabelError::Version(version)) => Ok(Some(version)),
        Err(LabelError::Io(_) | LabelError::Rotten | LabelError::Misplaced) => Ok(None),
    }
}

/// What a segment's header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentLabel {
    pub(crate) journal: u64,
    pub(crate) number: u32,
    /// The file's length.
    pub(crate) bytes: u32,
}

/// Why a file is not the segment that its name says.
#[derive(Debug)]
pub(crate) enum LabelError {
    Io(io::Error),
    /// Not a header, or one that its own checksum denies.
    Rotten,
    Version(u16),
    /// The header is sound, but not of this file: another number or length.
    Misplaced,
}

impl SegmentLabel {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(SEGMENT_HEADER_BYTES);
        out.extend_from_slice(&MAGIC);
        put_u16(&mut out, VERSION);
        put_u64(&mut out, self.journal);
        put_u32(&mut out, self.number);
        put_u32(&mut out, self.bytes);
        let checksum = crc32c::crc32c(&out);
        put_u32(&mut out, checksum);
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, LabelError> {
        let (covered, checksum) = bytes.split_last_chunk::<4>().ok_or(LabelError::Rotten)?;
        if !covered.starts_with(&MAGIC) || crc32c::crc32c(covered) != u32::from_le_bytes(*checksum)
        {
            return Err(LabelError::Rotten);
        }
        let mut reader = Reader::new(&covered[MAGIC.len()..]);
        let mut read = || -> Result<(u16, Self), turnstile_types::Malformed> {
            let version = reader.u16("version")?;
            let label = Self {
                journal: reader.u64("journal")?,
                number: reader.u32("number")?,
                bytes: reader.u32("length")?,
            };
            Ok((version, label))
        };
        match read().expect("the header has its fixed length") {
            (VERSION, label) => Ok(label),
            (version, _) => Err(LabelError::Version(version)),
        }
    }
}

/// An open segment file whose label was checked.
#[derive(Debug)]
pub(crate) struct Segment<F> {
    pub(crate) label: SegmentLabel,
    /// Shared with the thread that carries groups to it.
    pub(crate) file: Arc<F>,
}

impl<F: DiskFile> Segment<F> {
    pub(crate) fn open<D: Disk<File = F>>(disk: &D, number: u32) -> Result<Self, LabelError> {
        let file = disk.open(&name(number)).map_err(LabelError::Io)?;
        let size = file.size().map_err(LabelError::Io)?;
        let mut head = [0; SEGMENT_HEADER_BYTES];
        if size < u64::from(FIRST_OFFSET) {
            return Err(LabelError::Misplaced);
        }
        read_twice(&file, &mut head, 0).map_err(LabelError::Io)?;
        let label = SegmentLabel::decode(&head)?;
        if label.number != number || u64::from(label.bytes) != size {
            return Err(LabelError::Misplaced);
        }
        Ok(Self {
            label,
            file: Arc::new(file),
        })
    }

    pub(crate) fn place(&self, offset: u32) -> Place {
        Place {
            journal: self.label.journal,
            segment: self.label.number,
            offset,
        }
    }
}

/// A read that fails is tried once more; a second failure is the caller's.
pub(crate) fn read_twice<F: DiskFile>(file: &F, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    match file.read_at(buffer, offset) {
        Ok(()) => Ok(()),
        Err(_first) => file.read_at(buffer, offset),
    }
}

/// A moving window over segments, one at a time; its buffer is reused.
#[derive(Debug, Default)]
pub(crate) struct Window {
    buffer: Vec<u8>,
    segment: u32,
    start: u32,
}

/// Why no group was read.
#[derive(Debug)]
pub(crate) enum NoGroup {
    Io(io::Error),
    Broken(Broken),
}

impl Window {
    /// `length` bytes from `offset` on, fewer at the segment's end.
    pub(crate) fn bytes<F: DiskFile>(
        &mut self,
        segment: &Segment<F>,
        offset: u32,
        length: usize,
    ) -> io::Result<&[u8]> {
        let left = to_usize(segment.label.bytes.saturating_sub(offset));
        let length = length.min(left);
        let inside = (self.segment == segment.label.number)
            .then(|| offset.checked_sub(self.start))
            .flatten()
            .map(to_usize)
            .filter(|&from| from + length <= self.buffer.len());
        let from = if let Some(from) = inside {
            from
        } else {
            self.segment = 0;
            self.buffer.resize(CHUNK_BYTES.max(length).min(left), 0);
            read_twice(&*segment.file, &mut self.buffer, u64::from(offset))?;
            self.segment = segment.label.number;
            self.start = offset;
            0
        };
        Ok(&self.buffer[from..from + length])
    }

    /// Forgets what it read: the file is about to change.
    pub(crate) fn clear(&mut self) {
        self.segment = 0;
    }

    /// The group that lies at `offset` and continues `link`.
    pub(crate) fn group<F: DiskFile>(
        &mut self,
        segment: &Segment<F>,
        offset: u32,
        link: Option<Link>,
        sabotage: Sabotage,
    ) -> Result<Group<'_>, NoGroup> {
        let head = self
            .bytes(segment, offset, HEADER_BYTES)
            .map_err(NoGroup::Io)?;
        let place = segment.place(offset);
        let length = announced(head, sabotage).map_err(NoGroup::Broken)?;
        let bytes = self.bytes(segment, offset, length).map_err(NoGroup::Io)?;
        parse(bytes, place, link, sabotage).map_err(NoGroup::Broken)
    }

    /// The group with this header, which was just [read](Self::group) at `offset`.
    pub(crate) fn again<F: DiskFile>(
        &mut self,
        segment: &Segment<F>,
        offset: u32,
        header: Header,
    ) -> io::Result<Group<'_>> {
        let bytes = self.bytes(segment, offset, header.group_bytes())?;
        Ok(Group::again(header, bytes))
    }
}

fn announced(head: &[u8], sabotage: Sabotage) -> Result<usize, Broken> {
    if sabotage.is(Sabotage::NoCrcCheck) {
        return Ok(turnstile_record::GROUP_BYTES_MAX);
    }
    Header::parse(head).map(|header| header.group_bytes())
}

fn parse(
    bytes: &[u8],
    place: Place,
    link: Option<Link>,
    sabotage: Sabotage,
) -> Result<Group<'_>, Broken> {
    #[cfg(feature = "sabotage")]
    if sabotage.is(Sabotage::NoCrcCheck) {
        return Group::parse_unchecked(bytes, place);
    }
    debug_assert!(!sabotage.is(Sabotage::NoCrcCheck), "handled above");
    Group::parse(bytes, place, link)
}

pub(crate) fn to_usize(bytes: u32) -> usize {
    usize::try_from(bytes).expect("an address has at least 32 bits")
}

pub(crate) fn to_u32(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("an offset in a segment has at most 32 bits")
}
