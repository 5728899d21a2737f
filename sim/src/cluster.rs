//! One history of several nodes on a shared log, from one seed.
//!
//! The log loses messages, lets them overtake each other, takes some twice, and stands still. Nodes lose
//! their power, their clocks differ, and clients ask again at another node. A [reference](oracle) applies
//! the same log in peace and judges what clients are told.

mod batch;
mod bug;
mod mail;
mod node;
mod oracle;
mod partitions;
mod shared;
mod snapshots;
mod store;
mod summary;

use turnstile_record::{ENTRY_VERSION, SharedEntry};
use turnstile_replica::{AppliedEntry, NotApplied};
use turnstile_seed::Random;
use turnstile_types::Timestamp;

pub use self::{
    bug::ClusterBug,
    partitions::{PartitionBug, PartitionHistory, PartitionSummary},
    summary::ClusterSummary,
};

use self::{
    node::{ClusterCaller, SettledAt, SimNode},
    oracle::ClusterOracle,
    shared::SimStream,
    store::SimStore,
};
use crate::{
    services::Traffic,
    violation::{Judged, Violation},
};

/// 2026-06-01, in milliseconds since 1970.
const EPOCH_MS: u64 = 1_780_272_000_000;

/// One history that is being made.
#[derive(Debug)]
pub struct ClusterHistory {
    random: Random,
    bug: ClusterBug,
    clock: Timestamp,
    stream: SimStream,
    store: SimStore,
    nodes: Vec<SimNode>,
    oracle: ClusterOracle,
    traffic: Traffic,
    /// Whether the log takes nothing at the moment.
    is_stalled: bool,
    /// Whether it is a history of many snapshots: they need more entries than most have.
    is_of_snapshots: bool,
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
            store: SimStore::default(),
            oracle: ClusterOracle::new(),
            traffic: Traffic::default(),
            is_stalled: false,
            is_of_snapshots: false,
            summary: ClusterSummary::default(),
        };
        history.is_of_snapshots = history.random.one_in(6);
        history.found()?;
        for request in Traffic::opening() {
            history.ask(0, request.encode(), None)?;
        }
        for _ in 0..40 + history.random.below(160) {
            history.step()?;
        }
        history.finish()?;
        Ok(history.summary)
    }

    /// Starts the nodes. In half of the histories their programs are old; then each says something before
    /// any of them is replaced.
    fn found(&mut self) -> Judged {
        let is_old = self.random.one_in(2);
        for number in 0..self.nodes.len() {
            if is_old {
                self.nodes[number].reads = 1;
            }
            self.start(number)?;
        }
        while is_old && (0..self.nodes.len()).any(|number| !self.stream.has_of(number)) {
            for number in 0..self.nodes.len() {
                self.propose(number);
                self.send_again(number);
            }
            while self.stream.is_busy() {
                self.land()?;
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Judged {
        let number = self.any_node();
        if self.is_of_snapshots && self.random.one_in(3) {
            return self.go_round();
        }
        match self.random.below(28) {
            0..4 => self.client(number),
            4 => self.batch(number),
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
            23..25 => self.tend_snapshots(number),
            25 => self.keep_snapshot(number),
            26 => self.disturb_store(number),
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
        let waits = (ClusterCaller::Operation(operation), 1);
        self.nodes[number].put(now, &[record], &[waits])
    }

    fn read(&mut self, number: usize) -> Judged {
        let floor = self.oracle.answered;
        if self.bug == ClusterBug::ReadWithoutBarrier {
            self.summary.readings += 1;
            return ClusterOracle::judge_reading(self.nodes[number].sequence(), floor);
        }
        let now = self.now_at(number);
        self.nodes[number].put(now, &[], &[(ClusterCaller::Reading(floor), 0)])
    }

    /// All nodes do what there is to do about snapshots, and take some of the entries.
    fn go_round(&mut self) -> Judged {
        for number in 0..self.nodes.len() {
            self.tend_snapshots(number)?;
            self.propose(number);
        }
        for _ in 0..2 * self.nodes.len() {
            self.land()?;
        }
        for number in 0..self.nodes.len() {
            self.deliver(number)?;
            if !self.random.one_in(4) {
                self.keep_snapshot(number)?;
            }
        }
        Ok(())
    }

    fn propose(&mut self, number: usize) {
        let now = self.now_at(number);
        let node = &mut self.nodes[number];
        while let Some(proposal) = node.propose(now) {
            self.stream.send((number, node.incarnation()), proposal);
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
        let entry = SharedEntry::parse(&message.bytes).expect("a node has made it");
        self.summary.newest += u64::from(entry.head.version == ENTRY_VERSION);
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
            if next < self.stream.first() {
                return self.crash(number);
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
        let (applied, settled) = match node.apply(sequence, bytes) {
            Ok(applied) => applied,
            Err(NotApplied::OtherRun) if self.stream.has_run_above((number, node.run())) => {
                self.summary.superseded += 1;
                return self.crash(number);
            }
            Err(why) => return Err(Violation(format!("node {number} stops: {why}"))),
        };
        let end = node.state().position();
        for (job, position) in settled {
            let is_late = self.bug == ClusterBug::ReadAtTheEnd;
            self.judge(sequence, (job, if is_late { end } else { position }))?;
        }
        match applied {
            AppliedEntry::Foreign | AppliedEntry::Own => Ok(()),
            AppliedEntry::Void(runs) => runs
                .into_iter()
                .try_for_each(|run| self.put_again(number, &run)),
        }
    }

    /// Judges what a client is told.
    fn judge(&mut self, sequence: u64, (job, position): SettledAt) -> Judged {
        match job.caller {
            ClusterCaller::Reading(floor) => {
                self.summary.readings += 1;
                ClusterOracle::judge_reading(sequence, floor)
            }
            ClusterCaller::ReadingBehind(operation) => {
                self.summary.readings += 1;
                self.oracle
                    .judge_reading_behind((operation, sequence), position)
            }
            ClusterCaller::Nobody | ClusterCaller::Relayed { .. } => Ok(()),
            ClusterCaller::Operation(operation) => {
                self.summary.answers += 1;
                let outcome = job.outcomes.into_iter().next();
                let outcome = outcome.expect("an operation is one record");
                self.summary.trace = self.oracle.judge_answer((operation, sequence), &outcome)?
                    ^ self.summary.trace.rotate_left(1);
                Ok(())
            }
        }
    }

    fn crash(&mut self, number: usize) -> Judged {
        self.summary.crashes += 1;
        let has_power = self.random.one_in(2);
        let node = &mut self.nodes[number];
        node.crash(has_power);
        if self.random.one_in(3) {
            node.set_clock(self.random.below(5));
        }
        if node.reads < ENTRY_VERSION && self.random.one_in(2) {
            node.reads = ENTRY_VERSION;
            self.summary.upgrades += 1;
        }
        self.start(number)
    }

    fn start(&mut self, number: usize) -> Judged {
        let begin = (self.now_at(number), self.bug);
        let heeds_titles = self.bug != ClusterBug::JoinFromForeign;
        let has_joined = self.nodes[number].start(
            begin,
            (&self.stream, &self.store),
            (&mut self.random, heeds_titles),
        )?;
        self.summary.joins += u64::from(has_joined);
        Ok(())
    }

    /// A node sends again what it has not seen in the log.
    fn send_again(&mut self, number: usize) {
        let node = &self.nodes[number];
        for proposal in node.unseen() {
            self.stream
                .send((number, node.incarnation()), proposal.clone());
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
                    // It may have ended meanwhile, and lost what is not in the log any more.
                    if self.nodes[number].sequence() + 1 < self.stream.first() {
                        self.crash(number)?;
                    }
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
