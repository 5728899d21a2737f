//! A node is drained: nobody new, and everybody who is there gets what they are owed and is closed.

use super::FastLoop;
use crate::core::conversation::{Conversation as _, DoorSet};

impl<D: DoorSet> FastLoop<D> {
    /// Sees all clients off, once an operator has asked for it: the doors are closed, what has come is
    /// answered, and then each connection is closed from this side. Whoever drains the node stays.
    pub(super) fn drain(&mut self) {
        if self.has_drained || !self.signals.is_draining() {
            return;
        }
        self.has_drained = true;
        tracing::info!("the node is drained: its clients are seen off");
        self.listeners.clear();
        for place in self.connections.places() {
            let Some(connection) = self.connections.get_mut(place) else {
                continue;
            };
            if connection.conversation().outlasts_drain() {
                continue;
            }
            connection.last_call();
            if !connection.queued {
                connection.queued = true;
                self.ready.push_back(place);
            }
        }
    }
}
