//! Several servers on one log: what is asked here becomes entries of it, and what comes from it is
//! applied here.

mod arriving;
mod asker;
mod joining;
mod keeping;
pub(crate) mod other_nodes;
mod relayed;
mod reporting;
mod rules;
mod tending;

use std::{fmt, sync::Arc};

use turnstile_contract::Failure;
use turnstile_embedded::{Embedded, Services};
use turnstile_jetstream::{
    Fatal, LogEvent, LogSettings, LogStatus, NodeName, ProposalId, SharedLog,
};
use turnstile_record::{ENTRY_VERSION, EntryHead};
use turnstile_replica::{
    AppliedEntry, NotApplied, ProposalLimits, Replica, ServerRun, SettledJob, SnapshotDuty,
    SnapshotPace, UnansweredJobs,
};
use turnstile_sequencer::State;
use turnstile_types::{Name, Position, Timestamp};

use crate::core::{node_status::ClusterStatus, remote::Landed};

pub use arriving::NoBeginning;
pub(crate) use asker::{ClusterAsker, Clustered};
pub(crate) use joining::NodeStart;
pub use joining::{BegunCluster, NotJoined, begin_cluster};
use keeping::SnapshotKeeper;
pub(crate) use rules::ClusterRules;
pub use rules::DifferentSettings;

/// Entries that are applied in one turn: the clients are not to wait for all that others did.
const ENTRIES_PER_TURN: usize = 64;

/// What clients are told while the log has no room for what they ask.
const NEARLY_FULL: &str = "the shared log is nearly full: a snapshot makes room; \
                           cluster.stream_bytes says how much there is";

/// Why a server has left the shared log. It stops; the others go on.
#[derive(Debug)]
pub enum ClusterEnded {
    NotApplied(NotApplied),
    /// The nodes that began the cluster play by other settings.
    OtherSettings(DifferentSettings),
    Log(Fatal),
}

impl fmt::Display for ClusterEnded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherSettings(cause) => write!(
                f,
                "{cause}; give it those, and a directory as the others began with"
            ),
            Self::NotApplied(cause) => cause.fmt(f),
            Self::Log(cause) => cause.fmt(f),
        }
    }
}

/// What the entries of a turn have brought.
#[derive(Default)]
pub(crate) struct OrderedAnswers {
    /// Answers to who asked here.
    pub(crate) landed: Vec<Landed>,
    /// Who is to be asked about again: rights have changed before the order came to them, or the server
    /// itself asks until it is decided. Those that were asked for together stand together.
    pub(crate) void: Vec<Vec<ClusterAsker>>,
    /// Who asks another partition: all is known here that was ordered at this instant.
    pub(crate) onward: Vec<(Timestamp, ClusterAsker)>,
}

/// The loop's side of a shared log.
pub(crate) struct Cluster {
    log: SharedLog,
    node: NodeName,
    replica: Replica<ClusterAsker>,
    /// What it does about snapshots; nothing before an entry of this run was applied, and with it all that
    /// was in the log before.
    duty: Option<SnapshotDuty>,
    pace: SnapshotPace,
    keeper: SnapshotKeeper,
    /// Bytes that the log may take on each broker.
    bytes_max: u64,
    /// The last entry of the snapshot that this node has put into the store, until the order has it.
    kept: Option<u64>,
    /// Snapshots that this node was to make and has not.
    not_kept: u64,
    /// Answers that need no entry.
    landed: Vec<Landed>,
    /// Whether the last turn has left entries.
    has_more: bool,
}

impl Cluster {
    /// A node of this name, in a run that begins at this time, of an installation, on its log.
    fn new(
        (log, keeper): (SharedLog, SnapshotKeeper),
        settings: &LogSettings,
        (name, incarnation, installation): (Name, u64, u64),
    ) -> Self {
        let run = ServerRun {
            node: name,
            incarnation,
            after: log.extent().last.0,
            installation,
            reads: settings.entry_version_max.unwrap_or(ENTRY_VERSION),
        };
        Self {
            log,
            duty: None,
            pace: SnapshotPace::usual(settings.snapshot_entries),
            keeper,
            bytes_max: settings.stream_bytes_max,
            kept: None,
            not_kept: 0,
            node: settings.node.clone(),
            replica: Replica::new(run, ProposalLimits::USUAL),
            landed: Vec::new(),
            has_more: false,
        }
    }

    /// Which installation it is of.
    pub(crate) const fn installation(&self) -> u64 {
        self.replica.run().installation
    }

    /// The number of this run of the node, as far as it is known.
    pub(crate) const fn run_number(&self) -> u64 {
        self.replica.run().incarnation
    }

    /// What stands at the head of a message to another node, in this state: who sends it, and what is known
    /// here.
    pub(crate) fn head(&self, state: &State<Services>) -> EntryHead {
        let run = self.replica.run();
        let place = state.shared();
        EntryHead {
            node: run.node,
            incarnation: run.incarnation,
            number: 0,
            epoch: place.map_or(Position(0), |place| place.epoch),
            installation: run.installation,
            applied: place.map_or((0, 0), |place| (place.sequence, place.chain)),
            version: ENTRY_VERSION,
            reads: run.reads,
        }
    }

    /// How it stands, behind this state.
    pub(crate) fn status(&self, state: &State<Services>) -> ClusterStatus {
        let log = self.log.state();
        let under_way = u64::try_from(self.replica.under_way());
        let place = state.shared();
        let room = self.room();
        ClusterStatus {
            entry: place.map_or(0, |place| place.sequence),
            snapshot: place.map_or(0, |place| place.snapshots.newest_sequence()),
            snapshots_failed: self.not_kept,
            first: room.first,
            bytes: room.bytes,
            bytes_max: room.bytes_max,
            lag: log.lag,
            under_way: under_way.unwrap_or(u64::MAX),
            retries: log.retries,
            is_taking: log.status.is_taking,
            is_disputed: self.replica.is_disputed(),
        }
    }

    /// The names that it goes by, for whoever operates it.
    pub(crate) fn names(&self) -> [(&'static str, String); 3] {
        let LogStatus {
            connected, leader, ..
        } = self.log.state().status;
        let or_none = |name: Option<String>| name.unwrap_or_else(|| "none".to_owned());
        [
            ("node", self.node.to_string()),
            ("broker", or_none(connected)),
            ("leader", or_none(leader)),
        ]
    }

    /// Puts jobs of one caller in the next entry, to be decided one right after the other.
    pub(crate) fn ask(&mut self, at: (Timestamp, &State<Services>), askers: Vec<ClusterAsker>) {
        let Some(caller) = askers.iter().find_map(ClusterAsker::caller).cloned() else {
            for asker in askers {
                if let ClusterAsker::Note(service, payload) = asker {
                    self.note(at, (service, payload));
                }
            }
            return;
        };
        let room = self.room();
        let has_commands = askers.iter().any(ClusterAsker::has_commands);
        let takes = if has_commands {
            room.takes_commands()
        } else {
            room.takes_queries()
        };
        if !takes {
            for asker in askers {
                self.refuse(asker, NEARLY_FULL.to_owned());
            }
            return;
        }
        let mut counts = Vec::with_capacity(askers.len());
        let put = caller.as_author(|author| {
            let mut records = Vec::new();
            for asker in &askers {
                let before = records.len();
                records.extend(asker.records(author));
                counts.push(records.len() - before);
            }
            self.replica.put(at, &records)
        });
        match put {
            Ok(put) => self.replica.wait(put, askers.into_iter().zip(counts)),
            Err(too_large) => {
                let reason = too_large.to_string();
                for asker in askers {
                    self.refuse(asker, reason.clone());
                }
            }
        }
    }

    /// Has somebody wait who asks another partition, until all is known here that was ordered by now.
    pub(crate) fn wait_for_order(
        &mut self,
        at: (Timestamp, &State<Services>),
        asker: ClusterAsker,
    ) {
        if !self.room().takes_queries() {
            return self.refuse(asker, NEARLY_FULL.to_owned());
        }
        match self.replica.put(at, &[]) {
            Ok(put) => {
                let asker = ClusterAsker::Onward(at.0, Box::new(asker));
                self.replica.wait(put, [(asker, 0)]);
            }
            Err(too_large) => self.refuse(asker, too_large.to_string()),
        }
    }

    /// Answers a job that is not proposed.
    pub(crate) fn refuse(&mut self, asker: ClusterAsker, reason: String) {
        self.landed
            .extend(asker.fail(&Failure::Unavailable { reason }));
    }

    /// Applies the entries that have come, as many as a turn may.
    ///
    /// # Errors
    /// Final: the process must stop.
    pub(crate) fn take(
        &mut self,
        backend: &mut Embedded,
        now: Timestamp,
    ) -> Result<OrderedAnswers, ClusterEnded> {
        let mut ordered = OrderedAnswers::default();
        ordered.landed.append(&mut self.landed);
        while let Some(snapshot) = self.keeper.next() {
            self.not_kept += u64::from(snapshot.made.is_none());
            self.kept = snapshot.made.map(|made| made.sequence).or(self.kept);
            if let Some(duty) = &mut self.duty {
                duty.made(now, snapshot.sequence, snapshot.made);
            }
        }
        self.has_more = true;
        for _ in 0..ENTRIES_PER_TURN {
            let Some(event) = self.log.next_event() else {
                self.has_more = false;
                break;
            };
            self.heed(event, (backend, now), &mut ordered)?;
        }
        let given = self.replica.expire(now);
        ordered.fail(given);
        Ok(ordered)
    }

    fn heed(
        &mut self,
        event: LogEvent,
        (backend, now): (&mut Embedded, Timestamp),
        ordered: &mut OrderedAnswers,
    ) -> Result<(), ClusterEnded> {
        match event {
            LogEvent::Entry(entry) => {
                let numbered = (entry.sequence.0, &*entry.bytes);
                let OrderedAnswers { landed, onward, .. } = &mut *ordered;
                let mut settle =
                    |job: SettledJob<ClusterAsker>, state: &State<Services>| match job.caller {
                        ClusterAsker::Onward(at, asker) => onward.push((at, *asker)),
                        caller => landed.extend(caller.settle(job.outcomes, (state, now))),
                    };
                let applied = backend.apply_entry(&mut self.replica, numbered, &mut settle);
                let applied = applied.map_err(|cause| match cause {
                    NotApplied::OtherInstallation => {
                        rules::other_installation(backend, &entry.bytes)
                    }
                    other => ClusterEnded::NotApplied(other),
                })?;
                self.heed_snapshots(backend);
                if self.duty.is_none() && !matches!(applied, AppliedEntry::Foreign) {
                    self.duty = Some(SnapshotDuty::new(self.replica.run(), self.pace));
                }
                if let AppliedEntry::Void(runs) = applied {
                    for run in runs {
                        ordered.heed_void(run);
                    }
                }
            }
            LogEvent::Refused { id, why } => {
                tracing::warn!(%why, "the shared log did not take an entry");
                let reason = why.to_string();
                let undone = self.replica.refuse(id.number);
                ordered.fail_all(undone, &Failure::Unavailable { reason });
            }
            LogEvent::Published { .. } => {}
            LogEvent::Status(status) => tracing::info!(?status, "the shared log"),
            LogEvent::Warning(warning) => tracing::warn!("the shared log: {warning}"),
            LogEvent::Fatal(fatal) => return Err(ClusterEnded::Log(fatal)),
        }
        Ok(())
    }

    /// Has the log take what was asked in this turn.
    pub(crate) fn propose(&mut self, now: Timestamp, state: &State<Services>) {
        self.tell_snapshots(now, state);
        while let Some(proposal) = self.replica.propose(now, state) {
            let id = ProposalId {
                node: self.node.clone(),
                incarnation: self.replica.run().incarnation,
                number: proposal.number,
            };
            let proposed = self.log.propose(id, Arc::from(proposal.bytes));
            if let Err(full) = proposed {
                // The log takes more than a replica has under way.
                tracing::error!(%full, "an entry was not proposed");
            }
        }
    }

    /// When there is something to do though nothing comes; `due` is when something is due in the state.
    pub(crate) fn deadline(&self, due: Option<Timestamp>) -> Option<Timestamp> {
        if self.has_more || !self.landed.is_empty() {
            return Some(Timestamp(0));
        }
        // What is due is done by the entry that is under way.
        let due = due.filter(|_| self.replica.under_way() == 0);
        let duty = self.duty.as_ref().and_then(SnapshotDuty::deadline);
        let deadlines = [due, self.replica.deadline(), duty];
        deadlines.into_iter().flatten().min()
    }
}

impl OrderedAnswers {
    /// Takes a run whose entry was void. Who asks another partition may go on: all is known that was
    /// ordered before.
    fn heed_void(&mut self, run: Vec<ClusterAsker>) {
        let mut void = Vec::with_capacity(run.len());
        for asker in run {
            match asker {
                ClusterAsker::Onward(at, asker) => self.onward.push((at, *asker)),
                asker => void.push(asker),
            }
        }
        if !void.is_empty() {
            self.void.push(void);
        }
    }

    /// Answers those who wait no longer.
    fn fail(&mut self, given: UnansweredJobs<ClusterAsker>) {
        let reason = || "the shared log has not answered in time".to_owned();
        self.fail_all(given.unknown, &Failure::Unknown { reason: reason() });
        self.fail_all(given.undone, &Failure::Unavailable { reason: reason() });
    }

    fn fail_all(&mut self, askers: Vec<ClusterAsker>, failure: &Failure) {
        for asker in askers {
            match asker {
                note @ ClusterAsker::Note(..) => self.void.push(vec![note]),
                asker => self.landed.extend(asker.fail(failure)),
            }
        }
    }
}
