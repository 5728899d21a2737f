//! Clients of a cluster: they ask whichever node answers, and ask again under the same key when none did. What
//! they were told is one order.

use std::{
    fmt::Debug,
    net::SocketAddr,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, ScopedJoinHandle},
    time::{Duration, Instant},
};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use turnstile_client::{Connection, ConnectionError, resp::Value};

use crate::crash::{answer::Answer, listing::ask};

/// Clients that ask at the same time.
const CLIENTS: u64 = 6;

/// How long a client waits for an answer before it asks another node.
const PATIENCE: Duration = Duration::from_secs(5);

/// Without an answer to anybody for so long, the cluster does not serve any more.
const SILENCE: Duration = Duration::from_secs(180);

/// What a client asks for, one request after the other.
pub(crate) trait Asking: Default {
    type Wanted: Debug + Send;

    fn next(&mut self, rng: &mut StdRng) -> Self::Wanted;

    /// A request's words, with its idempotency key.
    fn words(wanted: &Self::Wanted, key: &str) -> Vec<String>;

    /// Learns what can be asked about from now on.
    fn learn(&mut self, wanted: &Self::Wanted, answer: &Answer);
}

/// A request with its answer, and when it was first asked and at last answered.
#[derive(Clone, Debug)]
pub(crate) struct Answered<W> {
    pub(crate) client: u64,
    pub(crate) wanted: W,
    pub(crate) answer: Answer,
    pub(crate) asked: Instant,
    pub(crate) answered: Instant,
}

/// Where nodes can be reached at the moment, and how far the clients are.
pub(crate) struct ClusterScene {
    addresses: Mutex<Vec<Option<SocketAddr>>>,
    progress: Mutex<Progress>,
    /// Somebody was answered.
    bell: Condvar,
    is_over: AtomicBool,
    seed: u64,
}

#[derive(Clone, Copy)]
struct Progress {
    answers: usize,
    /// Since the last time that somebody looked.
    longest_gap: Duration,
    last: Instant,
}

impl ClusterScene {
    pub(crate) fn new(nodes: usize, seed: u64) -> Self {
        Self {
            addresses: Mutex::new(vec![None; nodes]),
            progress: Mutex::new(Progress {
                answers: 0,
                longest_gap: Duration::ZERO,
                last: Instant::now(),
            }),
            bell: Condvar::new(),
            is_over: AtomicBool::new(false),
            seed,
        }
    }

    pub(crate) fn set(&self, number: usize, address: Option<SocketAddr>) {
        let addresses = self.addresses.lock();
        addresses.unwrap_or_else(PoisonError::into_inner)[number] = address;
    }

    /// Some node that runs, as far as we know.
    fn some(&self, rng: &mut StdRng) -> Option<SocketAddr> {
        let addresses = self.addresses.lock();
        let addresses = addresses.unwrap_or_else(PoisonError::into_inner);
        addresses[rng.random_range(0..addresses.len())]
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answered(&self) {
        let mut progress = self.progress();
        let now = Instant::now();
        progress.longest_gap = progress.longest_gap.max(now - progress.last);
        progress.last = now;
        progress.answers += 1;
        drop(progress);
        self.bell.notify_all();
    }

    /// Waits for so many answers more, or until it takes too long; says how many there were.
    pub(crate) fn see(&self, more: usize, patience: Duration) -> usize {
        let progress = self.progress();
        let before = progress.answers;
        let short = |progress: &mut Progress| progress.answers < before + more;
        let waited = self.bell.wait_timeout_while(progress, patience, short);
        waited.unwrap_or_else(PoisonError::into_inner).0.answers - before
    }

    /// Waits for so many answers more, however slowly they come.
    pub(crate) fn must_see(&self, more: usize) {
        let mut seen = 0;
        while seen < more {
            let step = self.see(1, SILENCE);
            assert!(step > 0, "nobody was answered for {SILENCE:?}");
            seen += step;
        }
    }

    /// The longest time without an answer since this was asked last.
    pub(crate) fn longest_gap(&self) -> Duration {
        let mut progress = self.progress();
        let open = progress.last.elapsed();
        let longest = progress.longest_gap.max(open);
        progress.longest_gap = Duration::ZERO;
        longest
    }

    /// Has clients ask while something is done, and gives what they were told.
    pub(crate) fn while_clients_ask<A: Asking>(
        &self,
        work: impl FnOnce(),
    ) -> Vec<Answered<A::Wanted>> {
        thread::scope(|scope| {
            let clients: Vec<ScopedJoinHandle<'_, Vec<Answered<A::Wanted>>>> = (0..CLIENTS)
                .map(|number| scope.spawn(move || self.ask_on::<A>(number)))
                .collect();
            // They stop also when the work fails.
            let over = IsOver(&self.is_over);
            work();
            drop(over);
            let histories = clients.into_iter().map(ScopedJoinHandle::join);
            let histories = histories.map(|history| history.expect("a client does not panic"));
            histories.flatten().collect()
        })
    }

    fn ask_on<A: Asking>(&self, number: u64) -> Vec<Answered<A::Wanted>> {
        let mut rng = StdRng::seed_from_u64(self.seed * 1_000 + number);
        let mut asking = A::default();
        let mut history = Vec::new();
        let mut connection = None;
        while !self.is_over.load(Ordering::Relaxed) {
            let wanted = asking.next(&mut rng);
            let words = A::words(&wanted, &format!("{number}-{}", history.len()));
            let asked = Instant::now();
            let answer = loop {
                if let Some(answer) = self.sent(&mut connection, &words, &mut rng) {
                    break answer;
                }
                let gave_up = self.is_over.load(Ordering::Relaxed) && asked.elapsed() > SILENCE;
                assert!(!gave_up, "{words:?} is not answered");
            };
            let answered = Instant::now();
            asking.learn(&wanted, &answer);
            self.answered();
            history.push(Answered {
                client: number,
                wanted,
                answer,
                asked,
                answered,
            });
            // Clients change their nodes also while all is well.
            if rng.random_range(0..20) == 0 {
                connection = None;
            }
        }
        history
    }

    /// Sends a request once; nothing if it is not known what has become of it.
    fn sent(
        &self,
        connection: &mut Option<Connection>,
        words: &[String],
        rng: &mut StdRng,
    ) -> Option<Answer> {
        if connection.is_none() {
            *connection = self.some(rng).and_then(connect);
            if connection.is_none() {
                // A node that is down refuses at once: others shall run meanwhile.
                thread::park_timeout(Duration::from_millis(5));
            }
        }
        let bytes: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
        match connection.as_mut()?.command(&bytes) {
            Ok(Value::Error(error)) => {
                let is_for_later = ["UNAVAILABLE", "UNKNOWN", "LOADING"]
                    .iter()
                    .any(|word| error.starts_with(word));
                assert!(is_for_later, "{words:?} was answered -{error}");
                *connection = None;
                None
            }
            Ok(value) => Some(Answer::parse(&value).expect("an outcome")),
            Err(
                ConnectionError::Io(_) | ConnectionError::TimedOut(_) | ConnectionError::Closed,
            ) => {
                *connection = None;
                None
            }
            Err(other) => panic!("{words:?}: {other}"),
        }
    }
}

/// Ends the clients when it goes.
struct IsOver<'a>(&'a AtomicBool);

impl Drop for IsOver<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Connects with little patience, and changes to RESP3, in which refusals have positions.
pub(crate) fn connect(address: SocketAddr) -> Option<Connection> {
    let mut connection = Connection::connect(address, PATIENCE).ok()?;
    ask(&mut connection, &["HELLO", "3"]).ok()?;
    Some(connection)
}

/// What clients were told, by its positions. They are one order, in which no request stands before one that had
/// been answered when it was asked.
pub(crate) fn in_order<W: Debug>(history: &[Answered<W>]) -> Vec<&Answered<W>> {
    let mut history: Vec<&Answered<W>> = history.iter().collect();
    history.sort_by_key(|one| one.answer.position);
    for pair in history.windows(2) {
        let positions = (pair[0].answer.position, pair[1].answer.position);
        assert!(
            positions.0 < positions.1,
            "two requests are at {positions:?}"
        );
    }
    let mut earliest_later: Option<Instant> = None;
    for one in history.iter().rev() {
        assert!(
            earliest_later.is_none_or(|answered| answered >= one.asked),
            "{:?} at {} stands before one that had been answered when it was asked",
            one.wanted,
            one.answer.position
        );
        let earliest = earliest_later.map_or(one.answered, |later| later.min(one.answered));
        earliest_later = Some(earliest);
    }
    history
}
