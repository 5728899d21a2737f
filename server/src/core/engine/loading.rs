//! The engine while the journal is recovered: it has an empty back end, which nobody may ask.

use std::{sync::Arc, time::Instant};

use turnstile_embedded::{Embedded, LogThread};
use turnstile_rooms::IdKey;

use super::Engine;
use crate::{
    core::{
        clock::{self, DecisionClock},
        cluster::{Cluster, other_nodes::OtherNodes},
        fault_points::FaultPoints,
        loading::Loading,
        pace::OverlapPolicy,
        partitions::Partitions,
        remote::Remotes,
    },
    counters::Counters,
};

/// What a recovery brings.
pub(crate) struct RecoveredEngine {
    pub(crate) backend: Embedded,
    /// That of the state: of the directory, or of the database of rooms.
    pub(crate) id_key: IdKey,
    pub(crate) remotes: Remotes,
    pub(crate) cluster: Option<Cluster>,
    pub(crate) partitions: Option<Partitions>,
    pub(crate) nodes: Option<OtherNodes>,
    pub(crate) fault_points: FaultPoints,
}

impl Engine {
    /// An engine without services: they come with [`take_up`](Self::take_up).
    pub(crate) fn loading(
        nothing: Embedded,
        counters: Arc<Counters>,
        verhoeff: bool,
        resp_port: u16,
        loading: Arc<Loading>,
    ) -> Self {
        Self {
            loading: Some(loading),
            ..Self::new(nothing, counters, verhoeff, resp_port)
        }
    }

    /// Decides by this back end from now on.
    ///
    /// # Panics
    /// It has one already.
    pub(crate) fn take_up(&mut self, recovered: RecoveredEngine) {
        let loading = self.loading.take().expect("a server recovers once");
        let RecoveredEngine {
            backend,
            id_key,
            remotes,
            cluster,
            partitions,
            nodes,
            fault_points,
        } = recovered;
        self.id_key = id_key.clone();
        self.handed_over = backend.sequencer().state().position().0;
        self.sent_ahead = backend.sequencer().sent_ahead();
        self.pace = (backend.status().log_thread != LogThread::None).then(OverlapPolicy::default);
        (self.remotes, self.fault_points) = (remotes, fault_points);
        (self.cluster, self.partitions, self.nodes) = (cluster, partitions, nodes);
        // Before, it knew of no logged time.
        self.clock = DecisionClock::start(backend.status().time, clock::system);
        self.backend = backend;
        loading.finish(id_key);
    }

    /// The recovery, while it goes on.
    pub(crate) const fn recovery(&self) -> Option<&Arc<Loading>> {
        self.loading.as_ref()
    }

    /// Reads the clock of a turn in which nothing is decided.
    pub(crate) fn begin_idle_turn(&mut self) {
        self.since = Instant::now();
        self.notes.begin_turn(self.since);
        self.time_slice.begin_turn();
        self.now = self.clock.read();
    }
}

#[cfg(test)]
mod tests {
    use turnstile_embedded::{Durability, Options};
    use turnstile_rooms::{Command, Rooms};
    use turnstile_types::{Author, Name, Principal, Timestamp};

    use super::*;

    #[test]
    fn time_goes_on_from_the_last_logged_time_that_was_recovered() {
        let directory = tempfile::tempdir().unwrap();
        let later = Timestamp(4_102_444_800_000);
        let opened = Embedded::open(Some(directory.path()), Options::with(Durability::Os));
        let (mut backend, _) = opened.unwrap();
        let command = Command::AddProperty {
            property: Name::parse(b"p").unwrap(),
            open: true,
        };
        let taken = backend.execute::<Rooms>(
            later,
            Author::unknown(&Principal::local()),
            None,
            &command,
            None,
        );
        taken.unwrap();
        backend.commit().unwrap();
        let nothing = Embedded::open(None, Options::with(Durability::Memory));
        let loading = Arc::new(Loading::begin());
        let mut engine = Engine::loading(nothing.unwrap().0, Arc::default(), false, 0, loading);
        engine.begin_idle_turn();
        assert!(engine.now() < later, "nothing is known of the directory");
        engine.take_up(RecoveredEngine {
            id_key: backend.id_key().clone(),
            backend,
            remotes: Remotes::default(),
            cluster: None,
            partitions: None,
            nodes: None,
            fault_points: FaultPoints::new(false, None),
        });
        engine.begin_turn();
        assert!(engine.now() >= later, "logged time does not go back");
    }
}
