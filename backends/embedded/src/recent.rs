//! The latest events of a replay, so that subscribers can resume after a restart.

use std::mem;

use turnstile_types::{Machine, Position};

/// How many events of one service are kept in the end.
const EVENTS_MAX: usize = 65_536;

/// The latest events of one service, and after which position none is missing.
///
/// When there are enough newer ones, the older ones go all at once: each event is moved only once.
#[derive(Debug)]
pub struct Recent<M: Machine> {
    older: Vec<M::Event>,
    newer: Vec<M::Event>,
    complete_after: Position,
}

impl<M: Machine> Recent<M> {
    pub(crate) const fn after(position: Position) -> Self {
        Self {
            older: Vec::new(),
            newer: Vec::new(),
            complete_after: position,
        }
    }

    pub(crate) const fn complete_after(&self) -> Position {
        self.complete_after
    }

    pub(crate) fn take_from(&mut self, machine: &mut M) {
        machine.move_events(&mut self.newer);
        if self.newer.len() >= EVENTS_MAX {
            if let Some(dropped) = self.older.last() {
                self.complete_after = M::place_of(dropped).0;
            }
            self.older.clear();
            mem::swap(&mut self.older, &mut self.newer);
        }
    }

    /// Lets go what is too much. Of the record whose event was dropped last, later events may be there:
    /// they go too.
    pub(crate) fn finish(&mut self) {
        self.older.append(&mut self.newer);
        let surplus = self.older.len().saturating_sub(EVENTS_MAX);
        if let Some(dropped) = self.older.drain(..surplus).next_back() {
            self.complete_after = M::place_of(&dropped).0;
        }
        let after = self.complete_after;
        self.older.retain(|event| M::place_of(event).0 > after);
    }

    pub(crate) fn drain(&mut self, take: &mut dyn FnMut(M::Event)) {
        self.older.drain(..).for_each(take);
    }
}
