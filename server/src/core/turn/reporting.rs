//! The connection that the doors dial: dialing it, and putting what it is to be told where it is sent
//! from.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use super::FastLoop;
use crate::core::{
    caller::Caller,
    conversation::{Dialed, DoorSet},
};

impl<D: DoorSet> FastLoop<D> {
    /// Puts what the peer has not acknowledged among what the open group owes.
    pub(super) fn report(&mut self) {
        let Some(dialed) = self.doors.dialed() else {
            return;
        };
        if !self.engine.backend().has_started() {
            return;
        }
        let now = Instant::now();
        if let Some(address) = dialed.dials(now).filter(|_| self.farewell.is_none()) {
            self.dial(address, now);
        }
        let Some(dialed) = self.doors.dialed_mut() else {
            return;
        };
        let Some(place) = dialed.place() else { return };
        let Some(connection) = self.connections.get_mut(place) else {
            return;
        };
        let owed = connection.owed();
        let engine = &self.engine;
        if connection.say(|out| dialed.put(engine, owed, out)) {
            self.open.places.push(place);
        }
    }

    fn dial(&mut self, address: SocketAddr, now: Instant) {
        let dialed = self.connect(address);
        let place = dialed
            .ok()
            .and_then(|(socket, secure)| self.admit(socket, secure, (D::dial(), Caller::server())));
        let Some(dialed) = self.doors.dialed_mut() else {
            return;
        };
        match place.and_then(|place| Some((place, self.connections.get_mut(place)?))) {
            Some((place, connection)) => {
                connection.say(|out| dialed.begin(place, out));
                self.open.places.push(place);
            }
            None => dialed.lose(now),
        }
    }

    /// How long the loop may sleep before it dials.
    pub(super) fn until_report(&self) -> Option<Duration> {
        let dialed = self.doors.dialed()?;
        let may_dial = self.farewell.is_none() && self.engine.recovery().is_none();
        dialed.until_due(Instant::now()).filter(|_| may_dial)
    }
}
