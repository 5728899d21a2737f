//! A start: the directory first, then the doors, then the recovery, while the doors already answer.

mod addresses;
mod listening;
mod nodes;
mod partitions;

use std::{
    io,
    net::{SocketAddr, TcpListener},
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{Builder, JoinHandle},
};

use mio::{Poll, Waker};
use turnstile_embedded::{Claim, Durability, Embedded, Options, Recovery};
use turnstile_exchange::Exchange;
use turnstile_rooms::{IdKey, Rooms};

use crate::{
    DatabaseUrl, Running, Settings, StartError, Stopper,
    core::{
        cluster::other_nodes::KnownNodes,
        conversation::FastDoor,
        engine::{Engine, RecoveredEngine},
        fault_points::FaultPoints,
        feed::Feeds,
        gate::Gate,
        loading::Loading,
        partitions::line,
        remote::{self, Housed, Landings, OpenedBackend, Opening, Remotes, ReturnPath, opening},
        request_log::RequestLogs,
        signals::Signals,
        tls::DoorTls,
        transport::DoorTransport,
        turn::{FastLoop, GATE, RecoveredState, RecoveryLine},
    },
    counters::Counters,
    doors::{fast::FastDoors, http::HttpDoor, scores::ScoresConnection},
    limits::{GATE_QUEUE, RELAYED_MAX},
    running::LoopThread,
};

use self::{
    listening::{DoorListeners, begin_request_log, listen, open_http, port_of, watch_all},
    partitions::{InPlaceOfDoors, PartitionStart},
};

/// A server whose doors are open, and whose journal is being recovered. Until that is over every door
/// says so: HTTP with 503 and `/readyz` with how far it is, RESP with `-LOADING`; the others say it where
/// their protocol can, and close.
#[derive(Debug)]
pub struct Starting {
    doors: Vec<(&'static str, SocketAddr)>,
    counters: Arc<Counters>,
    stopper: Stopper,
    http: Option<HttpDoor>,
    fast_loop: LoopThread,
    started: Receiver<Result<Recovery, StartError>>,
    /// What runs beside the loop, once it is there.
    beside: Receiver<BesideLoop>,
}

/// What runs beside the loop.
#[derive(Debug, Default)]
struct BesideLoop {
    /// The threads that ask databases.
    carriers: Vec<JoinHandle<()>>,
    /// The other partitions of a node.
    partitions: Vec<Running>,
}

/// Takes the directory, binds every door, recovers the journal, and serves. Returns when the services
/// are there; the doors answer before.
///
/// # Errors
/// An address that may not be used or is taken, or a journal that cannot be opened. Nothing runs then.
pub fn start(settings: &Settings) -> Result<Running, StartError> {
    Starting::begin(settings)?.finish()
}

impl Starting {
    /// Takes the directory, binds every door and begins to recover the journal.
    ///
    /// # Errors
    /// An address that may not be used or is taken, or a directory that another process has. Nothing runs
    /// then.
    pub fn begin(settings: &Settings) -> Result<Self, StartError> {
        addresses::judge_transport(settings)?;
        nodes::judge_settings(settings)?;
        Self::begin_judged(settings, None)
    }

    /// The same of another partition of a node, which has no doors.
    fn begin_partition(
        settings: &Settings,
        in_place_of_doors: InPlaceOfDoors,
    ) -> Result<Self, StartError> {
        Self::begin_judged(settings, Some(in_place_of_doors))
    }

    fn begin_judged(
        settings: &Settings,
        in_place_of_doors: Option<InPlaceOfDoors>,
    ) -> Result<Self, StartError> {
        let tls = secured(settings)?;
        if addresses::transport(settings) == DoorTransport::Plain {
            tracing::warn!("clients reach this server without TLS: --plain allows it");
        }
        let claim = Claim::new(settings.data.as_deref(), nodes::node_storage(settings));
        let claim = claim.map_err(StartError::Open)?;
        Self::recovering(settings, (tls, in_place_of_doors), move |loading| {
            claim.recover(&loading.progress).map_err(StartError::Open)
        })
    }

    /// The same with a recovery that a test decides about.
    fn recovering(
        settings: &Settings,
        (tls, in_place_of_doors): (Option<Arc<DoorTls>>, Option<InPlaceOfDoors>),
        recover: impl FnOnce(&Loading) -> Result<(Embedded, Recovery), StartError> + Send + 'static,
    ) -> Result<Self, StartError> {
        let DoorListeners { named, fast, http } = listen(settings)?;
        let loading = Arc::new(Loading::begin());
        let port = port_of(&named);
        let Parts {
            fast_loop,
            gate,
            feeds,
            signals,
            counters,
            ways,
            others,
            requests,
        } = Parts::assemble(settings, tls.clone(), (fast, port), &loading)?;
        let followed = partitions::followed(settings, &others);
        let (arrived, arrives) = sync_channel(1);
        let (told, started) = sync_channel(1);
        let (begun, beside) = sync_channel(1);
        let (bell, line) = (gate.clone(), gate.clone());
        let (wanted, watched) = (settings.clone(), Arc::clone(&loading));
        let shared = (Arc::clone(&signals), gate.clone(), Arc::clone(&counters));
        let stopper = Stopper::of(shared, loading, tls, requests);
        let (whole, said) = (stopper.clone(), (named.clone(), followed.known.clone()));
        let work = move || {
            let mut beside = BesideLoop::default();
            let arrival = recover(&watched).and_then(|recovered| {
                let own = (ways, line, &*watched);
                arrival(&wanted, recovered, own, (others, &whole, said), &mut beside)
            });
            hand_over((arrival, beside), (&arrived, &bell), &begun);
        };
        let arrivals = RecoveryLine {
            arrives,
            started: told,
        };
        let fast_loop = start_loop(fast_loop, in_place_of_doors, arrivals)?;
        if http.is_none() {
            signals.note_others_ended();
        }
        let http = http.map(|listener| {
            let counters = Arc::clone(&counters);
            open_http(
                listener,
                (gate, feeds, counters),
                settings,
                followed,
                &stopper,
            )
        });
        let http = http.transpose().map_err(StartError::System);
        let http = http.and_then(|http| spawn("recovery", work).map(|_handle| http));
        let http = http.inspect_err(|_failure| stopper.stop())?;
        Ok(Self {
            doors: named,
            counters,
            stopper,
            http,
            fast_loop,
            started,
            beside,
        })
    }

    /// The open doors and where they listen.
    #[must_use]
    pub fn doors(&self) -> &[(&'static str, SocketAddr)] {
        &self.doors
    }

    /// Ends the recovery at once, or the server after it.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Waits until the services are there.
    ///
    /// # Errors
    /// The journal or a database cannot be opened, or the server was [stopped](StartError::Stopped)
    /// before. Nothing runs then, but for a recovery that was stopped: it ends by itself, and holds the
    /// directory until then.
    pub fn finish(self) -> Result<Running, StartError> {
        let started = self.started.recv();
        let failure = match started {
            Ok(Ok(recovery)) => {
                let BesideLoop {
                    carriers,
                    partitions,
                } = self.beside.recv().unwrap_or_default();
                return Ok(Running {
                    doors: self.doors,
                    recovery,
                    counters: self.counters,
                    stopper: self.stopper,
                    http: self.http,
                    fast_loop: self.fast_loop,
                    carriers,
                    partitions,
                });
            }
            Ok(Err(failure)) => failure,
            Err(_stopped) => StartError::Stopped,
        };
        self.stopper.stop();
        let loop_ended = self.fast_loop.join();
        let http_ended = self.http.map_or(Ok(()), HttpDoor::join);
        match (loop_ended, http_ended) {
            (Ok(Ok(())), Ok(())) => Err(failure),
            _ => Err(StartError::System(io::Error::other("a thread panicked"))),
        }
    }
}

/// What a node says to others: where its doors are; and what it hears of them.
type NodeSaid = (Vec<(&'static str, SocketAddr)>, KnownNodes);

/// What is there before the recovery begins.
struct Parts {
    fast_loop: FastLoop<FastDoors>,
    gate: Gate,
    feeds: Feeds,
    signals: Arc<Signals>,
    counters: Arc<Counters>,
    ways: DatabaseWays,
    /// The other partitions of a node.
    others: Vec<PartitionStart>,
    /// What is said about requests.
    requests: Arc<RequestLogs>,
}

/// The ways back from each database.
struct DatabaseWays {
    rooms: ReturnPath,
    exchange: ReturnPath,
}

impl Parts {
    fn assemble(
        settings: &Settings,
        tls: Option<Arc<DoorTls>>,
        (fast, port): (Vec<(&'static FastDoor, TcpListener)>, u16),
        loading: &Arc<Loading>,
    ) -> Result<Self, StartError> {
        let poll = Poll::new().map_err(StartError::System)?;
        let waker = Waker::new(poll.registry(), GATE).map_err(StartError::System)?;
        let (mut gate, inbox) = Gate::new(waker, Arc::clone(loading), settings.verhoeff);
        let urls = &settings.databases;
        if urls.rooms.is_some() {
            gate.in_databases.add::<Rooms>();
        }
        if urls.exchange.is_some() {
            gate.in_databases.add::<Exchange>();
        }
        let listeners = watch_all(fast, tls.is_some(), &poll)?;
        let counters = Arc::new(Counters::default());
        let nothing = Embedded::open(None, Options::with(Durability::Memory));
        let (nothing, _) = nothing.map_err(StartError::Open)?;
        let mut engine = Engine::loading(
            nothing,
            Arc::clone(&counters),
            settings.verhoeff,
            port,
            Arc::clone(loading),
        );
        engine.transport = addresses::transport(settings);
        if let Some(tls) = &tls {
            engine.expiries = Arc::clone(&tls.expiries);
        }
        engine.security = Arc::clone(&gate.security);
        let requests = begin_request_log(settings, &counters)?;
        engine.notes.log = Arc::clone(&requests);
        let databases = usize::from(urls.rooms.is_some()) + usize::from(urls.exchange.is_some());
        let is_spread = partitions::is_first_of_several(settings);
        gate.is_spread = is_spread;
        let relayed = if is_spread { RELAYED_MAX } else { 0 };
        let landings = Landings::of(callers(settings), databases, relayed);
        let others = partitions::of_node(settings, || line(landings.way(gate.clone())));
        let ways = DatabaseWays {
            rooms: landings.way(gate.clone()),
            exchange: landings.way(gate.clone()),
        };
        let (feeds, signals) = (
            Feeds::new(settings.limits.http.events),
            Arc::new(Signals::default()),
        );
        let tells = settings.duels.tells;
        let doors = FastDoors {
            xml: settings.xml_options,
            lines: settings.lines_options,
            principals: settings.principals,
            addresses: settings.addresses,
            teller: tells.map(|(address, wire)| ScoresConnection::new(address, wire)),
            ..FastDoors::default()
        };
        let shared = (feeds.clone(), Arc::clone(&signals));
        let told = (settings.limits, doors);
        let mut fast_loop = FastLoop::new(poll, listeners, engine, inbox, shared, told);
        fast_loop.landings = landings;
        fast_loop.tls = tls;
        fast_loop.dial_at(&settings.peers.desks);
        Ok(Self {
            fast_loop,
            gate,
            feeds,
            signals,
            counters,
            ways,
            others,
            requests,
        })
    }
}

/// Starts the thread of a loop. That of another partition than the first has a name that says so.
fn start_loop(
    mut fast_loop: FastLoop<FastDoors>,
    in_place_of_doors: Option<InPlaceOfDoors>,
    arrivals: RecoveryLine<StartError>,
) -> Result<LoopThread, StartError> {
    let first = in_place_of_doors.map(|instead| {
        fast_loop.home = Some(instead.home);
        fast_loop.feeds = instead.feeds;
        instead.first
    });
    let name = match first {
        None => "fast-loop",
        Some(_) => "partition-loop",
    };
    spawn(name, move || {
        let ended = fast_loop.run(arrivals);
        // A node has all of its partitions, or ends.
        if let (Err(_), Some(first)) = (&ended, first) {
            first.stop();
        }
        ended
    })
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, StartError> {
    let thread = Builder::new().name(name.to_owned()).spawn(work);
    thread.map_err(StartError::System)
}

/// Hands a recovered server to its loop. What nobody wants any more ends.
fn hand_over(
    (arrival, beside): (Result<RecoveredState, StartError>, BesideLoop),
    (arrived, bell): (&SyncSender<Result<RecoveredState, StartError>>, &Gate),
    begun: &SyncSender<BesideLoop>,
) {
    let runs = arrival.is_ok();
    // A server that was stopped meanwhile wants nothing any more.
    if arrived.send(arrival).is_ok() {
        bell.wake();
    }
    let unwanted = match runs {
        true => begun.send(beside).err().map(|unsent| unsent.0),
        false => Some(beside),
    };
    partitions::stop(unwanted.into_iter().flat_map(|beside| beside.partitions));
}

/// Makes of a recovered back end what the loop takes up: configured, with the databases beside it.
fn arrival(
    settings: &Settings,
    recovered: (Embedded, Recovery),
    (ways, gate, loading): (DatabaseWays, Gate, &Loading),
    (others, main, said): (Vec<PartitionStart>, &Stopper, NodeSaid),
    beside: &mut BesideLoop,
) -> Result<RecoveredState, StartError> {
    let recovered = nodes::recover(settings, recovered, &gate, loading);
    let (mut backend, mut found, log) = recovered.map_err(StartError::Cluster)?;
    addresses::judge_guard(settings, &backend)?;
    // A cluster is configured once, when it begins.
    let is_alone = settings.cluster.is_none();
    if let Some(travel) = settings.travel.filter(|_| is_alone) {
        let configured = backend.configure_travel(travel);
        configured.map_err(StartError::Unsound)?;
    }
    if let Some(games) = settings.games.filter(|_| is_alone) {
        let configured = backend.configure_games(games);
        configured.map_err(StartError::Unsound)?;
    }
    let (urls, callers) = (&settings.databases, callers(settings));
    let rooms = database(urls.rooms.as_ref(), opening::rooms, callers)?;
    let exchange = database(urls.exchange.as_ref(), opening::exchange, callers)?;
    let known = rooms.as_ref().map(|opened| &opened.found);
    let id_key: IdKey = known.unwrap_or_else(|| backend.id_key()).clone();
    let carriers = &mut beside.carriers;
    let remotes = Remotes {
        rooms: rooms.map(|opened| opened.begin(ways.rooms, carriers)),
        exchange: exchange.map(|opened| opened.begin(ways.exchange, carriers)),
        ..Remotes::default()
    };
    let directory = settings.data.as_deref();
    // The log of the first partition is open: the brokers are there.
    let lines = match directory {
        Some(first) => partitions::start(others, first, main, beside)?,
        None => Vec::new(),
    };
    let bell = gate.clone();
    let cluster = nodes::join(settings, (log, &mut found), &mut backend, (gate, loading));
    let cluster = cluster.map_err(StartError::Cluster)?;
    let nodes = nodes::line(settings, cluster.as_ref(), bell, said)?;
    Ok(RecoveredState {
        recovered: RecoveredEngine {
            backend,
            id_key,
            remotes,
            cluster,
            partitions: partitions::ways(settings, lines),
            nodes,
            fault_points: FaultPoints::new(settings.peers.fault_points, directory),
        },
        found,
    })
}

/// How many may wait for a database at once; none of them asks it for two things at a time.
fn callers(settings: &Settings) -> usize {
    settings.limits.connections + settings.limits.http.away() + GATE_QUEUE
}

/// Opens the database of a service, if it is wanted.
fn database<M: Housed, K: Send + 'static>(
    url: Option<&DatabaseUrl>,
    opening: fn(DatabaseUrl) -> Opening<M, K>,
    callers: usize,
) -> Result<Option<OpenedBackend<M, K>>, StartError> {
    let Some(url) = url.cloned() else {
        return Ok(None);
    };
    let opened = remote::open(move || opening(url), callers);
    let opened = opened.map_err(StartError::System)?;
    let service = M::NAME;
    let opened = opened.map_err(|cause| StartError::Database { service, cause });
    opened.map(Some)
}

/// Reads the files of TLS, if there is to be any.
fn secured(settings: &Settings) -> Result<Option<Arc<DoorTls>>, StartError> {
    let Some(files) = &settings.tls else {
        return Ok(None);
    };
    let tls = DoorTls::open(files, &settings.principals).map_err(StartError::Tls)?;
    let (peers, duels) = (&settings.peers, &settings.duels);
    let line = [
        ("desk", peers.door.is_some() || !peers.desks.is_empty()),
        (
            "games-scores",
            duels.scores.is_some() || duels.tells.is_some(),
        ),
    ];
    if let Some((door, _)) = line.into_iter().find(|(_, is_open)| *is_open) {
        if files.client_ca.is_none() {
            return Err(StartError::LineWithoutAuthorities { door });
        }
        tls.judge_lines().map_err(StartError::Tls)?;
    }
    Ok(Some(Arc::new(tls)))
}

#[cfg(test)]
mod tests;
