//! A server that is to be a node of a cluster: what it may be configured as, and how it joins.

use turnstile_embedded::Embedded;
use turnstile_games::Games;
use turnstile_travel::Travel;

use crate::{
    Settings, StartError,
    core::{
        cluster::{self, Cluster, NotJoined},
        gate::Gate,
    },
};

/// Asserts that a node of a cluster has nothing that would be decided here alone.
pub(super) fn judge_settings(settings: &Settings) -> Result<(), StartError> {
    if settings.cluster.is_none() {
        return Ok(());
    }
    let alone = [
        ("storage.durability = \"memory\"", settings.data.is_none()),
        ("rooms.backend", settings.databases.rooms.is_some()),
        ("exchange.backend", settings.databases.exchange.is_some()),
        ("the travel door", settings.lines.is_some()),
        ("the games-arena door", settings.duels.arena.is_some()),
        ("the games-scores door", settings.duels.scores.is_some()),
        ("scores", settings.duels.tells.is_some()),
        ("the desk door", settings.peers.door.is_some()),
        ("desks", !settings.peers.desks.is_empty()),
        ("a waiting room", settings.limits.waiting_room.is_some()),
    ];
    match alone.into_iter().find(|(_, is_wanted)| *is_wanted) {
        Some((what, _)) => Err(StartError::NotInCluster { what }),
        None => Ok(()),
    }
}

/// Joins the cluster, if the server is to be a node of one.
pub(super) fn join(
    settings: &Settings,
    backend: &mut Embedded,
    gate: Gate,
) -> Result<Option<Cluster>, NotJoined> {
    match (&settings.cluster, &settings.data) {
        (Some(log), Some(directory)) => {
            judge_rules(settings, backend)?;
            cluster::join(log, directory, backend, gate).map(Some)
        }
        _ if backend.sequencer().state().shared().is_some() => Err(NotJoined::LeftBehind),
        _ => Ok(None),
    }
}

/// Asserts that this node would play by the same rules as the others.
fn judge_rules(settings: &Settings, backend: &Embedded) -> Result<(), NotJoined> {
    let (travel, games) = (backend.machine::<Travel>(), backend.machine::<Games>());
    let is_same = |games_wanted| {
        let arena = games.settings().arena;
        turnstile_games::Settings {
            arena,
            ..games_wanted
        } == *games.settings()
    };
    if settings
        .travel
        .is_some_and(|wanted| wanted != *travel.settings())
    {
        return Err(NotJoined::Settings { service: "travel" });
    }
    if !settings.games.is_none_or(is_same) {
        return Err(NotJoined::Settings { service: "games" });
    }
    Ok(())
}
