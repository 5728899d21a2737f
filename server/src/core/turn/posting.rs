//! Lines to the other processes of travel: dialing, and putting parcels where they are sent from.

use std::time::{Duration, Instant};

use turnstile_parcels::put_message;
use turnstile_travel::Desk;

use super::FastLoop;
use crate::{
    core::{caller::Caller, conversation::DoorSet},
    limits::LINE_OUTPUT_BYTES,
};

impl<D: DoorSet> FastLoop<D> {
    /// Puts what there is for peers among what the open group owes, and dials those that are away.
    pub(super) fn post(&mut self) {
        let lines = self.engine.lines();
        if lines.is_empty() {
            return;
        }
        let now = Instant::now();
        self.settle_arming();
        self.put_words();
        for desk in lines.iter() {
            let route = self.routes.at(desk);
            if let Some(address) = route.dials(now).filter(|_| self.farewell.is_none()) {
                self.dial_desk(desk, address, now);
            }
            self.put_parcels(desk, now);
        }
    }

    fn put_parcels(&mut self, desk: Desk, now: Instant) {
        let route = self.routes.at_mut(desk);
        let Some(place) = route.met() else { return };
        let Some(connection) = self.connections.get_mut(place) else {
            return;
        };
        let room = LINE_OUTPUT_BYTES.saturating_sub(connection.owed());
        let watched = self.engine.travel_watched();
        let is_first = !connection.waits();
        let put = connection.say(|out| route.put(watched, (desk, now), room, out));
        if put.count > 0 {
            self.engine.counters.line(desk).parcels_out.add(put.count);
            self.open.places.push(place);
        }
        if put.ahead > 0 && is_first {
            connection.release_ahead(put.ahead);
            self.send(&mut vec![place]);
        }
    }

    /// Answers those whose fault points the desks have.
    fn settle_arming(&mut self) {
        let mut arming = std::mem::take(&mut self.arming);
        arming.retain(|&place| {
            let Some(connection) = self.connections.get_mut(place) else {
                return false;
            };
            let is_settled = connection.settle_arming(&self.engine);
            if is_settled {
                self.open.places.push(place);
            }
            !is_settled
        });
        self.arming = arming;
    }

    /// What desks are told besides parcels.
    fn put_words(&mut self) {
        for (desk, word) in self.engine.switchboard.take_words() {
            let place = self.routes.at(desk).met();
            let connection = place.and_then(|place| self.connections.get_mut(place));
            if let (Some(place), Some(connection)) = (place, connection) {
                connection.say(|out| put_message(out, word.into()));
                self.open.places.push(place);
            }
        }
    }

    fn dial_desk(&mut self, desk: Desk, address: std::net::SocketAddr, now: Instant) {
        let dialed = self
            .connect(address)
            .map_err(Some)
            .and_then(|(socket, secure)| {
                let mut opening = Vec::new();
                let session = D::dial_desk(&self.engine, desk, &mut opening);
                let place = self.admit(socket, secure, (session, Caller::server()));
                place.map(|place| (place, opening)).ok_or(None)
            });
        match dialed {
            Ok((place, opening)) => {
                self.routes.at_mut(desk).place = Some(place);
                if let Some(connection) = self.connections.get_mut(place) {
                    connection.say(|out| out.extend_from_slice(&opening));
                    self.open.places.push(place);
                }
            }
            Err(failure) => {
                tracing::debug!(?failure, %desk, "cannot connect to a desk");
                self.routes.at_mut(desk).lose(now);
            }
        }
    }

    /// The peer on this connection has said hello, now or before.
    pub(super) fn meet(&mut self, desk: Desk, place: usize) {
        let route = self.routes.at_mut(desk);
        if route.met() == Some(place) {
            return;
        }
        let before = route.meet(place);
        tracing::info!(%desk, "a connection between processes is open");
        self.engine.counters.line(desk).connected.set(1);
        if let Some(before) = before {
            self.close(before);
        }
    }

    /// The connection of a line has ended.
    pub(super) fn lose(&mut self, desk: Desk, place: usize) {
        let route = self.routes.at_mut(desk);
        if route.place != Some(place) {
            return;
        }
        if route.met().is_some() {
            tracing::info!(%desk, "a connection between processes broke the protocol");
        }
        route.lose(Instant::now());
        self.engine.switchboard.disconnect(desk);
        self.engine.fault_points.lost(desk);
        self.engine.counters.line(desk).connected.set(0);
    }

    /// How long the loop may sleep before a line wants something.
    pub(super) fn until_post(&self) -> Option<Duration> {
        let lines = self.engine.lines();
        if lines.is_empty() || self.farewell.is_some() {
            return None;
        }
        let now = Instant::now();
        let due = lines
            .iter()
            .filter_map(|desk| self.routes.at(desk).until_due(now));
        due.min()
    }
}
