//! A directory of the operating system.

mod direct;
mod trouble;

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::fs::{Advice, FallocateFlags, Timespec};
use rustix::thread::{NanosleepRelativeResult, nanosleep};

use self::direct::Direct;
pub use self::trouble::Trouble;
use self::trouble::{AtRisk, Medium};
use super::{Disk, DiskFile};
use crate::files::{DIRECTORY_MODE, FILE_MODE, make_directory};

/// The file whose lock keeps a second process out. It is never removed: a lock on a removed file
/// would guard nothing.
pub const LOCK_FILE: &str = "lock";

/// The rights of everybody but the owner.
const OTHERS: u32 = 0o077;

/// How much is zero-filled with one write.
const ZEROS_BYTES: usize = 1024 * 1024;

/// A directory of the operating system.
#[derive(Clone, Debug)]
pub struct RealDisk {
    path: Arc<Path>,
    /// Kept open, so that a sync of the directory needs no descriptor: it MUST NOT fail because
    /// clients hold them all.
    directory: Arc<File>,
    is_direct: bool,
    /// By how much each sync of a file takes longer than it has to.
    slowed: Duration,
    trouble: Option<&'static Trouble>,
}

/// A file of the operating system.
#[derive(Debug)]
pub struct RealFile {
    file: File,
    /// The way past the page cache, as long as the file is written from its beginning to its end.
    direct: Mutex<Option<Direct>>,
    slowed: Duration,
    at_risk: Option<AtRisk>,
}

/// The exclusive lock of a directory; the system releases it when the process ends in any way.
#[derive(Debug)]
pub struct RealLock {
    /// None where there was nothing to lock.
    file: Option<File>,
}

impl Drop for RealLock {
    /// Closing the file is not enough: a program that this process is just starting has it open too, until
    /// it runs, and would hold the lock for that long.
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            // What cannot be unlocked is unlocked when the last who has it open closes it.
            drop(file.unlock());
        }
    }
}

impl RealDisk {
    /// The directory at `path`; it is made, durably, when it is not there.
    ///
    /// # Errors
    /// It can be neither found nor made, or something else is there.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path: PathBuf = path.into();
        if !path.is_dir() {
            if path.exists() {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            make_directory(&path)?;
        }
        let directory = Arc::new(File::open(&path)?);
        Ok(Self {
            path: path.into(),
            directory,
            is_direct: false,
            slowed: Duration::ZERO,
            trouble: None,
        })
    }

    /// The same directory for whoever syncs every write: what is written to new files of fixed size
    /// goes past the page cache, where the file system can. Who does not sync would wait for the
    /// disk at each write instead.
    #[must_use]
    pub fn direct(self) -> Self {
        Self {
            is_direct: true,
            ..self
        }
    }

    /// The same directory on a disk that is slower: each sync of a file takes so much longer. For
    /// measurements of what a sync is worth.
    #[must_use]
    pub fn slowed(self, by: Duration) -> Self {
        Self { slowed: by, ..self }
    }

    /// The same directory on a disk that fails when it is ordered to. For checks of what a server
    /// makes of that.
    #[must_use]
    pub fn troubled(self, by: Option<&'static Trouble>) -> Self {
        Self {
            trouble: by,
            ..self
        }
    }

    fn file(&self, file: File, direct: Option<Direct>, is_whole: bool) -> RealFile {
        RealFile {
            file,
            direct: Mutex::new(direct),
            slowed: self.slowed,
            at_risk: self.trouble.map(|trouble| AtRisk::new(trouble, is_whole)),
        }
    }

    /// Takes from everybody but the owner what rights they have to the directory, and to its files for
    /// which `is_ours` holds, and answers what was open to others: an earlier version made it so.
    ///
    /// # Errors
    /// The directory cannot be read, or something in it is not ours to change.
    pub fn tighten(&self, is_ours: impl Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
        let mut tightened = Vec::new();
        let mut tighten = |path: PathBuf, mode: u32| {
            if fs::metadata(&path)?.permissions().mode() & OTHERS != 0 {
                fs::set_permissions(&path, Permissions::from_mode(mode))?;
                tightened.push(path);
            }
            io::Result::Ok(())
        };
        tighten(self.path.to_path_buf(), DIRECTORY_MODE)?;
        for name in self.list()?.into_iter().filter(|name| is_ours(name)) {
            let path = self.path.join(name);
            if fs::symlink_metadata(&path)?.is_file() {
                tighten(path, FILE_MODE)?;
            }
        }
        Ok(tightened)
    }

    /// The length of a file; 0 where there is none.
    #[must_use]
    pub fn bytes(&self, name: &str) -> u64 {
        let file = fs::metadata(self.path.join(name));
        file.map(|file| file.len()).unwrap_or_default()
    }

    /// Makes a file of at least `bytes` that holds its space on the disk and nothing else.
    ///
    /// # Errors
    /// Among others `StorageFull`; then there is no such file.
    pub fn reserve(&self, name: &str, bytes: u64) -> io::Result<()> {
        if let Some(trouble) = self.trouble {
            trouble.refuse_if_full()?;
        }
        let path = self.path.join(name);
        let held = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(FILE_MODE)
            .open(&path)
            .and_then(|file| hold(&file, bytes));
        if held.is_err() {
            fs::remove_file(&path)?;
        }
        held
    }

    /// Where the directory is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Disk for RealDisk {
    type File = RealFile;
    type Lock = RealLock;

    fn lock(&self) -> io::Result<Option<RealLock>> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(FILE_MODE)
            .open(self.path.join(LOCK_FILE))?;
        take(file)
    }

    fn lock_to_read(&self) -> io::Result<Option<RealLock>> {
        match File::open(self.path.join(LOCK_FILE)) {
            Ok(file) => take(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Some(RealLock { file: None }))
            }
            Err(error) => Err(error),
        }
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            // A name that is not UTF-8 is none of ours.
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn create(&self, name: &str, bytes: u64) -> io::Result<RealFile> {
        if let Some(trouble) = self.trouble {
            trouble.refuse_if_full()?;
        }
        let path = self.path.join(name);
        let file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .read(true)
            .write(true)
            .mode(FILE_MODE)
            .open(&path)?;
        let mut direct = None;
        if bytes > 0 {
            allocate(&file, bytes)?;
            if self.is_direct {
                direct = Direct::open(&path, bytes);
            }
            let filled = direct.as_ref().map(Direct::fill_with_zeros);
            fill_with_zeros(&file, filled.transpose()?.unwrap_or(0)..bytes)?;
        }
        Ok(self.file(file, direct, false))
    }

    fn open(&self, name: &str) -> io::Result<RealFile> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(self.path.join(name))?;
        Ok(self.file(file, None, true))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.directory.sync_all()
    }

    fn random(&self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

impl RealFile {
    /// Lets this reach past all trouble.
    fn with_medium<T>(&self, reach: impl FnOnce(&Medium<'_>) -> io::Result<T>) -> io::Result<T> {
        reach(&Medium {
            size: self.size()?,
            read: &|buffer, offset| self.file.read_exact_at(buffer, offset),
            write: &|bytes, offset| self.file.write_all_at(bytes, offset),
        })
    }
}

fn take(file: File) -> io::Result<Option<RealLock>> {
    match file.try_lock() {
        Ok(()) => Ok(Some(RealLock { file: Some(file) })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Waits as one does for a disk: the processor is free for others.
fn wait(time: Duration) -> io::Result<()> {
    let mut left = Timespec::try_from(time).map_err(io::Error::other)?;
    loop {
        match nanosleep(&left) {
            NanosleepRelativeResult::Ok => return Ok(()),
            NanosleepRelativeResult::Interrupted(rest) => left = rest,
            NanosleepRelativeResult::Err(error) => return Err(error.into()),
        }
    }
}

/// Reserves the space at once, so that a full disk is known before anything is written.
fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes) {
        // Not every file system can; the zeros that follow reserve the space as well.
        Ok(()) | Err(rustix::io::Errno::OPNOTSUPP) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Makes a file hold so much space; zeros do it where the file system cannot promise it.
fn hold(file: &File, bytes: u64) -> io::Result<()> {
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::OPNOTSUPP) => {
            let size = file.metadata()?.len();
            fill_with_zeros(file, size.min(bytes)..bytes)
        }
        Err(error) => Err(error.into()),
    }
}

fn fill_with_zeros(file: &File, bytes: Range<u64>) -> io::Result<()> {
    let zeros = vec![0; ZEROS_BYTES];
    let mut offset = bytes.start;
    while offset < bytes.end {
        let left = usize::try_from(bytes.end - offset).unwrap_or(usize::MAX);
        let piece = &zeros[..left.min(ZEROS_BYTES)];
        file.write_all_at(piece, offset)?;
        offset += u64::try_from(piece.len()).expect("a piece is small");
    }
    Ok(())
}

impl DiskFile for RealFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if let Some(at_risk) = &self.at_risk
            && !self.with_medium(|medium| at_risk.before_write(medium, bytes, offset))?
        {
            return Ok(());
        }
        let mut way = self.direct.lock().expect("nobody panics in a write");
        if let Some(direct) = way.as_mut().filter(|way| way.takes(bytes, offset)) {
            match direct.write(bytes, offset) {
                // The disk wants larger blocks, or the file system nothing of it at all.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                outcome => return outcome,
            }
        }
        // Who writes in another order than forward has another way from now on.
        *way = None;
        self.file.write_all_at(bytes, offset)
    }

    fn sync_data(&self) -> io::Result<()> {
        if let Some(at_risk) = &self.at_risk {
            self.with_medium(|medium| at_risk.at_sync(medium))?;
        }
        self.file.sync_data()?;
        if !self.slowed.is_zero() {
            wait(self.slowed)?;
        }
        Ok(())
    }

    fn forget_cache(&self) -> io::Result<()> {
        Ok(rustix::fs::fadvise(&self.file, 0, None, Advice::DontNeed)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_free_at_once_though_a_starting_program_has_its_file_open() {
        let directory = tempfile::tempdir().unwrap();
        let disk = RealDisk::open(directory.path()).unwrap();
        let lock = disk.lock().unwrap().unwrap();
        // What a process has open between fork and exec.
        let inherited = lock.file.as_ref().unwrap().try_clone().unwrap();
        assert!(disk.lock().unwrap().is_none());
        drop(lock);
        assert!(disk.lock().unwrap().is_some());
        drop(inherited);
    }
}
