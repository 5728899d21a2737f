//! Private database servers, each with its own folder and port.

mod mariadb;
mod postgres;
mod redis;

pub use mariadb::MariaServer;
pub use postgres::PostgresServer;
pub use redis::RedisServer;

use std::{
    fs,
    io::{self, BufRead, BufReader, PipeReader},
    net::TcpListener,
    os::unix::fs::{MetadataExt, chown},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{SyncSender, sync_channel},
    thread,
    time::Duration,
};

use tempfile::TempDir;

/// How long a server may take until it serves; a busy machine needs a fraction of it.
const START: Duration = Duration::from_secs(60);

/// A port of the loopback that was free a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("the loopback has a free port");
    listener.local_addr().expect("it is bound").port()
}

/// Who runs a server: ourselves, or the account of its package when we are root, as which some
/// servers refuse to run.
#[derive(Clone, Copy, Debug)]
struct UnixAccount(Option<(u32, u32)>);

impl UnixAccount {
    fn of(name: &str) -> Self {
        let ours = fs::metadata("/proc/self").expect("there is /proc").uid();
        if ours != 0 {
            return Self(None);
        }
        let accounts = fs::read_to_string("/etc/passwd").expect("there are accounts");
        let ids = accounts.lines().find_map(|line| {
            let mut fields = line.split(':');
            let of_it = fields.next()? == name;
            let (user, group) = (fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?);
            of_it.then_some((user, group))
        });
        let missing = || panic!("there is no account `{name}`: `cargo xtask test` installs it");
        Self(Some(ids.unwrap_or_else(missing)))
    }

    /// A folder below another that goes when it is dropped.
    fn folder(self, parent: &Path) -> TempDir {
        let folder = tempfile::tempdir_in(parent).expect("a folder for a server");
        if let Some((user, group)) = self.0 {
            chown(folder.path(), Some(user), Some(group)).expect("root gives folders away");
        }
        folder
    }

    /// Makes a folder of this account.
    fn make(self, folder: &Path) {
        fs::create_dir(folder).expect("the folder takes a folder");
        if let Some((user, group)) = self.0 {
            chown(folder, Some(user), Some(group)).expect("root gives folders away");
        }
    }

    /// A program that this account runs, and that ends when the thread that started it does.
    fn command(self, program: &Path) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]);
        if let Some((user, group)) = self.0 {
            command.arg(format!("--reuid={user}"));
            command.args([&format!("--regid={group}"), "--clear-groups"]);
        }
        command.arg("--").arg(program).stdin(Stdio::null());
        command
    }
}

/// Finds a program in the folders where Debian puts it, then on the path.
fn program(name: &str, folders: &[PathBuf]) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path);
    let mut places = folders.iter().cloned().chain(on_path);
    let found = places.find(|folder| folder.join(name).is_file());
    let missing = || panic!("there is no `{name}`: `cargo xtask test` installs it");
    found.unwrap_or_else(missing).join(name)
}

/// Runs a program to its end, and gives what it wrote.
fn run(command: &mut Command) -> String {
    let output = command.output().expect("the program was found");
    let written = String::from_utf8_lossy(&output.stdout).into_owned();
    let failure = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {written}{failure}");
    written
}

/// A server that runs until it is dropped, and not longer than this process.
#[derive(Debug)]
struct DatabaseProcess(Child);

/// What becomes of a server.
enum ServerNews {
    Started(Child),
    Serves,
    /// With what it wrote.
    Ended(String),
}

impl DatabaseProcess {
    /// Starts a server and waits for the line which says that it serves.
    ///
    /// # Errors
    /// It ended before, with what it wrote.
    fn start(command: Command, ready: &'static str) -> Result<Self, String> {
        let (tell, news) = sync_channel(2);
        // Linux ends this child with the thread that started it, which stays as long as the child.
        thread::spawn(move || attend(command, ready, &tell));
        let mut running = None;
        loop {
            match news.recv_timeout(START) {
                Ok(ServerNews::Started(child)) => running = Some(Self(child)),
                Ok(ServerNews::Serves) => return Ok(running.expect("it was started before")),
                Ok(ServerNews::Ended(written)) => return Err(written),
                Err(failure) => return Err(failure.to_string()),
            }
        }
    }
}

impl DatabaseProcess {
    /// As [`Self::start`], up to so many times: a free port may be taken meanwhile, and what is left of
    /// a killed server needs a moment to let go of what it had.
    fn keep_starting(starts: u32, command: impl Fn() -> Command, ready: &'static str) -> Self {
        let mut refused = String::new();
        for _ in 0..starts {
            match Self::start(command(), ready) {
                Ok(running) => return running,
                Err(written) => refused = written,
            }
        }
        panic!("{:?} does not start: {refused}", command());
    }
}

impl Drop for DatabaseProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        if self.0.kill().is_ok() {
            self.0.wait().expect("a killed server ends");
        }
    }
}

/// Starts a server, and reads what it writes to the end.
fn attend(mut command: Command, ready: &str, tell: &SyncSender<ServerNews>) {
    let mut written = String::new();
    let spawned = spawn(&mut command);
    // From here on the server alone holds the other end of the pipe.
    drop(command);
    match spawned {
        Ok((child, output)) => {
            let mut waited_for = tell.send(ServerNews::Started(child)).is_ok();
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if !waited_for {
                    continue;
                }
                written.push_str(&line);
                written.push('\n');
                if line.contains(ready) {
                    waited_for = tell.send(ServerNews::Serves).is_err();
                }
            }
        }
        Err(failure) => written = failure.to_string(),
    }
    // Nobody hears it when the server had been ready: then its end is not news.
    drop(tell.try_send(ServerNews::Ended(written)));
}

fn spawn(command: &mut Command) -> io::Result<(Child, PipeReader)> {
    let (output, input) = io::pipe()?;
    command.stdout(input.try_clone()?).stderr(input);
    Ok((command.spawn()?, output))
}
