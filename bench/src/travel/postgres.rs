//! Postgres as it is installed, in a directory of its own on the server's core.

use std::{
    fmt::Write as _,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Result, bail, ensure};
use rustix::process::{Pid, Signal, getuid, kill_process};
use tempfile::TempDir;

use crate::{
    driver::{World, pgbench},
    pin::{CLIENT_CORE, SERVER_CORE},
    program::{run, spawn},
    server::free_address,
};

/// The programs of the package `postgresql`; the commands of Debian are not on the path.
pub(super) const SERVER: &str = "/usr/lib/postgresql/15/bin/postgres";

/// Whom Postgres runs as when we are root, whom it refuses.
const USER: &str = "postgres";

/// A server that starts for longer will never be ready.
const PATIENCE: Duration = Duration::from_secs(60);

/// The words with which it is ready, in its log.
const READY: &str = "database system is ready to accept connections";

/// One transaction, as pgbench has it said. Each client has one at a time, and keys of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// Nine requests, the commit in two phases.
    Nine,
    /// The same with one phase.
    NinePlain,
    /// One function does it all; one message up to the vote, and one to commit.
    One,
    /// The same in one message.
    OnePlain,
}

const BOOKS: &str = "
CREATE TABLE customers (id int PRIMARY KEY);
CREATE TABLE flights (id int PRIMARY KEY, free int, reserved int, price int);
CREATE TABLE cars (LIKE flights INCLUDING ALL);
CREATE TABLE rooms (LIKE flights INCLUDING ALL);
CREATE TABLE bills (customer int, kind int, item int, count int, price int,
  PRIMARY KEY (customer, kind, item));
CREATE FUNCTION look_customer(c int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN RETURN (SELECT coalesce(sum(b.count * b.price), 0) FROM bills b WHERE b.customer = c); END $$;
CREATE FUNCTION note(c int, k int, i int, p int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO bills VALUES (c, k, i, 1, p) ON CONFLICT (customer, kind, item)
  DO UPDATE SET count = bills.count + 1, price = excluded.price;
END $$;
";

/// The functions of one manager; KIND is its number, and DESK its table.
const DESK: &str = "
CREATE FUNCTION look_DESK(i int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN RETURN (SELECT d.free FROM DESK d WHERE d.id = i); END $$;
CREATE FUNCTION reserve_DESK(c int, i int) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE p int;
BEGIN
  UPDATE DESK SET free = free - 1, reserved = reserved + 1 WHERE id = i AND free > 0
  RETURNING price INTO p;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM note(c, KIND, i, p);
  RETURN true;
END $$;
";

const TRIP: &str = "
CREATE FUNCTION book(c int, i int) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
  RETURN reserve_flights(c, i) AND reserve_cars(c, i) AND reserve_rooms(c, i);
END $$;
";

const DESKS: [&str; 3] = ["flights", "cars", "rooms"];

/// A running Postgres. It is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Postgres {
    child: Child,
    home: TempDir,
    port: u16,
}

impl Postgres {
    /// Starts one with so many customers, flights, cars and rooms.
    pub(super) fn start(scratch: &Path, keys: u32) -> Result<Self> {
        let home = TempDir::with_prefix_in("turnstile-bench-", scratch)?;
        if getuid().is_root() {
            run(Command::new("chown").arg(USER).arg(home.path()))?;
        }
        let data = home.path().join("data");
        let mut initdb = as_its_user("initdb");
        run(initdb
            .arg("-D")
            .arg(&data)
            .args(["-A", "trust", "-U", USER]))?;
        let port = free_address()?.port();
        let words = File::create(log(&home))?;
        let mut server = as_its_user("taskset");
        server
            .args(["-c", &SERVER_CORE.to_string(), SERVER, "-D"])
            .arg(&data);
        for setting in ["max_prepared_transactions=128", "max_connections=128"] {
            server.args(["-c", setting]);
        }
        server.args(["-c", "listen_addresses=127.0.0.1", "-c"]);
        server.arg(format!("unix_socket_directories={}", home.path().display()));
        server.args(["-p", &port.to_string()]);
        server
            .stdin(Stdio::null())
            .stdout(words.try_clone()?)
            .stderr(words);
        let child = spawn(&mut server)?;
        let postgres = Self { child, home, port };
        postgres.await_ready()?;
        postgres.fill(keys)?;
        Ok(postgres)
    }

    fn await_ready(&self) -> Result<()> {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if fs::read_to_string(log(&self.home))?.contains(READY) {
                return Ok(());
            }
            std::thread::yield_now();
        }
        bail!(
            "postgres does not start: {}",
            fs::read_to_string(log(&self.home))?
        )
    }

    fn fill(&self, keys: u32) -> Result<()> {
        let mut sql = BOOKS.to_owned();
        for (kind, desk) in DESKS.iter().enumerate() {
            sql += &DESK
                .replace("DESK", desk)
                .replace("KIND", &kind.to_string());
            writeln!(
                sql,
                "INSERT INTO {desk} SELECT n, 100000000, 0, 100 FROM generate_series(0, {keys} - 1) n;"
            )?;
        }
        sql += TRIP;
        writeln!(
            sql,
            "INSERT INTO customers SELECT generate_series(0, {keys} - 1);"
        )?;
        sql += "VACUUM ANALYZE;\n";
        let file = self.home.path().join("fill.sql");
        fs::write(&file, sql)?;
        let mut psql = self.client(Path::new("psql"));
        run(psql
            .args(["-q", "-v", "ON_ERROR_STOP=1", "-f"])
            .arg(&file)
            .arg(USER))?;
        Ok(())
    }

    /// A program that connects over loopback, as ours do.
    fn client(&self, program: &Path) -> Command {
        let mut command = Command::new("taskset");
        command.args(["-c", &CLIENT_CORE.to_string()]).arg(program);
        command.args(["-h", "127.0.0.1", "-U", USER, "-p", &self.port.to_string()]);
        command
    }

    /// Runs a script by so many clients; gives transactions a second.
    pub(super) fn drive(&self, script: Script, clients: u32, seconds: u32) -> Result<f64> {
        let file = self.home.path().join("script.sql");
        fs::write(&file, script.text())?;
        let mut pgbench = self.client(&beside_server("pgbench"));
        pgbench.args(["-n", "-M", "simple", "-j", "1"]);
        pgbench.args(["-c", &clients.to_string(), "-T", &seconds.to_string()]);
        let (said, _cpu) = run(pgbench.arg("-f").arg(&file).arg(USER))?;
        ensure!(!said.contains("aborted in command"), "{said}");
        Ok(pgbench::told(&said)?.rate)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // An immediate shutdown: its children end with it. Both fail only when it has ended already.
        if kill_process(Pid::from_child(&self.child), Signal::QUIT).is_ok() {
            drop(self.child.wait());
        }
    }
}

impl Script {
    fn text(self) -> String {
        let each = World::KEYS_EACH;
        let key = format!("\\set key :client_id * {each} + random(0, {each} - 1)\n");
        let nine = "BEGIN;\nSELECT look_customer(:key);\n".to_owned()
            + &DESKS
                .map(|desk| {
                    format!("SELECT look_{desk}(:key);\nSELECT reserve_{desk}(:key, :key);\n")
                })
                .concat();
        let prepare = "PREPARE TRANSACTION 'bench-:client_id';";
        let commit = "COMMIT PREPARED 'bench-:client_id';\n";
        key + &match self {
            Self::Nine => format!("{nine}{prepare}\n{commit}"),
            Self::NinePlain => format!("{nine}COMMIT;\n"),
            Self::One => format!("BEGIN\\; SELECT book(:key, :key)\\; {prepare}\n{commit}"),
            Self::OnePlain => "SELECT book(:key, :key);\n".to_owned(),
        }
    }
}

fn log(home: &TempDir) -> PathBuf {
    home.path().join("log")
}

fn beside_server(program: &str) -> PathBuf {
    Path::new(SERVER).with_file_name(program)
}

/// A program beside the server, or on the path, run by somebody who is not root.
fn as_its_user(program: &str) -> Command {
    let beside = beside_server(program);
    let program = if beside.exists() {
        beside
    } else {
        program.into()
    };
    if !getuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid", USER, "--regid", USER, "--init-groups"])
        .arg(program);
    command
}

#[cfg(test)]
mod tests {
    use super::Script;

    #[test]
    fn each_way_has_its_requests() {
        let requests = |script: Script| script.text().lines().skip(1).count();
        let scripts = [
            Script::Nine,
            Script::NinePlain,
            Script::One,
            Script::OnePlain,
        ];
        assert_eq!(scripts.map(requests), [10, 9, 2, 1]);
    }
}
