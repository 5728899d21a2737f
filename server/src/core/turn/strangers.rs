//! Connections whose clients have not said who they are, where they have to: they give way to others.

use std::collections::BTreeMap;

use super::FastLoop;
use crate::core::{
    connection::Connection,
    conversation::{Conversation as _, DoorSet, FastDoor},
};

/// The places of these connections. Whoever became one later has a higher number.
#[derive(Debug, Default)]
pub(super) struct ConnectedStrangers {
    places: BTreeMap<u64, usize>,
    last: u64,
}

impl ConnectedStrangers {
    fn add<C>(&mut self, place: usize, connection: &mut Connection<C>) {
        self.last += 1;
        self.places.insert(self.last, place);
        connection.stranger = Some(self.last);
    }

    /// This connection is known now, or has ended.
    pub(super) fn remove<C>(&mut self, connection: &mut Connection<C>) {
        if let Some(number) = connection.stranger.take() {
            self.places.remove(&number);
        }
    }
}

impl<D: DoorSet> FastLoop<D> {
    /// Notes that a connection has done the handshake with this number, and that its client has said who it
    /// is, or has taken that back, where they have.
    pub(super) fn note_arrival(
        &mut self,
        (place, handshake): (usize, Option<u64>),
        connection: &mut Connection<D::Session>,
    ) {
        if let Some(number) = handshake.filter(|_| connection.handshake().is_none()) {
            let door = connection.conversation().door().name;
            self.end_handshake((number, door), connection.handshake_end());
        }
        let is_stranger = connection.is_stranger(self.engine.access());
        if !is_stranger {
            self.strangers.remove(connection);
        } else if connection.stranger.is_none() {
            connection.begin_login(self.sweep);
            self.strangers.add(place, connection);
        }
    }

    /// Notes whether the client of a connection has to say who it is.
    pub(super) fn note_stranger(&mut self, place: usize) {
        let Some(connection) = self.connections.get_mut(place) else {
            return;
        };
        let is_stranger = connection.is_stranger(self.engine.access());
        match (is_stranger, connection.stranger) {
            (true, None) => self.strangers.add(place, connection),
            (false, Some(_)) => self.strangers.remove(connection),
            (true, Some(_)) | (false, None) => {}
        }
    }

    /// Where all places are taken, ends the connection whose client has not said for the longest who it
    /// is; says whether there was one. It makes no room at a door with places of its own.
    pub(super) fn drop_stranger_for(&mut self, door: &FastDoor) -> bool {
        let oldest = self.strangers.places.first_key_value();
        let Some((_, &place)) = oldest.filter(|_| door.most.is_none()) else {
            return false;
        };
        if let Some(connection) = self.connections.get_mut(place) {
            let door = connection.conversation().door().name;
            self.engine.counters.of(door).evicted.add(1);
        }
        self.close(place);
        true
    }
}
