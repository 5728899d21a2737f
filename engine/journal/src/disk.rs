//! The trait `Disk`: one directory of named files.

mod faulty;
mod real;

use std::io;

pub use faulty::{Fate, Fault, FaultyDisk, FaultyFile, FaultyLock, Unsynced};
pub use real::{LOCK_FILE, RealDisk, RealFile, RealLock, Trouble};

/// One directory of named files, and nothing beneath it.
///
/// Contract. What [`DiskFile::sync_data`] and [`sync_directory`](Self::sync_directory) have
/// confirmed MUST survive a power cut; nothing else needs to, in no order, and a file's synced
/// bytes are lost with a directory entry that is not durable. An error from either MUST be taken as
/// final by the caller: a second call may succeed although the bytes are lost. A full disk is
/// [`io::ErrorKind::StorageFull`]. Handles are cheap to clone and mean the same directory.
pub trait Disk: Clone + Send + Sync + 'static {
    type File: DiskFile;
    /// Dropping it lets the next one in.
    type Lock: Send;

    /// Takes the directory for this process; `None` when another holder has it.
    ///
    /// # Errors
    /// The directory cannot be locked at all.
    fn lock(&self) -> io::Result<Option<Self::Lock>>;

    /// The same for somebody who only looks: nothing is made in the directory. Where there is
    /// nothing to lock yet, no process has it, and one that comes meanwhile is not kept out.
    ///
    /// # Errors
    /// As [`lock`](Self::lock).
    fn lock_to_read(&self) -> io::Result<Option<Self::Lock>>;

    /// The names of all files, in no order.
    ///
    /// # Errors
    /// The directory cannot be read.
    fn list(&self) -> io::Result<Vec<String>>;

    /// A new file of `bytes` zeros in the place of any file of that name. The zeros are really
    /// written, so that later syncs have no extents to convert.
    ///
    /// # Errors
    /// Among others `StorageFull`; then a file of that name may be there, of any content.
    fn create(&self, name: &str, bytes: u64) -> io::Result<Self::File>;

    /// Opens an existing file for reading and writing.
    ///
    /// # Errors
    /// Among others `NotFound`.
    fn open(&self, name: &str) -> io::Result<Self::File>;

    /// Gives a file another name, in the place of any file of that name.
    ///
    /// # Errors
    /// Among others `NotFound`.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Among others `NotFound`.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes all creations, renames and removals so far durable.
    ///
    /// # Errors
    /// Final: see the contract.
    fn sync_directory(&self) -> io::Result<()>;

    /// A number that no journal had before.
    ///
    /// # Errors
    /// The source of randomness cannot be read.
    fn random(&self) -> io::Result<u64>;
}

/// An open file of a [`Disk`].
pub trait DiskFile: Send + Sync + 'static {
    /// Its length.
    ///
    /// # Errors
    /// The file cannot be asked.
    fn size(&self) -> io::Result<u64>;

    /// Fills all of `buffer` from `offset` on.
    ///
    /// # Errors
    /// Among others `UnexpectedEof`.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Writes all of `bytes` at `offset`; the file grows when it has to.
    ///
    /// # Errors
    /// Any part may have been written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Makes the file's bytes and length durable.
    ///
    /// # Errors
    /// Final: see the contract of [`Disk`].
    fn sync_data(&self) -> io::Result<()>;

    /// Asks that later reads come from the medium. A hint.
    ///
    /// # Errors
    /// The file cannot be asked.
    fn forget_cache(&self) -> io::Result<()>;
}
