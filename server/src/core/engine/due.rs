//! What is due: at the start of a turn it happens, and the loop wakes up for it.

use std::time::{Duration, Instant};

use turnstile_embedded::ExecuteError;

use super::Engine;
use crate::{core::cluster::other_nodes::OtherNodes, limits::FULL_DISK_REST};

impl Engine {
    /// Reads the clock for this turn and lets happen what is due.
    pub(crate) fn begin_turn(&mut self) {
        self.since = Instant::now();
        self.stopwatch.begin(self.since);
        self.notes.begin_turn(self.since);
        self.time_slice.begin_turn();
        self.now = self.clock.read();
        if self.cluster.is_some() {
            // What is due happens by an entry, everywhere at the same place.
            return;
        }
        match self.backend.tick(self.now) {
            Ok(()) if self.rest.is_zero() => {}
            Ok(()) => {
                self.rest = Duration::ZERO;
                self.fullness.end();
            }
            Err(ExecuteError::ReadOnly) => {
                self.rest = FULL_DISK_REST;
                self.fullness
                    .begin(self.backend.sequencer().log().shortage());
            }
            Err(refused) => self.note(Some(refused)),
        }
    }

    /// How long the loop may sleep before something is due.
    pub(crate) fn until_due(&self) -> Option<Duration> {
        let due = self.backend.deadline();
        let due = match &self.cluster {
            Some(cluster) => cluster.deadline(due),
            None => due,
        };
        let nodes = self.nodes.as_ref().map(OtherNodes::deadline);
        let due = [due, nodes].into_iter().flatten().min()?;
        let wait = Duration::from_millis(due.ms_since(self.clock.peek()));
        Some(wait.max(self.rest))
    }

    /// Whether what is due found no room on the disk and waits until it is tried again.
    #[cfg(test)]
    pub(crate) const fn rests(&self) -> bool {
        !self.rest.is_zero()
    }
}
