//! A server on a shared log: its proposals, and the entries that it applies.

use std::{fmt, mem, vec};

use turnstile_journal::Log;
use turnstile_record::{Broken, RecordRef, SharedEntry};
use turnstile_sequencer::{
    EntryFate, EntryOutcome, ExecuteError, NotOrdered, Reply, Sequencer, State,
};
use turnstile_types::{Machines, Name, Timestamp};

use crate::{
    agreement::{Agreement, SILENT_ENTRIES_MAX},
    proposer::{
        EntryJob, ProposalLimits, ProposedEntry, Proposer, PutRecords, ServerRun,
        TooLargeForAnEntry, epoch_at, runs_of,
    },
};

/// A job that the shared log has decided: what became of each of its records, as stable bytes.
#[derive(Debug)]
pub struct SettledJob<T> {
    pub caller: T,
    pub outcomes: Vec<Result<Reply<Vec<u8>>, ExecuteError>>,
}

/// What an entry was to this server.
#[derive(Debug)]
pub enum AppliedEntry<T> {
    /// Another server's, or one of an earlier run.
    Foreign,
    /// Its own, and decided: its jobs were settled.
    Own,
    /// Its own, and void because rights have changed meanwhile: these jobs were not done, and may be
    /// proposed again if their callers still may ask for them. Those that were put together stand together.
    Void(Vec<Vec<T>>),
}

/// Jobs that end without an answer of the log.
#[derive(Debug)]
pub struct UnansweredJobs<T> {
    /// Whether they were done is unknown: the log may have them.
    pub unknown: Vec<T>,
    /// Nothing of them happened.
    pub undone: Vec<T>,
}

/// Why an entry cannot be applied. The process must stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotApplied {
    /// The bytes of the entry are damaged, or a newer version wrote them.
    Broken {
        sequence: u64,
        why: Broken,
    },
    NotOrdered(NotOrdered),
    /// Most servers have come to something else before this entry: what this one has is not to be trusted.
    Diverged {
        sequence: u64,
    },
    /// Another server of the same name runs since.
    OtherRun,
    /// The first entry of the log is of a server of another installation: this one has other secrets, or
    /// another state to begin with.
    OtherInstallation,
}

impl fmt::Display for NotApplied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken {
                sequence,
                why: why @ Broken::Version(_),
            } => write!(
                f,
                "entry {sequence} of the shared log was written by a newer version, which all nodes were \
                 ready for before: {why}; start this node with that version"
            ),
            Self::Broken { sequence, why } => {
                write!(
                    f,
                    "entry {sequence} of the shared log is not readable: {why}"
                )
            }
            Self::NotOrdered(cause) => cause.fmt(f),
            Self::Diverged { sequence } => write!(
                f,
                "before entry {sequence}, most nodes came to another state than this one: remove its \
                 directory, and let it begin anew or with a copy of another"
            ),
            Self::OtherRun => write!(
                f,
                "another server of the same name has joined since, or an entry of an earlier run came late: \
                 each node needs a name of its own; if this one has it, start it again"
            ),
            Self::OtherInstallation => write!(
                f,
                "the shared log belongs to servers with another id.key, or that began with another state: \
                 start this one with a copy of their file, or of the directory that they began with"
            ),
        }
    }
}

impl std::error::Error for NotApplied {}

/// One of several servers on a shared log. `T` is who asked.
#[derive(Debug)]
pub struct Replica<T> {
    proposer: Proposer<T>,
    agreement: Agreement,
}

impl<T> Replica<T> {
    #[must_use]
    pub fn new(run: ServerRun, limits: ProposalLimits) -> Self {
        Self {
            proposer: Proposer::new(run, limits),
            agreement: Agreement::default(),
        }
    }

    /// Puts records in the next entry, to be decided one right after the other; somebody is to
    /// [wait](Self::wait) for them.
    ///
    /// # Errors
    /// They are too large for one entry: nothing was put.
    pub fn put<S: Machines>(
        &mut self,
        (now, state): (Timestamp, &State<S>),
        records: &[RecordRef<'_>],
    ) -> Result<PutRecords, TooLargeForAnEntry> {
        self.proposer.put((now, epoch_at(state.shared())), records)
    }

    /// Has these hear what becomes of the records that were put last, each of so many of them, in their
    /// order. Who waits for no records hears when all is applied here that any server was answered before,
    /// and the records of those who wait before it.
    ///
    /// # Panics
    /// They do not wait for all records that were put.
    pub fn wait(&mut self, put: PutRecords, jobs: impl IntoIterator<Item = (T, usize)>) {
        self.proposer.wait(put, jobs);
    }

    /// The same for one who waits for all records that were put, as long as it takes: unless they are never
    /// sent, they [expire](Self::expire) for nobody.
    pub fn wait_patiently(&mut self, put: PutRecords, caller: T) {
        self.proposer.wait_patiently(put, caller);
    }

    /// The next entry to be carried to the log, if there is one and the log may have another. If nobody
    /// asks, and something is due at `now`, it is one without records; so is the first of a run. There is
    /// none before all is applied that was in the log when the run began.
    pub fn propose<S: Machines>(
        &mut self,
        now: Timestamp,
        state: &State<S>,
    ) -> Option<ProposedEntry> {
        let place = state.shared();
        if !self.proposer.has_begun(place) {
            return None;
        }
        if let Some(proposal) = self.proposer.propose(now, place) {
            return Some(proposal);
        }
        let deadline = state.machines().next_deadline();
        let is_due =
            deadline.is_some_and(|deadline| deadline <= now) || self.proposer.is_unannounced(place);
        if is_due || self.agreement.silent >= SILENT_ENTRIES_MAX {
            return self.proposer.propose_tick(now, place);
        }
        None
    }

    /// Applies the next entry of the log. If it is its own, each of its jobs is settled as soon as its
    /// records are decided, with the state as they have left it.
    ///
    /// # Errors
    /// Final: the process must stop.
    pub fn apply<S: Machines, L: Log>(
        &mut self,
        sequencer: &mut Sequencer<S, L>,
        (sequence, bytes): (u64, &[u8]),
        settle: &mut dyn FnMut(SettledJob<T>, &State<S>),
    ) -> Result<AppliedEntry<T>, NotApplied> {
        let entry =
            SharedEntry::parse(bytes).map_err(|why| NotApplied::Broken { sequence, why })?;
        if entry.head.version > self.proposer.reads() {
            let why = Broken::Version(entry.head.version);
            return Err(NotApplied::Broken { sequence, why });
        }
        let is_first = sequencer.state().shared().is_none();
        if is_first && entry.head.installation != self.proposer.installation() {
            return Err(NotApplied::OtherInstallation);
        }
        if entry.head.node == *self.proposer.node() {
            self.agreement.silent = 0;
        } else {
            self.agreement.silent += 1;
            if self.agreement.hear(&entry.head) {
                return Err(NotApplied::Diverged { sequence });
            }
        }
        let applied = self.apply_parsed(sequencer, (sequence, &entry), settle)?;
        if let Some(place) = sequencer.state().shared() {
            self.agreement.note(sequence, place.chain);
        }
        Ok(applied)
    }

    fn apply_parsed<S: Machines, L: Log>(
        &mut self,
        sequencer: &mut Sequencer<S, L>,
        (sequence, entry): (u64, &SharedEntry<'_>),
        settle: &mut dyn FnMut(SettledJob<T>, &State<S>),
    ) -> Result<AppliedEntry<T>, NotApplied> {
        let jobs = if self.proposer.is_own(&entry.head) {
            self.proposer.take(entry.head.number)
        } else {
            None
        };
        let Some(jobs) = jobs else {
            let applied = sequencer.apply_entry(sequence, entry, None);
            applied.map_err(NotApplied::NotOrdered)?;
            return Ok(AppliedEntry::Foreign);
        };
        let mut settlement = Settlement {
            next: None,
            jobs: jobs.into_iter(),
            outcomes: Vec::new(),
        };
        let mut witness = |state: &State<S>, outcome: Option<EntryOutcome<'_>>| {
            settlement.note(outcome);
            while let Some(job) = settlement.next_settled() {
                settle(job, state);
            }
        };
        let fate = sequencer.apply_entry(sequence, entry, Some(&mut witness));
        match fate.map_err(NotApplied::NotOrdered)? {
            EntryFate::Decided => Ok(AppliedEntry::Own),
            EntryFate::RightsChanged => Ok(AppliedEntry::Void(runs_of(settlement.jobs))),
            EntryFate::OtherInstallation => Err(NotApplied::OtherInstallation),
            EntryFate::Repeated => Err(NotApplied::OtherRun),
        }
    }

    /// The log has refused an entry for good: nothing of these jobs happened.
    pub fn refuse(&mut self, number: u64) -> Vec<T> {
        let jobs = self.proposer.take(number).unwrap_or_default();
        jobs.into_iter().filter_map(|job| job.caller).collect()
    }

    /// Those who have waited too long. What they asked for may be done later, if the log has it.
    pub fn expire(&mut self, now: Timestamp) -> UnansweredJobs<T> {
        let (unknown, undone) = self.proposer.expire(now);
        UnansweredJobs { unknown, undone }
    }

    /// When [`expire`](Self::expire) will have something to give.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        self.proposer.deadline()
    }

    /// This run, by the number that its entries have once there are some.
    #[must_use]
    pub const fn run(&self) -> &ServerRun {
        self.proposer.run()
    }

    /// Plants a bug: the number of its run is what its clock said.
    #[cfg(feature = "sabotage")]
    pub const fn trust_its_clock(&mut self) {
        self.proposer.trusts_its_clock = true;
    }

    /// Plants a bug: it writes what it reads, whatever others read.
    #[cfg(feature = "sabotage")]
    pub const fn write_too_early(&mut self) {
        self.proposer.writes_too_early = true;
    }

    /// Entries that the log may have, and that were not applied yet.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.proposer.under_way()
    }

    /// Whether another server has come to the same as this one; nothing if it has not said so lately.
    #[must_use]
    pub fn agrees(&self, node: &Name) -> Option<bool> {
        self.agreement.agrees(node)
    }

    /// Whether some server has come to something else than this one.
    #[must_use]
    pub fn is_disputed(&self) -> bool {
        self.agreement.is_disputed()
    }
}

/// The jobs of an entry that is being applied.
struct Settlement<T> {
    /// The job whose records come next.
    next: Option<EntryJob<T>>,
    jobs: vec::IntoIter<EntryJob<T>>,
    /// What has become of its records so far.
    outcomes: Vec<Result<Reply<Vec<u8>>, ExecuteError>>,
}

impl<T> Settlement<T> {
    fn note(&mut self, outcome: Option<EntryOutcome<'_>>) {
        let outcome = outcome.map(|outcome| outcome.map(|reply| reply.map(<[u8]>::to_vec)));
        self.outcomes.extend(outcome);
    }

    /// The next job that somebody waits for, if all of its records are decided.
    fn next_settled(&mut self) -> Option<SettledJob<T>> {
        loop {
            self.next = self.next.take().or_else(|| self.jobs.next());
            let job = self
                .next
                .take_if(|job| job.records == self.outcomes.len())?;
            let outcomes = mem::take(&mut self.outcomes);
            if let Some(caller) = job.caller {
                return Some(SettledJob { caller, outcomes });
            }
        }
    }
}
