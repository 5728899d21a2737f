//! The durable mark: the last acknowledged position, kept in a file of its own.
//!
//! The groups of a journal prove each other: each says that everything before it was durable. Only
//! the last one has nothing behind it, and a damaged block takes what lies in it together. The mark
//! lies in another file, so it tells a group that was never acknowledged from one that was lost.
//!
//! It is written after each sync of the journal and before any answer leaves, and synced at the
//! start and at a clean stop. In between the system writes it when it likes: after `kill -9` it is
//! exact, after a power cut it may be some seconds old. An old mark only proves less.

use std::io;

use turnstile_types::{Position, Reader, put_u16, put_u64};

use crate::segment::read_twice;
use crate::{Disk, DiskFile};

/// The file's name.
pub(crate) const NAME: &str = "durable-end";

const MAGIC: [u8; 4] = *b"TSDE";
pub(crate) const VERSION: u16 = 1;
const SLOT_BYTES: usize = 26;

/// Two slots, written in turn, each in a block of its own: a torn write leaves the other.
const SLOTS: [u64; 2] = [0, 4096];
const FILE_BYTES: usize = 2 * 4096;

/// Why a mark says nothing.
#[derive(Debug)]
pub(crate) enum MarkError {
    Io(io::Error),
    /// Written by a version that this code does not read.
    Version(u16),
}

/// The mark of an open journal.
#[derive(Debug)]
pub(crate) struct DurableMark<F> {
    /// Nothing where the disk had no room for it; the next start tries again.
    file: Option<F>,
    journal: u64,
    /// The slot that is written next.
    slot: usize,
}

/// The last position that the journal with this number has acknowledged for sure; nothing where no
/// mark says so. Slots with a broken checksum or of another journal say nothing.
pub(crate) fn read<D: Disk>(disk: &D, journal: u64) -> Result<Option<Position>, MarkError> {
    let file = match disk.open(NAME) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(MarkError::Io(error)),
    };
    if !is_whole(&file).map_err(MarkError::Io)? {
        return Ok(None);
    }
    let mut newest = None;
    for offset in SLOTS {
        let mut bytes = [0; SLOT_BYTES];
        read_twice(&file, &mut bytes, offset).map_err(MarkError::Io)?;
        newest = newest.max(decode(&bytes, journal).map_err(MarkError::Version)?);
    }
    Ok(newest)
}

/// Whether a file has the length of a mark: one that was being made when the power went has not.
fn is_whole<F: DiskFile>(file: &F) -> io::Result<bool> {
    let bytes = u64::try_from(FILE_BYTES).expect("the file is small");
    Ok(file.size()? == bytes)
}

impl<F: DiskFile> DurableMark<F> {
    /// Makes the mark say `last`, durably but for the directory's entry.
    ///
    /// # Errors
    /// The disk fails. A full disk is none: the journal goes on without a mark.
    pub(crate) fn begin<D: Disk<File = F>>(
        disk: &D,
        journal: u64,
        last: Position,
    ) -> io::Result<Self> {
        let file = match open_or_create(disk, journal, last) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::StorageFull => None,
            Err(error) => return Err(error),
        };
        Ok(Self {
            file,
            journal,
            slot: 0,
        })
    }

    /// Notes that everything up to `last` is durable and may be acknowledged. It is not synced.
    ///
    /// # Errors
    /// The mark may be torn; the other slot still says what the last call but one did.
    pub(crate) fn write(&mut self, last: Position) -> io::Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        file.write_at(&encode(self.journal, last), SLOTS[self.slot])?;
        self.slot = (self.slot + 1) % SLOTS.len();
        Ok(())
    }

    /// Makes what was written durable.
    ///
    /// # Errors
    /// As [`DiskFile::sync_data`].
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), DiskFile::sync_data)
    }
}

fn open_or_create<D: Disk>(disk: &D, journal: u64, last: Position) -> io::Result<D::File> {
    let slot = encode(journal, last);
    let file = match disk.open(NAME) {
        Ok(file) if is_whole(&file)? => {
            // Both slots: where a loss was accepted, an older one would say that there is more.
            for offset in SLOTS {
                file.write_at(&slot, offset)?;
            }
            file
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(_) | Err(_) => {
            let mut bytes = vec![0; FILE_BYTES];
            bytes[..SLOT_BYTES].copy_from_slice(&slot);
            let file = disk.create(NAME, 0)?;
            file.write_at(&bytes, 0)?;
            file
        }
    };
    file.sync_data()?;
    Ok(file)
}

fn encode(journal: u64, last: Position) -> Vec<u8> {
    let mut out = Vec::with_capacity(SLOT_BYTES);
    out.extend_from_slice(&MAGIC);
    put_u16(&mut out, VERSION);
    put_u64(&mut out, journal);
    put_u64(&mut out, last.0);
    let checksum = crc32c::crc32c(&out);
    turnstile_types::put_u32(&mut out, checksum);
    out
}

/// The position that a slot holds, if it is one of this journal; else an unknown version.
fn decode(bytes: &[u8; SLOT_BYTES], journal: u64) -> Result<Option<Position>, u16> {
    let (covered, checksum) = bytes
        .split_last_chunk::<4>()
        .expect("a slot is longer than its checksum");
    if !covered.starts_with(&MAGIC) || crc32c::crc32c(covered) != u32::from_le_bytes(*checksum) {
        return Ok(None);
    }
    let mut reader = Reader::new(&covered[MAGIC.len()..]);
    let mut read = || -> Result<(u16, u64, u64), turnstile_types::Malformed> {
        Ok((
            reader.u16("version")?,
            reader.u64("journal")?,
            reader.u64("position")?,
        ))
    };
    match read().expect("a slot has its fixed length") {
        (VERSION, number, last) => Ok((number == journal).then_some(Position(last))),
        (version, ..) => Err(version),
    }
}
