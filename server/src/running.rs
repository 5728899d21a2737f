//! Starting and stopping: doors first, then recovery, then service; and back.

use std::{
    fmt, io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    thread::{Builder, JoinHandle},
};

use mio::{Poll, Waker};
use turnstile_embedded::{CommitError, Embedded, Recovery};
use turnstile_exchange::Exchange;
use turnstile_rooms::{IdKey, Rooms};

use crate::{
    DatabaseUrl, Settings, StartError,
    conversation::{Choices, FastDoor},
    counters::Counters,
    engine::Engine,
    fault_points::FaultPoints,
    feed::Feed,
    gate::Gate,
    hall::Teller,
    http::{Feeds, HttpDoor},
    limits::{BACKLOG, GATE_QUEUE},
    listener::Listener,
    remote::{self, Housed, Landings, Opened, Opening, opening},
    signals::Signals,
    turn::{Broken, FastLoop, GATE, LISTENERS},
};

/// A server that runs, until it is stopped and joined.
#[derive(Debug)]
pub struct Running {
    doors: Vec<(&'static str, SocketAddr)>,
    recovery: Recovery,
    counters: Arc<Counters>,
    stopper: Stopper,
    http: Option<HttpDoor>,
    fast_loop: LoopThread,
    /// Those that ask databases; they end after the loop.
    carriers: Vec<JoinHandle<()>>,
}

/// Asks a server to stop, from any thread and as often as one likes.
#[derive(Clone, Debug)]
pub struct Stopper {
    signals: Arc<Signals>,
    gate: Gate,
}

/// Why a server did not end well.
#[derive(Debug)]
pub enum StopError {
    /// The journal failed. Whatever was answered is durable; what was not answered is unknown.
    Journal(Option<CommitError>),
    /// The system's poll failed.
    Poll(io::Error),
    /// A thread of the server panicked.
    Panicked,
}

impl fmt::Display for StopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Journal(Some(cause)) => write!(f, "the journal failed: {cause}"),
            Self::Journal(None) => write!(f, "the journal failed"),
            Self::Poll(cause) => write!(f, "the poll failed: {cause}"),
            Self::Panicked => write!(f, "a thread of the server panicked"),
        }
    }
}

impl std::error::Error for StopError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Journal(cause) => cause.as_ref().map(|cause| cause as _),
            Self::Poll(cause) => Some(cause),
            Self::Panicked => None,
        }
    }
}

/// Binds every door, recovers the journal, and serves.
///
/// # Errors
/// An address that is not loopback or taken, or a journal that cannot be opened. Nothing runs then.
pub fn start(settings: &Settings) -> Result<Running, StartError> {
    let mut desks = settings.peers.desks.iter();
    if let Some(&(desk, address)) = desks.find(|(_, address)| !address.ip().is_loopback()) {
        return Err(StartError::PeerNotLoopback { desk, address });
    }
    if let Some((address, _)) = settings.duels.tells
        && !address.ip().is_loopback()
    {
        return Err(StartError::ScoresNotLoopback { address });
    }
    let Doors { named, fast, http } = listen(settings)?;
    let (backend, recovery) = open(settings)?;
    let databases = databases(settings)?;
    let feeds = feeds(&recovery, settings);
    let counters = Arc::new(Counters::default());
    let resp = named.iter().find(|(name, _)| *name == "resp");
    let resp_port = resp.map_or(0, |(_, address)| address.port());
    let signals = Arc::new(Signals::default());
    let shared = (feeds.clone(), Arc::clone(&signals));
    let backends = (backend, databases);
    let begun = begin(settings, backends, (fast, resp_port), shared, &counters);
    let (gate, fast_loop, carriers) = begun.map_err(StartError::System)?;
    let http = match http {
        None => {
            signals.note_others_ended();
            None
        }
        Some(listener) => {
            let (told, bell) = (Arc::clone(&signals), gate.clone());
            let ended = move || {
                told.note_others_ended();
                bell.wake();
            };
            let told = (settings.limits.http, &*settings.http_origins);
            let counters = Arc::clone(&counters);
            let door = HttpDoor::start(listener, gate.clone(), feeds, counters, told, ended)
                .map_err(StartError::System)?;
            signals.stop_with(door.stopper());
            Some(door)
        }
    };
    let stopper = Stopper { signals, gate };
    Ok(Running {
        doors: named,
        recovery,
        counters,
        stopper,
        http,
        fast_loop,
        carriers,
    })
}

/// The databases of services that the journal does not keep.
#[derive(Default)]
struct Databases {
    rooms: Option<Opened<Rooms, IdKey>>,
    exchange: Option<Opened<Exchange, ()>>,
}

impl Databases {
    /// How many there are.
    fn count(&self) -> usize {
        usize::from(self.rooms.is_some()) + usize::from(self.exchange.is_some())
    }
}

/// How many may wait for a database at once; none of them asks it for two things at a time.
fn callers(settings: &Settings) -> usize {
    settings.limits.connections + settings.limits.http.away() + GATE_QUEUE
}

/// Opens them.
fn databases(settings: &Settings) -> Result<Databases, StartError> {
    let (urls, callers) = (&settings.databases, callers(settings));
    Ok(Databases {
        rooms: database(urls.rooms.as_ref(), opening::rooms, callers)?,
        exchange: database(urls.exchange.as_ref(), opening::exchange, callers)?,
    })
}

/// Opens one of them, if it is wanted.
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

/// Recovers the journal.
fn open(settings: &Settings) -> Result<(Embedded, Recovery), StartError> {
    let opened = Embedded::open(settings.data.as_deref(), settings.storage);
    let (mut backend, recovery) = opened.map_err(StartError::Open)?;
    if let Some(travel) = settings.travel {
        backend
            .configure_travel(travel)
            .map_err(StartError::Unsound)?;
    }
    if let Some(games) = settings.games {
        backend
            .configure_games(games)
            .map_err(StartError::Unsound)?;
    }
    Ok((backend, recovery))
}

/// The feeds, each from where it can be told without a gap.
fn feeds(recovery: &Recovery, settings: &Settings) -> Feeds {
    let events = settings.limits.http.events;
    let exchange = Feed::while_followed(recovery.exchange_events_after, events);
    let games = Feed::while_followed(recovery.games_events_after, events);
    Feeds {
        rooms: Arc::new(Feed::new(recovery.rooms_events_after)),
        exchange: Arc::new(exchange),
        travel: Arc::new(Feed::new(recovery.travel_events_after)),
        games: Arc::new(games),
    }
}

type LoopThread = JoinHandle<Result<(), Broken>>;

/// Begins the loop's thread, and lets those that ask databases answer to it.
fn begin(
    settings: &Settings,
    (backend, databases): (Embedded, Databases),
    (fast, port): (Vec<(FastDoor, TcpListener)>, u16),
    shared: (Feeds, Arc<Signals>),
    counters: &Arc<Counters>,
) -> io::Result<(Gate, LoopThread, Vec<JoinHandle<()>>)> {
    let poll = Poll::new()?;
    let waker = Waker::new(poll.registry(), GATE)?;
    let known = databases.rooms.as_ref().map(|opened| &opened.found);
    let id_key = known.unwrap_or_else(|| backend.id_key()).clone();
    let (mut gate, inbox) = Gate::new(waker, id_key.clone(), settings.verhoeff);
    gate.in_databases.rooms = databases.rooms.is_some();
    gate.in_databases.exchange = databases.exchange.is_some();
    let mut listeners = Vec::new();
    for (door, socket) in fast {
        listeners.push(Listener::new(door, socket, poll.registry(), LISTENERS)?);
    }
    let mut engine = Engine::new(backend, Arc::clone(counters), settings.verhoeff, port);
    engine.id_key = id_key;
    let landings = Landings::of(callers(settings), databases.count());
    let mut carriers = Vec::new();
    if let Some(opened) = databases.rooms {
        engine.remotes.rooms = Some(opened.begin(landings.way(gate.clone()), &mut carriers));
    }
    if let Some(opened) = databases.exchange {
        engine.remotes.exchange = Some(opened.begin(landings.way(gate.clone()), &mut carriers));
    }
    let directory = settings.data.as_deref();
    engine.fault_points = FaultPoints::new(settings.peers.fault_points, directory);
    let choices = Choices {
        xml: settings.xml_options,
        lines: settings.lines_options,
    };
    let told = (settings.limits, choices);
    let mut fast_loop = FastLoop::new(poll, listeners, engine, inbox, shared, told);
    fast_loop.landings = landings;
    fast_loop.dial_at(&settings.peers.desks);
    let tells = settings.duels.tells;
    fast_loop.hall.teller = tells.map(|(address, wire)| Teller::new(address, wire));
    let thread = Builder::new()
        .name("fast-loop".to_owned())
        .spawn(move || fast_loop.run())?;
    Ok((gate, thread, carriers))
}

/// What listens, and where.
#[derive(Default)]
struct Doors {
    named: Vec<(&'static str, SocketAddr)>,
    fast: Vec<(FastDoor, TcpListener)>,
    http: Option<TcpListener>,
}

/// Binds every door that is to be open.
fn listen(settings: &Settings) -> Result<Doors, StartError> {
    let mut doors = Doors::default();
    for (name, fast, address) in [
        ("resp", Some(FastDoor::Resp), settings.resp),
        ("http", None, settings.http),
        ("xml", Some(FastDoor::Xml), settings.xml),
        ("travel", Some(FastDoor::Lines), settings.lines),
        ("desk", Some(FastDoor::Desk), settings.peers.door),
        ("games-arena", Some(FastDoor::Arena), settings.duels.arena),
        (
            "games-scores",
            Some(FastDoor::Scores),
            settings.duels.scores,
        ),
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
    if !address.ip().is_loopback() {
        return Err(StartError::NotLoopback { door, address });
    }
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

impl Running {
    /// The open doors and where they listen.
    #[must_use]
    pub fn doors(&self) -> &[(&'static str, SocketAddr)] {
        &self.doors
    }

    /// What the start found in the journal.
    #[must_use]
    pub const fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    #[must_use]
    pub const fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    #[must_use]
    pub fn gate(&self) -> Gate {
        self.stopper.gate.clone()
    }

    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Waits for the end. The loop ends after the HTTP door, which needs it for the answers that
    /// it owes; when the loop breaks, the door ends after it.
    ///
    /// # Errors
    /// The server ended because something broke, not because it was stopped.
    pub fn join(self) -> Result<(), StopError> {
        let loop_ended = self.fast_loop.join();
        self.stopper.stop();
        let http_ended = self.http.map_or(Ok(()), HttpDoor::join);
        let carriers = self.carriers.into_iter().map(JoinHandle::join);
        let carriers_ended = carriers
            .collect::<Vec<_>>()
            .into_iter()
            .all(|end| end.is_ok());
        match (loop_ended, http_ended) {
            (Ok(Ok(())), Ok(())) if carriers_ended => Ok(()),
            (Ok(Err(broken)), _) => Err(broken.into()),
            _ => Err(StopError::Panicked),
        }
    }
}

impl From<Broken> for StopError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Poll(cause) => Self::Poll(cause),
            Broken::Commit(cause) => Self::Journal(Some(cause)),
            Broken::Stopped => Self::Journal(None),
        }
    }
}

impl Stopper {
    /// Begins the end: nobody new is served, everything accepted is answered.
    pub fn stop(&self) {
        self.signals.end();
        self.gate.wake();
    }
}
