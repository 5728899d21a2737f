//! A running `turnstile dev`.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crate::binary;

/// How long a server may take until it serves; a slow machine needs a fraction of it.
const START: Duration = Duration::from_secs(60);

/// A server on free ports of the loopback. It is killed when it goes out of scope, as by `kill -9`.
#[derive(Debug)]
pub struct Turnstile {
    child: Child,
    resp: SocketAddr,
    http: SocketAddr,
}

impl Turnstile {
    /// Starts a server that keeps its journal in `data`, and waits until it serves.
    ///
    /// # Panics
    /// When it does not serve in time.
    #[must_use]
    pub fn dev(data: &Path) -> Self {
        let mut command = Command::new(binary::path());
        command
            .args([
                "dev",
                "--resp",
                "127.0.0.1:0",
                "--http",
                "127.0.0.1:0",
                "--data",
            ])
            .arg(data);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("the binary was just built");
        let stdout = child.stdout.take().expect("the output was asked for");
        let lines = lines_before_ready(&lines_of(stdout));
        Self {
            child,
            resp: address(&lines, "resp"),
            http: address(&lines, "http"),
        }
    }

    /// The address of the RESP door.
    #[must_use]
    pub const fn resp(&self) -> SocketAddr {
        self.resp
    }

    /// The address of the HTTP door.
    #[must_use]
    pub const fn http(&self) -> SocketAddr {
        self.http
    }
}

impl Drop for Turnstile {
    fn drop(&mut self) {
        self.child
            .kill()
            .expect("a child that was not waited for can be killed");
        self.child.wait().expect("a killed child ends");
    }
}

/// What the server prints, read by a thread of its own: a pipe has no deadline, a channel has.
fn lines_of(stdout: ChildStdout) -> Receiver<String> {
    let (send, lines) = sync_channel(64);
    thread::spawn(move || pass_on(stdout, &send));
    lines
}

/// After `ready` nobody listens, and the pipe is read to its end so that the server never waits.
fn pass_on(stdout: ChildStdout, send: &SyncSender<String>) {
    let mut listened = true;
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        listened = listened && send.send(line).is_ok();
    }
}

fn lines_before_ready(lines: &Receiver<String>) -> Vec<String> {
    let mut seen = Vec::new();
    loop {
        match lines.recv_timeout(START) {
            Ok(line) if line == "ready" => return seen,
            Ok(line) => seen.push(line),
            Err(error) => panic!("the server is not ready: {error}; it printed {seen:?}"),
        }
    }
}

/// The address in the line of a door, such as `http  http://127.0.0.1:8470`.
fn address(lines: &[String], door: &str) -> SocketAddr {
    let mut doors = lines.iter().filter_map(|line| line.strip_prefix(door));
    let words = doors.next().into_iter().flat_map(str::split_whitespace);
    let mut addresses = words.filter_map(|word| {
        word.trim_start_matches("http://")
            .trim_end_matches('/')
            .parse::<SocketAddr>()
            .ok()
    });
    addresses
        .next()
        .unwrap_or_else(|| panic!("no address of the door `{door}` in {lines:?}"))
}
