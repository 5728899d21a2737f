//! Late answers: who waits for which.

use std::{collections::BTreeMap, sync::Arc};

use tokio::sync::oneshot;
use turnstile_travel::Outcome;
use turnstile_types::Position;

use crate::counters::Counters;

/// One who waits for a late answer.
#[derive(Debug)]
pub(crate) enum LateWaiter {
    /// The connection at this place, which is not served before it has its answers.
    Connection(usize),
    /// Somebody on another thread.
    Asked(oneshot::Sender<Option<Outcome>>),
}

/// Who waits, by the tickets of their answers.
///
/// A ticket is the position of a record, and its answer is an event of that record's group or of a
/// later one. So whoever asks in the open group, and is told that the answer is pending, has not
/// missed it. A connection may wait for several answers, and several for the same.
#[derive(Debug)]
pub(crate) struct Tickets {
    waiters: BTreeMap<Position, Vec<LateWaiter>>,
    counters: Arc<Counters>,
}

impl Tickets {
    pub(crate) const fn new(counters: Arc<Counters>) -> Self {
        Self {
            waiters: BTreeMap::new(),
            counters,
        }
    }

    /// Those who asked before for the same answer and have gone are forgotten, so that there are
    /// never more than connections.
    pub(crate) fn add(&mut self, ticket: Position, waiter: LateWaiter) {
        let waiters = self.waiters.entry(ticket).or_default();
        let before = waiters.len();
        waiters.retain(|waiter| !matches!(waiter, LateWaiter::Asked(reply) if reply.is_closed()));
        self.counters
            .late_waiters
            .take(count(before - waiters.len()));
        if let LateWaiter::Connection(place) = waiter
            && waiters
                .iter()
                .any(|one| matches!(one, LateWaiter::Connection(at) if *at == place))
        {
            // It is told once, and fills all that waits for it.
            return;
        }
        waiters.push(waiter);
        self.counters.late_waiters.add(1);
    }

    /// Those who wait for the answer that was given.
    pub(crate) fn take(&mut self, ticket: Position) -> Vec<LateWaiter> {
        let waiters = self.waiters.remove(&ticket).unwrap_or_default();
        self.counters.late_waiters.take(count(waiters.len()));
        waiters
    }

    /// The connection at this place has gone without its answer.
    pub(crate) fn forget(&mut self, ticket: Position, place: usize) {
        let Some(waiters) = self.waiters.get_mut(&ticket) else {
            return;
        };
        let before = waiters.len();
        waiters.retain(|waiter| !matches!(waiter, LateWaiter::Connection(at) if *at == place));
        self.counters
            .late_waiters
            .take(count(before - waiters.len()));
        if waiters.is_empty() {
            self.waiters.remove(&ticket);
        }
    }
}

fn count(waiters: usize) -> u64 {
    u64::try_from(waiters).expect("a count fits 64 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(waiters: &[LateWaiter]) -> Vec<usize> {
        let place = |waiter: &LateWaiter| match waiter {
            LateWaiter::Connection(place) => *place,
            LateWaiter::Asked(_) => panic!("nobody asked"),
        };
        waiters.iter().map(place).collect()
    }

    #[test]
    fn an_answer_is_taken_once_by_all_who_wait_for_it() {
        let counters = Arc::<Counters>::default();
        let mut tickets = Tickets::new(Arc::clone(&counters));
        let (one, other) = (Position(4), Position(9));
        for (ticket, place) in [(one, 1), (other, 2), (one, 3)] {
            tickets.add(ticket, LateWaiter::Connection(place));
        }
        assert_eq!(counters.late_waiters.get(), 3);
        assert_eq!(places(&tickets.take(one)), [1, 3]);
        assert_eq!(places(&tickets.take(one)), [0; 0]);
        assert_eq!(counters.late_waiters.get(), 1);
        assert_eq!(places(&tickets.take(other)), [2]);
        assert_eq!(counters.late_waiters.get(), 0);
    }

    #[test]
    fn a_connection_that_has_gone_leaves_nothing_behind() {
        let counters = Arc::<Counters>::default();
        let mut tickets = Tickets::new(Arc::clone(&counters));
        let ticket = Position(4);
        let (reply, mut answer) = oneshot::channel();
        tickets.add(ticket, LateWaiter::Connection(1));
        tickets.add(ticket, LateWaiter::Asked(reply));
        tickets.forget(ticket, 2);
        tickets.forget(Position(5), 1);
        assert_eq!(counters.late_waiters.get(), 2);
        tickets.forget(ticket, 1);
        assert_eq!(counters.late_waiters.get(), 1);
        assert!(matches!(tickets.take(ticket)[..], [LateWaiter::Asked(_)]));
        assert!(answer.try_recv().is_err(), "it was never answered");
        tickets.add(ticket, LateWaiter::Connection(1));
        tickets.forget(ticket, 1);
        assert_eq!(tickets.waiters.len(), 0);
        assert_eq!(counters.late_waiters.get(), 0);
    }

    #[test]
    fn a_connection_waits_once_for_an_answer() {
        let counters = Arc::<Counters>::default();
        let mut tickets = Tickets::new(Arc::clone(&counters));
        for place in [1, 2, 1] {
            tickets.add(Position(4), LateWaiter::Connection(place));
        }
        assert_eq!(counters.late_waiters.get(), 2);
        assert_eq!(places(&tickets.take(Position(4))), [1, 2]);
        assert_eq!(counters.late_waiters.get(), 0);
    }

    #[test]
    fn whoever_asked_and_has_gone_makes_room_for_the_next_who_asks() {
        let counters = Arc::<Counters>::default();
        let mut tickets = Tickets::new(Arc::clone(&counters));
        let ticket = Position(4);
        let (reply, _answer) = oneshot::channel();
        tickets.add(ticket, LateWaiter::Asked(reply));
        for _ in 0..9 {
            let (reply, answer) = oneshot::channel();
            drop(answer);
            tickets.add(ticket, LateWaiter::Asked(reply));
        }
        assert_eq!(counters.late_waiters.get(), 2);
        assert_eq!(tickets.take(ticket).len(), 2);
        assert_eq!(counters.late_waiters.get(), 0);
    }
}
