//! A server that runs, and how it ends.

use std::{
    fmt, io,
    net::SocketAddr,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use tokio::{sync::mpsc, time};
use turnstile_embedded::{CommitError, Recovery};
use turnstile_http::{ReloadDone, SecurityEventKind};
use turnstile_types::Principal;

use crate::{
    ClusterEnded, InvalidTls, Limits, WebOrigin,
    core::{
        gate::Gate, loading::Loading, request_log::RequestLogs, signals::Signals, tls::DoorTls,
        turn::Broken,
    },
    counters::Counters,
    doors::http::{HttpDoor, HttpStopper},
    limits::ACCESS_LOG_END,
    reloading::{ReloadAsk, ReloadLine},
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
    /// The other partitions of a node; they end after the loop, too.
    pub(crate) partitions: Vec<Self>,
}

/// Asks a server to stop, or to serve within other limits, from any thread and as often as one likes.
#[derive(Clone, Debug)]
pub struct Stopper {
    pub(crate) signals: Arc<Signals>,
    pub(crate) gate: Gate,
    pub(crate) counters: Arc<Counters>,
    pub(crate) loading: Arc<Loading>,
    pub(crate) tls: Option<Arc<DoorTls>>,
    /// The HTTP door, once it is open.
    pub(crate) http: Arc<OnceLock<HttpStopper>>,
    pub(crate) reloads: Arc<ReloadLine>,
    /// What is said about requests.
    pub(crate) requests: Arc<RequestLogs>,
    /// Those of the other partitions of a node, as far as they have begun.
    pub(crate) others: Arc<Mutex<Vec<Self>>>,
}

/// A look at the loops from outside.
#[derive(Debug)]
pub struct LoopPulse {
    /// The turns that each has done: first the loop with the doors, then those of other partitions of a
    /// node. A later look that finds as many at the same place has found a loop that hangs, unless the
    /// looks were very close. More may come at the end.
    pub turns: Vec<u64>,
    /// How far the start is, in words; of no meaning once the server is ready.
    pub start: String,
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
        let partitions_ended = self.partitions.into_iter().map(|partition| {
            partition.stopper.stop();
            partition.join()
        });
        let partitions_ended = partitions_ended.collect::<Vec<_>>().into_iter().collect();
        let carriers = self.carriers.into_iter().map(JoinHandle::join);
        let carriers_ended = carriers
            .collect::<Vec<_>>()
            .into_iter()
            .all(|end| end.is_ok());
        // Nobody answers any more.
        self.stopper.requests.end(ACCESS_LOG_END);
        match (loop_ended, http_ended) {
            (Ok(Ok(())), Ok(())) if carriers_ended => partitions_ended,
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
    /// Of a server whose HTTP door is not open yet.
    pub(crate) fn of(
        (signals, gate, counters): (Arc<Signals>, Gate, Arc<Counters>),
        loading: Arc<Loading>,
        tls: Option<Arc<DoorTls>>,
        requests: Arc<RequestLogs>,
    ) -> Self {
        Self {
            signals,
            gate,
            counters,
            loading,
            tls,
            http: Arc::new(OnceLock::new()),
            reloads: Arc::default(),
            requests,
            others: Arc::default(),
        }
    }

    /// Takes over what can change while the server runs: limits, the origins whose pages may use HTTP,
    /// and the files of TLS, which are read again. Says whether there was something new in these. What is
    /// open stays open, within the limits and with the certificate that it began with.
    ///
    /// `limits.connections` MUST stay as it is where a database decides a service: as many places were
    /// made for its answers.
    ///
    /// # Errors
    /// A file of TLS cannot be used. Nothing has changed then.
    pub fn take_over(&self, limits: &Limits, origins: &[WebOrigin]) -> Result<bool, InvalidTls> {
        let is_new = self.tls.as_ref().map_or(Ok(false), |tls| tls.reload())?;
        self.signals.set_limits(limits);
        self.requests.set_slow(limits.slow_request);
        if let Some(http) = self.http.get() {
            http.take_over(&limits.http, origins);
        }
        self.gate.wake();
        Ok(is_new)
    }

    /// Looks at the files of TLS now and each time that this has passed, and reads them again when they have
    /// changed, so that a certificate that something else renews is used without a signal. The log and the
    /// events of security say what came of it, once for each fault. Never returns where there is TLS.
    pub async fn watch_certificates(&self, every: Duration) {
        let Some(tls) = &self.tls else { return };
        let mut fault = String::new();
        loop {
            if !tls.are_files_new() {
                fault.clear();
            } else if let Err(refused) = self.reload_certificates(tls) {
                let found = refused.to_string();
                if found != fault {
                    tracing::error!(
                        %refused,
                        "the files of TLS have changed and cannot be used: nothing has changed"
                    );
                    self.note_failed_reload(None);
                    fault = found;
                }
            }
            time::sleep(every).await;
        }
    }

    fn reload_certificates(&self, tls: &DoorTls) -> Result<(), InvalidTls> {
        if tls.reload()? {
            tracing::info!("the files of TLS have changed and are reloaded");
            self.note(SecurityEventKind::CertificateReloaded, None, None);
        }
        Ok(())
    }

    /// Opens the file of the access log again, which may have been renamed.
    pub fn reopen_access_log(&self) {
        self.requests.reopen();
    }

    /// Those who ask over HTTP for a reload, which the caller answers from now on. Until then they are
    /// told that there is nothing to read again; so are they for good where it was called before, which
    /// has nothing to tell.
    #[must_use]
    pub fn reload_asks(&self) -> Option<mpsc::Receiver<ReloadAsk>> {
        self.reloads.listen()
    }

    /// Tells those who follow the security of the server that its configuration was read again, what has
    /// changed, and who asked for it over HTTP.
    pub fn note_reload(&self, done: &ReloadDone, by: Option<Principal>) {
        let changed = done.changed.join(", ");
        self.note(SecurityEventKind::Reloaded, by, Some(&changed));
        if done.certificate {
            self.note(SecurityEventKind::CertificateReloaded, by, None);
        }
    }

    /// Tells them that a reload was refused.
    pub fn note_failed_reload(&self, by: Option<Principal>) {
        self.note(SecurityEventKind::ReloadFailed, by, None);
    }

    fn note(&self, kind: SecurityEventKind, by: Option<Principal>, changed: Option<&str>) {
        let changed = changed.filter(|changed| !changed.is_empty());
        self.gate.security.operated(kind, by, changed);
        self.gate.wake();
    }

    /// Looks whether all loops turn, and has each turn once more for the next look.
    #[must_use]
    pub fn pulse(&self) -> LoopPulse {
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let loops = [self].into_iter().chain(&*others);
        let turns = loops.map(|one| {
            let turns = one.counters.turns.get();
            one.gate.wake();
            turns
        });
        LoopPulse {
            turns: turns.collect(),
            start: self.loading.sentence(),
        }
    }

    /// Has the loop of another partition of the node looked at, too.
    pub(crate) fn add(&self, other: Self) {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others.push(other);
    }

    /// Says that the end is near: `/readyz` answers 503, and each answer of HTTP is the last of its
    /// connection. Everybody is served as before, new clients too, until [`Self::stop`].
    pub fn announce_stop(&self) {
        self.signals.announce_end();
    }

    /// Begins the end: nobody new is served, everything accepted is answered. A recovery ends at once.
    pub fn stop(&self) {
        self.loading.end();
        self.signals.end();
        self.gate.wake();
    }
}
