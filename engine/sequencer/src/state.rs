//! The state that a journal's records build: machines and idempotency keys.

mod image;

use turnstile_record::{Group, Record, SERVICE_ENGINE};
use turnstile_types::{
    Context, Effect, Hosts, Key, Machine, Machines, Name, PartitionFounding, Position, Principal,
    Timestamp,
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::{
    RecordReplayError,
    founding::{FOUNDED, read_founding_record},
    keys::{KeyFigures, Keys, REFUSED_BYTES_MAX},
    remembered::{First, Remembered, SERVICE_UNKNOWN},
    shared::SharedPlace,
};

pub use image::{SNAPSHOT_VERSION, SNAPSHOT_VERSION_FIELD, version_after};

/// The state that a journal's records build: the machines, and the memory of idempotency keys.
///
/// It is what a snapshot holds, and what replay, the live server and the background snapshot
/// each own one of. It knows no log: who feeds it records decides when answers may leave.
#[derive(Debug)]
pub struct State<S> {
    machines: S,
    keys: Keys,
    /// The last record applied.
    position: Position,
    /// The time of the last record's group.
    time: Timestamp,
    /// Nothing while no entry of a shared log was applied.
    shared: Option<SharedPlace>,
    /// Whose entry is being applied, if that was noted.
    entry_of: Option<Name>,
    /// Nothing where there are not several partitions.
    partition: Option<PartitionFounding>,
    outcome_bytes: Vec<u8>,
}

/// A command with its place in the order: what machines and keys need of a record. Where it came from
/// is not among it.
pub(crate) struct Positioned<'a> {
    pub(crate) position: Position,
    pub(crate) time: Timestamp,
    pub(crate) service: u8,
    pub(crate) principal: &'a Principal,
    pub(crate) key: Option<Key<'a>>,
    pub(crate) payload: &'a [u8],
}

impl<S: Machines> State<S> {
    #[must_use]
    pub fn empty() -> Self {
        Self {
            machines: S::empty(),
            keys: Keys::new(REFUSED_BYTES_MAX),
            position: Position(0),
            time: Timestamp(0),
            shared: None,
            entry_of: None,
            partition: None,
            outcome_bytes: Vec::new(),
        }
    }

    /// The state of machines that came from elsewhere, after a position and an instant. No
    /// idempotency key is remembered.
    #[must_use]
    pub fn of(machines: S, position: Position, time: Timestamp) -> Self {
        Self {
            machines,
            position,
            time,
            ..Self::empty()
        }
    }

    #[must_use]
    pub const fn machines(&self) -> &S {
        &self.machines
    }

    #[must_use]
    pub const fn machines_mut(&mut self) -> &mut S {
        &mut self.machines
    }

    /// The last record applied.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.position
    }

    /// The time of the last record applied.
    #[must_use]
    pub const fn time(&self) -> Timestamp {
        self.time
    }

    /// Its place in a shared log; nothing while no entry of one was applied.
    #[must_use]
    pub const fn shared(&self) -> Option<&SharedPlace> {
        self.shared.as_ref()
    }

    /// Which of several partitions it is; nothing where there are not several.
    #[must_use]
    pub const fn partition(&self) -> Option<&PartitionFounding> {
        self.partition.as_ref()
    }

    /// What is kept under idempotency keys.
    #[must_use]
    pub fn key_figures(&self) -> KeyFigures {
        self.keys.figures()
    }

    /// What is remembered at `now` under idempotency keys of all services, the oldest first.
    pub fn remembered(&self, now: Timestamp) -> impl Iterator<Item = Remembered<'_>> {
        self.keys.remembered(now)
    }

    /// Remembers what was first answered at another place, however much that is. Keys come in the order
    /// of their times.
    pub fn remember(&mut self, known: &Remembered<'_>, effect: Effect) {
        self.keys.put(known, effect);
    }

    /// Whether there is room for another key of a principal in so many bytes. If not: how long it takes
    /// until the oldest key is forgotten, in milliseconds.
    pub(crate) fn admits(
        &self,
        now: Timestamp,
        principal: &Principal,
        key: Key<'_>,
        bytes_max: u64,
    ) -> Result<(), u64> {
        self.keys.admits(now, principal, key, bytes_max)
    }

    /// Whether a principal that may have so many keys may have another. If not: how long it takes, at
    /// least, until one of its own is forgotten, in milliseconds.
    ///
    /// # Errors
    /// It has as many.
    pub fn admits_within(
        &self,
        now: Timestamp,
        principal: &Principal,
        most: u32,
    ) -> Result<(), u64> {
        self.keys.admits_within(now, principal, most)
    }

    /// What was answered first under this key, if it is still remembered at `now`.
    pub(crate) fn first(
        &self,
        now: Timestamp,
        principal: &Principal,
        key: Key<'_>,
    ) -> Option<First<'_>> {
        self.keys.find(now, principal, key)
    }

    /// Whether something was answered under this key that is still remembered at `now`.
    #[must_use]
    pub fn knows(&self, now: Timestamp, principal: &Principal, key: Key<'_>) -> bool {
        self.first(now, principal, key).is_some()
    }

    /// Applies every record of a group that was read from a journal. [`Replay`](crate::Replay) does the
    /// same faster, for many groups.
    ///
    /// # Errors
    /// A record that does not follow the last one, or that no machine of ours has written.
    pub fn replay(&mut self, group: &Group<'_>) -> Result<(), RecordReplayError> {
        for record in group.records() {
            self.apply_ordered(&record, false)?;
        }
        Ok(())
    }

    /// Reads the command of a record; nothing from a record of the engine.
    pub(crate) fn read<'a>(
        record: &Record<'a>,
    ) -> Result<Option<S::RecordCommand<'a>>, RecordReplayError> {
        if record.service == SERVICE_ENGINE {
            return Ok(None);
        }
        let command = S::read_record(record.service, record.payload);
        let unread = |cause| RecordReplayError::unapplied(record, cause);
        command.map(Some).map_err(unread)
    }

    /// Applies a record with the command that was [read](Self::read) from it, and leaves the keys to the
    /// caller. Answers what its command came to; nothing for a record of the engine. The outcome's bytes
    /// [are there](Self::last_outcome) behind it if they are wanted, or if the record has a key.
    pub(crate) fn apply_to_machines(
        &mut self,
        record: &Record<'_>,
        command: Option<&S::RecordCommand<'_>>,
        wants_outcome: bool,
    ) -> Result<Option<Effect>, RecordReplayError> {
        let position = record.position;
        if position != self.position.next() {
            return Err(RecordReplayError::Gap {
                expected: self.position.next(),
                found: position,
            });
        }
        self.outcome_bytes.clear();
        let Some(command) = command else {
            let malformed = |cause| RecordReplayError::Malformed { position, cause };
            if record.payload.first() == Some(&FOUNDED) {
                let founding = read_founding_record(record.payload).map_err(malformed)?;
                self.found(position, record.time, founding);
                return Ok(None);
            }
            let noted = SharedPlace::heed((&mut self.shared, &mut self.entry_of), record);
            noted.map_err(malformed)?;
            self.tick_machines(position, record.time);
            return Ok(None);
        };
        let outcome = (wants_outcome || record.key.is_some()).then_some(&mut self.outcome_bytes);
        let context = Positioned::of(record).context();
        let effect = self.machines.apply_record(&context, command, outcome);
        (self.position, self.time) = (position, record.time);
        if let Some(shared) = &mut self.shared {
            shared.note(record, effect);
            if effect == Effect::Done && S::RIGHTS == Some(record.service) {
                shared.epoch = position;
            }
        }
        Ok(Some(effect))
    }

    /// Applies a record of an entry of a shared log, and remembers its outcome when it has a key.
    pub(crate) fn apply_ordered(
        &mut self,
        record: &Record<'_>,
        wants_outcome: bool,
    ) -> Result<(), RecordReplayError> {
        let command = Self::read(record)?;
        match self.apply_to_machines(record, command.as_ref(), wants_outcome)? {
            Some(effect) => self.note(&Positioned::of(record), effect),
            None => self.settle_late(),
        };
        Ok(())
    }

    /// The bytes of the last outcome that a key is to remember.
    pub(crate) fn last_outcome(&self) -> &[u8] {
        &self.outcome_bytes
    }

    /// Takes the memory of keys away; the state is of no use until it has [one](Self::set_keys).
    pub(crate) fn take_keys(&mut self) -> Keys {
        std::mem::replace(&mut self.keys, Keys::new(REFUSED_BYTES_MAX))
    }

    pub(crate) fn set_keys(&mut self, keys: Keys) {
        self.keys = keys;
    }

    /// Decides one command, and remembers its answer when it has a key. Answers whether something is
    /// promised, too: an answer with a key is, because it must be the same when it is asked for again.
    pub(crate) fn apply<M: Machine>(
        &mut self,
        record: &Positioned<'_>,
        command: &M::Command<'_>,
    ) -> (M::Outcome, bool)
    where
        S: Hosts<M>,
    {
        let machine: &mut M = self.machines.machine_mut();
        let outcome = machine.apply(&record.context(), command);
        let promised = record.key.is_some() || machine.has_promised();
        if record.key.is_some() {
            self.outcome_bytes.clear();
            M::encode_outcome(&outcome, &mut self.outcome_bytes);
        }
        let has_settled = self.note(record, M::effect_of(&outcome));
        (outcome, promised || has_settled)
    }

    /// Takes note of a record that was applied, and remembers its outcome when it has a key. Says
    /// whether it gave a command under a key its final answer.
    fn note(&mut self, record: &Positioned<'_>, effect: Effect) -> bool {
        (self.position, self.time) = (record.position, record.time);
        if let Some(key) = record.key {
            let known = Remembered {
                time: record.time,
                principal: *record.principal,
                key,
                first: First {
                    position: record.position,
                    content: content_of(record.service, record.payload),
                    service: record.service,
                    outcome: &self.outcome_bytes,
                },
                is_late: false,
            };
            self.keys.insert(&known, effect);
        }
        self.settle_late()
    }

    /// Remembers the final answers that the last record gave to commands under keys that waited. Says
    /// whether there are any.
    fn settle_late(&mut self) -> bool {
        if !self.keys.has_pending() {
            return false;
        }
        let Self {
            machines,
            keys,
            position,
            time,
            ..
        } = self;
        let mut has_settled = false;
        machines.each_late_outcome(*position, &mut |of, effect, outcome| {
            has_settled |= keys.settle(*time, of, effect, outcome);
        });
        has_settled
    }

    /// Does what is due at `now`.
    pub(crate) fn tick(&mut self, position: Position, now: Timestamp) {
        self.tick_machines(position, now);
        self.settle_late();
    }

    /// Is one of several partitions from now on.
    pub(crate) fn found(
        &mut self,
        position: Position,
        time: Timestamp,
        founding: PartitionFounding,
    ) {
        self.machines.found_in(&founding);
        self.partition = Some(founding);
        (self.position, self.time) = (position, time);
    }

    /// Begins an entry of a shared log, and does what is due at its time.
    pub(crate) fn enter(
        &mut self,
        (position, time): (Position, Timestamp),
        place: SharedPlace,
        entry_of: Option<Name>,
    ) {
        (self.shared, self.entry_of) = (Some(place), entry_of);
        self.tick(position, time);
    }

    /// Has no place in a shared log any more.
    pub(crate) fn leave(&mut self, position: Position, time: Timestamp) {
        self.shared = None;
        self.tick(position, time);
    }

    fn tick_machines(&mut self, position: Position, now: Timestamp) {
        self.machines.tick(&Context {
            position,
            now,
            principal: &Principal::engine(),
        });
        (self.position, self.time) = (position, now);
    }
}

impl<'a> Positioned<'a> {
    const fn of(record: &'a Record<'a>) -> Self {
        Self {
            position: record.position,
            time: record.time,
            service: record.service,
            principal: &record.principal,
            key: record.key,
            payload: record.payload,
        }
    }

    const fn context(&self) -> Context<'a> {
        Context {
            position: self.position,
            now: self.time,
            principal: self.principal,
        }
    }
}

/// What a retry is told by from another command under the same key: XXH3 of its bytes. The services
/// of a journal share the keys, and what is a command of one may be a command of another.
#[must_use]
pub fn content_of(service: u8, payload: &[u8]) -> u64 {
    xxh3_64_with_seed(payload, u64::from(service - 1))
}

/// Whether a command with these bytes is the one that was answered at first. The hash alone does not tell: whoever may
/// command two services can look for two commands of the same hash.
pub(crate) fn is_same(first: &First<'_>, service: u8, payload: &[u8]) -> bool {
    [service, SERVICE_UNKNOWN].contains(&first.service)
        && first.content == content_of(service, payload)
}
