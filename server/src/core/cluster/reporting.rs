//! How a node stands in its cluster, for its operators, and what they ask of its brokers.

use serde_json::{Map, Value, json};
use turnstile_embedded::Services;
use turnstile_jetstream::Backlogged;
use turnstile_record::ENTRY_VERSION;
use turnstile_sequencer::{SharedPlace, State};
use turnstile_types::Timestamp;

use super::Cluster;

impl Cluster {
    pub(crate) fn node_name(&self) -> &str {
        self.node.as_str()
    }

    /// Asks the broker that leads the log to leave that to another, as soon as the brokers can be reached.
    ///
    /// # Errors
    /// Too much is on its way to the brokers.
    pub(crate) fn step_down(&mut self) -> Result<(), Backlogged> {
        self.log.step_down()
    }

    /// How it stands behind this state, and what it knows of the others.
    pub(crate) fn report(&self, state: &State<Services>, now: Timestamp) -> Map<String, Value> {
        let status = self.status(state);
        let [_, (_, broker), (_, leader)] = self.names();
        let place = state.shared();
        let known = place.into_iter().flat_map(SharedPlace::servers);
        let nodes: Vec<Value> = known
            .map(|known| {
                let (entry, heard) = known.heard;
                let name = known.node.as_str();
                json!({
                    "node": name,
                    "run": known.incarnation,
                    "reads": known.reads,
                    "entry": entry,
                    "silent_ms": now.ms_since(heard),
                    "agrees": (name == self.node.as_str()).then_some(true)
                        .or_else(|| self.replica.agrees(&known.node)),
                })
            })
            .collect();
        let report = json!({
            "node": self.node.as_str(),
            "version": env!("CARGO_PKG_VERSION"),
            "run": self.replica.run().incarnation,
            "entry": status.entry,
            "lag": status.lag,
            "under_way": status.under_way,
            "epoch": place.map_or(0, |place| place.epoch.0),
            "chain": format!("{:016x}", place.map_or(0, |place| place.chain)),
            "entry_version": place.map_or(1, SharedPlace::version),
            "reads": ENTRY_VERSION,
            "broker": broker,
            "leader": leader,
            "taking": status.is_taking,
            "disputed": status.is_disputed,
            "nodes": nodes,
        });
        match report {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }
}
