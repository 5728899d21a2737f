//! How far the order of the positions is known, while users wait for answers.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use crate::compact::Compact;

/// Of a user that waits for no answer.
const IDLE: u64 = u64::MAX;

/// What all users of a run share with its checker.
#[derive(Debug)]
pub(crate) struct Horizon {
    /// The highest position that was answered.
    answered: AtomicU64,
    /// For each user, what it waits for.
    waiting: Box<[WaitingUser]>,
    epoch: Instant,
}

/// The oldest operation of a user that is not answered, or whose answer it has not told. A cache line
/// of its own.
#[derive(Debug)]
#[repr(align(64))]
struct WaitingUser {
    /// Its position is above this one; of no meaning when nothing was asked.
    floor: AtomicU64,
    /// When it was asked.
    asked: AtomicU64,
}

/// That something is asked now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The highest position that had been answered.
    pub floor: u64,
    /// In nanoseconds since the beginning.
    pub at: u64,
}

/// One operation, asked and answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<O> {
    /// The user's number.
    pub user: u32,
    pub asked: Asked,
    /// When the answer had come, or was given up, in nanoseconds since the beginning.
    pub done: u64,
    pub seen: Seen,
    pub operation: O,
}

/// What is known of the place of an operation in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It was carried out at this position.
    At(u64),
    /// It changed nothing, and its answer tells no position.
    Reading,
    /// No answer came: carried out or not, at any position above its floor.
    Unknown,
}

/// How far everything is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownUpTo {
    /// Nothing that was not told yet stands at or below this position.
    pub(crate) position: u64,
    /// Nothing that was not told yet was asked before this instant.
    pub(crate) instant: u64,
}

impl KnownUpTo {
    /// When nobody asks any more.
    pub(crate) const ALL: Self = Self {
        position: u64::MAX,
        instant: u64::MAX,
    };
}

impl<O: Compact> Compact for Record<O> {
    fn put(&self, out: &mut Vec<u8>) {
        self.user.put(out);
        self.asked.floor.put(out);
        self.asked.at.put(out);
        // As far from what was there when it was asked: that is short.
        self.done.wrapping_sub(self.asked.at).put(out);
        match self.seen {
            Seen::Reading => out.push(0),
            Seen::Unknown => out.push(1),
            Seen::At(position) => {
                out.push(2);
                position.wrapping_sub(self.asked.floor).put(out);
            }
        }
        self.operation.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let user = u32::take(bytes)?;
        let (floor, at) = <(u64, u64)>::take(bytes)?;
        let done = at.wrapping_add(u64::take(bytes)?);
        let seen = match u8::take(bytes)? {
            0 => Seen::Reading,
            1 => Seen::Unknown,
            2 => Seen::At(floor.wrapping_add(u64::take(bytes)?)),
            _ => return None,
        };
        Some(Self {
            user,
            asked: Asked { floor, at },
            done,
            seen,
            operation: O::take(bytes)?,
        })
    }
}

impl Horizon {
    /// Of so many users; `position` is the server's before the first asks.
    pub(crate) fn new(users: usize, position: u64) -> Self {
        let idle = || WaitingUser {
            floor: AtomicU64::new(position),
            asked: AtomicU64::new(IDLE),
        };
        Self {
            answered: AtomicU64::new(position),
            waiting: (0..users).map(|_| idle()).collect(),
            epoch: Instant::now(),
        }
    }

    /// An instant in nanoseconds since the beginning.
    pub(crate) fn at(&self, instant: Instant) -> u64 {
        let since = instant.saturating_duration_since(self.epoch);
        u64::try_from(since.as_nanos()).expect("a run lasts less than 584 years")
    }

    /// What is known of everything that was told before: what was told is to be fetched after this.
    ///
    /// Whoever begins to wait shows so first and reads the position afterwards; here it is read first.
    /// So who is not seen waiting asks at or above it, and later than now.
    pub(crate) fn known(&self) -> KnownUpTo {
        let mut known = KnownUpTo {
            position: self.answered.load(Ordering::SeqCst),
            instant: self.at(Instant::now()),
        };
        for waiting in &self.waiting {
            let asked = waiting.asked.load(Ordering::SeqCst);
            if asked != IDLE {
                // What was asked is shown behind its floor: this one is not from before.
                let floor = waiting.floor.load(Ordering::Acquire);
                known.position = known.position.min(floor);
                known.instant = known.instant.min(asked);
            }
        }
        known
    }

    /// Shows that a user who waited for nothing asks now; what had been answered.
    pub(crate) fn begins(&self, user: usize, at: u64) -> Asked {
        let waiting = &self.waiting[user];
        // Perhaps too low, but shown before the position is read for good.
        let floor = self.answered.load(Ordering::Relaxed);
        waiting.floor.store(floor, Ordering::Relaxed);
        waiting.asked.store(at, Ordering::SeqCst);
        self.asks(at)
    }

    /// What had been answered when a user asks who waits already.
    pub(crate) fn asks(&self, at: u64) -> Asked {
        let floor = self.answered.load(Ordering::SeqCst);
        Asked { floor, at }
    }

    /// This position was answered.
    pub(crate) fn answered(&self, position: u64) {
        if position > self.answered.load(Ordering::Relaxed) {
            self.answered.fetch_max(position, Ordering::SeqCst);
        }
    }

    /// A user has told all that it had asked before `next`, for whose answer it waits.
    pub(crate) fn told(&self, user: usize, next: Option<&Asked>) {
        let waiting = &self.waiting[user];
        let Some(next) = next else {
            return waiting.asked.store(IDLE, Ordering::Release);
        };
        waiting.floor.store(next.floor, Ordering::Release);
        waiting.asked.store(next.at, Ordering::Release);
    }
}
