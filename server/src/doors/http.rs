//! The HTTP door: its thread, its runtime, and how it begins and ends.

mod access;
mod attendance;
mod audit;
mod backup;
mod call;
mod console;
mod courier;
mod documents;
mod exposition;
mod handshakes;
mod hosts;
mod lab;
mod late;
mod limits;
mod line;
mod metered;
mod metrics;
mod noted;
mod operations;
mod origins;
mod play;
mod process;
mod recount;
mod reloads;
mod reply;
mod requests;
mod routes;
mod secured;
mod security;
mod session;
mod socket;
mod stream;
mod talk;
mod unsent;
mod watch;

use std::{
    fmt, io, net,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use axum::Router;
use futures_util::future::join_all;
use tokio::{net::TcpListener, sync::Notify, task::JoinSet, time};
use turnstile_types::AddressPolicy;

use crate::{
    core::{
        clock, cluster::other_nodes::KnownNodes, feed::Feeds, gate::Gate,
        partitions::FollowedPartition, request_log::RequestLogs, tls::DoorTls,
        transport::DoorTransport,
    },
    counters::{Counters, DoorName},
    limits::HttpLimits,
    reloading::ReloadLine,
};

use access::Identities;
use courier::Courier;
use handshakes::{PacedHandshakes, serve_secured};
pub use lab::LabProgram;
use limits::{EVICTED_PART, EVICTION_LOOKS, TURNED_AWAY_MAX};
use line::{Clock, Line, OpenLines, Verdict};
pub use origins::{InvalidOrigin, WebOrigin};
use secured::HttpStream;
use stream::Sources;
use unsent::Backlog;

/// What the door knows about the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    /// Where the journal lies, if it is kept.
    pub(crate) data: Option<PathBuf>,
    /// The commit of the build; empty where it is not known.
    pub(crate) commit: &'static str,
    pub(crate) transport: DoorTransport,
    /// Names of the door, besides those of loopback and of the certificate.
    pub(crate) hosts: Vec<String>,
    /// How much of the addresses of callers records keep.
    pub(crate) addresses: AddressPolicy,
    /// Whether clients are to go to other nodes.
    pub(crate) is_draining: Arc<AtomicBool>,
    /// Whether the server will stop soon.
    pub(crate) end_is_near: Arc<AtomicBool>,
    /// Reaches whoever reads the configuration.
    pub(crate) reloads: Arc<ReloadLine>,
    /// The partitions of its node, where there are several.
    pub(crate) partitions: FollowedPartitions,
    /// What puts load on the server when an operator wants that, if it may.
    pub(crate) lab: Option<LabProgram>,
    /// Hears of each request that was answered, if anybody wants that.
    pub(crate) requests: Option<Arc<RequestLogs>>,
}

/// The partitions whose events the door tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct FollowedPartitions {
    /// The name of the first, whose feeds are those of the door.
    pub(crate) first: String,
    pub(crate) others: Vec<FollowedPartition>,
    /// The names of those that other nodes hold.
    pub(crate) elsewhere: Vec<String>,
    /// Who holds them.
    pub(crate) known: KnownNodes,
}

/// What the door's thread is made of; every request can reach it.
pub(crate) struct Door {
    courier: Courier,
    attendance: attendance::Attendance,
    gate: Gate,
    identities: Identities,
    audits: audit::Audits,
    backup_reads: backup::BackupReads,
    lab: lab::LabRuns,
    sources: Sources,
    /// Those of the other partitions, in their order.
    others: Vec<Sources>,
    counters: Arc<Counters>,
    limits: HttpLimits,
    backlog: Arc<Backlog>,
    streams: AtomicU64,
    players: AtomicU64,
    /// How many of these there may be.
    players_max: AtomicU64,
    /// Connections that speak HTTP, and those that are told that there are too many.
    speaking: AtomicUsize,
    turned_away: AtomicUsize,
    stopping: AtomicBool,
    about: About,
    documents: documents::Documents,
    direct: routes::DirectRoutes,
    hosts: hosts::KnownHosts,
    origins: origins::Origins,
    /// Numbers requests that bring no id.
    requests: AtomicU64,
    /// Tells the ids of this process from those of others: its time of start.
    run: String,
    lines: Mutex<OpenLines>,
    clock: Arc<Clock>,
    /// What connections are secured by, where they are.
    tls: Option<Arc<DoorTls>>,
    handshakes: PacedHandshakes,
    stop: Notify,
    /// Rings when the door no longer accepts, for those who wait for something.
    ending: Notify,
}

/// The running door.
#[derive(Debug)]
pub(crate) struct HttpDoor {
    stopper: HttpStopper,
    thread: thread::JoinHandle<()>,
}

/// Asks the door to stop, from any thread and as often as one likes.
#[derive(Clone)]
pub(crate) struct HttpStopper(Arc<Door>);

impl fmt::Debug for HttpStopper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HttpStopper")
    }
}

impl HttpStopper {
    /// Stops accepting, and lets what runs come to its end, in bounded time. The loop MUST still
    /// run until the door has ended, as it owes answers.
    pub(crate) fn stop(&self) {
        self.0.stopping.store(true, Ordering::Release);
        self.0.stop.notify_one();
    }

    /// Takes over what can change while the door is open: `players`, `output_bytes`, and the origins
    /// whose pages may use it.
    pub(crate) fn take_over(&self, limits: &HttpLimits, origins: &[WebOrigin]) {
        let Self(door) = self;
        door.players_max.store(limits.players, Ordering::Relaxed);
        door.backlog.bound(limits.output_bytes);
        door.origins.replace(origins);
    }
}

impl HttpDoor {
    /// Serves a bound listener on a thread of its own, which calls `ended` as its last act.
    ///
    /// # Errors
    /// The listener cannot be polled, or the thread cannot be made.
    pub(crate) fn start(
        listener: net::TcpListener,
        gate: Gate,
        feeds: Feeds,
        counters: Arc<Counters>,
        (limits, origins, about, tls): (HttpLimits, &[WebOrigin], About, Option<Arc<DoorTls>>),
        ended: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (port, is_foreign) = (address.port(), !address.ip().is_loopback());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        let listener = {
            let _inside = runtime.enter();
            TcpListener::from_std(listener)?
        };
        let clock = Arc::new(Clock::new());
        let backlog = Backlog::new(
            limits.output_bytes,
            Arc::clone(&counters),
            Arc::clone(&clock),
        );
        let door = Arc::new(Door {
            courier: Courier::new(gate.clone(), Arc::clone(&counters)),
            attendance: attendance::Attendance::default(),
            identities: Identities::new((&gate, &counters), tls.is_some(), about.addresses),
            gate,
            audits: audit::Audits::default(),
            backup_reads: backup::BackupReads::default(),
            lab: lab::LabRuns::new(about.lab.clone()),
            sources: Sources::new(feeds),
            others: about
                .partitions
                .others
                .iter()
                .map(|other| Sources::new(other.feeds.clone()))
                .collect(),
            counters,
            limits,
            backlog: Arc::new(backlog),
            streams: AtomicU64::new(0),
            players: AtomicU64::new(0),
            players_max: AtomicU64::new(limits.players),
            speaking: AtomicUsize::new(0),
            turned_away: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
            hosts: hosts::KnownHosts::new(about.hosts.clone(), is_foreign, tls.clone()),
            about,
            documents: documents::Documents::new(),
            direct: routes::DirectRoutes::new(),
            origins: origins::Origins::new(port, tls.is_some(), origins),
            requests: AtomicU64::new(0),
            run: format!("{:x}", clock::run_number()),
            lines: Mutex::new(OpenLines::default()),
            clock,
            tls,
            handshakes: PacedHandshakes::new(),
            stop: Notify::new(),
            ending: Notify::new(),
        });
        let stopper = HttpStopper(Arc::clone(&door));
        let thread = thread::Builder::new()
            .name("http".to_owned())
            .spawn(move || {
                runtime.block_on(serve(door, listener));
                ended();
            })?;
        Ok(Self { stopper, thread })
    }

    pub(crate) fn stopper(&self) -> HttpStopper {
        self.stopper.clone()
    }

    /// Waits until the door has ended: every connection has its answers, or its time is over.
    ///
    /// # Errors
    /// The thread panicked.
    pub(crate) fn join(self) -> thread::Result<()> {
        self.thread.join()
    }
}

async fn serve(door: Arc<Door>, listener: TcpListener) {
    let router = routes::router(&door);
    let carrying = tokio::spawn(courier::carry(Arc::clone(&door)));
    let telling = {
        let door = Arc::clone(&door);
        tokio::spawn(async move {
            let others = join_all(door.others.iter().map(Sources::tell_news));
            tokio::join!(door.sources.tell_news(), call_players(&door), others);
        })
    };
    let sweeping = tokio::spawn(sweep(Arc::clone(&door)));
    let pacing = {
        let door = Arc::clone(&door);
        tokio::spawn(async move { door.handshakes.pace().await })
    };
    let mut connections = JoinSet::new();
    accept(&door, &router, &listener, &mut connections).await;
    drop(listener);
    door.lab.end();
    door.ending.notify_waiters();
    door.sources.notify_all();
    door.others.iter().for_each(Sources::notify_all);
    door.attendance.wake_all();
    door.lines().judge_all(Verdict::Stop);
    let all = async { while connections.join_next().await.is_some() {} };
    if time::timeout(door.limits.farewell, all).await.is_err() {
        tracing::warn!("HTTP connections dropped: they did not read their answers in time");
    }
    connections.abort_all();
    for task in [carrying, telling, sweeping, pacing] {
        task.abort();
    }
}

impl Door {
    /// Another partition than the first, and its feeds.
    fn other(&self, name: &str) -> Option<(&FollowedPartition, &Sources)> {
        let mut all = self.about.partitions.others.iter().zip(&self.others);
        all.find(|(other, _)| other.name == name)
    }
}

/// Passes on what happens in games to the players whom it concerns.
async fn call_players(door: &Door) {
    let mut place = door.sources.games.feed.end();
    loop {
        let news = door.sources.games.news.notified();
        tokio::pin!(news);
        news.as_mut().enable();
        place = attendance::call(door, place);
        news.await;
    }
}

async fn accept(
    door: &Arc<Door>,
    router: &Router,
    listener: &TcpListener,
    connections: &mut JoinSet<()>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            () = door.stop.notified() => return,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(failure) => {
                // Out of descriptors, mostly: the listener stays ready, so pause before the next.
                tracing::warn!(%failure, "an HTTP connection was not accepted");
                time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        if let Err(failure) = stream.set_nodelay(true) {
            tracing::debug!(%failure, "the connection ended at once");
            continue;
        }
        let counted = door.counters.of(DoorName::Http);
        if !has_place(door).await {
            counted.refused.add(1);
            if door.tls.is_some() {
                requests::refuse_handshake(stream);
            } else if door.turned_away.load(Ordering::Relaxed) < TURNED_AWAY_MAX {
                door.turned_away.fetch_add(1, Ordering::Relaxed);
                connections.spawn(requests::turn_away(Arc::clone(door), stream));
            } else {
                requests::turn_away_at_once(door, stream);
            }
            continue;
        }
        counted.accepted.add(1);
        counted.open.add(1);
        door.speaking.fetch_add(1, Ordering::Relaxed);
        if let Some(tls) = &door.tls {
            let secured = (stream, Arc::clone(&tls.current().http));
            connections.spawn(serve_secured(Arc::clone(door), router.clone(), secured));
        } else {
            let line = Arc::new(Line::of(door, HttpStream::Plain(stream)));
            connections.spawn(requests::serve_line(Arc::clone(door), router.clone(), line));
        }
    }
}

/// Whether one more connection can be served. Where all places are taken, connections without a
/// request give up theirs, and those that have shown no key.
async fn has_place(door: &Door) -> bool {
    let most = door.limits.connections;
    let mut evicted = 0;
    for look in 0..EVICTION_LOOKS {
        if door.speaking.load(Ordering::Relaxed) < most {
            return true;
        }
        if evicted == 0 {
            evicted = door.lines().evict((most / EVICTED_PART).max(1));
            // The newest are among the lines when their tasks have run for the first time.
            if evicted == 0 && look > 0 {
                return false;
            }
            let counted = u64::try_from(evicted).expect("connections are few");
            door.counters.of(DoorName::Http).evicted.add(counted);
        }
        // They end when their tasks run.
        tokio::task::yield_now().await;
    }
    door.speaking.load(Ordering::Relaxed) < most
}

/// Looks for connections that are over their time, and for feeds and an audit that nobody reads.
async fn sweep(door: Arc<Door>) {
    let mut ticks = time::interval(door.limits.sweep);
    loop {
        ticks.tick().await;
        door.lines().judge_overdue(&door.clock, &door.limits);
        door.sources.exchange.feed.rest();
        door.sources.games.feed.rest();
        door.audits.rest();
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Door")
    }
}

impl Door {
    fn lines(&self) -> std::sync::MutexGuard<'_, OpenLines> {
        self.lines
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// An id for a request that brought none: the run, and a number in it, in hexadecimal digits. Its
    /// text has no room to spare, so that a header takes it over as it is.
    pub(crate) fn request_id(&self) -> String {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let digits = (u64::BITS - number.leading_zeros()).div_ceil(4).max(1);
        let mut id = String::with_capacity(self.run.len() + 1 + digits as usize);
        id.push_str(&self.run);
        id.push('-');
        let digit = |place| char::from_digit((number >> (4 * place) & 0xf) as u32, 16);
        id.extend((0..digits).rev().filter_map(digit));
        id
    }

    /// What tells this run of the server from others.
    pub(crate) fn epoch(&self) -> &str {
        &self.run
    }

    /// Whether clients are to go to other nodes.
    pub(crate) fn is_draining(&self) -> bool {
        self.about.is_draining.load(Ordering::Acquire)
    }

    /// Whether the server will stop soon.
    pub(crate) fn is_end_near(&self) -> bool {
        self.about.end_is_near.load(Ordering::Acquire)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests;
