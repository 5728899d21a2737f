//! One history of several partitions over several nodes, from one seed: each request goes to the partition
//! that its names and references choose, and clients ask again at other nodes. A node that does not hold a
//! partition passes the request on to one that does.

mod relaying;
mod summary;

use std::collections::{BTreeMap, BTreeSet};

use turnstile_chassis::PartitionRoute;
use turnstile_embedded::Services;
use turnstile_replica::{AppliedEntry, RelayLimits, RequestRelay};
use turnstile_rooms::{Done, Outcome, Rooms};
use turnstile_seed::Random;
use turnstile_types::{Machine, PartitionFounding, PartitionNumber, Timestamp, hash_of};

pub use self::summary::PartitionSummary;

use super::{
    ClusterBug, EPOCH_MS,
    mail::{MailContent, NodeMail, SimMail},
    node::{ClusterCaller, SimNode},
    oracle::{ClusterOracle, SimRecord, ToldOutcome},
    shared::SimStream,
    store::SimStore,
};
use crate::{
    services::{SimulatedRequest, Traffic},
    violation::{Judged, Violation, violation},
};

const NAMES: [&str; 4] = ["main", "b", "c", "d"];

/// A planted bug in how requests find their partitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartitionBug {
    #[default]
    None,
    /// A node that has started again routes by another hash.
    RouteByAnotherHash,
    /// References do not say which partition has given them.
    NoPartitionInReferences,
    /// What is not answered in time is sent once more at another node, without its key.
    ResendWithoutKey,
    /// The answers to a request and to its repetition are both given to the client.
    AnswerTwice,
    /// A node that does not hold the partition of a request that another one has sent passes it on.
    RelayInCircle,
    /// What is passed on once more has lost its key.
    ForgetKeyInRelay,
    /// What has no key is passed on once more.
    RepeatWithoutKey,
}

impl PartitionBug {
    /// Every one of them.
    pub const ALL: [Self; 7] = [
        Self::RouteByAnotherHash,
        Self::NoPartitionInReferences,
        Self::ResendWithoutKey,
        Self::AnswerTwice,
        Self::RelayInCircle,
        Self::ForgetKeyInRelay,
        Self::RepeatWithoutKey,
    ];
}

/// One partition: its log, its part of each node, and who judges it.
#[derive(Debug)]
struct SimPartition {
    number: PartitionNumber,
    stream: SimStream,
    nodes: Vec<SimNode>,
    oracle: ClusterOracle,
}

/// One history that is being made.
#[derive(Debug)]
pub struct PartitionHistory {
    random: Random,
    bug: PartitionBug,
    clock: Timestamp,
    partitions: Vec<SimPartition>,
    /// How often each node has started.
    starts: Vec<u64>,
    /// Which partitions each node holds.
    holds: Vec<Vec<bool>>,
    /// What each node has passed on, by the operations.
    relays: Vec<RequestRelay<usize>>,
    mail: SimMail,
    /// Operations of each partition whose clients have their answers.
    told: BTreeSet<(usize, usize)>,
    traffic: Traffic,
    /// Commands under keys, with these.
    keyed: Vec<((u8, Vec<u8>), String)>,
    /// The partition that has answered a command under a key.
    answered_by: BTreeMap<String, PartitionNumber>,
    summary: PartitionSummary,
}

impl PartitionHistory {
    /// Runs the history of `seed`, with a planted bug or none.
    ///
    /// # Errors
    /// A promise was broken.
    pub fn run(seed: u64, bug: PartitionBug) -> Result<PartitionSummary, Violation> {
        let mut random = Random::new(seed);
        let names = NAMES.iter().take(2 + index(random.below(3)));
        let nodes = 2 + random.below(2);
        let mut partitions = Vec::new();
        for number in (0..).take(names.len()).filter_map(PartitionNumber::new) {
            let founding = PartitionFounding::of(number, names.clone().copied());
            let founding = founding.filter(|_| bug != PartitionBug::NoPartitionInReferences);
            let node = |node| SimNode::new(node, random.draw()).of_partition(founding);
            partitions.push(SimPartition {
                number,
                stream: SimStream::default(),
                nodes: (0..nodes).map(node).collect(),
                oracle: ClusterOracle::of_partition(founding),
            });
        }
        let holds =
            (0..nodes).map(|node| relaying::held(&mut random, node, nodes, partitions.len()));
        let holds = holds.collect();
        let mut history = Self {
            random,
            bug,
            clock: Timestamp(EPOCH_MS),
            partitions,
            starts: vec![0; index(nodes)],
            holds,
            relays: (0..nodes)
                .map(|_| RequestRelay::new(RelayLimits::USUAL))
                .collect(),
            mail: SimMail::default(),
            told: BTreeSet::new(),
            traffic: Traffic::default(),
            keyed: Vec::new(),
            answered_by: BTreeMap::new(),
            summary: PartitionSummary::default(),
        };
        for node in 0..history.starts.len() {
            history.start(node)?;
        }
        for request in Traffic::opening() {
            history.ask(0, request.encode(), None)?;
        }
        for _ in 0..60 + history.random.below(160) {
            history.step()?;
        }
        history.finish()?;
        Ok(history.summary)
    }

    fn step(&mut self) -> Judged {
        let node = index(self.random.below(self.starts.len() as u64));
        let at = index(self.random.below(self.partitions.len() as u64));
        match self.random.below(32) {
            0..7 => self.client(node),
            7..11 => {
                self.propose(at, node);
                Ok(())
            }
            11..16 => self.land(at),
            16..21 => self.deliver(at, node),
            21 => self.crash(node),
            22 => {
                self.clock.0 += self.random.below(90_000);
                self.expire(at, node)
            }
            23 => {
                let made = self.partitions[at].nodes[node].snapshot()?;
                self.summary.snapshots += u64::from(made);
                Ok(())
            }
            24..26 => {
                self.send_again(at, node);
                Ok(())
            }
            26 => {
                self.clock.0 += self.random.below(9_000);
                self.tend_relay(node);
                Ok(())
            }
            _ => self.take_mail(true),
        }
    }

    /// A client asks for something new, or once more for something under its key, at some node.
    fn client(&mut self, node: usize) -> Judged {
        let known = self.random.below(self.keyed.len() as u64 + 4);
        if let Some((asked, key)) = self.keyed.get(index(known)).cloned() {
            self.summary.retries += 1;
            return self.ask(node, asked, Some(key));
        }
        let request = self.traffic.next(&mut self.random, self.clock, None);
        let asked = request.encode();
        let key = self.random.one_in(2).then(|| {
            let key = format!("key-{}", self.keyed.len());
            self.keyed.push((asked.clone(), key.clone()));
            key
        });
        self.ask(node, asked, key)
    }

    fn ask(&mut self, node: usize, asked: (u8, Vec<u8>), key: Option<String>) -> Judged {
        let at = self.partition_of(node, &asked);
        let operation = self.partitions[at].oracle.ask(asked, key);
        let record = self.partitions[at].oracle.record_of(operation);
        if self.holds[node][at] {
            return self.put((at, node), record, ClusterCaller::Operation(operation));
        }
        self.pass_on((at, node), (operation, record.key().is_some()))
    }

    /// A client gets its answer.
    fn tell(
        &mut self,
        (at, operation): (usize, usize),
        sequence: u64,
        outcome: &ToldOutcome,
    ) -> Judged {
        let SimPartition { number, oracle, .. } = &mut self.partitions[at];
        oracle.judge_answer((operation, sequence), outcome)?;
        self.summary.answers += 1;
        self.summary.of_others += u64::from(*number != PartitionNumber::FIRST);
        if let Some(key) = oracle.record_of(operation).key() {
            let first = self.answered_by.entry(key.to_owned()).or_insert(*number);
            if first != number {
                return violation(format!(
                    "a command under the key {key} was answered by {first:?} and {number:?}"
                ));
            }
        }
        if !self.told.insert((at, operation)) {
            return violation(format!(
                "command {operation} of {number:?} was answered twice"
            ));
        }
        Ok(())
    }

    /// The partition to which a node sends a command.
    fn partition_of(&self, node: usize, (service, payload): &(u8, Vec<u8>)) -> usize {
        let count = u8::try_from(self.partitions.len()).expect("few partitions");
        let number = match SimulatedRequest::decode(*service, payload).route() {
            PartitionRoute::First | PartitionRoute::All | PartitionRoute::Pages(_) => {
                PartitionNumber::FIRST
            }
            PartitionRoute::Given(partition) => partition.among(count),
            PartitionRoute::Named(name) => PartitionNumber::of_name(&name, count),
        };
        let is_another = self.bug == PartitionBug::RouteByAnotherHash && self.starts[node] > 1;
        (usize::from(number.get()) + usize::from(is_another)) % self.partitions.len()
    }

    fn put(
        &mut self,
        (at, node): (usize, usize),
        record: SimRecord,
        caller: ClusterCaller,
    ) -> Judged {
        let now = self.now_at(node);
        self.partitions[at].nodes[node].put(now, &[record], &[(caller, 1)])
    }

    fn propose(&mut self, at: usize, number: usize) {
        let now = self.now_at(number);
        let SimPartition { stream, nodes, .. } = &mut self.partitions[at];
        let node = &mut nodes[number];
        while let Some(proposal) = node.propose(now) {
            stream.send((number, node.incarnation()), proposal);
        }
    }

    /// A message reaches the log, or is lost.
    fn land(&mut self, at: usize) -> Judged {
        let SimPartition {
            number,
            stream,
            oracle,
            ..
        } = &mut self.partitions[at];
        let Some(message) = stream.some_message(&mut self.random) else {
            return Ok(());
        };
        if self.random.one_in(8) || stream.has(&message) {
            return Ok(());
        }
        self.summary.entries += 1;
        let sequence = stream.take(&message);
        oracle.apply(sequence, &message.bytes)?;
        for (service, outcome) in oracle.given_out(sequence) {
            judge_reference(*number, service, outcome)?;
            self.traffic.note(service, outcome);
        }
        Ok(())
    }

    fn deliver(&mut self, at: usize, node: usize) -> Judged {
        for _ in 0..1 + self.random.below(6) {
            let next = self.partitions[at].nodes[node].sequence() + 1;
            if next > self.partitions[at].stream.last() {
                break;
            }
            self.apply((at, node), next)?;
        }
        Ok(())
    }

    fn apply(&mut self, (at, node): (usize, usize), sequence: u64) -> Judged {
        let SimPartition {
            number,
            stream,
            nodes,
            ..
        } = &mut self.partitions[at];
        let Some(bytes) = stream.entry(sequence) else {
            return Ok(());
        };
        let settled = match nodes[node].apply(sequence, bytes) {
            // Rights change in the first partition only; who waits there asks again in other histories.
            Ok((AppliedEntry::Own | AppliedEntry::Foreign | AppliedEntry::Void(_), settled)) => {
                settled
            }
            Err(why) => return violation(format!("node {node} of {number:?} stops: {why}")),
        };
        for (job, _seen) in settled {
            let outcome = job.outcomes.into_iter().next();
            match (job.caller, outcome) {
                (ClusterCaller::Operation(operation), Some(outcome)) => {
                    self.tell((at, operation), sequence, &outcome)?;
                }
                (
                    ClusterCaller::Relayed {
                        by,
                        number,
                        operation,
                    },
                    Some(told),
                ) => {
                    self.mail.send(NodeMail {
                        by,
                        number,
                        operation,
                        at,
                        carries: MailContent::Decided { sequence, told },
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The process of a node ends, with all of its partitions; with the machine, unless that keeps its
    /// power.
    fn crash(&mut self, node: usize) -> Judged {
        self.summary.crashes += 1;
        let has_power = self.random.one_in(2);
        for partition in &mut self.partitions {
            partition.nodes[node].crash(has_power);
        }
        self.relays[node] = RequestRelay::new(RelayLimits::USUAL);
        self.start(node)
    }

    fn start(&mut self, node: usize) -> Judged {
        let now = self.now_at(node);
        self.starts[node] += 1;
        let store = SimStore::default();
        for SimPartition { stream, nodes, .. } in &mut self.partitions {
            let has_joined = nodes[node].start(
                (now, ClusterBug::None),
                (stream, &store),
                (&mut self.random, true),
            )?;
            if has_joined {
                return violation(format!(
                    "node {node} begins with a snapshot that nobody has made"
                ));
            }
        }
        Ok(())
    }

    fn send_again(&mut self, at: usize, number: usize) {
        let SimPartition { stream, nodes, .. } = &mut self.partitions[at];
        let node = &nodes[number];
        for proposal in node.unseen() {
            stream.send((number, node.incarnation()), proposal.clone());
        }
    }

    /// Clients that have waited too long are told that nobody knows.
    fn expire(&mut self, at: usize, node: usize) -> Judged {
        let now = self.now_at(node);
        let given = self.partitions[at].nodes[node].expire(now);
        self.summary.unknown += given.unknown.len() as u64;
        for caller in given.unknown {
            if let (PartitionBug::ResendWithoutKey, ClusterCaller::Operation(operation)) =
                (self.bug, caller)
            {
                let record = self.partitions[at].oracle.record_of(operation);
                let other = (node + 1) % self.starts.len();
                let caller = ClusterCaller::Operation(operation);
                self.put((at, other), record.without_key(), caller)?;
            }
        }
        Ok(())
    }

    fn now_at(&self, node: usize) -> Timestamp {
        Timestamp(self.clock.0 + self.partitions[0].nodes[node].ahead_ms)
    }

    /// The faults end; everything that was asked is decided, and all nodes come to the same.
    fn finish(&mut self) -> Judged {
        for _ in 0..200 {
            while !self.mail.is_empty() {
                self.take_mail(false)?;
            }
            self.clock.0 += 1_000;
            (0..self.starts.len()).for_each(|node| self.tend_relay(node));
            let mut is_quiet = self.relays.iter().all(|relay| relay.waiting() == 0);
            for at in 0..self.partitions.len() {
                for node in 0..self.starts.len() {
                    self.propose(at, node);
                    self.send_again(at, node);
                    is_quiet &= !self.partitions[at].nodes[node].waits();
                }
                while self.partitions[at].stream.is_busy() {
                    self.land(at)?;
                }
                for node in 0..self.starts.len() {
                    while self.partitions[at].nodes[node].sequence()
                        < self.partitions[at].stream.last()
                    {
                        let next = self.partitions[at].nodes[node].sequence() + 1;
                        self.apply((at, node), next)?;
                    }
                }
            }
            if is_quiet {
                return self.compare();
            }
        }
        violation("what was asked is never decided".to_owned())
    }

    fn compare(&mut self) -> Judged {
        for partition in &self.partitions {
            partition.oracle.compare(&partition.nodes)?;
            let state: &Services = partition.nodes[0].state().machines();
            let hash = u64::try_from(hash_of(state) >> 64).expect("half of the bits");
            self.summary.trace = self.summary.trace.rotate_left(9) ^ hash;
        }
        Ok(())
    }
}

/// A reference says which partition has given it.
fn judge_reference(number: PartitionNumber, service: u8, outcome: &[u8]) -> Judged {
    if service != Rooms::SERVICE {
        return Ok(());
    }
    let outcome = Rooms::decode_outcome(outcome);
    let outcome = outcome.map_err(|malformed| Violation(malformed.to_string()))?;
    if let Outcome::Done(Done::Booked { reference, .. } | Done::Held { reference, .. }) = outcome
        && reference.partition() != number
    {
        return violation(format!("{number:?} has given the reference {reference}"));
    }
    Ok(())
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("a small number")
}
