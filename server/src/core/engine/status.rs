//! What there is in each service, and how the server is.

use std::time::Duration;

use turnstile_embedded::Services;
use turnstile_travel::PerDesk;
use turnstile_types::Hosts;

use super::Engine;
use crate::core::{
    gate::{ServerStatus, TotalsOfServices},
    node_status::ClusterStatus,
    remote::Housed,
    waiting_room::WaitingRoom,
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
    /// The totals of a service; where a database decides, as it last told them, if it ever did.
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
        totals.unwrap_or_default()
    }

    /// How it stands in its cluster, if it is a node of one.
    pub(crate) fn cluster_status(&self) -> Option<ClusterStatus> {
        let cluster = self.cluster.as_ref()?;
        Some(cluster.status(self.backend.sequencer().state()))
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
