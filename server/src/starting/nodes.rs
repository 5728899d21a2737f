//! A server that is to be a node of a cluster: what it may be configured as, and how it joins.

use std::{collections::BTreeMap, net::SocketAddr};

use turnstile_embedded::{Durability, Embedded, Options, Recovery};
use turnstile_jetstream::{LogSettings, NodeLine, NodeName};
use turnstile_types::{PARTITIONS_MAX, PartitionFounding, PartitionNumber};

use super::partitions::holds;
use crate::{
    ScoresWire, Settings, StartError,
    core::{
        cluster::{
            Cluster, ClusterRules, NodeStart, NotJoined,
            other_nodes::{Announcement, KnownNodes, NodeShare, OtherNodes},
        },
        gate::Gate,
        loading::Loading,
    },
};

/// What is to be done instead of playing travel in several processes.
const ALL_DESKS: &str =
    "each node plays all of travel, and the cluster goes on without any of them";

/// What is to be done instead of keeping a service in a database.
const NO_DATABASE: &str = "the shared log keeps all services";

/// Asserts that a node of a cluster has nothing that would be decided here alone.
pub(super) fn judge_settings(settings: &Settings) -> Result<(), StartError> {
    let Some(log) = &settings.cluster else {
        return Ok(());
    };
    judge_partitions(log, &settings.partitions)?;
    judge_holds(settings)?;
    let tells_by_ancestor = |(_, wire)| matches!(wire, ScoresWire::Ancestor);
    let alone = [
        (
            "storage.durability = \"memory\"",
            settings.data.is_none(),
            "a node keeps a copy of the log in a directory",
        ),
        (
            "rooms.backend",
            settings.databases.rooms.is_some(),
            NO_DATABASE,
        ),
        (
            "exchange.backend",
            settings.databases.exchange.is_some(),
            NO_DATABASE,
        ),
        ("the desk door", settings.peers.door.is_some(), ALL_DESKS),
        (
            "desks in other processes",
            !settings.peers.desks.is_empty(),
            ALL_DESKS,
        ),
        (
            "travel.fault_points",
            settings.peers.fault_points,
            "they end processes of travel that a cluster does not have",
        ),
        (
            "games.scores_wire = \"ancestor\"",
            settings.duels.tells.is_some_and(tells_by_ancestor),
            "each node tells results, and without numbers each would be counted several times",
        ),
    ];
    match alone.into_iter().find(|(_, is_wanted, _)| *is_wanted) {
        Some((what, _, instead)) => Err(StartError::NotInCluster { what, instead }),
        None => Ok(()),
    }
}

/// Asserts that the list of partitions is one, and begins with that of the node's log.
fn judge_partitions(log: &LogSettings, names: &[NodeName]) -> Result<(), StartError> {
    let is_list = names.len() <= usize::from(PARTITIONS_MAX);
    let is_new = |(at, name): (usize, &NodeName)| !names.iter().take(at).any(|one| one == name);
    let is_first = names.first().is_none_or(|first| *first == log.partition);
    if is_list && is_first && names.iter().enumerate().all(is_new) {
        Ok(())
    } else {
        Err(StartError::Partitions)
    }
}

/// Asserts that the partitions that the node is to hold are some of the list, the first among them.
fn judge_holds(settings: &Settings) -> Result<(), StartError> {
    let (holds, names) = (&settings.holds, &settings.partitions);
    if let Some(unknown) = holds.iter().find(|name| !names.contains(name)) {
        return Err(StartError::UnknownPartition(unknown.clone()));
    }
    match names.first() {
        Some(first) if !holds.is_empty() && !holds.contains(first) => {
            Err(StartError::WithoutFirstPartition(first.clone()))
        }
        _ => Ok(()),
    }
}

/// The line to the other nodes of the cluster, for the server with the doors.
pub(super) fn line(
    settings: &Settings,
    cluster: Option<&Cluster>,
    gate: Gate,
    (doors, known): (Vec<(&'static str, SocketAddr)>, KnownNodes),
) -> Result<Option<OtherNodes>, StartError> {
    let (Some(log), Some(cluster)) = (&settings.cluster, cluster) else {
        return Ok(None);
    };
    let partitions = match settings.partitions.is_empty() {
        true => vec![log.partition.clone()],
        false => settings.partitions.clone(),
    };
    if partitions.first() != Some(&log.partition) {
        return Ok(None);
    }
    let held = partitions.iter().filter(|name| holds(settings, name));
    let held: Vec<NodeName> = held.cloned().collect();
    let own = Announcement {
        node: log.node.to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        holds: held.iter().map(ToString::to_string).collect(),
        addresses: announced(settings, &doors),
    };
    let names = partitions.iter().map(NodeName::as_str);
    let founding = PartitionFounding::of(PartitionNumber::FIRST, names);
    let share = NodeShare {
        list: founding.map_or(0, |founding| founding.list),
        partitions,
    };
    // All nodes hold the first partition, so that nobody asks another one for it.
    let asked = held.into_iter().skip(1).collect();
    let line = NodeLine::open(log, cluster.run_number(), asked, move || gate.wake());
    let line = line.map_err(StartError::System)?;
    Ok(Some(OtherNodes::new(line, share, (own, known))))
}

/// Where clients reach the doors, as far as that is known.
fn announced(
    settings: &Settings,
    doors: &[(&'static str, SocketAddr)],
) -> BTreeMap<String, String> {
    let reached = |(door, address): &(&'static str, SocketAddr)| {
        let address = match &settings.node_host {
            Some(host) if host.contains(':') => format!("[{host}]:{}", address.port()),
            Some(host) => format!("{host}:{}", address.port()),
            None if address.ip().is_unspecified() => return None,
            None => address.to_string(),
        };
        Some(((*door).to_owned(), address))
    };
    doors.iter().filter_map(reached).collect()
}

/// What the state of this node is to be, if its cluster has several partitions.
fn founding_of(settings: &Settings) -> Option<PartitionFounding> {
    let names = &settings.partitions;
    let own = &settings.cluster.as_ref()?.partition;
    let number = names.iter().position(|name| name == own)?;
    let number = PartitionNumber::new(u8::try_from(number).ok()?)?;
    PartitionFounding::of(number, names.iter().map(NodeName::as_str))
}

/// The log of a node, opened behind what its directory has.
pub(super) type NodeLog = Option<turnstile_jetstream::SharedLog>;

/// Brings the directory to where its cluster can go on from it, if the server is to be a node of one.
pub(super) fn recover(
    settings: &Settings,
    (backend, found): (Embedded, Recovery),
    gate: &Gate,
    loading: &Loading,
) -> Result<(Embedded, Recovery, NodeLog), NotJoined> {
    if let Some(start) = start_of(settings, loading) {
        let recovered = start.recover((backend, found), gate)?;
        let (backend, found, log) = recovered.into_parts();
        return Ok((backend, found, Some(log)));
    }
    let state = backend.sequencer().state();
    if state.shared().is_some() || state.partition().is_some() {
        return Err(NotJoined::LeftBehind);
    }
    Ok((backend, found, None))
}

/// Joins the cluster, if there is a log.
pub(super) fn join(
    settings: &Settings,
    (log, found): (NodeLog, &mut Recovery),
    backend: &mut Embedded,
    (gate, loading): (Gate, &Loading),
) -> Result<Option<Cluster>, NotJoined> {
    let (Some(start), Some(log)) = (start_of(settings, loading), log) else {
        return Ok(None);
    };
    start.join((log, found), backend, gate).map(Some)
}

fn start_of<'a>(settings: &'a Settings, loading: &'a Loading) -> Option<NodeStart<'a>> {
    Some(NodeStart {
        settings: settings.cluster.as_ref()?,
        directory: settings.data.as_deref()?,
        storage: node_storage(settings),
        loading,
        rules: ClusterRules {
            travel: settings.travel,
            games: settings.games,
        },
        founding: founding_of(settings),
    })
}

/// How the journal is kept: that of a node is a copy of the log.
pub(super) fn node_storage(settings: &Settings) -> Options {
    let mut storage = settings.storage;
    if settings.cluster.is_some() {
        storage.durability = Durability::Cluster;
    }
    storage
}
