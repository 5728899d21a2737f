//! Pieces of a copy that are on their way to their places.
//!
//! Each group says that everything before it is durable. So when several come at once, they are made durable
//! in a file of their own before the first of them is written to its segment.

use std::io;

use turnstile_record::Link;
use turnstile_types::{Position, Reader, Timestamp, put_u16, put_u32, put_u64};

use crate::pieces::{CopiedPiece, CopyCursor, CopyEnd};
use crate::preparation::{self, PrepareError};
use crate::sabotage::Sabotage;
use crate::segment::{LabelError, Segment, SegmentLabel, read_twice};
use crate::{Disk, DiskFile};

/// The file's name.
pub(crate) const NAME: &str = "pending-copy";

const MAGIC: [u8; 4] = *b"TSPC";
const VERSION: u16 = 1;

/// Magic, version, where the copy ended, the length of the pieces, and a checksum of all that and the pieces.
const HEAD_BYTES: usize = 62;

/// Makes pieces durable that follow this place.
pub(crate) fn write<D: Disk>(disk: &D, end: &CopyEnd, pieces: &[u8]) -> io::Result<()> {
    let Some(link) = end.link else {
        return Err(io::Error::other("a copy without a group is not whole"));
    };
    let mut bytes = Vec::with_capacity(HEAD_BYTES + pieces.len());
    bytes.extend_from_slice(&MAGIC);
    put_u16(&mut bytes, VERSION);
    put_u64(&mut bytes, end.journal);
    for number in [end.segment, end.segment_bytes, end.offset, link.chain] {
        put_u32(&mut bytes, number);
    }
    put_u64(&mut bytes, link.position.0);
    put_u64(&mut bytes, link.time.0);
    put_u64(&mut bytes, u64::try_from(pieces.len()).unwrap_or(u64::MAX));
    let checksum = crc32c::crc32c_append(crc32c::crc32c(&bytes), pieces);
    put_u32(&mut bytes, checksum);
    bytes.resize(HEAD_BYTES, 0);
    bytes.extend_from_slice(pieces);
    let file = match disk.open(NAME) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let file = disk.create(NAME, 0)?;
            disk.sync_directory()?;
            file
        }
        opened => opened?,
    };
    file.write_at(&bytes, 0)?;
    file.sync_data()
}

/// The pieces are in their places. It need not be durable: they may be put there once more.
pub(crate) fn forget<D: Disk>(disk: &D) -> io::Result<()> {
    disk.open(NAME)?.write_at(&[0; HEAD_BYTES], 0)
}

/// Whether pieces are pending.
pub(crate) fn is_there<D: Disk>(disk: &D) -> io::Result<bool> {
    Ok(read(disk)?.is_some_and(|bytes| decode(&bytes).is_some()))
}

/// Puts pending pieces in their places, durably, and removes their file. Where they are there already, this
/// changes nothing.
pub(crate) fn settle<D: Disk>(disk: &D) -> io::Result<()> {
    let Some(bytes) = read(disk)? else {
        return Ok(());
    };
    if let Some((end, pieces)) = decode(&bytes) {
        put(disk, end, pieces)?;
    }
    disk.remove(NAME)?;
    disk.sync_directory()
}

fn read<D: Disk>(disk: &D) -> io::Result<Option<Vec<u8>>> {
    let file = match disk.open(NAME) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let size = usize::try_from(file.size()?).map_err(io::Error::other)?;
    let mut bytes = vec![0; size];
    read_twice(&file, &mut bytes, 0)?;
    Ok(Some(bytes))
}

/// The pieces and where they go. Nothing: the file was being written when the power went, or its pieces are in their places.
fn decode(bytes: &[u8]) -> Option<(CopyEnd, &[u8])> {
    let fields = bytes.strip_prefix(&MAGIC)?;
    let mut reader = Reader::new(fields);
    let version = reader.u16("version").ok()?;
    let journal = reader.u64("journal").ok()?;
    let segment = reader.u32("segment").ok()?;
    let segment_bytes = reader.u32("length").ok()?;
    let offset = reader.u32("offset").ok()?;
    let chain = reader.u32("chain").ok()?;
    let position = Position(reader.u64("position").ok()?);
    let time = Timestamp(reader.u64("time").ok()?);
    let length = usize::try_from(reader.u64("length").ok()?).ok()?;
    let checksum = reader.u32("checksum").ok()?;
    let pieces = bytes.get(HEAD_BYTES..HEAD_BYTES.checked_add(length)?)?;
    let covered = bytes.get(..CHECKSUM_AT)?;
    let is_sound =
        version == VERSION && crc32c::crc32c_append(crc32c::crc32c(covered), pieces) == checksum;
    let end = CopyEnd {
        journal,
        segment,
        segment_bytes,
        offset,
        link: Some(Link {
            position,
            time,
            chain,
        }),
    };
    is_sound.then_some((end, pieces))
}

/// Where the checksum lies.
const CHECKSUM_AT: usize = 4 + 2 + 8 + 4 * 4 + 3 * 8;

const _: () = assert!(CHECKSUM_AT + 4 <= HEAD_BYTES, "the head has room");

fn put<D: Disk>(disk: &D, end: CopyEnd, pieces: &[u8]) -> io::Result<()> {
    let broken = |_broken| io::Error::other(format!("{NAME} does not hold what was written to it"));
    let mut cursor = CopyCursor::after(end);
    let mut rest = pieces;
    let mut segment = match Segment::open(disk, end.segment) {
        // It was removed after a snapshot, and so after the pieces were durable in their places.
        Err(LabelError::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(unreadable)?,
    };
    while let Some(piece) = cursor.take(&mut rest).map_err(broken)? {
        match piece {
            CopiedPiece::Group { offset, bytes, .. } => {
                segment.file.write_at(bytes, u64::from(offset))?;
            }
            CopiedPiece::Segment { number, bytes, .. } => {
                segment.file.sync_data()?;
                let label = SegmentLabel {
                    journal: end.journal,
                    number,
                    bytes,
                };
                // One that is there may hold more than is pending.
                segment = match Segment::open(disk, number) {
                    Ok(segment) if segment.label == label => segment,
                    _ => preparation::prepare(disk, label, Sabotage::None).map_err(|error| {
                        match error {
                            PrepareError::Retryable(error) | PrepareError::Final(error) => error,
                        }
                    })?,
                };
            }
        }
    }
    segment.file.sync_data()
}

fn unreadable(error: LabelError) -> io::Error {
    match error {
        LabelError::Io(error) => error,
        _ => io::Error::other(format!("{NAME} follows a segment that is not there")),
    }
}
