//! What else keeps a booking on several machines: etcd, PostgreSQL with a synchronous standby, and the brokers
//! alone.

use std::{
    env, fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use tempfile::{NamedTempFile, TempDir};
use turnstile_trial::PostgresServer;

use super::ClusterGround;
use crate::{
    ground::tell,
    load::pgbench,
    program::{bounded, run},
    server::free_address,
};

/// How long a peer may take until it serves.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long Go may build etcd and what it needs.
const BUILD: Duration = Duration::from_secs(1_800);

/// How long a load may take beyond its own time.
const LOAD: Duration = Duration::from_secs(60);

/// Between two looks at one that starts.
const LOOK: Duration = Duration::from_millis(20);

/// What a load reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    /// A second.
    pub(super) rate: f64,
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
}

/// Where programs of others are built, once.
pub(super) fn cache() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"),
        PathBuf::from,
    );
    target.join("nats")
}

/// The program of `bench/peers`, which is etcd and loads in one, built by Go from the module proxy.
#[derive(Debug)]
pub(super) struct PeersProgram(PathBuf);

impl PeersProgram {
    pub(super) fn build() -> Result<Self> {
        let program = cache().join("peers");
        fs::create_dir_all(cache())?;
        tell("Go builds etcd: the first time takes some minutes")?;
        let mut go = bounded(Path::new("go"), BUILD);
        go.args(["build", "-trimpath", "-o"]).arg(&program).arg(".");
        go.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("peers"));
        let built = go.env("CGO_ENABLED", "0").output();
        let built = built.context("there is no Go to build etcd with")?;
        let told = String::from_utf8_lossy(&built.stderr);
        ensure!(built.status.success(), "Go did not build etcd: {told}");
        Ok(Self(program))
    }

    fn load(&self, what: &str, (count, seconds): (u32, u32), more: &[String]) -> Result<Reached> {
        let mut command = bounded(&self.0, LOAD + Duration::from_secs(seconds.into()));
        command.args([what, &count.to_string(), &seconds.to_string()]);
        let (said, _cpu) = run(command.args(more))?;
        let figures = said.split_whitespace().map(str::parse::<f64>);
        let figures: Vec<f64> = figures.collect::<Result<_, _>>()?;
        let [rate, p50_us, p99_us] = figures[..] else {
            anyhow::bail!("a load said {said:?}");
        };
        Ok(Reached {
            rate,
            p50_ms: p50_us / 1e3,
            p99_ms: p99_us / 1e3,
        })
    }

    /// Publishes so many bytes each time, as nodes of ours do.
    pub(super) fn publish(
        &self,
        urls: &[String],
        (count, seconds): (u32, u32),
        bytes: u64,
    ) -> Result<Reached> {
        let mut more = vec![bytes.to_string()];
        more.extend_from_slice(urls);
        self.load("nats", (count, seconds), &more)
    }
}

/// Three servers of etcd. They are killed when this is dropped.
#[derive(Debug)]
pub(super) struct Etcd<'a> {
    peers: &'a PeersProgram,
    servers: Vec<EtcdServer>,
    clients: Vec<SocketAddr>,
    _home: TempDir,
}

/// A child that ends with this.
#[derive(Debug)]
struct EtcdServer(Child);

impl Drop for EtcdServer {
    fn drop(&mut self) {
        // Both fail only when it has ended already, which is what is wanted.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl<'a> Etcd<'a> {
    pub(super) fn start(peers: &'a PeersProgram, ground: &ClusterGround) -> Result<Self> {
        let home = TempDir::with_prefix_in("turnstile-bench-", &ground.scratch)?;
        let addresses = || -> Result<Vec<SocketAddr>> { (0..3).map(|_| free_address()).collect() };
        let (clients, others) = (addresses()?, addresses()?);
        let all: Vec<String> = (0..3)
            .map(|number| format!("e{number}=http://{}", others[number]))
            .collect();
        let mut servers = Vec::new();
        for number in 0..3 {
            let (client, other) = (
                format!("http://{}", clients[number]),
                format!("http://{}", others[number]),
            );
            let data = home.path().join(format!("e{number}"));
            let mut command = Command::new("setpriv");
            command.args(["--pdeathsig", "KILL", "--"]).arg(&peers.0);
            command.args(["etcd-server", "--name", &format!("e{number}")]);
            command.arg("--data-dir").arg(&data);
            command.args(["--listen-client-urls", &client]);
            command.args(["--advertise-client-urls", &client]);
            command.args(["--listen-peer-urls", &other]);
            command.args(["--initial-advertise-peer-urls", &other]);
            command.args(["--initial-cluster", &all.join(",")]);
            command.args([
                "--log-level",
                "error",
                "--quota-backend-bytes",
                "8589934592",
            ]);
            command.stdin(Stdio::null()).stdout(Stdio::null());
            let output = fs::File::create(data.with_extension("output"))?;
            let child = command.stderr(output).spawn();
            servers.push(EtcdServer(child.context("cannot start etcd (setpriv)")?));
        }
        let mut etcd = Self {
            peers,
            servers,
            clients,
            _home: home,
        };
        etcd.await_ready()?;
        Ok(etcd)
    }

    /// Waits until each server has had a booking decided.
    fn await_ready(&mut self) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        for server in &mut self.servers {
            if let Some(status) = server.0.try_wait()? {
                anyhow::bail!("etcd ended with {status}");
            }
        }
        for client in &self.clients {
            while std::net::TcpStream::connect(client).is_err() {
                ensure!(Instant::now() < end, "etcd does not serve");
                thread::park_timeout(LOOK);
            }
        }
        // They listen before they have elected anybody.
        while let Err(reason) = self.book((3, 1)) {
            ensure!(Instant::now() < end, "etcd decides nothing: {reason:#}");
        }
        Ok(())
    }

    /// So many under way at once, for so many seconds.
    pub(super) fn book(&self, extent: (u32, u32)) -> Result<Reached> {
        let clients: Vec<String> = self.clients.iter().map(ToString::to_string).collect();
        self.peers.load("etcd", extent, &clients)
    }
}

/// The booking of a room for a night, if it is free.
const BOOK: &str = "\\set room random(1, 1000000000)\n\
                    INSERT INTO bookings (room, night, guest, seal) VALUES (:room, 20819, 'ada', '2346') \
                    ON CONFLICT DO NOTHING;\n";

/// More clients at once than any load has.
const CLIENTS_MAX: u32 = 900;

/// PostgreSQL whose commits wait for the disk of a standby.
#[derive(Debug)]
pub(super) struct PostgresPair {
    // The standby ends first: it follows the other.
    _standby: PostgresServer,
    primary: PostgresServer,
    scratch: PathBuf,
}

impl PostgresPair {
    pub(super) fn start(ground: &ClusterGround) -> Result<Self> {
        // Servers of trials panic where they cannot start; here that is one peer less.
        let scratch = ground.scratch.clone();
        let started = thread::spawn(move || {
            let mut primary = PostgresServer::start_in(&scratch);
            let set =
                |setting: &str| primary.sql("postgres", &format!("ALTER SYSTEM SET {setting}"));
            set(&format!("max_connections = {CLIENTS_MAX}"));
            set("max_wal_size = '4GB'");
            primary.restart();
            let standby = primary.standby_in(&scratch);
            primary.sql(
                "postgres",
                "ALTER SYSTEM SET synchronous_standby_names = '*'",
            );
            primary.sql("postgres", "SELECT pg_reload_conf()");
            let end = Instant::now() + PATIENCE;
            let state = "SELECT sync_state FROM pg_stat_replication";
            while primary.sql("postgres", state).trim() != "sync" {
                assert!(Instant::now() < end, "the standby does not follow");
                thread::park_timeout(LOOK);
            }
            // A commit waits for the standby, which is there by now.
            primary.sql(
                "postgres",
                "CREATE TABLE bookings (room bigint, night int, guest text, seal text, \
                 PRIMARY KEY (room, night))",
            );
            Self {
                _standby: standby,
                primary,
                scratch,
            }
        });
        let failed = |_panic| anyhow::anyhow!("PostgreSQL with a standby does not start");
        started.join().map_err(failed)
    }

    /// So many connections with one booking each at a time, for so many seconds.
    pub(super) fn book(&self, (count, seconds): (u32, u32)) -> Result<Reached> {
        let script = NamedTempFile::new_in(&self.scratch)?;
        fs::write(script.path(), BOOK)?;
        let times = TempDir::with_prefix_in("turnstile-bench-", &self.scratch)?;
        let patience = LOAD + Duration::from_secs(seconds.into());
        let mut command = bounded(Path::new("pgbench"), patience);
        command.args(["-n", "-M", "prepared", "-j", "2", "-c", &count.to_string()]);
        command
            .args(["-T", &seconds.to_string(), "-f"])
            .arg(script.path());
        command
            .arg("--log")
            .arg("--log-prefix")
            .arg(times.path().join("times"));
        let (said, _cpu) = run(command.arg(self.primary.url("postgres")))?;
        let told = pgbench::told(&said)?;
        let mut all = Vec::new();
        for file in fs::read_dir(times.path())? {
            let text = fs::read_to_string(file?.path())?;
            // The third column is the time of a transaction in microseconds.
            let column = |line: &str| line.split(' ').nth(2)?.parse::<f64>().ok();
            all.extend(text.lines().filter_map(column));
        }
        ensure!(!all.is_empty(), "pgbench kept no times: {said}");
        all.sort_by(f64::total_cmp);
        Ok(Reached {
            rate: told.rate,
            p50_ms: all[all.len() / 2] / 1e3,
            p99_ms: all[all.len() * 99 / 100] / 1e3,
        })
    }
}
