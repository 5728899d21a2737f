//! Between two turns: until something happens or is due.

use std::{
    io, thread,
    time::{Duration, Instant},
};

use mio::{Events, Token};

use super::{Accepting, Broken, FastLoop, GATE, LISTENERS};
use crate::{
    core::conversation::DoorSet,
    limits::{LOOKS, SWEEP},
};

impl<D: DoorSet> FastLoop<D> {
    /// Sleeps until something happens or is due, and notes whom it concerns.
    pub(super) fn wait(&mut self, events: &mut Events) -> Result<(), Broken> {
        let mut patience = self.patience();
        if self.engine.is_under_way() && patience != Some(Duration::ZERO) {
            if self.looks == LOOKS {
                self.engine.await_landing();
            }
            self.looks = (self.looks + 1).min(LOOKS);
            patience = Some(Duration::ZERO);
        }
        match self.poll(events, patience) {
            Ok(()) => {}
            Err(failure) if failure.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(failure) => return Err(Broken::Poll(failure)),
        }
        for event in events.iter() {
            match event.token() {
                LISTENERS => self.accepting = Accepting::NextTurn,
                GATE => {}
                Token(place) => {
                    let Some(connection) = self.connections.get_mut(place) else {
                        continue;
                    };
                    if event.is_readable() || event.is_error() {
                        connection.note_readable(event.is_read_closed() || event.is_error());
                    }
                    if event.is_writable() && connection.is_owed() {
                        self.open.places.push(place);
                    }
                    if !connection.queued && connection.is_due(&self.limits) {
                        connection.queued = true;
                        self.ready.push_back(place);
                    }
                }
            }
        }
        self.asks_wait |= self.inbox.has_rung();
        Ok(())
    }

    /// Asks the system what has happened; for a while without sleeping, where that is wanted.
    fn poll(&mut self, events: &mut Events, patience: Option<Duration>) -> io::Result<()> {
        let busy = patience.map_or(self.limits.busy_poll, |patience| {
            patience.min(self.limits.busy_poll)
        });
        if !busy.is_zero() {
            let begin = Instant::now();
            while begin.elapsed() < busy {
                self.poll.poll(events, Some(Duration::ZERO))?;
                if !events.is_empty() {
                    return Ok(());
                }
                // Whoever wants this processor has it.
                thread::yield_now();
            }
        }
        let rest = patience.map(|patience| patience.saturating_sub(busy));
        self.poll.poll(events, rest)
    }

    pub(super) fn patience(&self) -> Option<Duration> {
        if self.doors.is_busy() {
            return Some(Duration::ZERO);
        }
        let is_busy = !self.ready.is_empty() || self.asks_wait;
        let can_go = !self.engine.is_under_way();
        let is_owed = can_go && !self.open.is_empty();
        if is_busy && self.room() > 0 || is_owed || self.accepting == Accepting::NextTurn {
            return Some(Duration::ZERO);
        }
        let group = self.engine.until_commit().filter(|_| can_go);
        let needs_sweeps = self.connections.open() > 0 || self.accepting == Accepting::NextSweep;
        let sweep = (needs_sweeps || self.farewell.is_some()).then_some(SWEEP);
        let farewell = self
            .farewell
            .map(|end| end.saturating_duration_since(Instant::now()));
        let lines = [self.until_post(), self.until_report()];
        let until_line = lines.into_iter().flatten().min();
        [sweep, farewell, self.engine.until_due(), group, until_line]
            .into_iter()
            .flatten()
            .min()
    }
}
