//! Disk space reserved for a snapshot when the disk is full.
//!
//! Only a snapshot lets old segments go, and a full disk has no room for one: without the reserve a
//! disk that is full once stays full. The reserve is a file that nobody reads.

use std::io;

use turnstile_journal::{Disk as _, RealDisk, snapshot};

/// The file's name in the data directory.
pub(crate) const FILE: &str = "reserve";

/// The smallest reserve: the snapshot of some hundred thousand bookings fits in.
const RESERVE_BYTES_MIN: u64 = 16 << 20;

/// Makes the reserve unless it is there: for a snapshot a quarter larger than the newest one.
///
/// # Errors
/// Among others `StorageFull`: then there is none.
pub(crate) fn keep(disk: &RealDisk) -> io::Result<()> {
    let newest = snapshot::positions(disk)?.first().copied();
    let newest_bytes = newest.map_or(0, |position| disk.bytes(&snapshot::name(position)));
    let bytes = RESERVE_BYTES_MIN.max(newest_bytes + newest_bytes / 4);
    disk.reserve(FILE, bytes)
}

/// Gives the space back; says whether there was any.
pub(crate) fn give_up(disk: &RealDisk) -> io::Result<bool> {
    match disk.remove(FILE) {
        Ok(()) => disk.sync_directory().map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
