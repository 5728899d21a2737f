//! A running `turnstile dev`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::binary;

/// How long a server may take until it serves; a slow machine needs a fraction of it.
const START: Duration = Duration::from_secs(60);

/// How often we look whether it is time to kill a server that starts.
const GLANCE: Duration = Duration::from_millis(1);

/// A server on free ports of the loopback. It is killed when it goes out of scope, as by `kill -9`.
#[derive(Debug)]
pub struct Turnstile {
    process: Process,
    resp: SocketAddr,
    http: Option<SocketAddr>,
    xml: Option<SocketAddr>,
    /// What it printed before it served.
    printed: Vec<String>,
}

/// A server that may not serve yet.
#[derive(Debug)]
pub struct Starting {
    process: Process,
    lines: Receiver<String>,
    /// What was taken from the lines.
    printed: Vec<String>,
}

/// A child that does not outlive us: dropped, it is killed; when we are killed, its input ends.
#[derive(Debug)]
struct Process(Child);

impl Turnstile {
    /// Starts a server that keeps its journal in `data`, and waits until it serves.
    ///
    /// # Panics
    /// When it does not serve in time.
    #[must_use]
    pub fn dev(data: &Path) -> Self {
        Self::dev_with(data, &[])
    }

    /// As [`dev`](Self::dev), with more arguments.
    ///
    /// # Panics
    /// When it does not serve in time.
    #[must_use]
    pub fn dev_with(data: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(binary::path());
        command.args([
            "dev",
            "--attached",
            "--resp",
            "127.0.0.1:0",
            "--xml",
            "127.0.0.1:0",
            "--travel",
            "off",
            "--games-arena",
            "off",
            "--games-scores",
            "off",
            "--http",
            "127.0.0.1:0",
        ]);
        command.arg("--data").arg(data).args(arguments);
        let (process, lines) = spawn(command);
        let printed = lines_before_ready(&lines);
        Self {
            process,
            resp: address(&printed, "resp"),
            http: Some(address(&printed, "http")),
            xml: Some(address(&printed, "xml")),
            printed,
        }
    }

    /// Starts `turnstile serve` with the RESP door alone: what is in `data` is all that it knows.
    /// `durability` is `sync`, `os` or `memory`.
    ///
    /// # Panics
    /// When it does not serve in time.
    #[must_use]
    pub fn serve(data: &Path, durability: &str) -> Self {
        let (process, lines) = spawn(serve(data, durability));
        let printed = lines_before_ready(&lines);
        Self {
            process,
            resp: address(&printed, "resp"),
            http: None,
            xml: None,
            printed,
        }
    }

    /// Starts `turnstile serve` with the RESP and the HTTP door, and with more arguments.
    ///
    /// # Panics
    /// When it does not serve in time.
    #[must_use]
    pub fn serve_http(data: &Path, arguments: &[&str]) -> Self {
        Self::serve_http_at(data, "127.0.0.1:0", arguments)
    }

    /// As [`serve_http`](Self::serve_http), with the HTTP door at this address, where clients knew it before.
    ///
    /// # Panics
    /// When it does not serve in time.
    #[must_use]
    pub fn serve_http_at(data: &Path, http: &str, arguments: &[&str]) -> Self {
        let mut command = serve_with(data, "sync", http);
        command.args(arguments);
        let (process, lines) = spawn(command);
        let printed = lines_before_ready(&lines);
        Self {
            process,
            resp: address(&printed, "resp"),
            http: Some(address(&printed, "http")),
            xml: None,
            printed,
        }
    }

    /// Starts `turnstile serve` with the RESP and the XML door, and with a snapshot after each
    /// so many records; 0 for never.
    ///
    /// # Panics
    /// When it does not serve in time.
    #[must_use]
    pub fn serve_exchange(data: &Path, snapshot_records: u64) -> Self {
        Self::serve_xml(data, &["--snapshot-records", &snapshot_records.to_string()])
    }

    /// The same with the exchange in a database.
    ///
    /// # Panics
    /// When it does not serve in time.
    #[must_use]
    pub fn serve_exchange_from(data: &Path, database: &str) -> Self {
        Self::serve_xml(data, &["--exchange-backend", database])
    }

    fn serve_xml(data: &Path, arguments: &[&str]) -> Self {
        let mut command = serve(data, "sync");
        command.args(["--xml", "127.0.0.1:0", "--segment-bytes", "4194304"]);
        command.args(arguments);
        let (process, lines) = spawn(command);
        let printed = lines_before_ready(&lines);
        Self {
            process,
            resp: address(&printed, "resp"),
            http: None,
            xml: Some(address(&printed, "xml")),
            printed,
        }
    }

    /// Starts `turnstile serve` with the RESP door and these arguments, and does not wait until it
    /// serves.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn begin(data: &Path, arguments: &[String]) -> Starting {
        Self::begin_in(data, arguments, &[])
    }

    /// The same with more variables in its environment.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn begin_in(
        data: &Path,
        arguments: &[String],
        environment: &[(&str, OsString)],
    ) -> Starting {
        let mut command = serve(data, "sync");
        command.args(["--segment-bytes", "4194304"]).args(arguments);
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        let (process, lines) = spawn(command);
        Starting::of(process, lines)
    }

    /// As [`begin`](Self::begin), with another program than the one under test.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn begin_program(program: &OsStr, data: &Path, arguments: &[String]) -> Starting {
        let mut command = serve_by(program, data, "sync", "off");
        command.args(["--segment-bytes", "4194304"]).args(arguments);
        let (process, lines) = spawn(command);
        Starting::of(process, lines)
    }

    /// Starts a server, and kills it when it is `time` or when it serves, whatever comes first.
    pub fn kill_while_it_starts(data: &Path, mut time: impl FnMut() -> bool) {
        let (process, lines) = spawn(serve(data, "sync"));
        while !time() {
            match lines.recv_timeout(GLANCE) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(line) if line != "ready" => {}
                Ok(_) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        drop(process);
    }

    /// The numbers of its threads of this name.
    ///
    /// # Panics
    /// It has ended.
    #[must_use]
    pub fn threads(&self, name: &str) -> Vec<u32> {
        let tasks = format!("/proc/{}/task", self.process.0.id());
        let tasks = fs::read_dir(tasks).expect("the process lives");
        let tasks = tasks.map(|task| task.expect("a folder of the system").path());
        let named = tasks.filter(|task| {
            // One may have ended meanwhile.
            fs::read_to_string(task.join("comm")).is_ok_and(|own| own.trim_end() == name)
        });
        let number = |task: PathBuf| task.file_name()?.to_str()?.parse().ok();
        named.filter_map(number).collect()
    }

    /// Stops its clock: it stays alive and does nothing until [`go_on`](Self::go_on).
    ///
    /// # Panics
    /// When the system does not let us.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
        // One of its threads takes the signal, and until that one runs the others still serve.
        let child = WaitId::Pid(Pid::from_child(&self.process.0));
        let stopped = retry_on_intr(|| waitid(child.clone(), WaitIdOptions::STOPPED));
        stopped.expect("a child can be waited for");
    }

    /// Lets it go on after a pause.
    ///
    /// # Panics
    /// When the system does not let us.
    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        self.process.signal(signal);
    }

    /// How many bytes of memory it has now.
    ///
    /// # Panics
    /// When the system does not say so.
    #[must_use]
    pub fn resident_bytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.0.id()));
        let status = status.expect("a child has a status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.expect("a running process has memory") * 1_024
    }

    /// Kills it as `kill -9` does, and waits until it is gone.
    pub fn kill(self) {
        drop(self);
    }

    /// Stops it as `kill` does, and waits until it has ended.
    ///
    /// # Panics
    /// When the system does not say how it ended.
    #[must_use]
    pub fn stop(self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.ended()
    }

    /// Waits until it ends by itself.
    ///
    /// # Panics
    /// When the system does not say how it ended.
    #[must_use]
    pub fn ended(self) -> ExitStatus {
        self.process.ended()
    }

    /// The address of the RESP door.
    #[must_use]
    pub const fn resp(&self) -> SocketAddr {
        self.resp
    }

    /// The address of the door of this name, as the server prints it.
    ///
    /// # Panics
    /// When it is off.
    #[must_use]
    pub fn door(&self, name: &str) -> SocketAddr {
        address(&self.printed, name)
    }

    /// The address of the XML door.
    ///
    /// # Panics
    /// When it is off.
    #[must_use]
    pub const fn xml(&self) -> SocketAddr {
        self.xml.expect("this server was started with its XML door")
    }

    /// The address of the HTTP door.
    ///
    /// # Panics
    /// When it is off.
    #[must_use]
    pub const fn http(&self) -> SocketAddr {
        self.http
            .expect("this server was started with its HTTP door")
    }
}

impl Starting {
    const fn of(process: Process, lines: Receiver<String>) -> Self {
        Self {
            process,
            lines,
            printed: Vec::new(),
        }
    }

    /// The address of the RESP door, which is open before the server serves.
    ///
    /// # Panics
    /// When it is not open in time.
    #[must_use]
    pub fn resp(&mut self) -> SocketAddr {
        while !self.printed.iter().any(|line| line.starts_with("resp")) {
            let line = self.lines.recv_timeout(START);
            self.printed.push(line.expect("a server opens its door"));
        }
        address(&self.printed, "resp")
    }

    /// Stops it as `kill` does, and waits until it has ended.
    ///
    /// # Panics
    /// When the system does not say how it ended.
    #[must_use]
    pub fn stop(self) -> ExitStatus {
        self.process.signal(Signal::TERM);
        self.ended()
    }

    /// Waits until it serves.
    ///
    /// # Panics
    /// When it does not serve in time.
    #[must_use]
    pub fn ready(self) -> Turnstile {
        let mut printed = self.printed;
        printed.extend(lines_before_ready(&self.lines));
        Turnstile {
            process: self.process,
            resp: address(&printed, "resp"),
            http: None,
            xml: None,
            printed,
        }
    }

    /// Waits until it ends by itself.
    ///
    /// # Panics
    /// When the system does not say how it ended.
    #[must_use]
    pub fn ended(self) -> ExitStatus {
        self.process.ended()
    }
}

impl Process {
    fn signal(&self, signal: Signal) {
        let sent = kill_process(Pid::from_child(&self.0), signal);
        sent.expect("a child can be signalled");
    }

    fn ended(mut self) -> ExitStatus {
        // `Child::wait` closes the input, which would stop an attached server.
        let input = self.0.stdin.take();
        let status = self.0.wait().expect("a child can be waited for");
        drop(input);
        status
    }
}

/// A server that knows only its directory. It has no use for its input, so it is the system that
/// ends it with us.
fn serve(data: &Path, durability: &str) -> Command {
    serve_with(data, durability, "off")
}

fn serve_with(data: &Path, durability: &str, http: &str) -> Command {
    serve_by(binary::path().as_ref(), data, durability, http)
}

fn serve_by(program: &OsStr, data: &Path, durability: &str, http: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command.args(["serve", "--log", "warn", "--resp", "127.0.0.1:0"]);
    command.args(["--http", http, "--durability", durability, "--data"]);
    command.arg(data);
    command
}

/// Starts a server, and listens to it.
fn spawn(mut command: Command) -> (Process, Receiver<String>) {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn();
    let mut process = Process(child.expect("the binary was just built"));
    let stdout = process.0.stdout.take().expect("the output was asked for");
    let stderr = process.0.stderr.take().expect("the errors were asked for");
    thread::spawn(move || show(stderr));
    (process, lines_of(stdout))
}

/// Shows what a server complains about among the output of the test that started it.
#[expect(
    clippy::print_stderr,
    reason = "the test harness shows it when the test fails"
)]
fn show(stderr: ChildStderr) {
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        eprintln!("turnstile: {line}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let killed = self.0.kill();
        killed.expect("a child that was not waited for can be killed");
        self.0.wait().expect("a killed child ends");
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
        let (_, bare) = word.split_once("://").unwrap_or(("", word));
        bare.trim_end_matches('/').parse::<SocketAddr>().ok()
    });
    addresses
        .next()
        .unwrap_or_else(|| panic!("no address of the door `{door}` in {lines:?}"))
}
