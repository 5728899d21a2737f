//! Who did what: the commands of a directory's journal, each decided again.

use std::{collections::BTreeSet, ops::ControlFlow, path::Path};

use turnstile_journal::{self as journal, RealDisk, RealLock, inspect, replay, snapshot};
use turnstile_record::{Group, Record, SERVICE_ENGINE};
use turnstile_sequencer::ReplayError;
use turnstile_types::{
    Context, Effect, Machines, Origin, Position, Principal, Timestamp, Unapplied,
};

use crate::{OpenError, Services, VerifyError, verify};

/// A command that was decided again.
#[derive(Clone, Copy, Debug)]
pub struct AuditedCommand<'a> {
    pub position: Position,
    pub time: Timestamp,
    pub principal: &'a Principal,
    pub origin: &'a Origin<'a>,
    /// The number of its service.
    pub service: u8,
    /// The machine's encoding of the command.
    pub payload: &'a [u8],
    /// What it came to.
    pub effect: Effect,
    /// The machine's encoding of that.
    pub outcome: &'a [u8],
}

/// What an audit hands over, in the order of the journal.
#[derive(Clone, Copy, Debug)]
pub enum Audited<'a> {
    Command(AuditedCommand<'a>),
    /// The answer to a command that had to wait and was handed over before.
    Answer {
        /// The position of the command.
        of: Position,
        /// The position of the record that decided it.
        by: Position,
        /// The machine's encoding of the outcome.
        outcome: &'a [u8],
    },
}

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
    Replay(ReplayError),
    /// The caller has enough.
    Enough,
}

/// Decides every command of a directory again, from the beginning of its journal or from the oldest
/// snapshot, and hands each over until `each` breaks. Nothing in the directory is changed.
///
/// A server may use the directory: then what it has acknowledged by now is read. Where it does not sync
/// its groups, that is what was there when it started.
///
/// # Errors
/// The directory is so damaged that its records cannot be replayed, or a server removes old segments
/// while they are read.
pub fn audit(
    directory: &Path,
    each: impl FnMut(Audited<'_>) -> ControlFlow<()>,
) -> Result<AuditExtent, VerifyError> {
    if !directory.is_dir() {
        return Err(VerifyError::NoJournal);
    }
    let disk = RealDisk::open(directory).map_err(|cause| OpenError::Directory {
        path: directory.to_owned(),
        cause,
    })?;
    // Held to the end: a server that came meanwhile would remove what is still to be read.
    let (found, _lock) = find(&disk)?;
    let last = found.last;
    let mut audit = AuditReplay {
        services: Services::empty(),
        waiting: BTreeSet::new(),
        outcome: Vec::new(),
        each,
    };
    let mut from = Position(0);
    let mut read = replay(&disk, from, last, |group| audit.take(group));
    if matches!(read, Err(journal::ReplayError::Gap { .. })) {
        let positions = snapshot::positions(&disk).map_err(OpenError::Snapshot)?;
        let mut state = verify::load(&disk, found.journal, positions.last().copied())?;
        from = state.position();
        std::mem::swap(&mut audit.services, state.machines_mut());
        read = replay(&disk, from, last, |group| audit.take(group));
    }
    if let Err(failure) = read {
        match failure.into_caller() {
            Ok(Halted::Enough) => {}
            Ok(Halted::Replay(cause)) => {
                return Err(OpenError::Replay(journal::ReplayError::Caller(cause)).into());
            }
            Err(failure) => return Err(OpenError::Replay(failure).into()),
        }
    }
    Ok(AuditExtent {
        from,
        last,
        is_live: found.is_live,
        torn_bytes: found.torn_bytes,
    })
}

/// The journal of a directory.
struct FoundJournal {
    journal: u64,
    last: Position,
    is_live: bool,
    torn_bytes: u64,
}

/// Finds the journal, and takes its lock if no server has it.
fn find(disk: &RealDisk) -> Result<(FoundJournal, Option<RealLock>), VerifyError> {
    let refused = match inspect(disk) {
        Ok(Some((inspected, lock))) => {
            let found = FoundJournal {
                journal: inspected.journal,
                last: inspected.report.last,
                is_live: false,
                torn_bytes: inspected.report.cut_bytes,
            };
            return Ok((found, Some(lock)));
        }
        Ok(None) => return Err(VerifyError::NoJournal),
        Err(refused) => refused,
    };
    let live = match refused {
        journal::OpenError::Locked => journal::acknowledged(disk).map_err(OpenError::Journal)?,
        _ => None,
    };
    let (journal, last) = live.ok_or(OpenError::Journal(refused))?;
    let found = FoundJournal {
        journal,
        last,
        is_live: true,
        torn_bytes: 0,
    };
    Ok((found, None))
}

/// Machines that decide again, without the memory of keys: a retry left no record.
struct AuditReplay<F> {
    services: Services,
    /// The commands that wait for their answers, of those that were handed over.
    waiting: BTreeSet<Position>,
    outcome: Vec<u8>,
    each: F,
}

impl<F: FnMut(Audited<'_>) -> ControlFlow<()>> AuditReplay<F> {
    fn take(&mut self, group: &Group<'_>) -> Result<(), Halted> {
        for record in group.records() {
            let flow = self.decide(&record).map_err(Halted::Replay)?;
            let flow = flow.is_break() || self.tell_answers(record.position).is_break();
            self.services.forget_events();
            if flow {
                return Err(Halted::Enough);
            }
        }
        Ok(())
    }

    fn decide(&mut self, record: &Record<'_>) -> Result<ControlFlow<()>, ReplayError> {
        let (position, service) = (record.position, record.service);
        let context = Context {
            position,
            now: record.time,
            principal: &record.principal,
        };
        if service == SERVICE_ENGINE {
            self.services.tick(&context);
            return Ok(ControlFlow::Continue(()));
        }
        self.outcome.clear();
        let outcome = Some(&mut self.outcome);
        let applied = self
            .services
            .apply_record(service, &context, record.payload, outcome);
        let effect = applied.map_err(|cause| match cause {
            Unapplied::UnknownService => ReplayError::UnknownService { position, service },
            Unapplied::Malformed(cause) => ReplayError::Malformed { position, cause },
        })?;
        if effect == Effect::Pending {
            self.waiting.insert(position);
        }
        Ok((self.each)(Audited::Command(AuditedCommand {
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
    fn tell_answers(&mut self, by: Position) -> ControlFlow<()> {
        let Self {
            services,
            waiting,
            each,
            ..
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
