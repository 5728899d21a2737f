//! A replicated log on NATS JetStream: entries of bytes go to a stream, and come back in its order.
//!
//! The crate knows nothing of records and machines. It promises what the engine of a node builds on:
//!
//! - [`SharedLog::next_event`] gives the entries of the stream in its order, each once, without a gap.
//! - A proposal is published, with the same bytes and the same id, until its entry was seen in the
//!   stream or the caller withdraws it. A timeout is no failure.
//! - What makes one of these promises impossible ends the log with a [`Fatal`].
//!
//! [`SnapshotStore`] keeps snapshots in the object store of the same brokers.
//!
//! [`NodeLine`] carries messages between nodes, which the brokers do not keep.
//!
//! [`LogSettings::rights`] says which subjects the user of a node must be allowed.

#![forbid(unsafe_code)]

mod api;
mod connecting;
mod error;
mod event;
mod id;
mod log;
mod opening;
mod proposals;
mod reading;
mod relaying;
mod settings;
mod shared;
mod snapshots;
mod stream;
mod subjects;
mod survey;
mod version;
mod worker;

pub use error::OpenLogError;
pub use event::{
    BrokerWarning, Fatal, LogEntry, LogEvent, LogExtent, LogFigures, LogStatus, NotTaken,
};
pub use id::{InvalidNodeName, NodeName, ProposalId, Sequence};
pub use log::{Backlogged, SharedLog};
pub use opening::{LogObstacle, LogOpening};
pub use relaying::{LineIsFull, NodeLine, NodeMessage, ReplyAddress};
pub use settings::{
    BrokerLogin, BrokerRights, BrokerTimeouts, BrokerTls, InvalidServer, LogSettings, ServerUrl,
};
pub use shared::{OUTSTANDING_MAX, StreamIdentity};
pub use snapshots::{LogInStore, PatientStore, SnapshotError, SnapshotStore, StoredSnapshot};
pub use stream::{Difference, ENTRY_BYTES_MAX};
pub use version::{BrokerVersion, RefusedVersion};
