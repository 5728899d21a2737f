//! What the hall has for the connections of players.

use super::FastLoop;
use crate::doors::arena::hall::Errand;

impl FastLoop {
    /// Settles what those who have gone have left. Whoever goes while the server ends has not left a
    /// game: it is the server that goes.
    pub(super) fn see_off(&mut self) {
        if self.farewell.is_none() {
            self.hall.see_off(&mut self.engine);
        }
        self.run_errands();
    }

    pub(super) fn run_errands(&mut self) {
        if !self.hall.is_busy() {
            return;
        }
        let mut dropped = 0;
        let mut errands = self.hall.take_errands();
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
        self.hall.keep_room(errands);
        if let Some(dropped) = self.deaf_players.count(dropped) {
            tracing::info!(dropped, "players who do not read were dropped");
        }
    }
}
