//! A server joins the shared log of its cluster when its own copy is recovered: behind what it has, or
//! behind a snapshot in the store where the log does not reach back so far.

use std::{
    fs, io,
    path::Path,
    thread::{self, Thread},
    time::Duration,
};

use turnstile_chassis::{Routed, Served};
use turnstile_embedded::{
    ArrivedSnapshot, BackendOpenError, Claim, CommitError, Durability, Embedded, ExecuteError,
    Hosted, Options, Recovery, SHARED_LOG_FILE, UnsoundSettings, files, install, installation_of,
};
use turnstile_jetstream::{
    Fatal, LogSettings, OpenLogError, Sequence, SharedLog, SnapshotError, StoredSnapshot,
    StreamIdentity,
};
use turnstile_types::{Name, PartitionFounding, Position};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    Cluster, ClusterEnded, ClusterRules, DifferentSettings,
    arriving::{self, JoiningNode, NoBeginning},
    keeping::{self, SnapshotKeeper, SnapshotOrigin},
};
use crate::core::{clock, gate::Gate, loading::Loading};

/// How long a node that catches up sleeps without news.
const NAP: Duration = Duration::from_millis(200);

/// Why a server does not join its cluster.
#[derive(Debug)]
pub enum NotJoined {
    Log(OpenLogError),
    /// The cluster plays by other settings.
    Settings(DifferentSettings),
    /// Travel or games cannot be played by the settings with which the cluster is to begin.
    Unsound(UnsoundSettings),
    /// The settings with which the cluster begins cannot be kept.
    Journal(ExecuteError),
    /// The directory is a copy of a shared log, and the configuration names none.
    LeftBehind,
    File(io::Error),
    /// The store of snapshots cannot be used.
    Store(SnapshotError),
    /// What the directory has is no beginning, and neither is a snapshot in the store.
    NoBeginning(NoBeginning),
    /// The directory has a state of its own, and the log of the cluster has begun without it.
    OtherState,
    /// The log has entries already.
    LogInUse,
    /// A state that is to begin a cluster is a node's already.
    NodeAlready,
    /// A state that is to begin a cluster is not there.
    NoServer,
    /// The directory cannot be opened, or takes no snapshot.
    Directory(BackendOpenError),
    Commit(CommitError),
    /// No snapshot could be made of the state.
    NotMade {
        reason: String,
    },
    /// What the log says cannot be applied here, or it says nothing more.
    Ended(ClusterEnded),
    /// The server is stopped.
    Stopped,
    /// The state is of a cluster with another list of partitions, or there is something already that
    /// would be spread over them.
    OtherPartitions,
}

impl std::fmt::Display for NotJoined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Log(cause) => write!(f, "the shared log cannot be opened: {cause}"),
            Self::Settings(cause) => cause.fmt(f),
            Self::Unsound(cause) => cause.fmt(f),
            Self::Journal(cause) => {
                write!(f, "the settings of the cluster cannot be kept: {cause}")
            }
            Self::LeftBehind => write!(
                f,
                "the directory is a node's copy of a shared log: name its brokers in [cluster]"
            ),
            Self::OtherPartitions => f.write_str(
                "the directory belongs to a cluster with another list of partitions, or has rooms or shows \
                 already: set cluster.partitions to the list that the cluster began with",
            ),
            Self::File(cause) => write!(f, "which stream the directory is a copy of: {cause}"),
            Self::Store(cause) => cause.fmt(f),
            Self::NoBeginning(cause) => cause.fmt(f),
            Self::OtherState => write!(
                f,
                "the directory has a state of its own, and the cluster has begun without it: start the \
                 node with an empty directory and the cluster's id.key"
            ),
            Self::LogInUse => write!(
                f,
                "the shared log has entries already: a state begins a cluster of its own, under another \
                 cluster.partition"
            ),
            Self::NodeAlready => write!(
                f,
                "it is a node's copy of a shared log already; `turnstile cluster move-out DIR` makes it a \
                 server's own again"
            ),
            Self::NoServer => write!(f, "it is no data directory: it has no id.key"),
            Self::Directory(cause) => cause.fmt(f),
            Self::Commit(cause) => cause.fmt(f),
            Self::NotMade { reason } => write!(f, "no snapshot of the state: {reason}"),
            Self::Ended(cause) => cause.fmt(f),
            Self::Stopped => write!(f, "the server is stopped"),
        }
    }
}

/// A directory that was recovered, and the log that it is a copy of.
#[derive(Debug)]
pub(crate) struct RecoveredNode {
    pub(crate) backend: Embedded,
    pub(crate) found: Recovery,
    log: SharedLog,
}

/// What a node is recovered with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeStart<'a> {
    pub(crate) settings: &'a LogSettings,
    pub(crate) directory: &'a Path,
    pub(crate) storage: Options,
    pub(crate) loading: &'a Loading,
    /// How travel and games are to be played.
    pub(crate) rules: ClusterRules,
    /// Which of several partitions the directory is to be.
    pub(crate) founding: Option<PartitionFounding>,
}

impl NodeStart<'_> {
    /// Opens the log behind what the directory has, or behind a snapshot that is put in its place: a
    /// new node begins with the newest, and one that was away for too long takes it.
    ///
    /// # Errors
    /// The brokers are not there or not to be trusted, or the directory is no beginning of this log.
    pub(crate) fn recover(
        &self,
        (mut backend, mut found): (Embedded, Recovery),
        gate: &Gate,
    ) -> Result<RecoveredNode, NotJoined> {
        self.judge_partition(&backend)?;
        // This one waits for the brokers, and says what is missing.
        let mut log = self.open_log(&backend, gate);
        let is_behind = matches!(
            log,
            Err(NotJoined::Log(OpenLogError::Stream(Fatal::Purged { .. })))
        );
        if is_behind || log.is_ok() && is_new(&backend) {
            (backend, found) = self.take_snapshot((backend, found))?;
            if is_behind || !is_new(&backend) {
                drop(log);
                log = self.open_log(&backend, gate);
            }
        }
        let log = log?;
        self.found(&mut backend)?;
        Ok(RecoveredNode {
            backend,
            found,
            log,
        })
    }

    /// Whether a state is to be founded as the partition that it is not yet; nothing is, if it is that.
    fn judge_partition(&self, backend: &Embedded) -> Result<Option<PartitionFounding>, NotJoined> {
        let state = backend.sequencer().state();
        let known = state.partition().copied();
        if known == self.founding {
            return Ok(None);
        }
        let has_begun = state.shared().is_some() || known.is_some();
        let founding = self.founding.filter(|_| !has_begun && !is_spread(backend));
        founding.map(Some).ok_or(NotJoined::OtherPartitions)
    }

    /// Makes a new state the partition that it is to be. One that came as a snapshot is it already.
    fn found(&self, backend: &mut Embedded) -> Result<(), NotJoined> {
        match self.judge_partition(backend)? {
            Some(founding) => backend.found(founding).map_err(NotJoined::Journal),
            None => Ok(()),
        }
    }

    fn open_log(&self, backend: &Embedded, gate: &Gate) -> Result<SharedLog, NotJoined> {
        let place = backend.sequencer().state().shared();
        let after = Sequence(place.map_or(0, |place| place.sequence));
        let identity = kept_identity(self.directory).map_err(NotJoined::File)?;
        let (gate, catching_up) = (gate.clone(), thread::current());
        let wake = move || wake(&gate, &catching_up);
        let opening = self.loading.join();
        let log = SharedLog::open_patiently(self.settings, after, identity, opening, wake);
        let log = log.map_err(NotJoined::Log)?;
        files::put(self.directory, SHARED_LOG_FILE, log.identity().0.as_bytes())
            .map_err(NotJoined::File)?;
        for warning in log.warnings() {
            tracing::warn!("the shared log: {warning}");
        }
        Ok(log)
    }

    /// Puts the newest snapshot that serves in the place of what the directory has. Without one, the
    /// directory stays as it is if the node can go on from it. This waits for the brokers, too.
    fn take_snapshot(
        &self,
        (backend, found): (Embedded, Recovery),
    ) -> Result<(Embedded, Recovery), NotJoined> {
        let own = backend.sequencer().state().shared();
        let own = own.map(|place| place.sequence);
        if own.is_none() && !is_new(&backend) {
            return Err(NotJoined::OtherState);
        }
        let secret = backend.id_key().installation();
        let node = JoiningNode { own, secret };
        let arrived = arriving::newest(self.settings, self.loading.join(), node);
        match arrived.map_err(NotJoined::NoBeginning)? {
            Some((snapshot, arrived)) => self.begin_with((backend, &snapshot), &arrived),
            None => Ok((backend, found)),
        }
    }

    fn begin_with(
        &self,
        (backend, snapshot): (Embedded, &StoredSnapshot),
        arrived: &ArrivedSnapshot,
    ) -> Result<(Embedded, Recovery), NotJoined> {
        backend.close().map_err(NotJoined::Commit)?;
        install(self.directory, arrived, self.storage).map_err(NotJoined::Directory)?;
        tracing::info!(
            snapshot = snapshot.name,
            bytes = snapshot.bytes,
            position = %arrived.position(),
            "the node begins with a snapshot of its cluster"
        );
        let claim = Claim::new(Some(self.directory), self.storage);
        let claim = claim.map_err(NotJoined::Directory)?;
        let recovered = claim.recover(&self.loading.progress);
        recovered.map_err(NotJoined::Directory)
    }

    /// Joins the log, and applies all that was in it when the node began to ask: what clients are told
    /// from then on has seen it.
    ///
    /// # Errors
    /// The node is of another installation, or comes to something else than the others.
    pub(crate) fn join(
        &self,
        (log, found): (SharedLog, &mut Recovery),
        backend: &mut Embedded,
        gate: Gate,
    ) -> Result<Cluster, NotJoined> {
        let is_first = backend.sequencer().state().shared().is_none();
        if is_first {
            let arena = arena_of(backend, log.identity());
            let begun = self.rules.begin(backend, arena);
            begun.map_err(NotJoined::Unsound)?;
        } else {
            self.rules.judge(backend).map_err(NotJoined::Settings)?;
        }
        backend.join_shared_log().map_err(NotJoined::Journal)?;
        let origin = origin_of(backend, log.identity());
        let installation = origin.installation;
        let extent = log.extent();
        let has_state = !is_new(backend);
        if is_first && has_state && extent.last == Sequence(0) {
            put_beginning(self.settings, &origin, backend)?;
        }
        let name = Name::parse(self.settings.node.as_str().as_bytes());
        let name = name.expect("the name of a node is a name");
        let keeper = SnapshotKeeper::new(self.settings.clone(), origin, gate);
        let run = (name, clock::system().wall.0, installation);
        let mut cluster = Cluster::new((log, keeper), self.settings, run);
        if is_first {
            ClusterRules::say_first(&mut cluster, backend, clock::system().wall);
        }
        self.catch_up(&mut cluster, backend)?;
        backend.finish_catching_up(found);
        Ok(cluster)
    }

    fn catch_up(&self, cluster: &mut Cluster, backend: &mut Embedded) -> Result<(), NotJoined> {
        while !cluster.has_caught_up() {
            if self.loading.progress.is_ended() {
                return Err(NotJoined::Stopped);
            }
            let now = clock::system().wall.max(backend.status().time);
            cluster.ask_whether_all_is_there(now, backend.sequencer().state());
            cluster.propose(now, backend.sequencer().state());
            let taken = cluster.take(backend, now).map_err(NotJoined::Ended)?;
            // Nobody has asked for anything yet.
            drop(taken);
            backend.commit().map_err(NotJoined::Commit)?;
            backend.keep_latest_events();
            if !cluster.has_more() && !cluster.has_caught_up() {
                thread::park_timeout(NAP);
            }
        }
        Ok(())
    }
}

impl RecoveredNode {
    /// Its parts.
    pub(crate) fn into_parts(self) -> (Embedded, Recovery, SharedLog) {
        (self.backend, self.found, self.log)
    }
}

/// Whether nothing has happened yet, but that the state was founded as a partition.
fn is_new(backend: &Embedded) -> bool {
    let state = backend.sequencer().state();
    state.position() <= Position(u64::from(state.partition().is_some()))
}

macro_rules! spread {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// Whether anything has happened to a service that is spread over partitions.
        fn is_spread(backend: &Embedded) -> bool {
            $(is_spread_and_begun::<turnstile_services::$name::$machine>(backend))||+
        }
    };
}

turnstile_services::services!(spread);

fn is_spread_and_begun<M: Hosted + Served>(backend: &Embedded) -> bool {
    <M::Query as Routed>::IS_SPREAD && !Served::is_new(backend.machine::<M>())
}

/// Wakes whoever takes what the log says: the loop, or the thread that catches up before it.
fn wake(gate: &Gate, catching_up: &Thread) {
    gate.wake();
    catching_up.unpark();
}

/// The number of an arena without scores: that of this stream of this installation, and of no other.
fn arena_of(backend: &Embedded, stream: &StreamIdentity) -> u64 {
    let secret = backend.id_key().installation().to_le_bytes();
    xxh3_64(&[&secret[..], stream.0.as_bytes()].concat()).max(1)
}

/// What the snapshots of a node are of.
fn origin_of(backend: &Embedded, log: &StreamIdentity) -> SnapshotOrigin {
    let state = backend.sequencer().state();
    let secret = backend.id_key().installation();
    let installation = state.shared().map_or_else(
        || installation_of(state, secret),
        |place| place.installation,
    );
    SnapshotOrigin {
        log: log.clone(),
        secret,
        installation,
    }
}

/// Puts the state with which a log begins into the store, so that other nodes begin with it too.
fn put_beginning(
    settings: &LogSettings,
    origin: &SnapshotOrigin,
    backend: &mut Embedded,
) -> Result<StoredSnapshot, NotJoined> {
    let made = backend.make_snapshot();
    let mut file = made.map_err(|reason| NotJoined::NotMade { reason })?;
    keeping::put(settings, origin, 0, &mut file).map_err(NotJoined::Store)
}

/// A state with which a cluster begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BegunCluster {
    /// Its last position.
    pub position: Position,
    /// The length of its snapshot in the store.
    pub snapshot_bytes: u64,
}

/// Makes the state of a directory that no server uses the beginning of a new cluster: it goes into the
/// store as the first snapshot, and nodes that start with an empty directory begin with it. The directory
/// stays as it is, and may be one of theirs.
///
/// # Errors
/// The directory is in use, a node's already or no server's, or the log has entries.
pub fn begin_cluster(settings: &LogSettings, directory: &Path) -> Result<BegunCluster, NotJoined> {
    let options = Options {
        snapshot_records: 0,
        ..Options::with(Durability::Sync)
    };
    // A mistyped name must not make a directory.
    if !fs::exists(directory.join("id.key")).map_err(NotJoined::File)? {
        return Err(NotJoined::NoServer);
    }
    let opened = Embedded::open(Some(directory), options);
    let (mut backend, _) = opened.map_err(NotJoined::Directory)?;
    let identity = kept_identity(directory).map_err(NotJoined::File)?;
    if backend.sequencer().state().shared().is_some() || identity.is_some() {
        return Err(NotJoined::NodeAlready);
    }
    let log = SharedLog::open(settings, Sequence(0), None, || {});
    let log = log.map_err(NotJoined::Log)?;
    if log.extent().last != Sequence(0) {
        return Err(NotJoined::LogInUse);
    }
    let origin = origin_of(&backend, log.identity());
    let stored = put_beginning(settings, &origin, &mut backend)?;
    let position = backend.sequencer().state().position();
    backend.close().map_err(NotJoined::Commit)?;
    Ok(BegunCluster {
        position,
        snapshot_bytes: stored.bytes,
    })
}

fn kept_identity(directory: &Path) -> io::Result<Option<StreamIdentity>> {
    match fs::read_to_string(directory.join(SHARED_LOG_FILE)) {
        Ok(text) => Ok(Some(StreamIdentity(text))),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(failure) => Err(failure),
    }
}
