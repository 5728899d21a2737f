//! A cluster of brokers: started, asked, hurt and stopped.

use std::{
    collections::BTreeSet,
    fs,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::process::Signal;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    BrokersError, NatsServer, asking,
    broker::{Broker, free_port},
    path::{Carriage, FaultyPath, PathWay},
    streams::{STREAMS, copies_in, leader_in, names_in, stream_in, text},
};

/// How long brokers may take until they serve; a busy machine needs a fraction of it.
const READY: Duration = Duration::from_secs(90);

/// Between two looks at what brokers say.
const LOOK: Duration = Duration::from_millis(20);

/// How often a cluster is started with other ports, because one was taken meanwhile.
const STARTS_MAX: u32 = 5;

/// The address that wired brokers tell each other: nothing is there, so that they use their paths only.
const NOWHERE: &str = "127.0.0.1:1";

/// When brokers sync their disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syncing {
    /// Before they acknowledge.
    Always,
    /// Every two minutes, as brokers do if nothing else is said.
    Default,
}

/// What a cluster is made of.
#[derive(Clone, Debug)]
pub struct BrokersSetup {
    /// How many brokers: 1, 3 or 5.
    pub count: usize,
    pub syncing: Syncing,
    /// Whether each pair is joined by a [`FaultyPath`] each way, for [`Brokers::carry`].
    pub are_wired: bool,
    /// Where each broker keeps its data; without it in the folder of the cluster.
    pub data: Option<Vec<PathBuf>>,
    /// More lines of the configuration of each broker.
    pub configuration: String,
}

impl BrokersSetup {
    /// So many brokers that sync always, and no more than that.
    #[must_use]
    pub const fn of(count: usize) -> Self {
        Self {
            count,
            syncing: Syncing::Always,
            are_wired: false,
            data: None,
            configuration: String::new(),
        }
    }
}

/// Brokers on this machine, on free ports of the loopback. They are named `n1`, `n2` and so on, and
/// counted from 0. They are killed when this is dropped, or when this process ends in whatever way.
#[derive(Debug)]
pub struct Brokers {
    server: NatsServer,
    brokers: Vec<Broker>,
    /// By the broker that connects, then by the one that it connects to.
    paths: Vec<Vec<Option<FaultyPath>>>,
}

impl Brokers {
    /// Starts a cluster with its files in `folder`, and waits until it serves.
    ///
    /// # Errors
    /// The brokers do not start.
    pub fn start(
        server: &NatsServer,
        folder: &Path,
        setup: &BrokersSetup,
    ) -> Result<Self, BrokersError> {
        let mut tries = 1;
        loop {
            let mut brokers = Self::made(server, folder, setup)?;
            match brokers.start_all().and_then(|()| brokers.await_ready()) {
                Ok(()) => return Ok(brokers),
                Err(BrokersError::Ended { .. }) if tries < STARTS_MAX => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    fn made(
        server: &NatsServer,
        folder: &Path,
        setup: &BrokersSetup,
    ) -> Result<Self, BrokersError> {
        let address = || {
            let port = free_port()?;
            Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
        };
        let routes: Vec<SocketAddr> = (0..setup.count)
            .map(|_| address())
            .collect::<Result<_, BrokersError>>()?;
        let mut brokers = Vec::new();
        for number in 0..setup.count {
            let name = format!("n{}", number + 1);
            let place = folder.join(&name);
            let mut broker = Broker::new(name, address()?, address()?, place);
            if let Some(data) = setup.data.as_ref().and_then(|data| data.get(number)) {
                broker.data.clone_from(data);
            }
            brokers.push(broker);
        }
        let paths = if setup.are_wired {
            wires(&routes)?
        } else {
            (0..setup.count).map(|_| Vec::new()).collect()
        };
        for (number, broker) in brokers.iter_mut().enumerate() {
            broker.configuration = configuration(setup, broker, number, &routes, &paths[number]);
        }
        Ok(Self {
            server: server.clone(),
            brokers,
            paths,
        })
    }

    fn start_all(&mut self) -> Result<(), BrokersError> {
        for broker in &mut self.brokers {
            broker.start(&self.server)?;
        }
        Ok(())
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.brokers.len()
    }

    /// Where clients connect to each broker.
    #[must_use]
    pub fn clients(&self) -> Vec<SocketAddr> {
        self.brokers.iter().map(|broker| broker.client).collect()
    }

    /// The same as URLs.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        let clients = self.clients().into_iter();
        clients.map(|client| format!("nats://{client}")).collect()
    }

    /// The monitoring address of each broker.
    #[must_use]
    pub fn monitors(&self) -> Vec<String> {
        let brokers = self.brokers.iter();
        brokers.map(|broker| broker.monitor.to_string()).collect()
    }

    /// Where a broker keeps its data.
    #[must_use]
    pub fn data(&self, number: usize) -> &Path {
        &self.brokers[number].data
    }

    /// The number of a broker's process, if it runs.
    #[must_use]
    pub fn pid(&self, number: usize) -> Option<u32> {
        let pid = self.brokers[number].pid()?;
        u32::try_from(pid.as_raw_nonzero().get()).ok()
    }

    /// Kills a broker as `kill -9` does, and waits until it is gone.
    pub fn kill(&mut self, number: usize) {
        self.brokers[number].kill();
    }

    /// Stops a broker as `kill` does: it hands on what it leads and closes its files.
    pub fn stop(&mut self, number: usize) {
        self.brokers[number].stop();
    }

    /// Kills all of them.
    pub fn kill_all(&mut self) {
        for broker in &mut self.brokers {
            broker.kill();
        }
    }

    /// Starts a broker again on its ports, killing it first if it runs, and does not wait until it
    /// serves.
    ///
    /// # Errors
    /// The system does not start it.
    pub fn restart(&mut self, number: usize) -> Result<(), BrokersError> {
        self.brokers[number].start(&self.server)
    }

    /// Starts all of them again with another server, such as one of another version.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn restart_all_as(&mut self, server: &NatsServer) -> Result<(), BrokersError> {
        self.kill_all();
        self.server = server.clone();
        self.restart_all()
    }

    /// Starts all of them again, and waits until they serve.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn restart_all(&mut self) -> Result<(), BrokersError> {
        self.start_all()?;
        self.await_ready()
    }

    /// Removes all data of a broker that was killed, as if its disk had been replaced.
    ///
    /// # Errors
    /// The files cannot be removed.
    pub fn wipe(&mut self, number: usize) -> Result<(), BrokersError> {
        self.kill(number);
        let data = &self.brokers[number].data;
        let what = format!("removing {}", data.display());
        fs::remove_dir_all(data).map_err(BrokersError::system(what))
    }

    /// Stops the clock of a broker: it stays alive and does nothing.
    pub fn pause(&mut self, number: usize) {
        self.brokers[number].signal(Signal::STOP);
    }

    /// Lets it go on.
    pub fn resume(&mut self, number: usize) {
        self.brokers[number].signal(Signal::CONT);
    }

    /// Changes how bytes are carried from one broker to another, if the cluster is wired.
    pub fn carry(&self, from: usize, to: usize, carriage: Carriage) {
        for (one, other, way) in [(from, to, PathWay::There), (to, from, PathWay::Back)] {
            if let Some(Some(path)) = self.paths[one].get(other) {
                path.set(way, carriage);
            }
        }
    }

    /// The same between a broker and all others, both ways.
    pub fn carry_all(&self, number: usize, carriage: Carriage) {
        for other in (0..self.count()).filter(|other| *other != number) {
            self.carry(number, other, carriage);
            self.carry(other, number, carriage);
        }
    }

    /// Ends the connections between two brokers; they make new ones.
    pub fn reset(&self, one: usize, other: usize) {
        for (from, to) in [(one, other), (other, one)] {
            if let Some(Some(path)) = self.paths[from].get(to) {
                path.reset();
            }
        }
    }

    /// Waits until all brokers that run serve and, if there are several, know who leads them. If all
    /// run, their leader must also see that each is up to date: before that it makes no stream.
    ///
    /// # Errors
    /// One has ended, or it takes too long.
    pub fn await_ready(&mut self) -> Result<(), BrokersError> {
        let count = self.count();
        let all_run = self.brokers.iter().all(Broker::is_started);
        self.wait("a leader of the brokers", |broker| {
            if count == 1 {
                return asking::get(broker.monitor, "/healthz").ok().map(drop);
            }
            let told = asking::get(broker.monitor, "/jsz").ok()?;
            let meta = &told["meta_cluster"];
            let leader = text(&meta["leader"]);
            let peers = meta["replicas"].as_array();
            let is_current = |peer: &Value| peer["current"] == true;
            let sees_all =
                peers.is_some_and(|peers| peers.len() == count - 1 && peers.iter().all(is_current));
            let may_see_less = !all_run || leader != broker.name;
            (!leader.is_empty() && (may_see_less || sees_all)).then_some(())
        })
    }

    /// Asks each broker that runs until all say something.
    fn wait(
        &mut self,
        what: &str,
        mut look: impl FnMut(&Broker) -> Option<()>,
    ) -> Result<(), BrokersError> {
        let deadline = Instant::now() + READY;
        for broker in self.brokers.iter_mut().filter(|broker| broker.is_started()) {
            while look(broker).is_none() {
                broker.runs_after(LOOK)?;
                if Instant::now() > deadline {
                    return Err(BrokersError::Late {
                        what: what.to_owned(),
                    });
                }
            }
        }
        Ok(())
    }

    /// The broker that leads a stream, as one of those that run says.
    #[must_use]
    pub fn stream_leader(&self, stream: &str) -> Option<usize> {
        if self.count() == 1 {
            return self.brokers[0].is_started().then_some(0);
        }
        let started = self.brokers.iter().filter(|broker| broker.is_started());
        let leader = started
            .filter_map(|broker| {
                let told = asking::get(broker.monitor, STREAMS).ok()?;
                leader_in(&told, stream)
            })
            .next()?;
        self.brokers.iter().position(|broker| {
            // A leader that was killed is named until there is another.
            broker.name == leader && broker.is_started()
        })
    }

    /// Waits until a stream has a leader that runs.
    ///
    /// # Errors
    /// It takes too long.
    pub fn await_stream_leader(&mut self, stream: &str) -> Result<usize, BrokersError> {
        let deadline = Instant::now() + READY;
        loop {
            if let Some(leader) = self.stream_leader(stream) {
                return Ok(leader);
            }
            if let Some(broker) = self.brokers.iter_mut().find(|broker| broker.is_started()) {
                broker.runs_after(LOOK)?;
            }
            if Instant::now() > deadline {
                return Err(BrokersError::Late {
                    what: format!("a leader of stream {stream}"),
                });
            }
        }
    }

    /// Waits until the leader of each stream sees that all other brokers have what it has. Before that, no
    /// second broker may lose what it has: the two could have the only copies.
    ///
    /// # Errors
    /// It takes too long.
    pub fn await_copies(&mut self) -> Result<(), BrokersError> {
        let deadline = Instant::now() + READY;
        while !self.are_copies_whole() {
            if let Some(broker) = self.brokers.iter_mut().find(|broker| broker.is_started()) {
                broker.runs_after(LOOK)?;
            }
            if Instant::now() > deadline {
                return Err(BrokersError::Late {
                    what: "copies of all streams".to_owned(),
                });
            }
        }
        Ok(())
    }

    fn are_copies_whole(&self) -> bool {
        let started = self.brokers.iter().filter(|broker| broker.is_started());
        // One that has lost its data names no stream yet.
        let told = started.filter_map(|broker| asking::get(broker.monitor, STREAMS).ok());
        let names: BTreeSet<String> = told.flat_map(|told| names_in(&told)).collect();
        let is_whole = |name: &String| {
            let leader = self.stream_leader(name);
            let told =
                leader.and_then(|leader| asking::get(self.brokers[leader].monitor, STREAMS).ok());
            told.is_some_and(|told| copies_in(&told, name) == self.count() - 1)
        };
        !names.is_empty() && names.iter().all(is_whole)
    }

    /// Messages and bytes that a stream has, as its leader says.
    ///
    /// # Errors
    /// There is no leader, or it does not answer.
    pub fn stream_size(&mut self, stream: &str) -> Result<(u64, u64), BrokersError> {
        let leader = self.await_stream_leader(stream)?;
        let what = || format!("the size of stream {stream}");
        let told = asking::get(self.brokers[leader].monitor, STREAMS);
        let told = told.map_err(BrokersError::system(what()))?;
        let state = stream_in(&told, stream).map(|stream| &stream["state"]);
        let size = state.and_then(|state| state["messages"].as_u64().zip(state["bytes"].as_u64()));
        size.ok_or_else(|| BrokersError::Late { what: what() })
    }

    /// Whether a broker was started and not killed or stopped since.
    #[must_use]
    pub fn is_started(&self, number: usize) -> bool {
        self.brokers[number].is_started()
    }

    /// Asks the leader of a stream to leave that to another.
    ///
    /// # Errors
    /// There is no leader, or it does not.
    pub fn step_down(&mut self, stream: &str) -> Result<(), BrokersError> {
        #[derive(Deserialize)]
        struct StepDown {
            #[serde(default)]
            success: bool,
        }
        let leader = self.await_stream_leader(stream)?;
        let subject = format!("$JS.API.STREAM.LEADER.STEPDOWN.{stream}");
        let what = format!("stepping down from stream {stream}");
        let answer = asking::request(self.brokers[leader].client, &subject);
        let answer = answer.map_err(BrokersError::system(what.clone()))?;
        match StepDown::deserialize(&answer) {
            Ok(StepDown { success: true }) => Ok(()),
            _ => {
                let error = std::io::Error::other(answer.to_string());
                Err(BrokersError::system(what)(error))
            }
        }
    }
}

/// A path from each broker to each other.
fn wires(routes: &[SocketAddr]) -> Result<Vec<Vec<Option<FaultyPath>>>, BrokersError> {
    let wire = |from: usize, to: usize| {
        let path = (from != to).then(|| FaultyPath::to(routes[to]));
        path.transpose()
            .map_err(BrokersError::system("a path between brokers"))
    };
    let count = routes.len();
    (0..count)
        .map(|from| (0..count).map(|to| wire(from, to)).collect())
        .collect()
}

fn configuration(
    setup: &BrokersSetup,
    broker: &Broker,
    number: usize,
    routes: &[SocketAddr],
    paths: &[Option<FaultyPath>],
) -> String {
    let sync = match setup.syncing {
        Syncing::Always => ", sync_interval: always",
        Syncing::Default => "",
    };
    let mut lines = vec![
        format!("server_name: {}", broker.name),
        format!("listen: \"{}\"", broker.client),
        format!("http: \"{}\"", broker.monitor),
        "max_payload: 1MB".to_owned(),
        format!(
            "jetstream {{ store_dir: {:?}, max_memory_store: 64MB, max_file_store: 8GB{sync} }}",
            broker.data.display().to_string()
        ),
    ];
    if setup.count > 1 {
        let others = (0..setup.count).filter(|other| *other != number);
        let urls = others.map(|other| {
            let path = paths.get(other).and_then(Option::as_ref);
            let address = path.map_or(routes[other], FaultyPath::address);
            format!("\"nats://{address}\"")
        });
        let urls: Vec<String> = urls.collect();
        let advertised = if paths.is_empty() {
            String::new()
        } else {
            format!("advertise: {NOWHERE:?}, ")
        };
        lines.push(format!(
            "cluster {{ name: turnstile, listen: \"{}\", no_advertise: true, {advertised}routes: [{}] }}",
            routes[number],
            urls.join(", ")
        ));
    }
    lines.push(setup.configuration.clone());
    lines.join("\n")
}
