//! One history of several nodes on a shared log, from one seed.
//!
//! The log loses messages, lets them overtake each other, takes some twice, and stands still. Nodes lose
//! their power, their clocks differ, and clients ask again at another node. A [reference](oracle) applies
//! the same log in peace and judges what clients are told.

mod node;
mod oracle;
mod shared;

use turnstile_replica::AppliedEntry;
use turnstile_seed::Random;
use turnstile_sequencer::EntrySabotage;
use turnstile_types::Timestamp;

use self::{
    node::{ClusterCaller, SimNode},
    oracle::ClusterOracle,
    shared::SimStream,
};
use crate::{
    services::Traffic,
    violation::{Judged, Violation},
};

/// 2026-06-01, in milliseconds since 1970.
const EPOCH_MS: u64 = 1_780_272_000_000;

/// A planted bug in how nodes share a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClusterBug {
    #[default]
    None,
    /// A node applies its own entry when the log acknowledges it, before those ahead of it.
    ApplyAtAcknowledgement,
    /// A node decides entries that were admitted before rights changed.
    IgnoreEpochs,
    /// A node decides an entry that comes again.
    IgnoreRepetitions,
    /// A node goes on when entries are missing.
    IgnoreGaps,
    /// A node decides by its own clock.
    LocalClock,
    /// A node answers a reading at once.
    ReadWithoutBarrier,
    /// A node proposes what it has no answer for once more, as something new.
    ProposeAnew,
}

impl ClusterBug {
    /// Every one of them.
    pub const ALL: [Self; 7] = [
        Self::ApplyAtAcknowledgement,
        Self::IgnoreEpochs,
        Self::IgnoreRepetitions,
        Self::IgnoreGaps,
        Self::LocalClock,
        Self::ReadWithoutBarrier,
        Self::ProposeAnew,
    ];

    fn sabotage(self) -> EntrySabotage {
        match self {
            Self::IgnoreEpochs => EntrySabotage::IgnoreEpochs,
            Self::IgnoreRepetitions => EntrySabotage::IgnoreRepetitions,
            Self::IgnoreGaps | Self::ApplyAtAcknowledgement => EntrySabotage::IgnoreGaps,
            Self::LocalClock => EntrySabotage::LocalClock(Timestamp(EPOCH_MS)),
            Self::None | Self::ReadWithoutBarrier | Self::ProposeAnew => EntrySabotage::None,
        }
    }
}

/// What histories of clusters went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterSummary {
    pub entries: u64,
    /// Entries that were void, for whatever reason.
    pub void: u64,
    /// Messages that the log lost, and that were sent again.
    pub lost: u64,
    /// Entries that the log took twice.
    pub repeated: u64,
    pub crashes: u64,
    /// Entries that a node had applied, lost in a crash, and applied again.
    pub applied_again: u64,
    pub answers: u64,
    pub readings: u64,
    /// Commands that were asked again under their key.
    pub retries: u64,
    /// Clients that waited too long.
    pub unknown: u64,
    pub snapshots: u64,
    /// The hash of everything that was answered: the same for the same seed.
    pub trace: u64,
}

impl ClusterSummary {
    /// Adds another history's figures; the traces are mixed in order.
    pub fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.void += other.void;
        self.lost += other.lost;
        self.repeated += other.repeated;
        self.crashes += other.crashes;
        self.applied_again += other.applied_again;
        self.answers += other.answers;
        self.readings += other.readings;
        self.retries += other.retries;
        self.unknown += other.unknown;
        self.snapshots += other.snapshots;
        self.trace = self.trace.rotate_left(5) ^ other.trace;
    }
}

/// One history that is being made.
#[derive(Debug)]
pub struct ClusterHistory {
    random: Random,
    bug: ClusterBug,
    clock: Timestamp,
    stream: SimStream,
    nodes: Vec<SimNode>,
    oracle: ClusterOracle,
    traffic: Traffic,
    /// Whether the log takes nothing at the moment.
    is_stalled: bool,
    summary: ClusterSummary,
}

impl ClusterHistory {
    /// Runs the history of `seed`, with a planted bug or none.
    ///
    /// # Errors
    /// A promise was broken.
    pub fn run(seed: u64, bug: ClusterBug) -> Result<ClusterSummary, Violation> {
        let mut random = Random::new(seed);
        let count = 2 + random.below(3);
        let mut history = Self {
            nodes: (0..count)
                .map(|number| SimNode::new(number, random.draw()))
                .collect(),
            random,
            bug,
            clock: Timestamp(EPOCH_MS),
            stream: SimStream::default(),
            oracle: ClusterOracle::new(),
            traffic: Traffic::default(),
            is_stalled: false,
            summary: ClusterSummary::default(),
        };
        for number in 0..history.nodes.len() {
            history.start(number)?;
        }
        for request in Traffic::opening() {
            history.ask(0, request.encode(), None)?;
        }
        for _ in 0..40 + history.random.below(160) {
            history.step()?;
        }
        history.finish()?;
        Ok(history.summary)
    }

    fn step(&mut self) -> Judged {
        let number = self.any_node();
        match self.random.below(24) {
            0..5 => self.client(number),
            5 => self.read(number),
            6..10 => {
                self.propose(number);
                Ok(())
            }
            10..15 => self.land(),
            15..20 => self.deliver(number),
            20 => self.crash(number),
            21 => {
                self.pass_time();
                self.expire(number)
            }
            22 => {
                self.is_stalled = !self.is_stalled && self.random.one_in(3);
                Ok(())
            }
            _ => {
                self.send_again(number);
                if self.random.one_in(3) {
                    self.snapshot(number)?;
                }
                Ok(())
            }
        }
    }

    fn any_node(&mut self) -> usize {
        let count = self.nodes.len() as u64;
        usize::try_from(self.random.below(count)).expect("a few nodes")
    }

    /// A client asks for something new, or once more for something under its key.
    fn client(&mut self, number: usize) -> Judged {
        if self.random.one_in(5)
            && let Some((asked, key)) = self.oracle.some_keyed(&mut self.random)
        {
            self.summary.retries += 1;
            return self.ask(number, asked, Some(key));
        }
        let request = self
            .traffic
            .next(&mut self.random, self.clock, None)
            .encode();
        let key = self.random.one_in(3).then(|| self.oracle.new_key());
        self.ask(number, request, key)
    }

    fn ask(&mut self, number: usize, asked: (u8, Vec<u8>), key: Option<String>) -> Judged {
        let operation = self.oracle.ask(asked, key);
        self.put(number, operation)
    }

    fn put(&mut self, number: usize, operation: usize) -> Judged {
        let now = self.now_at(number);
        let record = self.oracle.record_of(operation);
        self.nodes[number].put(now, Some(&record), ClusterCaller::Operation(operation))
    }

    fn read(&mut self, number: usize) -> Judged {
        let floor = self.oracle.answered;
        if self.bug == ClusterBug::ReadWithoutBarrier {
            self.summary.readings += 1;
            return ClusterOracle::judge_reading(self.nodes[number].sequence(), floor);
        }
        let now = self.now_at(number);
        self.nodes[number].put(now, None, ClusterCaller::Reading(floor))
    }

    fn propose(&mut self, number: usize) {
        let now = self.now_at(number);
        let node = &mut self.nodes[number];
        while let Some(proposal) = node.propose(now) {
            self.stream.send((number, node.incarnation), proposal);
        }
    }

    /// A message reaches the log, or is lost, or both reaches it and stays on its way.
    fn land(&mut self) -> Judged {
        if self.is_stalled {
            return Ok(());
        }
        let Some(message) = self.stream.some_message(&mut self.random) else {
            return Ok(());
        };
        match self.random.below(8) {
            0 => {
                self.summary.lost += 1;
                return Ok(());
            }
            1 => self.stream.keep_on_its_way(&message),
            _ => {}
        }
        let is_repetition = self.stream.has(&message);
        // The log knows its messages for a while only.
        if is_repetition && !self.random.one_in(3) {
            return Ok(());
        }
        self.summary.repeated += u64::from(is_repetition);
        self.summary.entries += 1;
        let sequence = self.stream.take(&message);
        self.summary.void += u64::from(!self.oracle.apply(sequence, &message.bytes)?);
        self.traffic_notes(sequence);
        if self.bug == ClusterBug::ApplyAtAcknowledgement && self.random.one_in(4) {
            return self.apply(message.from.0, sequence);
        }
        Ok(())
    }

    /// What was given out is known to the clients that ask next.
    fn traffic_notes(&mut self, sequence: u64) {
        for (service, outcome) in self.oracle.given_out(sequence) {
            self.traffic.note(service, outcome);
        }
    }

    /// A node takes some of the entries that it does not have.
    fn deliver(&mut self, number: usize) -> Judged {
        for _ in 0..1 + self.random.below(6) {
            let mut next = self.nodes[number].sequence() + 1;
            if self.random.one_in(40) {
                // The broker that the node asks has lost one.
                next += 1;
                if self.bug != ClusterBug::IgnoreGaps {
                    return self.refuse_gap(number, next);
                }
            }
            if next > self.stream.last() {
                break;
            }
            self.apply(number, next)?;
        }
        Ok(())
    }

    /// A node that misses an entry stops, and starts again.
    fn refuse_gap(&mut self, number: usize, sequence: u64) -> Judged {
        let Some(bytes) = self.stream.entry(sequence) else {
            return Ok(());
        };
        if self.nodes[number].sequence() == 0 {
            return Ok(());
        }
        if self.nodes[number].apply(sequence, bytes).is_ok() {
            return Err(Violation("a node went on behind a gap".to_owned()));
        }
        self.crash(number)
    }

    fn apply(&mut self, number: usize, sequence: u64) -> Judged {
        let Some(bytes) = self.stream.entry(sequence) else {
            return Ok(());
        };
        let node = &mut self.nodes[number];
        self.summary.applied_again += u64::from(node.has_had(sequence));
        let applied = match node.apply(sequence, bytes) {
            Ok(applied) => applied,
            Err(why) => return Err(Violation(format!("node {number} stops: {why}"))),
        };
        match applied {
            AppliedEntry::Foreign => {}
            AppliedEntry::Own(jobs) => {
                for job in jobs {
                    match job.caller {
                        ClusterCaller::Reading(floor) => {
                            self.summary.readings += 1;
                            ClusterOracle::judge_reading(sequence, floor)?;
                        }
                        ClusterCaller::Operation(operation) => {
                            self.summary.answers += 1;
                            let outcome = job.outcomes.into_iter().next();
                            let outcome = outcome.expect("an operation is one record");
                            self.summary.trace =
                                self.oracle.judge_answer((operation, sequence), &outcome)?
                                    ^ self.summary.trace.rotate_left(1);
                        }
                    }
                }
            }
            AppliedEntry::Void(callers) => {
                for caller in callers {
                    match caller {
                        ClusterCaller::Operation(operation) => self.put(number, operation)?,
                        ClusterCaller::Reading(_) => self.read(number)?,
                    }
                }
            }
        }
        Ok(())
    }

    fn crash(&mut self, number: usize) -> Judged {
        self.summary.crashes += 1;
        let has_power = self.random.one_in(2);
        self.nodes[number].crash(has_power);
        self.start(number)
    }

    fn start(&mut self, number: usize) -> Judged {
        let now = self.now_at(number);
        self.nodes[number].start(now, self.bug.sabotage())
    }

    /// A node sends again what it has not seen in the log.
    fn send_again(&mut self, number: usize) {
        let node = &self.nodes[number];
        for proposal in node.unseen() {
            self.stream
                .send((number, node.incarnation), proposal.clone());
        }
    }

    /// Clients that have waited too long are told that nobody knows.
    fn expire(&mut self, number: usize) -> Judged {
        let now = self.now_at(number);
        let given = self.nodes[number].expire(now);
        self.summary.unknown += given.unknown.len() as u64;
        if self.bug == ClusterBug::ProposeAnew {
            for caller in given.unknown {
                if let ClusterCaller::Operation(operation) = caller {
                    self.put(number, operation)?;
                }
            }
        }
        Ok(())
    }

    fn snapshot(&mut self, number: usize) -> Judged {
        self.summary.snapshots += u64::from(self.nodes[number].snapshot()?);
        Ok(())
    }

    /// Time goes on: mostly a little, sometimes for more than a day.
    fn pass_time(&mut self) {
        self.clock.0 += match self.random.below(12) {
            0 => 25 * 3_600_000,
            _ => self.random.below(30_000),
        };
    }

    /// The clock of a node: minutes from that of others.
    fn now_at(&self, number: usize) -> Timestamp {
        Timestamp(self.clock.0 + self.nodes[number].ahead_ms)
    }

    /// The faults end; everything that was asked is decided, and all nodes come to the same.
    fn finish(&mut self) -> Judged {
        self.is_stalled = false;
        for _ in 0..200 {
            let mut is_quiet = true;
            for number in 0..self.nodes.len() {
                self.propose(number);
                self.send_again(number);
                is_quiet &= !self.nodes[number].waits();
            }
            while self.stream.is_busy() {
                self.land()?;
            }
            for number in 0..self.nodes.len() {
                while self.nodes[number].sequence() < self.stream.last() {
                    self.apply(number, self.nodes[number].sequence() + 1)?;
                }
            }
            if is_quiet {
                return self.oracle.compare(&self.nodes);
            }
        }
        Err(Violation("what was asked is never decided".to_owned()))
    }
}
