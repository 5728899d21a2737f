//! One node: the real sequencer and replica on a simulated disk.

use std::collections::BTreeMap;

use turnstile_embedded::Services;
use turnstile_journal::{
    Chores, Durability, FaultyDisk, Journal, Log as _, Options, SEGMENT_BYTES_MIN, retire,
    snapshot::{self, Draft},
};
use turnstile_record::RecordRef;
use turnstile_replica::{
    AppliedEntry, NotApplied, ProposalLimits, ProposedEntry, Replica, ServerRun, UnansweredJobs,
};
use turnstile_sequencer::{EntrySabotage, Sequencer, State};
use turnstile_types::{Name, Reader, Timestamp, hash_of};

use super::oracle::SimRecord;
use crate::violation::{Judged, Violation};

const OPTIONS: Options = Options {
    segment_bytes: SEGMENT_BYTES_MIN,
    durability: Durability::Cluster,
    chores: Chores::Inline,
    accept_loss: None,
};

const LIMITS: ProposalLimits = ProposalLimits {
    under_way: 3,
    patience_ms: 60_000,
};

/// The installation that all nodes are of.
const INSTALLATION: u64 = 77;

/// What a client waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum ClusterCaller {
    /// The outcome of the operation with this number.
    Operation(usize),
    /// A reading that must have seen this entry.
    Reading(u64),
}

type NodeServer = Sequencer<Services, Journal<FaultyDisk>>;

/// One node of the cluster.
#[derive(Debug)]
pub(super) struct SimNode {
    name: Name,
    disk: FaultyDisk,
    /// How far its clock is ahead.
    pub(super) ahead_ms: u64,
    pub(super) incarnation: u64,
    running: Option<(NodeServer, Replica<ClusterCaller>)>,
    /// What it has proposed and not seen in the log, by the numbers.
    unseen: BTreeMap<u64, ProposedEntry>,
    /// The last entry that it ever had.
    highest: u64,
}

impl SimNode {
    pub(super) fn new(number: u64, seed: u64) -> Self {
        let name = format!("n{number}");
        Self {
            name: Name::parse(name.as_bytes()).expect("a name"),
            disk: FaultyDisk::new(seed),
            ahead_ms: seed % 5 * 60_000,
            incarnation: 0,
            running: None,
            unseen: BTreeMap::new(),
            highest: 0,
        }
    }

    pub(super) fn start(&mut self, now: Timestamp, sabotage: EntrySabotage) -> Judged {
        let refused = |why: String| Violation(format!("a node does not start: {why}"));
        let opened = Journal::open(self.disk.clone(), OPTIONS);
        let (journal, _report) = opened.map_err(|error| refused(error.to_string()))?;
        let found = snapshot::newest(&self.disk, journal.id());
        let found = found.map_err(|error| refused(error.to_string()))?;
        let mut state = match &found.snapshot {
            None => State::empty(),
            Some(found) => State::restore(Reader::new(&found.state))
                .map_err(|malformed| refused(malformed.to_string()))?,
        };
        let after = state.position();
        let replayed = journal.replay(after, |group| state.replay(group));
        replayed.map_err(|error| refused(error.to_string()))?;
        let known = state
            .shared()
            .and_then(|place| place.incarnation(&self.name));
        self.incarnation = now.0.max(known.unwrap_or(0) + 1).max(self.incarnation + 1);
        let run = ServerRun {
            node: self.name,
            incarnation: self.incarnation,
            installation: INSTALLATION,
        };
        let mut server = Sequencer::new(state, journal);
        server.sabotage_entries(sabotage);
        self.running = Some((server, Replica::new(run, LIMITS)));
        Ok(())
    }

    /// The process dies; with the machine, unless that keeps its power.
    pub(super) fn crash(&mut self, has_power: bool) {
        self.running = None;
        self.unseen.clear();
        if has_power {
            self.disk.kill();
        } else {
            self.disk.crash();
        }
    }

    fn server(&self) -> &NodeServer {
        &self.running.as_ref().expect("a node that runs").0
    }

    fn both(&mut self) -> (&mut NodeServer, &mut Replica<ClusterCaller>) {
        let (server, replica) = self.running.as_mut().expect("a node that runs");
        (server, replica)
    }

    /// The last entry that it has applied.
    pub(super) fn sequence(&self) -> u64 {
        let shared = self.server().state().shared();
        shared.map_or(0, |place| place.sequence)
    }

    /// Whether it had an entry before a crash took it.
    pub(super) const fn has_had(&self, sequence: u64) -> bool {
        sequence <= self.highest
    }

    pub(super) fn state(&self) -> &State<Services> {
        self.server().state()
    }

    pub(super) fn put(
        &mut self,
        now: Timestamp,
        record: Option<&SimRecord>,
        caller: ClusterCaller,
    ) -> Judged {
        let (server, replica) = self.both();
        let principal = turnstile_types::Principal::local();
        let state = server.state();
        let put = match record {
            None => replica.put((now, state), &[]),
            Some(record) => {
                let origin = record.origin();
                let record: RecordRef<'_> = record.as_record(&principal, &origin);
                replica.put((now, state), &[record])
            }
        };
        let put = put.map_err(|error| Violation(error.to_string()))?;
        replica.wait(put, caller);
        Ok(())
    }

    pub(super) fn propose(&mut self, now: Timestamp) -> Option<ProposedEntry> {
        let (server, replica) = self.both();
        let proposal = replica.propose(now, server.state())?;
        self.unseen.insert(proposal.number, proposal.clone());
        Some(proposal)
    }

    /// What it has not seen in the log.
    pub(super) fn unseen(&self) -> impl Iterator<Item = &ProposedEntry> {
        self.unseen.values()
    }

    /// Whether somebody waits, or an entry is under way.
    pub(super) fn waits(&self) -> bool {
        let replica = &self.running.as_ref().expect("a node that runs").1;
        replica.under_way() > 0 || replica.deadline().is_some()
    }

    pub(super) fn apply(
        &mut self,
        sequence: u64,
        bytes: &[u8],
    ) -> Result<AppliedEntry<ClusterCaller>, NotApplied> {
        let entry = turnstile_record::SharedEntry::parse(bytes);
        if let Ok(entry) = entry
            && entry.head.node == self.name
            && entry.head.incarnation == self.incarnation
        {
            self.unseen.remove(&entry.head.number);
        }
        let (server, replica) = self.both();
        let applied = replica.apply(server, sequence, bytes)?;
        let committed = server.commit();
        committed.expect("a sound disk takes every group");
        self.highest = self.highest.max(sequence);
        Ok(applied)
    }

    pub(super) fn expire(&mut self, now: Timestamp) -> UnansweredJobs<ClusterCaller> {
        self.both().1.expire(now)
    }

    /// Makes a snapshot; says whether there was something to make one of.
    pub(super) fn snapshot(&self) -> Result<bool, Violation> {
        let server = self.server();
        let (state, id) = (server.state(), server.log().id());
        if state.shared().is_none() {
            return Ok(false);
        }
        let mut draft = Draft::begin(self.disk.clone(), id, state.position(), state.time());
        state.snapshot(&mut draft);
        let made = draft.finish(hash_of(state.machines()));
        made.map_err(|error| Violation(format!("no snapshot: {error}")))?;
        let retired = retire(&self.disk, id);
        retired.map_err(|error| Violation(format!("no retirement: {error}")))?;
        Ok(true)
    }
}
