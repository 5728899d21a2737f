//! A backup in one file: the files of its directory in a tar archive.

use std::{
    fs::{self, File},
    io::{self, Read, Write as _},
    path::{Path, PathBuf},
};

use tar::{Archive, Builder, EntryType, Header};
use tempfile::TempDir;
use turnstile_journal::files::{create, sync_directory};

use crate::{BackupError, BackupReport, BackupSource, KeyChoice, Manifest, manifest, take_backup};

/// How the name of an archive ends; everything else is a directory.
const SUFFIX: &str = "tar";

/// No backup has more files: as many segments as their number can count never come together.
const FILES_MAX: usize = 1_000_000;

/// A backup that can be read as a directory.
pub(crate) enum OpenBackup {
    Directory(PathBuf),
    /// Removed when it is dropped.
    Unpacked(TempDir),
}

impl OpenBackup {
    /// Opens a directory as it is, and unpacks an archive into a directory beside `beside`, with as much room
    /// as the archive takes.
    pub(crate) fn open(backup: &Path, beside: &Path) -> Result<Self, BackupError> {
        if !backup.is_file() {
            return Ok(Self::Directory(backup.to_owned()));
        }
        let parent = parent_of(beside);
        let unpacked = scratch(parent)?;
        unpack(backup, unpacked.path())?;
        Ok(Self::Unpacked(unpacked))
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Directory(path) => path,
            Self::Unpacked(directory) => directory.path(),
        }
    }
}

/// Whether a backup of this name is an archive.
#[must_use]
pub fn is_archive(name: &Path) -> bool {
    name.extension().is_some_and(|suffix| suffix == SUFFIX)
}

/// Copies what a source has into an archive that is not there yet. It is whole or not there: until then its
/// files are in a directory beside it, which takes as much room again.
///
/// # Errors
/// See [`BackupError`].
pub fn take_archive(
    source: &mut dyn BackupSource,
    target: &Path,
    key: &KeyChoice,
) -> Result<BackupReport, BackupError> {
    let io = |cause| BackupError::io(target, cause);
    if target.exists() {
        return Err(BackupError::Occupied {
            path: target.to_owned(),
        });
    }
    let parent = parent_of(target);
    let files = scratch(parent)?;
    let report = take_backup(source, files.path(), key)?;
    let mut name = target.as_os_str().to_owned();
    name.push(".new");
    let unfinished = PathBuf::from(name);
    let packed = pack(files.path(), &report.manifest, &unfinished)
        .and_then(|()| fs::rename(&unfinished, target))
        .and_then(|()| sync_directory(parent));
    if packed.is_err() {
        // Why it is there is said by the failure before.
        fs::remove_file(&unfinished).ok();
    }
    packed.map_err(io)?;
    Ok(report)
}

/// The directory that a file lies in.
fn parent_of(path: &Path) -> &Path {
    let parent = path.parent();
    let parent = parent.filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or_else(|| Path::new("."))
}

fn scratch(parent: &Path) -> Result<TempDir, BackupError> {
    let made = tempfile::Builder::new()
        .prefix(".turnstile-backup-")
        .tempdir_in(parent);
    made.map_err(|cause| BackupError::io(parent, cause))
}

/// The list comes first, so that a reader of the archive knows what follows.
fn pack(directory: &Path, list: &Manifest, target: &Path) -> io::Result<()> {
    let mut archive = Builder::new(create(target)?);
    let listed = list.files.iter().map(|file| file.name.as_str());
    for name in std::iter::once(manifest::NAME).chain(listed) {
        let file = File::open(directory.join(name))?;
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(file.metadata()?.len());
        header.set_mode(0o600);
        header.set_mtime(list.taken / 1_000);
        archive.append_data(&mut header, name, file)?;
    }
    let mut file = archive.into_inner()?;
    file.flush()?;
    file.sync_all()
}

/// Unpacks the files of a backup, which have plain names.
fn unpack(archive: &Path, target: &Path) -> Result<(), BackupError> {
    let damaged = |cause: String| BackupError::Damaged {
        file: archive.display().to_string(),
        cause,
    };
    let io = |cause| BackupError::io(archive, cause);
    let mut reader = Archive::new(File::open(archive).map_err(io)?);
    let mut found = 0;
    for entry in reader.entries().map_err(io)? {
        let mut entry = entry.map_err(|cause| damaged(cause.to_string()))?;
        let path = entry.path().map_err(|cause| damaged(cause.to_string()))?;
        let name = path.to_str().filter(|name| is_plain(name));
        let is_file = entry.header().entry_type() == EntryType::Regular;
        let Some(name) = name
            .filter(|_| is_file && found < FILES_MAX)
            .map(str::to_owned)
        else {
            return Err(damaged("it holds what no backup has".to_owned()));
        };
        found += 1;
        let mut file =
            create(&target.join(name)).map_err(|cause| BackupError::io(target, cause))?;
        copy(&mut entry, &mut file).map_err(|failure| match failure {
            HalfCopied::Reading(cause) => damaged(cause.to_string()),
            HalfCopied::Writing(cause) => BackupError::io(target, cause),
        })?;
    }
    if found == 0 {
        return Err(damaged("it is empty, or no archive".to_owned()));
    }
    Ok(())
}

/// Whether a name leads nowhere but into its own directory.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with("..") && !name.contains('/') && name != "."
}

enum HalfCopied {
    Reading(io::Error),
    Writing(io::Error),
}

fn copy(from: &mut impl Read, to: &mut File) -> Result<(), HalfCopied> {
    let mut chunk = vec![0; 256 * 1_024];
    loop {
        match from.read(&mut chunk).map_err(HalfCopied::Reading)? {
            0 => return Ok(()),
            count => to.write_all(&chunk[..count]).map_err(HalfCopied::Writing)?,
        }
    }
}
