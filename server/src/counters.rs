//! What is counted while the server runs. Writers are few and known, so a count is a plain load and
//! store; readers on other threads see values that are whole and at most a moment old.

use std::sync::atomic::{AtomicU64, Ordering};

use turnstile_embedded::Reply;
use turnstile_rooms::{Command, Outcome, Query, Refusal, Rooms};

use crate::conversation::FastDoor;

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
    pub bytes_in: Counter,
    pub bytes_out: Counter,
}

/// A counter for each of some known words.
#[derive(Debug)]
pub struct Tally<const N: usize> {
    words: &'static [&'static str; N],
    counts: [Counter; N],
}

impl<const N: usize> Tally<N> {
    fn new(words: &'static [&'static str; N]) -> Self {
        Self {
            words,
            counts: std::array::from_fn(|_| Counter::default()),
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

/// What was asked of the rooms machine, through whatever door.
const OPERATIONS: [&str; 18] = [
    "add_property",
    "add_room",
    "withdraw_room",
    "stop_sell",
    "book",
    "hold",
    "extend",
    "confirm",
    "release",
    "cancel",
    "look_up",
    "list",
    "guest",
    "holds",
    "availability",
    "explain",
    "properties",
    "totals",
];

const fn command_place(command: &Command<'_>) -> usize {
    match command {
        Command::AddProperty { .. } => 0,
        Command::AddRoom { .. } => 1,
        Command::WithdrawRoom { .. } => 2,
        Command::StopSell { .. } => 3,
        Command::Book { .. } => 4,
        Command::Hold { .. } => 5,
        Command::Extend { .. } => 6,
        Command::Confirm { .. } => 7,
        Command::Release { .. } => 8,
        Command::Cancel { .. } => 9,
    }
}

const fn query_place(query: &Query) -> usize {
    match query {
        Query::LookUp { .. } => 10,
        Query::List { .. } => 11,
        Query::Guest { .. } => 12,
        Query::Holds { .. } => 13,
        Query::Availability { .. } => 14,
        Query::Explain { .. } => 15,
        Query::Properties { .. } => 16,
        Query::Totals => 17,
    }
}

/// The outcomes: done, and each refusal by its code.
const OUTCOMES: [&str; 19] = [
    "done",
    "unknown_property",
    "unknown_room",
    "unknown_type",
    "property_exists",
    "room_exists",
    "room_in_use",
    "too_many_rooms",
    "sold_out",
    "stop_sell",
    "not_found",
    "wrong_guest",
    "ended",
    "hold_expired",
    "already_confirmed",
    "not_confirmed",
    "too_many_holds",
    "hold_too_long",
    "hold_ceiling",
];

const fn refusal_place(refusal: &Refusal) -> usize {
    match refusal {
        Refusal::UnknownProperty => 1,
        Refusal::UnknownRoom => 2,
        Refusal::UnknownType => 3,
        Refusal::PropertyExists => 4,
        Refusal::RoomExists => 5,
        Refusal::RoomInUse { .. } => 6,
        Refusal::TooManyRooms { .. } => 7,
        Refusal::SoldOut { .. } => 8,
        Refusal::StopSell { .. } => 9,
        Refusal::NotFound => 10,
        Refusal::WrongGuest => 11,
        Refusal::Ended => 12,
        Refusal::HoldExpired => 13,
        Refusal::AlreadyConfirmed => 14,
        Refusal::NotConfirmed => 15,
        Refusal::TooManyHolds { .. } => 16,
        Refusal::HoldTooLong { .. } => 17,
        Refusal::HoldCeiling { .. } => 18,
    }
}

/// A request that was answered by an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// Not understood, or an argument is wrong.
    Invalid,
    /// Bytes after which the connection was closed.
    Protocol,
    /// The queue was full.
    Busy,
    /// The disk was full.
    ReadOnly,
    /// An idempotency key came with another command.
    KeyReused,
}

const ERRORS: [&str; 5] = ["invalid", "protocol", "busy", "read_only", "key_reused"];

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
    pub resp: DoorCounters,
    pub http: DoorCounters,
    /// Requests to the rooms machine, by what they ask.
    pub operations: Tally<18>,
    /// Outcomes of its commands.
    pub outcomes: Tally<19>,
    /// Errors answered by the fast doors and the loop.
    pub errors: Tally<5>,
    /// Requests of any kind over RESP.
    pub requests: Counter,
    /// Answers given a second time to an idempotency key.
    pub replayed: Counter,
    /// Groups that held records.
    pub groups: Counter,
    /// Records in those groups.
    pub records: Counter,
    pub commit_ns: Counter,
    /// Commits by their time; see [`COMMIT_BOUNDS_NS`].
    pub commits_by_time: [Counter; COMMIT_BOUNDS_NS.len() + 1],
    /// Requests from other threads that the loop has taken.
    pub gate_taken: Counter,
    /// Turns of the loop.
    pub turns: Counter,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            resp: DoorCounters::default(),
            http: DoorCounters::default(),
            operations: Tally::new(&OPERATIONS),
            outcomes: Tally::new(&OUTCOMES),
            errors: Tally::new(&ERRORS),
            requests: Counter::default(),
            replayed: Counter::default(),
            groups: Counter::default(),
            records: Counter::default(),
            commit_ns: Counter::default(),
            commits_by_time: Default::default(),
            gate_taken: Counter::default(),
            turns: Counter::default(),
        }
    }
}

impl Counters {
    /// The counters of a fast door.
    pub(crate) const fn of(&self, door: FastDoor) -> &DoorCounters {
        match door {
            FastDoor::Resp => &self.resp,
        }
    }

    pub(crate) fn command(&self, command: &Command<'_>, reply: &Reply<Rooms>) {
        self.operations.count(command_place(command));
        if reply.replayed {
            self.replayed.add(1);
            return;
        }
        self.outcomes.count(match &reply.outcome {
            Outcome::Done(_) => 0,
            Outcome::Refused(refusal) => refusal_place(refusal),
        });
    }

    pub(crate) fn query(&self, query: &Query) {
        self.operations.count(query_place(query));
    }

    pub(crate) fn error(&self, code: ErrorCode) {
        self.errors.count(match code {
            ErrorCode::Invalid => 0,
            ErrorCode::Protocol => 1,
            ErrorCode::Busy => 2,
            ErrorCode::ReadOnly => 3,
            ErrorCode::KeyReused => 4,
        });
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
    use turnstile_types::Night;

    #[test]
    fn a_refusal_is_counted_under_its_code() {
        let night = Night::from_days(1);
        let nights = turnstile_rooms::Nights {
            first: night,
            bits: 1,
        };
        let until_max = turnstile_types::Timestamp(1);
        let refusals = [
            Refusal::UnknownProperty,
            Refusal::UnknownRoom,
            Refusal::UnknownType,
            Refusal::PropertyExists,
            Refusal::RoomExists,
            Refusal::RoomInUse { night },
            Refusal::TooManyRooms { limit: 1 },
            Refusal::SoldOut { nights },
            Refusal::StopSell { nights },
            Refusal::NotFound,
            Refusal::WrongGuest,
            Refusal::Ended,
            Refusal::HoldExpired,
            Refusal::AlreadyConfirmed,
            Refusal::NotConfirmed,
            Refusal::TooManyHolds { limit: 1 },
            Refusal::HoldTooLong { ttl_ms_max: 1 },
            Refusal::HoldCeiling { until_max },
        ];
        for refusal in refusals {
            assert_eq!(OUTCOMES.get(refusal_place(&refusal)), Some(&refusal.code()));
        }
    }

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
