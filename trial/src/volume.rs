//! A small ext4 on a loop device, whose power can be cut.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::ioctl::{self, Setter};
use tempfile::TempDir;

/// `_IOR('X', 125, __u32)`: the file system stops at once, as it does when its device is gone.
const SHUTDOWN: ioctl::Opcode = 0x8004_587d;

/// How long the kernel may take to let go of a device that nobody uses any more.
const UNMOUNT: Duration = Duration::from_secs(20);

/// What becomes of the file system's own log when the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeLog {
    /// It is written to the device first.
    Flushed,
    /// It is lost with everything else.
    Lost,
}

/// A file system of its own, unmounted when it goes out of scope.
#[derive(Debug)]
pub struct Volume {
    folder: TempDir,
    is_mounted: bool,
}

impl Volume {
    /// Makes one of so many mebibytes; where mounts are not allowed, says which promise stays
    /// untested and returns nothing.
    ///
    /// # Panics
    /// As [`no_mount`](crate::no_mount).
    #[must_use]
    pub fn make(mebibytes: u32, promise: &str) -> Option<Self> {
        let failure = match Self::try_make(mebibytes) {
            Ok(volume) => return Some(volume),
            Err(failure) => failure,
        };
        crate::no_mount(promise, &failure);
        None
    }

    fn try_make(mebibytes: u32) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut volume = Self {
            folder,
            is_mounted: false,
        };
        let image = File::create(volume.image()).map_err(|error| error.to_string())?;
        let sized = image.set_len(u64::from(mebibytes) << 20);
        sized.map_err(|error| error.to_string())?;
        let made = std::fs::create_dir(volume.mount_point());
        made.map_err(|error| error.to_string())?;
        let mut format = Command::new("mkfs.ext4");
        format.args(["-q", "-F", "-m", "0"]).arg(volume.image());
        succeed(&mut format)?;
        volume.mount()?;
        Ok(volume)
    }

    fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }

    fn mount_point(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    /// Where the server keeps its data.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.mount_point().join("data")
    }

    /// From now on nothing reaches the device, and what was not synced is lost.
    ///
    /// # Panics
    /// When the file system does not know how to stop.
    #[expect(unsafe_code, reason = "the system has no other call for this")]
    pub fn cut(&self, log: VolumeLog) {
        let flag: u32 = match log {
            VolumeLog::Flushed => 1,
            VolumeLog::Lost => 2,
        };
        let root = File::open(self.mount_point()).expect("the volume is mounted");
        // SAFETY: the operation reads one `u32` through the pointer, which is what `Setter` passes.
        let cut = unsafe { ioctl::ioctl(&root, Setter::<SHUTDOWN, u32>::new(flag)) };
        cut.expect("ext4 knows this operation");
    }

    /// The power is back: what the device holds is mounted. No process may use the volume.
    ///
    /// # Panics
    /// When it cannot be mounted again.
    pub fn remount(&mut self) {
        let deadline = Instant::now() + UNMOUNT;
        loop {
            self.unmount().expect("nobody uses the volume");
            self.mount().expect("it was mounted before");
            // As long as a mount namespace that was made meanwhile has a copy of the mount, the file system that
            // has stopped is what is mounted again.
            match tempfile::tempfile_in(self.mount_point()) {
                Ok(_) => return,
                Err(error) => assert!(
                    Instant::now() < deadline,
                    "the volume stays stopped: {error}"
                ),
            }
        }
    }

    /// Leaves so many mebibytes free, in a file that can be removed.
    ///
    /// # Panics
    /// When less is free.
    #[must_use]
    pub fn fill(&self, mebibytes_left: u64) -> Ballast {
        let ballast = self.fill_up();
        let file = File::options().write(true).open(&ballast.path);
        let file = file.expect("the ballast is there");
        let bytes = file.metadata().expect("the ballast is there").len();
        let rest = bytes.checked_sub(mebibytes_left << 20);
        let freed = file.set_len(rest.expect("so much was free"));
        freed.expect("a file can be made shorter");
        ballast
    }

    /// Leaves no room at all, also while somebody writes there.
    ///
    /// # Panics
    /// When the file system refuses for another reason than that.
    #[must_use]
    pub fn fill_up(&self) -> Ballast {
        let path = self.mount_point().join("ballast");
        let file = File::create(&path).expect("there is space for a name");
        let (mut bytes, mut step) = (0, 64 << 20);
        while step >= 4_096 {
            match rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), bytes, step) {
                Ok(()) => bytes += step,
                Err(Errno::NOSPC) => step /= 2,
                Err(error) => panic!("{}: {error}", path.display()),
            }
        }
        Ballast { path }
    }

    fn mount(&mut self) -> Result<(), String> {
        let mut mount = Command::new("mount");
        // Of itself it writes nothing for as long as a slow test takes: usually it does so every 5 s.
        mount
            .args(["-o", "loop,commit=600"])
            .arg(self.image())
            .arg(self.mount_point());
        succeed(&mut mount)?;
        self.is_mounted = true;
        Ok(())
    }

    /// A child that is being started holds our open files for a moment, so it may need some tries.
    fn unmount(&mut self) -> Result<(), String> {
        let deadline = Instant::now() + UNMOUNT;
        loop {
            let flags = rustix::mount::UnmountFlags::empty();
            match rustix::mount::unmount(self.mount_point(), flags) {
                Ok(()) => break,
                Err(Errno::BUSY) if Instant::now() < deadline => thread::yield_now(),
                Err(error) => return Err(format!("{}: {error}", self.mount_point().display())),
            }
        }
        self.is_mounted = false;
        Ok(())
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        if self.is_mounted
            && let Err(error) = self.unmount()
        {
            // Detached, it goes as soon as the last user does.
            let flags = rustix::mount::UnmountFlags::DETACH;
            let detached = rustix::mount::unmount(self.mount_point(), flags);
            assert!(thread::panicking(), "{error}; detached: {detached:?}");
        }
    }
}

/// Space that is taken until it is freed.
#[derive(Debug)]
pub struct Ballast {
    path: PathBuf,
}

impl Ballast {
    /// Frees the space.
    ///
    /// # Panics
    /// When its file is gone.
    pub fn free(self) {
        remove(&self.path);
    }
}

fn remove(path: &Path) {
    std::fs::remove_file(path).expect("the file is ours");
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "{command:?} ended with {}: {}",
        output.status,
        errors.trim()
    ))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    use super::*;

    #[test]
    fn a_mount_namespace_made_meanwhile_does_not_keep_the_power_away() {
        let Some(mut volume) = Volume::make(32, "the power of a volume comes back") else {
            return;
        };
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "--propagation=private", "sh", "-c"]);
        unshare.arg("echo begun; exec sleep 1");
        let mut child = unshare.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "begun\n");
        std::fs::write(volume.mount_point().join("lost"), "lost").unwrap();
        volume.cut(VolumeLog::Lost);
        volume.remount();
        assert!(!volume.mount_point().join("lost").exists());
        std::fs::write(volume.mount_point().join("kept"), "kept").unwrap();
        child.wait().unwrap();
    }
}
