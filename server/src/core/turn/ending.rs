//! The end of the loop: nobody new, and everybody who is there gets what they are owed.

use std::time::Instant;

use super::FastLoop;
use crate::core::{connection::Connection, conversation::DoorSet};

impl<D: DoorSet> FastLoop<D> {
    /// Begins or goes on with the end: nobody new is accepted, whoever is there is read once more
    /// and answered. Answers whether nothing is left to do.
    pub(super) fn say_farewell(&mut self) -> bool {
        let end = *self.farewell.get_or_insert_with(|| {
            self.listeners.clear();
            for place in self.connections.places() {
                if let Some(connection) = self.connections.get_mut(place) {
                    connection.last_call();
                    if !connection.queued {
                        connection.queued = true;
                        self.ready.push_back(place);
                    }
                }
            }
            Instant::now() + self.limits.farewell
        });
        let everybody_left = self.connections.iter().all(Connection::is_told);
        let others_ended = self.signals.have_others_ended();
        let nobody_asks = self.ready.is_empty() && !self.asks_wait;
        let nobody_waits =
            self.open.is_empty() && self.under_way.is_empty() && !self.engine.is_open();
        let no_node_waits = !self.engine.owes_nodes();
        let is_done =
            everybody_left && others_ended && nobody_asks && nobody_waits && no_node_waits;
        is_done || Instant::now() >= end
    }
}
