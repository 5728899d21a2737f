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
        // It stays open: strace tells of each new thread, and would end if that broke a pipe.
        let told = child.stderr.as_mut().expect("it was asked for");
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

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use super::*;

    #[test]
    fn trouble_stays_while_new_processes_begin() {
        let folder = tempfile::tempdir().unwrap();
        let mut shell = Command::new("sh");
        shell.current_dir(folder.path()).stdin(Stdio::piped());
        let mut shell = shell.stdout(Stdio::piped()).spawn().unwrap();
        let fail = "--inject=mkdir,mkdirat:error=EIO";
        let trace = "--trace=mkdir,mkdirat";
        let trouble = Injection::into(shell.id(), &["--follow-forks", trace, fail]);
        let mut input = shell.stdin.take().unwrap();
        let mut answers = BufReader::new(shell.stdout.take().unwrap()).lines();
        for number in 0..10 {
            writeln!(input, "mkdir {number} 2>/dev/null; echo $?").unwrap();
            let answer = answers.next().unwrap().unwrap();
            assert_eq!(answer, "1", "directory {number}");
        }
        drop((input, trouble));
        shell.wait().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
