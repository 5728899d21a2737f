//! What there is in each service, and how the server is.

use std::time::Duration;

use serde_json::{Value, json};
use turnstile_embedded::Services;
use turnstile_travel::PerDesk;
use turnstile_types::Hosts;

use super::Engine;
use crate::{
    core::{
        gate::{ServerStatus, TotalsOfServices},
        node_status::ClusterStatus,
        partitions::{PartitionFigures, PartitionLine, Partitions},
        remote::Housed,
        waiting_room::WaitingRoom,
    },
    counters::DoorName,
};

macro_rules! totals {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        impl Engine {
            fn totals_of_services(&self) -> TotalsOfServices {
                TotalsOfServices {
                    $($name: self.totals::<turnstile_services::$name::$machine>(),)+
                }
            }
        }
    };
}

turnstile_services::services!(totals);

impl Engine {
    /// The totals of a service in all partitions; where a database or another partition decides, as it last
    /// told them, if it ever did.
    pub(crate) fn totals<M: Housed>(&self) -> M::Totals
    where
        Services: Hosts<M>,
    {
        let totals = match M::remote(&self.remotes) {
            None => {
                let (now, principal) = (self.now, &self.caller.principal);
                M::totals_of(&self.backend.query::<M>(now, principal, &M::TOTALS))
            }
            Some(remote) => remote.known().totals.as_ref().and_then(M::totals_of),
        };
        let mut totals = totals.unwrap_or_default();
        let lines = self.partitions.iter().flat_map(Partitions::lines);
        for figures in lines.filter_map(PartitionLine::figures) {
            M::add_totals(&mut totals, M::totals_in(&figures.totals));
        }
        totals
    }

    /// How its partition stands.
    pub(crate) fn partition_figures(&self) -> PartitionFigures {
        PartitionFigures {
            position: self.backend.sequencer().state().position(),
            cluster: self.cluster_status().unwrap_or_default(),
            totals: self.totals_of_services(),
        }
    }

    /// How it stands in its cluster, if it is a node of one.
    pub(crate) fn cluster_status(&self) -> Option<ClusterStatus> {
        let cluster = self.cluster.as_ref()?;
        Some(cluster.status(self.backend.sequencer().state()))
    }

    /// How a node stands in its cluster, for its operators; nothing where there is no cluster.
    pub(crate) fn cluster_report(&self, is_draining: bool) -> Option<Value> {
        let cluster = self.cluster.as_ref()?;
        let mut report = cluster.report(self.backend.sequencer().state(), self.now);
        let backend = self.backend.status();
        let state = if is_draining {
            "drains"
        } else if self.fullness.is_full() {
            "read_only"
        } else {
            "serves"
        };
        let over_http = self.counters.of(DoorName::Http).open.get();
        let open = self.counters.sum(|door| &door.open) - over_http;
        report.insert("state".to_owned(), state.into());
        report.insert("position".to_owned(), backend.position.0.into());
        report.insert("snapshot".to_owned(), backend.snapshot.0.into());
        report.insert("connections".to_owned(), open.into());
        report.insert("http_connections".to_owned(), over_http.into());
        if let Some(nodes) = &self.nodes {
            let known = report.get_mut("nodes").and_then(Value::as_array_mut);
            for other in known.into_iter().flatten().filter_map(Value::as_object_mut) {
                let name = other.get("node").and_then(Value::as_str).map(str::to_owned);
                nodes.known().complete(&name.unwrap_or_default(), other);
            }
            report.insert("holds".to_owned(), json!(nodes.own().holds));
            report.insert("addresses".to_owned(), json!(nodes.own().addresses));
        }
        Some(Value::Object(report))
    }

    pub(crate) fn status(&self) -> ServerStatus {
        let backend = self.backend.status();
        let age_ms = |oldest| self.now.ms_since(oldest);
        ServerStatus {
            cluster: self.cluster_status(),
            key_age: Duration::from_millis(backend.keys.oldest.map_or(0, age_ms)),
            backend,
            totals: self.totals_of_services(),
            lines: PerDesk::each(|desk| self.line(desk)),
            databases: self.remotes.status(),
            uptime: Duration::from_secs(self.now.ms_since(self.began) / 1_000),
            read_only: self.fullness.is_full(),
            waiting_room: self
                .waiting_room
                .as_ref()
                .map(WaitingRoom::length)
                .unwrap_or_default(),
            clock: self.clock.status(),
        }
    }
}
