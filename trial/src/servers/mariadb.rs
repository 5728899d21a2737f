//! A MariaDB server of a test's own, or one of MySQL.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::{DatabaseProcess, UnixAccount, free_port, program, run};

/// How often it is started before we give up: a free port may be taken meanwhile, and what is left of
/// a killed server needs a moment to let go of its files.
const STARTS_MAX: u32 = 20;

/// How often it is looked at whether it has ended.
const LOOK: Duration = Duration::from_millis(10);

/// Where it keeps temporary tables, beneath its folder.
const TEMPORARIES: &str = "temporaries";

/// Names the folder of the MySQL that the tests start, as `bin/mysqld` and `share` lie in it. Debian
/// has none; `cargo xtask test` fetches one.
const MYSQL: &str = "TURNSTILE_TEST_MYSQL";

/// Who made a server: they differ in how it is installed and started.
#[derive(Clone, Debug)]
enum Product {
    MariaDb,
    /// With its folder.
    MySql(PathBuf),
}

/// A server on a free port of the loopback, with durable settings. It is killed and its folder
/// removed when it is dropped.
#[derive(Debug)]
pub struct MariaServer {
    product: Product,
    folder: TempDir,
    port: u16,
    /// Nothing while it is down.
    running: Option<DatabaseProcess>,
    databases: AtomicU32,
}

impl MariaServer {
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
        Self::of(Product::MariaDb, parent)
    }

    /// Starts a MySQL server with nothing in it.
    ///
    /// # Panics
    /// As [`Self::start`], or nobody said where MySQL is.
    #[must_use]
    pub fn start_mysql() -> Self {
        Self::start_mysql_in(&env::temp_dir())
    }

    /// The same, with its files below this folder.
    ///
    /// # Panics
    /// As [`Self::start_mysql`].
    #[must_use]
    pub fn start_mysql_in(parent: &Path) -> Self {
        let missing = || panic!("{MYSQL} names no folder: `cargo xtask test` fetches MySQL");
        let folder = env::var_os(MYSQL).unwrap_or_else(missing);
        Self::of(Product::MySql(folder.into()), parent)
    }

    fn of(product: Product, parent: &Path) -> Self {
        let folder = product.account().folder(parent);
        // A server that starts removes all temporary tables that it finds, those of others too.
        product.account().make(&folder.path().join(TEMPORARIES));
        run(&mut product.install(folder.path()));
        let owner = "CREATE USER IF NOT EXISTS turnstile@'%' IDENTIFIED BY 'secret';\n\
                     GRANT ALL ON `test\\_%`.* TO turnstile@'%';\n";
        fs::write(folder.path().join("owner.sql"), owner).expect("the folder takes a file");
        let mut server = Self {
            product,
            folder,
            port: free_port(),
            running: None,
            databases: AtomicU32::new(0),
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
        self.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 2; SET GLOBAL sync_binlog = 0");
        self
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

    /// The number of its process.
    ///
    /// # Panics
    /// While it is down.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.running.as_ref().expect("it runs").0.id()
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

    /// Whether it has ended by itself, or does within this time.
    ///
    /// # Panics
    /// While it is down.
    pub fn has_ended(&mut self, within: Duration) -> bool {
        let began = Instant::now();
        let process = &mut self.running.as_mut().expect("it runs").0;
        loop {
            let status = process.try_wait().expect("a child can be asked for");
            if status.is_some() || began.elapsed() >= within {
                return status.is_some();
            }
            thread::park_timeout(LOOK);
        }
    }

    /// Starts it again after [`Self::kill`], on the same port.
    ///
    /// # Panics
    /// When it does not start.
    pub fn restart(&mut self) {
        self.kill();
        let running =
            DatabaseProcess::keep_starting(STARTS_MAX, || self.command(), "ready for connections");
        self.running = Some(running);
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn command(&self) -> Command {
        let folder = self.folder.path().display();
        let mut command = self.product.command();
        command.args(["--bind-address=127.0.0.1", "--skip-name-resolve"]);
        command.arg("--skip-log-bin");
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

impl Product {
    /// MySQL lies where the account of a package need not see it, and runs as whoever we are.
    fn account(&self) -> UnixAccount {
        match self {
            Self::MariaDb => UnixAccount::of("mysql"),
            Self::MySql(_) => UnixAccount(None),
        }
    }

    /// The server, without what is its own.
    fn command(&self) -> Command {
        let folders = [PathBuf::from("/usr/sbin"), PathBuf::from("/usr/libexec")];
        let (program, more) = match self {
            Self::MariaDb => (program("mariadbd", &folders), Vec::new()),
            Self::MySql(folder) => (
                folder.join("bin/mysqld"),
                vec![
                    format!("--basedir={}", folder.display()),
                    "--user=root".to_owned(),
                    "--mysqlx=OFF".to_owned(),
                ],
            ),
        };
        let mut command = self.account().command(&program);
        command.arg("--no-defaults").args(more);
        command
    }

    /// What makes the files of a server in this folder in which only root may do anything.
    fn install(&self, folder: &Path) -> Command {
        let folder = folder.display();
        let mut install = match self {
            Self::MariaDb => {
                let program = program("mariadb-install-db", &[]);
                let mut install = self.account().command(&program);
                install.args(["--no-defaults", "--skip-test-db"]);
                install.arg("--auth-root-authentication-method=normal");
                install
            }
            Self::MySql(_) => {
                let mut install = self.command();
                install.arg("--initialize-insecure");
                install
            }
        };
        install.arg(format!("--datadir={folder}/files"));
        install.arg(format!("--tmpdir={folder}/{TEMPORARIES}"));
        install
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
