//! What a faulty disk holds: for each page what is on the disk and what the cache shows, for the
//! directory the same, and the faults that wait.

use std::io;

use turnstile_seed::Random;

use super::page::{Page, PageBuffer, pieces, take_blank};
use super::{Fate, Fault, PAGE_BYTES, SECTOR_BYTES, Unsynced};

/// The system's number for an input/output error.
const EIO: i32 = 5;

/// How many pages are kept for reuse.
const SPARE_PAGES_MAX: usize = 4096;

#[derive(Debug, Default)]
struct PagedFile {
    size: u64,
    synced_size: u64,
    pages: Vec<Page>,
}

#[derive(Clone, Debug)]
enum Change {
    Put {
        name: String,
        file: usize,
    },
    Rename {
        from: String,
        to: String,
        file: usize,
    },
    Remove {
        name: String,
    },
}

type DirectoryEntries = Vec<(String, usize)>;

#[derive(Debug)]
pub(crate) struct State {
    random: Random,
    life: u64,
    is_locked: bool,
    is_off: bool,
    files: Vec<PagedFile>,
    /// The directory as it is on the disk, as the cache shows it, and what leads from one to the
    /// other.
    synced: DirectoryEntries,
    shown: DirectoryEntries,
    changes: Vec<Change>,
    waiting: Vec<(Fault, u64)>,
    has_struck: bool,
    limit: Option<u64>,
    operations: u64,
    spare: Vec<PageBuffer>,
}

impl State {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            life: 0,
            is_locked: false,
            is_off: false,
            files: Vec::new(),
            synced: Vec::new(),
            shown: Vec::new(),
            changes: Vec::new(),
            waiting: Vec::new(),
            has_struck: false,
            limit: None,
            operations: 0,
            spare: Vec::new(),
        }
    }

    pub(crate) fn reset(&mut self, seed: u64) {
        for file in &mut self.files {
            for page in file.pages.drain(..) {
                let bytes = page.disk.into_iter().chain(page.cache);
                self.spare.extend(bytes);
            }
        }
        self.spare.truncate(SPARE_PAGES_MAX);
        self.files.clear();
        self.synced.clear();
        self.shown.clear();
        self.changes.clear();
        self.waiting.clear();
        self.has_struck = false;
        self.random = Random::new(seed);
        self.life += 1;
        self.is_locked = false;
        self.is_off = false;
        self.limit = None;
        self.operations = 0;
    }

    pub(crate) const fn life(&self) -> u64 {
        self.life
    }

    pub(crate) const fn operations(&self) -> u64 {
        self.operations
    }

    pub(crate) fn inject(&mut self, fault: Fault, operations: u64) {
        self.waiting.push((fault, operations));
    }

    pub(crate) const fn has_struck(&self) -> bool {
        self.has_struck
    }

    pub(crate) const fn limit(&mut self, bytes: Option<u64>) {
        self.limit = bytes;
    }

    /// A generator of its own, so that what uses it does not disturb other decisions.
    pub(crate) fn fork(&mut self) -> Random {
        Random::new(self.random.draw())
    }

    /// Counts an operation that `kinds` of faults can hit; says which fault does.
    fn begin(&mut self, kinds: &[Fault]) -> io::Result<Option<Fault>> {
        self.operations += 1;
        if self.is_off {
            return Err(no_power());
        }
        let mut hit = None;
        for at in 0..self.waiting.len() {
            let (fault, left) = &mut self.waiting[at];
            if *fault != Fault::PowerCut && !kinds.contains(fault) {
                continue;
            }
            match left.checked_sub(1) {
                Some(less) => *left = less,
                None => hit = Some(at),
            }
        }
        self.has_struck |= hit.is_some();
        Ok(hit.map(|at| self.waiting.remove(at).0))
    }

    /// Whether an operation that the power cut hits still takes effect.
    fn cut_power(&mut self) -> bool {
        self.is_off = true;
        self.random.below(2) == 0
    }

    pub(crate) fn kill(&mut self) {
        self.life += 1;
        self.is_locked = false;
        self.is_off = false;
        self.waiting.clear();
        self.has_struck = false;
    }

    pub(crate) fn crash(&mut self, fate: &mut dyn FnMut(Unsynced) -> Fate) {
        let changes = std::mem::take(&mut self.changes);
        for change in changes {
            let is_kept = match fate(Unsynced::Entry) {
                Fate::Kept => true,
                Fate::Lost => false,
                Fate::Torn(sectors) => sectors != 0,
            };
            if is_kept {
                apply(&mut self.synced, change);
            }
        }
        self.shown.clone_from(&self.synced);
        for (index, file) in self.files.iter_mut().enumerate() {
            let is_named = self.synced.iter().any(|&(_, named)| named == index);
            for (number, page) in file.pages.iter_mut().enumerate() {
                if is_named && page.is_dirty {
                    let unsynced = Unsynced::Page {
                        file: index,
                        page: number,
                    };
                    page.settle(fate(unsynced), &mut self.spare);
                }
                self.spare.extend(page.cache.take());
                page.is_dirty = false;
            }
            if file.size != file.synced_size && self.random.below(2) == 0 {
                file.size = file.synced_size;
            }
            file.synced_size = file.size;
            let pages = pages_in(file.size);
            file.pages.truncate(pages);
        }
        self.kill();
    }

    pub(crate) fn flip(&mut self, name: &str, bit: u64) {
        let mut byte = [0];
        let file = self.find(name).expect("the file is there");
        self.copy_out(file, &mut byte, bit / 8);
        byte[0] ^= 1 << (bit % 8);
        self.overwrite(name, bit / 8, &byte);
    }

    pub(crate) fn contents(&self, name: &str) -> Vec<u8> {
        let file = self.find(name).expect("the file is there");
        let size = usize::try_from(self.files[file].size).expect("a file in memory");
        let mut bytes = vec![0; size];
        self.copy_out(file, &mut bytes, 0);
        bytes
    }

    pub(crate) fn overwrite(&mut self, name: &str, offset: u64, bytes: &[u8]) {
        let file = self.find(name).expect("the file is there");
        let end = offset + u64::try_from(bytes.len()).expect("a slice in memory");
        assert!(end <= self.files[file].size, "the file is long enough");
        for (number, within, piece) in pieces(offset, bytes.len()) {
            let page = &mut self.files[file].pages[number];
            let part = &bytes[piece.clone()];
            let disk = page.disk.get_or_insert_with(|| take_blank(&mut self.spare));
            disk[within..within + part.len()].copy_from_slice(part);
            if let Some(cache) = &mut page.cache {
                cache[within..within + part.len()].copy_from_slice(part);
            }
        }
    }

    pub(crate) fn lock(&mut self) -> io::Result<bool> {
        if self.begin(&[])?.is_some() && !self.cut_power() {
            return Err(no_power());
        }
        let is_free = !self.is_locked;
        self.is_locked = true;
        Ok(is_free)
    }

    pub(crate) const fn unlock(&mut self) {
        self.is_locked = false;
    }

    pub(crate) fn list(&mut self) -> io::Result<Vec<String>> {
        self.reading()?;
        Ok(self.shown.iter().map(|(name, _)| name.clone()).collect())
    }

    pub(crate) fn open(&mut self, name: &str) -> io::Result<usize> {
        self.reading()?;
        self.find(name)
    }

    pub(crate) fn size(&mut self, file: usize) -> io::Result<u64> {
        self.reading()?;
        Ok(self.files[file].size)
    }

    pub(crate) fn create(&mut self, name: &str, bytes: u64) -> io::Result<usize> {
        let file = self.files.len();
        let change = Change::Put {
            name: name.to_owned(),
            file,
        };
        if self.changing()? {
            self.take_space(bytes)?;
            let mut pages = Vec::new();
            pages.resize_with(pages_in(bytes), Page::default);
            self.files.push(PagedFile {
                size: bytes,
                synced_size: 0,
                pages,
            });
            self.change(change);
        }
        self.powered(file)
    }

    pub(crate) fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        let file = self.find(from)?;
        let change = Change::Rename {
            from: from.to_owned(),
            to: to.to_owned(),
            file,
        };
        if self.changing()? {
            self.change(change);
        }
        self.powered(())
    }

    pub(crate) fn remove(&mut self, name: &str) -> io::Result<()> {
        self.find(name)?;
        let change = Change::Remove {
            name: name.to_owned(),
        };
        if self.changing()? {
            self.change(change);
        }
        self.powered(())
    }

    pub(crate) fn sync_directory(&mut self) -> io::Result<()> {
        if self.changing()? {
            self.changes.clear();
            self.synced.clone_from(&self.shown);
        }
        self.powered(())
    }

    pub(crate) fn read(&mut self, file: usize, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.reading()?;
        let end = offset + u64::try_from(buffer.len()).expect("a slice in memory");
        if end > self.files[file].size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.copy_out(file, buffer, offset);
        Ok(())
    }

    pub(crate) fn write(&mut self, file: usize, bytes: &[u8], offset: u64) -> io::Result<()> {
        let kinds = [Fault::WriteError, Fault::LostWrite, Fault::MisdirectedWrite];
        match self.begin(&kinds)? {
            None => self.put(file, bytes, offset),
            Some(Fault::LostWrite) => Ok(()),
            Some(Fault::MisdirectedWrite) => {
                // In an empty file there is no other page: the write is lost.
                let pages = pages_in(self.files[file].size).max(1);
                let pages = u64::try_from(pages).expect("a file in memory");
                let page = self.random.below(pages);
                let page_bytes = u64::try_from(PAGE_BYTES).expect("a page is small");
                let elsewhere = page * page_bytes + offset % page_bytes;
                let room = self.files[file].size.saturating_sub(elsewhere);
                let kept = usize::try_from(room)
                    .expect("a file in memory")
                    .min(bytes.len());
                self.put(file, &bytes[..kept], elsewhere)
            }
            Some(fault) => {
                let is_whole = fault == Fault::PowerCut && self.cut_power();
                let part = if is_whole {
                    bytes.len()
                } else {
                    let sectors = u64::try_from(bytes.len() / SECTOR_BYTES).expect("a slice");
                    usize::try_from(self.random.below(sectors + 1)).expect("a slice") * SECTOR_BYTES
                };
                self.put(file, &bytes[..part], offset)?;
                Err(eio())
            }
        }
    }

    pub(crate) fn sync_data(&mut self, file: usize) -> io::Result<()> {
        let fault = self.begin(&[Fault::SyncError])?;
        let has_failed = fault == Some(Fault::SyncError);
        let is_lost = fault == Some(Fault::PowerCut) && !self.cut_power();
        if !is_lost {
            let mut random = self.fork();
            let file = &mut self.files[file];
            file.synced_size = file.size;
            for page in file.pages.iter_mut().filter(|page| page.is_dirty) {
                page.is_dirty = false;
                if !has_failed || random.below(4) == 0 {
                    page.write_back(&mut self.spare);
                }
            }
        }
        if has_failed {
            return Err(eio());
        }
        self.powered(())
    }

    pub(crate) fn forget_cache(&mut self, file: usize) {
        for page in &mut self.files[file].pages {
            if !page.is_dirty {
                self.spare.extend(page.cache.take());
            }
        }
    }

    fn reading(&mut self) -> io::Result<()> {
        match self.begin(&[Fault::ReadError])? {
            None => Ok(()),
            Some(Fault::PowerCut) => {
                self.is_off = true;
                Err(no_power())
            }
            Some(_) => Err(eio()),
        }
    }

    /// Begins a change of the directory; says whether it takes effect.
    fn changing(&mut self) -> io::Result<bool> {
        match self.begin(&[Fault::DirectoryError])? {
            None => Ok(true),
            Some(Fault::PowerCut) => Ok(self.cut_power()),
            Some(_) => Err(eio()),
        }
    }

    /// The result of an operation, unless the power went while it ran.
    fn powered<T>(&self, result: T) -> io::Result<T> {
        if self.is_off {
            Err(no_power())
        } else {
            Ok(result)
        }
    }

    fn change(&mut self, change: Change) {
        apply(&mut self.shown, change.clone());
        self.changes.push(change);
    }

    fn find(&self, name: &str) -> io::Result<usize> {
        let entry = self.shown.iter().find(|(shown, _)| shown == name);
        entry
            .map(|&(_, file)| file)
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn take_space(&self, bytes: u64) -> io::Result<()> {
        let Some(limit) = self.limit else {
            return Ok(());
        };
        let files = self.shown.iter().map(|&(_, file)| self.files[file].size);
        if files.sum::<u64>() + bytes > limit {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    fn put(&mut self, file: usize, bytes: &[u8], offset: u64) -> io::Result<()> {
        let end = offset + u64::try_from(bytes.len()).expect("a slice in memory");
        let size = self.files[file].size;
        if end > size {
            self.take_space(end - size)?;
            self.files[file].size = end;
            self.files[file]
                .pages
                .resize_with(pages_in(end), Page::default);
        }
        for (number, within, piece) in pieces(offset, bytes.len()) {
            let page = &mut self.files[file].pages[number];
            let part = &bytes[piece];
            page.cached(&mut self.spare)[within..within + part.len()].copy_from_slice(part);
            page.is_dirty = true;
        }
        Ok(())
    }

    fn copy_out(&self, file: usize, buffer: &mut [u8], offset: u64) {
        for (number, within, piece) in pieces(offset, buffer.len()) {
            let page = &self.files[file].pages[number];
            let part = &mut buffer[piece];
            match page.cache.as_ref().or(page.disk.as_ref()) {
                Some(bytes) => part.copy_from_slice(&bytes[within..within + part.len()]),
                None => part.fill(0),
            }
        }
    }
}

fn apply(directory: &mut DirectoryEntries, change: Change) {
    let take = |directory: &mut DirectoryEntries, name: &str| {
        let at = directory.iter().position(|(entry, _)| entry == name)?;
        Some(directory.swap_remove(at).1)
    };
    match change {
        Change::Put { name, file } => {
            take(directory, &name);
            directory.push((name, file));
        }
        // A file is moved, not a name: where its own creation was lost, nothing is.
        Change::Rename { from, to, file } => {
            let found = directory.iter().position(|at| at.0 == from && at.1 == file);
            if let Some(at) = found {
                directory.swap_remove(at);
                take(directory, &to);
                directory.push((to, file));
            }
        }
        Change::Remove { name } => {
            take(directory, &name);
        }
    }
}

fn pages_in(bytes: u64) -> usize {
    usize::try_from(bytes)
        .expect("a file in memory")
        .div_ceil(PAGE_BYTES)
}

fn eio() -> io::Error {
    io::Error::from_raw_os_error(EIO)
}

fn no_power() -> io::Error {
    io::Error::other("the power is off")
}
