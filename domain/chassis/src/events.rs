//! Events that have not been taken yet.

use turnstile_types::Position;

/// Events, oldest first. Each has a number among those of its record, also where nobody wants it.
#[derive(Debug)]
pub struct Events<E> {
    waiting: Vec<E>,
    /// The record of the last event, and how many events it has had.
    last: (Position, u32),
    wanted: bool,
    /// The record of the last event that nobody wanted.
    dropped: Option<Position>,
}

impl<E> Events<E> {
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            waiting: Vec::new(),
            last: (Position(0), 0),
            wanted: true,
            dropped: None,
        }
    }

    /// Whether anybody wants the events from now on; at first somebody does. Those that nobody wants
    /// are not even made.
    pub const fn want(&mut self, wanted: bool) {
        self.wanted = wanted;
    }

    /// The record of the last event that nobody wanted, since this was asked last.
    pub const fn take_dropped(&mut self) -> Option<Position> {
        self.dropped.take()
    }

    /// Adds an event of a record; it is given the record's next number.
    pub fn put(&mut self, position: Position, event: impl FnOnce(u32) -> E) {
        if self.last.0 != position {
            self.last = (position, 0);
        }
        if self.wanted {
            self.waiting.push(event(self.last.1));
        } else {
            self.dropped = Some(position);
        }
        self.last.1 += 1;
    }

    /// Puts all of them behind others.
    pub fn move_to(&mut self, others: &mut Vec<E>) {
        if others.is_empty() {
            std::mem::swap(&mut self.waiting, others);
        } else {
            others.append(&mut self.waiting);
        }
    }

    /// Hands over all of them.
    pub fn drain(&mut self, take: &mut dyn FnMut(E)) {
        self.waiting.drain(..).for_each(take);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_numbered_within_their_record_whenever_they_are_taken() {
        let mut events = Events::empty();
        let mut taken = Vec::new();
        for (position, taking) in [(1, false), (1, true), (1, false), (2, true)] {
            events.put(Position(position), |ordinal| (position, ordinal));
            if taking {
                events.drain(&mut |event| taken.push(event));
            }
        }
        assert_eq!(taken, [(1, 0), (1, 1), (1, 2), (2, 0)]);
    }

    #[test]
    fn what_nobody_wants_is_not_made_but_has_its_number() {
        let mut events = Events::empty();
        let mut taken = Vec::new();
        for (position, wanted) in [(1, true), (2, false), (2, true), (3, true), (4, false)] {
            events.want(wanted);
            events.put(Position(position), |ordinal| {
                assert!(wanted, "the event of {position} is made");
                (position, ordinal)
            });
        }
        events.drain(&mut |event| taken.push(event));
        assert_eq!(taken, [(1, 0), (2, 1), (3, 0)]);
        assert_eq!(events.take_dropped(), Some(Position(4)));
        assert_eq!(events.take_dropped(), None);
    }

    #[test]
    fn events_are_put_behind_those_that_wait_elsewhere() {
        let mut events = Events::empty();
        let mut others = Vec::new();
        for position in 1..4 {
            events.put(Position(position), |ordinal| (position, ordinal));
            events.move_to(&mut others);
        }
        assert_eq!(others, [(1, 0), (2, 0), (3, 0)]);
    }
}
