//! Files of a backup: hashes, and writes that are there whole or not at all.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::Path,
};

use sha2::{Digest as _, Sha256};

use turnstile_embedded::unfinished::{self, Occupied};
use turnstile_journal::{Disk as _, LOCK_FILE, RealDisk, RealLock};

use crate::{BackupError, source::to_hex};

/// So much is read at a time.
const CHUNK_BYTES: usize = 256 * 1_024;

/// Takes an empty directory and marks it as one that is being filled, under this name. What was left of an
/// earlier time is removed if it may be started over.
pub(crate) fn begin_filling(
    directory: &Path,
    name: &str,
    may_start_over: bool,
) -> Result<RealLock, BackupError> {
    let path = || directory.to_owned();
    let io = |cause| BackupError::io(directory, cause);
    let lock = unfinished::clear(directory, may_start_over).map_err(|occupied| match occupied {
        Occupied::Unfinished => BackupError::Unfinished { path: path() },
        Occupied::NotEmpty => BackupError::Occupied { path: path() },
        Occupied::Locked => BackupError::Locked { path: path() },
        Occupied::Io(cause) => io(cause),
    })?;
    unfinished::mark(directory, name).map_err(io)?;
    Ok(lock)
}

/// The lock that a journal would have: the directory of a backup is one that may become one.
pub(crate) fn lock(directory: &Path) -> Result<RealLock, BackupError> {
    let lock = RealDisk::open(directory).and_then(|disk| disk.lock());
    let lock = lock.map_err(|cause| BackupError::io(&directory.join(LOCK_FILE), cause))?;
    lock.ok_or_else(|| BackupError::Locked {
        path: directory.to_owned(),
    })
}

/// The SHA-256 of some bytes, in hexadecimal digits.
pub(crate) fn sha256_of(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}

/// The SHA-256 of the first `bytes` bytes of a file, and the length of the whole file; nothing for the hash
/// if there are not so many.
pub(crate) fn sha256_of_file(path: &Path, bytes: u64) -> io::Result<(Option<String>, u64)> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut hash = Sha256::new();
    let (mut covered, mut read) = (file.take(bytes), 0);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match covered.read(&mut chunk)? {
            0 => break,
            count => {
                hash.update(&chunk[..count]);
                read += u64::try_from(count).expect("a chunk is small");
            }
        }
    }
    let hash = (read == bytes).then(|| to_hex(&hash.finalize()));
    Ok((hash, length))
}

/// Removes a file.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        Ok(()) | Err(_) => Ok(()),
    }
}
