//! What a change of keys and rights means for those who are connected.

use std::sync::Arc;

use super::FastLoop;
use crate::core::{
    caller::Caller,
    conversation::{ClientProof, DoorSet, FastDoor},
};

impl<D: DoorSet> FastLoop<D> {
    /// Whether the callers of a door cannot be told from others, in a directory with keys.
    pub(super) fn serves_nobody(&self, door: &FastDoor, caller: &Caller) -> bool {
        let is_loading = self.engine.recovery().is_some();
        let may_prove_it = door.proof == ClientProof::Key || self.tls.is_some();
        !may_prove_it && !is_loading && caller.is_stranger(self.engine.access())
    }

    /// Tells everybody of the keys and rights that this turn has changed. Whoever has lost those for what
    /// it does is closed when it has its answers; the thread of HTTP gets a copy.
    pub(super) fn heed_access(&mut self) {
        let generation = self.engine.access().generation();
        if self.heeded == Some(generation) {
            return;
        }
        self.heeded = Some(generation);
        let access = Arc::new(self.engine.access().clone());
        self.engine.meters.renew(Arc::clone(&access));
        self.inbox.publish(access);
        let now = self.engine.now();
        for place in self.connections.places() {
            if let Some(connection) = self.connections.get_mut(place) {
                connection.renew((self.engine.access(), &self.engine.meters), now);
                if connection.is_owed() {
                    self.open.places.push(place);
                }
            }
            self.note_stranger(place);
        }
    }
}
