//! The arrivals of an open loop and those who can take them.

use std::collections::VecDeque;

use turnstile_stats::units::to_float;

use super::schedule::Schedule;
use crate::thin;

/// So many instants of arrivals are kept; when there are more, each second one goes.
const SAMPLES: usize = 1_024;

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
    sample: ArrivalSample,
}

/// Instants at which arrivals were taken, each so many, over the whole run in constant memory.
#[derive(Clone, Debug)]
pub(super) struct ArrivalSample {
    /// In nanoseconds since the start; of the arrivals of all threads each `step`-th.
    pub(super) instants: Vec<u64>,
    pub(super) step: usize,
    /// Arrivals of this thread until the next that is kept.
    left: usize,
    threads: usize,
}

impl Agenda {
    pub(super) fn new(mut schedule: Schedule, thread: usize, threads: usize, free: usize) -> Self {
        let next = schedule.nth(thread);
        Self {
            schedule,
            others: threads - 1,
            next,
            free: VecDeque::with_capacity(free),
            sample: ArrivalSample::new(threads),
        }
    }

    pub(super) fn into_sample(self) -> ArrivalSample {
        self.sample
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

    /// The last that was due has been taken, at this instant. Where it had to wait for somebody to be
    /// free that is not the generator's fault, and counts as its due instant.
    pub(super) fn taken(&mut self, due: u64, since: u64, now: u64) {
        self.sample.add(if since <= due { now } else { due });
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
    pub(super) fn left_over(&mut self, until: u64) -> impl Iterator<Item = u64> {
        let first = self.next;
        std::iter::successors(first, move |_last| self.schedule.nth(self.others))
            .take_while(move |&due| due < until)
    }
}

impl ArrivalSample {
    fn new(threads: usize) -> Self {
        Self {
            instants: Vec::with_capacity(SAMPLES),
            step: threads,
            left: 0,
            threads,
        }
    }

    fn add(&mut self, instant: u64) {
        if self.left > 0 {
            self.left -= 1;
            return;
        }
        if self.instants.len() == SAMPLES {
            thin::halve(&mut self.instants);
            self.step *= 2;
        }
        self.instants.push(instant);
        self.left = self.step / self.threads - 1;
    }

    /// Gaps in nanoseconds between each so many arrivals, so that their mean at this rate is `least`
    /// or longer; and how many arrivals those are.
    pub(super) fn gaps(&self, rate: f64, least: f64) -> (Vec<f64>, u64) {
        let each = to_float(u64::try_from(self.step).expect("few")) * 1e9 / rate;
        let mut together = 1;
        let mut mean = each;
        while mean < least {
            together += 1;
            mean += each;
        }
        let kept: Vec<u64> = self.instants.iter().copied().step_by(together).collect();
        let gaps = kept
            .windows(2)
            .map(|pair| to_float(pair[1].saturating_sub(pair[0])));
        let step = u64::try_from(self.step * together).expect("few");
        (gaps.collect(), step)
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
        agenda.taken(1, 0, 1);
        assert_eq!(agenda.due(5), Some((3, 3, 1)));
        agenda.taken(1, 0, 1);
        let left: Vec<u64> = agenda.left_over(10).collect();
        assert_eq!(left, [5, 7, 9]);
    }

    #[test]
    fn of_a_long_run_arrivals_at_equal_steps_are_kept() {
        for threads in [1, 3] {
            let mut sample = super::ArrivalSample::new(threads);
            for number in 0..10_000 {
                sample.add(number);
            }
            let step = u64::try_from(sample.step / threads).unwrap();
            assert!(sample.instants.len() > super::SAMPLES / 2, "{threads}");
            for (at, instant) in (0..).zip(&sample.instants) {
                assert_eq!(*instant, at * step, "{threads}");
            }
            // One arrival each nanosecond and thread.
            let (gaps, together) = sample.gaps(1e9, 100.0);
            assert!(together >= 100, "{together}");
            let mean = together / u64::try_from(threads).unwrap();
            assert!(
                gaps.iter()
                    .all(|gap| (gap - turnstile_stats::units::to_float(mean)).abs() < 1e-9)
            );
        }
    }
}
