//! Takes a backup, whole or as an increment of the one that is there.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use turnstile_embedded::ID_CHECK_FILE;
use turnstile_journal::files::{create, make_directory, put, sync_directory};
use turnstile_journal::{CopiedPiece, CopyCursor, LOCK_FILE, RealDisk, is_segment, snapshot};
use turnstile_types::{Position, Timestamp};

use crate::{
    BackupError, BackupSource, CopyStart, IdKeyKept, Manifest, ManifestEnd, ManifestFile,
    Passphrase, PiecesPlace, SourceDescription, SourceError,
    files::{lock, remove_if_there, sha256_of_file},
    manifest, sealed,
    source::{from_hex, journal_text, name_of_segment},
};

/// The byte offset of the first group of a segment.
const FIRST_GROUP: usize = 4_096;

/// The file that says that the first backup into a directory is not finished.
const BEGUN: &str = "unfinished-backup";

/// What becomes of the secret of the id numbers.
#[derive(Clone, Debug)]
pub enum KeyChoice {
    /// It stays as it is in the backup that is there; the first backup must say more.
    Unsaid,
    LeaveOut,
    Seal(Passphrase),
}

/// What a backup has taken.
#[derive(Clone, Debug)]
pub struct BackupReport {
    pub manifest: Manifest,
    /// The last position that the backup had before; nothing for the first.
    pub before: Option<u64>,
    /// Bytes of snapshots and groups that were copied.
    pub copied_bytes: u64,
    /// A snapshot that could not be used, with the reason.
    pub passed_over: Vec<String>,
}

/// Copies what a source has into a directory, or what it has more than the backup that is there. The
/// backup that is there stays good until the new one is whole.
///
/// # Errors
/// See [`BackupError`].
pub fn take_backup(
    source: &mut dyn BackupSource,
    target: &Path,
    key: &KeyChoice,
) -> Result<BackupReport, BackupError> {
    make_directory(target).map_err(|cause| BackupError::io(target, cause))?;
    if Manifest::read(target)?.is_none() {
        assert_may_begin(target)?;
    }
    let _lock = lock(target)?;
    // Another process may have taken one meanwhile.
    let before = Manifest::read(target)?;
    let described = source.describe()?;
    match before {
        Some(before) => {
            assert_continues(&before, &described, key)?;
            note_whole(target)?;
            Taking::after(target, &before)?.increment(source, &described, before)
        }
        None => first(source, target, &described, key),
    }
}

/// A backup that has its list is whole.
fn note_whole(target: &Path) -> Result<(), BackupError> {
    let path = target.join(BEGUN);
    remove_if_there(&path).map_err(|cause| BackupError::io(&path, cause))
}

/// Makes sure that nothing is in the target but what a first backup has left that broke off.
fn assert_may_begin(target: &Path) -> Result<(), BackupError> {
    let io = |cause| BackupError::io(target, cause);
    let is_begun = target.join(BEGUN).exists();
    for entry in fs::read_dir(target).map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        let name = name.to_string_lossy();
        let is_ours = name == LOCK_FILE || is_begun;
        if !is_ours {
            return Err(BackupError::Occupied {
                path: target.to_owned(),
            });
        }
    }
    Ok(())
}

/// Makes sure that a source goes on where a backup ends.
fn assert_continues(
    before: &Manifest,
    described: &SourceDescription,
    key: &KeyChoice,
) -> Result<(), BackupError> {
    if before.journal != described.journal {
        return Err(BackupError::OtherJournal);
    }
    if described.last < before.end.position {
        return Err(BackupError::Behind {
            source: described.last,
            copy: before.end.position,
        });
    }
    let is_as_before = match key {
        KeyChoice::Unsaid => true,
        KeyChoice::LeaveOut => before.id_key == IdKeyKept::LeftOut,
        KeyChoice::Seal(_) => before.id_key == IdKeyKept::Sealed,
    };
    is_as_before.then_some(()).ok_or(BackupError::KeyChanged)
}

fn first(
    source: &mut dyn BackupSource,
    target: &Path,
    described: &SourceDescription,
    key: &KeyChoice,
) -> Result<BackupReport, BackupError> {
    let journal = from_hex(&described.journal).and_then(|bytes| bytes.try_into().ok());
    let journal = journal.map(u64::from_be_bytes);
    let journal = journal.ok_or_else(|| {
        SourceError::Unsuitable("the source describes itself in another way".to_owned())
    })?;
    let mut taking = Taking {
        target: target.to_owned(),
        cursor: CopyCursor::default(),
        current: None,
        changed: Vec::new(),
        copied_bytes: 0,
        passed_over: Vec::new(),
    };
    taking.begin(source, key, journal, described)
}

/// A backup that is being taken.
struct Taking {
    target: PathBuf,
    cursor: CopyCursor,
    /// The file of the segment that groups go to.
    current: Option<File>,
    /// The names of the files that were written.
    changed: Vec<String>,
    copied_bytes: u64,
    passed_over: Vec<String>,
}

impl Taking {
    /// Goes on where a backup ends. What lies behind it in its last file comes from one that broke off.
    fn after(target: &Path, before: &Manifest) -> Result<Self, BackupError> {
        let name = name_of_segment(before.end.segment);
        let path = target.join(&name);
        let io = |cause| BackupError::io(&path, cause);
        let damaged = |cause: &str| BackupError::Damaged {
            file: name.clone(),
            cause: cause.to_owned(),
        };
        let listed = before
            .file(&name)
            .ok_or_else(|| damaged("it is not listed"))?;
        let (hash, _) = sha256_of_file(&path, listed.bytes).map_err(io)?;
        if hash.as_ref() != Some(&listed.sha256) {
            return Err(damaged("it is not what was backed up"));
        }
        let file = OpenOptions::new().write(true).open(&path).map_err(io)?;
        file.set_len(listed.bytes).map_err(io)?;
        Ok(Self {
            target: target.to_owned(),
            cursor: CopyCursor::after(before.copy_end()?),
            current: Some(file),
            changed: vec![name],
            copied_bytes: 0,
            passed_over: Vec::new(),
        })
    }

    fn increment(
        mut self,
        source: &mut dyn BackupSource,
        described: &SourceDescription,
        before: Manifest,
    ) -> Result<BackupReport, BackupError> {
        let place = PiecesPlace {
            segment: before.end.segment,
            offset: before.end.offset,
            after: before.end.position,
        };
        self.copy_groups(source, place, described.last)?;
        let last = before.end.position;
        let manifest = if self.copied_bytes == 0 {
            before
        } else {
            let mut files = before.files.clone();
            self.note_changed(&mut files)?;
            let next = Manifest {
                program: env!("CARGO_PKG_VERSION").to_owned(),
                taken: now(),
                end: self.end()?,
                files,
                ..before
            };
            next.write(&self.target)?
        };
        Ok(self.report(manifest, Some(last)))
    }

    /// The first backup into its directory.
    fn begin(
        &mut self,
        source: &mut dyn BackupSource,
        key: &KeyChoice,
        journal: u64,
        described: &SourceDescription,
    ) -> Result<BackupReport, BackupError> {
        let sealed = sealed_key(source, key, journal)?;
        let target = self.target.clone();
        // Under its name at once: a file of another name would make the directory somebody else's.
        let begun = create(&target.join(BEGUN)).and_then(|_empty| sync_directory(&target));
        begun.map_err(|cause| BackupError::io(&target, cause))?;
        self.remove_leavings()?;
        let (start, snapshot_time) = self.copy_snapshot(source, journal, described)?;
        self.copy_groups(source, start.place, described.last)?;
        let mut id_key = IdKeyKept::LeftOut;
        if !described.id_check.is_empty() {
            let check = from_hex(&described.id_check).unwrap_or_default();
            self.put(ID_CHECK_FILE, &check)?;
        }
        if let Some(sealed) = sealed {
            id_key = IdKeyKept::Sealed;
            self.put(sealed::NAME, &sealed)?;
        }
        let mut files = Vec::new();
        self.note_changed(&mut files)?;
        let manifest = Manifest {
            format: manifest::FORMAT,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            journal: journal_text(journal),
            taken: now(),
            snapshot: start.snapshot,
            snapshot_time: snapshot_time.0,
            end: self.end()?,
            id_key,
            files,
            sha256: String::new(),
        };
        let manifest = manifest.write(&target)?;
        note_whole(&target)?;
        Ok(self.report(manifest, None))
    }

    fn report(&mut self, manifest: Manifest, before: Option<u64>) -> BackupReport {
        BackupReport {
            manifest,
            before,
            copied_bytes: self.copied_bytes,
            passed_over: std::mem::take(&mut self.passed_over),
        }
    }

    /// Removes what a first backup has left that broke off.
    fn remove_leavings(&self) -> Result<(), BackupError> {
        let io = |cause| BackupError::io(&self.target, cause);
        for entry in fs::read_dir(&self.target).map_err(io)? {
            let entry = entry.map_err(io)?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_left = is_segment(&name)
                || name.starts_with("snapshot-")
                || name.starts_with("id.")
                || name.ends_with(".new");
            if is_left {
                fs::remove_file(entry.path()).map_err(io)?;
            }
        }
        Ok(())
    }

    fn put(&mut self, name: &str, content: &[u8]) -> Result<(), BackupError> {
        let put = put(&self.target, name, content);
        put.map_err(|cause| BackupError::io(&self.target.join(name), cause))?;
        self.changed.push(name.to_owned());
        Ok(())
    }

    /// Copies the best snapshot that is sound; says where the journal goes on, and the logged time.
    fn copy_snapshot(
        &mut self,
        source: &mut dyn BackupSource,
        journal: u64,
        described: &SourceDescription,
    ) -> Result<(CopyStart, Timestamp), BackupError> {
        for start in &described.starts {
            let position = Position(start.snapshot);
            if position == Position(0) {
                return Ok((*start, Timestamp(0)));
            }
            let name = snapshot::name(position);
            copy_snapshot_file(source, position, &self.target.join(&name))?;
            let disk = RealDisk::open(&self.target);
            let disk = disk.map_err(|cause| BackupError::io(&self.target, cause))?;
            match snapshot::verify(&disk, journal, position) {
                Ok(title) => {
                    self.copied_bytes += disk.bytes(&name);
                    self.changed.push(name);
                    return Ok((*start, title.time));
                }
                Err(rotten) if rotten.is_newer() => {
                    return Err(SourceError::Unsuitable(rotten.to_string()).into());
                }
                Err(rotten) => {
                    self.passed_over
                        .push(format!("{name} is passed over: {rotten}"));
                    let path = self.target.join(&name);
                    fs::remove_file(&path).map_err(|cause| BackupError::io(&path, cause))?;
                }
            }
        }
        let none =
            "none of its snapshots is sound, and the journal does not begin with its first record";
        Err(SourceError::Damaged(none.to_owned()).into())
    }

    /// Copies groups until the copy has the position `last`.
    fn copy_groups(
        &mut self,
        source: &mut dyn BackupSource,
        mut place: PiecesPlace,
        last: u64,
    ) -> Result<(), BackupError> {
        while self.cursor.end().is_none() || self.cursor.position().0 < last {
            let pieces = source.pieces(place)?;
            if pieces.bytes.is_empty() {
                return Err(BackupError::Source(SourceError::Damaged(format!(
                    "nothing follows position {} although position {last} was acknowledged",
                    self.cursor.position()
                ))));
            }
            let mut rest = &*pieces.bytes;
            while let Some(piece) = self.cursor.take(&mut rest).map_err(BackupError::Diverged)? {
                self.put_piece(&piece)?;
            }
            let end = self.cursor.end().ok_or(BackupError::OtherJournal)?;
            let next = PiecesPlace {
                segment: end.segment,
                offset: end.offset,
                after: self.cursor.position().0,
            };
            if next == place && self.cursor.position().0 < last {
                let cut = "a group of it is cut short".to_owned();
                return Err(SourceError::Damaged(cut).into());
            }
            place = next;
        }
        self.close_segment()
    }

    fn put_piece(&mut self, piece: &CopiedPiece<'_>) -> Result<(), BackupError> {
        match piece {
            CopiedPiece::Segment { number, head, .. } => {
                self.close_segment()?;
                let name = name_of_segment(*number);
                let path = self.target.join(&name);
                let mut first = vec![0; FIRST_GROUP];
                first[..head.len()].copy_from_slice(head);
                let made = create(&path).and_then(|mut file| file.write_all(&first).map(|()| file));
                self.current = Some(made.map_err(|cause| BackupError::io(&path, cause))?);
                if !self.changed.contains(&name) {
                    self.changed.push(name);
                }
                self.copied_bytes += to_u64(FIRST_GROUP);
            }
            CopiedPiece::Group { offset, bytes, .. } => {
                let file = self.current.as_ref().expect("a group lies in a segment");
                let written = file.write_all_at(bytes, u64::from(*offset));
                written.map_err(|cause| BackupError::io(&self.target, cause))?;
                self.copied_bytes += to_u64(bytes.len());
            }
        }
        Ok(())
    }

    fn close_segment(&mut self) -> Result<(), BackupError> {
        if let Some(file) = self.current.take() {
            let synced = file.sync_all();
            synced.map_err(|cause| BackupError::io(&self.target, cause))?;
        }
        Ok(())
    }

    /// Lists what was written, as it reads back.
    fn note_changed(&self, files: &mut Vec<ManifestFile>) -> Result<(), BackupError> {
        let io = |cause| BackupError::io(&self.target, cause);
        sync_directory(&self.target).map_err(io)?;
        for name in &self.changed {
            let path = self.target.join(name);
            let bytes = fs::metadata(&path).map_err(io)?.len();
            let (hash, _) = sha256_of_file(&path, bytes).map_err(io)?;
            let file = ManifestFile {
                name: name.clone(),
                bytes,
                sha256: hash.ok_or_else(|| io(io::ErrorKind::UnexpectedEof.into()))?,
            };
            match files.iter_mut().find(|listed| listed.name == *name) {
                Some(listed) => *listed = file,
                None => files.push(file),
            }
        }
        Ok(())
    }

    fn end(&self) -> Result<ManifestEnd, BackupError> {
        let end = self.cursor.end().ok_or(BackupError::OtherJournal)?;
        let position = self.cursor.position();
        Ok(ManifestEnd {
            segment: end.segment,
            segment_bytes: end.segment_bytes,
            offset: end.offset,
            chain: end.link.map_or(0, |link| link.chain),
            time: self.cursor.time().0,
            position: position.0,
        })
    }
}

/// The secret of the id numbers as it goes into the backup, before anything is written.
fn sealed_key(
    source: &mut dyn BackupSource,
    key: &KeyChoice,
    journal: u64,
) -> Result<Option<Vec<u8>>, BackupError> {
    match key {
        KeyChoice::Unsaid => Err(BackupError::NoKeyChoice),
        KeyChoice::LeaveOut => Ok(None),
        KeyChoice::Seal(passphrase) => {
            let secret = source.id_key()?.ok_or(BackupError::KeyStays)?;
            Ok(Some(sealed::seal(&secret, journal, passphrase)?))
        }
    }
}

/// Copies the file of a snapshot, durably but for its name.
pub(crate) fn copy_snapshot_file(
    source: &mut dyn BackupSource,
    position: Position,
    path: &Path,
) -> Result<(), BackupError> {
    let io = |cause| BackupError::io(path, cause);
    let mut file = create(path).map_err(io)?;
    let mut offset = 0;
    loop {
        let part = source.snapshot(position.0, offset)?;
        if part.is_empty() {
            break;
        }
        file.write_all(&part).map_err(io)?;
        offset += to_u64(part.len());
    }
    file.sync_all().map_err(io)
}

fn to_u64(length: usize) -> u64 {
    u64::try_from(length).expect("a length has at most 64 bits")
}

/// The clock of this machine, in milliseconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}
