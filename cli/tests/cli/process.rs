//! Processes of the binary under test.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Write as _},
    net::SocketAddr,
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use turnstile_client::{Connection, resp::Value};

const TIMEOUT: Duration = Duration::from_secs(60);

/// The binary, in an environment without settings of the person who runs the tests.
pub(crate) fn turnstile() -> Command {
    settled(Command::new(env!("CARGO_BIN_EXE_turnstile")))
}

/// The same, which may have so many descriptors open.
pub(crate) fn turnstile_with_descriptors(count: u32) -> Command {
    let mut command = Command::new("prlimit");
    command.arg(format!("--nofile={count}:{count}"));
    command.args(["--", env!("CARGO_BIN_EXE_turnstile")]);
    settled(command)
}

/// A command in an environment without settings of the person who runs the tests.
pub(crate) fn settled(mut command: Command) -> Command {
    // Results of the lab go to a folder here, unless a test names another.
    command.current_dir(env!("CARGO_TARGET_TMPDIR"));
    command.env_remove("RUST_LOG").env_remove("TURNSTILE_KEY");
    command.stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TURNSTILE__") {
            command.env_remove(name);
        }
    }
    command
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn run(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    Ended {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Ended {
    /// The words behind a label of the printed table, without the spaces that group digits.
    pub(crate) fn row(&self, label: &str) -> String {
        row(&self.out, label)
    }

    /// As [`Self::row`], of every row with this label.
    pub(crate) fn rows(&self, label: &str) -> Vec<String> {
        rows(&self.out, label).collect()
    }

    /// As [`Self::row`], of a table on standard error.
    pub(crate) fn noted(&self, label: &str) -> String {
        row(&self.err, label)
    }
}

fn row(text: &str, label: &str) -> String {
    let row = rows(text, label).next();
    row.unwrap_or_else(|| panic!("no row `{label}` in {text}"))
}

fn rows(text: &str, label: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(move |line| {
        let rest = line.strip_prefix(label)?;
        rest.starts_with("  ").then(|| rest.replace(' ', ""))
    })
}

/// `dev` with these arguments, and without the doors whose usual ports only one server of a machine has.
pub(crate) fn dev_with(arguments: &[&str]) -> Command {
    let mut command = turnstile();
    command.arg("dev");
    for door in ["--xml", "--travel", "--games-arena", "--games-scores"] {
        command.args([door, "off"]);
    }
    command.args(arguments);
    command
}

/// A server that said `ready`. Killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    _output: BufReader<ChildStdout>,
    log: File,
    pub(crate) printed: Vec<String>,
}

impl Server {
    /// `dev` on free ports, its data in `data`.
    pub(crate) fn dev(data: &Path) -> Self {
        let mut command = turnstile();
        command.args([
            "dev",
            "--resp",
            "127.0.0.1:0",
            "--xml",
            "127.0.0.1:0",
            "--travel",
            "127.0.0.1:0",
            "--games-arena",
            "127.0.0.1:0",
            "--games-scores",
            "127.0.0.1:0",
            "--http",
            "127.0.0.1:0",
            "--data",
        ]);
        Self::start(command.arg(data))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn start(command: &mut Command) -> Self {
        let log = tempfile::tempfile().unwrap();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log.try_clone().unwrap())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut printed = Vec::new();
        loop {
            let mut line = String::new();
            let read = output.read_line(&mut line).unwrap();
            if read == 0 {
                panic!("ended before it was ready: {}", content(&log));
            }
            if line.starts_with("ready") {
                break;
            }
            printed.push(line.trim_end().to_owned());
        }
        Self {
            child,
            input,
            _output: output,
            log,
            printed,
        }
    }

    /// The address of a door, if it was printed.
    pub(crate) fn door(&self, name: &str) -> Option<SocketAddr> {
        let line = self
            .printed
            .iter()
            .find_map(|line| line.strip_prefix(name))?;
        let address = line.trim().rsplit("://").next()?;
        Some(address.parse().unwrap())
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::connect(self.door("resp").unwrap(), TIMEOUT).unwrap()
    }

    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Returns when the log holds this text.
    pub(crate) fn await_logged(&self, text: &str) {
        let begun = Instant::now();
        while !content(&self.log).contains(text) {
            assert!(begun.elapsed() < TIMEOUT, "{}", content(&self.log));
            std::thread::yield_now();
        }
    }

    /// What was logged so far.
    pub(crate) fn logged(&self) -> String {
        content(&self.log)
    }

    /// Writes a line to its standard input.
    pub(crate) fn tell(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it was not closed");
        writeln!(input, "{line}").unwrap();
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for the end; says how it came, and what was logged.
    pub(crate) fn ended(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        (status, content(&self.log))
    }

    /// SIGTERM, and an end without complaint; says what was logged.
    pub(crate) fn stop(self) -> String {
        self.terminate();
        let (status, log) = self.ended();
        assert_eq!(status.code(), Some(0), "{log}");
        log
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// What a file holds; whoever writes to it goes on where it was.
fn content(file: &File) -> String {
    let mut text = vec![0; file.metadata().unwrap().len().try_into().unwrap()];
    file.read_exact_at(&mut text, 0).unwrap();
    String::from_utf8(text).unwrap()
}

/// Sends one line of words.
pub(crate) fn ask(door: &mut Connection, line: &str) -> Value {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    door.command(&words).unwrap()
}

/// An answer's strings and numbers as one line.
pub(crate) fn words(value: &Value) -> String {
    match value {
        Value::Integer(number) => number.to_string(),
        Value::Error(text) => format!("-{text}"),
        other => match other.as_array() {
            Some(elements) => elements.iter().map(words).collect::<Vec<_>>().join(" "),
            None => other.as_str().unwrap_or_default().to_owned(),
        },
    }
}

/// The public data set of hotel bookings.
pub(crate) fn hotel_bookings() -> Option<PathBuf> {
    data("hotel_bookings.csv")
}

/// The public routes and airports.
pub(crate) fn open_flights() -> Option<[PathBuf; 2]> {
    Some([data("routes.dat")?, data("airports.dat")?])
}

/// A public data set, which lies beside the checkout and not in it.
fn data(name: &str) -> Option<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let path = directory.join(name);
    if path.exists() {
        return Some(path);
    }
    // Written past the test harness, which would keep it to itself.
    let notice = format!("NOT TESTED on {name}: there is no {}\n", path.display());
    std::io::stderr().write_all(notice.as_bytes()).unwrap();
    None
}
