//! The connection to distant scores: dialing it, and putting results where they are sent from.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use mio::net::TcpStream;

use super::FastLoop;
use crate::core::conversation::Conversation;

impl FastLoop {
    /// Puts the results that the scores have not acknowledged among what the open group owes.
    pub(super) fn report(&mut self) {
        let Some(teller) = &self.hall.teller else {
            return;
        };
        if !self.engine.has_started() {
            return;
        }
        let now = Instant::now();
        if let Some(address) = teller.dials(now).filter(|_| self.farewell.is_none()) {
            self.dial_scores(address, now);
        }
        let Some(teller) = &mut self.hall.teller else {
            return;
        };
        let Some(place) = teller.place else { return };
        let Some(connection) = self.connections.get_mut(place) else {
            return;
        };
        let owed = connection.owed();
        let games = self.engine.games();
        if connection.say(|out| teller.put(games, owed, out)) {
            self.open.places.push(place);
        }
    }

    fn dial_scores(&mut self, address: SocketAddr, now: Instant) {
        let socket = TcpStream::connect(address);
        let place = socket
            .ok()
            .and_then(|socket| self.admit(socket, Conversation::Teller));
        let Some(teller) = &mut self.hall.teller else {
            return;
        };
        match place.and_then(|place| Some((place, self.connections.get_mut(place)?))) {
            Some((place, connection)) => {
                connection.say(|out| teller.begin(place, out));
                self.open.places.push(place);
            }
            None => teller.lose(now),
        }
    }

    /// A connection has ended, be it the one to the scores.
    pub(super) fn lose_scores(&mut self, place: usize) {
        if let Some(teller) = &mut self.hall.teller
            && teller.place == Some(place)
        {
            teller.lose(Instant::now());
        }
    }

    /// How long the loop may sleep before it dials the scores.
    pub(super) fn until_report(&self) -> Option<Duration> {
        let teller = self.hall.teller.as_ref()?;
        let may_dial = self.farewell.is_none();
        teller.until_due(Instant::now()).filter(|_| may_dial)
    }
}
