//! What the caller hears.

use std::{
    sync::{Arc, PoisonError, atomic::Ordering},
    time::Instant,
};

use tokio::time::sleep_until;

use crate::{
    event::{Fatal, LogEvent, LogStatus},
    proposals::ProposalFate,
    shared::EVENTS_MAX,
};

use super::{HEARTBEAT, LogWorker};

impl LogWorker {
    pub(super) fn tell_fate(&mut self, fate: ProposalFate) {
        self.emit(match fate {
            ProposalFate::Published(id, sequence) => LogEvent::Published { id, sequence },
            ProposalFate::Refused(id, why) => LogEvent::Refused { id, why },
        });
    }

    /// Puts an event behind the others. What is no fate is dropped rather than kept without a bound.
    pub(super) fn emit(&mut self, event: LogEvent) {
        let is_needed = matches!(event, LogEvent::Entry(_) | LogEvent::Refused { .. });
        if is_needed || self.unsent.len() < EVENTS_MAX {
            self.unsent.push_back(event);
        }
    }

    pub(super) fn send_events(&mut self) {
        let mut has_sent = false;
        while !self.unsent.is_empty() {
            let Ok(place) = self.events.try_reserve() else {
                break;
            };
            let event = self.unsent.pop_front();
            place.send(event.expect("there is one"));
            has_sent = true;
        }
        if has_sent && !self.shared.is_woken.swap(true, Ordering::SeqCst) {
            (self.wake)();
        }
    }

    /// Tells the state of the connection, if it has changed.
    pub(super) fn tell_status(&mut self) {
        let is_taking = self.proposals.are_taken();
        let is_told = self.told.connected == self.connected
            && self.told.leader == self.leader
            && self.told.is_taking == is_taking
            && self.signals.complains_as(self.told.complaint.as_ref());
        if is_told {
            return;
        }
        let status = LogStatus {
            connected: self.connected.clone(),
            leader: self.leader.clone(),
            is_taking,
            complaint: self.signals.complaint(),
        };
        let mut shared = self
            .shared
            .status
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        shared.clone_from(&status);
        drop(shared);
        self.told = status.clone();
        if let Some(LogEvent::Status(last)) = self.unsent.back_mut() {
            *last = status;
        } else {
            self.emit(LogEvent::Status(status));
        }
        self.send_events();
    }

    /// Tells the caller all that is left, and why there is no more.
    pub(super) async fn end(&mut self, fatal: Fatal) {
        self.unsent.push_back(LogEvent::Fatal(fatal));
        while !self.unsent.is_empty() {
            self.send_events();
            if self.events.is_closed() {
                return;
            }
            let room = Arc::clone(&self.shared);
            tokio::select! {
                () = room.room.notified() => {}
                () = self.events.closed() => return,
                () = sleep_until((Instant::now() + HEARTBEAT).into()) => {}
            }
        }
    }
}
