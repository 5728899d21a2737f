//! How long one part of a turn may take that answers queries.

use std::time::{Duration, Instant};

/// A part of a turn, which ends when it has taken too long.
///
/// Commands are short, and bounded by their number. A query may look at a large state, so that a few
/// hundred of them would keep everybody else waiting for seconds. The clock is looked at only behind
/// queries: it costs a command nothing.
#[derive(Debug)]
pub(crate) struct TimeSlice {
    most: Duration,
    began: Instant,
    /// Whether a query was answered since the clock was looked at.
    has_queried: bool,
    is_spent: bool,
    /// Whether a part of this turn has left something to the next.
    was_cut: bool,
}

impl TimeSlice {
    pub(crate) fn of(most: Duration) -> Self {
        Self {
            most,
            began: Instant::now(),
            has_queried: false,
            is_spent: false,
            was_cut: false,
        }
    }

    /// A turn begins.
    pub(crate) const fn begin_turn(&mut self) {
        self.was_cut = false;
    }

    /// A part of the turn begins.
    pub(crate) fn begin(&mut self) {
        self.began = Instant::now();
        self.has_queried = false;
        self.is_spent = false;
    }

    pub(crate) const fn note_query(&mut self) {
        self.has_queried = true;
    }

    /// Whether the rest of this part is for the next turn.
    pub(crate) fn is_spent(&mut self) -> bool {
        if std::mem::take(&mut self.has_queried) && self.began.elapsed() >= self.most {
            self.is_spent = true;
            self.was_cut = true;
        }
        self.is_spent
    }

    /// Whether a part of this turn has left something to the next.
    pub(crate) const fn was_cut(&self) -> bool {
        self.was_cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_behind_a_query_that_took_too_long_and_the_next_one_begins_anew() {
        let mut slice = TimeSlice::of(Duration::ZERO);
        slice.begin();
        assert!(!slice.is_spent(), "commands are bounded by their number");
        slice.note_query();
        assert!(slice.is_spent() && slice.is_spent());
        slice.begin();
        assert!(!slice.is_spent() && slice.was_cut());
        slice.begin_turn();
        assert!(!slice.was_cut());
    }

    #[test]
    fn short_queries_end_nothing() {
        let mut slice = TimeSlice::of(Duration::from_secs(3_600));
        slice.note_query();
        assert!(!slice.is_spent() && !slice.was_cut());
    }
}
