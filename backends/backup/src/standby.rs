//! A directory that follows a server: a copy of its journal that is never far behind.

use std::path::{Path, PathBuf};

use turnstile_embedded::{ID_CHECK_FILE, put_id_file, unfinished};
use turnstile_journal::{
    CopyError, Disk as _, JournalCopy, LastGroup, OpenError, RealDisk, RealLock, retire, snapshot,
};
use turnstile_types::Position;

use crate::{
    BackupError, BackupSource, CopyStart, JournalPieces, PiecesPlace, SourceDescription,
    SourceError,
    files::begin_filling,
    source::{from_hex, journal_text},
    taking::copy_snapshot_file,
};

/// The name under which the mark of an unfinished directory is made.
const MARK: &str = "follow";

/// A last group up to this length is asked for each time, as a proof that the source still has the copy's
/// history. A longer one would cost an idle server too much; it is asked for before each renewal.
const PROOF_BYTES: u32 = 4_096;

/// A copy of a server's journal in a directory of its own. A server can be started on the directory once
/// this is dropped and [`is_whole`](Self::is_whole) was said once.
#[derive(Debug)]
pub struct Standby {
    directory: PathBuf,
    copy: JournalCopy<RealDisk>,
    /// The number of the journal as text.
    journal: String,
    /// From where on pieces are asked for.
    place: PiecesPlace,
    /// The newest snapshot of the copy.
    snapshot: Position,
    is_whole: bool,
}

/// How far a standby came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandbyStep {
    /// The last position that the copy has, durably.
    pub position: u64,
    /// The last position that the source had acknowledged when it answered.
    pub last: u64,
    /// Bytes of pieces that came.
    pub bytes: u64,
}

impl StandbyStep {
    /// How many positions the copy is behind.
    #[must_use]
    pub const fn lag(&self) -> u64 {
        self.last.saturating_sub(self.position)
    }
}

impl Standby {
    /// Takes a directory: a copy that is there goes on, and one that never became whole begins anew.
    ///
    /// # Errors
    /// See [`BackupError`].
    pub fn open(source: &mut dyn BackupSource, directory: &Path) -> Result<Self, BackupError> {
        let described = source.describe()?;
        if Self::is_begun(directory) {
            return Self::go_on(directory, &described);
        }
        let may_start_over = unfinished::is_marked_by(directory, MARK);
        let taken = begin_filling(directory, MARK, may_start_over)?;
        Self::begin(source, (directory, taken), &described)
    }

    /// Whether there is a copy in a directory that goes on.
    #[must_use]
    pub fn is_begun(directory: &Path) -> bool {
        !unfinished::is_marked(directory) && directory.join("durable-end").exists()
    }

    fn begin(
        source: &mut dyn BackupSource,
        (directory, taken): (&Path, RealLock),
        described: &SourceDescription,
    ) -> Result<Self, BackupError> {
        let io = |cause| BackupError::io(directory, cause);
        let disk = RealDisk::open(directory).map_err(io)?;
        let start = first_sound(source, &disk, described)?;
        if !described.id_check.is_empty() {
            let check = from_hex(&described.id_check).unwrap_or_default();
            let put = put_id_file(directory, ID_CHECK_FILE, &check);
            put.map_err(|refused| {
                BackupError::Unread(turnstile_embedded::BackendOpenError::IdKey(refused).into())
            })?;
        }
        let copy = JournalCopy::open_taken(disk, taken);
        Ok(Self {
            directory: directory.to_owned(),
            copy: copy.map_err(|error| not_opened(directory, error))?,
            journal: described.journal.clone(),
            place: start.place,
            snapshot: Position(start.snapshot),
            is_whole: false,
        })
    }

    fn go_on(directory: &Path, described: &SourceDescription) -> Result<Self, BackupError> {
        let disk = RealDisk::open(directory).map_err(|cause| BackupError::io(directory, cause))?;
        let snapshots = snapshot::positions(&disk);
        let snapshots = snapshots.map_err(|cause| BackupError::io(directory, cause))?;
        // Before anything is changed there: it could be the directory of something else.
        let known = turnstile_journal::acknowledged(&disk);
        let known = known.map_err(|error| not_opened(directory, error))?;
        let is_ours = |(journal, _)| journal_text(journal) == described.journal;
        if !known.is_some_and(is_ours) {
            return Err(BackupError::OtherJournal);
        }
        let copy = JournalCopy::open(disk).map_err(|error| not_opened(directory, error))?;
        let end = copy.cursor().end().ok_or(BackupError::OtherJournal)?;
        let position = copy.cursor().position().0;
        let standby = Self {
            directory: directory.to_owned(),
            copy,
            journal: described.journal.clone(),
            place: PiecesPlace {
                segment: end.segment,
                offset: end.offset,
                after: position,
            },
            snapshot: snapshots.first().copied().unwrap_or_default(),
            is_whole: true,
        };
        standby.refuse_behind(described.last)?;
        Ok(standby)
    }

    /// The last position that the copy has.
    #[must_use]
    pub fn position(&self) -> Position {
        self.copy.cursor().position()
    }

    /// Whether a server could be started on the directory.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Asks for what comes next once, and makes it durable.
    ///
    /// # Errors
    /// See [`BackupError`]. After one that [passes](BackupError::is_passing) it can be asked again. A source
    /// that went back, or on with another history, is refused, and the copy stays as it is.
    pub fn step(&mut self, source: &mut dyn BackupSource) -> Result<StandbyStep, BackupError> {
        let is_small = |last: &LastGroup| last.bytes <= PROOF_BYTES;
        let known = self.copy.cursor().last_group().filter(is_small);
        let place = known.and_then(|last| self.place_of(last));
        let pieces = source.pieces(place.unwrap_or(self.place))?;
        self.refuse_behind(pieces.last)?;
        let bytes = match place {
            Some(_) => self.behind_last(&pieces)?,
            None => &*pieces.bytes,
        };
        let failed = |error| BackupError::of_copy(&self.directory, error);
        if self.is_whole {
            self.copy.put_whole(bytes).map_err(failed)?;
        } else {
            // Marked as it is, the directory begins anew after a crash.
            self.copy.put(bytes, |_group| true).map_err(failed)?;
            self.copy.sync().map_err(failed)?;
        }
        let position = self.position();
        if let Some(end) = self.copy.cursor().end() {
            self.place = PiecesPlace {
                segment: end.segment,
                offset: end.offset,
                after: position.0,
            };
            if !self.is_whole && position >= self.snapshot {
                let whole = unfinished::unmark(&self.directory);
                whole.map_err(|cause| BackupError::io(&self.directory, cause))?;
                self.is_whole = true;
            }
        }
        Ok(StandbyStep {
            position: position.0,
            last: pieces.last,
            bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        })
    }

    /// Refuses a source that ends before the copy, or before its snapshot while not everything up to there
    /// has come.
    fn refuse_behind(&self, last: u64) -> Result<(), BackupError> {
        let copy = self.position().max(self.snapshot).0;
        if last < copy {
            return Err(BackupError::Behind { source: last, copy });
        }
        Ok(())
    }

    /// Makes sure that the source has the last group of the copy, and so all before it. A snapshot does not
    /// say of which history it is.
    fn refuse_other_history(&self, source: &mut dyn BackupSource) -> Result<(), BackupError> {
        let last = self.copy.cursor().last_group();
        let Some(place) = last.and_then(|last| self.place_of(last)) else {
            return Ok(());
        };
        let pieces = source.pieces(place)?;
        self.refuse_behind(pieces.last)?;
        self.behind_last(&pieces).map(|_rest| ())
    }

    /// From where on pieces begin with this last group of the copy; nothing before the first record.
    fn place_of(&self, last: LastGroup) -> Option<PiecesPlace> {
        let LastGroup {
            segment, offset, ..
        } = last;
        // Any earlier position does: a source that ends at this one has the group still to give.
        let after = self.position().0.checked_sub(1)?;
        Some(PiecesPlace {
            segment,
            offset,
            after,
        })
    }

    fn behind_last<'a>(&self, pieces: &'a JournalPieces) -> Result<&'a [u8], BackupError> {
        let rest = self.copy.cursor().behind_last(&pieces.bytes);
        rest.map_err(BackupError::Diverged)
    }

    /// Takes over a newer snapshot of the source, if it has one, and removes what is not needed any more;
    /// says whether it did. Without that, the copy would keep the whole journal.
    ///
    /// # Errors
    /// See [`BackupError`]. A source that went back, or on with another history, is refused.
    pub fn renew(&mut self, source: &mut dyn BackupSource) -> Result<bool, BackupError> {
        let described = source.describe()?;
        if described.journal != self.journal {
            return Err(BackupError::OtherJournal);
        }
        self.refuse_behind(described.last)?;
        self.refuse_other_history(source)?;
        let newest = described.starts.first();
        let newest = newest.map_or(Position(0), |start| Position(start.snapshot));
        if !self.is_whole || newest <= self.snapshot || newest > self.position() {
            return Ok(false);
        }
        let end = self.copy.cursor().end().ok_or(BackupError::OtherJournal)?;
        let disk = self.copy.disk().clone();
        let io = |cause| BackupError::io(&self.directory, cause);
        let name = snapshot::name(newest);
        let unfinished = format!("{name}.new");
        match copy_snapshot_file(source, newest, &self.directory.join(&unfinished)) {
            // The source has made newer ones meanwhile, and they are found the next time.
            Err(BackupError::Source(SourceError::Gone)) => {
                disk.remove(&unfinished).map_err(io)?;
                return Ok(false);
            }
            copied => copied?,
        }
        // The source may have changed its history while the snapshot came.
        self.refuse_other_history(source)?;
        disk.rename(&unfinished, &name).map_err(io)?;
        disk.sync_directory().map_err(io)?;
        // A rotten one stays unused: whoever loads it sees that, and so does this.
        self.snapshot = newest;
        if snapshot::verify(&disk, end.journal, newest).is_err() {
            disk.remove(&name).map_err(io)?;
            return Ok(false);
        }
        retire(&disk, end.journal).map_err(io)?;
        Ok(true)
    }
}

fn not_opened(directory: &Path, error: OpenError) -> BackupError {
    BackupError::of_copy(directory, CopyError::Open(error))
}

/// Copies the best snapshot that is sound, and says where the journal goes on.
fn first_sound(
    source: &mut dyn BackupSource,
    disk: &RealDisk,
    described: &SourceDescription,
) -> Result<CopyStart, BackupError> {
    let io = |cause| BackupError::io(disk.path(), cause);
    let journal = from_hex(&described.journal).and_then(|bytes| bytes.try_into().ok());
    let journal = journal.map_or(0, u64::from_be_bytes);
    for start in &described.starts {
        let position = Position(start.snapshot);
        if position == Position(0) {
            return Ok(*start);
        }
        let name = snapshot::name(position);
        copy_snapshot_file(source, position, &disk.path().join(&name))?;
        disk.sync_directory().map_err(io)?;
        if snapshot::verify(disk, journal, position).is_ok() {
            return Ok(*start);
        }
        disk.remove(&name).map_err(io)?;
    }
    let none =
        "none of its snapshots is sound, and the journal does not begin with its first record";
    Err(SourceError::Damaged(none.to_owned()).into())
}
