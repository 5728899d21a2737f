//! Who asked what and when, and how far the order of the positions is known.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::Instant,
};

/// Of a user that waits for no answer.
const IDLE: u64 = u64::MAX;

/// How many records may wait for the checker, which looks some hundred times a second: a thousand of
/// each operation that is under way, and those of a tenth of a second of the fastest load at most. Who
/// finds no room waits.
const RECORDS_EACH: usize = 1_024;
const RECORDS_MAX: usize = 64 * 1_024;

/// What all users of a run share with its checker.
#[derive(Debug)]
pub struct Horizon {
    /// The highest position that was answered.
    answered: AtomicU64,
    /// For each user, what it waits for.
    waiting: Box<[Waiting]>,
    epoch: Instant,
}

/// The oldest operation of a user that is not answered. A cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
struct Waiting {
    /// Its position is above this one.
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

/// A user's line to the checker. It does not allocate once as many operations are under way as ever
/// are, and waits only while the checker is far behind.
#[derive(Debug)]
pub struct Witness<O> {
    user: usize,
    horizon: Arc<Horizon>,
    records: SyncSender<Record<O>>,
    /// What was asked and not answered, in order.
    pending: VecDeque<Asked>,
}

/// Lines for so many users, each with so many operations under way at most; `position` is the
/// server's before the first of them.
#[must_use]
pub fn witnesses<O>(
    users: usize,
    pipeline: usize,
    position: u64,
) -> (Vec<Witness<O>>, Arc<Horizon>, Receiver<Record<O>>) {
    let idle = || Waiting {
        floor: AtomicU64::new(IDLE),
        asked: AtomicU64::new(IDLE),
    };
    let horizon = Arc::new(Horizon {
        answered: AtomicU64::new(position),
        waiting: (0..users).map(|_| idle()).collect(),
        epoch: Instant::now(),
    });
    let room = users.saturating_mul(pipeline).saturating_mul(RECORDS_EACH);
    let (sender, receiver) = sync_channel(room.min(RECORDS_MAX));
    let witness = |user| Witness {
        user,
        horizon: Arc::clone(&horizon),
        records: sender.clone(),
        pending: VecDeque::with_capacity(pipeline),
    };
    let witnesses = (0..users).map(witness).collect();
    (witnesses, horizon, receiver)
}

/// How far everything is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// Nothing that is not answered yet stands at or below this position.
    pub(crate) position: u64,
    /// Nothing that is not answered yet was asked before this instant.
    pub(crate) instant: u64,
}

impl Horizon {
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).expect("a run lasts less than 584 years")
    }

    /// What is known of everything that was handed over before: the records are to be fetched after
    /// this.
    ///
    /// Whoever begins to wait shows so first and reads position and clock afterwards; here they are
    /// read first. So who is not seen waiting asks at or above both.
    pub(crate) fn known(&self) -> Known {
        let mut known = Known {
            position: self.answered.load(Ordering::SeqCst),
            instant: self.now(),
        };
        for waiting in &self.waiting {
            known.position = known.position.min(waiting.floor.load(Ordering::SeqCst));
            known.instant = known.instant.min(waiting.asked.load(Ordering::SeqCst));
        }
        known
    }
}

impl<O> Witness<O> {
    /// Its user's number.
    #[must_use]
    pub const fn user(&self) -> usize {
        self.user
    }

    /// Notes that an operation is asked; to be called before its first byte leaves.
    pub fn asks(&mut self) -> Asked {
        let horizon = &self.horizon;
        let waiting = &horizon.waiting[self.user];
        let first = self.pending.is_empty();
        if first {
            // Too low, but shown before clock and position are read for good.
            waiting.asked.store(0, Ordering::SeqCst);
            let floor = horizon.answered.load(Ordering::SeqCst);
            waiting.floor.store(floor, Ordering::SeqCst);
        }
        let at = horizon.now();
        let floor = horizon.answered.load(Ordering::SeqCst);
        if first {
            waiting.asked.store(at, Ordering::SeqCst);
        }
        let asked = Asked { floor, at };
        self.pending.push_back(asked);
        asked
    }

    /// Notes the answer to the oldest operation that is not answered.
    ///
    /// # Panics
    /// Nothing was asked.
    pub fn hears(&mut self, seen: Seen, operation: O) {
        if let Seen::At(position) = seen {
            self.horizon.answered.fetch_max(position, Ordering::SeqCst);
        }
        self.record(Some((seen, operation)));
    }

    /// Notes an answer that says that nothing was done, and nothing else.
    ///
    /// # Panics
    /// Nothing was asked.
    pub fn hears_nothing(&mut self) {
        self.record(None);
    }

    fn record(&mut self, told: Option<(Seen, O)>) {
        let asked = self
            .pending
            .pop_front()
            .expect("an answer comes to what was asked");
        if let Some((seen, operation)) = told {
            let record = Record {
                user: u32::try_from(self.user).expect("users are at most 50,000"),
                asked,
                done: self.horizon.now(),
                seen,
                operation,
            };
            // Without a checker nobody wants to know.
            self.records.send(record).ok();
        }
        let next = self.pending.front();
        let waiting = &self.horizon.waiting[self.user];
        // The checker fetches records after it has looked here: it has that of whoever is idle.
        let floor = next.map_or(IDLE, |asked| asked.floor);
        waiting.floor.store(floor, Ordering::SeqCst);
        let at = next.map_or(IDLE, |asked| asked.at);
        waiting.asked.store(at, Ordering::SeqCst);
    }
}
