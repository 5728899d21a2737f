//! A server on a shared log: its proposals, and the entries that it applies.

use std::fmt;

use turnstile_journal::Log;
use turnstile_record::{Broken, RecordRef, SharedEntry};
use turnstile_sequencer::{
    EntryFate, EntryOutcome, ExecuteError, NotOrdered, Reply, Sequencer, State,
};
use turnstile_types::{Machines, Timestamp};

use crate::{
    agreement::{Agreement, SILENT_ENTRIES_MAX},
    proposer::{
        ProposalLimits, ProposedEntry, Proposer, PutRecords, ServerRun, TooLargeForAnEntry,
        epoch_at,
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
    /// Its own, and decided: so are these jobs.
    Own(Vec<SettledJob<T>>),
    /// Its own, and void because rights have changed meanwhile: these jobs were not done, and may be
    /// proposed again if their callers still may ask for them.
    Void(Vec<T>),
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
                "another server of the same name has joined since: each node needs a name of its own"
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

    /// Puts records in the next entry, to be decided together; somebody is to [wait](Self::wait) for
    /// them. Who waits for no records hears when all is applied here that any server was answered
    /// before.
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

    /// Has somebody hear what becomes of the records that were put last.
    pub fn wait(&mut self, put: PutRecords, caller: T) {
        self.proposer.wait(put, caller);
    }

    /// The next entry to be carried to the log, if there is one and the log may have another. If nobody
    /// asks, and something is due at `now`, it is one without records.
    pub fn propose<S: Machines>(
        &mut self,
        now: Timestamp,
        state: &State<S>,
    ) -> Option<ProposedEntry> {
        let place = state.shared();
        if let Some(proposal) = self.proposer.propose(now, place) {
            return Some(proposal);
        }
        let deadline = state.machines().next_deadline();
        let is_due = deadline.is_some_and(|deadline| deadline <= now);
        if is_due || self.agreement.silent >= SILENT_ENTRIES_MAX {
            return self.proposer.propose_tick(now, place);
        }
        None
    }

    /// Applies the next entry of the log.
    ///
    /// # Errors
    /// Final: the process must stop.
    pub fn apply<S: Machines, L: Log>(
        &mut self,
        sequencer: &mut Sequencer<S, L>,
        sequence: u64,
        bytes: &[u8],
    ) -> Result<AppliedEntry<T>, NotApplied> {
        let entry =
            SharedEntry::parse(bytes).map_err(|why| NotApplied::Broken { sequence, why })?;
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
        let applied = self.apply_parsed(sequencer, sequence, &entry)?;
        if let Some(place) = sequencer.state().shared() {
            self.agreement.note(sequence, place.chain);
        }
        Ok(applied)
    }

    fn apply_parsed<S: Machines, L: Log>(
        &mut self,
        sequencer: &mut Sequencer<S, L>,
        sequence: u64,
        entry: &SharedEntry<'_>,
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
        let mut outcomes = Vec::new();
        let mut each = |outcome: EntryOutcome<'_>| {
            outcomes.push(outcome.map(|reply| Reply {
                position: reply.position,
                replayed: reply.replayed,
                outcome: reply.outcome.to_vec(),
            }));
        };
        let fate = sequencer.apply_entry(sequence, entry, Some(&mut each));
        match fate.map_err(NotApplied::NotOrdered)? {
            EntryFate::Decided => {}
            EntryFate::RightsChanged => {
                let callers = jobs.into_iter().map(|job| job.caller);
                return Ok(AppliedEntry::Void(callers.collect()));
            }
            EntryFate::OtherInstallation => return Err(NotApplied::OtherInstallation),
            EntryFate::Repeated => return Err(NotApplied::OtherRun),
        }
        let mut outcomes = outcomes.into_iter();
        let settled = jobs.into_iter().map(|job| SettledJob {
            caller: job.caller,
            outcomes: outcomes.by_ref().take(job.records).collect(),
        });
        Ok(AppliedEntry::Own(settled.collect()))
    }

    /// The log has refused an entry for good: nothing of these jobs happened.
    pub fn refuse(&mut self, number: u64) -> Vec<T> {
        let jobs = self.proposer.take(number).unwrap_or_default();
        jobs.into_iter().map(|job| job.caller).collect()
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

    /// Entries that the log may have, and that were not applied yet.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.proposer.under_way()
    }

    /// Whether some server has come to something else than this one.
    #[must_use]
    pub fn is_disputed(&self) -> bool {
        self.agreement.is_disputed()
    }
}
