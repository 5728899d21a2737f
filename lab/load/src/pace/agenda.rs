//! The arrivals of an open loop and those who can take them.

use std::collections::VecDeque;

use super::schedule::Schedule;

/// One thread's share of a schedule: each n-th arrival. Whoever has been free for longest takes the
/// next; when nobody is free arrivals wait, none is dropped.
#[derive(Debug)]
pub(super) struct Agenda {
    schedule: Schedule,
    /// Arrivals of other threads between two of ours.
    others: usize,
    next: Option<u64>,
    /// Sessions that can take an arrival, and since when.
    free: VecDeque<(usize, u64)>,
}

impl Agenda {
    pub(super) fn new(mut schedule: Schedule, thread: usize, threads: usize, free: usize) -> Self {
        let next = schedule.nth(thread);
        Self {
            schedule,
            others: threads - 1,
            next,
            free: VecDeque::with_capacity(free),
        }
    }

    pub(super) fn stand_by(&mut self, session: usize, since: u64) {
        self.free.push_back((session, since));
    }

    /// The next arrival, when it is due and somebody can take it.
    pub(super) fn due(&mut self, now: u64) -> Option<(u64, usize, u64)> {
        let due = self.next.filter(|&due| due <= now)?;
        let (session, since) = self.free.pop_front()?;
        Some((due, session, since))
    }

    /// The last that was due has been taken.
    pub(super) fn taken(&mut self) {
        self.next = self.schedule.nth(self.others);
    }

    /// When somebody should be woken for the next arrival.
    pub(super) fn wakes(&self) -> Option<u64> {
        self.next.filter(|_due| !self.free.is_empty())
    }

    pub(super) const fn is_over(&self) -> bool {
        self.next.is_none()
    }

    /// Those that nobody has taken, up to an instant.
    pub(super) fn left_over(mut self, until: u64) -> impl Iterator<Item = u64> {
        let first = self.next;
        std::iter::successors(first, move |_last| self.schedule.nth(self.others))
            .take_while(move |&due| due < until)
    }
}

#[cfg(test)]
mod tests {
    use super::Agenda;
    use crate::pace::{Law, Profile, Schedule};

    fn agenda(thread: usize) -> Agenda {
        let schedule = Schedule::new(Law::Fixed, Profile::constant(1e9), 1);
        Agenda::new(schedule, thread, 2, 4)
    }

    #[test]
    fn threads_share_the_arrivals_and_who_was_free_first_takes_the_next() {
        let mut agenda = agenda(1);
        assert_eq!(agenda.due(100), None, "nobody can take it");
        assert_eq!(agenda.wakes(), None);
        agenda.stand_by(7, 0);
        agenda.stand_by(3, 1);
        assert_eq!((agenda.due(0), agenda.wakes()), (None, Some(1)));
        assert_eq!(agenda.due(1), Some((1, 7, 0)));
        agenda.taken();
        assert_eq!(agenda.due(5), Some((3, 3, 1)));
        agenda.taken();
        let left: Vec<u64> = agenda.left_over(10).collect();
        assert_eq!(left, [5, 7, 9]);
    }
}
