//! The bound on what all connections together are owed.

use super::FastLoop;
use crate::{
    core::conversation::{Conversation, DoorSet},
    limits::SHED_PART,
};

impl<D: DoorSet> FastLoop<D> {
    /// Whether the connections may be owed more. Where they are owed too much, the slowest are dropped;
    /// what is left then waits for its group, and nobody is served before that has been sent.
    pub(super) fn may_owe_more(&mut self) -> bool {
        if self.owes_too_much() {
            self.shed();
        }
        !self.owes_too_much()
    }

    /// Whether the connections of the fast doors are owed more than they may be together.
    pub(super) fn owes_too_much(&self) -> bool {
        let unsent = self.connections.unsent();
        let counted = u64::try_from(unsent).unwrap_or(u64::MAX);
        self.engine.counters.fast_unsent_bytes.set(counted);
        unsent > self.limits.output_bytes
    }

    /// Makes some room: takes back memory that is not used, then drops those connections that leave
    /// the most unread for the longest.
    pub(super) fn shed(&mut self) {
        let unsent = self.connections.unsent();
        for place in self.connections.places() {
            if let Some(connection) = self.connections.get_mut(place) {
                connection.rest();
                self.connections.recount(place);
            }
        }
        let most = self.limits.output_bytes;
        let mut slowest = self.connections.slowest(self.sweep);
        let mut dropped = 0_u64;
        while self.connections.unsent() > most - most / SHED_PART
            && let Some(place) = slowest.pop()
        {
            if let Some(connection) = self.connections.get_mut(place) {
                let door = connection.conversation().door();
                self.engine.counters.of(door.name).dropped.add(1);
                dropped += 1;
                self.close(place);
            }
        }
        if let Some(dropped) = self.drops.count(dropped) {
            tracing::warn!(
                unsent,
                dropped,
                "clients left more unread than limits.output_bytes allows: the slowest were dropped"
            );
        }
    }
}
