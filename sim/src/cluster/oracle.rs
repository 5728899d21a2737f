//! The judge of a cluster: a reference that applies the log in peace, and what clients were told.

use std::collections::BTreeMap;

use turnstile_embedded::Services;
use turnstile_journal::MemoryLog;
use turnstile_record::{RecordRef, SERVICE_ENGINE, SharedEntry};
use turnstile_seed::Random;
use turnstile_sequencer::{EntryFate, ExecuteError, Reply, Sequencer, State};
use turnstile_types::{
    AddressPolicy, Author, CallerAddress, DoorKind, Key, Origin, PartitionFounding, Position,
    Principal, RequestId,
};

use super::node::SimNode;
use crate::violation::{Judged, Violation, violation};

/// What became of an operation; the outcome in the bytes of its service.
pub(super) type ToldOutcome = Result<Reply<Vec<u8>>, ExecuteError>;

/// A command with its number.
#[derive(Clone, Debug)]
pub(super) struct SimRecord {
    id: String,
    service: u8,
    payload: Vec<u8>,
    key: Option<String>,
}

impl SimRecord {
    pub(super) fn origin(&self) -> Origin<'_> {
        Origin {
            door: DoorKind::Resp,
            address: CallerAddress::of([203, 0, 113, 7].into(), AddressPolicy::Network),
            request_id: RequestId::parse(self.id.as_bytes()).ok(),
        }
    }

    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    pub(super) fn without_key(self) -> Self {
        Self { key: None, ..self }
    }

    pub(super) fn as_record<'a>(
        &'a self,
        principal: &'a Principal,
        origin: &'a Origin<'a>,
    ) -> RecordRef<'a> {
        let key = self.key.as_ref().map(|key| Key::parse(key.as_bytes()));
        RecordRef {
            service: self.service,
            author: Author { principal, origin },
            key: key.map(|key| key.expect("a key")),
            payload: &self.payload,
        }
    }
}

/// What the log decides, and what was told of it.
#[derive(Debug)]
pub(super) struct ClusterOracle {
    reference: Sequencer<Services, MemoryLog>,
    operations: Vec<SimRecord>,
    /// The outcomes that the log decided, by the entry and the operation: several where a repetition came into
    /// the same entry.
    decided: BTreeMap<(u64, usize), Vec<ToldOutcome>>,
    /// How often each operation was decided, and not only answered again.
    times: BTreeMap<usize, u32>,
    /// Operations that were asked right behind another, and which.
    pub(super) runs: BTreeMap<usize, usize>,
    keys: u64,
    /// The last entry of which a client has had an answer.
    pub(super) answered: u64,
}

impl ClusterOracle {
    pub(super) fn new() -> Self {
        Self {
            reference: Sequencer::new(State::empty(), MemoryLog::new()),
            operations: Vec::new(),
            decided: BTreeMap::new(),
            times: BTreeMap::new(),
            runs: BTreeMap::new(),
            keys: 0,
            answered: 0,
        }
    }

    /// The same of one of several partitions.
    pub(super) fn of_partition(founding: Option<PartitionFounding>) -> Self {
        let mut oracle = Self::new();
        if let Some(founding) = founding {
            let founded = oracle.reference.found(founding);
            founded.expect("memory takes every record");
            let committed = oracle.reference.commit();
            committed.expect("memory takes every group");
        }
        oracle
    }

    /// Takes note of a command; says its number.
    pub(super) fn ask(&mut self, (service, payload): (u8, Vec<u8>), key: Option<String>) -> usize {
        let number = self.operations.len();
        self.operations.push(SimRecord {
            id: format!("op-{number}"),
            service,
            payload,
            key,
        });
        number
    }

    pub(super) fn record_of(&self, operation: usize) -> SimRecord {
        self.operations[operation].clone()
    }

    pub(super) fn new_key(&mut self) -> String {
        self.keys += 1;
        format!("key-{}", self.keys)
    }

    /// Some command that was asked under a key, and the key.
    pub(super) fn some_keyed(&self, random: &mut Random) -> Option<((u8, Vec<u8>), String)> {
        let at = usize::try_from(random.below(self.operations.len() as u64 + 1)).ok()?;
        let record = self.operations.get(at)?;
        let key = record.key.clone()?;
        Some(((record.service, record.payload.clone()), key))
    }

    /// Applies the next entry of the log; says whether it was decided.
    pub(super) fn apply(&mut self, sequence: u64, bytes: &[u8]) -> Result<bool, Violation> {
        let entry = SharedEntry::parse(bytes).expect("a node has made it");
        let mut outcomes = Vec::new();
        let mut witness = |_: &State<_>, outcome: Option<Result<Reply<&[u8]>, ExecuteError>>| {
            outcomes.extend(outcome.map(|outcome| outcome.map(|reply| reply.map(<[u8]>::to_vec))));
        };
        let fate = self
            .reference
            .apply_entry(sequence, &entry, Some(&mut witness))
            .map_err(|error| Violation(format!("the log cannot be applied: {error}")))?;
        let committed = self.reference.commit();
        committed.expect("memory takes every group");
        for (record, outcome) in entry.records().zip(outcomes) {
            if record.service == SERVICE_ENGINE {
                // What a node says of itself and of snapshots.
                continue;
            }
            let origin = record.origin();
            let id = origin.request_id.expect("every command has its number");
            let number = id.as_str().trim_start_matches("op-").parse();
            let operation = number.expect("a number of a command");
            if matches!(&outcome, Ok(reply) if !reply.replayed) {
                let times = self.times.entry(operation).or_default();
                *times += 1;
                if *times > 1 {
                    return Err(Violation(format!("command {operation} was decided twice")));
                }
            }
            let decided = self.decided.entry((sequence, operation));
            decided.or_default().push(outcome);
        }
        Ok(fate == EntryFate::Decided)
    }

    /// The outcomes of an entry, by the services.
    pub(super) fn given_out(&self, sequence: u64) -> impl Iterator<Item = (u8, &[u8])> {
        let decided = self.decided.range((sequence, 0)..(sequence + 1, 0));
        decided.filter_map(|((_, operation), outcomes)| {
            let outcome = outcomes.first()?.as_ref().ok()?;
            Some((self.operations[*operation].service, &*outcome.outcome))
        })
    }

    /// Compares what a client was told with what the log decides; answers a hash of it.
    pub(super) fn judge_answer(
        &mut self,
        (operation, sequence): (usize, u64),
        told: &ToldOutcome,
    ) -> Result<u64, Violation> {
        let decided = self.decided.get(&(sequence, operation));
        if !decided.is_some_and(|decided| decided.contains(told)) {
            return Err(Violation(format!(
                "the client of command {operation} was told {told:?}, and entry {sequence} decides \
                 {decided:?}"
            )));
        }
        self.answered = self.answered.max(sequence);
        if let Some(first) = self.runs.get(&operation) {
            let first = self.decided.get(&(sequence, *first));
            let first = first.and_then(|outcomes| outcomes.first());
            let follows = |first: &ToldOutcome| match (first, told) {
                (Ok(first), Ok(told)) => first.position.next() == told.position,
                _ => true,
            };
            if !first.is_some_and(follows) {
                return Err(Violation(format!(
                    "command {operation} belongs behind {first:?}, and was told {told:?}"
                )));
            }
        }
        let outcome = told.as_ref().map_or(&[][..], |reply| &reply.outcome);
        let mixed = outcome.iter().fold(sequence, |mixed, byte| {
            (mixed ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Ok(mixed)
    }

    /// Whoever reads must see all that was answered before.
    pub(super) fn judge_reading(seen: u64, floor: u64) -> Judged {
        if seen < floor {
            return violation(format!(
                "a reading saw the entries up to {seen}, and one of {floor} had been answered"
            ));
        }
        Ok(())
    }

    /// Whoever reads right behind a command sees it, and nothing behind it.
    pub(super) fn judge_reading_behind(
        &self,
        (operation, sequence): (usize, u64),
        seen: Position,
    ) -> Judged {
        let decided = self.decided.get(&(sequence, operation));
        match decided.and_then(|outcomes| outcomes.first()) {
            Some(Ok(reply)) if !reply.replayed && reply.position != seen => violation(format!(
                "a reading behind command {operation} at {} saw position {seen}",
                reply.position
            )),
            _ => Ok(()),
        }
    }

    /// All nodes have come to what the log decides.
    pub(super) fn compare(&self, nodes: &[SimNode]) -> Judged {
        let expected = bytes_of(self.reference.state());
        for (number, node) in nodes.iter().enumerate() {
            if node.state().shared() != self.reference.state().shared() {
                return violation(format!(
                    "node {number} is at {:?}, and the log at {:?}",
                    node.state().shared(),
                    self.reference.state().shared()
                ));
            }
            if bytes_of(node.state()) != expected {
                return violation(format!("node {number} has another state than the log"));
            }
        }
        Ok(())
    }
}

fn bytes_of(state: &State<Services>) -> Vec<u8> {
    let mut bytes = Vec::new();
    state.snapshot(&mut bytes);
    bytes
}
