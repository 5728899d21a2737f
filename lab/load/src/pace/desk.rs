//! What all sessions of a thread share: its clock, its counts, its buffer.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use mio::Registry;
use turnstile_client::{Denied, ServerAddress};
use turnstile_stats::chance::exponential;

use super::{
    Answer, Length, Pace, Rhythm, Tally, Think, agenda::Agenda, schedule::Profile, slices::Recorder,
};
use crate::{alarm::Alarms, crew::thread_time, seed::Dice};

/// One read takes at most so much: more than a deep pipeline is owed at once.
pub(super) const READ_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Desk {
    pub(super) registry: Registry,
    pub(super) recorder: Recorder,
    pub(super) answered: u64,
    pub(super) refused: u64,
    pub(super) failed: u64,
    /// Requests whose answer is owed, over all sessions.
    pub(super) in_flight: usize,
    /// Users that will never ask again.
    pub(super) finished: usize,
    /// Sessions that have arrived in turn and have not left.
    pub(super) there: usize,
    /// When the last answer came, in nanoseconds since the start.
    pub(super) last_answer: u64,
    /// When the thread looked for answers before the look that found those of this turn.
    pub(super) looked: u64,
    /// Sessions without a connection, or with one in the making.
    pub(super) down: usize,
    pub(super) alarms: Alarms,
    /// The arrivals, where all share a schedule.
    pub(super) agenda: Option<Agenda>,
    /// When the measured window begins and ends, in nanoseconds since the start.
    pub(super) measured_from: u64,
    pub(super) stop: u64,
    pub(super) address: ServerAddress,
    pub(super) pipeline: usize,
    pub(super) no_delay: bool,
    /// Answers are read here, behind what was left of the session's last read; it has room for the
    /// longest of them.
    pub(super) scratch: Box<[u8]>,
    pub(super) start: Instant,
    think: Think,
    /// How many users there are over time; none: all, always.
    stages: Option<Profile>,
    deadline: u64,
    patience: u64,
    /// Since when answers are owed, and none has come.
    quiet_since: u64,
    dice: Dice,
    /// The thread's processor time that has been written down.
    cpu: Duration,
}

impl Desk {
    pub(super) fn new(
        pace: &Pace,
        thread: usize,
        recorder: Recorder,
        registry: Registry,
        alarms: Alarms,
        agenda: Option<Agenda>,
    ) -> Self {
        let measured_from = match pace.length {
            Length::Fixed { warm_up, .. } => nanos(warm_up),
            Length::Precise { .. } => 0,
        };
        let (think, stages) = match &pace.rhythm {
            Rhythm::Closed { think, stages } => (*think, stages.clone()),
            Rhythm::Open { .. } => (Think::None, None),
        };
        let thread = u64::try_from(thread).expect("threads are few");
        Self {
            registry,
            recorder,
            alarms,
            agenda,
            answered: 0,
            refused: 0,
            failed: 0,
            in_flight: 0,
            finished: 0,
            there: 0,
            last_answer: 0,
            looked: 0,
            down: 0,
            measured_from,
            stop: nanos(pace.length.most()),
            address: pace.address.clone(),
            pipeline: pace.pipeline,
            scratch: Box::default(),
            start: Instant::now(),
            think,
            stages,
            deadline: pace.deadline.map_or(u64::MAX, nanos),
            patience: pace.patience.map_or(u64::MAX, nanos),
            quiet_since: 0,
            no_delay: pace.no_delay,
            // No user has such a number.
            dice: Dice::of_user(pace.seed, u64::MAX - 1 - thread),
            cpu: Duration::ZERO,
        }
    }

    /// For a read behind so much of an unfinished answer.
    pub(super) fn make_room(&mut self, answer: usize) {
        self.scratch = vec![0; answer + READ_BYTES].into_boxed_slice();
    }

    /// An instant that is told in nanoseconds since the start.
    pub(super) fn instant(&self, since: u64) -> Instant {
        self.start + Duration::from_nanos(since)
    }

    /// The clock begins anew: everything is ready.
    pub(super) fn begin(&mut self) {
        self.start = Instant::now();
        self.cpu = thread_time();
    }

    /// Nanoseconds since the start.
    pub(super) fn now(&self) -> u64 {
        nanos(self.start.elapsed())
    }

    pub(super) fn tally(&mut self) -> &mut Tally {
        &mut self.recorder.slice.tally
    }

    /// The run ends now, if that was decided.
    pub(super) fn look_at(&mut self, until: &AtomicU64, now: u64) {
        if until.load(Ordering::Relaxed) < now {
            self.stop = self.stop.min(now);
        }
    }

    /// Turns the page of the recorder when it is time.
    pub(super) fn turn_page(&mut self, now: u64) {
        let last = &mut self.cpu;
        self.recorder.turn(now, || {
            let used = thread_time();
            micros(used.saturating_sub(std::mem::replace(last, used)))
        });
    }

    /// Processor time that has not been written down, in microseconds.
    pub(super) fn cpu_left(&self) -> u32 {
        micros(thread_time().saturating_sub(self.cpu))
    }

    /// Whether what is answered now is part of the measured window.
    pub(super) fn measures(&self, done: u64) -> bool {
        (self.measured_from..self.stop).contains(&done)
    }

    const fn is_late(&self, due: u64, done: u64) -> bool {
        done - due > self.deadline
    }

    /// Another answer is owed.
    pub(super) const fn owe(&mut self, now: u64) {
        if self.in_flight == 0 {
            self.quiet_since = now;
        }
        self.in_flight += 1;
    }

    /// Whether answers are owed, and none has come for too long.
    pub(super) const fn is_forsaken(&self, now: u64) -> bool {
        self.in_flight > 0 && now.saturating_sub(self.quiet_since) > self.patience
    }

    /// Notes an answer, of whatever operation.
    pub(super) fn hear(&mut self, answer: Answer<'_>, done: u64, owed: bool) {
        self.turn_page(done);
        self.in_flight -= usize::from(owed);
        if self.answered == 0
            && let Answer::Error(code) = answer
            && Denied::is_code(code)
        {
            // Whoever may not ask for the first thing gets nothing done.
            self.stop = self.stop.min(done);
        }
        self.answered += 1;
        self.last_answer = done;
        self.quiet_since = done;
        self.failed += u64::from(matches!(answer, Answer::Error(_)));
        self.refused += u64::from(matches!(answer, Answer::Refused(_)));
    }

    /// Counts what a user began, and what has come of it; whether it is late. What `counts` is
    /// timed; an error is counted as such, and is not late.
    pub(super) fn count(&mut self, counts: bool, error: bool, due: u64, done: u64) -> bool {
        let late = !error && self.is_late(due, done);
        let bin = &mut self.recorder.bin;
        if counts {
            bin.answered += 1;
            bin.response += done - due;
        }
        bin.failed += u32::from(error || late);
        self.censor(due, done);
        late
    }

    /// An answer to what was due then will never come.
    pub(super) fn give_up(&mut self, due: u64) {
        self.failed += 1;
        self.in_flight -= 1;
        self.recorder.bin.failed += 1;
        self.censor(due, self.now());
    }

    /// What was due before the end and is not done by then had waited for so long.
    fn censor(&mut self, due: u64, done: u64) {
        if done >= self.stop && due < self.stop {
            let waited = self.stop - due;
            self.tally().censored.record(waited);
        }
    }

    pub(super) fn thinks(&self) -> bool {
        self.think != Think::None
    }

    /// How long a user thinks now.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "nanoseconds of thought are positive and far below 2^64"
    )]
    pub(super) fn thought(&mut self) -> u64 {
        match self.think {
            Think::None => 0,
            Think::Fixed(time) => nanos(time),
            Think::Exponential(mean) => {
                exponential(&mut || self.dice.next(), mean.as_secs_f64() * 1e9) as u64
            }
        }
    }

    /// From when on the group of which this user is the first is there, 0 when it is; nothing when it will never be again.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "nanoseconds of a run are positive and far below 2^64"
    )]
    pub(super) fn active(&self, first: usize, now: u64) -> Option<u64> {
        let Some(stages) = &self.stages else {
            return Some(0);
        };
        let (before, seconds) = (
            turnstile_stats::units::to_float(u64::try_from(first).ok()?),
            turnstile_stats::units::to_float(now) / 1e9,
        );
        let from = stages.next_above(before, seconds)?;
        let waits = from > seconds;
        Some(if waits { (from * 1e9).ceil() as u64 } else { 0 })
    }
}

pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("a run lasts less than 584 years")
}

/// As a bin has them: whole, and at most an hour and a bit.
fn micros(duration: Duration) -> u32 {
    u32::try_from(duration.as_micros()).unwrap_or(u32::MAX)
}
