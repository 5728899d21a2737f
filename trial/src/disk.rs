//! A small disk of a test's own, that becomes full.

use std::{
    fs::File,
    io::{ErrorKind, Write},
    path::Path,
    process::Command,
};

use tempfile::TempDir;

use crate::no_mount;

/// How much of a filler is written at once: large first, then what a page of memory takes.
const BLOCKS: [usize; 2] = [1 << 20, 1 << 12];

/// A file system in memory that takes so much and no more. It is unmounted when it is dropped, for
/// which whoever has files there must have been dropped before.
#[derive(Debug)]
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// Mounts a disk of so many MiB; where that is not allowed, says which promise stays untested and
    /// returns nothing.
    ///
    /// # Panics
    /// As [`no_mount`].
    #[must_use]
    pub fn mount(mebibytes: u32, promise: &str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder to mount a disk at");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={mebibytes}m")]);
        let mounted = mount.arg("tmpfs").arg(folder.path()).output();
        let failure = match mounted {
            Ok(mounted) if mounted.status.success() => return Some(Self { folder }),
            Ok(mounted) => String::from_utf8_lossy(&mounted.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
        no_mount(promise, failure.trim());
        None
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Takes all room that is left.
    ///
    /// # Panics
    /// When anything but a lack of room ends that.
    #[must_use]
    pub fn fill(&self) -> Filler<'_> {
        let filler = Filler(self);
        let mut file = File::create(filler.path()).expect("a disk takes a file");
        for block in BLOCKS {
            let bytes = vec![1; block];
            let failure = loop {
                if let Err(failure) = file.write_all(&bytes) {
                    break failure;
                }
            };
            assert_eq!(failure.kind(), ErrorKind::StorageFull, "{failure}");
        }
        filler
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount")
            .arg("--lazy")
            .arg(self.path())
            .status();
        assert!(
            unmounted.is_ok_and(|status| status.success()),
            "what was mounted is unmounted"
        );
    }
}

/// What takes the room of a disk, until it is dropped.
#[derive(Debug)]
pub struct Filler<'a>(&'a SmallDisk);

impl Filler<'_> {
    fn path(&self) -> std::path::PathBuf {
        self.0.path().join("filler")
    }
}

impl Drop for Filler<'_> {
    fn drop(&mut self) {
        std::fs::remove_file(self.path()).expect("a filler was there");
    }
}
