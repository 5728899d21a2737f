//! Three nodes of this binary.

use std::{
    fs,
    net::SocketAddr,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use turnstile_brokers::Brokers;

use crate::{
    child::{Doors, Server},
    cluster, resp,
};

const NODES: usize = 3;

/// How long nodes may take until they have applied the same.
const SAME: Duration = Duration::from_secs(60);

/// Between two looks at that.
const LOOK: Duration = Duration::from_millis(20);

/// What a node is started with, and the node while it runs.
struct DemoNode {
    data: PathBuf,
    flags: Vec<(String, String)>,
    running: Option<Server>,
}

pub(super) struct DemoNodes(Vec<DemoNode>);

impl DemoNodes {
    /// Starts them with their files in `folder`. All have the key of the id numbers of the first.
    pub(super) fn start(folder: &Path, brokers: &Brokers) -> anyhow::Result<Self> {
        let mut nodes: Vec<DemoNode> = Vec::new();
        for number in 1..=NODES {
            let data = folder.join(format!("node-{number}"));
            fs::DirBuilder::new().mode(0o700).create(&data)?;
            if let Some(first) = nodes.first() {
                fs::copy(first.data.join("id.key"), data.join("id.key")).context("id.key")?;
            }
            let mut node = DemoNode {
                data,
                flags: flags(number, brokers),
                running: None,
            };
            node.start()?;
            nodes.push(node);
        }
        Ok(Self(nodes))
    }

    /// Where those that run can be asked.
    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        let running = self.0.iter().filter_map(|node| node.running.as_ref());
        running.map(Server::resp).collect()
    }

    pub(super) fn kill(&mut self, number: usize) -> anyhow::Result<()> {
        let node = self.0.get_mut(number).context("there is such a node")?;
        let running = node.running.take().context("it runs")?;
        Ok(running.kill()?)
    }

    pub(super) fn start_again(&mut self, number: usize) -> anyhow::Result<SocketAddr> {
        let node = self.0.get_mut(number).context("there is such a node")?;
        node.start()
    }

    /// Waits until all have applied the same entry of the log; says which.
    pub(super) fn await_same_entry(&self) -> anyhow::Result<u64> {
        let deadline = Instant::now() + SAME;
        loop {
            let addresses = self.addresses().into_iter();
            let entries: Vec<u64> = addresses.map(entry).collect::<anyhow::Result<_>>()?;
            let first = *entries.first().context("nodes run")?;
            if entries.iter().all(|entry| *entry == first) {
                return Ok(first);
            }
            ensure!(
                Instant::now() < deadline,
                "the nodes are at the entries {entries:?} of the log, and do not come together"
            );
            thread::park_timeout(LOOK);
        }
    }

    /// Stops all of them; gives their directories.
    pub(super) fn stop(&mut self) -> anyhow::Result<Vec<PathBuf>> {
        for node in &mut self.0 {
            if let Some(running) = node.running.take() {
                running.stop()?;
            }
        }
        Ok(self.0.iter().map(|node| node.data.clone()).collect())
    }
}

impl DemoNode {
    fn start(&mut self) -> anyhow::Result<SocketAddr> {
        let server = Server::start_with(Some(&self.data), Doors::Resp, &self.flags)?;
        let address = server.resp();
        self.running = Some(server);
        Ok(address)
    }
}

fn flags(number: usize, brokers: &Brokers) -> Vec<(String, String)> {
    let pair = |flag: &str, value: String| (flag.to_owned(), value);
    let mut flags = vec![
        pair("--cluster-node", format!("n{number}")),
        // What they say of brokers that were killed is no news here.
        pair("--log", "error".to_owned()),
        pair("--cluster-stream-bytes", (1_u64 << 30).to_string()),
    ];
    let urls = brokers.urls().into_iter();
    flags.extend(urls.map(|url| pair("--cluster-nats", url)));
    let monitors = brokers.monitors().into_iter();
    flags.extend(monitors.map(|monitor| pair("--cluster-monitor", monitor)));
    flags
}

/// The last entry of the log that the node at this address has applied.
fn entry(address: SocketAddr) -> anyhow::Result<u64> {
    let mut door = resp::connect(address)?;
    let report = cluster::report_of(&mut door)?;
    let entry = report["entry"].as_u64();
    entry.with_context(|| format!("the node at {address} does not say where it is: {report}"))
}
