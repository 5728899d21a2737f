//! The latest events of a replay, so that subscribers can resume after a restart.

use std::collections::VecDeque;

use turnstile_types::{Machine, Position};

/// How many events of one service are kept.
const EVENTS_MAX: usize = 65_536;

/// The latest events of one service, and after which position none is missing.
#[derive(Debug)]
pub struct Recent<M: Machine> {
    events: VecDeque<M::Event>,
    complete_after: Position,
}

impl<M: Machine> Recent<M> {
    pub(crate) const fn after(position: Position) -> Self {
        Self {
            events: VecDeque::new(),
            complete_after: position,
        }
    }

    pub(crate) const fn complete_after(&self) -> Position {
        self.complete_after
    }

    pub(crate) fn take_from(&mut self, machine: &mut M) {
        machine.drain_events(&mut |event| {
            if self.events.len() == EVENTS_MAX
                && let Some(dropped) = self.events.pop_front()
            {
                self.complete_after = M::place_of(&dropped).0;
            }
            self.events.push_back(event);
        });
    }

    /// Of the record whose event was dropped last, later events may be there: they go too.
    pub(crate) fn finish(&mut self) {
        let after = self.complete_after;
        self.events.retain(|event| M::place_of(event).0 > after);
    }

    pub(crate) fn drain(&mut self, take: &mut dyn FnMut(M::Event)) {
        self.events.drain(..).for_each(take);
    }
}
