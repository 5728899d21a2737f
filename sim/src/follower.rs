//! Who follows the events of a service, across crashes: everything is announced once, in order.

use turnstile_types::{Machine, Position};

use crate::violation::{Judged, violation};

/// One follower, and everything that it was told.
#[derive(Debug)]
pub(crate) struct EventFollower<M: Machine> {
    heard: Vec<M::Event>,
}

impl<M: Machine> Default for EventFollower<M> {
    fn default() -> Self {
        Self { heard: Vec::new() }
    }
}

impl<M: Machine> EventFollower<M> {
    /// Hears what a running server announces: it must come after everything before it.
    pub(crate) fn hear(&mut self, event: M::Event) -> Judged {
        let last = self.heard.last();
        if last.is_some_and(|last| M::place_of(&event) <= M::place_of(last)) {
            return violation(format!("{event:?} was announced after {last:?}"));
        }
        self.heard.push(event);
        Ok(())
    }

    /// Hears what a recovery announces, which begins again at its snapshot: what is known already
    /// must be the same, and the rest comes after it.
    pub(crate) fn hear_again(&mut self, event: M::Event) -> Judged {
        let place = M::place_of(&event);
        match self
            .heard
            .binary_search_by_key(&place, |heard| M::place_of(heard))
        {
            Ok(known) if self.heard[known] == event => Ok(()),
            Ok(known) => {
                let first = &self.heard[known];
                violation(format!("{first:?} was announced, and now {event:?}"))
            }
            Err(_) => self.hear(event),
        }
    }

    /// Forgets what came after the last position: a damaged disk has lost it.
    pub(crate) fn forget_after(&mut self, last: Position) {
        self.heard.retain(|event| M::place_of(event).0 <= last);
    }

    /// Compares what was heard with everything that has happened.
    pub(crate) fn compare(&self, happened: &[M::Event]) -> Judged {
        if self.heard == happened {
            return Ok(());
        }
        let pairs = self.heard.iter().zip(happened);
        let same = pairs.take_while(|(heard, event)| heard == event).count();
        let (heard, event) = (self.heard.get(same), happened.get(same));
        violation(format!("{heard:?} was announced where {event:?} happened"))
    }
}
