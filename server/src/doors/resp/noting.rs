//! What is said about the requests of a client: who asked for what, in which trace, and what it came to.

use std::borrow::Cow;

use turnstile_contract as contract;
use turnstile_embedded::Reply;
use turnstile_resp::{
    Arguments,
    catalogue::{Action, Verb},
};
use turnstile_travel::{Outcome, Travel};
use turnstile_types::RequestId;

use super::{Next, Session, Surroundings};
use crate::{
    core::{engine::Engine, request_log::RequestNote},
    counters::DoorName,
    registry::Registered,
};

impl Session {
    /// Answers one request, and notes it where anybody wants to hear of it.
    pub(super) fn answer_noted(
        &mut self,
        around: &mut Surroundings<'_>,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next {
        if !around.engine.notes.is_on || arguments.is_empty() {
            return self.answer(around, arguments, out);
        }
        let (start, trace) = (out.len(), self.trace);
        around.engine.notes.begin();
        let next = self.answer(around, arguments, out);
        let engine = &mut *around.engine;
        let name = engine.catalogue.name_of(&arguments).unwrap_or("unknown");
        let used = trace.filter(|_| self.trace.is_none());
        let named = (engine.notes.log.next_id(), used);
        let who = (DoorName::Resp, engine.known_principal());
        let mut note = engine.notes.end(who, Some(name.into()), named);
        if self.waits() {
            self.noted = Some(Box::new(note));
        } else {
            let reply = out.get(start..).unwrap_or_default();
            note.answer(outcome_of(reply), reply.len());
            engine.notes.add(note);
        }
        next
    }

    /// The next request of a service, or `EXEC`, belongs to the trace that the client has named: its records
    /// get the id of that.
    pub(super) fn enter_trace(&mut self, engine: &mut Engine, action: Action) {
        let is_traced = action.call().is_some() || action == Action::Session(Verb::Exec);
        if let Some(trace) = self.trace.take_if(|_| is_traced) {
            let id = RequestId::parse(trace.trace_id().as_bytes()).ok();
            engine.caller.name_request(id);
        }
    }

    /// A command that was decided elsewhere came to this.
    pub(super) fn note_landed<M: Registered>(
        &mut self,
        result: &Result<Reply<M>, contract::Failure>,
    ) {
        if let (Some(note), Ok(reply)) = (&mut self.noted, result) {
            let word = M::OUTCOMES.get(M::outcome_place(&reply.outcome));
            note.decide(word.copied(), Some(reply.position));
        }
    }

    /// A command of travel that waited came to this.
    pub(super) fn note_late(&mut self, outcome: &Outcome) {
        if let Some(note) = &mut self.noted {
            note.decide(
                Travel::OUTCOMES
                    .get(Travel::outcome_place(outcome))
                    .copied(),
                None,
            );
        }
    }

    /// What was written behind `start` may have been the reply that was waited for.
    pub(super) fn note_reply(&mut self, start: usize, out: &[u8]) {
        if let (false, Some(note)) = (self.waits(), &mut self.noted) {
            let reply = out.get(start..).unwrap_or_default();
            note.answer_late(outcome_of(reply), reply.len());
        }
    }

    pub(super) fn take_note(&mut self) -> Option<RequestNote> {
        let is_answered = !self.waits();
        self.noted.take_if(|_| is_answered).map(|note| *note)
    }
}

/// The word of an error, in small letters, and that of a command that was queued; of others the reply says
/// nothing that is not known better.
fn outcome_of(reply: &[u8]) -> Option<Cow<'static, str>> {
    match reply.split_first() {
        Some((b'-', error)) => {
            let end = error.iter().position(|byte| !byte.is_ascii_alphabetic());
            let word = error.get(..end.unwrap_or(error.len())).unwrap_or_default();
            Some(String::from_utf8_lossy(word).to_ascii_lowercase().into())
        }
        Some((b'+', b"QUEUED\r\n")) => Some("queued".into()),
        _ => None,
    }
}
