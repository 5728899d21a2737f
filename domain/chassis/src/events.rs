//! What has happened and nobody has taken yet.

use turnstile_types::Position;

/// Events, oldest first. Each has a number among those of its record.
#[derive(Debug)]
pub struct Events<E> {
    waiting: Vec<E>,
    /// The record of the last event, and how many events it has had.
    last: (Position, u32),
}

impl<E> Events<E> {
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            waiting: Vec::new(),
            last: (Position(0), 0),
        }
    }

    /// Adds an event of a record; it is given the record's next number.
    pub fn put(&mut self, position: Position, event: impl FnOnce(u32) -> E) {
        if self.last.0 != position {
            self.last = (position, 0);
        }
        self.waiting.push(event(self.last.1));
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
