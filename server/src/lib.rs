//! Doors, limits, sessions, configuration and shutdown.
//!
//! One thread, the fast loop ([`turn`](self::core::turn)), owns the back end and the connections of the fast doors.
//! Everything else reaches it through the [`Gate`].

#![forbid(unsafe_code)]

mod core;
mod counters;
mod doors;
mod limits;
mod memory_limit;
mod registry;
mod reloading;
mod running;
mod starting;

use std::{fmt, io, net::SocketAddr, path::PathBuf};

use turnstile_embedded::{BackendOpenError, UnsoundSettings};
use turnstile_types::{AddressPolicy, Principal};

pub use self::core::{
    caller::{Caller, NotPermitted},
    clock::ClockStatus,
    cluster::{
        BegunCluster, ClusterEnded, DifferentSettings, NoBeginning, NotJoined, begin_cluster,
    },
    copying::CopyPlace,
    fault_points::{FAULT_EXIT, HAS_FAULT_POINTS},
    feed::Feed,
    gate::{
        Answered, Ask, BackendStatus, Executed, Gate, LineStatus, Overloaded, Request,
        ServerStatus, TotalsOfServices, Undecided,
    },
    node_status::ClusterStatus,
    post::Peers,
    quotas::{QuotaExceeded, QuotaKind},
    remote::{DatabaseUrl, InvalidUrl},
    request_log::{AccessLog, CollectorUrl, InvalidCollectorUrl, LineFormat, LogPlace, Traces},
    shares::ShareFull,
    tls::{InvalidTls, TlsFiles},
    waiting_room::{LinePlace, NotYourTurn},
};
pub use counters::{
    COMMIT_BOUNDS_NS, Counter, Counters, DOORS, DURATION_BOUNDS_NS, DoorCounters, DoorName,
    DurationHistogram, Durations, ErrorCode, HandshakeCounters, LineCounters, MachineCounters,
    Tally,
};
pub use doors::{
    http::{InvalidOrigin, LabProgram, WebOrigin},
    scores::ScoresWire,
};
pub use limits::{HttpLimits, Limits};
pub use memory_limit::memory_limit;
pub use reloading::{ReloadAsk, ReloadOutcome, ReloadRefused};
pub use running::{LoopPulse, Running, StopError, Stopper};
pub use starting::{Starting, start};
pub use turnstile_embedded::{Durability, Options, Recovery};
pub use turnstile_http::{LabKind, LabOffer, LabOrder, ReloadDone};
pub use turnstile_jetstream::{
    BrokerLogin, BrokerTimeouts, BrokerTls, InvalidNodeName, InvalidServer, LogSettings, NodeName,
    ServerUrl,
};
pub use turnstile_record::ENTRY_VERSION;

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the journal lies; without it everything is forgotten at the end.
    pub data: Option<PathBuf>,
    /// How the journal is kept.
    pub storage: Options,
    /// Where the RESP door listens, if it is open.
    pub resp: Option<SocketAddr>,
    /// Where the HTTP door listens, if it is open.
    pub http: Option<SocketAddr>,
    /// The origins whose pages may use the HTTP door, besides its own.
    pub http_origins: Vec<WebOrigin>,
    /// Names of the HTTP door, besides those of loopback and of the certificate.
    pub http_hosts: Vec<String>,
    /// Where the XML door listens, if it is open.
    pub xml: Option<SocketAddr>,
    pub xml_options: turnstile_xml::Options,
    /// Where the door of travel listens for command lines, if it is open.
    pub lines: Option<SocketAddr>,
    pub lines_options: turnstile_lines::Options,
    /// Who comes to the doors at which nobody can log in.
    pub principals: ListenerPrincipals,
    /// How much of the addresses of callers records keep.
    pub addresses: AddressPolicy,
    /// Whether the last digit of id numbers is checked.
    pub verhoeff: bool,
    /// How travel is played; without it, as its directory was last told.
    pub travel: Option<turnstile_travel::Settings>,
    /// How games are played; without it, as their directory was last told. The number of an arena
    /// does not count: its directory knows it, or it is drawn by lot.
    pub games: Option<turnstile_games::Settings>,
    /// The doors of games on the ancestor's wire.
    pub duels: Duels,
    /// Where the other processes of travel are, if it is played by several.
    pub peers: Peers,
    /// The databases of services that this server does not keep itself.
    pub databases: Databases,
    /// The log that it shares with other servers, as one node of a cluster.
    pub cluster: Option<LogSettings>,
    /// The partitions of its cluster in their order, the first of which is that of `cluster`; none or one
    /// where it has one.
    pub partitions: Vec<NodeName>,
    /// Those of them that this node holds, the first among them; none stands for all. Requests for others go to
    /// other nodes.
    pub holds: Vec<NodeName>,
    /// The host by which clients reach this node, for the others to say. Without it, the addresses of its doors
    /// as far as they name one.
    pub node_host: Option<String>,
    pub limits: Limits,
    /// Where a line is written for each request; without it, nowhere.
    pub access_log: Option<AccessLog>,
    /// Which requests a collector of traces is told of; without it, none is.
    pub traces: Option<Traces>,
    /// The files by which every door speaks TLS; without them none does.
    pub tls: Option<TlsFiles>,
    /// Whether clients of other machines are served without TLS.
    pub plain: bool,
    /// What puts load on the server when an operator asks for that over HTTP; without it nothing does.
    pub lab: Option<LabProgram>,
    /// The commit that the program was built from, for metrics; empty where it is not known.
    pub commit: &'static str,
}

impl Settings {
    /// A server that keeps its journal in memory, with every door closed.
    #[must_use]
    pub fn closed(storage: Options) -> Self {
        Self {
            data: None,
            storage,
            resp: None,
            http: None,
            http_origins: Vec::new(),
            http_hosts: Vec::new(),
            xml: None,
            xml_options: turnstile_xml::Options::default(),
            lines: None,
            lines_options: turnstile_lines::Options::default(),
            principals: ListenerPrincipals::default(),
            addresses: AddressPolicy::default(),
            verhoeff: false,
            travel: None,
            games: None,
            duels: Duels::default(),
            peers: Peers::default(),
            databases: Databases::default(),
            cluster: None,
            partitions: Vec::new(),
            holds: Vec::new(),
            node_host: None,
            limits: Limits::STANDARD,
            access_log: None,
            traces: None,
            tls: None,
            plain: false,
            lab: None,
            commit: "",
        }
    }
}

/// Where services are kept that do not lie in the journal.
#[derive(Clone, Debug, Default)]
pub struct Databases {
    pub rooms: Option<DatabaseUrl>,
    /// In a database that [keeps exchanges](DatabaseUrl::keeps_exchange).
    pub exchange: Option<DatabaseUrl>,
}

/// The doors of games on the ancestor's wire, which are open where they have an address.
#[derive(Clone, Copy, Debug, Default)]
pub struct Duels {
    /// Where players come.
    pub arena: Option<SocketAddr>,
    /// Where arenas tell their results.
    pub scores: Option<SocketAddr>,
    /// Where the scores are, for an arena that does not count itself.
    pub tells: Option<(SocketAddr, ScoresWire)>,
}

/// Whose requests those of a door are at which nobody can log in. In a directory with keys, a door without
/// a principal serves nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListenerPrincipals {
    pub xml: Option<Principal>,
    pub lines: Option<Principal>,
    pub arena: Option<Principal>,
    pub scores: Option<Principal>,
}

impl ListenerPrincipals {
    /// Whether all who come to this door are one principal.
    pub(crate) const fn has(&self, door: DoorName) -> bool {
        match door {
            DoorName::Xml => self.xml.is_some(),
            DoorName::Lines => self.lines.is_some(),
            DoorName::Arena => self.arena.is_some(),
            DoorName::Scores => self.scores.is_some(),
            DoorName::Resp | DoorName::Http | DoorName::Desk => false,
        }
    }
}

/// Why a server did not start.
#[derive(Debug)]
pub enum StartError {
    /// Other machines reach the address, and what passes would be in clear.
    InClear {
        name: &'static str,
        address: SocketAddr,
    },
    /// Other machines reach the address or are at it, and could not prove who they are.
    WithoutCertificates {
        name: &'static str,
        address: SocketAddr,
    },
    /// Other machines reach the address, and need no key.
    WithoutKeys {
        name: &'static str,
        address: SocketAddr,
    },
    /// A door could not be opened.
    Bind {
        door: &'static str,
        address: SocketAddr,
        cause: io::Error,
    },
    /// The database of a service could not be opened; the cause names it.
    Database {
        service: &'static str,
        cause: String,
    },
    /// A node of a cluster cannot have this, and what there is instead.
    NotInCluster {
        what: &'static str,
        instead: &'static str,
    },
    /// It is to hold a partition that is none of its cluster, or not this one, which is the first.
    UnknownPartition(NodeName),
    WithoutFirstPartition(NodeName),
    /// The list of the partitions of its cluster is none.
    Partitions,
    /// The server cannot join its cluster.
    Cluster(NotJoined),
    /// A file of TLS cannot be used.
    Tls(InvalidTls),
    /// Processes cannot know each other: there are no authorities for their certificates.
    LineWithoutAuthorities {
        door: &'static str,
    },
    /// The journal could not be opened.
    Open(BackendOpenError),
    /// Travel or games cannot be played as they are configured.
    Unsound(UnsoundSettings),
    /// The access log cannot be opened.
    AccessLog(io::Error),
    /// The system gave no poll or no thread.
    System(io::Error),
    /// It was stopped before it had recovered. Nothing is lost: the next start recovers the same.
    Stopped,
}

/// The lines that make a server speak TLS.
const TLS_LINES: &str = "[tls]\n\
                         certificate = \"/etc/turnstile/server.pem\"\n\
                         key = \"/etc/turnstile/server.key\"\n";

/// The line by which clients prove who they are by certificates.
const CLIENT_CA_LINE: &str = "client_ca = \"/etc/turnstile/clients.pem\"\n";

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InClear { name, address } => write!(
                f,
                "{name} at {address} would be in clear: others on the network could read and change \
                 what passes. Add\n\n{TLS_LINES}\nor, where the network itself is protected, \
                 --plain"
            ),
            Self::WithoutCertificates { name, address } => write!(
                f,
                "{name} at {address} needs certificates, by which the other side proves who it is: \
                 the protocol carries no keys. Add\n\n{TLS_LINES}{CLIENT_CA_LINE}"
            ),
            Self::WithoutKeys { name, address } => write!(
                f,
                "{name} at {address} would serve every client that reaches it: the directory has no \
                 keys. Make the first, of its administrator:\n\nturnstile init DIR\n"
            ),
            Self::Bind {
                door,
                address,
                cause,
            } => {
                write!(f, "the {door} door cannot listen on {address}: {cause}")
            }
            Self::Database { service, cause } => {
                write!(f, "the back end of {service} cannot be opened: {cause}")
            }
            Self::NotInCluster { what, instead } => {
                write!(f, "a node of a cluster cannot have {what}: {instead}")
            }
            Self::UnknownPartition(name) => write!(
                f,
                "cluster.holds names {name}, which is none of cluster.partitions"
            ),
            Self::WithoutFirstPartition(first) => write!(
                f,
                "cluster.holds must name {first}, the first of cluster.partitions: every node holds it"
            ),
            Self::Partitions => write!(
                f,
                "cluster.partitions is a list of 1 to {} different names that begins with \
                 cluster.partition",
                turnstile_types::PARTITIONS_MAX
            ),
            Self::Cluster(cause) => cause.fmt(f),
            Self::Tls(cause) => cause.fmt(f),
            Self::LineWithoutAuthorities { door } => write!(
                f,
                "the {door} line is for other processes, which show certificates: set \
                 tls.client_ca to the authority of these"
            ),
            Self::Open(cause) => cause.fmt(f),
            Self::Unsound(cause) => cause.fmt(f),
            Self::AccessLog(cause) => write!(f, "the access log cannot be opened: {cause}"),
            Self::System(cause) => write!(f, "the system refuses: {cause}"),
            Self::Stopped => f.write_str("stopped before the journal was recovered"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::InClear { .. }
            | Self::WithoutCertificates { .. }
            | Self::WithoutKeys { .. }
            | Self::Database { .. }
            | Self::NotInCluster { .. }
            | Self::Partitions
            | Self::UnknownPartition(_)
            | Self::WithoutFirstPartition(_)
            | Self::Cluster(_)
            | Self::LineWithoutAuthorities { .. }
            | Self::Stopped => None,
            Self::Tls(cause) => Some(cause),
            Self::Bind { cause, .. } | Self::AccessLog(cause) | Self::System(cause) => Some(cause),
            Self::Open(cause) => Some(cause),
            Self::Unsound(cause) => Some(cause),
        }
    }
}
