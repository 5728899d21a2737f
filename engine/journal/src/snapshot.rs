//! Snapshots: a machine's whole state at a position, in a file that is whole or not there.

use std::{fmt, io};

use turnstile_types::{Position, Reader, Sink, Timestamp, put_u16, put_u64};

use crate::segment::{self, UNFINISHED, read_twice};
use crate::{Disk, DiskFile};

const MAGIC: [u8; 4] = *b"TSSN";
/// The version of snapshot files.
pub const VERSION: u16 = 1;
const HEADER_BYTES: usize = 62;
const PREFIX: &str = "snapshot-";

/// How much is written and read at a time.
const CHUNK_BYTES: usize = 256 * 1024;

/// What a snapshot is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Title {
    /// The journal's number.
    pub journal: u64,
    /// The last position that the state contains.
    pub position: Position,
    /// The logged time of that position's group.
    pub time: Timestamp,
    /// The hash of the state, by whoever made it.
    pub hash: u128,
}

/// A snapshot that was read and verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub title: Title,
    pub state: Vec<u8>,
}

/// Why a snapshot was not made. The journal is not touched by any of it, and another attempt may
/// succeed.
#[derive(Debug)]
pub enum WriteError {
    Io(io::Error),
    /// What was written reads back otherwise.
    Verify(Rotten),
}

/// Why a file is no snapshot of this journal.
#[derive(Debug)]
pub enum Rotten {
    Io(io::Error),
    /// The header, or its checksum, is wrong.
    Header,
    Version(u16),
    /// A snapshot of another journal or position, or another length.
    Foreign,
    /// The state's checksum is wrong.
    State,
}

/// The newest snapshot that can be believed, and those that cannot.
#[derive(Debug)]
pub struct Found {
    pub snapshot: Option<Snapshot>,
    /// Newer files that are rotten: each name with the reason.
    pub rotten: Vec<(String, Rotten)>,
}

/// The name of the file of a snapshot at this position.
#[must_use]
pub fn name(position: Position) -> String {
    format!("{PREFIX}{position:020}", position = position.0)
}

/// The position of a snapshot's file, or nothing for other files.
#[must_use]
pub fn position(name: &str) -> Option<Position> {
    let digits = name.strip_prefix(PREFIX)?;
    let position = Position(digits.parse().ok()?);
    (self::name(position) == name).then_some(position)
}

/// The positions of all snapshots, newest first, whole or not.
///
/// # Errors
/// The directory cannot be read.
pub fn positions<D: Disk>(disk: &D) -> io::Result<Vec<Position>> {
    let names = disk.list()?;
    let mut positions: Vec<Position> = names.iter().filter_map(|name| position(name)).collect();
    positions.sort_unstable_by(|a, b| b.cmp(a));
    Ok(positions)
}

/// The newest snapshot that is whole. A rotten one is passed over: the journal is kept back to the
/// older of two.
///
/// # Errors
/// The directory cannot be read.
pub fn newest<D: Disk>(disk: &D, journal: u64) -> io::Result<Found> {
    let mut rotten = Vec::new();
    for position in positions(disk)? {
        match load(disk, journal, position) {
            Ok(snapshot) => {
                return Ok(Found {
                    snapshot: Some(snapshot),
                    rotten,
                });
            }
            Err(why) => rotten.push((name(position), why)),
        }
    }
    Ok(Found {
        snapshot: None,
        rotten,
    })
}

/// Reads and verifies one snapshot.
///
/// # Errors
/// There is none at this position, or none that can be believed.
pub fn load<D: Disk>(disk: &D, journal: u64, position: Position) -> Result<Snapshot, Rotten> {
    let mut state = Vec::new();
    let title = read(disk, journal, position, |bytes| {
        state.extend_from_slice(bytes);
    })?;
    Ok(Snapshot { title, state })
}

/// Reads and verifies a snapshot that lies in memory, of whatever journal.
///
/// # Errors
/// The bytes are none that can be believed.
pub fn parse(bytes: &[u8]) -> Result<(Title, &[u8]), Rotten> {
    let (header, state) = bytes
        .split_first_chunk::<HEADER_BYTES>()
        .ok_or(Rotten::Header)?;
    let header = SnapshotHeader::decode(header)?;
    if header.state_bytes != state.len() as u64 {
        return Err(Rotten::Foreign);
    }
    if crc32c::crc32c(state) != header.state_checksum {
        return Err(Rotten::State);
    }
    Ok((header.title, state))
}

/// Checks a snapshot from its first byte to its last.
///
/// # Errors
/// As of [`load`].
pub fn verify<D: Disk>(disk: &D, journal: u64, position: Position) -> Result<Title, Rotten> {
    read(disk, journal, position, |_| {})
}

/// The version of a snapshot's file, and that of the state in it, which is the state's first byte. Of a file
/// of a newer version nobody knows where the state is. Only the header is checked.
///
/// # Errors
/// There is none at this position, or its header is damaged.
pub fn versions<D: Disk>(disk: &D, position: Position) -> Result<(u16, Option<u8>), Rotten> {
    let file = disk.open(&name(position)).map_err(Rotten::Io)?;
    let mut bytes = [0; HEADER_BYTES + 1];
    if file.size().map_err(Rotten::Io)? < bytes.len() as u64 {
        return Err(Rotten::Header);
    }
    read_twice(&file, &mut bytes, 0).map_err(Rotten::Io)?;
    let (header, state) = bytes
        .split_first_chunk()
        .expect("a header and a byte were read");
    match SnapshotHeader::decode(header) {
        Ok(_header) => Ok((VERSION, state.first().copied())),
        Err(Rotten::Version(version)) => Ok((version, None)),
        Err(rotten) => Err(rotten),
    }
}

fn read<D: Disk>(
    disk: &D,
    journal: u64,
    position: Position,
    mut each: impl FnMut(&[u8]),
) -> Result<Title, Rotten> {
    let file = disk.open(&name(position)).map_err(Rotten::Io)?;
    let size = file.size().map_err(Rotten::Io)?;
    let header_bytes = u64::try_from(HEADER_BYTES).expect("a header is small");
    let mut header = [0; HEADER_BYTES];
    if size < header_bytes {
        return Err(Rotten::Header);
    }
    read_twice(&file, &mut header, 0).map_err(Rotten::Io)?;
    let header = SnapshotHeader::decode(&header)?;
    let is_ours = header.title.journal == journal && header.title.position == position;
    if !is_ours || header_bytes.checked_add(header.state_bytes) != Some(size) {
        return Err(Rotten::Foreign);
    }
    let mut checksum = 0;
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut offset = header_bytes;
    while offset < size {
        let left = usize::try_from(size - offset).unwrap_or(usize::MAX);
        let chunk = &mut buffer[..left.min(CHUNK_BYTES)];
        read_twice(&file, chunk, offset).map_err(Rotten::Io)?;
        checksum = crc32c::crc32c_append(checksum, chunk);
        each(chunk);
        offset += u64::try_from(chunk.len()).expect("a chunk is small");
    }
    if checksum != header.state_checksum {
        return Err(Rotten::State);
    }
    Ok(header.title)
}

struct SnapshotHeader {
    title: Title,
    state_bytes: u64,
    state_checksum: u32,
}

impl SnapshotHeader {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER_BYTES);
        out.extend_from_slice(&MAGIC);
        put_u16(&mut out, VERSION);
        put_u64(&mut out, self.title.journal);
        put_u64(&mut out, self.title.position.0);
        put_u64(&mut out, self.title.time.0);
        out.extend_from_slice(&self.title.hash.to_le_bytes());
        put_u64(&mut out, self.state_bytes);
        turnstile_types::put_u32(&mut out, self.state_checksum);
        let checksum = crc32c::crc32c(&out);
        turnstile_types::put_u32(&mut out, checksum);
        out
    }

    fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Self, Rotten> {
        let (covered, checksum) = bytes.split_last_chunk::<4>().ok_or(Rotten::Header)?;
        if !covered.starts_with(&MAGIC) || crc32c::crc32c(covered) != u32::from_le_bytes(*checksum)
        {
            return Err(Rotten::Header);
        }
        let mut reader = Reader::new(&covered[MAGIC.len()..]);
        let mut read = || -> Result<(u16, Self), turnstile_types::Malformed> {
            let version = reader.u16("version")?;
            let journal = reader.u64("journal")?;
            let position = Position(reader.u64("position")?);
            let time = Timestamp(reader.u64("time")?);
            let low = u128::from(reader.u64("hash")?);
            let high = u128::from(reader.u64("hash")?);
            let header = Self {
                title: Title {
                    journal,
                    position,
                    time,
                    hash: high << 64 | low,
                },
                state_bytes: reader.u64("state length")?,
                state_checksum: reader.u32("state checksum")?,
            };
            Ok((version, header))
        };
        match read().expect("the header has its fixed length") {
            (VERSION, header) => Ok(header),
            (version, _) => Err(Rotten::Version(version)),
        }
    }
}

/// A snapshot that is being written. It is a [`Sink`] for the state; what goes wrong on the way is
/// said by [`finish`](Self::finish).
#[derive(Debug)]
pub struct Draft<D: Disk> {
    disk: D,
    journal: u64,
    position: Position,
    time: Timestamp,
    file: io::Result<D::File>,
    buffer: Vec<u8>,
    state_bytes: u64,
    state_checksum: u32,
}

impl<D: Disk> Draft<D> {
    /// Begins a snapshot of the state after `position`, whose group has the logged time `time`.
    pub fn begin(disk: D, journal: u64, position: Position, time: Timestamp) -> Self {
        let file = disk.create(&unfinished(position), 0);
        Self {
            disk,
            journal,
            position,
            time,
            file,
            buffer: Vec::with_capacity(CHUNK_BYTES),
            state_bytes: 0,
            state_checksum: 0,
        }
    }

    /// Writes the header, makes the file durable under its name, reads it again from the medium and
    /// verifies it. After that, [`retire`](crate::retire) may remove what is older.
    ///
    /// # Errors
    /// There is no snapshot, or none that can be believed.
    pub fn finish(mut self, hash: u128) -> Result<Title, WriteError> {
        let outcome = self.publish(hash).map_err(WriteError::Io).and_then(|()| {
            verify(&self.disk, self.journal, self.position).map_err(WriteError::Verify)
        });
        if outcome.is_err() {
            // Whatever is there is of no use; a rotten file that stays is passed over.
            drop(self.disk.remove(&unfinished(self.position)));
        }
        outcome
    }

    /// Removes what was written so far.
    pub fn abandon(self) {
        // What stays is half a file by its name: the next start removes it.
        drop(self.disk.remove(&unfinished(self.position)));
    }

    fn publish(&mut self, hash: u128) -> io::Result<()> {
        self.flush();
        let file = std::mem::replace(&mut self.file, Err(io::ErrorKind::NotFound.into()))?;
        let header = SnapshotHeader {
            title: Title {
                journal: self.journal,
                position: self.position,
                time: self.time,
                hash,
            },
            state_bytes: self.state_bytes,
            state_checksum: self.state_checksum,
        };
        file.write_at(&header.encode(), 0)?;
        file.sync_data()?;
        self.sync_journal()?;
        self.disk
            .rename(&unfinished(self.position), &name(self.position))?;
        self.disk.sync_directory()?;
        file.forget_cache()
    }

    /// Makes the records durable that the snapshot has: a journal that is not synced after each group
    /// could otherwise end before it after a power cut.
    fn sync_journal(&self) -> io::Result<()> {
        for name in self.disk.list()? {
            if segment::number(&name).is_none() {
                continue;
            }
            match self.disk.open(&name) {
                Ok(file) => file.sync_data()?,
                // It was let go meanwhile.
                Err(failure) if failure.kind() == io::ErrorKind::NotFound => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    fn flush(&mut self) {
        if self.buffer.is_empty() {
            return;
        }
        if let Ok(file) = &self.file {
            let header_bytes = u64::try_from(HEADER_BYTES).expect("a header is small");
            let written = file.write_at(&self.buffer, header_bytes + self.state_bytes);
            if let Err(error) = written {
                self.file = Err(error);
            }
        }
        self.state_checksum = crc32c::crc32c_append(self.state_checksum, &self.buffer);
        self.state_bytes += u64::try_from(self.buffer.len()).expect("a chunk is small");
        self.buffer.clear();
    }
}

impl<D: Disk> Sink for Draft<D> {
    fn put(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = CHUNK_BYTES - self.buffer.len();
            let (now, later) = rest.split_at(rest.len().min(room));
            self.buffer.extend_from_slice(now);
            rest = later;
            if self.buffer.len() == CHUNK_BYTES {
                self.flush();
            }
        }
    }
}

fn unfinished(position: Position) -> String {
    format!("{}{UNFINISHED}", name(position))
}

impl Rotten {
    /// Whether a newer version of this program wrote it.
    #[must_use]
    pub const fn is_newer(&self) -> bool {
        matches!(self, Self::Version(version) if *version > VERSION)
    }
}

impl fmt::Display for Rotten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the snapshot cannot be read: {error}"),
            Self::Header => f.write_str("the snapshot's header is broken"),
            Self::Version(version) if *version > VERSION => write!(
                f,
                "it was written by a newer version of this program: it has format {version}, and this \
                 program reads up to {VERSION}; start the version that wrote it"
            ),
            Self::Version(version) => {
                write!(f, "it has format {version}, which no version has written")
            }
            Self::Foreign => f.write_str("the snapshot is of another journal, place or length"),
            Self::State => f.write_str("the snapshot's checksum does not match"),
        }
    }
}

impl std::error::Error for Rotten {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Header | Self::Version(_) | Self::Foreign | Self::State => None,
        }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the snapshot cannot be written: {error}"),
            Self::Verify(rotten) => write!(f, "the snapshot was written, but: {rotten}"),
        }
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Verify(rotten) => Some(rotten),
        }
    }
}
