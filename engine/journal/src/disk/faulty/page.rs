//! One page of a faulty disk: its durable bytes and its cached bytes.

use super::{Fate, PAGE_BYTES, SECTOR_BYTES};

pub(super) type PageBuffer = Box<[u8; PAGE_BYTES]>;

/// One page. Absent bytes are zeros on the disk, and "as on the disk" in the cache.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) disk: Option<PageBuffer>,
    pub(super) cache: Option<PageBuffer>,
    pub(super) is_dirty: bool,
}

impl Page {
    pub(super) fn cached(&mut self, spare: &mut Vec<PageBuffer>) -> &mut [u8; PAGE_BYTES] {
        let disk = &self.disk;
        self.cache.get_or_insert_with(|| {
            let mut bytes = take_blank(spare);
            if let Some(disk) = disk {
                bytes.copy_from_slice(&disk[..]);
            }
            bytes
        })
    }

    pub(super) fn write_back(&mut self, spare: &mut Vec<PageBuffer>) {
        if let Some(bytes) = self.cache.take() {
            spare.extend(self.disk.replace(bytes));
        }
    }

    pub(super) fn settle(&mut self, fate: Fate, spare: &mut Vec<PageBuffer>) {
        match fate {
            Fate::Kept => self.write_back(spare),
            Fate::Lost => {}
            Fate::Torn(sectors) => {
                let Some(cache) = &self.cache else { return };
                let disk = self.disk.get_or_insert_with(|| take_blank(spare));
                for sector in (0..8).filter(|sector| sectors & (1 << sector) != 0) {
                    let bytes = sector * SECTOR_BYTES..(sector + 1) * SECTOR_BYTES;
                    disk[bytes.clone()].copy_from_slice(&cache[bytes]);
                }
            }
        }
    }
}

pub(super) fn take_blank(spare: &mut Vec<PageBuffer>) -> PageBuffer {
    match spare.pop() {
        Some(mut bytes) => {
            bytes.fill(0);
            bytes
        }
        None => Box::new([0; PAGE_BYTES]),
    }
}

/// The pages that `length` bytes at `offset` touch: page, offset in the page, and which bytes.
pub(super) fn pieces(
    offset: u64,
    length: usize,
) -> impl Iterator<Item = (usize, usize, std::ops::Range<usize>)> {
    let start = usize::try_from(offset).expect("a file in memory");
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == length {
            return None;
        }
        let within = (start + done) % PAGE_BYTES;
        let part = (PAGE_BYTES - within).min(length - done);
        let piece = ((start + done) / PAGE_BYTES, within, done..done + part);
        done += part;
        Some(piece)
    })
}
