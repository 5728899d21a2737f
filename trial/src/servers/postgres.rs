//! A PostgreSQL server of a test's own.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    thread,
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{DatabaseProcess, UnixAccount, free_port, program, run};

/// How often it is started before we give up: after a SIGKILL its last processes need a moment to
/// let go of the memory that they share, and a free port may be taken meanwhile.
const STARTS_MAX: u32 = 200;

/// A server on a free port of the loopback, with durable settings. It is killed and its folder
/// removed when it is dropped.
#[derive(Debug)]
pub struct PostgresServer {
    folder: TempDir,
    port: u16,
    /// Nothing while it is down.
    running: Option<DatabaseProcess>,
    databases: AtomicU32,
}

impl PostgresServer {
    /// Starts a server with nothing in it.
    ///
    /// # Panics
    /// When it cannot be started, or is not installed.
    #[must_use]
    pub fn start() -> Self {
        Self::start_in(&env::temp_dir())
    }

    /// The same, with its files below this folder.
    ///
    /// # Panics
    /// As [`Self::start`].
    #[must_use]
    pub fn start_in(parent: &Path) -> Self {
        let account = UnixAccount::of("postgres");
        let folder = account.folder(parent);
        let mut init = account.command(&postgres_program("initdb"));
        init.args(["--auth=trust", "--username=turnstile", "--encoding=UTF8"]);
        init.args(["--no-locale", "--no-sync", "--pgdata"])
            .arg(folder.path().join("cluster"));
        run(&mut init);
        let mut server = Self {
            folder,
            port: free_port(),
            running: None,
            databases: AtomicU32::new(0),
        };
        server.restart();
        server
    }

    /// Has it wait for no disk any more. It is for tests that ask what it decides and not what survives,
    /// which a busy disk would keep waiting. What it has answered still survives its own end.
    ///
    /// # Panics
    /// When it refuses.
    #[must_use]
    pub fn without_syncs(self) -> Self {
        self.sql("postgres", "ALTER SYSTEM SET fsync = off");
        self.sql("postgres", "SELECT pg_reload_conf()");
        self
    }

    /// A standby that follows this server, with its files below this folder. It has the settings that were
    /// made by `ALTER SYSTEM`.
    ///
    /// # Panics
    /// As [`Self::start`].
    #[must_use]
    pub fn standby_in(&self, parent: &Path) -> Self {
        let account = UnixAccount::of("postgres");
        let folder = account.folder(parent);
        let mut copy = account.command(&postgres_program("pg_basebackup"));
        copy.args(["--host=127.0.0.1", "--username=turnstile"]);
        copy.args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]);
        copy.arg(format!("--port={}", self.port)).arg("--pgdata");
        run(copy.arg(folder.path().join("cluster")));
        let mut standby = Self {
            folder,
            port: free_port(),
            running: None,
            databases: AtomicU32::new(0),
        };
        standby.restart();
        standby
    }

    /// The address of a new, empty database.
    ///
    /// # Panics
    /// When the server makes none.
    #[must_use]
    pub fn database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        self.sql("postgres", &format!("CREATE DATABASE test_{number}"));
        self.url(&format!("test_{number}"))
    }

    /// The address of a database by its name.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://turnstile@127.0.0.1:{}/{database}", self.port)
    }

    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The number of its first process, of which the others are children.
    ///
    /// # Panics
    /// While it is down.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.running.as_ref().expect("it runs").0.id()
    }

    /// Runs some SQL as the owner, and gives what comes out, one line for each row.
    ///
    /// # Panics
    /// When the server refuses it.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let mut psql = Command::new(postgres_program("psql"));
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"]);
        psql.args(["--set=ON_ERROR_STOP=1", "--command", sql]);
        run(psql.arg(self.url(database)))
    }

    /// Kills it and its children as `kill -9` does, with nothing written down.
    pub fn kill(&mut self) {
        self.running = None;
        self.kill_all_children();
    }

    fn kill_all_children(&self) {
        while self.kill_children() {
            thread::yield_now();
        }
    }

    /// Kills those who work in its folder; answers whether there were any. By themselves they answer for a
    /// moment longer, and the background writer never ends once its files are gone.
    fn kill_children(&self) -> bool {
        let cluster = self.folder.path().join("cluster");
        let processes = fs::read_dir("/proc").expect("Linux tells of processes");
        let children = processes.flatten().filter(|process| {
            let place = fs::read_link(process.path().join("cwd"));
            place.is_ok_and(|place| place == cluster)
        });
        let pids = children.filter_map(|child| child.file_name().to_str()?.parse().ok());
        let pids: Vec<i32> = pids.collect();
        for pid in pids.iter().filter_map(|&pid| Pid::from_raw(pid)) {
            // It may have ended meanwhile.
            kill_process(pid, Signal::KILL).ok();
        }
        !pids.is_empty()
    }

    /// Starts it again after [`Self::kill`], on the same port.
    ///
    /// # Panics
    /// When it does not start.
    pub fn restart(&mut self) {
        self.kill();
        // A standby says that it accepts read-only connections.
        let command = || {
            // A start that took too long was killed, and its children keep its memory from the next.
            self.kill_all_children();
            self.command()
        };
        let running = DatabaseProcess::keep_starting(STARTS_MAX, command, "ready to accept");
        self.running = Some(running);
    }

    fn command(&self) -> Command {
        let folder = self.folder.path();
        let mut command = UnixAccount::of("postgres").command(&postgres_program("postgres"));
        command.arg("-D").arg(folder.join("cluster"));
        let sockets = format!("unix_socket_directories={}", folder.display());
        for setting in [
            sockets.as_str(),
            &format!("port={}", self.port),
            "listen_addresses=127.0.0.1",
            "synchronous_commit=on",
            "full_page_writes=on",
            "max_prepared_transactions=128",
        ] {
            command.args(["-c", setting]);
        }
        command
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Debian keeps the programs of each version apart; the newest is taken.
fn postgres_program(name: &str) -> PathBuf {
    let mut folders: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|version| Some(version.ok()?.path().join("bin")))
        .collect();
    folders.sort();
    folders.reverse();
    program(name, &folders)
}
