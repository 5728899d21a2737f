//! The age of a connection: idle, stalled and half-sent ones are ended by the sweep.

use std::time::Duration;

use super::{Connection, Life};
use crate::{
    core::{
        conversation::{Conversation, InputRefused},
        engine::Engine,
    },
    limits::{HANDSHAKE_SWEEPS, HELLO_SWEEPS, Limits, OUTPUT_KEPT_SWEEPS, PARTING_SWEEPS, SWEEP},
};

/// What a sweep has made of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expired {
    /// Nothing: its time is not over.
    No,
    /// It has a last answer to send, and closes after it.
    Told,
    /// It is closed at once.
    Gone,
}

impl<C: Conversation> Connection<C> {
    /// Ends a connection that has been idle, stalled or parting for too long, and one whose request
    /// does not arrive whole in time. A connection that rests gives back the memory of its answers.
    pub(crate) fn expire(&mut self, sweep: u32, limits: &Limits, engine: &Engine) -> Expired {
        if self.is_over(sweep, limits, engine) {
            self.phase = Life::Gone;
            return Expired::Gone;
        }
        if over(self.active, sweep, OUTPUT_KEPT_SWEEPS.into()) {
            self.rest();
        }
        if !self.is_late(sweep, limits) {
            return Expired::No;
        }
        let why = InputRefused::TooLate {
            limit: limits.request,
        };
        self.put_durable(|conversation, out| conversation.break_off_input(engine, why, out));
        self.phase = Life::Closing;
        Expired::Told
    }

    /// How much it leaves unread for how long; nothing of one that takes what it is sent. Lines between
    /// processes are none: what waits for them is bounded by its own limits.
    pub(crate) fn slowness(&self, sweep: u32) -> Option<u64> {
        if self.conversation.peer().is_some() {
            return None;
        }
        // A client cannot take an answer that is not whole. If such connections had no weight, shedding
        // could not free their memory, and nobody would be served.
        let unfinished = (self.conversation.unfinished_answer() > 0).then_some(sweep);
        let since = self.stalled.or(unfinished)?;
        let age = u64::from(sweep.wrapping_sub(since)) + 1;
        let bytes = u64::try_from(self.unsent_size()).unwrap_or(u64::MAX);
        Some(bytes.saturating_mul(age))
    }

    /// Gives back the memory of answers that were all sent.
    pub(crate) fn rest(&mut self) {
        self.output.rest();
        if let Some(tls) = &mut self.tls {
            tls.rest();
        }
    }

    fn is_over(&self, sweep: u32, limits: &Limits, engine: &Engine) -> bool {
        if let Life::Parting(since) = self.phase {
            return over(since, sweep, PARTING_SWEEPS.into());
        }
        if let Some(tls) = self.tls.as_ref().filter(|tls| tls.handshake().is_some()) {
            return over(tls.begun(), sweep, HANDSHAKE_SWEEPS.into());
        }
        if let Some(since) = self.stalled {
            return over(since, sweep, sweeps(limits.stall));
        }
        if let Some(peer) = self.conversation.peer() {
            return peer.met.is_none() && over(self.active, sweep, HELLO_SWEEPS.into());
        }
        if self.caller.is_stranger(engine.access()) {
            return over(self.since, sweep, sweeps(limits.login));
        }
        let listens = self.conversation.follows() || self.conversation.waits();
        !listens && over(self.active, sweep, sweeps(limits.idle))
    }

    /// Whether the rest of a request is missing for too long, whatever trickles in meanwhile. The time
    /// runs from the first sweep that finds the request begun.
    fn is_late(&mut self, sweep: u32, limits: &Limits) -> bool {
        let is_begun = self.phase == Life::Serving
            && self.conversation.door().has_frames
            && (!self.input.is_empty() || self.tls.as_ref().is_some_and(|tls| tls.is_partial()))
            && !self.unfinished
            && !self.conversation.waits();
        if !is_begun {
            self.begun = None;
            return false;
        }
        let since = *self.begun.get_or_insert(sweep);
        over(since, sweep, sweeps(limits.request))
    }
}

fn over(since: u32, sweep: u32, limit: u64) -> bool {
    u64::from(sweep.wrapping_sub(since)) > limit
}

/// A time in sweeps, rounded up.
fn sweeps(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(SWEEP.as_nanos())).unwrap_or(u64::MAX)
}
