//! What a server has asked of the shared log, and who waits for it.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
};

use turnstile_record::{
    ENTRIES_AHEAD_MAX, ENTRY_BODY_BYTES_MAX, EntryBuilder, EntryHead, PAYLOAD_BYTES_MAX, RecordRef,
};
use turnstile_sequencer::SharedPlace;
use turnstile_types::{Name, Position, Principal, Timestamp};

/// One run of a server: what its entries are known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerRun {
    /// The server's name among those of its log.
    pub node: Name,
    /// The time when it began, in milliseconds, by a clock that may be behind an earlier one: [`Replica`]
    /// makes it higher than that of any earlier run of this server, so that what is left of those is told
    /// from entries of this one.
    ///
    /// [`Replica`]: crate::Replica
    pub incarnation: u64,
    /// The last entry that the log had when it began. Only who has applied all up to there knows the earlier
    /// runs of this server, which may have lost what it had.
    pub after: u64,
    /// Which installation it is of. See [`EntryHead::installation`].
    pub installation: u64,
    /// The newest version of entries that it reads: [`ENTRY_VERSION`](turnstile_record::ENTRY_VERSION),
    /// or less in trials of an upgrade.
    pub reads: u16,
}

/// Two runs may know the same earlier one, while entries of the first of the two are still on their way. By
/// when they began, in milliseconds, their numbers differ too: within 49 days.
const RUN_SPREAD: u64 = 1 << 32;

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
/// waits for its place in the entry alone.
#[derive(Debug)]
pub(crate) struct EntryJob<T> {
    /// Nobody any more, once it was told that it waits too long.
    pub(crate) caller: Option<T>,
    pub(crate) records: usize,
    /// Whether it was put together with the job before it.
    pub(crate) goes_on: bool,
    /// Whether it waits for its entry as long as that takes.
    is_patient: bool,
}

impl<T> EntryJob<T> {
    /// Whether somebody is to be told when it waits too long.
    const fn expires(&self) -> bool {
        !self.is_patient && self.caller.is_some()
    }
}

/// Records that were put in an entry, for those who are to [wait](crate::Replica::wait) for them.
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
    #[cfg(feature = "sabotage")]
    pub(crate) writes_too_early: bool,
    #[cfg(feature = "sabotage")]
    pub(crate) trusts_its_clock: bool,
}

impl<T> Proposer<T> {
    pub(crate) const fn new(run: ServerRun, limits: ProposalLimits) -> Self {
        Self {
            run,
            limits,
            last: 0,
            drafts: VecDeque::new(),
            under_way: BTreeMap::new(),
            #[cfg(feature = "sabotage")]
            writes_too_early: false,
            #[cfg(feature = "sabotage")]
            trusts_its_clock: false,
        }
    }

    /// Whether it knows its earlier runs, as far as they had come to the log when this one began. Until it
    /// proposes something, its number is made higher than theirs.
    pub(crate) fn has_begun(&mut self, place: Option<&SharedPlace>) -> bool {
        #[cfg(feature = "sabotage")]
        if self.trusts_its_clock {
            return true;
        }
        if place.map_or(0, |place| place.sequence) < self.run.after {
            return false;
        }
        let earlier = place.and_then(|place| place.incarnation(&self.run.node));
        let begun = self.run.incarnation;
        if let Some(earlier) = earlier.filter(|earlier| self.last == 0 && *earlier >= begun) {
            self.run.incarnation = earlier + 1 + begun % RUN_SPREAD;
        }
        true
    }

    pub(crate) const fn run(&self) -> &ServerRun {
        &self.run
    }

    /// The newest version of entries that this server reads.
    pub(crate) const fn reads(&self) -> u16 {
        self.run.reads
    }

    /// Whether the log does not know yet what this run reads.
    pub(crate) fn is_unannounced(&self, place: Option<&SharedPlace>) -> bool {
        let run = &self.run;
        let known = place.and_then(|place| place.reads(&run.node, run.incarnation));
        known.is_none_or(|known| known < run.reads)
    }

    /// The version in which entries are written: no server of the log must find it too new.
    fn version(&self, place: Option<&SharedPlace>) -> u16 {
        #[cfg(feature = "sabotage")]
        if self.writes_too_early {
            return self.run.reads;
        }
        let written = place.map_or(1, SharedPlace::version);
        written.min(self.run.reads)
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

    /// Has these wait for what was put last, each for so many records of it.
    pub(crate) fn wait(
        &mut self,
        PutRecords(put): PutRecords,
        jobs: impl IntoIterator<Item = (T, usize)>,
    ) {
        let Some(draft) = self.drafts.back_mut() else {
            return;
        };
        let mut goes_on = false;
        let mut left = put;
        for (caller, records) in jobs {
            left = left
                .checked_sub(records)
                .expect("each waits for its own records");
            draft.jobs.push(EntryJob {
                caller: Some(caller),
                records,
                goes_on,
                is_patient: false,
            });
            goes_on = true;
        }
        assert_eq!(left, 0, "each record has a caller that waits");
    }

    /// Has somebody wait for all records that were put, as long as that takes once they are sent.
    pub(crate) fn wait_patiently(&mut self, PutRecords(records): PutRecords, caller: T) {
        if let Some(draft) = self.drafts.back_mut() {
            draft.jobs.push(EntryJob {
                caller: Some(caller),
                records,
                goes_on: false,
                is_patient: true,
            });
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
        let version = self.version(place);
        let reads = self.run.reads;
        // Behind all others, so that nobody takes what it comes to for an answer. It takes a few bytes, and
        // only entries at the beginning of a run have it.
        if version == 1 && reads > 1 && self.is_unannounced(place) {
            draft.builder.announce(&Principal::local(), reads);
        }
        let head = EntryHead {
            node: self.run.node,
            incarnation: self.run.incarnation,
            number,
            epoch: draft.epoch,
            installation: self.run.installation,
            applied: place.map_or((0, 0), |place| (place.sequence, place.chain)),
            version,
            reads,
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
                let late = entry.jobs.iter_mut().filter(|job| !job.is_patient);
                sent.extend(late.filter_map(|job| job.caller.take()));
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
        let sent = sent.filter(|entry| entry.jobs.iter().any(EntryJob::expires));
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

/// Who waits for jobs of an entry: those of one caller that were put together stand together.
pub(crate) fn runs_of<T>(jobs: impl IntoIterator<Item = EntryJob<T>>) -> Vec<Vec<T>> {
    let mut runs: Vec<Vec<T>> = Vec::new();
    for job in jobs {
        let Some(caller) = job.caller else { continue };
        match runs.last_mut().filter(|_| job.goes_on) {
            Some(run) => run.push(caller),
            None => runs.push(vec![caller]),
        }
    }
    runs
}

fn callers<T>(jobs: Vec<EntryJob<T>>) -> impl Iterator<Item = T> {
    jobs.into_iter().filter_map(|job| job.caller)
}

#[cfg(test)]
mod tests {
    use turnstile_types::Author;

    use super::*;

    #[test]
    fn who_is_patient_still_waits_for_an_entry_that_all_others_have_given_up() {
        let run = ServerRun {
            node: Name::parse(b"n1").expect("a name"),
            incarnation: 1,
            after: 0,
            installation: 5,
            reads: turnstile_record::ENTRY_VERSION,
        };
        let mut proposer = Proposer::new(run, ProposalLimits::USUAL);
        let principal = Principal::local();
        let record = RecordRef {
            service: 1,
            author: Author::server(&principal),
            key: None,
            payload: b"x",
        };
        let begin = (Timestamp(1_000), Position(0));
        let put = proposer.put(begin, &[record, record]);
        proposer.wait(
            put.expect("they are small"),
            [("hasty", 1), ("hasty too", 1)],
        );
        let put = proposer.put(begin, &[record]);
        proposer.wait_patiently(put.expect("it is small"), "patient");
        let sent = proposer.propose(begin.0, None).expect("an entry");
        let late = proposer.deadline().expect("somebody expires");
        assert_eq!(proposer.expire(late), (vec!["hasty", "hasty too"], vec![]));
        assert_eq!(proposer.deadline(), None, "nobody else does");
        let jobs = proposer.take(sent.number).expect("it was not taken before");
        let records: usize = jobs.iter().map(|job| job.records).sum();
        assert_eq!(records, 3, "each record still has its job");
        assert_eq!(runs_of(jobs), [["patient"]]);
    }
}
