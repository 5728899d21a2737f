//! A connection and its caller: in whose name requests are answered, and for whom that counts.

use turnstile_access::Access;
use turnstile_types::Principal;

use super::Connection;
use crate::{
    core::{
        buffer::Input,
        conversation::{Conversation, Surroundings},
    },
    limits::Limits,
};

impl<C: Conversation> Connection<C> {
    /// The principal among whose connections it is counted.
    pub(crate) fn counted_for(&self) -> Option<Principal> {
        self.caller.counted_for()
    }

    /// Whether its client has not said who it is, although it has to.
    pub(crate) fn is_stranger(&self, access: &Access) -> bool {
        self.caller.is_stranger(access)
    }

    /// Reads once and answers every whole request of its caller, up to `budget` of them; answers how many.
    pub(crate) fn serve(
        &mut self,
        (shared, around): (&mut C::Shared, &mut Surroundings<'_>),
        scratch: &mut Input,
        limits: &Limits,
        budget: usize,
    ) -> usize {
        let owed = self.owed();
        std::mem::swap(&mut around.engine.caller, &mut self.caller);
        let served = self.read_and_answer((shared, around), scratch, limits, budget);
        std::mem::swap(&mut around.engine.caller, &mut self.caller);
        let answered = self.owed().saturating_sub(owed);
        around.engine.charge(&self.caller.principal, answered);
        served
    }
}
