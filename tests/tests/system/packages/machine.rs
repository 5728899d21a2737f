//! A machine on which a package is tried: a real systemd on this machine's own files, in namespaces.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

const BOOT: &str = include_str!("boot.sh");

const TIMEOUT: Duration = Duration::from_secs(60);

/// Runs until it is dropped. Whatever is written on it is gone then.
pub(super) struct Machine {
    unshare: Child,
    /// The process that is number 1 there.
    first: u32,
    group: PathBuf,
    _folder: tempfile::TempDir,
}

impl Machine {
    pub(super) fn boot() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let name = format!("turnstile-trial-{}", std::process::id());
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "--propagation=private", "--kill-child"]);
        unshare.args(["bash", "-c", BOOT, "boot"]);
        unshare.arg(folder.path()).arg(&name).stdin(Stdio::null());
        let unshare = unshare.spawn().expect("unshare, as root");
        let groups = Command::new("findmnt")
            .args(["--noheadings", "--first-only", "--output", "TARGET"])
            .args(["--types", "cgroup2"])
            .output()
            .expect("findmnt");
        let groups = String::from_utf8(groups.stdout).expect("a path");
        let mut machine = Self {
            unshare,
            first: 0,
            group: Path::new(groups.trim()).join(name),
            _folder: folder,
        };
        machine.await_start();
        machine
    }

    fn await_start(&mut self) {
        let begun = Instant::now();
        loop {
            if let Some(ended) = self.unshare.try_wait().expect("a child") {
                panic!("the machine did not boot: {ended}");
            }
            if let Some(first) = self.first_process() {
                self.first = first;
                let state = self.call(&["systemctl", "is-system-running", "--wait"]);
                let state = String::from_utf8_lossy(&state.stdout).trim().to_owned();
                if state == "running" || state == "degraded" {
                    return;
                }
            }
            assert!(begun.elapsed() < TIMEOUT, "the machine does not boot");
            thread::yield_now();
        }
    }

    /// The systemd below the process that we started.
    fn first_process(&self) -> Option<u32> {
        let mut at = self.unshare.id();
        loop {
            let name = fs::read_to_string(format!("/proc/{at}/comm")).ok()?;
            if name.trim() == "systemd" {
                return Some(at);
            }
            let children = fs::read_to_string(format!("/proc/{at}/task/{at}/children")).ok()?;
            at = children.split_whitespace().next()?.parse().ok()?;
        }
    }

    /// Runs a program there to its end.
    pub(super) fn call(&self, words: &[&str]) -> Output {
        let mut command = Command::new("timeout");
        command.args(["300", "nsenter", "--target", &self.first.to_string()]);
        command.args(["--mount", "--pid", "--net", "--cgroup", "--ipc", "--uts"]);
        command.args(["--root", "--wd", "env", "--ignore-environment"]);
        command.args(["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"]);
        command.args(["DEBIAN_FRONTEND=noninteractive"]).args(words);
        command.stdin(Stdio::null()).output().expect("nsenter")
    }

    /// Copies a file to it.
    pub(super) fn put(&self, file: &Path, to: &str) {
        let root = format!("/proc/{}/root{to}", self.first);
        fs::copy(file, root).expect("a file of the machine");
    }

    /// Runs a program that must succeed, and returns what it printed.
    pub(super) fn done(&self, words: &[&str]) -> String {
        let output = self.call(words);
        assert!(
            output.status.success(),
            "{words:?}: {output:?}\n{}",
            self.log()
        );
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// A property of the service, as systemd has it.
    pub(super) fn shows(&self, property: &str) -> String {
        let property = format!("--property={property}");
        self.done(&["systemctl", "show", "turnstile", &property, "--value"])
    }

    /// What the service has logged.
    pub(super) fn log(&self) -> String {
        let log = self.call(&["journalctl", "--no-pager", "--unit=turnstile"]);
        String::from_utf8_lossy(&log.stdout).into_owned()
    }

    /// Returns when a property of the service has this value.
    pub(super) fn await_shown(&self, property: &str, value: &str) {
        let begun = Instant::now();
        loop {
            let shown = self.shows(property);
            if shown == value {
                return;
            }
            assert!(
                begun.elapsed() < TIMEOUT,
                "{property} is {shown}\n{}",
                self.log()
            );
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.unshare.kill().ok();
        self.unshare.wait().ok();
        fs::write(self.group.join("cgroup.kill"), "1").ok();
        // A group is busy until its last process is gone.
        let begun = Instant::now();
        while self.group.exists() && begun.elapsed() < TIMEOUT {
            self.remove_groups();
            thread::yield_now();
        }
    }
}

impl Machine {
    fn remove_groups(&self) {
        let mut folders = vec![self.group.clone()];
        let mut at = 0;
        while let Some(folder) = folders.get(at).cloned() {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            folders.extend(
                entries
                    .map(|entry| entry.path())
                    .filter(|path| path.is_dir()),
            );
            at += 1;
        }
        for folder in folders.iter().rev() {
            fs::remove_dir(folder).ok();
        }
    }
}
