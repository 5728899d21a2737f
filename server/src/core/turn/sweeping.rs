//! What happens about once a second: connections end that have been silent, deaf or half heard for too
//! long.

use super::{Accepting, FastLoop};
use crate::{
    core::{connection::Expired, conversation::DoorSet},
    limits::SWEEP,
};

impl<D: DoorSet> FastLoop<D> {
    /// About once a second: ends connections that have been silent, deaf or half heard for too long.
    pub(super) fn sweep(&mut self) {
        let now_ms = self.engine.now().0;
        // A clock that was set back begins a new second as well.
        if now_ms.abs_diff(self.swept_ms) < u64::try_from(SWEEP.as_millis()).unwrap_or(u64::MAX) {
            return;
        }
        self.swept_ms = now_ms;
        self.sweep = self.sweep.wrapping_add(1);
        if self.accepting == Accepting::NextSweep {
            self.accepting = Accepting::NextTurn;
        }
        self.engine.meters.sweep();
        let mut told = Vec::new();
        for place in self.connections.places() {
            let Some(connection) = self.connections.get_mut(place) else {
                continue;
            };
            match connection.expire(self.sweep, &self.limits, &self.engine) {
                // What it follows waits until it is paid for, perhaps no longer.
                Expired::No if connection.is_held_back() => told.push(place),
                Expired::No => {}
                Expired::Told => told.push(place),
                Expired::Gone => self.close(place),
            }
        }
        self.send_told(told);
    }
}
