//! Entries of a log that several servers share: each server applies all of them in their one order.

use std::fmt;

use turnstile_journal::Log;
use turnstile_record::{EntryHead, Record, RecordRef, SERVICE_ENGINE, SharedEntry};
use turnstile_types::{Author, Key, Machines, Malformed, PartitionFounding, Principal, Timestamp};

#[cfg(feature = "sabotage")]
use crate::EntrySabotage;
use crate::{
    ExecuteError, RecordReplayError, Reply, Sequencer, State, founding::founding_record,
    runs::HeardEntry, shared::SharedPlace, state::is_same, store::SnapshotStep,
};

/// What became of one record of an entry: the outcome in its stable bytes, or the refusal of a key that
/// was used for another command.
pub type EntryOutcome<'a> = Result<Reply<&'a [u8]>, ExecuteError>;

/// Who wants to know what becomes of the records of an entry. It is called with the state before the first
/// of them, and then behind each with what that has come to.
pub type EntryWitness<'a, S> = &'a mut dyn FnMut(&State<S>, Option<EntryOutcome<'_>>);

/// Whether the records of an entry were decided. Every server comes to the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryFate {
    Decided,
    /// It is void: rights have changed since its proposer admitted it.
    RightsChanged,
    /// It is void: its proposer is of another installation than the first of this log.
    OtherInstallation,
    /// It is void: it was applied before, or its proposer runs anew since.
    Repeated,
}

impl SharedPlace {
    /// Whether the records of an entry are to be decided here.
    fn judge(&self, head: &EntryHead) -> EntryFate {
        if head.installation != self.installation {
            EntryFate::OtherInstallation
        } else if !self.runs.takes(head) {
            EntryFate::Repeated
        } else if head.epoch < self.epoch {
            EntryFate::RightsChanged
        } else {
            EntryFate::Decided
        }
    }
}

/// Why an entry was not applied. The state may hold a part of it: the process must stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotOrdered {
    /// Entries are missing, or come twice.
    Gap { expected: u64, found: u64 },
    /// No machine here knows such a record: a newer version wrote it.
    Unreadable(RecordReplayError),
    /// The journal of this server did not take it.
    Journal(ExecuteError),
}

impl fmt::Display for NotOrdered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gap { expected, found } => write!(
                f,
                "entry {expected} of the shared log is missing: entry {found} follows"
            ),
            Self::Unreadable(cause) => {
                write!(f, "an entry of the shared log is not readable: {cause}")
            }
            Self::Journal(cause) => write!(f, "the journal did not take an entry: {cause}"),
        }
    }
}

impl std::error::Error for NotOrdered {}

impl<S: Machines, L: Log> Sequencer<S, L> {
    /// Applies an entry, in a group of its own: first what is due at its time, then each record as
    /// [`execute`](Self::execute) decides it. Tells a witness what becomes of its records, where there is
    /// one.
    ///
    /// What every server must decide alike depends on the entry and the state only: no key is refused
    /// because memory is short here.
    ///
    /// # Errors
    /// Final: the process must stop.
    pub fn apply_entry(
        &mut self,
        sequence: u64,
        entry: &SharedEntry<'_>,
        witness: Option<EntryWitness<'_, S>>,
    ) -> Result<EntryFate, NotOrdered> {
        let applied = self.apply_whole(sequence, entry, witness);
        applied.inspect_err(|_failure| self.stop())
    }

    /// Makes the state one of several partitions, at the time of its last record: every server comes to
    /// the same that begins with the same.
    ///
    /// # Errors
    /// The record was not taken: nothing has changed.
    pub fn found(&mut self, founding: PartitionFounding) -> Result<(), ExecuteError> {
        let engine = Principal::engine();
        let payload = founding_record(&founding);
        let record = RecordRef {
            service: SERVICE_ENGINE,
            author: Author::server(&engine),
            key: None,
            payload: &payload,
        };
        let time = self.state().time();
        let position = self.append(time, &record)?;
        self.state_mut().found(position, time, founding);
        self.promise(true);
        Ok(())
    }

    /// Whether there is room for the key of a command that is to be proposed. What has been ordered is
    /// decided even without room.
    ///
    /// # Errors
    /// There is none.
    pub fn check_key(
        &self,
        now: Timestamp,
        principal: &Principal,
        key: Key<'_>,
    ) -> Result<(), ExecuteError> {
        let state = self.state();
        if state.knows(now.max(state.time()), principal, key) {
            return Ok(());
        }
        self.admit(now, principal, Some(key))
    }

    fn apply_whole(
        &mut self,
        sequence: u64,
        entry: &SharedEntry<'_>,
        mut witness: Option<EntryWitness<'_, S>>,
    ) -> Result<EntryFate, NotOrdered> {
        let fate = self.enter(sequence, entry)?;
        if fate != EntryFate::Decided {
            return Ok(fate);
        }
        if let Some(witness) = &mut witness {
            witness(self.state(), None);
        }
        for record in entry.records() {
            self.judge_kind(&record)?;
            if let Some(first) = self.first_of(&record) {
                if let Some(witness) = &mut witness {
                    witness(self.state(), Some(first));
                }
                continue;
            }
            let record = self.append_ordered(&record)?;
            let wanted = witness.is_some();
            let applied = self.state_mut().apply_ordered(&record, wanted);
            applied.map_err(NotOrdered::Unreadable)?;
            if let Some(witness) = &mut witness {
                let decided = Reply {
                    position: record.position,
                    replayed: false,
                    outcome: self.state().last_outcome(),
                };
                witness(self.state(), Some(Ok(decided)));
            }
        }
        Ok(EntryFate::Decided)
    }

    /// Asserts that a record of the engine is one that an entry may have.
    fn judge_kind(&self, record: &Record<'_>) -> Result<(), NotOrdered> {
        if record.service != SERVICE_ENGINE {
            return Ok(());
        }
        let read = match record.key {
            // What a server reads is said by a tick.
            None if record.payload.is_empty() => Ok(()),
            None => SnapshotStep::parse(record.payload).map(|_step| ()),
            Some(_) => Err(Malformed {
                field: "key of an engine's record",
            }),
        };
        read.map_err(|cause| {
            let position = self.state().position().next();
            NotOrdered::Unreadable(RecordReplayError::Malformed { position, cause })
        })
    }

    /// Ends the copy of a shared log: from the next record on the directory is one of its own. The
    /// machines are as they were.
    ///
    /// # Errors
    /// The record was not taken: nothing has changed.
    pub fn leave_shared_log(&mut self) -> Result<(), ExecuteError> {
        let (engine, time) = (Principal::engine(), self.state().time());
        let record = RecordRef {
            service: SERVICE_ENGINE,
            author: Author::server(&engine),
            key: None,
            payload: &SharedPlace::farewell(),
        };
        let position = self.append(time, &record)?;
        self.state_mut().leave(position, time);
        self.promise(true);
        Ok(())
    }

    /// Begins the group of an entry, and does what is due at its time. Answers whether its records are
    /// to be decided.
    fn enter(&mut self, sequence: u64, entry: &SharedEntry<'_>) -> Result<EntryFate, NotOrdered> {
        let mut place = match self.state().shared() {
            Some(place) if sequence == place.sequence + 1 || self.ignores_gaps() => SharedPlace {
                sequence,
                ..place.clone()
            },
            Some(place) => {
                let (expected, found) = (place.sequence + 1, sequence);
                return Err(NotOrdered::Gap { expected, found });
            }
            None => SharedPlace {
                sequence,
                installation: entry.head.installation,
                ..SharedPlace::default()
            },
        };
        self.flush().map_err(|_failure| ExecuteError::Stopped)?;
        let fate = self.sabotaged(place.judge(&entry.head));
        let noted = matches!(fate, EntryFate::Decided | EntryFate::RightsChanged);
        let noted = noted.then_some(&entry.head);
        let time = self.clock_of(entry).max(self.state().time());
        if let Some(head) = noted {
            place.hear(&HeardEntry {
                node: head.node,
                incarnation: head.incarnation,
                number: head.number,
                version: head.version,
                reads: head.reads,
                applied: head.applied.0,
                at: (sequence, time),
            });
        }
        let engine = Principal::engine();
        let payload = place.mark(noted);
        let mark = RecordRef {
            service: SERVICE_ENGINE,
            author: Author::server(&engine),
            key: None,
            payload: &payload,
        };
        // Half an entry would be applied again if a crash cut the journal between its groups.
        self.reserve(mark.size() + entry.body_bytes())?;
        let position = self.append(time, &mark)?;
        let entry_of = noted.map(|head| head.node);
        self.state_mut().enter((position, time), place, entry_of);
        self.promise(true);
        Ok(fate)
    }

    /// The time of an entry.
    #[cfg_attr(
        not(feature = "sabotage"),
        expect(clippy::unused_self, reason = "planted bugs are of one sequencer")
    )]
    const fn clock_of(&self, entry: &SharedEntry<'_>) -> Timestamp {
        #[cfg(feature = "sabotage")]
        if let EntrySabotage::LocalClock(clock) = self.entry_sabotage {
            return clock;
        }
        entry.time()
    }

    #[cfg_attr(
        not(feature = "sabotage"),
        expect(clippy::unused_self, reason = "planted bugs are of one sequencer")
    )]
    const fn ignores_gaps(&self) -> bool {
        #[cfg(feature = "sabotage")]
        if matches!(self.entry_sabotage, EntrySabotage::IgnoreGaps) {
            return true;
        }
        false
    }

    #[cfg_attr(
        not(feature = "sabotage"),
        expect(clippy::unused_self, reason = "planted bugs are of one sequencer")
    )]
    const fn sabotaged(&self, fate: EntryFate) -> EntryFate {
        #[cfg(feature = "sabotage")]
        match (self.entry_sabotage, fate) {
            (EntrySabotage::IgnoreEpochs, EntryFate::RightsChanged)
            | (EntrySabotage::IgnoreRepetitions, EntryFate::Repeated) => return EntryFate::Decided,
            _ => {}
        }
        fate
    }

    /// What the key of a record has been answered already, if it has been.
    fn first_of(&self, record: &Record<'_>) -> Option<EntryOutcome<'_>> {
        let state = self.state();
        let first = state.first(state.time(), &record.principal, record.key?)?;
        Some(if is_same(&first, record.service, record.payload) {
            Ok(Reply {
                position: first.position,
                replayed: true,
                outcome: first.outcome,
            })
        } else {
            Err(ExecuteError::KeyReused {
                first: first.position,
            })
        })
    }

    /// Puts a record of an entry in its group, and in its place.
    fn append_ordered<'a>(&mut self, record: &Record<'a>) -> Result<Record<'a>, ExecuteError> {
        let time = self.state().time();
        let appended = RecordRef {
            service: record.service,
            author: Author {
                principal: &record.principal,
                origin: &record.origin(),
            },
            key: record.key,
            payload: record.payload,
        };
        let position = self.append(time, &appended)?;
        Ok(record.at(position, time))
    }
}

impl From<ExecuteError> for NotOrdered {
    fn from(cause: ExecuteError) -> Self {
        Self::Journal(cause)
    }
}
