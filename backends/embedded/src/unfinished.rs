//! The mark of a directory that is not whole yet: a copy is being made there, or was broken off.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use turnstile_journal::{Disk as _, LOCK_FILE, RealDisk, RealLock};

use crate::BackendOpenError;

/// The file that says that a copy is not finished. The directory opens again when it is gone.
const UNFINISHED: &str = "unfinished-copy";

/// What the names of files begin with that an unfinished copy leaves.
const LEAVINGS: [&str; 7] = [
    "segment-",
    "snapshot-",
    "durable-end",
    "id.key",
    "id.check",
    "pending-copy",
    "program-versions",
];

/// Why nothing can be copied into a directory.
#[derive(Debug)]
pub enum Occupied {
    /// A copy was begun there and not finished.
    Unfinished,
    /// Something else is there.
    NotEmpty,
    /// Another process uses it, perhaps to fill it.
    Locked,
    Io(io::Error),
}

/// Refuses a directory that an unfinished copy lies in.
pub(crate) fn refuse(directory: &Path) -> Result<(), BackendOpenError> {
    if is_marked(directory) {
        return Err(BackendOpenError::UnfinishedCopy {
            path: directory.to_owned(),
        });
    }
    Ok(())
}

/// Whether the directory has the mark.
#[must_use]
pub fn is_marked(directory: &Path) -> bool {
    directory.join(UNFINISHED).exists()
}

/// Whether the directory has the mark, made under this name, or one whose name was not written yet: then nothing
/// else was.
#[must_use]
pub fn is_marked_by(directory: &Path, name: &str) -> bool {
    let by = fs::read(directory.join(UNFINISHED));
    by.is_ok_and(|by| name.as_bytes().starts_with(&by))
}

/// Takes the directory, which is made where it is not there, and makes sure that nothing is in it; what an
/// unfinished copy has left is removed if `again`. The lock MUST be held until the copy is whole: without
/// it, another process would remove what was copied.
///
/// # Errors
/// Something is there, or another process fills it: then nothing is removed.
pub fn clear(directory: &Path, again: bool) -> Result<RealLock, Occupied> {
    // At first without the lock: no file is made for it in a directory of something else.
    leavings(directory, again)?;
    let lock = RealDisk::open(directory).and_then(|disk| disk.lock());
    let lock = lock.map_err(Occupied::Io)?.ok_or(Occupied::Locked)?;
    for name in leavings(directory, again)? {
        fs::remove_file(directory.join(name)).map_err(Occupied::Io)?;
    }
    Ok(lock)
}

/// The files that an unfinished copy has left, if nothing else is there.
fn leavings(directory: &Path, again: bool) -> Result<Vec<String>, Occupied> {
    let is_marked = is_marked(directory);
    if is_marked && !again {
        return Err(Occupied::Unfinished);
    }
    let is_left = |name: &str| LEAVINGS.iter().any(|leaving| name.starts_with(leaving));
    let mut names = names_in(directory).map_err(Occupied::Io)?;
    names.retain(|name| name != UNFINISHED && name != LOCK_FILE);
    if names.iter().all(|name| is_marked && is_left(name)) {
        Ok(names)
    } else {
        Err(Occupied::NotEmpty)
    }
}

/// The names of the files in a directory; none where it is not there.
fn names_in(directory: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(cause),
    };
    entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect()
}

/// Makes the mark under this name, durably, and the directory where it is not there.
///
/// # Errors
/// The disk failed.
pub fn mark(directory: &Path, by: &str) -> io::Result<()> {
    RealDisk::open(directory)?;
    let mut mark = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(directory.join(UNFINISHED))?;
    mark.write_all(by.as_bytes())?;
    mark.sync_all()?;
    fs::File::open(directory)?.sync_all()
}

/// Takes the mark away, durably: the copy is whole.
///
/// # Errors
/// The disk failed.
pub fn unmark(directory: &Path) -> io::Result<()> {
    fs::remove_file(directory.join(UNFINISHED))?;
    fs::File::open(directory)?.sync_all()
}
