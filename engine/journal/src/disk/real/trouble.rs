//! Disk faults on order, for tests of a running server.

use std::io;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use turnstile_seed::Random;

/// The system's number for an input/output error.
const EIO: i32 = 5;

/// What is kept or lost as a whole.
const PAGE_BYTES: usize = 4_096;

/// Of so many pages that a failed sync was for, one is on the disk nevertheless.
const KEPT_ONE_IN: u64 = 4;

/// Orders to a directory: from anybody, at any time.
///
/// A sync that fails takes with it what it was for, as on Linux: most pages that were written since
/// the sync before are what they were then, only nobody sees it who does not read them from the disk.
/// Here it shows at once. Not counted is the sync that makes a new file whole: nothing depends on it
/// yet, and who fails there tries again.
#[derive(Debug, Default)]
pub struct Trouble {
    /// Which sync of a whole file fails, from now on; zero is none.
    left: AtomicU32,
    /// The one that fails says that all is well, and so do all later ones, which lose everything, too.
    is_silent: AtomicBool,
    has_struck: AtomicBool,
    is_full: AtomicBool,
}

/// What an open file has to lose.
#[derive(Debug)]
pub(super) struct AtRisk {
    trouble: &'static Trouble,
    /// Whether the file was synced since it was created, or was there already.
    is_whole: AtomicBool,
    unsynced: Mutex<Vec<BeforeImage>>,
}

/// What was there before something was written, in pages.
#[derive(Debug)]
struct BeforeImage {
    offset: u64,
    before: Vec<u8>,
}

/// How a file is read and written, past all trouble.
pub(super) struct Medium<'a> {
    pub(super) size: u64,
    pub(super) read: &'a dyn Fn(&mut [u8], u64) -> io::Result<()>,
    pub(super) write: &'a dyn Fn(&[u8], u64) -> io::Result<()>,
}

impl Trouble {
    /// Nothing goes wrong yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            left: AtomicU32::new(0),
            is_silent: AtomicBool::new(false),
            has_struck: AtomicBool::new(false),
            is_full: AtomicBool::new(false),
        }
    }

    /// Lets the n-th sync from now on fail, once; 0 takes that back. With the second or a later one it
    /// is certain that all that was written before it is noted, and can be lost.
    pub fn fail_sync(&self, nth: u32) {
        self.is_silent.store(false, Ordering::SeqCst);
        self.left.store(nth, Ordering::SeqCst);
    }

    /// Lets the n-th sync and all after it lose what they are for, without a word. No server can keep
    /// a promise on such a disk: whoever looks for broken promises must find them then.
    pub fn lose_sync(&self, nth: u32) {
        self.is_silent.store(true, Ordering::SeqCst);
        self.left.store(nth, Ordering::SeqCst);
    }

    /// Lets the disk have no room: for a new file, or beyond the end of another.
    pub fn fill(&self, is_full: bool) {
        self.is_full.store(is_full, Ordering::SeqCst);
    }

    pub(super) fn refuse_if_full(&self) -> io::Result<()> {
        if self.is_full.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    /// Whether this sync is the one that fails.
    fn strikes(&self) -> bool {
        let count = |left: u32| left.checked_sub(1);
        let last = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, count);
        let strikes = last == Ok(1);
        if strikes {
            self.has_struck.store(true, Ordering::SeqCst);
        }
        strikes
    }

    fn loses_silently(&self) -> bool {
        self.is_silent.load(Ordering::SeqCst) && self.has_struck.load(Ordering::SeqCst)
    }
}

impl AtRisk {
    /// Of a file that was just created, or was there already.
    pub(super) fn new(trouble: &'static Trouble, is_whole: bool) -> Self {
        Self {
            trouble,
            is_whole: AtomicBool::new(is_whole),
            unsynced: Mutex::new(Vec::new()),
        }
    }

    /// Before something is written: notes what is there, while some sync is going to fail. Whether it
    /// is written at all.
    pub(super) fn before_write(
        &self,
        medium: &Medium<'_>,
        bytes: &[u8],
        offset: u64,
    ) -> io::Result<bool> {
        let end = offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        if end > medium.size {
            self.trouble.refuse_if_full()?;
        }
        if !self.is_whole.load(Ordering::SeqCst) {
            return Ok(true);
        }
        if self.trouble.loses_silently() {
            return Ok(false);
        }
        if self.trouble.left.load(Ordering::SeqCst) > 0 && end <= medium.size {
            let mut unsynced = self.unsynced.lock().expect("nobody panics in a write");
            for piece in pages(offset, bytes.len()) {
                let mut before = vec![0; piece.len()];
                let offset = offset + u64::try_from(piece.start).expect("it is in memory");
                (medium.read)(&mut before, offset)?;
                unsynced.push(BeforeImage { offset, before });
            }
        }
        Ok(true)
    }

    /// Instead of a sync that fails; nothing when it does not.
    pub(super) fn at_sync(&self, medium: &Medium<'_>) -> io::Result<()> {
        if !self.is_whole.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let strikes = self.trouble.strikes();
        let mut unsynced = self.unsynced.lock().expect("nobody panics in a sync");
        let unsynced = std::mem::take(&mut *unsynced);
        if !strikes {
            return Ok(());
        }
        let is_silent = self.trouble.loses_silently();
        // What was written twice was noted twice: the first was there before.
        for page in unsynced.into_iter().rev() {
            if is_silent || !Random::new(page.offset).one_in(KEPT_ONE_IN) {
                (medium.write)(&page.before, page.offset)?;
            }
        }
        if is_silent {
            return Ok(());
        }
        Err(io::Error::from_raw_os_error(EIO))
    }
}

/// The parts of a write, none of which reaches over the end of a page of the file.
fn pages(offset: u64, length: usize) -> impl Iterator<Item = Range<usize>> {
    let page = u64::try_from(PAGE_BYTES).expect("a page is small");
    let within = usize::try_from(offset % page).expect("a page is small");
    let mut start = 0;
    std::iter::from_fn(move || {
        let end = (start + PAGE_BYTES - (start + within) % PAGE_BYTES).min(length);
        let piece = start..end;
        start = end;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_write_reaches_over_the_end_of_a_page() {
        let page = PAGE_BYTES as u64;
        for (offset, length) in [
            (0, 1),
            (5, PAGE_BYTES),
            (page - 1, 2),
            (3 * page + 7, 3 * PAGE_BYTES),
        ] {
            let parts: Vec<_> = pages(offset, length).collect();
            assert_eq!(
                parts.iter().map(ExactSizeIterator::len).sum::<usize>(),
                length
            );
            for (index, part) in parts.iter().enumerate() {
                let begins = offset + part.start as u64;
                let ends = offset + part.end as u64 - 1;
                assert_eq!(begins / page, ends / page, "{offset} {part:?}");
                assert!(
                    index == 0 || begins.is_multiple_of(page),
                    "{offset} {part:?}"
                );
            }
        }
    }
}
