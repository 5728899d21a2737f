//! What a server has asked of the shared log, and who waits for it.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt, mem,
};

use turnstile_record::{
    ENTRIES_AHEAD_MAX, ENTRY_BODY_BYTES_MAX, EntryBuilder, EntryHead, PAYLOAD_BYTES_MAX, RecordRef,
};
use turnstile_sequencer::SharedPlace;
use turnstile_types::{Name, Position, Timestamp};

/// One run of a server: what its entries are known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerRun {
    /// The server's name among those of its log.
    pub node: Name,
    /// Higher than that of any earlier run of this server, so that what is left of those is told from
    /// entries of this one.
    pub incarnation: u64,
    /// Which installation it is of. See [`EntryHead::installation`].
    pub installation: u64,
}

/// The bounds of what a server proposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProposalLimits {
    /// Entries that are on their way to the log at a time. What comes meanwhile goes together in the
    /// next one.
    pub under_way: usize,
    /// How long somebody waits for an answer, in milliseconds.
    pub patience_ms: u64,
}

impl ProposalLimits {
    /// Enough entries to hide the time that a log takes, few enough that each gathers what comes
    /// together.
    pub const USUAL: Self = Self {
        under_way: 8,
        patience_ms: 15_000,
    };
}

/// An entry that is to be carried to the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedEntry {
    /// Its number in this run of the server, from 1.
    pub number: u64,
    pub bytes: Vec<u8>,
}

/// The commands of a job are too large together to be one entry. Nothing of it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLargeForAnEntry;

impl fmt::Display for TooLargeForAnEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the commands that were sent together take more than {ENTRY_BODY_BYTES_MAX} bytes: send \
             fewer at a time"
        )
    }
}

impl std::error::Error for TooLargeForAnEntry {}

/// So many records of an entry, and who waits for what becomes of them. Without records its caller
/// waits for the entry alone.
#[derive(Debug)]
pub(crate) struct EntryJob<T> {
    pub(crate) caller: T,
    pub(crate) records: usize,
}

/// Records that were put in an entry, for whoever is to [wait](crate::Replica::wait) for them.
#[must_use]
#[derive(Debug)]
pub struct PutRecords(usize);

/// An entry that nobody but its server has seen.
#[derive(Debug)]
struct EntryDraft<T> {
    builder: EntryBuilder,
    jobs: Vec<EntryJob<T>>,
    /// When the first of them came.
    since: Timestamp,
    /// The last change of rights when they were admitted.
    epoch: Position,
}

impl<T> EntryDraft<T> {
    fn begin(since: Timestamp, epoch: Position) -> Self {
        Self {
            builder: EntryBuilder::default(),
            jobs: Vec::new(),
            since,
            epoch,
        }
    }

    fn is_late(&self, now: Timestamp, patience_ms: u64) -> bool {
        now.ms_since(self.since) >= patience_ms
    }
}

/// An entry that the log may have.
#[derive(Debug)]
struct SentEntry<T> {
    jobs: Vec<EntryJob<T>>,
    since: Timestamp,
}

/// The entries that a server proposes, and who waits for them.
#[derive(Debug)]
pub(crate) struct Proposer<T> {
    run: ServerRun,
    limits: ProposalLimits,
    last: u64,
    /// The oldest first; all but the last are full.
    drafts: VecDeque<EntryDraft<T>>,
    /// By their numbers.
    under_way: BTreeMap<u64, SentEntry<T>>,
}

impl<T> Proposer<T> {
    pub(crate) const fn new(run: ServerRun, limits: ProposalLimits) -> Self {
        Self {
            run,
            limits,
            last: 0,
            drafts: VecDeque::new(),
            under_way: BTreeMap::new(),
        }
    }

    pub(crate) const fn node(&self) -> &Name {
        &self.run.node
    }

    pub(crate) const fn installation(&self) -> u64 {
        self.run.installation
    }

    pub(crate) fn is_own(&self, head: &EntryHead) -> bool {
        head.node == self.run.node && head.incarnation == self.run.incarnation
    }

    /// Puts records in the last draft, together. Who asked was admitted on a state with this `epoch`.
    pub(crate) fn put(
        &mut self,
        (now, epoch): (Timestamp, Position),
        records: &[RecordRef<'_>],
    ) -> Result<PutRecords, TooLargeForAnEntry> {
        let bytes = records.iter().map(RecordRef::size).sum();
        let is_long = |record: &RecordRef<'_>| record.payload.len() > PAYLOAD_BYTES_MAX;
        if bytes > ENTRY_BODY_BYTES_MAX || records.iter().any(is_long) {
            return Err(TooLargeForAnEntry);
        }
        let takes = |draft: &EntryDraft<T>| draft.epoch == epoch && draft.builder.fits(bytes);
        if !self.drafts.back().is_some_and(takes) {
            self.drafts.push_back(EntryDraft::begin(now, epoch));
        }
        if let Some(draft) = self.drafts.back_mut() {
            for record in records {
                draft.builder.push(record);
            }
        }
        Ok(PutRecords(records.len()))
    }

    /// Has somebody wait for what was put last.
    pub(crate) fn wait(&mut self, PutRecords(records): PutRecords, caller: T) {
        if let Some(draft) = self.drafts.back_mut() {
            draft.jobs.push(EntryJob { caller, records });
        }
    }

    /// The oldest draft becomes an entry for the log, if the log may have another.
    pub(crate) fn propose(
        &mut self,
        now: Timestamp,
        place: Option<&SharedPlace>,
    ) -> Option<ProposedEntry> {
        let is_far_ahead = || {
            let oldest = self.under_way.keys().next();
            oldest.is_some_and(|oldest| self.last - oldest >= ENTRIES_AHEAD_MAX)
        };
        if self.under_way.len() >= self.limits.under_way || is_far_ahead() {
            return None;
        }
        let draft = self.drafts.pop_front()?;
        Some(self.send(now, draft, place))
    }

    /// An entry without records, unless another is under way that serves as well.
    pub(crate) fn propose_tick(
        &mut self,
        now: Timestamp,
        place: Option<&SharedPlace>,
    ) -> Option<ProposedEntry> {
        let is_idle = self.under_way.is_empty();
        is_idle.then(|| self.send(now, EntryDraft::begin(now, epoch_at(place)), place))
    }

    fn send(
        &mut self,
        now: Timestamp,
        mut draft: EntryDraft<T>,
        place: Option<&SharedPlace>,
    ) -> ProposedEntry {
        self.last += 1;
        let number = self.last;
        let head = EntryHead {
            node: self.run.node,
            incarnation: self.run.incarnation,
            number,
            epoch: draft.epoch,
            installation: self.run.installation,
            applied: place.map_or((0, 0), |place| (place.sequence, place.chain)),
        };
        let bytes = draft.builder.finish(&head, now);
        let (jobs, since) = (draft.jobs, draft.since);
        self.under_way.insert(number, SentEntry { jobs, since });
        ProposedEntry { number, bytes }
    }

    /// Who waits for an entry of this number; nothing if it has been taken before.
    pub(crate) fn take(&mut self, number: u64) -> Option<Vec<EntryJob<T>>> {
        Some(self.under_way.remove(&number)?.jobs)
    }

    /// Those who have waited too long: first those whose entry the log may have, which is waited for
    /// further; then those of whom nothing was sent.
    pub(crate) fn expire(&mut self, now: Timestamp) -> (Vec<T>, Vec<T>) {
        let patience_ms = self.limits.patience_ms;
        let mut sent = Vec::new();
        for entry in self.under_way.values_mut() {
            if now.ms_since(entry.since) >= patience_ms {
                sent.extend(callers(mem::take(&mut entry.jobs)));
            }
        }
        let mut unsent = Vec::new();
        while let Some(draft) = self
            .drafts
            .pop_front_if(|draft| draft.is_late(now, patience_ms))
        {
            unsent.extend(callers(draft.jobs));
        }
        (sent, unsent)
    }

    /// When somebody will have waited too long.
    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        let sent = self.under_way.values();
        let sent = sent.filter(|entry| !entry.jobs.is_empty());
        let sent = sent.map(|entry| entry.since).min();
        let unsent = self.drafts.front().map(|draft| draft.since);
        let first = sent.into_iter().chain(unsent).min()?;
        Some(Timestamp(first.0 + self.limits.patience_ms))
    }

    pub(crate) fn under_way(&self) -> usize {
        self.under_way.len()
    }
}

/// The last change of rights at a place of the log.
pub(crate) fn epoch_at(place: Option<&SharedPlace>) -> Position {
    place.map_or(Position(0), |place| place.epoch)
}

fn callers<T>(jobs: Vec<EntryJob<T>>) -> impl Iterator<Item = T> {
    jobs.into_iter().map(|job| job.caller)
}
