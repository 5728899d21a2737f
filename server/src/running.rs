//! Starting and stopping: doors first, then recovery, then service; and back.

use std::{
    fmt, io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    thread::{Builder, JoinHandle},
};

use mio::{Poll, Waker};
use turnstile_embedded::{CommitError, Embedded, Options, Recovery};

use crate::{
    Settings, StartError,
    counters::Counters,
    engine::Engine,
    feed::Feed,
    gate::Gate,
    http::HttpDoor,
    listener::Listener,
    signals::Signals,
    turn::{Broken, FastLoop, GATE, LISTENER},
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
    let resp = settings.resp.map(|address| bind("resp", address)).transpose()?;
    let http = settings.http.map(|address| bind("http", address)).transpose()?;
    let mut doors = Vec::new();
    for (name, listener) in [("resp", &resp), ("http", &http)] {
        if let Some(listener) = listener {
            doors.push((name, listener.local_addr().map_err(StartError::System)?));
        }
    }
    let options = Options::with(settings.durability);
    let (backend, recovery) =
        Embedded::open(settings.data.as_deref(), options).map_err(StartError::Open)?;
    let feed = Arc::new(Feed::new(recovery.snapshot));
    let counters = Arc::new(Counters::default());
    let resp_port = resp.as_ref().and_then(|_| doors.first()).map_or(0, |door| door.1.port());
    let begun = begin(settings, backend, (resp, resp_port), &feed, &counters);
    let (stopper, fast_loop) = begun.map_err(StartError::System)?;
    let limits = settings.limits.http;
    let serve = |listener| {
        let (feed, counters) = (Arc::clone(&feed), Arc::clone(&counters));
        HttpDoor::start(listener, stopper.gate.clone(), feed, counters, limits)
    };
    let http = http.map(serve).transpose().map_err(StartError::System)?;
    Ok(Running { doors, recovery, counters, stopper, http, fast_loop })
}

type LoopThread = JoinHandle<Result<(), Broken>>;

/// Begins the loop's thread.
fn begin(
    settings: &Settings,
    backend: Embedded,
    (listener, port): (Option<TcpListener>, u16),
    feed: &Arc<Feed>,
    counters: &Arc<Counters>,
) -> io::Result<(Stopper, LoopThread)> {
    let poll = Poll::new()?;
    let waker = Waker::new(poll.registry(), GATE)?;
    let (gate, inbox) = Gate::new(waker, backend.id_key().clone(), settings.verhoeff);
    let listener =
        listener.map(|listener| Listener::new(listener, poll.registry(), LISTENER)).transpose()?;
    let engine = Engine::new(backend, Arc::clone(counters), settings.verhoeff, port);
    let signals = Arc::new(Signals::default());
    let shared = (Arc::clone(feed), Arc::clone(&signals));
    let fast_loop = FastLoop::new(poll, listener, engine, inbox, shared, settings.limits);
    let on_end = EndsAll(Arc::clone(&signals));
    let thread = Builder::new().name("fast-loop".to_owned()).spawn(move || {
        let _ends_all = on_end;
        fast_loop.run()
    })?;
    Ok((Stopper { signals, gate }, thread))
}

/// However the loop ends, even by a panic, everything else ends with it.
struct EndsAll(Arc<Signals>);

impl Drop for EndsAll {
    fn drop(&mut self) {
        self.0.end();
    }
}

fn bind(door: &'static str, address: SocketAddr) -> Result<TcpListener, StartError> {
    if !address.ip().is_loopback() {
        return Err(StartError::NotLoopback { door, address });
    }
    TcpListener::bind(address).map_err(|cause| StartError::Bind { door, address, cause })
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

    /// Waits for the end, and sees to its order: first the HTTP door, which needs the loop for the
    /// answers that it owes, then the loop.
    ///
    /// # Errors
    /// The server ended because something broke, not because it was stopped.
    pub fn join(self) -> Result<(), StopError> {
        let Stopper { signals, gate } = &self.stopper;
        signals.wait_for_the_end();
        let http_ended = self.http.map_or(Ok(()), |door| {
            door.stop();
            door.join()
        });
        signals.note_others_ended();
        gate.wake();
        http_ended.map_err(|_panic| StopError::Panicked)?;
        match self.fast_loop.join() {
            Ok(Ok(())) => Ok(()),
            Ok(Err(broken)) => Err(broken.into()),
            Err(_panic) => Err(StopError::Panicked),
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
