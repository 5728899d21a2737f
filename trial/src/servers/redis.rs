//! A Redis server of a test's own.

use std::{env, path::Path, process::Command};

use tempfile::TempDir;

use super::{DatabaseProcess, UnixAccount, free_port, program, run};

/// How often it is started before we give up: a free port may be taken meanwhile.
const STARTS_MAX: u32 = 20;

/// A server on a free port of the loopback, which syncs each write. It is killed and its folder
/// removed when it is dropped.
#[derive(Debug)]
pub struct RedisServer {
    folder: TempDir,
    port: u16,
    /// Nothing while it is down.
    running: Option<DatabaseProcess>,
}

impl RedisServer {
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
        let mut server = Self {
            folder: UnixAccount::of("redis").folder(parent),
            port: free_port(),
            running: None,
        };
        server.restart();
        server
    }

    /// Has it wait for no disk any more, until its next start. It is for tests that ask what it decides and
    /// not what survives, which a busy disk would keep waiting. What it has answered still survives its own end.
    ///
    /// # Panics
    /// When it refuses.
    #[must_use]
    pub fn without_syncs(self) -> Self {
        self.cli(&["CONFIG", "SET", "appendfsync", "no"]);
        self
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }

    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Has redis-cli ask it something.
    ///
    /// # Panics
    /// When it does not answer.
    pub fn cli(&self, words: &[&str]) -> String {
        let mut client = Command::new(program("redis-cli", &[]));
        client
            .args(["-e", "-p", &self.port.to_string()])
            .args(words);
        run(&mut client)
    }

    /// Kills it as `kill -9` does.
    pub fn kill(&mut self) {
        self.running = None;
    }

    /// Starts it again after [`Self::kill`], on the same port.
    ///
    /// # Panics
    /// When it does not start.
    pub fn restart(&mut self) {
        self.kill();
        let running = DatabaseProcess::keep_starting(
            STARTS_MAX,
            || self.command(),
            "Ready to accept connections",
        );
        self.running = Some(running);
    }

    fn command(&self) -> Command {
        let mut command = UnixAccount::of("redis").command(&program("redis-server", &[]));
        let folder = self.folder.path().display().to_string();
        command.args(["--port", &self.port.to_string(), "--bind", "127.0.0.1"]);
        command.args(["--dir", &folder, "--save", ""]);
        command.args(["--appendonly", "yes", "--appendfsync", "always"]);
        command
    }
}
