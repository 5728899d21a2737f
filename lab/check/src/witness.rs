//! What users tell: as bytes, put together, so that telling costs the load as little as can be.

use std::{
    collections::VecDeque,
    marker::PhantomData,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    compact::Compact,
    horizon::{Asked, Horizon, KnownUpTo, Record, Seen},
};

/// Users share so many outboxes, so that threads seldom meet at one.
const OUTBOXES: usize = 8;

/// So many bytes may wait in each: a tenth of a second of the fastest load. Who finds no room waits.
const OUTBOX_BYTES_MAX: usize = 512 * 1024;

/// How often whoever collects looks for what was told. Each look wakes a thread beside the load, and in
/// between no more gathers than a tenth of what an outbox holds.
pub(crate) const COLLECT_INTERVAL: Duration = Duration::from_millis(10);

/// How many bytes a telling takes, about.
const TELLING_BYTES: usize = 64;

/// What all users of a run share with whoever collects what they tell.
#[derive(Debug)]
struct SharedOutboxes {
    horizon: Horizon,
    outboxes: [WitnessOutbox; OUTBOXES],
}

/// Where some users put what they tell, one after the other. Nobody else has its cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct WitnessOutbox {
    letters: Mutex<OutboxContents>,
    /// Somebody has collected, or will never again.
    collected: Condvar,
}

#[derive(Debug, Default)]
struct OutboxContents {
    bytes: Vec<u8>,
    /// Nobody will ever collect.
    abandoned: bool,
}

/// A user's line to the checker.
///
/// What it hears in one go is put together and handed over at once, before anything that comes later is
/// asked ([`at`](Self::at)), or when it waits for nothing more. It does not allocate once as many
/// operations are under way as ever are, and waits only while the checker is far behind. It does not
/// look at the clock: whoever paces it has.
#[derive(Debug)]
pub struct Witness<O> {
    user: usize,
    table: Arc<SharedOutboxes>,
    /// In nanoseconds since the beginning.
    now: u64,
    /// What was asked and not answered, in order.
    pending: VecDeque<Asked>,
    /// What was heard and is not handed over.
    heard: Vec<u8>,
    /// Whether there is anything that the others do not know.
    has_news: bool,
    /// The highest position that was heard.
    highest: u64,
    operation: PhantomData<fn(O)>,
}

/// What all users tell, collected now and then.
#[derive(Debug)]
pub struct Chronicle<O> {
    table: Arc<SharedOutboxes>,
    /// What was collected last, of each outbox.
    pieces: [Vec<u8>; OUTBOXES],
    operation: PhantomData<fn() -> O>,
}

/// Lines for so many users, each with so many operations under way at most; `position` is the
/// server's before the first of them.
#[must_use]
pub fn witnesses<O>(
    users: usize,
    pipeline: usize,
    position: u64,
) -> (Vec<Witness<O>>, Chronicle<O>) {
    let table = Arc::new(SharedOutboxes {
        horizon: Horizon::new(users, position),
        outboxes: Default::default(),
    });
    let witness = |user| Witness {
        user,
        table: Arc::clone(&table),
        now: 0,
        pending: VecDeque::with_capacity(pipeline),
        heard: Vec::with_capacity(pipeline * TELLING_BYTES),
        has_news: false,
        highest: 0,
        operation: PhantomData,
    };
    let witnesses = (0..users).map(witness).collect();
    let chronicle = Chronicle {
        table,
        pieces: Default::default(),
        operation: PhantomData,
    };
    (witnesses, chronicle)
}

impl WitnessOutbox {
    fn open(&self) -> MutexGuard<'_, OutboxContents> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts something in; waits while there is no room.
    fn put(&self, bytes: &[u8]) {
        let full = |letters: &mut OutboxContents| {
            let length = letters.bytes.len();
            length > 0 && length + bytes.len() > OUTBOX_BYTES_MAX && !letters.abandoned
        };
        let letters = self.collected.wait_while(self.open(), full);
        let mut letters = letters.unwrap_or_else(PoisonError::into_inner);
        if !letters.abandoned {
            letters.bytes.extend_from_slice(bytes);
        }
    }

    /// Takes all that is there, and leaves an empty piece.
    fn take(&self, piece: &mut Vec<u8>) {
        piece.clear();
        std::mem::swap(&mut self.open().bytes, piece);
        if !piece.is_empty() {
            self.collected.notify_all();
        }
    }

    fn abandon(&self) {
        self.open().abandoned = true;
        self.collected.notify_all();
    }
}

impl<O: Compact> Witness<O> {
    /// Its user's number.
    #[must_use]
    pub const fn user(&self) -> usize {
        self.user
    }

    /// It is told what time it is: before it hears, and again when it has heard all that came, or asks.
    pub fn at(&mut self, now: Instant) {
        self.hand_over();
        self.now = self.table.horizon.at(now);
    }

    /// Notes that an operation is asked; to be called before its first byte leaves.
    pub fn asks(&mut self) -> Asked {
        let horizon = &self.table.horizon;
        let asked = if self.pending.is_empty() {
            horizon.begins(self.user, self.now)
        } else {
            horizon.asks(self.now)
        };
        self.pending.push_back(asked);
        asked
    }

    /// Notes the answer to the oldest operation that is not answered.
    ///
    /// # Panics
    /// Nothing was asked.
    pub fn hears(&mut self, seen: Seen, operation: O) {
        if let Seen::At(position) = seen {
            self.highest = self.highest.max(position);
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
                done: self.now,
                seen,
                operation,
            };
            record.put(&mut self.heard);
        }
        self.has_news = true;
        if self.pending.is_empty() {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        if !self.has_news {
            return;
        }
        self.has_news = false;
        let horizon = &self.table.horizon;
        horizon.answered(self.highest);
        if !self.heard.is_empty() {
            self.table.outboxes[self.user % OUTBOXES].put(&self.heard);
            self.heard.clear();
        }
        // Whoever collects does so after it has looked here: it has what was told before.
        horizon.told(self.user, self.pending.front());
    }
}

impl<O> Chronicle<O> {
    /// Collects what was told; how far everything is known with that.
    pub(crate) fn collect(&mut self) -> KnownUpTo {
        let known = self.table.horizon.known();
        for (outbox, piece) in self.table.outboxes.iter().zip(&mut self.pieces) {
            outbox.take(piece);
        }
        known
    }

    /// What was collected last.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().map(Vec::as_slice)
    }
}

impl<O> Drop for Chronicle<O> {
    fn drop(&mut self) {
        self.table.outboxes.iter().for_each(WitnessOutbox::abandon);
    }
}
