//! Trouble in the system calls of another process, made by strace.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

/// What strace does to system calls, until it is dropped.
#[derive(Debug)]
pub struct Injection(Child);

impl Injection {
    /// Attaches strace with these arguments to a process or thread, and waits until it is there.
    ///
    /// # Panics
    /// There is no strace, or it may not trace.
    #[must_use]
    pub fn into(target: u32, arguments: &[&str]) -> Self {
        let mut strace = Command::new("strace");
        strace.args(arguments);
        strace.args(["--output=/dev/null", "--attach", &target.to_string()]);
        let spawned = strace.stderr(Stdio::piped()).spawn();
        let mut child = spawned.expect("`cargo xtask test` installs strace");
        let told = child.stderr.take().expect("it was asked for");
        let mut lines = BufReader::new(told).lines().map_while(Result::ok);
        let is_attached = lines.any(|line| line.contains("attached"));
        assert!(is_attached, "a process of ours can be traced");
        Self(child)
    }
}

impl Drop for Injection {
    fn drop(&mut self) {
        // What it watched may have ended, and it too.
        self.0.kill().ok();
        self.0.wait().expect("a child can be waited for");
    }
}
