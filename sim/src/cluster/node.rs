//! One node: the real sequencer and replica on a simulated disk.

use std::collections::{BTreeMap, BTreeSet};

use turnstile_embedded::Services;
use turnstile_journal::{
    self as journal, Chores, Disk as _, Durability, Fault, FaultyDisk, Journal, Log as _, Options,
    SEGMENT_BYTES_MIN, retire, snapshot,
};
use turnstile_record::{ENTRY_VERSION, RecordRef, SERVICE_ENGINE};
use turnstile_replica::{
    AppliedEntry, JoinWish, NotApplied, ProposalLimits, ProposedEntry, Replica, ServerRun,
    SettledJob, SnapshotDuty, SnapshotPace, StreamRoom, UnansweredJobs,
};
use turnstile_seed::Random;
use turnstile_sequencer::{OrderedSnapshot, Sequencer, SharedPlace, SnapshotStep, State};
use turnstile_types::{Author, Name, PartitionFounding, Position, Principal, Reader, Timestamp};

use super::{
    ClusterBug,
    oracle::SimRecord,
    shared::SimStream,
    store::{self, SimStore},
};
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

const PACE: SnapshotPace = SnapshotPace {
    every: 4,
    margin: 2,
    live_ms: 120_000,
    repeat_ms: 0,
    rest_ms: 0,
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
    /// Nobody: a node says something of snapshots, or asks whether it has all.
    Nobody,
    /// A reading that was put together with an operation, right behind it.
    ReadingBehind(usize),
    /// Another node, in this run, that has passed the operation on under this number.
    Relayed {
        by: (usize, u64),
        number: u64,
        operation: usize,
    },
}

/// A job of a node's own entry, and the position that the state had when it was settled.
pub(super) type SettledAt = (SettledJob<ClusterCaller>, Position);

type NodeServer = Sequencer<Services, Journal<FaultyDisk>>;

/// One node of the cluster.
#[derive(Debug)]
pub(super) struct SimNode {
    name: Name,
    disk: FaultyDisk,
    /// How far its clock is ahead.
    pub(super) ahead_ms: u64,
    /// When its runs began, by its clock: two that began in the same millisecond would have one number.
    beginnings: BTreeSet<u64>,
    running: Option<(NodeServer, Replica<ClusterCaller>)>,
    duty: Option<SnapshotDuty>,
    /// The snapshot that it has made and not yet put into the store, and its place.
    made: Option<(SharedPlace, Vec<u8>)>,
    /// The last entry of the snapshot of its own that is in the store, until the order has it.
    kept: Option<u64>,
    /// What it has proposed and not seen in the log, by the numbers.
    unseen: BTreeMap<u64, ProposedEntry>,
    /// The last entry that it ever had.
    highest: u64,
    /// The newest version of entries that its program reads.
    pub(super) reads: u16,
    /// Which of several partitions it is a node of.
    founding: Option<PartitionFounding>,
}

impl SimNode {
    pub(super) fn new(number: u64, seed: u64) -> Self {
        let name = format!("n{number}");
        Self {
            name: Name::parse(name.as_bytes()).expect("a name"),
            disk: FaultyDisk::new(seed),
            ahead_ms: seed % 5 * 60_000,
            beginnings: BTreeSet::new(),
            running: None,
            duty: None,
            made: None,
            kept: None,
            unseen: BTreeMap::new(),
            highest: 0,
            reads: ENTRY_VERSION,
            founding: None,
        }
    }

    /// The same in one of several partitions.
    pub(super) fn of_partition(self, founding: Option<PartitionFounding>) -> Self {
        Self { founding, ..self }
    }

    /// Starts with what it has, or with a snapshot from the store. Says whether it has begun with one.
    pub(super) fn start(
        &mut self,
        (now, bug): (Timestamp, ClusterBug),
        (stream, store): (&SimStream, &SimStore),
        (random, heeds_titles): (&mut Random, bool),
    ) -> Result<bool, Violation> {
        let (mut state, mut journal) = self.open()?;
        let own = state.shared().map(|place| place.sequence);
        let lacks = own.unwrap_or(0) + 1 < stream.first();
        let mut has_joined = false;
        if own.is_none() || lacks {
            drop((state, journal));
            let wish = JoinWish {
                own,
                log: store::LOG,
                secret: store::SECRET,
                first: stream.first(),
                last: stream.last(),
            };
            has_joined = self.join(&wish, store, (random, heeds_titles))?;
            if lacks && !has_joined {
                return Err(Violation(
                    "a node finds no snapshot to join from".to_owned(),
                ));
            }
            (state, journal) = self.open()?;
        }
        let mut begins = now.0;
        while !self.beginnings.insert(begins) {
            begins += 1;
        }
        let run = ServerRun {
            node: self.name,
            incarnation: begins,
            after: stream.last(),
            installation: INSTALLATION,
            reads: self.reads,
        };
        let mut server = Sequencer::new(state, journal);
        self.found(&mut server)?;
        server.sabotage_entries(bug.sabotage());
        let mut replica = Replica::new(run, LIMITS);
        if bug == ClusterBug::WriteTooEarly {
            replica.write_too_early();
        }
        if bug == ClusterBug::TrustClock {
            replica.trust_its_clock();
        }
        self.running = Some((server, replica));
        if has_joined {
            // What it lacks must not go: it says at once how far it is.
            self.put(now, &[], &[(ClusterCaller::Nobody, 0)])?;
        }
        Ok(has_joined)
    }

    /// Makes a new state the partition that it is to be.
    fn found(&self, server: &mut NodeServer) -> Judged {
        let is_known = server.state().partition().is_some();
        let Some(founding) = self.founding.filter(|_| !is_known) else {
            return Ok(());
        };
        let refused = |why: String| Violation(format!("a node begins no partition: {why}"));
        let founded = server.found(founding);
        founded.map_err(|error| refused(error.to_string()))?;
        let committed = server.commit();
        committed.map_err(|error| refused(error.to_string()))?;
        Ok(())
    }

    /// Recovers what its disk has.
    fn open(&self) -> Result<(State<Services>, Journal<FaultyDisk>), Violation> {
        let refused = |why: String| Violation(format!("a node does not start: {why}"));
        if journal::is_unfinished(&self.disk).map_err(|error| refused(error.to_string()))? {
            let cleared = journal::clear(&self.disk, &[]);
            cleared.map_err(|error| refused(error.to_string()))?;
        }
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
        Ok((state, journal))
    }

    /// Puts the newest snapshot that serves in the place of what it has; it may lose its power on the way,
    /// and begins again.
    fn join(
        &mut self,
        wish: &JoinWish<u64>,
        store: &SimStore,
        (random, heeds_titles): (&mut Random, bool),
    ) -> Result<bool, Violation> {
        for object in store.newest_first() {
            if heeds_titles && wish.judge(&object.title).is_err() {
                continue;
            }
            let Ok(arrived) = object.read() else {
                continue;
            };
            let place = arrived.place();
            if heeds_titles && place.is_none_or(|place| place.sequence != object.title.sequence) {
                continue;
            }
            if random.one_in(3) {
                self.disk.inject(Fault::PowerCut, random.below(30));
            }
            loop {
                let lock = self.disk.lock();
                let lock = lock.ok().flatten();
                let refounded = lock.is_some_and(|lock| {
                    let state = (arrived.title(), arrived.state());
                    let options = (SEGMENT_BYTES_MIN, &[][..]);
                    journal::refound(&self.disk, lock, state, options).is_ok()
                });
                // What was done must be there after a power cut, and so must what was not.
                self.disk.crash();
                if refounded {
                    return Ok(true);
                }
                // What it had before is whole, or nothing is there.
                drop(self.open()?);
            }
        }
        Ok(false)
    }

    /// All that its disk had is gone.
    pub(super) fn lose_directory(&mut self, seed: u64) {
        self.crash(true);
        self.disk = FaultyDisk::new(seed);
        self.highest = 0;
    }

    /// The process dies; with the machine, unless that keeps its power.
    pub(super) fn crash(&mut self, has_power: bool) {
        self.running = None;
        (self.duty, self.made, self.kept) = (None, None, None);
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
        records: &[SimRecord],
        jobs: &[(ClusterCaller, usize)],
    ) -> Judged {
        let (server, replica) = self.both();
        let principal = Principal::local();
        let origins: Vec<_> = records.iter().map(SimRecord::origin).collect();
        let records: Vec<RecordRef<'_>> = records
            .iter()
            .zip(&origins)
            .map(|(record, origin)| record.as_record(&principal, origin))
            .collect();
        let put = replica.put((now, server.state()), &records);
        let put = put.map_err(|error| Violation(error.to_string()))?;
        replica.wait(put, jobs.iter().copied());
        Ok(())
    }

    pub(super) fn propose(&mut self, now: Timestamp) -> Option<ProposedEntry> {
        let (server, replica) = self.both();
        let proposal = replica.propose(now, server.state())?;
        let run = *replica.run();
        self.duty
            .get_or_insert_with(|| SnapshotDuty::new(&run, PACE));
        self.unseen.insert(proposal.number, proposal.clone());
        Some(proposal)
    }

    /// The number of its run.
    pub(super) fn incarnation(&self) -> u64 {
        self.run().incarnation
    }

    pub(super) fn run(&self) -> &ServerRun {
        self.running.as_ref().expect("a node that runs").1.run()
    }

    /// Its clock is set to another time, which may be earlier.
    pub(super) const fn set_clock(&mut self, minutes: u64) {
        self.ahead_ms = minutes * 60_000;
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
    ) -> Result<(AppliedEntry<ClusterCaller>, Vec<SettledAt>), NotApplied> {
        let entry = turnstile_record::SharedEntry::parse(bytes);
        if let Ok(entry) = entry
            && entry.head.node == self.name
            && entry.head.incarnation == self.incarnation()
        {
            self.unseen.remove(&entry.head.number);
        }
        let (server, replica) = self.both();
        let mut settled = Vec::new();
        let mut settle = |job, state: &State<Services>| settled.push((job, state.position()));
        let applied = replica.apply(server, (sequence, bytes), &mut settle)?;
        let committed = server.commit();
        committed.expect("a sound disk takes every group");
        self.highest = self.highest.max(sequence);
        self.heed_snapshots();
        Ok((applied, settled))
    }

    /// Makes a snapshot for the store, if it is to.
    fn heed_snapshots(&mut self) {
        let (Some((server, _)), Some(duty)) = (&self.running, &mut self.duty) else {
            return;
        };
        let state = server.state();
        if let Some(place) = state.shared()
            && duty.entered(place)
        {
            let file = store::file_of(&self.disk, server.log().id(), state);
            self.made = Some((place.clone(), file));
        }
    }

    /// The snapshot that it puts into the store next.
    pub(super) fn take_made(&mut self) -> Option<(SharedPlace, Vec<u8>)> {
        self.made.take()
    }

    /// What has become of that.
    pub(super) fn note_kept(
        &mut self,
        now: Timestamp,
        sequence: u64,
        kept: Option<OrderedSnapshot>,
    ) {
        self.kept = kept.map(|kept| kept.sequence).or(self.kept);
        if let Some(duty) = &mut self.duty {
            duty.made(now, sequence, kept);
        }
    }

    /// Says what there is to say of snapshots in its next entry. Answers which entries may go, and which
    /// snapshots.
    pub(super) fn tell_snapshots(
        &mut self,
        now: Timestamp,
        room: StreamRoom,
    ) -> Result<(Option<u64>, Option<u64>), Violation> {
        let Some(duty) = &mut self.duty else {
            return Ok((None, None));
        };
        let state = self.running.as_ref().expect("a node that runs").0.state();
        let is_ready = |place: &&SharedPlace| place.takes_snapshot_steps();
        let Some(place) = state.shared().filter(is_ready) else {
            return Ok((None, None));
        };
        let now = now.max(state.time());
        let step = duty.tell(now, place, room);
        let purge = duty.purge_below(place, now, room);
        let older = place.snapshots.older().map(|older| older.sequence);
        let is_known = self.kept == Some(place.snapshots.newest_sequence());
        let forget = older.filter(|_| is_known);
        if is_known {
            self.kept = None;
        }
        if let Some(step) = step {
            self.put_step(now, step)?;
        }
        Ok((purge, forget))
    }

    fn put_step(&mut self, now: Timestamp, step: SnapshotStep) -> Judged {
        let (server, replica) = self.both();
        let principal = Principal::local();
        let record = RecordRef {
            service: SERVICE_ENGINE,
            author: Author::server(&principal),
            key: None,
            payload: &step.bytes(),
        };
        let put = replica.put((now, server.state()), &[record]);
        let put = put.map_err(|error| Violation(error.to_string()))?;
        replica.wait(put, [(ClusterCaller::Nobody, 1)]);
        Ok(())
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
        store::file_of(&self.disk, id, state);
        let retired = retire(&self.disk, id);
        retired.map_err(|error| Violation(format!("no retirement: {error}")))?;
        Ok(true)
    }
}
