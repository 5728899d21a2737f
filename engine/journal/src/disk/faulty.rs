//! A directory in memory that fails as real disks do, from a seed.

mod page;
mod state;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use self::state::State;
use super::{Disk, DiskFile};

/// What is kept or lost as a whole, or in part.
pub(super) const PAGE_BYTES: usize = 4096;

/// What is never torn: real disks write a sector whole or not at all.
pub(super) const SECTOR_BYTES: usize = 512;

/// Something that goes wrong once, at an operation that is chosen beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A write fails with EIO after a part of it.
    WriteError,
    /// A sync of a file fails with EIO. As on Linux, its pages then count as clean, read well, and
    /// most of them are not on the disk; a second sync succeeds and changes nothing.
    SyncError,
    /// A read fails with EIO.
    ReadError,
    /// A creation, renaming, removal or directory sync fails with EIO.
    DirectoryError,
    /// A write reports success and does nothing.
    LostWrite,
    /// A write reports success and goes to another page of its file.
    MisdirectedWrite,
    /// At any operation, which may still take effect: from here on, everything fails until
    /// [`FaultyDisk::crash`].
    PowerCut,
}

/// Something that a power cut may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsynced {
    /// A page of the file that was the n-th to be created, at this index in the file.
    Page { file: usize, page: usize },
    /// A creation, renaming or removal.
    Entry,
}

/// What a power cut does to something that was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Kept,
    Lost,
    /// Of a page, these sectors are kept: a bit for each. An entry is kept when any bit is set.
    Torn(u8),
}

/// A directory in memory that keeps apart what is synced and what is only in the cache.
///
/// It does the same for the same seed and the same calls. A handle is a clone; handles, files and
/// locks from before a crash are dead and fail. Memory is reused over [`reset`](Self::reset), so
/// that a simulation of a crash costs microseconds.
#[derive(Clone, Debug)]
pub struct FaultyDisk {
    state: Arc<Mutex<State>>,
    life: u64,
}

/// An open file of a [`FaultyDisk`].
#[derive(Debug)]
pub struct FaultyFile {
    disk: FaultyDisk,
    file: usize,
}

/// The lock of a [`FaultyDisk`].
#[derive(Debug)]
pub struct FaultyLock {
    disk: FaultyDisk,
}

impl FaultyDisk {
    /// An empty directory whose every decision comes from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            state: Arc::new(Mutex::new(State::new(seed))),
            life: 0,
        }
    }

    /// An empty directory again, with another seed, in the same memory; old handles are dead.
    pub fn reset(&mut self, seed: u64) {
        let mut state = self.guard();
        state.reset(seed);
        let life = state.life();
        drop(state);
        self.life = life;
    }

    /// Lets `fault` happen at the next operation of its kind after `operations` more of them.
    pub fn inject(&self, fault: Fault, operations: u64) {
        self.guard().inject(fault, operations);
    }

    /// Whether an injected fault has happened since the last crash or kill.
    #[must_use]
    pub fn has_struck(&self) -> bool {
        self.guard().has_struck()
    }

    /// How many bytes all files together may have; nothing means no limit.
    pub fn limit(&self, bytes: Option<u64>) {
        self.guard().limit(bytes);
    }

    /// How many operations there were, of every kind.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.guard().operations()
    }

    /// A power cut: of everything that is not synced, any part is kept, by the seed. Injected
    /// faults are forgotten. This handle is the first of the next life.
    pub fn crash(&mut self) {
        let mut state = self.guard();
        let mut random = state.fork();
        state.crash(&mut |_| match random.below(4) {
            0 => Fate::Lost,
            1 => Fate::Torn(random.byte()),
            _ => Fate::Kept,
        });
        let life = state.life();
        drop(state);
        self.life = life;
    }

    /// A power cut in which `fate` decides on every page and entry, entries first.
    pub fn crash_with(&mut self, mut fate: impl FnMut(Unsynced) -> Fate) {
        let mut state = self.guard();
        state.crash(&mut fate);
        let life = state.life();
        drop(state);
        self.life = life;
    }

    /// The process dies, the machine stays up: the cache survives, locks do not.
    pub fn kill(&mut self) {
        let mut state = self.guard();
        state.kill();
        let life = state.life();
        drop(state);
        self.life = life;
    }

    /// Flips one bit of a file, on the disk and in the cache.
    ///
    /// # Panics
    /// When there is no such file or bit.
    pub fn flip(&self, name: &str, bit: u64) {
        self.guard().flip(name, bit);
    }

    /// A file's bytes as they read now.
    ///
    /// # Panics
    /// When there is no such file.
    #[must_use]
    pub fn contents(&self, name: &str) -> Vec<u8> {
        self.guard().contents(name)
    }

    /// Puts bytes into a file, on the disk and in the cache.
    ///
    /// # Panics
    /// When there is no such file, or it is shorter.
    pub fn overwrite(&self, name: &str, offset: u64, bytes: &[u8]) {
        self.guard().overwrite(name, offset, bytes);
    }

    fn guard(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no operation panics halfway")
    }

    /// The state, for one operation of this life.
    fn live(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.guard();
        if state.life() == self.life {
            Ok(state)
        } else {
            Err(io::Error::other("this handle is from before a crash"))
        }
    }

    fn file(&self, file: usize) -> FaultyFile {
        FaultyFile {
            disk: self.clone(),
            file,
        }
    }
}

impl Disk for FaultyDisk {
    type File = FaultyFile;
    type Lock = FaultyLock;

    fn lock(&self) -> io::Result<Option<FaultyLock>> {
        let is_taken = self.live()?.lock()?;
        Ok(is_taken.then(|| FaultyLock { disk: self.clone() }))
    }

    fn lock_to_read(&self) -> io::Result<Option<FaultyLock>> {
        self.lock()
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.live()?.list()
    }

    fn create(&self, name: &str, bytes: u64) -> io::Result<FaultyFile> {
        let file = self.live()?.create(name, bytes)?;
        Ok(self.file(file))
    }

    fn open(&self, name: &str) -> io::Result<FaultyFile> {
        let file = self.live()?.open(name)?;
        Ok(self.file(file))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.live()?.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.live()?.remove(name)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.live()?.sync_directory()
    }

    fn random(&self) -> io::Result<u64> {
        Ok(self.live()?.fork().draw())
    }
}

impl DiskFile for FaultyFile {
    fn size(&self) -> io::Result<u64> {
        self.disk.live()?.size(self.file)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.disk.live()?.read(self.file, buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.disk.live()?.write(self.file, bytes, offset)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.disk.live()?.sync_data(self.file)
    }

    fn forget_cache(&self) -> io::Result<()> {
        self.disk.live()?.forget_cache(self.file);
        Ok(())
    }
}

impl Drop for FaultyLock {
    fn drop(&mut self) {
        let mut state = self.disk.guard();
        if state.life() == self.disk.life {
            state.unlock();
        }
    }
}
