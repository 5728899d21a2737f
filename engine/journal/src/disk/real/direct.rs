//! Sequential writes past the page cache.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::Path,
};

use rustix::fs::OFlags;

/// What a write past the cache begins at, is a multiple of, and comes from: enough for every disk
/// that we know of, and what the page cache would write as well.
const BLOCK: usize = 4_096;

/// Blocks of one write: most groups are one.
const BLOCKS: usize = 64;

/// How much is zero-filled with one write.
const ZEROS_BYTES: usize = 1024 * 1024;

/// A file of fixed size, full of zeros from `end` on once it is filled.
///
/// A block that is not full when it is written is written again, longer, by the next write; what it
/// held is the same in both, so a torn write loses nothing that was synced. The page cache does the
/// same, only later, and with more work for each sync: it marks pages, looks for them and waits.
#[derive(Debug)]
pub(super) struct Direct {
    file: File,
    size: u64,
    /// How far the file was written.
    end: u64,
    window: DirectWindow,
}

/// Memory for one write: it begins with the block in which the file's end lies, as it is on disk.
#[derive(Debug)]
struct DirectWindow {
    memory: Vec<u8>,
    /// Where the memory begins to lie as the disk wants it.
    start: usize,
}

impl Direct {
    /// A way into the file at `path`; none where it cannot be opened so, for whatever reason: there is
    /// always the other way.
    pub(super) fn open(path: &Path, size: u64) -> Option<Self> {
        let flags = i32::try_from(OFlags::DIRECT.bits()).expect("a flag of open fits an int");
        let file = OpenOptions::new()
            .write(true)
            .custom_flags(flags)
            .open(path)
            .ok()?;
        Some(Self {
            file,
            size,
            end: 0,
            window: DirectWindow::empty(),
        })
    }

    /// Fills the file's whole blocks with zeros, and answers how many bytes that were: none where the
    /// disk wants larger blocks, or the file system nothing of it at all.
    pub(super) fn fill_with_zeros(&self) -> io::Result<u64> {
        let memory = vec![0; ZEROS_BYTES + BLOCK];
        let zeros = &memory[memory.as_ptr().align_offset(BLOCK)..][..ZEROS_BYTES];
        let mut filled = 0;
        while filled < self.blocks() {
            let left = usize::try_from(self.blocks() - filled).unwrap_or(usize::MAX);
            let piece = &zeros[..left.min(ZEROS_BYTES)];
            match self.file.write_all_at(piece, filled) {
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(0),
                outcome => outcome?,
            }
            filled += widened(piece.len());
        }
        Ok(filled)
    }

    /// The bytes of the file's whole blocks.
    fn blocks(&self) -> u64 {
        self.size - self.size % widened(BLOCK)
    }

    /// Whether a write goes on behind the end, and no block of it reaches out of the file.
    pub(super) fn takes(&self, bytes: &[u8], offset: u64) -> bool {
        let behind = offset.checked_add(widened(bytes.len()));
        offset >= self.end && behind.is_some_and(|behind| behind <= self.blocks())
    }

    /// Writes what it [`takes`](Self::takes).
    pub(super) fn write(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let block = widened(BLOCK);
        if offset / block != self.end / block {
            self.window.clear();
        }
        self.end = offset;
        let mut rest = bytes;
        while !rest.is_empty() {
            let before = usize::try_from(self.end % block).expect("a block is small");
            let (piece, later) = rest.split_at(rest.len().min(BLOCKS * BLOCK - before));
            let blocks = self.window.fill(before, piece);
            let begin = self.end - widened(before);
            self.file.write_all_at(blocks, begin)?;
            self.window.keep_last(before + piece.len());
            self.end += widened(piece.len());
            rest = later;
        }
        Ok(())
    }
}

impl DirectWindow {
    fn empty() -> Self {
        let memory = vec![0; (BLOCKS + 1) * BLOCK];
        let start = memory.as_ptr().align_offset(BLOCK);
        Self { memory, start }
    }

    fn bytes(&mut self) -> &mut [u8] {
        self.memory
            .get_mut(self.start..self.start + BLOCKS * BLOCK)
            .expect("one block more than is used was allocated")
    }

    /// Forgets the first block: the next write begins with one of zeros.
    fn clear(&mut self) {
        self.bytes()[..BLOCK].fill(0);
    }

    /// Puts a piece behind what the first block holds, zeros behind the piece, and answers the
    /// blocks that are to be written.
    fn fill(&mut self, before: usize, piece: &[u8]) -> &[u8] {
        let filled = before + piece.len();
        let whole = filled.next_multiple_of(BLOCK);
        let bytes = self.bytes();
        bytes[before..filled].copy_from_slice(piece);
        bytes[filled..whole].fill(0);
        &bytes[..whole]
    }

    /// Moves the block in which the next write begins to the front.
    fn keep_last(&mut self, filled: usize) {
        let last = filled - filled % BLOCK;
        if last == filled {
            self.clear();
        } else {
            self.bytes().copy_within(last..last + BLOCK, 0);
        }
    }
}

fn widened(bytes: usize) -> u64 {
    u64::try_from(bytes).expect("a length fits 64 bits")
}
