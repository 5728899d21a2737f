//! Disk usage of a data directory, and the free space of its file system.

use std::{fs, io, path::Path};

use turnstile_journal::{is_segment, snapshot};

/// Bytes of a directory's files, and of its file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskUsage {
    /// Bytes of the journal's segments, which have their full size from the start.
    pub journal_bytes: u64,
    /// Bytes of snapshots.
    pub snapshot_bytes: u64,
    /// Bytes of the file system that this process may still write.
    pub free_bytes: u64,
}

impl DiskUsage {
    /// Asks the system. Files that come and go meanwhile may be left out.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn of(directory: &Path) -> io::Result<Self> {
        let system = rustix::fs::statvfs(directory)?;
        let mut usage = Self {
            free_bytes: system.f_bavail.saturating_mul(system.f_frsize),
            ..Self::default()
        };
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let of_kind = if is_segment(&name) {
                &mut usage.journal_bytes
            } else if snapshot::position(&name).is_some() {
                &mut usage.snapshot_bytes
            } else {
                continue;
            };
            *of_kind += entry.metadata().map_or(0, |metadata| metadata.len());
        }
        Ok(usage)
    }
}
