//! What is to be done at certain instants, such as when resting users are to ask again.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    io,
    os::fd::{AsRawFd as _, OwnedFd},
};

use mio::{Interest, Registry, Token, unix::SourceFd};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// The alarms of one thread: a timer of the system wakes its poller for the first of them. The
/// poller's own timeout has whole milliseconds, which is more than many answers take.
#[derive(Debug)]
pub struct Alarms {
    timer: OwnedFd,
    /// The instants, in nanoseconds since the start, and the sessions they are for.
    set: BinaryHeap<Reverse<(u64, usize)>>,
    /// The instant that the timer is set to.
    armed: Option<u64>,
}

impl Alarms {
    /// None yet, and room for one of each session. The poller tells with `token` that one rings.
    ///
    /// # Errors
    /// The timer cannot be made.
    pub fn new(registry: &Registry, token: Token, sessions: usize) -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        registry.register(&mut SourceFd(&timer.as_raw_fd()), token, Interest::READABLE)?;
        Ok(Self {
            timer,
            set: BinaryHeap::with_capacity(sessions),
            armed: None,
        })
    }

    /// The first of them.
    #[must_use]
    pub fn first(&self) -> Option<u64> {
        self.set.peek().map(|Reverse((instant, _))| *instant)
    }

    /// Adds one, in nanoseconds since the start.
    pub fn set(&mut self, instant: u64, session: usize) {
        self.set.push(Reverse((instant, session)));
    }

    /// The session of an alarm that rings.
    pub fn take(&mut self, now: u64) -> Option<usize> {
        let &Reverse((instant, session)) = self.set.peek()?;
        if instant > now {
            return None;
        }
        self.set.pop();
        Some(session)
    }

    /// The timer has rung: it must be set again.
    pub const fn rang(&mut self) {
        self.armed = None;
    }

    /// Sets the timer to the first alarm, or to `also` when that comes before, or so many nanoseconds
    /// `ahead` of it: for who waits for the rest awake. Setting it takes back that it has rung.
    ///
    /// # Errors
    /// The timer cannot be set.
    ///
    /// # Panics
    /// Never: a run lasts less than 584 years.
    pub fn arm(&mut self, now: u64, also: Option<u64>, ahead: u64) -> io::Result<()> {
        let first = self.first().into_iter().chain(also).min();
        let first = first.map(|instant| instant.saturating_sub(ahead));
        if first == self.armed {
            return Ok(());
        }
        self.armed = first;
        // Zero would disarm it.
        let wait = first.map_or(0, |instant| instant.saturating_sub(now).max(1));
        let once = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: Timespec {
                tv_sec: i64::try_from(wait / NANOS).expect("a run lasts less than 584 years"),
                tv_nsec: i64::try_from(wait % NANOS).expect("less than a second"),
            },
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)?;
        Ok(())
    }
}

const NANOS: u64 = 1_000_000_000;
