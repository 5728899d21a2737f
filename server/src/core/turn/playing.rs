//! What clients have said that concerns other connections.

use super::FastLoop;
use crate::core::conversation::{DoorSet, Errand};

impl<D: DoorSet> FastLoop<D> {
    /// Settles what those who have gone have left. Whoever goes while the server ends has not left a
    /// game: it is the server that goes.
    pub(super) fn see_off(&mut self) {
        if self.farewell.is_none() {
            self.doors.see_off(&mut self.engine);
        }
        self.run_errands();
    }

    pub(super) fn run_errands(&mut self) {
        if !self.doors.is_busy() {
            return;
        }
        let mut dropped = 0;
        let mut errands = self.doors.take_errands();
        for errand in errands.drain(..) {
            let (Errand::Send { place, .. }
            | Errand::Acknowledge { place }
            | Errand::Close { place }) = errand;
            let Some(connection) = self.connections.get_mut(place) else {
                continue;
            };
            match errand {
                Errand::Send { parcel, .. } => dropped += u64::from(connection.put_parcel(&parcel)),
                Errand::Acknowledge { .. } => connection.acknowledge(),
                Errand::Close { .. } => connection.close(),
            }
            self.open.places.push(place);
        }
        self.doors.keep_room(errands);
        if let Some(dropped) = self.deaf_players.count(dropped) {
            tracing::info!(dropped, "players dropped: they do not read");
        }
    }
}
