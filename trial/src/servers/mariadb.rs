//! A MariaDB server of a test's own.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};

use tempfile::TempDir;

use super::{Account, Running, free_port, program, run};

/// How often it is started before we give up: a free port may be taken meanwhile, and what is left of
/// a killed server needs a moment to let go of its files.
const STARTS_MAX: u32 = 20;

/// Where it keeps temporary tables, beneath its folder.
const TEMPORARIES: &str = "temporaries";

/// A server on a free port of the loopback, with durable settings. It is killed and its folder
/// removed when it is dropped.
#[derive(Debug)]
pub struct MariaServer {
    folder: TempDir,
    port: u16,
    /// Nothing while it is down.
    running: Option<Running>,
    databases: AtomicU32,
}

impl MariaServer {
    /// Starts a server with nothing in it.
    ///
    /// # Panics
    /// When it cannot be started, or is not installed.
    #[must_use]
    pub fn start() -> Self {
        let account = Account::of("mysql");
        let folder = account.folder();
        // A server that starts removes all temporary tables that it finds, those of others too.
        account.make(&folder.path().join(TEMPORARIES));
        let mut install = account.command(&program("mariadb-install-db", &[]));
        install.args(["--no-defaults", "--skip-test-db"]);
        install.arg("--auth-root-authentication-method=normal");
        let place = folder.path().display();
        install.arg(format!("--datadir={place}/files"));
        install.arg(format!("--tmpdir={place}/{TEMPORARIES}"));
        run(&mut install);
        let owner = "CREATE USER IF NOT EXISTS turnstile@'%' IDENTIFIED BY 'secret';\n\
                     GRANT ALL ON `test\\_%`.* TO turnstile@'%';\n";
        fs::write(folder.path().join("owner.sql"), owner).expect("the folder takes a file");
        let mut server = Self {
            folder,
            port: free_port(),
            running: None,
            databases: AtomicU32::new(0),
        };
        server.restart();
        server
    }

    /// The address of a new, empty database.
    ///
    /// # Panics
    /// When the server makes none.
    #[must_use]
    pub fn database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        self.sql(&format!("CREATE DATABASE test_{number}"));
        self.url(&format!("test_{number}"))
    }

    /// The address of a database by its name.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        let port = self.port;
        format!("mysql://turnstile:secret@127.0.0.1:{port}/{database}")
    }

    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Runs some SQL as root, and gives what comes out, one line for each row.
    ///
    /// # Panics
    /// When the server refuses it.
    pub fn sql(&self, sql: &str) -> String {
        let mut client = Command::new(program("mariadb", &[]));
        client.args(["--no-defaults", "--skip-column-names", "--batch"]);
        client.arg(format!("--socket={}", self.socket().display()));
        run(client.args(["--user=root", "--execute", sql]))
    }

    /// Kills it as `kill -9` does, with nothing written down.
    pub fn kill(&mut self) {
        self.running = None;
    }

    /// Starts it again after [`Self::kill`], on the same port.
    ///
    /// # Panics
    /// When it does not start.
    pub fn restart(&mut self) {
        self.kill();
        let running =
            Running::keep_starting(STARTS_MAX, || self.command(), "ready for connections");
        self.running = Some(running);
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn command(&self) -> Command {
        let folder = self.folder.path().display();
        let folders = [PathBuf::from("/usr/sbin"), PathBuf::from("/usr/libexec")];
        let mut command = Account::of("mysql").command(&program("mariadbd", &folders));
        command.args(["--no-defaults", "--bind-address=127.0.0.1"]);
        command.args(["--skip-name-resolve", "--skip-log-bin"]);
        for setting in [
            format!("--datadir={folder}/files"),
            format!("--tmpdir={folder}/{TEMPORARIES}"),
            format!("--init-file={folder}/owner.sql"),
            format!("--socket={}", self.socket().display()),
            format!("--pid-file={folder}/pid"),
            format!("--port={}", self.port),
            "--innodb-flush-log-at-trx-commit=1".to_owned(),
            "--innodb-doublewrite=ON".to_owned(),
        ] {
            command.arg(setting);
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Servers that shared one folder for temporary tables removed each other's: one that started
    /// while another was being installed made that fail, "Error on delete of
    /// '/tmp/#sql-temptable-70c7-1-1c.MAI'".
    #[test]
    fn a_server_that_starts_leaves_the_temporary_tables_of_others_alone() {
        let [first, second] = [MariaServer::start(), MariaServer::start()];
        let temporaries = |server: &MariaServer| {
            let place = server.sql("SELECT @@tmpdir");
            PathBuf::from(place.trim_end())
        };
        for server in [&first, &second] {
            assert_eq!(temporaries(server), server.folder.path().join(TEMPORARIES));
        }
    }
}
