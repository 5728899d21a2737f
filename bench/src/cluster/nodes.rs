//! Nodes of ours on brokers of ours, on this machine.

use std::{
    fs::{self, File},
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use turnstile_brokers::{Brokers, BrokersSetup};
use turnstile_client::{Connection, resp::Value};

use super::ClusterGround;
use crate::{
    ground::tell,
    load::fill,
    program::{bounded, run},
    server::free_address,
};

/// The stream of the nodes.
pub(super) const STREAM: &str = "LOG_main";

/// How long a node may take until it serves, and for one answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// Between two looks at a node that starts.
const LOOK: Duration = Duration::from_millis(5);

/// One server of ours: alone, or a node of a cluster. It is killed when this is dropped.
#[derive(Debug)]
pub(super) struct NodeProcess {
    child: Child,
    pub(super) resp: SocketAddr,
    data: PathBuf,
    arguments: Vec<String>,
    turnstile: PathBuf,
}

impl NodeProcess {
    /// Starts it, and waits until it serves.
    pub(super) fn start(turnstile: &Path, data: &Path, arguments: &[String]) -> Result<Self> {
        let resp = free_address()?;
        let mut node = Self {
            child: spawn(turnstile, data, (resp, arguments))?,
            resp,
            data: data.to_owned(),
            arguments: arguments.to_owned(),
            turnstile: turnstile.to_owned(),
        };
        node.await_ready()?;
        Ok(node)
    }

    fn await_ready(&mut self) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        loop {
            if self.serves() {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                let output = fs::read_to_string(self.data.with_extension("output"))?;
                anyhow::bail!("a node ended with {status}: {output}");
            }
            ensure!(Instant::now() < end, "a node does not serve");
            thread::park_timeout(LOOK);
        }
    }

    /// Whether it answers a query.
    fn serves(&self) -> bool {
        let answer = self
            .connect()
            .and_then(|mut connection| Ok(connection.command(&[b"ROOMS.LIST-PROPERTIES"])?));
        matches!(answer, Ok(answer) if !matches!(answer, Value::Error(_)))
    }

    pub(super) fn connect(&self) -> Result<Connection> {
        Ok(Connection::connect(self.resp, PATIENCE)?)
    }

    /// A number of `INFO`.
    pub(super) fn figure(&self, name: &str) -> Result<u64> {
        let answer = self.connect()?.command(&[b"INFO"])?;
        let text = answer.as_str().context("INFO answers with a text")?;
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        let mut found = lines.filter(|(fact, _)| *fact == name);
        let (_, value) = found
            .next()
            .with_context(|| format!("INFO has no {name}"))?;
        Ok(value.trim().parse()?)
    }

    pub(super) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Asks it to end, and waits until it has.
    pub(super) fn stop(&mut self) -> Result<()> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        let end = Instant::now() + PATIENCE;
        while self.child.try_wait()?.is_none() {
            ensure!(Instant::now() < end, "a node does not end");
            thread::park_timeout(LOOK);
        }
        Ok(())
    }

    /// Starts it again at the same door, and waits until it serves.
    pub(super) fn restart(&mut self) -> Result<()> {
        self.child = spawn(
            &self.turnstile,
            &self.data,
            (self.resp, self.arguments.as_slice()),
        )?;
        self.await_ready()
    }

    /// The directory of its journal.
    pub(super) fn data(&self) -> &Path {
        &self.data
    }
}

impl Drop for NodeProcess {
    fn drop(&mut self) {
        // Both fail only when it has ended already, which is what is wanted.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn spawn(
    turnstile: &Path,
    data: &Path,
    (resp, arguments): (SocketAddr, &[String]),
) -> Result<Child> {
    let output = File::options()
        .create(true)
        .append(true)
        .open(data.with_extension("output"))?;
    // It ends with this process, however that ends.
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(turnstile);
    command.args(["serve", "--log", "warn", "--http", "off"]);
    command.args(["--resp", &resp.to_string()]);
    command.arg("--data").arg(data).args(arguments);
    command.stdin(Stdio::null()).stdout(output.try_clone()?);
    let spawned = command.stderr(output).spawn();
    spawned.context("cannot start a node; needed are setpriv (util-linux) and our binary")
}

/// Brokers, and nodes on them.
#[derive(Debug)]
pub(super) struct ClusterUnderTest {
    // What is dropped first uses what is dropped later.
    pub(super) nodes: Vec<NodeProcess>,
    pub(super) brokers: Brokers,
    turnstile: PathBuf,
    pub(super) home: TempDir,
    /// The partitions that the first node holds, and those of the cluster; none where there is one.
    partitions: (Vec<String>, Vec<String>),
}

impl ClusterUnderTest {
    /// Three brokers and three nodes with an open property `bench` and nothing else.
    pub(super) fn start(ground: &ClusterGround) -> Result<Self> {
        let cluster = Self::of_partitions(ground, (Vec::new(), Vec::new()))?;
        let first = cluster.nodes.first().context("there are nodes")?;
        open_bench(first)?;
        Ok(cluster)
    }

    /// Three brokers and three nodes with nothing. The first holds some of the partitions, the others all.
    pub(super) fn of_partitions(
        ground: &ClusterGround,
        partitions: (Vec<String>, Vec<String>),
    ) -> Result<Self> {
        tell("three brokers and three nodes start")?;
        let home = TempDir::with_prefix_in("turnstile-bench-", &ground.scratch)?;
        let brokers = Brokers::start(&ground.brokers, home.path(), &BrokersSetup::of(3))?;
        let mut cluster = Self {
            nodes: Vec::new(),
            brokers,
            turnstile: ground.turnstile.clone(),
            home,
            partitions,
        };
        for _ in 0..3 {
            cluster.join()?;
        }
        Ok(cluster)
    }

    /// Has a node send its clients to the others, until it has none.
    pub(super) fn drain(&self, number: usize) -> Result<()> {
        let patience = PATIENCE.as_secs().to_string();
        let mut command = bounded(&self.turnstile, 2 * PATIENCE);
        command.args(["cluster", "drain", &format!("n{number}")]);
        command.args(["--within", &patience]);
        for node in &self.nodes {
            command.args(["--resp", &node.resp.to_string()]);
        }
        run(&mut command).map(drop)
    }

    /// Starts another node with nothing; how long it took until it answered a query.
    pub(super) fn join(&mut self) -> Result<Duration> {
        let number = self.nodes.len();
        let data = self.home.path().join(format!("node-{number}"));
        fs::create_dir(&data)?;
        if let Some(first) = self.nodes.first() {
            let key = data.join("id.key");
            fs::copy(first.data().join("id.key"), &key)?;
            fs::set_permissions(&key, fs::Permissions::from_mode(0o600))?;
        }
        let mut arguments = vec!["--cluster-node".to_owned(), format!("n{number}")];
        for url in self.brokers.urls() {
            arguments.extend(["--cluster-nats".to_owned(), url]);
        }
        for monitor in self.brokers.monitors() {
            arguments.extend(["--cluster-monitor".to_owned(), monitor]);
        }
        let (held, all) = &self.partitions;
        for name in all {
            arguments.extend(["--cluster-partitions".to_owned(), name.clone()]);
        }
        for name in held.iter().filter(|_| number == 0) {
            arguments.extend(["--cluster-holds".to_owned(), name.clone()]);
        }
        // The brokers of a measurement have room for 8 GB, for snapshots too.
        let share = 6_442_450_944 / u64::try_from(all.len().max(1))?;
        for flag in ["--cluster-stream-bytes", "--cluster-snapshot-bytes"]
            .into_iter()
            .take(if all.is_empty() { 1 } else { 2 })
        {
            let bytes = if all.is_empty() { share } else { share / 2 };
            arguments.extend([flag.to_owned(), bytes.to_string()]);
        }
        let begin = Instant::now();
        self.nodes
            .push(NodeProcess::start(&self.turnstile, &data, &arguments)?);
        Ok(begin.elapsed())
    }
}

/// A property in which every room exists.
pub(super) fn open_bench(node: &NodeProcess) -> Result<()> {
    open_property(node, "bench")
}

/// The same by another name.
pub(super) fn open_property(node: &NodeProcess, name: &str) -> Result<()> {
    fill::send(
        &mut node.connect()?,
        1,
        &format!("ROOMS.ADD-PROPERTY {name} OPEN"),
    )?;
    Ok(())
}
