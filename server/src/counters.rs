//! What is counted while the server runs. Writers are few and known, so a count is a plain load and
//! store; readers on other threads see values that are whole and at most a moment old.

mod durations;

use std::sync::atomic::{AtomicU64, Ordering};

use rustls::HandshakeKind;
use turnstile_embedded::Reply;
use turnstile_travel::{Desk, PerDesk};

use crate::registry::{CountedWords, Registered, SERVICES};

pub use self::durations::{DOORS, DURATION_BOUNDS_NS, DoorName, DurationHistogram, Durations};

pub(crate) use self::durations::{ServedRequests, Stopwatch, TimedRequests};

/// A number that one thread writes and any may read.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds to it. MUST be called by its one writer only.
    pub fn add(&self, amount: u64) {
        self.0
            .store(self.get().wrapping_add(amount), Ordering::Relaxed);
    }

    /// Takes from it, for numbers that go down too. MUST be called by its one writer only.
    pub fn take(&self, amount: u64) {
        self.0
            .store(self.get().wrapping_sub(amount), Ordering::Relaxed);
    }

    /// Makes it this number. MUST be called by its one writer only.
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The connections of one door.
#[derive(Debug, Default)]
pub struct DoorCounters {
    pub open: Counter,
    /// Ever accepted.
    pub accepted: Counter,
    /// Turned away because there were too many.
    pub refused: Counter,
    /// Closed without a request or a login, because another needed their places.
    pub evicted: Counter,
    /// Dropped because all together left too much unread, and these the most.
    pub dropped: Counter,
    pub bytes_in: Counter,
    pub bytes_out: Counter,
    /// Logins with a key that is none, or is over.
    pub failed_logins: Counter,
    pub handshakes: HandshakeCounters,
}

/// TLS handshakes of clients.
#[derive(Debug, Default)]
pub struct HandshakeCounters {
    /// Begun and not over.
    pub open: Counter,
    /// Done, resumed ones among them.
    pub done: Counter,
    /// Done by going on with an earlier session.
    pub resumed: Counter,
    /// Given up by either side, or broken.
    pub failed: Counter,
}

/// How a handshake ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandshakeEnd {
    Failed,
    Full,
    /// It went on with an earlier session.
    Resumed,
}

impl HandshakeEnd {
    /// Of one that the library says to be done so.
    pub(crate) fn of(kind: Option<HandshakeKind>) -> Self {
        match kind {
            Some(HandshakeKind::Resumed) => Self::Resumed,
            _ => Self::Full,
        }
    }
}

impl HandshakeCounters {
    pub(crate) fn begin(&self) {
        self.open.add(1);
    }

    pub(crate) fn end(&self, end: HandshakeEnd) {
        self.open.take(1);
        match end {
            HandshakeEnd::Failed => self.failed.add(1),
            HandshakeEnd::Full => self.done.add(1),
            HandshakeEnd::Resumed => {
                self.done.add(1);
                self.resumed.add(1);
            }
        }
    }
}

/// One line to another process of travel.
#[derive(Debug, Default)]
pub struct LineCounters {
    /// 1 while the peer is connected and has said hello.
    pub connected: Counter,
    pub parcels_in: Counter,
    /// Put on a connection, those that were sent again included.
    pub parcels_out: Counter,
}

/// A counter for each of some known words.
#[derive(Debug)]
pub struct Tally {
    words: &'static [&'static str],
    counts: Box<[Counter]>,
}

impl Tally {
    fn new(words: &'static [&'static str]) -> Self {
        Self {
            words,
            counts: words.iter().map(|_word| Counter::default()).collect(),
        }
    }

    fn count(&self, place: usize) {
        if let Some(counter) = self.counts.get(place) {
            counter.add(1);
        }
    }

    /// Each word and how often it was counted.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.words
            .iter()
            .copied()
            .zip(self.counts.iter().map(Counter::get))
    }

    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().map(Counter::get).sum()
    }
}

/// What was asked of one machine, through whatever door, and how its commands ended.
#[derive(Debug)]
pub struct MachineCounters {
    /// Requests, by what they ask.
    pub operations: Tally,
    /// Outcomes of commands: done, and each refusal by its code.
    pub outcomes: Tally,
}

impl MachineCounters {
    fn of(service: &CountedWords) -> Self {
        Self {
            operations: Tally::new(service.operations),
            outcomes: Tally::new(service.outcomes),
        }
    }
}

/// A request that was answered by an error, by its place among [`ERRORS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// Not understood, or an argument is wrong.
    Invalid,
    /// Bytes after which the connection was closed.
    Protocol,
    /// The queue or the memory for keys was full, or too much unfinished input was kept.
    Busy,
    /// The disk was full.
    ReadOnly,
    /// An idempotency key came with another command.
    KeyReused,
    /// A database did not decide the command.
    Backend,
    /// The rest of a request did not come in time.
    RequestTimeout,
    /// The server wants to know who asks.
    NotLoggedIn,
    /// A login with a key that is none, or is over.
    WrongKey,
    /// The caller has not the right.
    Forbidden,
    /// The principal has asked for as much as its quota allows.
    QuotaExceeded,
}

const ERRORS: [&str; 11] = [
    "invalid",
    "protocol",
    "busy",
    "read_only",
    "key_reused",
    "backend",
    "request_timeout",
    "not_logged_in",
    "wrong_key",
    "forbidden",
    "quota_exceeded",
];

/// The upper bounds of the buckets for commit times, in nanoseconds; one more bucket is open.
pub const COMMIT_BOUNDS_NS: [u64; 8] = [
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    5_000_000,
    25_000_000,
    100_000_000,
];

/// The counters of one server.
#[derive(Debug)]
pub struct Counters {
    doors: [DoorCounters; DOORS.len()],
    /// Connections that the fast doors may have open together.
    pub connections_max: Counter,
    /// Lines to other processes, by their desks.
    pub lines_of_desks: PerDesk<LineCounters>,
    /// The services, in the order of their list.
    pub(crate) services: [MachineCounters; SERVICES.len()],
    /// How long requests took, by door and operation.
    pub durations: Durations,
    /// How long the recovery at the start took, in nanoseconds.
    pub recovery_ns: Counter,
    /// Records that it replayed.
    pub recovery_records: Counter,
    /// Memory of answers that clients of the fast doors have not been sent yet, in bytes.
    pub fast_unsent_bytes: Counter,
    /// Bytes of answers that clients of HTTP have left unread.
    pub http_unsent_bytes: Counter,
    /// Transactions of closed connections, some of which may have ended.
    pub transactions_left: Counter,
    /// Connections and others that wait for a late answer.
    pub late_waiters: Counter,
    /// Errors answered by the fast doors and the loop.
    pub errors: Tally,
    /// Requests of any kind over RESP.
    pub requests: Counter,
    /// Answers given a second time to an idempotency key.
    pub replayed: Counter,
    /// Groups that held records.
    pub groups: Counter,
    /// Records in those groups.
    pub records: Counter,
    pub commit_ns: Counter,
    /// Groups that the loop wrote and synced itself.
    pub groups_inline: Counter,
    /// Groups that it had carried to the disk while it made the next; counted when they leave.
    pub groups_overlapped: Counter,
    /// Lines of the access log that were written.
    pub access_lines: Counter,
    /// Lines of the access log that were not, because the disk was slow or full.
    pub access_lines_dropped: Counter,
    /// Requests of which the collector of traces has taken the spans.
    pub traced_requests: Counter,
    /// Requests whose spans it should have had, but was too slow or away.
    pub traced_requests_dropped: Counter,
    /// Commits at the end of a turn by their time; see [`COMMIT_BOUNDS_NS`]. Groups that were full
    /// before are not among them.
    pub commits_by_time: [Counter; COMMIT_BOUNDS_NS.len() + 1],
    /// Requests from other threads that the loop has taken.
    pub gate_taken: Counter,
    /// Turns of the loop.
    pub turns: Counter,
    /// The time of the last entry of the shared log that was applied, in milliseconds since 1970; zero where
    /// there is none.
    pub entry_ms: Counter,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            doors: Default::default(),
            connections_max: Counter::default(),
            lines_of_desks: PerDesk::default(),
            services: SERVICES.each_ref().map(MachineCounters::of),
            durations: Durations::default(),
            recovery_ns: Counter::default(),
            recovery_records: Counter::default(),
            fast_unsent_bytes: Counter::default(),
            http_unsent_bytes: Counter::default(),
            transactions_left: Counter::default(),
            late_waiters: Counter::default(),
            errors: Tally::new(&ERRORS),
            requests: Counter::default(),
            replayed: Counter::default(),
            groups: Counter::default(),
            records: Counter::default(),
            commit_ns: Counter::default(),
            groups_inline: Counter::default(),
            groups_overlapped: Counter::default(),
            access_lines: Counter::default(),
            access_lines_dropped: Counter::default(),
            traced_requests: Counter::default(),
            traced_requests_dropped: Counter::default(),
            commits_by_time: Default::default(),
            gate_taken: Counter::default(),
            turns: Counter::default(),
            entry_ms: Counter::default(),
        }
    }
}

impl Counters {
    /// The counters of a door.
    #[must_use]
    pub const fn of(&self, door: DoorName) -> &DoorCounters {
        &self.doors[door as usize]
    }

    /// The counters of the service with this name.
    #[must_use]
    pub fn service(&self, name: &str) -> Option<&MachineCounters> {
        let mut all = SERVICES.iter().zip(&self.services);
        all.find_map(|(service, counted)| (service.name == name).then_some(counted))
    }

    /// The counters of a service.
    pub(crate) const fn of_service<M: Registered>(&self) -> &MachineCounters {
        &self.services[M::PLACE]
    }

    /// The counters of a line to another process.
    pub(crate) fn line(&self, desk: Desk) -> &LineCounters {
        self.lines_of_desks.at(desk)
    }

    pub(crate) fn command<M: Registered>(&self, command: &M::Command<'_>, reply: &Reply<M>) {
        let service = self.of_service::<M>();
        service.operations.count(M::command_place(command));
        if reply.replayed {
            self.replayed.add(1);
            return;
        }
        self.outcome::<M>(&reply.outcome);
    }

    /// Connections of all doors that were dropped because they did not read.
    pub(crate) fn dropped(&self) -> u64 {
        self.sum(|door| &door.dropped)
    }

    /// What all doors together have counted of something.
    pub(crate) fn sum(&self, counted: fn(&DoorCounters) -> &Counter) -> u64 {
        self.doors().map(|(_, door)| counted(door).get()).sum()
    }

    /// The counters of all doors, by the names of these.
    pub(crate) fn doors(&self) -> impl Iterator<Item = (&'static str, &DoorCounters)> {
        DOORS.into_iter().zip(&self.doors)
    }

    /// Counts an outcome that was told, be it late.
    pub(crate) fn outcome<M: Registered>(&self, outcome: &M::Outcome) {
        self.of_service::<M>()
            .outcomes
            .count(M::outcome_place(outcome));
    }

    pub(crate) fn query<M: Registered>(&self, query: &M::Query) {
        self.of_service::<M>()
            .operations
            .count(M::query_place(query));
    }

    pub(crate) fn error(&self, code: ErrorCode) {
        self.errors.count(code as usize);
    }

    pub(crate) fn commit(&self, records: u64, ns: u64) {
        self.groups.add(1);
        self.records.add(records);
        self.commit_ns.add(ns);
        let bucket = COMMIT_BOUNDS_NS.partition_point(|&bound| bound < ns);
        if let Some(counter) = self.commits_by_time.get(bucket) {
            counter.add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_falls_into_the_bucket_of_its_time() {
        let counters = Counters::default();
        for ns in [1, 50_000, 50_001, 100_000_001] {
            counters.commit(3, ns);
        }
        let buckets: Vec<_> = counters.commits_by_time.iter().map(Counter::get).collect();
        assert_eq!(buckets, [2, 1, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!((counters.groups.get(), counters.records.get()), (4, 12));
    }
}
