//! Where a journal is copied from.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use turnstile_embedded::{HeldJournal, ID_CHECK_FILE, VerifyError, id_key_of};
use turnstile_journal::{
    Disk as _, DiskFile as _, JournalReadError, JournalReader, OpenError, RealDisk, segment_name,
    snapshot,
};
use turnstile_types::Position;
use zeroize::Zeroizing;

/// Bytes of pieces, or of a snapshot, that are handed over at once; one group more at the most.
pub const PIECES_BYTES: usize = 4 * 1_024 * 1_024;

/// The byte offset of the first group of a segment.
const FIRST_GROUP: u32 = 4_096;

/// The version of a description.
const FORMAT: u32 = 1;

/// From where on pieces are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PiecesPlace {
    pub segment: u32,
    /// The byte offset behind the last group that the copy has.
    pub offset: u32,
    /// The last position that the copy has.
    pub after: u64,
}

/// Where a copy may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyStart {
    /// The position of the snapshot that the copy begins with; zero for none.
    pub snapshot: u64,
    /// The length of its file.
    pub snapshot_bytes: u64,
    pub place: PiecesPlace,
}

/// What there is to copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceDescription {
    pub format: u32,
    /// The version of the program that describes it.
    pub program: String,
    /// The journal's random number, in 16 hexadecimal digits.
    pub journal: String,
    /// The last position that was acknowledged.
    pub last: u64,
    /// The best first.
    pub starts: Vec<CopyStart>,
    /// The content of `id.check` in hexadecimal digits; empty where there is none.
    pub id_check: String,
}

/// JournalPieces of a journal, as a [`CopyCursor`](turnstile_journal::CopyCursor) reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalPieces {
    /// The last position that the source had acknowledged.
    pub last: u64,
    pub bytes: Vec<u8>,
}

impl JournalPieces {
    /// As one text of bytes: the position, and what follows it.
    #[must_use]
    pub fn encode(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 + self.bytes.len());
        bytes.extend_from_slice(&self.last.to_le_bytes());
        bytes.extend_from_slice(&self.bytes);
        bytes
    }

    /// Reads what [`encode`](Self::encode) has written; nothing when it is too short.
    #[must_use]
    pub fn decode(mut bytes: Vec<u8>) -> Option<Self> {
        let (last, _) = bytes.split_first_chunk::<8>()?;
        let last = u64::from_le_bytes(*last);
        bytes.drain(..8);
        Some(Self { last, bytes })
    }
}

/// Why a source gives nothing.
#[derive(Debug)]
pub enum SourceError {
    /// What was asked for is not kept any more.
    Gone,
    /// Its journal is damaged.
    Damaged(String),
    /// It has nothing that can be copied, or is of a newer version.
    Unsuitable(String),
    Io(io::Error),
    /// It was not reached, or refused; a later try may succeed if `is_passing`.
    Away {
        cause: Box<dyn std::error::Error + Send + Sync>,
        is_passing: bool,
    },
}

/// A journal that is copied, with its snapshots.
///
/// Contract. JournalPieces continue each other from the place that is named. What is told as acknowledged MUST be
/// among the pieces by then, and nothing MUST be handed over that was not acknowledged. A source may drop
/// old segments and snapshots at any time, and then answers [`SourceError::Gone`].
pub trait BackupSource {
    /// What there is.
    ///
    /// # Errors
    /// As of [`SourceError`].
    fn describe(&mut self) -> Result<SourceDescription, SourceError>;

    /// Some of the pieces after a place; no bytes at the end.
    ///
    /// # Errors
    /// As of [`SourceError`].
    fn pieces(&mut self, place: PiecesPlace) -> Result<JournalPieces, SourceError>;

    /// Some bytes of a snapshot's file, from an offset on; none at its end.
    ///
    /// # Errors
    /// As of [`SourceError`].
    fn snapshot(&mut self, position: u64, offset: u64) -> Result<Vec<u8>, SourceError>;

    /// The secret of the id numbers, where the source gives it away.
    ///
    /// # Errors
    /// It cannot be read, or is the wrong one.
    fn id_key(&mut self) -> Result<Option<Zeroizing<Vec<u8>>>, SourceError>;
}

/// Describes a directory whose journal may be copied up to `last`.
///
/// # Errors
/// The directory cannot be read, or is damaged.
pub fn describe(directory: &Path, last: Position) -> Result<SourceDescription, SourceError> {
    let disk = RealDisk::open(directory)?;
    let journal = turnstile_journal::journal_id(&disk);
    let journal = journal.map_err(|error| SourceError::Damaged(error.to_string()))?;
    let journal = journal.ok_or_else(|| SourceError::from(VerifyError::NoJournal))?;
    let id_check = match std::fs::read(directory.join(ID_CHECK_FILE)) {
        Ok(bytes) => to_hex(&bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error.into()),
    };
    let mut snapshots = snapshot::positions(&disk)?;
    snapshots.retain(|position| *position <= last);
    let mut starts = Vec::new();
    for position in snapshots {
        starts.extend(start(&disk, position)?);
    }
    starts.extend(start(&disk, Position(0))?);
    if starts.is_empty() {
        return Err(SourceError::Damaged(
            "no snapshot is there, and the journal does not begin with its first record".to_owned(),
        ));
    }
    Ok(SourceDescription {
        format: FORMAT,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        journal: journal_text(journal),
        last: last.0,
        starts,
        id_check,
    })
}

/// A start with this snapshot, or without one, if what comes after it is kept.
fn start(disk: &RealDisk, position: Position) -> Result<Option<CopyStart>, SourceError> {
    match JournalReader::open(disk.clone(), position) {
        Ok(reader) => Ok(Some(CopyStart {
            snapshot: position.0,
            snapshot_bytes: match position {
                Position(0) => 0,
                position => disk.bytes(&snapshot::name(position)),
            },
            place: PiecesPlace {
                segment: reader.segment(),
                offset: FIRST_GROUP,
                after: reader.position().0,
            },
        })),
        Err(JournalReadError::Gap { .. }) => Ok(None),
        Err(failure) => Err(failure.into()),
    }
}

/// Some of the pieces after a place, up to `last`.
///
/// # Errors
/// The place is not kept any more, or damaged.
pub fn pieces_after(
    directory: &Path,
    place: PiecesPlace,
    last: Position,
) -> Result<JournalPieces, SourceError> {
    let disk = RealDisk::open(directory)?;
    let after = Position(place.after);
    let mut pieces = JournalPieces {
        last: last.0,
        bytes: Vec::new(),
    };
    let reader = JournalReader::at(disk, place.segment, place.offset, after);
    let mut reader = match reader {
        Err(JournalReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
            return Err(SourceError::Gone);
        }
        reader => reader?,
    };
    let shipped = reader.ship(last, PIECES_BYTES, &mut pieces.bytes);
    shipped.map_err(|failure| match failure.into() {
        // Where a copy ends, a group of its own history would end too.
        SourceError::Damaged(cause) if reader.position() == after => {
            SourceError::Damaged(format!("{cause}; or the copy is of another history"))
        }
        failure => failure,
    })?;
    Ok(pieces)
}

/// Some bytes of a snapshot's file, from an offset on; none at its end.
///
/// # Errors
/// There is no such snapshot any more.
pub fn snapshot_part(
    directory: &Path,
    position: Position,
    offset: u64,
) -> Result<Vec<u8>, SourceError> {
    let disk = RealDisk::open(directory)?;
    let file = match disk.open(&snapshot::name(position)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(SourceError::Gone),
        file => file?,
    };
    let left = file.size()?.saturating_sub(offset);
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    let mut bytes = vec![0; left.min(PIECES_BYTES)];
    file.read_at(&mut bytes, offset)?;
    Ok(bytes)
}

/// A directory of this machine; a server may use it.
#[derive(Debug)]
pub struct DirectorySource {
    directory: PathBuf,
    held: HeldJournal,
}

impl DirectorySource {
    /// Looks how far the directory can be copied. No server can start on it until this is dropped, unless
    /// one uses it already.
    ///
    /// # Errors
    /// There is no journal, or it is damaged.
    pub fn open(directory: &Path) -> Result<Self, VerifyError> {
        Ok(Self {
            directory: directory.to_owned(),
            held: HeldJournal::find(directory)?,
        })
    }

    /// How far the journal goes, and whether a server uses it.
    #[must_use]
    pub const fn held(&self) -> &HeldJournal {
        &self.held
    }
}

impl BackupSource for DirectorySource {
    fn describe(&mut self) -> Result<SourceDescription, SourceError> {
        describe(&self.directory, self.held.last)
    }

    fn pieces(&mut self, place: PiecesPlace) -> Result<JournalPieces, SourceError> {
        pieces_after(&self.directory, place, self.held.last)
    }

    fn snapshot(&mut self, position: u64, offset: u64) -> Result<Vec<u8>, SourceError> {
        snapshot_part(&self.directory, Position(position), offset)
    }

    fn id_key(&mut self) -> Result<Option<Zeroizing<Vec<u8>>>, SourceError> {
        let key = id_key_of(&self.directory, self.held.journal);
        let key = key.map_err(|refused| SourceError::Unsuitable(refused.to_string()))?;
        Ok(Some(Zeroizing::new(key.secret().to_vec())))
    }
}

/// The number of a journal as text.
pub(crate) fn journal_text(journal: u64) -> String {
    format!("{journal:016x}")
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads what [`to_hex`] has written.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|pair| {
            let pair = str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
            u8::from_str_radix(pair, 16).ok()
        })
        .collect()
}

impl From<io::Error> for SourceError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<JournalReadError> for SourceError {
    fn from(failure: JournalReadError) -> Self {
        match failure {
            JournalReadError::Io(error) => Self::Io(error),
            JournalReadError::Gap { .. } => Self::Gone,
            failure => Self::Damaged(failure.to_string()),
        }
    }
}

impl From<VerifyError> for SourceError {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Open(turnstile_embedded::BackendOpenError::Journal(OpenError::Io(
                error,
            ))) => Self::Io(error),
            VerifyError::NoJournal => Self::Unsuitable(error.to_string()),
            error if error.is_newer() => Self::Unsuitable(error.to_string()),
            error => Self::Damaged(error.to_string()),
        }
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str(
                "the source no longer keeps what comes next: it was removed after a snapshot",
            ),
            Self::Damaged(cause) => write!(f, "the source is damaged: {cause}"),
            Self::Unsuitable(cause) => f.write_str(cause),
            Self::Io(error) => write!(f, "the source cannot be read: {error}"),
            Self::Away { cause, .. } => cause.fmt(f),
        }
    }
}

impl std::error::Error for SourceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Away { cause, .. } => Some(&**cause),
            Self::Gone | Self::Damaged(_) | Self::Unsuitable(_) => None,
        }
    }
}

/// The name of the file of a segment in a backup and in a directory.
pub(crate) fn name_of_segment(number: u32) -> String {
    segment_name(number)
}
