//! What the engine says about requests, where anybody wants to hear of them.

use turnstile_types::{Position, Principal};

use super::Engine;
use crate::{core::request_log::SentNotes, registry::Registered};

impl Engine {
    /// The principal of the caller; nothing while that has not said who it is, although it has to.
    pub(crate) fn known_principal(&self) -> Option<Principal> {
        let is_known = self.loading.is_none() && !self.caller.is_stranger(self.access());
        is_known.then_some(self.caller.principal)
    }

    /// What will be said of operations that the caller has decided elsewhere.
    pub(crate) fn note_sent(
        &self,
        operations: impl Iterator<Item = usize>,
    ) -> Option<Box<SentNotes>> {
        let who = (self.stopwatch.door(), self.known_principal());
        self.notes.send(who, operations)
    }

    /// Notes what was decided for the caller.
    #[cold]
    pub(super) fn note_decided<M: Registered>(
        &mut self,
        operation: usize,
        outcome: Option<(usize, Position)>,
    ) {
        let who = (self.stopwatch.door(), self.known_principal());
        self.notes.decide::<M>(who, operation, outcome);
    }
}
