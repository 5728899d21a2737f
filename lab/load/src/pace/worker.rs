//! One thread of the generator: a poller and the sessions it owns.

use std::{
    io::{self, ErrorKind},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use mio::{Events, Poll, Token};

use super::{
    ConnectedUser, Pace, ProgressCounters, Rhythm, Schedule, User, Wait,
    agenda::{Agenda, ArrivalSample},
    desk::Desk,
    session::Session,
    slices::{Recorder, Slice},
    vigil::Vigil,
};
use crate::{alarm::Alarms, priority, processors};

/// How many ready sockets are taken in one turn.
const EVENTS: usize = 1_024;

/// How long after the end answers are waited for.
const GRACE_NANOS: u64 = 10_000_000_000;

/// How often the counts are shown to others, and the longest sleep.
const SHOW_NANOS: u64 = 100_000_000;

/// The token of the alarms' timer; those of the sessions are their numbers.
const TIMER: Token = Token(usize::MAX - 1);

/// The longest sleep while a connection is to be made again.
const RETRY_WAIT: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Worker<'a, U: User> {
    poll: Poll,
    events: Events,
    sessions: Vec<Session<U>>,
    /// The first session that has not had its turn to connect.
    next: usize,
    /// How many sessions may be there at a time.
    at_once: usize,
    desk: Desk,
    thread: usize,
    wait: Wait,
    vigil: Vigil,
    board: &'a ProgressCounters,
    /// When the run ends, in nanoseconds since the start; somebody may end it before.
    until: &'a AtomicU64,
    shown_at: u64,
    /// When it last looked for answers.
    looks_at: u64,
    /// When it was over, in nanoseconds since the start.
    over_at: u64,
}

/// Which of the threads a worker is, of how many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) thread: usize,
    pub(super) threads: usize,
}

/// What a worker leaves.
#[derive(Debug)]
pub(super) struct WorkerOutcome<U> {
    pub(super) thread: usize,
    pub(super) started: Instant,
    /// What it has not handed over.
    pub(super) slice: Box<Slice>,
    pub(super) users: Vec<U>,
    /// When some of the arrivals of an open loop were taken.
    pub(super) sample: Option<ArrivalSample>,
    /// From the start to the last answer.
    pub(super) took: Duration,
    /// From the start to when it had nothing left to do.
    pub(super) over: Duration,
}

/// What all workers look at, and show to others.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkerView<'a> {
    pub(super) board: &'a ProgressCounters,
    pub(super) until: &'a AtomicU64,
}

impl<'a, U: User> Worker<'a, U> {
    pub(super) fn new(
        pace: &Pace,
        place: Place,
        share: Vec<ConnectedUser<U>>,
        at_once: usize,
        recorder: Recorder,
        shared: WorkerView<'a>,
    ) -> io::Result<Self> {
        let Place { thread, threads } = place;
        let poll = Poll::new()?;
        let alarms = Alarms::new(poll.registry(), TIMER, share.len())?;
        let agenda = match &pace.rhythm {
            Rhythm::Closed { .. } => None,
            Rhythm::Open { law, rate } => {
                let schedule = Schedule::new(law.clone(), rate.clone(), pace.seed);
                Some(Agenda::new(schedule, thread, threads, share.len()))
            }
        };
        let registry = poll.registry().try_clone()?;
        let mut desk = Desk::new(pace, thread, recorder, registry, alarms, agenda);
        desk.make_room(U::ANSWER_BYTES_MAX);
        let mut sessions = Vec::with_capacity(share.len());
        let next = share
            .iter()
            .take_while(|guest| guest.stream.is_some())
            .count();
        for (number, guest) in share.into_iter().enumerate() {
            sessions.push(Session::new(guest, Token(number), &desk)?);
        }
        Ok(Self {
            poll,
            events: Events::with_capacity(EVENTS),
            sessions,
            next,
            at_once,
            desk,
            thread,
            wait: pace.wait,
            vigil: match pace.wait {
                Wait::Alert => Vigil::alert(),
                Wait::Asleep | Wait::RealTime | Wait::Awake => {
                    Vigil::brief(processors::has_idle(threads))
                }
            },
            board: shared.board,
            until: shared.until,
            shown_at: 0,
            looks_at: 0,
            over_at: 0,
        })
    }

    /// Runs until the window is over and every answer has come, or the grace has passed, or no
    /// user will ever ask again.
    pub(super) fn run(&mut self) -> io::Result<()> {
        if self.wait.is_real_time() {
            priority::claim().map_err(io::Error::other)?;
        }
        self.desk.begin();
        self.mark(0);
        for session in &mut self.sessions[..self.next] {
            session.start(&mut self.desk);
        }
        loop {
            self.dispatch();
            let now = self.desk.now();
            self.mark(now);
            let all_came = self.desk.agenda.as_ref().is_some_and(Agenda::is_over);
            let all_went = self.desk.finished == self.sessions.len();
            let over = now >= self.desk.stop || all_came || all_went;
            let given_up = now >= self.desk.stop + GRACE_NANOS || self.desk.is_forsaken(now);
            if over && self.desk.in_flight == 0 || given_up {
                self.over_at = now;
                return Ok(());
            }
            self.turn(now)?;
        }
    }

    fn turn(&mut self, now: u64) -> io::Result<()> {
        self.desk.looked = std::mem::replace(&mut self.looks_at, now);
        while self.next < self.sessions.len()
            && self.desk.there < self.at_once
            && now < self.desk.stop
        {
            self.sessions[self.next].arrive(&mut self.desk);
            self.next += 1;
        }
        let down = self.desk.down > 0 && now < self.desk.stop;
        if down {
            for session in &mut self.sessions {
                session.retry(&mut self.desk);
            }
        }
        let wait = if down {
            RETRY_WAIT
        } else {
            self.until_next_mark(now)
        };
        let wait = wait.min(self.rest()?);
        match self.poll.poll(&mut self.events, Some(wait)) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(error),
        }
        for event in &self.events {
            match event.token() {
                TIMER => self.desk.alarms.rang(),
                Token(number) => {
                    self.sessions[number].on_ready(event, &mut self.desk);
                    self.vigil.stirs(self.desk.now());
                }
            }
            dispatch(&mut self.sessions, &mut self.desk);
        }
        let now = self.desk.now();
        while let Some(number) = self.desk.alarms.take(now) {
            self.sessions[number].wake(&mut self.desk);
        }
        Ok(())
    }

    /// How long to sleep at most, for the timer wakes it when something is due. The last part of that
    /// is waited for awake where there is a processor to spare, for being woken takes as long as some
    /// answers do.
    fn rest(&mut self) -> io::Result<Duration> {
        if self.wait == Wait::Awake {
            return Ok(Duration::ZERO);
        }
        let now = self.desk.now();
        let wakes = self.desk.agenda.as_ref().and_then(Agenda::wakes);
        let first = self.desk.alarms.first().into_iter().chain(wakes).min();
        if self.vigil.stays(now, first) {
            return Ok(Duration::ZERO);
        }
        let ahead = self.vigil.ahead();
        self.desk.alarms.arm(now, wakes, ahead)?;
        Ok(Duration::MAX)
    }

    /// Until the next instant at which something changes without any socket.
    fn until_next_mark(&self, now: u64) -> Duration {
        let mut mark = self.shown_at + SHOW_NANOS;
        for other in [
            self.desk.measured_from,
            self.desk.stop,
            self.desk.stop + GRACE_NANOS,
        ] {
            if other > now {
                mark = mark.min(other);
            }
        }
        Duration::from_nanos(mark.saturating_sub(now))
    }

    fn dispatch(&mut self) {
        dispatch(&mut self.sessions, &mut self.desk);
    }

    /// Does what is to be done at certain instants: turns the page, shows the counts, looks whether
    /// the run shall end.
    fn mark(&mut self, now: u64) {
        self.desk.look_at(self.until, now);
        self.desk.turn_page(now);
        if now >= self.shown_at + SHOW_NANOS {
            self.shown_at = now;
            let board = self.board;
            board.answered.store(self.desk.answered, Ordering::Relaxed);
            board.refused.store(self.desk.refused, Ordering::Relaxed);
            board.failed.store(self.desk.failed, Ordering::Relaxed);
        }
    }

    /// What it leaves, and its connections closed.
    pub(super) fn end(mut self) -> WorkerOutcome<U> {
        for session in &mut self.sessions {
            session.abandon(&mut self.desk);
        }
        let stop = self.desk.stop;
        let sample = self.desk.agenda.take().map(|mut agenda| {
            for due in agenda.left_over(stop) {
                self.desk.tally().censored.record(stop - due);
            }
            agenda.into_sample()
        });
        let took = Duration::from_nanos(self.desk.last_answer);
        let cpu = self.desk.cpu_left();
        WorkerOutcome {
            thread: self.thread,
            started: self.desk.start,
            took,
            over: Duration::from_nanos(self.over_at),
            sample,
            slice: self.desk.recorder.close(cpu),
            users: self.sessions.into_iter().map(Session::into_user).collect(),
        }
    }
}

/// Gives arrivals that are due to those who can take them.
fn dispatch<U: User>(sessions: &mut [Session<U>], desk: &mut Desk) {
    while desk.agenda.is_some() {
        let now = desk.now();
        let due = desk.agenda.as_mut().and_then(|agenda| agenda.due(now));
        let Some((due, session, since)) = due.filter(|(due, ..)| *due < desk.stop) else {
            return;
        };
        if sessions[session].arrival(due, since, now, desk)
            && let Some(agenda) = &mut desk.agenda
        {
            agenda.taken(due, since, now);
        }
    }
}
