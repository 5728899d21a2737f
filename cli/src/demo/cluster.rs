//! `turnstile demo --cluster`: three nodes on three brokers, faults under load, and the proof.

mod clients;
mod nodes;

use std::{
    env,
    fs::Permissions,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use turnstile_brokers::{Brokers, BrokersSetup, NatsServer, PINNED_VERSION};
use turnstile_stats::units::Count;

use super::{Scale, audit, count};
use crate::{
    exit::Coded,
    resp,
    season::AcknowledgedBooking,
    terminal::{self, Table},
    verify,
};
use clients::{ClusterClients, ClusterScene};
use nodes::DemoNodes;

/// The stream of the partition `main`, which nodes share unless they are told otherwise.
const STREAM: &str = "LOG_main";

/// Brokers of the demo; each entry is on the disks of two of them before it is answered.
const BROKERS: usize = 3;

/// How much is done between the faults.
struct ClusterAmounts {
    /// Requests that are answered after each fault, before the next one.
    answers: u64,
    /// How long brokers are cut off.
    cut: Duration,
}

impl ClusterAmounts {
    const fn of(scale: Scale) -> Self {
        match scale {
            Scale::Small => Self {
                answers: 300,
                cut: Duration::from_secs(1),
            },
            Scale::Full => Self {
                answers: 5_000,
                cut: Duration::from_secs(4),
            },
        }
    }
}

/// What is hurt, and who is watched meanwhile.
struct ClusterStage {
    brokers: Brokers,
    nodes: DemoNodes,
    scene: Arc<ClusterScene>,
    amounts: ClusterAmounts,
    table: Table,
}

pub(super) fn run(cache: Option<&Path>, scale: Scale) -> anyhow::Result<()> {
    let begun = Instant::now();
    let folder = tempfile::Builder::new()
        .prefix("turnstile-demo-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir()?;
    terminal::note(format_args!(
        "1/9 three brokers of NATS {PINNED_VERSION} that sync before they acknowledge (to build them, \
         once, takes about a minute)"
    ));
    let server = NatsServer::install(&cache_of(cache))?;
    let brokers = Brokers::start(&server, folder.path(), &BrokersSetup::of(BROKERS))?;
    terminal::note("2/9 three nodes, each of which answers for all");
    let nodes = DemoNodes::start(folder.path(), &brokers)?;
    let mut stage = ClusterStage {
        scene: Arc::new(ClusterScene::new(nodes.addresses())),
        brokers,
        nodes,
        amounts: ClusterAmounts::of(scale),
        table: Table::default(),
    };
    terminal::note("3/9 load on all three; a client that gets no answer asks another node again");
    let clients = ClusterClients::start(&stage.scene)?;
    let disturbed = stage
        .phase("load", |_| Ok(()))
        .and_then(|()| stage.disturb());
    stage.scene.end();
    let told = clients.join();
    disturbed?;
    let told = told?;
    stage.table.row("asked", told.summary());
    terminal::note("9/9 the proof, on every node");
    stage.prove(&told.acknowledged)?;
    stage
        .table
        .row("took", format_args!("{:.1?}", begun.elapsed()));
    stage.table.print()?;
    Ok(terminal::line(
        "nothing lost, nothing sold twice, all nodes have the same state",
    )?)
}

/// Where brokers are kept once they are built.
fn cache_of(named: Option<&Path>) -> PathBuf {
    let of = |variable| env::var_os(variable).map(PathBuf::from);
    let cache = || {
        let users = of("XDG_CACHE_HOME").or_else(|| Some(of("HOME")?.join(".cache")));
        users.unwrap_or_else(env::temp_dir).join("turnstile")
    };
    named.map_or_else(cache, Path::to_owned)
}

impl ClusterStage {
    /// Hurts brokers and nodes, one fault after the other.
    fn disturb(&mut self) -> anyhow::Result<()> {
        terminal::note("4/9 kill -9 of the broker that leads the log");
        self.phase("leading broker killed", |stage| {
            let leader = stage.brokers.await_stream_leader(STREAM)?;
            stage.brokers.kill(leader);
            stage.scene.await_answers(stage.amounts.answers)?;
            stage.brokers.restart(leader)?;
            Ok(stage.brokers.await_ready()?)
        })?;
        terminal::note("5/9 kill -9 of a node: its clients go on at the others");
        self.phase("node killed", |stage| {
            stage.scene.set(0, None);
            stage.nodes.kill(0)?;
            stage.scene.await_answers(stage.amounts.answers)?;
            let address = stage.nodes.start_again(0)?;
            stage.scene.set(0, Some(address));
            Ok(())
        })?;
        terminal::note("6/9 a broker is cut off");
        self.phase("broker cut off", |stage| {
            let leader = stage.brokers.await_stream_leader(STREAM)?;
            stage.cut_off(&[(leader + 1) % BROKERS]);
            Ok(())
        })?;
        terminal::note(
            "7/9 all brokers are cut off: no client gets an answer, and none gets a false one",
        );
        self.phase("all brokers cut off", |stage| {
            stage.cut_off(&[0, 1, 2]);
            Ok(())
        })?;
        terminal::note("8/9 kill -9 of all brokers at once");
        self.phase("all brokers killed", |stage| {
            stage.brokers.kill_all();
            Ok(stage.brokers.restart_all()?)
        })
    }

    /// Stops the clocks of some brokers for a while: the others and the nodes get no answer from them.
    fn cut_off(&mut self, numbers: &[usize]) {
        for &number in numbers {
            self.brokers.pause(number);
        }
        self.scene.rest(self.amounts.cut);
        for &number in numbers {
            self.brokers.resume(number);
        }
    }

    /// Does something while clients ask, and goes on when enough of them were answered.
    fn phase(
        &mut self,
        label: &str,
        fault: impl FnOnce(&mut Self) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.scene.begin_phase();
        fault(self)?;
        self.scene.await_answers(self.amounts.answers)?;
        let (answers, pause) = self.scene.phase();
        let seconds = pause.as_secs_f64();
        self.table.row(
            label,
            format_args!(
                "{} answers, the longest time without any {seconds:.1} s",
                Count(answers)
            ),
        );
        Ok(())
    }

    /// Everything that was acknowledged is there at every node, nothing else is, no room is sold twice in
    /// one night, and all nodes come to the same state.
    fn prove(&mut self, acknowledged: &[AcknowledgedBooking]) -> anyhow::Result<()> {
        let mut there = 0;
        for address in self.nodes.addresses() {
            let mut door = resp::connect(address)?;
            // Behind an answer that sees all that was acknowledged, its own state will do.
            for words in [b"ROOMS.GET-TOTALS".as_slice(), b"READONLY"] {
                door.command(&[words])?;
            }
            there += audit::judge(&mut door, acknowledged)?;
        }
        self.table.row(
            "  checked",
            format_args!(
                "{} bookings on three nodes, no room twice in one night",
                count(there)
            ),
        );
        let entry = self.nodes.await_same_entry()?;
        let mut hashes = Vec::new();
        for directory in self.nodes.stop()? {
            let verdict = verify::verify(&directory)?;
            verify::judge(&verdict)?;
            hashes.push(verdict.hash);
        }
        let first = hashes.first().context("there are nodes")?;
        if hashes.iter().any(|hash| hash != first) {
            let told = format!("the nodes have different states: {hashes:x?}");
            return Err(Coded::violation(told).into());
        }
        self.table.row(
            "  verified",
            format_args!(
                "three directories at entry {}, all with state {first:032x}",
                Count(entry)
            ),
        );
        Ok(())
    }
}
