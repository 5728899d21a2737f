//! A connection and its caller: in whose name requests are answered, and for whom that counts.

use std::net::SocketAddr;

use super::Connection;
use crate::{
    core::{
        buffer::Input,
        conversation::{Conversation, Surroundings},
        quotas::Meter,
        request_log::RequestNote,
    },
    limits::Limits,
};
use turnstile_access::Access;

impl<C: Conversation> Connection<C> {
    /// Where its client is, as far as the system still knows.
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        self.socket.peer_addr().ok()
    }

    /// Takes the note of a request that was decided elsewhere and is answered now.
    pub(crate) fn take_note(&mut self) -> Option<RequestNote> {
        self.conversation.take_note()
    }

    /// Whether its client has not said who it is, although it has to.
    pub(crate) fn is_stranger(&self, access: &Access) -> bool {
        self.caller.is_stranger(access)
    }

    /// Its client has to say who it is, and has as long for that as a newcomer.
    pub(crate) const fn begin_login(&mut self, sweep: u32) {
        self.since = sweep;
    }

    /// Reads once and answers every whole request of its caller, up to `budget` of them; answers how many.
    pub(crate) fn serve(
        &mut self,
        (shared, around): (&mut C::Shared, &mut Surroundings<'_>),
        scratch: &mut Input,
        limits: &Limits,
        budget: usize,
    ) -> usize {
        std::mem::swap(&mut around.engine.caller, &mut self.caller);
        let served = self.read_and_answer((shared, around), scratch, limits, budget);
        std::mem::swap(&mut around.engine.caller, &mut self.caller);
        self.note_waiting();
        served
    }

    /// Counts its request among those of its principal while it waits for a late answer.
    pub(super) fn note_waiting(&mut self) {
        if !self.conversation.waits() {
            self.pending = None;
        } else if self.pending.is_none() {
            self.pending = self.caller.meter().map(Meter::go_on);
        }
    }
}
