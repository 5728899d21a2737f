//! The sequencer: one order for all commands, one group at a time, and nothing that is promised is
//! told before it is durable.

use std::time::Duration;

use turnstile_journal::{CommitError, Log, Progress, Room};
use turnstile_record::{BODY_BYTES_MAX, PAYLOAD_BYTES_MAX, RecordRef, SERVICE_ENGINE};
use turnstile_types::{Author, Hosts, Key, Machine, Machines, Position, Principal, Timestamp};

use crate::{
    ExecuteError, Reply,
    state::{Positioned, State, is_same},
};

/// Bytes that keys may take where nobody says otherwise.
pub const KEY_BYTES_MAX: u64 = 1 << 30;

/// A submitted group that has become durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// That of its last record.
    pub position: Position,
    /// How long writing and syncing it took.
    pub took: Duration,
}

/// What the sequencer knows of the group that takes records.
#[derive(Clone, Copy, Debug)]
struct OpenGroup {
    /// The last position before it.
    after: Position,
    /// Whether a record of it has promised something.
    promised: bool,
}

/// Orders commands, journals them in groups and applies them.
///
/// It owns the state and the log. A turn of its caller is: [`tick`](Self::tick), any number of
/// [`execute`](Self::execute), one [`commit`](Self::commit). Commands are applied as they come, so
/// that one look-up of the machine serves both the decision and its answer; the price is that
/// after a failed commit the state is ahead of the disk, and the process must stop without
/// sending anything. Committing before applying was rejected: it needs a second pass over every
/// group, and its answers are no earlier.
///
/// In place of `commit`, a turn may end with [`submit`](Self::submit). Then the group goes to the disk
/// while the next is decided, and [`settle`](Self::settle) says when its answers may leave.
///
/// Or a turn ends with neither, as long as nothing [is promised](Self::has_promised): its answers
/// leave at once, and the group stays open for the turns that follow.
#[derive(Debug)]
pub struct Sequencer<S, L> {
    state: State<S>,
    log: L,
    /// The log's group, while it has records.
    open: Option<OpenGroup>,
    /// The last position of the group that was submitted and is not settled.
    under_way: Option<Position>,
    sent_ahead: u64,
    stopped: bool,
    payload: Vec<u8>,
    key_bytes_max: u64,
    #[cfg(feature = "sabotage")]
    forgetful: bool,
    #[cfg(feature = "sabotage")]
    rash: bool,
    #[cfg(feature = "sabotage")]
    pub(crate) entry_sabotage: crate::EntrySabotage,
}

impl<S: Machines, L: Log> Sequencer<S, L> {
    /// Takes over a state and the log whose last record is the state's.
    pub const fn new(state: State<S>, log: L) -> Self {
        Self {
            state,
            log,
            open: None,
            under_way: None,
            sent_ahead: 0,
            stopped: false,
            payload: Vec::new(),
            key_bytes_max: KEY_BYTES_MAX,
            #[cfg(feature = "sabotage")]
            forgetful: false,
            #[cfg(feature = "sabotage")]
            rash: false,
            #[cfg(feature = "sabotage")]
            entry_sabotage: crate::EntrySabotage::None,
        }
    }

    /// From now on, keys may take so many bytes. Those that are there stay for their time. It is no part
    /// of the state: a replay refuses nothing.
    pub const fn limit_keys(&mut self, bytes: u64) {
        self.key_bytes_max = bytes;
    }

    /// Bytes that keys may take.
    #[must_use]
    pub const fn key_bytes_max(&self) -> u64 {
        self.key_bytes_max
    }

    /// Decides one command in the open group. If its `bytes` are known, as the machine encodes it, the
    /// record holds these.
    ///
    /// Contract: the answer MUST NOT leave before [`commit`](Self::commit) has returned `Ok`, or
    /// while something [is promised](Self::has_promised).
    ///
    /// # Errors
    /// The command was not taken; nothing of it happened.
    pub fn execute<M: Machine>(
        &mut self,
        now: Timestamp,
        author: Author<'_>,
        key: Option<Key<'_>>,
        command: &M::Command<'_>,
        bytes: Option<&[u8]>,
    ) -> Result<Reply<M::Outcome>, ExecuteError>
    where
        S: Hosts<M>,
    {
        if let Some(payload) = bytes {
            debug_assert!(is_encoded::<M>(command, payload), "{command:?}");
            return self.decide::<M>(now, (author, key), command, payload);
        }
        let mut payload = std::mem::take(&mut self.payload);
        payload.clear();
        M::encode_command(command, &mut payload);
        let reply = self.decide::<M>(now, (author, key), command, &payload);
        self.payload = payload;
        reply
    }

    /// Decides a command of which these are the bytes.
    fn decide<M: Machine>(
        &mut self,
        now: Timestamp,
        (author, key): (Author<'_>, Option<Key<'_>>),
        command: &M::Command<'_>,
        payload: &[u8],
    ) -> Result<Reply<M::Outcome>, ExecuteError>
    where
        S: Hosts<M>,
    {
        if self.stopped {
            return Err(ExecuteError::Stopped);
        }
        let principal = author.principal;
        if let Some(first) = self.first_answer::<M>(now, (principal, key), payload) {
            return first;
        }
        self.admit(now, principal, key)?;
        let time = self.group_time(now);
        let record = RecordRef {
            service: M::SERVICE,
            author,
            key,
            payload,
        };
        let position = self.append(time, &record)?;
        let record = Positioned {
            position,
            time,
            service: M::SERVICE,
            principal,
            key,
            payload,
        };
        let (outcome, promised) = self.state.apply::<M>(&record, command);
        self.promise(promised);
        Ok(Reply {
            position,
            replayed: false,
            outcome,
        })
    }

    /// Sees to it that the key of a new command can be kept for its time.
    pub(crate) fn admit(
        &self,
        now: Timestamp,
        principal: &Principal,
        key: Option<Key<'_>>,
    ) -> Result<(), ExecuteError> {
        let Some(key) = key else {
            return Ok(());
        };
        let now = self.group_time(now);
        let admitted = self.state.admits(now, principal, key, self.key_bytes_max);
        admitted.map_err(|ms| {
            let retry_after_s = u32::try_from(ms.div_ceil(1_000)).unwrap_or(u32::MAX);
            ExecuteError::KeysFull {
                retry_after_s: retry_after_s.max(1),
            }
        })
    }

    /// Puts a record in the open group, opened at this time if there is none; commits a full one.
    pub(crate) fn append(
        &mut self,
        time: Timestamp,
        record: &RecordRef<'_>,
    ) -> Result<Position, ExecuteError> {
        if record.payload.len() > PAYLOAD_BYTES_MAX {
            return Err(ExecuteError::TooLarge);
        }
        loop {
            if self.open.is_none() {
                self.log.begin(time);
            }
            match self.log.room(record.size()) {
                Room::Fits => break,
                Room::CommitFirst => self.send_ahead()?,
                Room::DiskFull => return Err(ExecuteError::ReadOnly),
            }
        }
        let position = self.log.push(record);
        let after = self.state.position();
        assert_eq!(position, after.next(), "log and state count alike");
        self.open.get_or_insert(OpenGroup {
            after,
            promised: false,
        });
        Ok(position)
    }

    /// The answer that the key has had already, if it has had one.
    fn first_answer<M: Machine>(
        &self,
        now: Timestamp,
        (principal, key): (&Principal, Option<Key<'_>>),
        payload: &[u8],
    ) -> Option<Result<Reply<M::Outcome>, ExecuteError>> {
        #[cfg(feature = "sabotage")]
        if self.forgetful {
            return None;
        }
        let first = self.state.first(self.group_time(now), principal, key?)?;
        let outcome = is_same(&first, M::SERVICE, payload).then_some(first.outcome);
        // Where the memory does not say of what service the first command was, its outcome tells.
        let outcome = outcome.and_then(|outcome| M::decode_outcome(outcome).ok());
        Some(match outcome {
            Some(outcome) => Ok(Reply {
                position: first.position,
                replayed: true,
                outcome,
            }),
            None => Err(ExecuteError::KeyReused {
                first: first.position,
            }),
        })
    }

    /// Does what is due, in a record of its own. That is a promise, whatever it was.
    ///
    /// # Errors
    /// The record was not taken: what is due stays due.
    pub fn tick(&mut self, now: Timestamp) -> Result<(), ExecuteError> {
        let time = self.group_time(now);
        if self
            .state
            .machines()
            .next_deadline()
            .is_none_or(|deadline| deadline > time)
        {
            return Ok(());
        }
        if self.stopped {
            return Err(ExecuteError::Stopped);
        }
        let engine = Principal::engine();
        let record = RecordRef {
            service: SERVICE_ENGINE,
            author: Author::server(&engine),
            key: None,
            payload: &[],
        };
        let position = self.append(time, &record)?;
        self.state.tick(position, time);
        self.promise(true);
        Ok(())
    }

    /// The open group promises something, if it is so.
    pub(crate) const fn promise(&mut self, promised: bool) {
        if let Some(group) = &mut self.open {
            group.promised |= promised;
        }
    }

    /// Makes sure that the next `bytes` of records lie in one group, and so are atomic across a
    /// crash. A segment of the journal must be able to hold them.
    ///
    /// # Errors
    /// The disk is full, the group that had to go first could not be committed, or so many bytes
    /// never fit in one group.
    pub fn reserve(&mut self, bytes: usize) -> Result<(), ExecuteError> {
        if bytes > BODY_BYTES_MAX {
            return Err(ExecuteError::TooLarge);
        }
        loop {
            match self.log.room(bytes) {
                Room::Fits => return Ok(()),
                Room::CommitFirst => self.send_ahead()?,
                Room::DiskFull => return Err(ExecuteError::ReadOnly),
            }
        }
    }

    /// Commits the open group, which is full, before its turn is over. What is asked next may be
    /// refused, so the turn may end without an open group though records were taken in it.
    fn send_ahead(&mut self) -> Result<(), ExecuteError> {
        assert!(self.is_open(), "only a group with records is full");
        self.flush().map_err(|_failure| ExecuteError::Stopped)?;
        self.sent_ahead += 1;
        Ok(())
    }

    /// The time of the open group, or the one that a group opened at `now` would have: logged
    /// time never goes back, whatever the clock does.
    fn group_time(&self, now: Timestamp) -> Timestamp {
        if self.is_open() {
            self.state.time()
        } else {
            now.max(self.state.time())
        }
    }

    /// Makes everything so far durable: one write and one sync, after those under way.
    ///
    /// # Errors
    /// A write or a sync failed. That is final: nothing of the group may be answered, and
    /// whatever comes after it is refused.
    pub fn commit(&mut self) -> Result<Position, CommitError> {
        self.flush()?;
        self.under_way = None;
        Ok(self.state.position())
    }

    /// Takes nothing more, and makes nothing durable any more.
    pub(crate) const fn stop(&mut self) {
        self.stopped = true;
    }

    /// Makes everything so far durable; who submitted a group still has to hear of it.
    pub(crate) fn flush(&mut self) -> Result<(), CommitError> {
        if self.stopped {
            return Err(CommitError::Poisoned);
        }
        if self.is_open() || self.is_under_way() {
            self.open = None;
            self.log
                .commit()
                .inspect_err(|_failure| self.stopped = true)?;
        }
        Ok(())
    }

    /// Sends the open group on its way to the disk. Without one it does nothing.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    ///
    /// # Panics
    /// When a group is under way.
    pub fn submit(&mut self) -> Result<(), CommitError> {
        assert!(!self.is_under_way(), "one group at a time is under way");
        if self.stopped {
            return Err(CommitError::Poisoned);
        }
        if self.open.take().is_some() {
            self.log
                .submit()
                .inspect_err(|_failure| self.stopped = true)?;
            self.under_way = Some(self.state.position());
        }
        Ok(())
    }

    /// The group that was under way, once it is durable; after that nothing, until another is
    /// submitted. It never waits.
    ///
    /// # Errors
    /// As [`commit`](Self::commit), of the group under way.
    pub fn settle(&mut self) -> Result<Option<Settled>, CommitError> {
        let Some(position) = self.under_way else {
            return Ok(None);
        };
        let progress = self
            .log
            .settle()
            .inspect_err(|_failure| self.stopped = true)?;
        match progress {
            Progress::UnderWay => Ok(None),
            Progress::Durable { took } => {
                self.under_way = None;
                Ok(Some(Settled { position, took }))
            }
        }
    }

    /// Waits until [`settle`](Self::settle) has news of the group under way.
    pub fn await_settled(&mut self) {
        self.log.await_settled();
    }

    /// Whether a group was submitted and is not settled.
    #[must_use]
    pub const fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// Whether something waits for its commit.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether something that is not durable, in the open group or under way, must be so before
    /// anything is told of it or of what came after it. If not, every answer may leave, also one to
    /// a query.
    #[must_use]
    pub const fn has_promised(&self) -> bool {
        #[cfg(feature = "sabotage")]
        if self.rash {
            return false;
        }
        matches!(self.open, Some(OpenGroup { promised: true, .. })) || self.is_under_way()
    }

    /// The last position that may be told together with what is open: that of the last record, or,
    /// while the open group promises nothing, that of the last before it. A crash may give the
    /// positions of such a group to other records.
    #[must_use]
    pub const fn firm_position(&self) -> Position {
        match self.open {
            Some(group) if !group.promised => group.after,
            Some(_) | None => self.state.position(),
        }
    }

    /// How many groups were committed because they were full, without being asked for.
    #[must_use]
    pub const fn sent_ahead(&self) -> u64 {
        self.sent_ahead
    }

    #[must_use]
    pub const fn state(&self) -> &State<S> {
        &self.state
    }

    pub const fn state_mut(&mut self) -> &mut State<S> {
        &mut self.state
    }

    #[must_use]
    pub const fn log(&self) -> &L {
        &self.log
    }

    /// Gives the log back, to be closed.
    pub fn into_log(self) -> L {
        self.log
    }

    /// Plants a bug: idempotency keys are not looked up.
    #[cfg(feature = "sabotage")]
    pub const fn ignore_keys(&mut self) {
        self.forgetful = true;
    }

    /// Plants a bug in how entries are applied.
    #[cfg(feature = "sabotage")]
    pub const fn sabotage_entries(&mut self, sabotage: crate::EntrySabotage) {
        self.entry_sabotage = sabotage;
    }

    /// Plants a bug: nothing is ever taken for a promise.
    #[cfg(feature = "sabotage")]
    pub const fn ignore_promises(&mut self) {
        self.rash = true;
    }
}

/// Whether these are the bytes of a command.
fn is_encoded<M: Machine>(command: &M::Command<'_>, payload: &[u8]) -> bool {
    let mut bytes = Vec::new();
    M::encode_command(command, &mut bytes);
    bytes == payload
}
