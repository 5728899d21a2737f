//! TLS handshakes: how many steps a turn does, and how many may be open.

use std::{collections::BTreeMap, io, net::SocketAddr};

use mio::net::TcpStream;

use super::FastLoop;
use crate::{
    core::{
        conversation::{Conversation as _, DoorSet, FastDoor},
        tls::Secure,
    },
    counters::{DoorName, HandshakeEnd},
    limits::HANDSHAKES,
};

/// The handshakes that are not done, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Handshakes {
    /// The places of the connections, by the numbers of these.
    open: BTreeMap<u64, usize>,
    /// How many steps more this turn does.
    left: usize,
}

#[cfg(test)]
impl Handshakes {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

impl<D: DoorSet> FastLoop<D> {
    /// Begins a turn's part of the handshakes.
    pub(super) const fn begin_handshakes(&mut self) {
        self.handshakes.left = HANDSHAKES;
    }

    /// Whether this connection must wait with its handshake for another turn.
    pub(super) fn defers_handshake(&mut self, place: usize) -> bool {
        if self.tls.is_none() {
            return false;
        }
        let connection = self.connections.get_mut(place);
        if connection.is_none_or(|connection| connection.handshake().is_none()) {
            return false;
        }
        if self.handshakes.left == 0 {
            return true;
        }
        self.handshakes.left -= 1;
        false
    }

    /// Begins the handshake of a connection that will be at the next place.
    pub(super) fn begin_handshake(&mut self, door: &FastDoor, number: u64) -> Option<Box<Secure>> {
        if self.handshakes.open.len() >= self.limits.handshakes {
            self.drop_oldest_handshake();
        }
        let tls = self.tls.as_ref()?;
        let secure = tls.accept(door, (number, self.sweep))?;
        let place = self.connections.next_place();
        self.handshakes.open.insert(number, place);
        self.engine.counters.of(door.name).handshakes.begin();
        Some(secure)
    }

    /// Dials another process, securely where the doors are.
    pub(super) fn connect(
        &self,
        address: SocketAddr,
    ) -> io::Result<(TcpStream, Option<Box<Secure>>)> {
        let secure = match &self.tls {
            None => None,
            Some(tls) => {
                let secure = tls.dial(self.sweep);
                Some(secure.ok_or_else(|| io::Error::other("the line cannot be secured"))?)
            }
        };
        Ok((TcpStream::connect(address)?, secure))
    }

    /// The handshake with this number at this door is over. One without a number was dialed.
    pub(super) fn end_handshake(&mut self, (number, door): (u64, DoorName), end: HandshakeEnd) {
        self.handshakes.open.remove(&number);
        if number > 0 {
            self.engine.counters.of(door).handshakes.end(end);
        }
    }

    /// Ends the connection whose handshake has been open for the longest.
    fn drop_oldest_handshake(&mut self) {
        if let Some((_, place)) = self.handshakes.open.pop_first() {
            self.close(place);
        }
    }

    /// Where all places are taken, ends the connection whose handshake has been open for the longest; says
    /// whether there was one. At a door with places of its own it is one of these.
    pub(super) fn drop_handshake_for(&mut self, door: &FastDoor) -> bool {
        let (open, connections) = (&self.handshakes.open, &mut self.connections);
        let mut makes_room = |place| {
            let connection = connections.get_mut(place);
            connection.is_some_and(|one| one.conversation().door().name == door.name)
        };
        let oldest = open
            .values()
            .find(|&&place| door.most.is_none() || makes_room(place));
        let Some(&place) = oldest else {
            return false;
        };
        self.close(place);
        true
    }
}
