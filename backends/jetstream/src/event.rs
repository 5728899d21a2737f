//! What a log says: entries, fates of proposals, its state, and its end.

use std::fmt;

use bytes::Bytes;

use crate::{
    id::{ProposalId, Sequence},
    version::RefusedVersion,
};

/// One entry of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Its place: that of the entry before it, and one more.
    pub sequence: Sequence,
    /// Whose it is; nothing if the message bears no id of a node, because something else published it.
    /// The same id can be on two entries: the broker drops repetitions for two minutes only.
    pub id: Option<ProposalId>,
    pub bytes: Bytes,
}

/// What [`SharedLog::next_event`](crate::SharedLog::next_event) gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogEvent {
    /// The next entry of the stream.
    Entry(LogEntry),
    /// The broker has acknowledged a proposal: for figures only. What counts is its entry. May be
    /// missing, and come before or after the entry.
    Published { id: ProposalId, sequence: Sequence },
    /// The broker has not taken a proposal, and it cannot become an entry any more.
    Refused { id: ProposalId, why: NotTaken },
    /// The state of the connection has changed.
    Status(LogStatus),
    /// Something that an operator must know; the log goes on.
    Warning(BrokerWarning),
    /// The log has ended: this is the last event.
    Fatal(Fatal),
}

/// Why a broker did not take a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotTaken {
    /// The stream, the account or the disk has no room: after a purge there may be some.
    Full { broker: String },
    /// The entry is larger than the broker takes.
    TooLarge { bytes: usize, bytes_max: usize },
}

/// The state of the connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogStatus {
    /// The name of the broker that we are connected to.
    pub connected: Option<String>,
    /// The name of the broker that leads the stream, as far as known.
    pub leader: Option<String>,
    /// Whether the brokers have taken something since the last trouble.
    pub is_taking: bool,
    /// The last complaint of a broker, such as a missing permission.
    pub complaint: Option<String>,
}

/// What an operator must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrokerWarning {
    /// The broker acknowledges before its disk has the entry: a power cut loses entries.
    DoesNotSync { broker: String },
    /// No monitoring address was given, where alone brokers say whether they sync.
    SyncUnknown,
    /// The monitoring address does not answer as it should.
    NoMonitor { address: String, reason: String },
    /// A broker could not be reached, so its version is not known.
    Unreachable { address: String, reason: String },
    /// The version is newer than all that were tried.
    UntriedVersion { broker: String, version: String },
    /// A broker of a version that a start would refuse has joined.
    RefusedVersion {
        broker: String,
        refused: RefusedVersion,
    },
    /// The leader of the stream did not leave that to another, as it was asked to.
    LeadsOn { reason: String },
    /// Fewer than three replicas: the loss of one broker may lose the log.
    FewReplicas { replicas: u8 },
}

/// Why a log has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fatal {
    /// The brokers skip entries, however often they are asked.
    Gap { wanted: Sequence, found: Sequence },
    /// The entries from `wanted` on were purged: a newer snapshot is needed.
    Purged { wanted: Sequence, first: Sequence },
    /// The stream ends before an entry that it gave us: the brokers have lost entries.
    Shorter { ours: Sequence, last: Sequence },
    /// The stream has another entry where it gave us one: the brokers have lost entries and taken
    /// others.
    Rewritten { sequence: Sequence },
    /// There is no such stream any more.
    Deleted { stream: String },
    /// The stream was deleted and made anew.
    MadeAnew {
        stream: String,
        ours: String,
        found: String,
    },
    /// The thread of the log has ended without a reason: a defect of ours.
    Ended,
}

impl fmt::Display for NotTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { broker } => write!(f, "the broker has no room: {broker}"),
            Self::TooLarge { bytes, bytes_max } => {
                write!(
                    f,
                    "an entry of {bytes} bytes; at most {bytes_max} are taken"
                )
            }
        }
    }
}

impl fmt::Display for BrokerWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DoesNotSync { broker } => write!(
                f,
                "broker {broker} acknowledges before its disk has the entry, so a power cut loses \
                 acknowledged entries: set `sync_interval: always` in its section `jetstream`"
            ),
            Self::SyncUnknown => write!(
                f,
                "whether the brokers sync is not known: give their monitoring addresses"
            ),
            Self::NoMonitor { address, reason } => {
                write!(f, "monitoring address {address} does not answer: {reason}")
            }
            Self::Unreachable { address, reason } => write!(
                f,
                "broker {address} cannot be reached, so its version was not checked: {reason}"
            ),
            Self::UntriedVersion { broker, version } => write!(
                f,
                "broker {broker} has version {version}, which is newer than all that were tried"
            ),
            Self::RefusedVersion { broker, refused } => write!(f, "broker {broker}: {refused}"),
            Self::LeadsOn { reason } => write!(
                f,
                "the broker that leads the stream did not leave that to another: {reason}"
            ),
            Self::FewReplicas { replicas } => write!(
                f,
                "the stream has {replicas} of 3 replicas: the loss of one broker may lose the log"
            ),
        }
    }
}

impl fmt::Display for Fatal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gap { wanted, found } => write!(
                f,
                "the brokers skip from entry {wanted} to {found}: entries are lost or damaged"
            ),
            Self::Purged { wanted, first } => write!(
                f,
                "entry {wanted} was purged, the first is {first}: start from a newer snapshot"
            ),
            Self::Shorter { ours, last } => write!(
                f,
                "the stream ends at entry {last}, and it had given us {ours}: the brokers have lost \
                 entries"
            ),
            Self::Rewritten { sequence } => write!(
                f,
                "the stream has another entry {sequence} than it gave us: the brokers have lost \
                 entries and taken others"
            ),
            Self::Deleted { stream } => write!(f, "stream {stream} was deleted"),
            Self::MadeAnew {
                stream,
                ours,
                found,
            } => write!(
                f,
                "stream {stream} was deleted and made anew: it was made at {found}, ours at {ours}"
            ),
            Self::Ended => write!(f, "the thread of the log has ended, which is a defect"),
        }
    }
}

impl std::error::Error for Fatal {}

/// What a stream holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogExtent {
    /// Its first entry; one more than the last if it has none.
    pub first: Sequence,
    pub last: Sequence,
    /// On each broker.
    pub bytes: u64,
}

/// Figures of a log, for metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFigures {
    pub status: LogStatus,
    /// The last entry that [`SharedLog::next_event`](crate::SharedLog::next_event) has given.
    pub taken: Sequence,
    /// Entries of the stream that were not yet given, as far as known.
    pub lag: u64,
    /// Proposals that have no fate yet.
    pub outstanding: usize,
    /// How often a proposal was published again.
    pub retries: u64,
    /// How often the brokers were asked anew for entries.
    pub reattached: u64,
    /// How often the connection was made.
    pub connects: u64,
}
