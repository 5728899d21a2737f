//! A start: the directory first, then the doors, then the recovery, while the doors already answer.

mod addresses;
mod nodes;

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
        conversation::FastDoor,
        engine::{Engine, RecoveredEngine},
        fault_points::FaultPoints,
        feed::Feeds,
        gate::Gate,
        listener::Listener,
        loading::Loading,
        remote::{self, Housed, Landings, Opened, Opening, Remotes, Way, opening},
        signals::Signals,
        tls::DoorTls,
        transport::DoorTransport,
        turn::{FastLoop, GATE, LISTENERS, RecoveredState, RecoveryLine},
    },
    counters::Counters,
    doors::{
        arena::ARENA,
        desk::DESK,
        fast::FastDoors,
        http::{About, HttpDoor},
        lines::LINES,
        resp::RESP,
        scores::{SCORES, Teller},
        xml::XML,
    },
    limits::{BACKLOG, GATE_QUEUE},
    running::LoopThread,
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
    /// The threads that ask databases, once they are there.
    carriers: Receiver<Vec<JoinHandle<()>>>,
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
        let tls = secured(settings)?;
        if addresses::transport(settings) == DoorTransport::Plain {
            tracing::warn!("clients reach this server without TLS: --plain allows it");
        }
        let mut storage = settings.storage;
        if settings.cluster.is_some() {
            storage.durability = Durability::Cluster;
        }
        let claim = Claim::new(settings.data.as_deref(), storage);
        let claim = claim.map_err(StartError::Open)?;
        Self::recovering(settings, tls, move |loading| {
            claim.recover(&loading.progress).map_err(StartError::Open)
        })
    }

    /// The same with a recovery that a test decides about.
    fn recovering(
        settings: &Settings,
        tls: Option<Arc<DoorTls>>,
        recover: impl FnOnce(&Loading) -> Result<(Embedded, Recovery), StartError> + Send + 'static,
    ) -> Result<Self, StartError> {
        let Doors { named, fast, http } = listen(settings)?;
        let loading = Arc::new(Loading::begin());
        let port = port_of(&named);
        let parts = Parts::assemble(settings, tls.clone(), (fast, port), &loading)?;
        let Parts {
            fast_loop,
            gate,
            feeds,
            signals,
            counters,
            ways,
        } = parts;
        let (arrived, arrives) = sync_channel(1);
        let (told, started) = sync_channel(1);
        let (begun, carriers) = sync_channel(1);
        let bell = gate.clone();
        let wanted = settings.clone();
        let watched = Arc::clone(&loading);
        let line = gate.clone();
        let work = move || {
            let arrival = recover(&watched)
                .and_then(|recovered| arrival(&wanted, recovered, (ways, line), &begun));
            drop(begun);
            // A server that was stopped meanwhile wants nothing any more.
            if arrived.send(arrival).is_ok() {
                bell.wake();
            }
        };
        let arrivals = RecoveryLine {
            arrives,
            started: told,
        };
        let fast_loop = spawn("fast-loop", move || fast_loop.run(arrivals))?;
        let stopper = Stopper {
            signals: Arc::clone(&signals),
            gate: gate.clone(),
            loading,
            tls,
        };
        let http = http.map(|listener| {
            let counters = Arc::clone(&counters);
            let secured = (settings, stopper.tls.clone());
            open_http(listener, gate, feeds, counters, secured, &signals)
        });
        let http = match http.transpose() {
            Ok(http) => http,
            Err(failure) => {
                stopper.stop();
                return Err(StartError::System(failure));
            }
        };
        if http.is_none() {
            signals.note_others_ended();
        }
        if let Err(failure) = spawn("recovery", work) {
            stopper.stop();
            return Err(failure);
        }
        Ok(Self {
            doors: named,
            counters,
            stopper,
            http,
            fast_loop,
            started,
            carriers,
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
                return Ok(Running {
                    doors: self.doors,
                    recovery,
                    counters: self.counters,
                    stopper: self.stopper,
                    http: self.http,
                    fast_loop: self.fast_loop,
                    carriers: self.carriers.recv().unwrap_or_default(),
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

/// What is there before the recovery begins.
struct Parts {
    fast_loop: FastLoop<FastDoors>,
    gate: Gate,
    feeds: Feeds,
    signals: Arc<Signals>,
    counters: Arc<Counters>,
    ways: DatabaseWays,
}

/// The ways back from each database.
struct DatabaseWays {
    rooms: Way,
    exchange: Way,
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
        let mut listeners = Vec::new();
        for (door, socket) in fast {
            let socket = (socket, tls.is_some());
            let listener = Listener::new(door, socket, poll.registry(), LISTENERS);
            listeners.push(listener.map_err(StartError::System)?);
        }
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
        let databases = usize::from(urls.rooms.is_some()) + usize::from(urls.exchange.is_some());
        let landings = Landings::of(callers(settings), databases);
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
            teller: tells.map(|(address, wire)| Teller::new(address, wire)),
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
        })
    }
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, StartError> {
    let thread = Builder::new().name(name.to_owned()).spawn(work);
    thread.map_err(StartError::System)
}

fn open_http(
    listener: TcpListener,
    gate: Gate,
    feeds: Feeds,
    counters: Arc<Counters>,
    (settings, tls): (&Settings, Option<Arc<DoorTls>>),
    signals: &Arc<Signals>,
) -> io::Result<HttpDoor> {
    let (told, bell) = (Arc::clone(signals), gate.clone());
    let ended = move || {
        told.note_others_ended();
        bell.wake();
    };
    let about = About {
        data: settings.data.clone(),
        commit: settings.commit,
        transport: addresses::transport(settings),
        hosts: settings.http_hosts.clone(),
        addresses: settings.addresses,
    };
    let wanted = (settings.limits.http, &*settings.http_origins, about, tls);
    let door = HttpDoor::start(listener, gate, feeds, counters, wanted, ended)?;
    let stopper = door.stopper();
    signals.stop_http_with(move || stopper.stop());
    Ok(door)
}

/// Makes of a recovered back end what the loop takes up: configured, with the databases beside it.
fn arrival(
    settings: &Settings,
    (mut backend, found): (Embedded, Recovery),
    (ways, gate): (DatabaseWays, Gate),
    begun: &SyncSender<Vec<JoinHandle<()>>>,
) -> Result<RecoveredState, StartError> {
    addresses::judge_guard(settings, &backend)?;
    if let Some(travel) = settings.travel {
        let configured = backend.configure_travel(travel);
        configured.map_err(StartError::Unsound)?;
    }
    if let Some(games) = settings.games {
        let configured = backend.configure_games(games);
        configured.map_err(StartError::Unsound)?;
    }
    let (urls, callers) = (&settings.databases, callers(settings));
    let rooms = database(urls.rooms.as_ref(), opening::rooms, callers)?;
    let exchange = database(urls.exchange.as_ref(), opening::exchange, callers)?;
    let known = rooms.as_ref().map(|opened| &opened.found);
    let id_key: IdKey = known.unwrap_or_else(|| backend.id_key()).clone();
    let mut carriers = Vec::new();
    let remotes = Remotes {
        rooms: rooms.map(|opened| opened.begin(ways.rooms, &mut carriers)),
        exchange: exchange.map(|opened| opened.begin(ways.exchange, &mut carriers)),
        ..Remotes::default()
    };
    if begun.send(carriers).is_err() {
        tracing::debug!("the server was stopped before its databases were there");
    }
    let directory = settings.data.as_deref();
    let cluster = nodes::join(settings, &mut backend, gate).map_err(StartError::Cluster)?;
    Ok(RecoveredState {
        recovered: RecoveredEngine {
            backend,
            id_key,
            remotes,
            cluster,
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
) -> Result<Option<Opened<M, K>>, StartError> {
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

/// What listens, and where.
#[derive(Default)]
struct Doors {
    named: Vec<(&'static str, SocketAddr)>,
    fast: Vec<(&'static FastDoor, TcpListener)>,
    http: Option<TcpListener>,
}

/// Binds every door that is to be open.
fn listen(settings: &Settings) -> Result<Doors, StartError> {
    let mut doors = Doors::default();
    for (name, fast, address) in [
        ("resp", Some(&RESP), settings.resp),
        ("http", None, settings.http),
        ("xml", Some(&XML), settings.xml),
        ("travel", Some(&LINES), settings.lines),
        ("desk", Some(&DESK), settings.peers.door),
        ("games-arena", Some(&ARENA), settings.duels.arena),
        ("games-scores", Some(&SCORES), settings.duels.scores),
    ] {
        let Some(address) = address else { continue };
        let listener = bind(name, address)?;
        let address = listener.local_addr().map_err(StartError::System)?;
        doors.named.push((name, address));
        match fast {
            Some(door) => doors.fast.push((door, listener)),
            None => doors.http = Some(listener),
        }
    }
    Ok(doors)
}

fn bind(door: &'static str, address: SocketAddr) -> Result<TcpListener, StartError> {
    let bound = TcpListener::bind(address).and_then(|listener| {
        // The standard library asks for a line of 128; to ask again makes it longer.
        rustix::net::listen(&listener, BACKLOG)?;
        Ok(listener)
    });
    bound.map_err(|cause| StartError::Bind {
        door,
        address,
        cause,
    })
}

/// The port of the RESP door; 0 where it is closed.
fn port_of(doors: &[(&'static str, SocketAddr)]) -> u16 {
    let resp = doors.iter().find(|(name, _)| *name == "resp");
    resp.map_or(0, |(_, address)| address.port())
}

#[cfg(test)]
mod tests;
