//! Which process has the lock of a data directory.

use std::{
    fs::{self, Metadata},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

/// The process that has a directory, in words.
pub(super) fn of(directory: &Path) -> String {
    find(directory).unwrap_or_else(|| "another process".to_owned())
}

/// The process that has a directory, in words; nothing where the system does not tell of one.
pub(super) fn find(directory: &Path) -> Option<String> {
    let lock = fs::metadata(directory.join("lock")).ok()?;
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let pid = locker(&locks, &file_of(&lock))?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some(format!("process {pid} ({})", name.trim_end()))
}

/// A file as `/proc/locks` names it: `fe:00:1234`.
fn file_of(lock: &Metadata) -> String {
    let (major, minor) = (rustix::fs::major(lock.dev()), rustix::fs::minor(lock.dev()));
    format!("{major:02x}:{minor:02x}:{}", lock.ino())
}

/// `1: FLOCK  ADVISORY  WRITE 14557 fe:00:9977879 0 EOF` for this file. Those who wait for a lock have an
/// arrow behind the number; a process of another container has no number of ours.
fn locker(locks: &str, file: &str) -> Option<u32> {
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_number, "FLOCK", _advisory, "WRITE", pid, found, ..] = words[..] else {
            return None;
        };
        (found == file).then(|| pid.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_names_its_process() {
        let locks = "1: POSIX  ADVISORY  WRITE 7 fe:00:12 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 8 fe:00:12 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 9 fe:00:13 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE -1 fe:00:14 0 EOF\n";
        assert_eq!(locker(locks, "fe:00:12"), Some(8));
        assert_eq!(locker(locks, "fe:00:13"), None);
        assert_eq!(locker(locks, "fe:00:14"), None);
    }
}
