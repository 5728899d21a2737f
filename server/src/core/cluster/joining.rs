//! A server joins the shared log of its cluster when its own copy is recovered.

use std::{fs, io, path::Path};

use turnstile_embedded::Embedded;
use turnstile_jetstream::{LogSettings, OpenLogError, Sequence, SharedLog, StreamIdentity};
use turnstile_types::{Name, hash_of};
use xxhash_rust::xxh3::xxh3_64;

use super::Cluster;
use crate::core::{clock, gate::Gate};

/// The file beside the journal that says which stream it is a copy of.
const STREAM: &str = "shared-log";

/// Why a server does not join its cluster.
#[derive(Debug)]
pub enum NotJoined {
    Log(OpenLogError),
    /// The service is played by other rules in the cluster.
    Settings {
        service: &'static str,
    },
    /// The directory is a copy of a shared log, and the configuration names none.
    LeftBehind,
    File(io::Error),
}

impl std::fmt::Display for NotJoined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Log(cause) => write!(f, "the shared log cannot be opened: {cause}"),
            Self::Settings { service } => write!(
                f,
                "a cluster plays {service} by the defaults yet: leave its settings out"
            ),
            Self::LeftBehind => write!(
                f,
                "the directory is a node's copy of a shared log: name its brokers in [cluster]"
            ),
            Self::File(cause) => write!(f, "which stream the directory is a copy of: {cause}"),
        }
    }
}

/// Opens the shared log behind what the back end has of it.
///
/// # Errors
/// The brokers are not there or not to be trusted, or the directory is no beginning of this log.
pub(crate) fn join(
    settings: &LogSettings,
    directory: &Path,
    backend: &mut Embedded,
    gate: Gate,
) -> Result<Cluster, NotJoined> {
    let state = backend.sequencer().state();
    let shared = state.shared().cloned();
    let after = Sequence(shared.as_ref().map_or(0, |place| place.sequence));
    let installation = shared
        .as_ref()
        .map_or_else(|| installation_of(backend), |place| place.installation);
    let identity = kept_identity(directory).map_err(NotJoined::File)?;
    let log = SharedLog::open(settings, after, identity, move || gate.wake());
    let log = log.map_err(NotJoined::Log)?;
    keep_identity(directory, log.identity()).map_err(NotJoined::File)?;
    for warning in log.warnings() {
        tracing::warn!("the shared log: {warning}");
    }
    backend.join_shared_log();
    let name = Name::parse(settings.node.as_str().as_bytes());
    let name = name.expect("the name of a node is a name");
    let earlier = shared.and_then(|place| place.incarnation(&name));
    let incarnation = clock::system()
        .wall
        .0
        .max(earlier.map_or(1, |earlier| earlier + 1));
    let node = (settings.node.clone(), name);
    Ok(Cluster::new(log, node, (incarnation, installation)))
}

/// What servers have in common that begin with the same state and the same secret.
fn installation_of(backend: &Embedded) -> u64 {
    let state = hash_of(backend.sequencer().state().machines());
    let secret = backend.id_key().installation();
    xxh3_64(&[&state.to_le_bytes()[..], &secret.to_le_bytes()].concat())
}

fn kept_identity(directory: &Path) -> io::Result<Option<StreamIdentity>> {
    match fs::read_to_string(directory.join(STREAM)) {
        Ok(text) => Ok(Some(StreamIdentity(text))),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Writes the file whole or not at all.
fn keep_identity(directory: &Path, identity: &StreamIdentity) -> io::Result<()> {
    let new = directory.join("shared-log.new");
    fs::write(&new, &identity.0)?;
    fs::File::open(&new)?.sync_all()?;
    fs::rename(&new, directory.join(STREAM))?;
    fs::File::open(directory)?.sync_all()
}
