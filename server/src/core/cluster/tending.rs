//! What a node says of its own accord, and what it does about snapshots and the room of its log.

use turnstile_embedded::{Embedded, Services};
use turnstile_jetstream::{LogExtent, Sequence};
use turnstile_record::{RecordRef, SERVICE_ENGINE};
use turnstile_replica::StreamRoom;
use turnstile_sequencer::{SharedPlace, SnapshotStep, State};
use turnstile_types::{Author, Principal, Timestamp};

use super::{Cluster, ClusterAsker};

impl Cluster {
    /// Does what the last entry asks of this node about snapshots.
    pub(super) fn heed_snapshots(&mut self, backend: &mut Embedded) {
        let Some(place) = backend.sequencer().state().shared() else {
            return;
        };
        if self.kept == Some(place.snapshots.newest_sequence()) {
            self.kept = None;
            if let Some(older) = place.snapshots.older() {
                self.keeper.forget_below(older.sequence);
            }
        }
        let duty = self.duty.as_mut();
        if duty.is_some_and(|duty| duty.entered(place)) {
            let place = place.clone();
            self.keeper.keep(backend, place);
        }
    }

    /// What the log holds and may hold.
    pub(super) fn room(&self) -> StreamRoom {
        let LogExtent { first, last, bytes } = self.log.extent();
        StreamRoom {
            first: first.0,
            last: last.0,
            bytes,
            bytes_max: self.bytes_max,
        }
    }

    /// Whether all was applied that was in the log when this node began to ask.
    pub(crate) const fn has_caught_up(&self) -> bool {
        self.duty.is_some()
    }

    /// Whether entries were left for the next turn.
    pub(crate) const fn has_more(&self) -> bool {
        self.has_more
    }

    /// Proposes an entry without records, unless one is on its way: when it is applied, all is that was
    /// there before. It waits for what was there when this run began.
    pub(crate) fn ask_whether_all_is_there(&mut self, now: Timestamp, state: &State<Services>) {
        let applied = state.shared().map_or(0, |place| place.sequence);
        if applied >= self.replica.run().after
            && self.replica.under_way() == 0
            && let Ok(put) = self.replica.put((now, state), &[])
        {
            self.replica.wait(put, [(ClusterAsker::Nobody, 0)]);
        }
    }

    /// Says what there is to say about snapshots, and lets entries go that nobody needs.
    pub(super) fn tell_snapshots(&mut self, now: Timestamp, state: &State<Services>) {
        let room = self.room();
        let Some(duty) = &mut self.duty else {
            return;
        };
        let is_ready = |place: &&SharedPlace| place.takes_snapshot_steps();
        let Some(place) = state.shared().filter(is_ready) else {
            return;
        };
        let now = now.max(state.time());
        let step = duty.tell(now, place, room);
        let below = duty.purge_below(place, now, room);
        if let Some(step) = step {
            self.put_step((now, state), step);
        }
        if let Some(below) = below
            && let Err(full) = self.log.purge_below(Sequence(below))
        {
            tracing::debug!(%full, "entries stay in the log until the next snapshot");
        }
    }

    /// Has a command of the server itself decided, of this service and as these bytes. Nobody waits for an
    /// answer.
    pub(crate) fn note(
        &mut self,
        at: (Timestamp, &State<Services>),
        (service, payload): (u8, Vec<u8>),
    ) {
        let asker = |payload| ClusterAsker::Note(service, payload);
        self.put_own(at, (service, payload), asker);
    }

    /// A step that comes to nothing is not proposed again: what there is to do is judged anew.
    fn put_step(&mut self, at: (Timestamp, &State<Services>), step: SnapshotStep) {
        tracing::info!(?step, "snapshots in the store");
        let nobody = |_payload| ClusterAsker::Nobody;
        self.put_own(at, (SERVICE_ENGINE, step.bytes()), nobody);
    }

    fn put_own(
        &mut self,
        at: (Timestamp, &State<Services>),
        (service, payload): (u8, Vec<u8>),
        asker: impl FnOnce(Vec<u8>) -> ClusterAsker,
    ) {
        let principal = Principal::local();
        let record = RecordRef {
            service,
            author: Author::server(&principal),
            key: None,
            payload: &payload,
        };
        if let Ok(put) = self.replica.put(at, &[record]) {
            self.replica.wait_patiently(put, asker(payload));
        }
    }
}
