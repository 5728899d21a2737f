//! A snapshot of its cluster comes out of the store to a node that joins.

use std::{fmt, sync::Arc};

use turnstile_embedded::{ArrivedSnapshot, RefusedSnapshot};
use turnstile_jetstream::{
    LogOpening, LogSettings, PatientStore, SnapshotError, StoredSnapshot, StreamIdentity,
};
use turnstile_replica::{JoinWish, StoredTitle, UnfitSnapshot};

use super::keeping;

/// What a node has that looks for a snapshot.
#[derive(Clone, Copy, Debug)]
pub(super) struct JoiningNode {
    /// The last entry that it has; nothing if it has no state at all.
    pub(super) own: Option<u64>,
    /// What tells its secret of the id numbers from others.
    pub(super) secret: u64,
}

/// Why a node has nothing to begin with.
#[derive(Debug)]
pub enum NoBeginning {
    /// The store of snapshots cannot be used.
    Store(SnapshotError),
    /// The stream of the log was deleted meanwhile.
    NoLog,
    /// The log does not reach back to what the node has, and no snapshot serves; why each of them does not.
    Purged { refused: Vec<String> },
    /// The node has no state, and its cluster has snapshots, none of which serves. The log may have begun
    /// with one of them: an empty state could sell again what is sold.
    NoneServes { refused: Vec<String> },
}

/// Why a snapshot is passed over.
enum PassedOver {
    Untitled,
    Unfit(UnfitSnapshot),
    Unread(SnapshotError),
    Refused(RefusedSnapshot),
    /// Its state is of another place than its title says.
    Mistitled,
}

/// The newest snapshot that serves; nothing if the node goes on from what it has, or begins a log of which
/// there is no snapshot. It waits for brokers until `opening` is ended.
///
/// # Errors
/// What the node has is no beginning, and no snapshot serves.
pub(super) fn newest(
    settings: &LogSettings,
    opening: Arc<LogOpening>,
    node: JoiningNode,
) -> Result<Option<(StoredSnapshot, ArrivedSnapshot)>, NoBeginning> {
    let store = PatientStore::of(settings, opening).map_err(NoBeginning::Store)?;
    let mut stored = store.list().map_err(NoBeginning::Store)?;
    stored.sort_by(|one, other| other.name.cmp(&one.name));
    // Asked after the list, it has all that the snapshots have.
    let log = store.log().map_err(NoBeginning::Store)?;
    let log = log.ok_or(NoBeginning::NoLog)?;
    let wish = JoinWish {
        own: node.own,
        log: log.identity,
        secret: node.secret,
        first: log.extent.first.0,
        last: log.extent.last.0,
    };
    let (mut refused, mut is_of_log) = (Vec::new(), false);
    for snapshot in stored {
        match fetch(&store, &wish, &snapshot) {
            Ok(arrived) => return Ok(Some((snapshot, arrived))),
            Err(PassedOver::Unread(error)) if !error.is_of_one() => {
                return Err(NoBeginning::Store(error));
            }
            Err(reason) => {
                let name = &snapshot.name;
                tracing::warn!("snapshot {name} is passed over: {reason}");
                refused.push(format!("{name}: {reason}"));
                is_of_log |= !matches!(reason, PassedOver::Unfit(UnfitSnapshot::OtherLog));
            }
        }
    }
    if wish.own.unwrap_or(0) + 1 < wish.first {
        return Err(NoBeginning::Purged { refused });
    }
    if wish.own.is_none() && is_of_log {
        return Err(NoBeginning::NoneServes { refused });
    }
    Ok(None)
}

/// Reads a snapshot from the store, if it serves.
fn fetch(
    store: &PatientStore,
    wish: &JoinWish<StreamIdentity>,
    snapshot: &StoredSnapshot,
) -> Result<ArrivedSnapshot, PassedOver> {
    let (title, installation) = keeping::title_of(snapshot).ok_or(PassedOver::Untitled)?;
    wish.judge(&title).map_err(PassedOver::Unfit)?;
    let bytes = store.get(&snapshot.name).map_err(PassedOver::Unread)?;
    let arrived = ArrivedSnapshot::parse(bytes).map_err(PassedOver::Refused)?;
    if !holds(&arrived, &title, installation) {
        return Err(PassedOver::Mistitled);
    }
    Ok(arrived)
}

/// Whether the state of a snapshot is of the place that its title says.
fn holds(
    arrived: &ArrivedSnapshot,
    title: &StoredTitle<StreamIdentity>,
    installation: u64,
) -> bool {
    match arrived.place() {
        Some(place) => place.sequence == title.sequence && place.installation == installation,
        None => title.sequence == 0 && arrived.installation_under(title.secret) == installation,
    }
}

impl fmt::Display for PassedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Untitled => f.write_str("it does not say what it is a snapshot of"),
            Self::Unfit(unfit) => unfit.fmt(f),
            Self::Unread(error) => error.fmt(f),
            Self::Refused(refused) => refused.fmt(f),
            Self::Mistitled => f.write_str("its state is not the one that it says"),
        }
    }
}

impl fmt::Display for NoBeginning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(cause) => cause.fmt(f),
            Self::NoLog => f.write_str("the stream of the shared log was deleted"),
            Self::Purged { refused } if refused.is_empty() => f.write_str(
                "the log does not reach back to what this node has, and the store has no snapshot",
            ),
            Self::Purged { refused } => write!(
                f,
                "the log does not reach back to what this node has, and no snapshot serves: {}",
                refused.join("; ")
            ),
            Self::NoneServes { refused } => write!(
                f,
                "the cluster has a state, this node has none and must not begin without it, and no snapshot \
                 serves: {}",
                refused.join("; ")
            ),
        }
    }
}
