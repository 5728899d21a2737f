//! Checks every file of a backup.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
};

use turnstile_journal::{CopyCursor, RealDisk, is_segment, snapshot};
use turnstile_types::Position;

use crate::{
    BackupError, IdKeyKept, Manifest, ManifestFile, archive::OpenBackup, files::sha256_of_file,
    sealed, source::name_of_segment,
};

/// So much of a segment is read at a time, and one group more.
const CHUNK_BYTES: usize = 1_024 * 1_024;

/// Where the groups of a segment begin, and how long its head is.
const FIRST_GROUP: u64 = 4_096;
const HEAD_BYTES: usize = 26;

/// What a check of a backup found.
#[derive(Clone, Debug)]
pub struct BackupCheck {
    pub manifest: Manifest,
    pub bytes: u64,
    /// A sentence for each file that is missing or damaged.
    pub damaged: Vec<String>,
    /// What else there is to say.
    pub notes: Vec<String>,
}

/// Checks that every byte of a backup is there, and that its journal is one from its beginning to its end. An
/// archive is unpacked beside itself for that, for a while.
///
/// # Errors
/// There is no backup, its list of files is damaged, or a newer version wrote it.
pub fn check_backup(backup: &Path) -> Result<BackupCheck, BackupError> {
    check_directory(OpenBackup::open(backup, backup)?.path())
}

/// The same of a directory.
pub(crate) fn check_directory(backup: &Path) -> Result<BackupCheck, BackupError> {
    let manifest = Manifest::read(backup)?.ok_or_else(|| BackupError::None {
        path: backup.to_owned(),
    })?;
    let mut check = BackupCheck {
        bytes: manifest.files.iter().map(|file| file.bytes).sum(),
        manifest,
        damaged: Vec::new(),
        notes: Vec::new(),
    };
    let files = check.manifest.files.clone();
    for file in &files {
        check.look_at(backup, file);
    }
    if check.damaged.is_empty()
        && let Err(error) = walk(backup, &check.manifest)
    {
        check.damaged.push(error.to_string());
    }
    Ok(check)
}

impl BackupCheck {
    fn look_at(&mut self, backup: &Path, file: &ManifestFile) {
        let name = &file.name;
        let is_last = *name == name_of_segment(self.manifest.end.segment);
        match sha256_of_file(&backup.join(name), file.bytes) {
            Err(cause) => self.damaged.push(format!("{name}: {cause}")),
            Ok((None, length)) => self.damaged.push(format!(
                "{name} is cut short: it has {length} of {} bytes",
                file.bytes
            )),
            Ok((Some(hash), _)) if hash != file.sha256 => {
                self.damaged
                    .push(format!("{name} is not what was backed up"));
            }
            Ok((Some(_), length)) if length > file.bytes && is_last => self.notes.push(format!(
                "{name} has {} bytes of an increment that was not finished: they are ignored",
                length - file.bytes
            )),
            Ok((Some(_), length)) if length > file.bytes => {
                let more = length - file.bytes;
                self.damaged
                    .push(format!("{name} has {more} bytes more than were backed up"));
            }
            Ok(_) => {}
        }
    }
}

/// Reads all that a backup has, as a restore does.
fn walk(backup: &Path, manifest: &Manifest) -> Result<(), BackupError> {
    let end = manifest.copy_end()?;
    let damaged = |file: &str, cause: String| BackupError::Damaged {
        file: file.to_owned(),
        cause,
    };
    if manifest.snapshot > 0 {
        let position = Position(manifest.snapshot);
        let disk = RealDisk::open(backup).map_err(|cause| BackupError::io(backup, cause))?;
        let title = snapshot::verify(&disk, end.journal, position);
        title.map_err(|rotten| damaged(&snapshot::name(position), rotten.to_string()))?;
    }
    let mut cursor = CopyCursor::default();
    each_piece(backup, manifest, |mut bytes| {
        let length = bytes.len();
        while cursor
            .take(&mut bytes)
            .map_err(BackupError::Diverged)?
            .is_some()
        {}
        Ok(Some(length - bytes.len()))
    })?;
    let is_sealed = manifest.file(sealed::NAME).is_some();
    if cursor.end() != Some(end) || is_sealed != (manifest.id_key == IdKeyKept::Sealed) {
        let cause = "its files are not those that it tells of".to_owned();
        return Err(damaged("the list", cause));
    }
    Ok(())
}

/// Hands over the pieces of a backup in their order: some bytes, of which `take` says how many it has
/// used up. It ends when `take` says nothing.
pub(crate) fn each_piece(
    backup: &Path,
    manifest: &Manifest,
    mut take: impl FnMut(&[u8]) -> Result<Option<usize>, BackupError>,
) -> Result<(), BackupError> {
    for listed in manifest.files.iter().filter(|file| is_segment(&file.name)) {
        let path = backup.join(&listed.name);
        let io = |cause| BackupError::io(&path, cause);
        let short = || BackupError::Damaged {
            file: listed.name.clone(),
            cause: "it ends in the middle of a group".to_owned(),
        };
        let mut file = File::open(&path).map_err(io)?;
        let mut bytes = vec![0; HEAD_BYTES];
        file.read_exact(&mut bytes).map_err(io)?;
        file.seek(SeekFrom::Start(FIRST_GROUP)).map_err(io)?;
        let mut rest = file.take(listed.bytes.saturating_sub(FIRST_GROUP));
        let mut used = 0;
        loop {
            bytes.drain(..used);
            let begin = bytes.len();
            let wanted = u64::try_from(CHUNK_BYTES).expect("a chunk is small");
            let read = (&mut rest).take(wanted).read_to_end(&mut bytes);
            read.map_err(io)?;
            let is_at_end = bytes.len() == begin;
            match take(&bytes)? {
                None => return Ok(()),
                Some(0) if is_at_end && bytes.is_empty() => break,
                Some(0) if is_at_end => return Err(short()),
                Some(count) => used = count,
            }
        }
    }
    Ok(())
}
