//! The settings by which all nodes of a cluster play travel and games: those with which it began.

use std::fmt;

use turnstile_embedded::{Embedded, UnsoundSettings};
use turnstile_games::Games;
use turnstile_record::{Record, SharedEntry};
use turnstile_replica::NotApplied;
use turnstile_travel::Travel;
use turnstile_types::{Machine as _, Timestamp};

use super::{Cluster, ClusterEnded};

/// What a node is configured to play by; nothing where it takes what it finds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClusterRules {
    pub(crate) travel: Option<turnstile_travel::Settings>,
    pub(crate) games: Option<turnstile_games::Settings>,
}

/// A node is configured to play a service by other settings than its cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferentSettings {
    service: &'static str,
    here: String,
    there: String,
}

impl fmt::Display for DifferentSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            service,
            here,
            there,
        } = self;
        write!(
            f,
            "the cluster began with other settings of {service}, which hold for all nodes for good: it has \
             {there}, and this node is configured with {here}"
        )
    }
}

impl std::error::Error for DifferentSettings {}

impl DifferentSettings {
    /// The same, seen from there.
    fn reversed(self) -> Self {
        Self {
            here: self.there,
            there: self.here,
            ..self
        }
    }
}

impl ClusterRules {
    /// Those that a state is played by.
    fn of_state(backend: &Embedded) -> Self {
        Self {
            travel: Some(*backend.machine::<Travel>().settings()),
            games: Some(*backend.machine::<Games>().settings()),
        }
    }

    /// Those that records say.
    fn of_records<'a>(records: impl Iterator<Item = Record<'a>>) -> Self {
        let mut rules = Self::default();
        for record in records {
            match record.service {
                Travel::SERVICE => {
                    if let Ok(turnstile_travel::Command::Configure(settings)) =
                        Travel::decode_command(record.payload)
                    {
                        rules.travel = Some(settings);
                    }
                }
                Games::SERVICE => {
                    if let Ok(turnstile_games::Command::Configure(settings)) =
                        Games::decode_command(record.payload)
                    {
                        rules.games = Some(settings);
                    }
                }
                _ => {}
            }
        }
        rules
    }

    /// Says the rules of a state in the first entry of a cluster, so that a node with others can name both.
    pub(super) fn say_first(cluster: &mut Cluster, backend: &Embedded, now: Timestamp) {
        let rules = Self::of_state(backend);
        let at = (now, backend.sequencer().state());
        if let Some(settings) = rules.travel {
            let mut payload = Vec::new();
            let command = turnstile_travel::Command::Configure(settings);
            Travel::encode_command(&command, &mut payload);
            cluster.note(at, (Travel::SERVICE, payload));
        }
        if let Some(settings) = rules.games {
            let mut payload = Vec::new();
            let command = turnstile_games::Command::Configure(settings);
            Games::encode_command(&command, &mut payload);
            cluster.note(at, (Games::SERVICE, payload));
        }
    }

    /// Asserts that a state that has begun is played by these rules.
    ///
    /// # Errors
    /// It is played by others.
    pub(super) fn judge(&self, backend: &Embedded) -> Result<(), DifferentSettings> {
        let (travel, games) = (backend.machine::<Travel>(), backend.machine::<Games>());
        let compared = self
            .travel
            .map(|here| compare_travel(&here, travel.settings()));
        compared.unwrap_or(Ok(()))?;
        let compared = self
            .games
            .map(|here| compare_games(&here, games.settings()));
        compared.unwrap_or(Ok(()))
    }

    /// Configures a state that is to begin with these rules. An arena without scores is known to them by
    /// this number.
    ///
    /// # Errors
    /// Travel or games cannot be played so.
    pub(super) fn begin(&self, backend: &mut Embedded, arena: u64) -> Result<(), UnsoundSettings> {
        if let Some(travel) = self.travel {
            backend.configure_travel(travel)?;
        }
        if let Some(games) = self.games {
            backend.configure_games(turnstile_games::Settings { arena, ..games })?;
        }
        Ok(())
    }
}

/// Why the first entry is of another installation, as far as it says: the node that began the cluster has
/// put its settings there.
pub(super) fn other_installation(backend: &Embedded, entry: &[u8]) -> ClusterEnded {
    let found = SharedEntry::parse(entry).map(|entry| ClusterRules::of_records(entry.records()));
    let judged = found.map_or(Ok(()), |found| found.judge(backend));
    judged.map_or_else(
        |found| ClusterEnded::OtherSettings(found.reversed()),
        |()| ClusterEnded::NotApplied(NotApplied::OtherInstallation),
    )
}

fn compare_travel(
    here: &turnstile_travel::Settings,
    there: &turnstile_travel::Settings,
) -> Result<(), DifferentSettings> {
    let said = |settings: &turnstile_travel::Settings| {
        [
            ("lifetime_ms", settings.lifetime_ms.to_string()),
            ("wait_ms", settings.wait_ms.to_string()),
            ("detect_deadlocks", settings.detect_deadlocks.to_string()),
        ]
    };
    compare("travel", &said(here), &said(there))
}

/// The number of an arena is not compared: it is not configured.
fn compare_games(
    here: &turnstile_games::Settings,
    there: &turnstile_games::Settings,
) -> Result<(), DifferentSettings> {
    let said = |settings: &turnstile_games::Settings| {
        let roles = settings.roles;
        let role = match (roles.arena, roles.scores) {
            (true, true) => "all",
            (true, false) => "arena",
            (false, _) => "scores",
        };
        [
            ("travel.role", role.to_owned()),
            ("move_ms", settings.move_ms.to_string()),
            ("grace_ms", settings.grace_ms.to_string()),
            ("claim_ms", settings.claim_ms.to_string()),
        ]
    };
    compare("games", &said(here), &said(there))
}

/// Names what is different.
fn compare(
    service: &'static str,
    here: &[(&str, String)],
    there: &[(&str, String)],
) -> Result<(), DifferentSettings> {
    if here == there {
        return Ok(());
    }
    let different = |these: &[(&str, String)], others: &[(&str, String)]| {
        let pairs = these.iter().zip(others);
        let different = pairs.filter(|(this, other)| this != other);
        let named: Vec<_> = different
            .map(|((name, value), _)| format!("{name} = {value}"))
            .collect();
        named.join(", ")
    };
    Err(DifferentSettings {
        service,
        here: different(here, there),
        there: different(there, here),
    })
}
