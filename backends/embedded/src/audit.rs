//! Who did what: the commands of a directory's journal, each decided again.

use std::{collections::BTreeSet, ops::ControlFlow, path::Path};

use turnstile_journal::{self as journal, RealDisk, RealLock, replay, snapshot};
use turnstile_record::{Group, Record, SERVICE_ENGINE};
use turnstile_sequencer::{RecordReplayError, founding_of};
use turnstile_types::{Audited, AuditedCommand, Context, Effect, Machines, Position};

use crate::{
    BackendOpenError, Services, VerifyError,
    found::{FoundJournal, find},
    verify,
};

/// How much of a journal there was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditExtent {
    /// The position before the first record that was read: zero when the journal is whole, else that of
    /// the oldest snapshot.
    pub from: Position,
    /// The last position that was read.
    pub last: Position,
    /// Whether a server used the directory meanwhile: what it has acknowledged after `last` was not read.
    pub is_live: bool,
    /// Bytes of a torn tail, which the next start cuts.
    pub torn_bytes: u64,
}

/// Why a replay stops at a group.
enum Halted {
    Replay(RecordReplayError),
    /// The caller has enough.
    Enough,
}

/// Decides the commands of a directory again, and can go on with those that come later.
///
/// It holds the state of all services, as a server that has come so far does. Nothing in the directory is
/// changed. A server may use it: then what it has acknowledged is read. Where it does not sync its groups,
/// that is what was there when it started.
#[derive(Debug)]
pub struct Auditor {
    disk: RealDisk,
    found: FoundJournal,
    /// Held to the end: a server that came meanwhile would remove what is still to be read.
    lock: Option<RealLock>,
    state: AuditState,
    from: Position,
    /// The last position that was read.
    last: Position,
}

impl Auditor {
    /// Begins at the beginning of the journal, or at the oldest snapshot.
    ///
    /// # Errors
    /// There is no journal, or it cannot be read from its beginning on.
    pub fn open(directory: &Path) -> Result<Self, VerifyError> {
        let disk = verify::disk_of(directory)?;
        let (found, lock) = find(&disk)?;
        let mut state = AuditState::new();
        let mut from = Position(0);
        let first = replay(&disk, from, found.last, |_group| Err(Halted::Enough));
        if matches!(first, Err(journal::ReplayError::Gap { .. })) {
            let positions = snapshot::positions(&disk).map_err(BackendOpenError::Snapshot)?;
            let mut oldest = verify::load(&disk, found.journal, positions.last().copied())?;
            from = oldest.position();
            std::mem::swap(&mut state.services, oldest.machines_mut());
        }
        Ok(Self {
            disk,
            found,
            lock,
            state,
            from,
            last: from,
        })
    }

    /// The position before the first record that can be read: zero when the journal is whole, else that of
    /// the oldest snapshot.
    #[must_use]
    pub const fn from(&self) -> Position {
        self.from
    }

    /// Hands over every command that was not read yet, until `each` breaks. After a break nothing more can
    /// be read.
    ///
    /// # Errors
    /// The directory is so damaged that its records cannot be replayed, or a server removes old segments
    /// while they are read.
    pub fn read(
        mut self,
        mut each: impl FnMut(Audited<'_>) -> ControlFlow<()>,
    ) -> Result<(AuditExtent, Option<Self>), VerifyError> {
        if self.lock.is_none() {
            (self.found, self.lock) = find(&self.disk)?;
        }
        let last = self.found.last.max(self.last);
        let state = &mut self.state;
        let read = replay(&self.disk, self.last, last, |group| {
            state.take(group, &mut each)
        });
        self.last = last;
        let extent = AuditExtent {
            from: self.from,
            last,
            is_live: self.found.is_live,
            torn_bytes: self.found.torn_bytes,
        };
        let Err(failure) = read else {
            return Ok((extent, Some(self)));
        };
        match failure.into_caller() {
            Ok(Halted::Enough) => Ok((extent, None)),
            Ok(Halted::Replay(cause)) => {
                Err(BackendOpenError::Replay(journal::ReplayError::Caller(cause)).into())
            }
            Err(failure) => Err(BackendOpenError::Replay(failure).into()),
        }
    }
}

/// Reads a directory [once](Auditor::read).
///
/// # Errors
/// As of [`Auditor::open`] and [`Auditor::read`].
pub fn audit(
    directory: &Path,
    each: impl FnMut(Audited<'_>) -> ControlFlow<()>,
) -> Result<AuditExtent, VerifyError> {
    let (extent, _auditor) = Auditor::open(directory)?.read(each)?;
    Ok(extent)
}

/// Machines that decide again, without the memory of keys: a retry left no record.
#[derive(Debug)]
struct AuditState {
    services: Services,
    /// The commands that wait for their answers, of those that were handed over.
    waiting: BTreeSet<Position>,
    outcome: Vec<u8>,
}

impl AuditState {
    fn new() -> Self {
        Self {
            services: Services::empty(),
            waiting: BTreeSet::new(),
            outcome: Vec::new(),
        }
    }

    fn take<F>(&mut self, group: &Group<'_>, each: &mut F) -> Result<(), Halted>
    where
        F: FnMut(Audited<'_>) -> ControlFlow<()>,
    {
        for record in group.records() {
            let flow = self.decide(&record, each).map_err(Halted::Replay)?;
            let flow = flow.is_break() || self.tell_answers(record.position, each).is_break();
            self.services.forget_events();
            if flow {
                return Err(Halted::Enough);
            }
        }
        Ok(())
    }

    fn decide<F>(
        &mut self,
        record: &Record<'_>,
        each: &mut F,
    ) -> Result<ControlFlow<()>, RecordReplayError>
    where
        F: FnMut(Audited<'_>) -> ControlFlow<()>,
    {
        let (position, service) = (record.position, record.service);
        let context = Context {
            position,
            now: record.time,
            principal: &record.principal,
        };
        if service == SERVICE_ENGINE {
            if let Some(founding) = founding_of(record.payload) {
                self.services.found_in(&founding);
            }
            self.services.tick(&context);
            return Ok(ControlFlow::Continue(()));
        }
        self.outcome.clear();
        let outcome = Some(&mut self.outcome);
        let command = Services::read_record(service, record.payload);
        let command = command.map_err(|cause| RecordReplayError::unapplied(record, cause))?;
        let effect = self.services.apply_record(&context, &command, outcome);
        if effect == Effect::Pending {
            self.waiting.insert(position);
        }
        Ok(each(Audited::Command(AuditedCommand {
            position,
            time: record.time,
            principal: &record.principal,
            origin: &record.origin(),
            service,
            payload: record.payload,
            effect,
            outcome: &self.outcome,
        })))
    }

    /// Hands over the answers that the record at this position gave to commands that waited.
    fn tell_answers<F>(&mut self, by: Position, each: &mut F) -> ControlFlow<()>
    where
        F: FnMut(Audited<'_>) -> ControlFlow<()>,
    {
        let Self {
            services, waiting, ..
        } = self;
        if waiting.is_empty() {
            return ControlFlow::Continue(());
        }
        let mut flow = ControlFlow::Continue(());
        services.each_late_outcome(by, &mut |of, _effect, outcome| {
            if flow.is_continue() && waiting.remove(&of) {
                flow = each(Audited::Answer { of, by, outcome });
            }
        });
        flow
    }
}
