//! One thread of the generator: a poller and the sessions it owns.

use std::{
    io::{self, ErrorKind},
    net::TcpStream,
    sync::atomic::Ordering,
    time::Duration,
};

use mio::{Events, Poll, Token};

use super::{
    Board, Pace, Tally, User,
    alarm::Alarms,
    session::{Desk, Session},
};
use crate::crew::thread_time;

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
    board: &'a Board,
    shown_at: u64,
    cpu: Cpu,
}

/// What a worker leaves.
#[derive(Debug)]
pub(super) struct End<U> {
    pub(super) tally: Tally,
    pub(super) users: Vec<U>,
    /// The thread's processor time in the measured window.
    pub(super) cpu: Duration,
    /// From the start to the last answer.
    pub(super) took: Duration,
}

/// The thread's processor time, read when the window begins and when it ends.
#[derive(Clone, Copy, Debug)]
enum Cpu {
    Before,
    Since(Duration),
    Window(Duration),
}

impl<'a, U: User> Worker<'a, U> {
    pub(super) fn new(
        pace: &Pace,
        share: Vec<(U, Option<TcpStream>)>,
        at_once: usize,
        board: &'a Board,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        let alarms = Alarms::new(poll.registry(), TIMER, share.len())?;
        let tally = Tally::new(U::OPERATIONS, U::WHOLES);
        let desk = Desk::new(pace, tally, poll.registry().try_clone()?, alarms);
        let mut sessions = Vec::with_capacity(share.len());
        let next = share
            .iter()
            .take_while(|(_, stream)| stream.is_some())
            .count();
        for (number, (user, stream)) in share.into_iter().enumerate() {
            let stream = stream.map(mio::net::TcpStream::from_std);
            sessions.push(Session::new(user, Token(number), stream, &desk)?);
        }
        Ok(Self {
            poll,
            events: Events::with_capacity(EVENTS),
            sessions,
            next,
            at_once,
            desk,
            board,
            shown_at: 0,
            cpu: Cpu::Before,
        })
    }

    /// Runs until the window is over and every answer has come, or the grace has passed, or no
    /// user will ever ask again.
    pub(super) fn run(mut self) -> io::Result<End<U>> {
        self.desk.begin();
        self.mark(0);
        for session in &mut self.sessions[..self.next] {
            session.begin(&mut self.desk);
        }
        loop {
            let now = self.desk.now();
            self.mark(now);
            let over = now >= self.desk.stop || self.desk.finished == self.sessions.len();
            if over && self.desk.in_flight == 0 || now >= self.desk.stop + GRACE_NANOS {
                return Ok(self.end());
            }
            self.turn(now)?;
        }
    }

    fn turn(&mut self, now: u64) -> io::Result<()> {
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
        self.desk.alarms.arm(self.desk.now())?;
        match self.poll.poll(&mut self.events, Some(wait)) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(error),
        }
        for event in &self.events {
            match event.token() {
                TIMER => self.desk.alarms.rang(),
                Token(number) => self.sessions[number].on_ready(event, &mut self.desk),
            }
        }
        let now = self.desk.now();
        while let Some(number) = self.desk.alarms.take(now) {
            self.sessions[number].wake(&mut self.desk);
        }
        Ok(())
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

    /// Does what is to be done at certain instants: shows the counts, reads the processor time.
    fn mark(&mut self, now: u64) {
        match self.cpu {
            Cpu::Before if now >= self.desk.measured_from => {
                self.cpu = Cpu::Since(thread_time());
            }
            Cpu::Since(start) if now >= self.desk.stop => {
                self.cpu = Cpu::Window(thread_time().saturating_sub(start));
            }
            Cpu::Before | Cpu::Since(_) | Cpu::Window(_) => {}
        }
        if now >= self.shown_at + SHOW_NANOS {
            self.shown_at = now;
            let board = self.board;
            board.answered.store(self.desk.answered, Ordering::Relaxed);
            board.refused.store(self.desk.refused, Ordering::Relaxed);
            board.failed.store(self.desk.failed, Ordering::Relaxed);
        }
    }

    fn end(mut self) -> End<U> {
        for session in &mut self.sessions {
            session.abandon(&mut self.desk);
        }
        let cpu = match self.cpu {
            Cpu::Before => Duration::ZERO,
            Cpu::Since(start) => thread_time().saturating_sub(start),
            Cpu::Window(used) => used,
        };
        let took = Duration::from_nanos(self.desk.last_answer);
        End {
            took,
            tally: self.desk.tally,
            users: self.sessions.into_iter().map(Session::into_user).collect(),
            cpu,
        }
    }
}
