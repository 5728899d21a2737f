//! What one thread counts; merged when the run is over.

use std::collections::BTreeMap;

use turnstile_stats::{
    Histogram,
    units::{long_to_float, to_float},
};

use super::{Answer, Ended};
use crate::door;

/// How many different reasons or codes are told apart; more count as `other`.
const WORDS_MAX: usize = 24;

/// The bytes of a reason or code that are kept.
const WORD_BYTES_MAX: usize = 32;

/// The instants of one operation, in nanoseconds since the start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instants {
    /// When it should have been sent.
    pub(super) due: u64,
    /// When its user was free for it, not before it was due.
    pub(super) free: u64,
    /// When the generator noticed.
    pub(super) ready: u64,
    /// When its first byte was given to the socket.
    pub(super) sent: u64,
    /// When the first byte of its answer was read.
    pub(super) first_byte: u64,
    /// When all of its answer was read.
    pub(super) done: u64,
    /// Whether it was due at an instant of its own, and not when its user was free.
    pub(super) scheduled: bool,
}

/// The counts of a thread or of a run.
#[derive(Clone, Debug)]
pub struct Tally {
    pub operations: Vec<Operation>,
    /// What is made of several requests.
    pub wholes: Vec<WholeTally>,
    /// From free to ready: how late the generator was, of what was measured and had an instant at
    /// which it was due.
    pub lag: Histogram,
    /// From sent to done, of what was measured: what network and server did. Of wholes, from when
    /// their user was free for them.
    pub service: Histogram,
    /// From due to sent less the generator's lag, of what was measured in an open loop: for a
    /// connection, or for the socket to take more.
    pub wait: Histogram,
    /// Of requests that were due but not answered when the run was over: how long they had waited
    /// by then.
    pub censored: Histogram,
    /// Connections that ended while they were wanted; each is made again.
    pub connections_lost: u64,
    /// Connections that the server closed after an answer, or while nothing was owed, each made again.
    pub reconnects: u64,
    /// Attempts to connect again that failed.
    pub connects_failed: u64,
    gaps: Gaps,
}

/// The counts of one operation over the whole run, and its times in the window.
#[derive(Clone, Debug)]
pub struct Operation {
    pub name: &'static str,
    pub done: u64,
    /// By reason.
    pub refused: Words,
    /// By code.
    pub errors: Words,
    /// Requests that may have been carried out: their answer never came, or said so.
    pub unknown: u64,
    /// Answers after the deadline.
    pub late: u64,
    /// From due to done, of all that was done or refused in the measured window.
    pub times: Histogram,
}

/// The counts of something that is made of several requests, over the whole run, and its times in
/// the window.
#[derive(Clone, Debug)]
pub struct WholeTally {
    pub name: &'static str,
    pub done: u64,
    /// By reason.
    pub refused: Words,
    /// By code.
    pub errors: Words,
    /// Done after the deadline.
    pub late: u64,
    /// From due to done, of all that was done in the measured window: what a user feels.
    pub response: Histogram,
    /// From the instant at which its user was free for it: what the server did.
    pub service: Histogram,
}

/// Where a request's time went, on average, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyBreakdown {
    /// From due to free: its user was still at what came before. Always zero in a closed loop.
    pub backlog: f64,
    /// From free to ready: the generator came late. Always zero in a closed loop.
    pub lag: f64,
    /// From ready to sent: in the generator, or waiting for the socket to take more.
    pub sending: f64,
    /// From sent to the first byte of the answer: network and server.
    pub answering: f64,
    /// From the first byte to the last.
    pub reading: f64,
}

/// Sums of the parts of each request's time.
#[derive(Clone, Copy, Debug, Default)]
struct Gaps {
    count: u64,
    backlog: u128,
    lag: u128,
    sending: u128,
    answering: u128,
    reading: u128,
}

/// How often each of a few words was said, in memory taken at the start.
#[derive(Clone, Debug)]
pub struct Words {
    seen: Vec<(Word, u64)>,
    other: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    length: usize,
    bytes: [u8; WORD_BYTES_MAX],
}

impl Tally {
    pub(super) fn new(operations: &[&'static str], wholes: &[&'static str]) -> Self {
        let operation = |&name| Operation {
            name,
            done: 0,
            refused: Words::new(),
            errors: Words::new(),
            unknown: 0,
            late: 0,
            times: Histogram::new(),
        };
        let whole = |&name| WholeTally {
            name,
            done: 0,
            refused: Words::new(),
            errors: Words::new(),
            late: 0,
            response: Histogram::new(),
            service: Histogram::new(),
        };
        Self {
            operations: operations.iter().map(operation).collect(),
            wholes: wholes.iter().map(whole).collect(),
            lag: Histogram::new(),
            service: Histogram::new(),
            wait: Histogram::new(),
            censored: Histogram::new(),
            connections_lost: 0,
            reconnects: 0,
            connects_failed: 0,
            gaps: Gaps::default(),
        }
    }

    /// Counts an answer; its times only when `measured`, and never those of an error.
    pub(super) fn record(
        &mut self,
        operation: usize,
        answer: Answer<'_>,
        instants: &Instants,
        measured: bool,
    ) {
        let counts = &mut self.operations[operation];
        match answer {
            Answer::Done => counts.done += 1,
            Answer::Refused(reason) => counts.refused.count(reason),
            Answer::Error(code) if door::is_outcome_unknown(code) => {
                counts.unknown += 1;
                return;
            }
            Answer::Error(code) => {
                counts.errors.count(code);
                return;
            }
        }
        if measured {
            counts.times.record(instants.done - instants.due);
            self.gaps.count += 1;
            if self.wholes.is_empty() {
                self.service.record(instants.done - instants.sent);
            }
            if instants.scheduled {
                self.lag.record(instants.ready - instants.free);
                let backlog = instants.free - instants.due;
                self.wait.record(backlog + instants.sent - instants.ready);
            }
            self.gaps.backlog += u128::from(instants.free - instants.due);
            self.gaps.lag += u128::from(instants.ready - instants.free);
            self.gaps.sending += u128::from(instants.sent - instants.ready);
            self.gaps.answering += u128::from(instants.first_byte - instants.sent);
            self.gaps.reading += u128::from(instants.done - instants.first_byte);
        }
    }

    /// Counts what is whole now; its times only when `measured` and done.
    pub(super) fn record_whole(&mut self, ended: &Ended, done: u64, measured: bool) {
        let counts = &mut self.wholes[ended.whole];
        match ended.answer {
            Answer::Done => counts.done += 1,
            Answer::Refused(reason) => return counts.refused.count(reason),
            Answer::Error(code) => return counts.errors.count(code),
        }
        if measured {
            counts.response.record(done - ended.due);
            counts.service.record(done - ended.free);
            self.service.record(done - ended.free);
        }
    }

    /// Adds all that `other` holds.
    pub(super) fn merge(&mut self, other: &Self) {
        self.merge_counts(other);
        for (own, theirs) in self.operations.iter_mut().zip(&other.operations) {
            own.times.merge(&theirs.times);
        }
        for (own, theirs) in self.wholes.iter_mut().zip(&other.wholes) {
            own.response.merge(&theirs.response);
            own.service.merge(&theirs.service);
        }
        self.lag.merge(&other.lag);
        self.service.merge(&other.service);
        self.wait.merge(&other.wait);
        self.gaps.count += other.gaps.count;
        self.gaps.backlog += other.gaps.backlog;
        self.gaps.lag += other.gaps.lag;
        self.gaps.sending += other.gaps.sending;
        self.gaps.answering += other.gaps.answering;
        self.gaps.reading += other.gaps.reading;
    }

    /// Adds what `other` has counted of the whole run, without the times of its window.
    pub(super) fn merge_counts(&mut self, other: &Self) {
        for (own, theirs) in self.operations.iter_mut().zip(&other.operations) {
            own.done += theirs.done;
            own.refused.merge(&theirs.refused);
            own.errors.merge(&theirs.errors);
            own.unknown += theirs.unknown;
            own.late += theirs.late;
        }
        for (own, theirs) in self.wholes.iter_mut().zip(&other.wholes) {
            own.done += theirs.done;
            own.refused.merge(&theirs.refused);
            own.errors.merge(&theirs.errors);
            own.late += theirs.late;
        }
        self.censored.merge(&other.censored);
        self.connections_lost += other.connections_lost;
        self.reconnects += other.reconnects;
        self.connects_failed += other.connects_failed;
    }

    /// Forgets everything and keeps the memory.
    pub(super) fn clear(&mut self) {
        for operation in &mut self.operations {
            operation.done = 0;
            operation.refused.clear();
            operation.errors.clear();
            operation.unknown = 0;
            operation.late = 0;
            operation.times.clear();
        }
        for whole in &mut self.wholes {
            whole.done = 0;
            whole.refused.clear();
            whole.errors.clear();
            whole.late = 0;
            whole.response.clear();
            whole.service.clear();
        }
        for times in [
            &mut self.lag,
            &mut self.service,
            &mut self.wait,
            &mut self.censored,
        ] {
            times.clear();
        }
        self.connections_lost = 0;
        self.reconnects = 0;
        self.connects_failed = 0;
        self.gaps = Gaps::default();
    }

    /// From due to done, of all that users began: wholes, where there are any.
    pub(super) fn response(&self) -> Histogram {
        let mut times = Histogram::new();
        self.add_response(&mut times);
        times
    }

    /// Adds the same to others.
    pub(super) fn add_response(&self, times: &mut Histogram) {
        if self.wholes.is_empty() {
            for operation in &self.operations {
                times.merge(&operation.times);
            }
        }
        for whole in &self.wholes {
            times.merge(&whole.response);
        }
    }

    /// The parts of the mean response; of wholes, what all requests of one took.
    pub(super) fn split(&self) -> LatencyBreakdown {
        let wholes = self.wholes.iter().map(|whole| whole.response.count());
        let count = if self.wholes.is_empty() {
            self.gaps.count
        } else {
            wholes.sum()
        };
        let mean = |sum| long_to_float(sum) / to_float(count.max(1));
        LatencyBreakdown {
            backlog: mean(self.gaps.backlog),
            lag: mean(self.gaps.lag),
            sending: mean(self.gaps.sending),
            answering: mean(self.gaps.answering),
            reading: mean(self.gaps.reading),
        }
    }
}

impl Words {
    fn new() -> Self {
        Self {
            seen: Vec::with_capacity(WORDS_MAX),
            other: 0,
        }
    }

    fn clear(&mut self) {
        self.seen.clear();
        self.other = 0;
    }

    fn count(&mut self, bytes: &[u8]) {
        self.add(Word::new(bytes), 1);
    }

    fn add(&mut self, word: Word, times: u64) {
        if let Some((_, count)) = self.seen.iter_mut().find(|(seen, _)| *seen == word) {
            *count += times;
        } else if self.seen.len() < WORDS_MAX {
            self.seen.push((word, times));
        } else {
            self.other += times;
        }
    }

    fn merge(&mut self, other: &Self) {
        for &(word, times) in &other.seen {
            self.add(word, times);
        }
        self.other += other.other;
    }

    /// How many were counted in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.seen.iter().map(|(_, times)| times).sum::<u64>() + self.other
    }

    /// The words, and how often each was said.
    #[must_use]
    pub fn by_word(&self) -> BTreeMap<String, u64> {
        let mut words = BTreeMap::new();
        for (word, times) in &self.seen {
            let text = String::from_utf8_lossy(&word.bytes[..word.length]);
            *words.entry(text.into_owned()).or_insert(0) += times;
        }
        if self.other > 0 {
            *words.entry("other".to_owned()).or_insert(0) += self.other;
        }
        words
    }
}

impl Word {
    fn new(text: &[u8]) -> Self {
        let length = text.len().min(WORD_BYTES_MAX);
        let mut bytes = [0; WORD_BYTES_MAX];
        bytes[..length].copy_from_slice(&text[..length]);
        Self { length, bytes }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Answer, Ended, Instants, LatencyBreakdown, Tally, WORDS_MAX};

    const INSTANTS: Instants = Instants {
        due: 90,
        free: 100,
        ready: 101,
        sent: 103,
        first_byte: 110,
        done: 130,
        scheduled: true,
    };

    #[test]
    fn outcomes_are_counted_always_and_times_only_when_measured() {
        let mut tally = Tally::new(&["book", "cancel"], &[]);
        tally.record(0, Answer::Done, &INSTANTS, false);
        tally.record(0, Answer::Done, &INSTANTS, true);
        tally.record(0, Answer::Refused(b"sold_out"), &INSTANTS, true);
        tally.record(1, Answer::Error(b"BUSY"), &INSTANTS, true);
        for code in [&b"UNKNOWN"[..], b"BROKEN"] {
            tally.record(1, Answer::Error(code), &INSTANTS, true);
        }
        let [book, cancel] = &tally.operations[..] else {
            panic!("two operations");
        };
        assert_eq!((book.done, book.times.count()), (2, 2));
        assert_eq!(book.times.quantile(1.0), 40);
        let sold_out = BTreeMap::from([("sold_out".to_owned(), 1)]);
        assert_eq!(book.refused.by_word(), sold_out);
        assert_eq!((cancel.errors.total(), cancel.times.count()), (1, 0));
        assert_eq!(cancel.unknown, 2);
        let split = LatencyBreakdown {
            backlog: 10.0,
            lag: 1.0,
            sending: 2.0,
            answering: 7.0,
            reading: 20.0,
        };
        assert_eq!(tally.split(), split);
    }

    #[test]
    fn waiting_behind_a_server_that_is_too_slow_may_sum_up_to_centuries() {
        let mut tally = Tally::new(&["book"], &[]);
        let century = u64::MAX / 6;
        let late = Instants {
            due: 0,
            free: century,
            ready: century,
            sent: century,
            first_byte: century,
            done: century,
            scheduled: true,
        };
        for _ in 0..12 {
            tally.record(0, Answer::Done, &late, true);
        }
        let expected = u32::try_from(century / 1_000_000_000)
            .map(f64::from)
            .unwrap();
        for mean in [tally.split().backlog, tally.operations[0].times.mean()] {
            assert!((mean / 1e9 / expected - 1.0).abs() < 1e-6, "{mean}");
        }
    }

    #[test]
    fn merging_adds_everything() {
        let mut one = Tally::new(&["book"], &["stay"]);
        one.record(0, Answer::Done, &INSTANTS, true);
        one.operations[0].unknown = 2;
        one.connections_lost = 1;
        let mut two = Tally::new(&["book"], &["stay"]);
        two.record(0, Answer::Error(b"ERR"), &INSTANTS, true);
        two.record(0, Answer::Refused(b"ended"), &INSTANTS, true);
        two.connects_failed = 4;
        let ended = |answer| Ended {
            whole: 0,
            due: 10,
            free: 40,
            measured: true,
            answer,
        };
        one.record_whole(&ended(Answer::Done), 100, true);
        one.record_whole(&ended(Answer::Refused(b"deadlock")), 100, true);
        one.record_whole(&ended(Answer::Done), 100, false);
        one.record_whole(&ended(Answer::Error(b"ERR")), 100, true);
        two.merge(&one);
        two.merge(&one);
        let stay = &two.wholes[0];
        let failed = (stay.refused.total(), stay.errors.total());
        assert_eq!((stay.done, failed), (4, (2, 2)));
        assert_eq!((stay.response.count(), stay.service.count()), (2, 2));
        assert_eq!(stay.response.quantile(1.0), 90);
        assert_eq!(stay.service.quantile(1.0), 60);
        assert_eq!((two.lag.count(), two.lag.quantile(1.0)), (3, 1));
        let book = &two.operations[0];
        assert_eq!((book.done, book.unknown, book.times.count()), (2, 4, 3));
        assert_eq!((book.errors.total(), book.refused.total()), (1, 1));
        assert_eq!((two.connections_lost, two.connects_failed), (2, 4));
        // Three requests for each of two wholes that were measured.
        assert!((two.split().answering - 3.0 * 7.0 / 2.0).abs() < 1e-9);
    }

    #[test]
    fn words_beyond_the_table_and_beyond_their_length_are_counted() {
        let mut tally = Tally::new(&["book"], &["stay"]);
        for word in 0..WORDS_MAX + 3 {
            let reason = format!("reason {word}");
            tally.record(0, Answer::Refused(reason.as_bytes()), &INSTANTS, false);
        }
        let words = tally.operations[0].refused.by_word();
        assert_eq!((words.len(), words["other"]), (WORDS_MAX + 1, 3));
        let mut tally = Tally::new(&["book"], &["stay"]);
        tally.record(0, Answer::Error(&[b'x'; 90]), &INSTANTS, false);
        let words = tally.operations[0].errors.by_word();
        assert_eq!(words, BTreeMap::from([("x".repeat(32), 1)]));
    }
}
