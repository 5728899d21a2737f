//! A server that runs, and how it ends.

use std::{fmt, io, net::SocketAddr, sync::Arc, thread::JoinHandle};

use turnstile_embedded::{CommitError, Recovery};
use turnstile_http::SecurityEventKind;

use crate::{
    ClusterEnded, InvalidTls, Limits,
    core::{gate::Gate, loading::Loading, signals::Signals, tls::DoorTls, turn::Broken},
    counters::Counters,
    doors::http::HttpDoor,
};

/// The thread of the loop.
pub(crate) type LoopThread = JoinHandle<Result<(), Broken>>;

/// A server that runs, until it is stopped and joined.
#[derive(Debug)]
pub struct Running {
    pub(crate) doors: Vec<(&'static str, SocketAddr)>,
    pub(crate) recovery: Recovery,
    pub(crate) counters: Arc<Counters>,
    pub(crate) stopper: Stopper,
    pub(crate) http: Option<HttpDoor>,
    pub(crate) fast_loop: LoopThread,
    /// Those that ask databases; they end after the loop.
    pub(crate) carriers: Vec<JoinHandle<()>>,
}

/// Asks a server to stop, or to serve within other limits, from any thread and as often as one likes.
#[derive(Clone, Debug)]
pub struct Stopper {
    pub(crate) signals: Arc<Signals>,
    pub(crate) gate: Gate,
    pub(crate) loading: Arc<Loading>,
    pub(crate) tls: Option<Arc<DoorTls>>,
}

/// Why a server did not end well.
#[derive(Debug)]
pub enum StopError {
    /// The journal failed. Whatever was answered is durable; what was not answered is unknown.
    Journal(Option<CommitError>),
    /// The server has left the shared log of its cluster. The other nodes go on.
    Cluster(ClusterEnded),
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
            Self::Cluster(cause) => write!(f, "the server has left its cluster: {cause}"),
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
            Self::Cluster(_) | Self::Panicked => None,
        }
    }
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
            Broken::Cluster(cause) => Self::Cluster(cause),
        }
    }
}

impl Stopper {
    /// Changes what can be changed while the server runs: `connections`, `request` and `busy_poll`. What
    /// is open stays open. `connections` MUST stay as it is where a database decides a service: as many
    /// places were made for its answers.
    pub fn set_limits(&self, limits: &Limits) {
        self.signals.set_limits(limits);
        self.gate.wake();
    }

    /// Reads the files of TLS again, for connections that begin from now on. Says whether there was
    /// something new in them.
    ///
    /// # Errors
    /// One of them cannot be used; everything stays as it was.
    pub fn reload_tls(&self) -> Result<bool, InvalidTls> {
        let is_new = self.tls.as_ref().map_or(Ok(false), |tls| tls.reload())?;
        if is_new {
            self.note(SecurityEventKind::CertificateReloaded, None);
        }
        Ok(is_new)
    }

    /// Tells those who follow the security of the server that its configuration was read again, and which
    /// settings have changed.
    pub fn note_reload(&self, changed: &str) {
        self.note(SecurityEventKind::Reloaded, Some(changed));
    }

    /// Tells them that it could not be read, or not be taken over whole.
    pub fn note_failed_reload(&self) {
        self.note(SecurityEventKind::ReloadFailed, None);
    }

    fn note(&self, kind: SecurityEventKind, changed: Option<&str>) {
        let changed = changed.filter(|changed| !changed.is_empty());
        self.gate.security.operated(kind, None, changed);
        self.gate.wake();
    }

    /// Begins the end: nobody new is served, everything accepted is answered. A recovery ends at once.
    pub fn stop(&self) {
        self.loading.progress.end();
        self.signals.end();
        self.gate.wake();
    }
}
