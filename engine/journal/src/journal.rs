//! The journal in files: the writer's side.

use std::{io, time::Duration};

use turnstile_record::{BODY_BYTES_MAX, Group, GroupBuilder, HEADER_BYTES, Link, RecordRef, seal};
use turnstile_types::{Position, Timestamp};

use crate::carrier::{self, Carrier, LogThread};
use crate::commit_error::CommitError;
use crate::log::{Durability, Log, Progress, Room};
use crate::mark::DurableMark;
use crate::preparation::{NextSegment, PrepareError, Preparer};
use crate::recovery::{self, OpenError, Report};
use crate::replay::{self, ReplayError};
use crate::sabotage::Sabotage;
use crate::segment::{FIRST_OFFSET, Segment, SegmentLabel, to_u32, to_usize};
use crate::{Chores, Disk, DiskFile, SEGMENT_BYTES_MIN};

/// How a journal is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The length of new segments; at least [`SEGMENT_BYTES_MIN`], and enough for the largest
    /// record. Existing segments keep theirs.
    pub segment_bytes: u32,
    /// `Sync` or `Os`; for `Memory` there is [`MemoryLog`](crate::MemoryLog).
    pub durability: Durability,
    pub chores: Chores,
    /// Opens a journal that has lost acknowledged records after exactly this position, and gives
    /// them up; `None` refuses every loss.
    pub accept_loss: Option<Position>,
}

/// Who writes a group.
#[derive(Clone, Copy, Debug)]
enum Hands {
    Own,
    Carrier,
}

/// The journal in files. It owns the directory (one lock, one writer), the current segment and the
/// open group.
///
/// A group goes to the current segment when it fits, else to the next one, which is ready before
/// it is needed; so a commit is one write into zeros that are already there, and one sync. At most
/// one group is not durable at any time (with [`Durability::Os`]: those since the last sync, which
/// never spread over two segments).
#[derive(Debug)]
pub struct Journal<D: Disk> {
    disk: D,
    options: Options,
    sabotage: Sabotage,
    current: Segment<D::File>,
    /// Where the next group goes.
    offset: u32,
    link: Link,
    next: NextSegment<D::File>,
    group: GroupBuilder,
    mark: DurableMark<D::File>,
    /// Every group so far is durable.
    is_synced: bool,
    /// The last group is a seal.
    is_sealed: bool,
    is_poisoned: bool,
    /// Why the next segment poisoned the journal, until a commit reports it.
    directory_failure: Option<io::Error>,
    /// Why there is no next segment, while there is none.
    shortage: Option<io::Error>,
    /// How long the last submitted group took.
    took: Duration,
    // The threads end before the lock is released: fields are dropped in this order.
    carrier: Carrier<D::File>,
    preparer: Preparer<D>,
    _lock: D::Lock,
}

impl<D: Disk> Journal<D> {
    /// Takes the directory, recovers what is there, and is ready to write when it returns.
    ///
    /// # Errors
    /// Another holder, a failing disk, or damage that recovery must not repair by forgetting.
    ///
    /// # Panics
    /// When the options are outside their limits.
    pub fn open(disk: D, options: Options) -> Result<(Self, Report), OpenError> {
        let lock = recovery::take(&disk)?;
        Self::recover((disk, lock), options, Sabotage::None)
    }

    /// The same of a directory that was [taken](crate::take) before.
    ///
    /// # Errors
    /// As [`open`](Self::open); nobody else has the directory.
    ///
    /// # Panics
    /// As [`open`](Self::open).
    pub fn open_taken(
        disk: D,
        lock: D::Lock,
        options: Options,
    ) -> Result<(Self, Report), OpenError> {
        Self::recover((disk, lock), options, Sabotage::None)
    }

    /// Opens a journal with a planted bug.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    #[cfg(feature = "sabotage")]
    pub fn open_sabotaged(
        disk: D,
        options: Options,
        sabotage: Sabotage,
    ) -> Result<(Self, Report), OpenError> {
        let lock = recovery::take(&disk)?;
        Self::recover((disk, lock), options, sabotage)
    }

    fn recover(
        (disk, lock): (D, D::Lock),
        options: Options,
        sabotage: Sabotage,
    ) -> Result<(Self, Report), OpenError> {
        assert!(
            options.segment_bytes >= SEGMENT_BYTES_MIN,
            "a segment has at least {SEGMENT_BYTES_MIN} bytes"
        );
        assert!(
            options.durability != Durability::Memory,
            "a journal keeps something"
        );
        let recovered =
            recovery::recover(&disk, options.segment_bytes, options.accept_loss, sabotage)?;
        let preparer =
            Preparer::start(disk.clone(), options.chores, sabotage).map_err(OpenError::Thread)?;
        // Without syncs there is nothing to carry.
        let carriage = match options.durability {
            Durability::Sync => options.chores,
            Durability::Os | Durability::Cluster | Durability::Memory => Chores::Inline,
        };
        let carrier = Carrier::start(carriage, sabotage).map_err(OpenError::Thread)?;
        let mut journal = Self {
            disk,
            options,
            sabotage,
            current: recovered.current,
            offset: recovered.offset,
            link: recovered.link,
            next: recovered
                .next
                .map_or(NextSegment::Failed, NextSegment::Ready),
            group: GroupBuilder::new(),
            mark: recovered.mark,
            is_synced: true,
            is_sealed: recovered.is_sealed,
            is_poisoned: false,
            directory_failure: None,
            shortage: None,
            took: Duration::ZERO,
            carrier,
            preparer,
            _lock: lock,
        };
        journal
            .group
            .begin(journal.link.time, journal.link.position);
        journal.order_next();
        Ok((journal, recovered.report))
    }

    /// What the last group has left for the next one to continue.
    #[must_use]
    pub const fn link(&self) -> Link {
        self.link
    }

    /// The journal's random number, which snapshots carry.
    #[must_use]
    pub const fn id(&self) -> u64 {
        self.current.label.journal
    }

    /// The directory, for snapshots and readers in other threads.
    #[must_use]
    pub const fn disk(&self) -> &D {
        &self.disk
    }

    /// Who carries submitted groups to the disk.
    #[must_use]
    pub const fn log_thread(&self) -> LogThread {
        self.carrier.kind()
    }

    /// Why the last attempt to make the next segment failed, while there is none: what a
    /// [`Room::DiskFull`] is about.
    #[must_use]
    pub const fn shortage(&self) -> Option<&io::Error> {
        self.shortage.as_ref()
    }

    /// Orders the next segment unless it is there or coming.
    fn order_next(&mut self) {
        if !matches!(self.next, NextSegment::Failed) {
            return;
        }
        let label = SegmentLabel {
            journal: self.id(),
            number: self.current.label.number + 1,
            bytes: self.options.segment_bytes,
        };
        let outcome = self.preparer.order(label);
        self.note(outcome);
    }

    fn note(&mut self, outcome: Result<NextSegment<D::File>, PrepareError>) {
        match outcome {
            Ok(next) => {
                if matches!(next, NextSegment::Ready(_)) {
                    self.shortage = None;
                }
                self.next = next;
            }
            Err(PrepareError::Retryable(error)) => {
                self.next = NextSegment::Failed;
                self.shortage = Some(error);
            }
            Err(PrepareError::Final(error)) => {
                self.next = NextSegment::Failed;
                self.is_poisoned = true;
                self.directory_failure = Some(error);
            }
        }
    }

    /// Whether a group with `body_bytes` fits at `offset` of a segment, with a seal behind it.
    fn fits(body_bytes: usize, offset: u32, label: &SegmentLabel) -> bool {
        to_usize(offset) + HEADER_BYTES + body_bytes + HEADER_BYTES <= to_usize(label.bytes)
    }

    fn advance(&mut self) -> Result<(), CommitError> {
        if !self.is_synced {
            // So that the groups that are not durable never spread over two segments.
            self.sync()?;
        }
        let next = std::mem::replace(&mut self.next, NextSegment::Failed);
        let NextSegment::Ready(segment) = next else {
            panic!("a record is pushed only where there is room")
        };
        self.current = segment;
        self.offset = FIRST_OFFSET;
        Ok(())
    }

    /// Writes the open group here or has it carried, and moves on behind it. It answers whether everything
    /// before the group was durable.
    fn place_group(&mut self, to: Hands) -> Result<bool, CommitError> {
        if !Self::fits(self.group.body_bytes(), self.offset, &self.current.label) {
            self.advance()?;
        }
        let place = self.current.place(self.offset);
        let (bytes, link) = self.group.finish(place, self.link.chain, self.is_synced);
        let (file, offset) = (&self.current.file, u64::from(self.offset));
        match to {
            Hands::Own => file.write_at(bytes, offset).map_err(CommitError::Write)?,
            Hands::Carrier => self.carrier.take(file, bytes, offset)?,
        }
        self.offset += to_u32(bytes.len());
        self.link = link;
        self.is_sealed = false;
        Ok(std::mem::replace(&mut self.is_synced, false))
    }

    fn write_group(&mut self) -> Result<(), CommitError> {
        let was_synced = self.place_group(Hands::Own)?;
        // The first group without a sync looks to a reader like one that waits for it: only the mark says that
        // it was acknowledged. The next group tells that this journal does not sync.
        let syncs_each = self.options.durability == Durability::Sync;
        if syncs_each || was_synced {
            self.sync()?;
            self.is_synced = syncs_each;
        }
        Ok(())
    }

    /// After a group was placed.
    fn begin_next(&mut self) {
        self.group.begin(self.link.time, self.link.position);
        self.order_next();
    }

    fn sync(&mut self) -> Result<(), CommitError> {
        carrier::sync(&*self.current.file, self.sabotage)?;
        self.note_synced()
    }

    /// Everything so far is durable: the mark says so before anybody is answered.
    fn note_synced(&mut self) -> Result<(), CommitError> {
        self.is_synced = true;
        let last = Position(self.link.position.0 - 1);
        self.mark.write(last).map_err(CommitError::Write)
    }

    /// Waits until no group is under way.
    fn await_carrier(&mut self) -> Result<(), CommitError> {
        if self.carrier.is_busy() {
            self.carrier.wait();
            let outcome = self.carrier.ask().expect("it was waited for");
            self.note_arrival(outcome)?;
        }
        Ok(())
    }

    fn note_arrival(&mut self, outcome: Result<Duration, CommitError>) -> Result<(), CommitError> {
        self.poison_on_error(|journal| {
            journal.took = outcome?;
            journal.note_synced()
        })
    }

    fn write_seal(&mut self) -> Result<(), CommitError> {
        if !self.is_synced {
            self.sync()?;
        }
        if self.is_sealed {
            return Ok(());
        }
        let (bytes, link) = seal(self.current.place(self.offset), self.link);
        self.current
            .file
            .write_at(&bytes, u64::from(self.offset))
            .map_err(CommitError::Write)?;
        self.offset += to_u32(bytes.len());
        self.link = link;
        self.sync()?;
        self.mark.sync().map_err(CommitError::Sync)
    }

    /// Runs the last steps of a commit, after which nothing more is taken when it failed.
    fn poison_on_error(
        &mut self,
        step: impl FnOnce(&mut Self) -> Result<(), CommitError>,
    ) -> Result<(), CommitError> {
        if self.is_poisoned {
            let failure = self.directory_failure.take();
            return Err(failure.map_or(CommitError::Poisoned, CommitError::Directory));
        }
        // Poisoned while it runs: a panic on the way leaves it so.
        self.is_poisoned = true;
        step(self)?;
        self.is_poisoned = false;
        Ok(())
    }
}

impl<D: Disk> Log for Journal<D> {
    fn durability(&self) -> Durability {
        self.options.durability
    }

    fn next_position(&self) -> Position {
        Position(self.link.position.0 + u64::from(self.group.records()))
    }

    fn last_time(&self) -> Timestamp {
        self.link.time
    }

    fn begin(&mut self, time: Timestamp) {
        assert!(
            self.group.is_empty(),
            "a group is committed before the next begins"
        );
        assert!(time >= self.link.time, "logged time never goes back");
        self.group.begin(time, self.link.position);
    }

    fn room(&mut self, bytes: usize) -> Room {
        let body_bytes = self.group.body_bytes() + bytes;
        if body_bytes > BODY_BYTES_MAX {
            return Room::CommitFirst;
        }
        if Self::fits(body_bytes, self.offset, &self.current.label) {
            return Room::Fits;
        }
        self.poll_next();
        if let NextSegment::Ready(next) = &self.next {
            if Self::fits(body_bytes, FIRST_OFFSET, &next.label) {
                return Room::Fits;
            }
            assert!(!self.group.is_empty(), "a segment holds the largest record");
        }
        if !self.group.is_empty() {
            return Room::CommitFirst;
        }
        self.room_in_next()
    }

    fn push(&mut self, record: &RecordRef<'_>) -> Position {
        self.group.push(record)
    }

    fn commit(&mut self) -> Result<(), CommitError> {
        self.await_carrier()?;
        if self.group.is_empty() && !self.is_poisoned {
            return Ok(());
        }
        self.poison_on_error(Self::write_group)?;
        self.begin_next();
        Ok(())
    }

    fn submit(&mut self) -> Result<(), CommitError> {
        if self.options.durability != Durability::Sync {
            return self.commit();
        }
        assert!(!self.carrier.is_busy(), "one group at a time is under way");
        if self.group.is_empty() && !self.is_poisoned {
            return Ok(());
        }
        self.poison_on_error(|journal| journal.place_group(Hands::Carrier).map(drop))?;
        self.begin_next();
        Ok(())
    }

    fn await_settled(&mut self) {
        if self.carrier.is_busy() {
            self.carrier.wait();
        }
    }

    fn settle(&mut self) -> Result<Progress, CommitError> {
        if self.carrier.is_busy() {
            if self.sabotage.is(Sabotage::SettleBeforeSync) {
                self.carrier.forget();
            } else {
                let Some(outcome) = self.carrier.ask() else {
                    return Ok(Progress::UnderWay);
                };
                self.note_arrival(outcome)?;
            }
        }
        // Somebody else may have waited for it, or failed meanwhile.
        self.poison_on_error(|_journal| Ok(()))?;
        Ok(Progress::Durable { took: self.took })
    }

    fn replay<E>(
        &self,
        after: Position,
        each: impl FnMut(&Group<'_>) -> Result<(), E>,
    ) -> Result<(), ReplayError<E>> {
        let last = Position(self.link.position.0 - 1);
        replay::replay_files(&self.disk, after, last, self.sabotage, each)
    }

    fn close(mut self) -> Result<(), CommitError> {
        assert!(
            self.group.is_empty(),
            "the last group is committed before the end"
        );
        self.await_carrier()?;
        self.poison_on_error(Self::write_seal)
    }
}

impl<D: Disk> Journal<D> {
    /// Takes notice of a segment that has become ready, or not, in the meantime.
    fn poll_next(&mut self) {
        if matches!(self.next, NextSegment::Coming | NextSegment::Retrying)
            && let Some(outcome) = self.preparer.poll()
        {
            self.note(outcome);
        }
    }

    /// Whether the next segment, which an empty group now needs, is or can be made ready.
    ///
    /// A first attempt that is under way is waited for: it takes no longer than the disk does, and
    /// refusing would blame a disk that is only slow. Once it has failed nobody waits any more.
    ///
    /// A journal that was poisoned meanwhile takes the record: its commit tells what happened.
    fn room_in_next(&mut self) -> Room {
        if matches!(self.next, NextSegment::Coming) {
            let outcome = self.preparer.wait();
            self.note(outcome);
        }
        if matches!(self.next, NextSegment::Failed) && !self.is_poisoned {
            self.order_next();
            if matches!(self.next, NextSegment::Coming) {
                self.next = NextSegment::Retrying;
            }
        }
        // A journal that failed takes nothing more, and says so elsewhere.
        if matches!(self.next, NextSegment::Ready(_)) || self.is_poisoned {
            Room::Fits
        } else {
            Room::DiskFull
        }
    }
}
