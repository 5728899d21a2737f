//! The trait `Machine`: the boundary between pure decisions and everything else.

use std::fmt;

use xxhash_rust::xxh3::Xxh3;

use crate::{Malformed, PartitionFounding, Position, Principal, Reader, Timestamp};

/// What a machine may know of the world when it decides: nothing else enters.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The position of the record that is being applied.
    pub position: Position,
    /// The logged time of the record's group. It never goes back.
    pub now: Timestamp,
    pub principal: &'a Principal,
}

/// What a command came to, for whoever remembers its answer under an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It was done. Decided again, it would be done twice.
    Done,
    /// It was refused, and has changed nothing.
    Refused,
    /// It waits, or nobody knows yet: its final answer comes with a later record, under the position of
    /// the command.
    Pending,
}

/// A deterministic state machine that decides one service.
///
/// Contract. The same sequence of calls to [`apply`](Self::apply) and [`tick`](Self::tick) MUST
/// give the same outcomes, the same events and the same [`snapshot`](Self::snapshot), on every
/// machine and in every version: no clock, no randomness, no iteration in hash order, no floats.
/// `apply` MUST NOT fail: what the business refuses is an outcome. A refusal MUST leave the state
/// as it was. `query` MUST NOT change anything.
pub trait Machine: Sized + fmt::Debug {
    /// One whole request that may change the state. It borrows from the bytes it was read from.
    type Command<'a>: fmt::Debug;
    /// What is answered to a command: done or refused.
    type Outcome: Clone + fmt::Debug + PartialEq;
    /// One whole request that only reads.
    type Query: fmt::Debug;
    /// What is answered to a query.
    type Answer: fmt::Debug;
    /// Something that happened, for those who follow the service.
    type Event: Clone + fmt::Debug + PartialEq;

    /// The service's number in records; see `docs/formats/record.md`. Never reused.
    const SERVICE: u8;

    /// A machine to which nothing has happened yet.
    fn empty() -> Self;

    /// Belongs to one of several partitions from now on, so that references made here say which. Called on
    /// an empty machine, and on one that was restored: it is not part of its snapshot.
    fn found_in(&mut self, _founding: &PartitionFounding) {}

    /// Decides one command.
    fn apply(&mut self, context: &Context<'_>, command: &Self::Command<'_>) -> Self::Outcome;

    /// Whether the last [`apply`](Self::apply) must be durable before anything is told of it, or of
    /// what came after it: it has promised something, or its effects may be seen by whoever asks.
    /// What has promised nothing is about work that a crash would undo anyway; it may be told at once,
    /// and a crash may take it back.
    fn has_promised(&self) -> bool {
        true
    }

    /// What a command came to that was answered so.
    fn effect_of(outcome: &Self::Outcome) -> Effect;

    /// The answers that the last record, at `position`, has given to commands that had to wait, by the
    /// positions of these commands. It is asked before the record's events are taken.
    fn late_outcomes(&self, _position: Position, _take: &mut dyn FnMut(Position, &Self::Outcome)) {}

    /// Starts to load what [`apply`](Self::apply) will touch, when many commands wait. A hint: it
    /// changes nothing that can be observed.
    fn prefetch(&self, command: &Self::Command<'_>) {
        let _: &Self::Command<'_> = command;
    }

    /// The earliest instant at which [`tick`](Self::tick) has something to do.
    fn next_deadline(&self) -> Option<Timestamp>;

    /// Does everything that is due at `context.now`.
    fn tick(&mut self, context: &Context<'_>);

    /// Answers a query from the state as it is, at the instant `now`.
    fn query(&self, now: Timestamp, principal: &Principal, query: &Self::Query) -> Self::Answer;

    /// Hands over the events since the last call, oldest first.
    fn drain_events(&mut self, take: &mut dyn FnMut(Self::Event));

    /// The same, behind what stands in `events`: without a look at each where that is less.
    fn move_events(&mut self, events: &mut Vec<Self::Event>) {
        self.drain_events(&mut |event| events.push(event));
    }

    /// Appends the command's stable bytes.
    fn encode_command(command: &Self::Command<'_>, out: &mut Vec<u8>);

    /// Reads what [`encode_command`](Self::encode_command) wrote.
    ///
    /// # Errors
    /// The bytes are no command of this machine.
    fn decode_command(bytes: &[u8]) -> Result<Self::Command<'_>, Malformed>;

    /// Appends the outcome's stable bytes; they are kept with the idempotency key.
    fn encode_outcome(outcome: &Self::Outcome, out: &mut Vec<u8>);

    /// Reads what [`encode_outcome`](Self::encode_outcome) wrote.
    ///
    /// # Errors
    /// The bytes are no outcome of this machine.
    fn decode_outcome(bytes: &[u8]) -> Result<Self::Outcome, Malformed>;

    /// Writes the whole state in its one canonical form: equal states give equal bytes.
    fn snapshot(&self, out: &mut dyn Sink);

    /// Reads what [`snapshot`](Self::snapshot) wrote, and nothing beyond it.
    ///
    /// # Errors
    /// The bytes are no snapshot of this machine.
    fn restore_from(reader: &mut Reader<'_>) -> Result<Self, Malformed>;

    /// Reads a snapshot that fills the bytes.
    ///
    /// # Errors
    /// The bytes are no snapshot of this machine, or more than one.
    fn restore(bytes: &[u8]) -> Result<Self, Malformed> {
        restore_whole(Reader::new(bytes))
    }

    /// Where an event stands: the position of its record, and its number among that record's
    /// events.
    fn place_of(event: &Self::Event) -> (Position, u32);

    /// Checks the business invariants over the whole state, for `verify` and tests.
    ///
    /// # Errors
    /// A sentence for each violation.
    fn check(&self) -> Result<(), Vec<String>>;
}

/// The machines behind one journal: one of them, or several that never see each other.
///
/// Contract: as [`Machine`], record by record. A tick is for all of them.
pub trait Machines: Sized + fmt::Debug {
    /// The service whose commands say who may do what, where there is one: what was admitted before one
    /// of them was decided may be forbidden behind it.
    const RIGHTS: Option<u8> = None;

    /// A command of any of them. It borrows from the record it was read from.
    type RecordCommand<'a>;

    fn empty() -> Self;

    /// As [`Machine::found_in`], for all of them.
    fn found_in(&mut self, _founding: &PartitionFounding) {}

    /// Reads the command of a record of `service`.
    ///
    /// # Errors
    /// No machine here has this service, or the bytes are no command of it.
    fn read_record(service: u8, payload: &[u8]) -> Result<Self::RecordCommand<'_>, Unapplied>;

    /// As [`Machine::prefetch`], of its machine.
    fn prefetch_record(&self, command: &Self::RecordCommand<'_>) {
        let _: &Self::RecordCommand<'_> = command;
    }

    /// Applies a record's command to its machine, and appends its outcome's bytes to `outcome` where
    /// there is one to write to. Answers what it came to.
    fn apply_record(
        &mut self,
        context: &Context<'_>,
        command: &Self::RecordCommand<'_>,
        outcome: Option<&mut Vec<u8>>,
    ) -> Effect;

    /// What a command of `service` came to, by the bytes of its outcome.
    ///
    /// # Errors
    /// No machine here has this service, or the bytes are no outcome of it.
    fn effect_of_outcome(service: u8, outcome: &[u8]) -> Result<Effect, Unapplied>;

    /// As [`Machine::late_outcomes`], of all of them: the positions of the commands, what these came
    /// to, and the bytes of the answers.
    fn each_late_outcome(&self, position: Position, take: &mut dyn FnMut(Position, Effect, &[u8]));

    /// The earliest deadline of any.
    fn next_deadline(&self) -> Option<Timestamp>;

    /// Does everything that is due at `context.now`, machine by machine.
    fn tick(&mut self, context: &Context<'_>);

    /// Drops the events that nobody has taken.
    fn forget_events(&mut self);

    /// Writes the whole state in its one canonical form.
    fn snapshot(&self, out: &mut dyn Sink);

    /// Reads what [`snapshot`](Self::snapshot) wrote, to the end.
    ///
    /// # Errors
    /// The bytes are no snapshot of these machines, or more than one.
    fn restore(reader: Reader<'_>) -> Result<Self, Malformed>;

    /// Checks the business invariants of all.
    ///
    /// # Errors
    /// A sentence for each violation.
    fn check(&self) -> Result<(), Vec<String>>;
}

/// Machines of which one is `M`.
pub trait Hosts<M: Machine>: Machines {
    fn machine(&self) -> &M;

    fn machine_mut(&mut self) -> &mut M;
}

/// Why a record was not applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unapplied {
    /// No machine here has this number.
    UnknownService,
    Malformed(Malformed),
}

/// Reads a record's command of a machine; see [`Machines::read_record`].
///
/// # Errors
/// The bytes are no command of the machine.
pub fn read_payload<M: Machine>(payload: &[u8]) -> Result<M::Command<'_>, Unapplied> {
    M::decode_command(payload).map_err(Unapplied::Malformed)
}

/// Applies a record's command to its machine; see [`Machines::apply_record`].
pub fn apply_command<M: Machine>(
    machine: &mut M,
    context: &Context<'_>,
    command: &M::Command<'_>,
    outcome: Option<&mut Vec<u8>>,
) -> Effect {
    let decided = machine.apply(context, command);
    if let Some(outcome) = outcome {
        M::encode_outcome(&decided, outcome);
    }
    M::effect_of(&decided)
}

/// What a command of a machine came to, by the bytes of its outcome; see
/// [`Machines::effect_of_outcome`].
///
/// # Errors
/// The bytes are no outcome of the machine.
pub fn effect_of_bytes<M: Machine>(outcome: &[u8]) -> Result<Effect, Unapplied> {
    let outcome = M::decode_outcome(outcome).map_err(Unapplied::Malformed)?;
    Ok(M::effect_of(&outcome))
}

/// Tells the late answers of a machine as bytes; see [`Machines::each_late_outcome`].
pub fn tell_late_outcomes<M: Machine>(
    machine: &M,
    position: Position,
    take: &mut dyn FnMut(Position, Effect, &[u8]),
) {
    let mut bytes = Vec::new();
    machine.late_outcomes(position, &mut |of, outcome| {
        bytes.clear();
        M::encode_outcome(outcome, &mut bytes);
        take(of, M::effect_of(outcome), &bytes);
    });
}

impl<M: Machine> Machines for M {
    type RecordCommand<'a> = M::Command<'a>;

    fn empty() -> Self {
        <M as Machine>::empty()
    }

    fn found_in(&mut self, founding: &PartitionFounding) {
        <M as Machine>::found_in(self, founding);
    }

    fn read_record(service: u8, payload: &[u8]) -> Result<M::Command<'_>, Unapplied> {
        if service != M::SERVICE {
            return Err(Unapplied::UnknownService);
        }
        read_payload::<M>(payload)
    }

    fn prefetch_record(&self, command: &M::Command<'_>) {
        self.prefetch(command);
    }

    fn apply_record(
        &mut self,
        context: &Context<'_>,
        command: &M::Command<'_>,
        outcome: Option<&mut Vec<u8>>,
    ) -> Effect {
        apply_command(self, context, command, outcome)
    }

    fn effect_of_outcome(service: u8, outcome: &[u8]) -> Result<Effect, Unapplied> {
        if service != M::SERVICE {
            return Err(Unapplied::UnknownService);
        }
        effect_of_bytes::<M>(outcome)
    }

    fn each_late_outcome(&self, position: Position, take: &mut dyn FnMut(Position, Effect, &[u8])) {
        tell_late_outcomes(self, position, take);
    }

    fn next_deadline(&self) -> Option<Timestamp> {
        <M as Machine>::next_deadline(self)
    }

    fn tick(&mut self, context: &Context<'_>) {
        <M as Machine>::tick(self, context);
    }

    fn forget_events(&mut self) {
        self.drain_events(&mut drop);
    }

    fn snapshot(&self, out: &mut dyn Sink) {
        <M as Machine>::snapshot(self, out);
    }

    fn restore(reader: Reader<'_>) -> Result<Self, Malformed> {
        restore_whole(reader)
    }

    fn check(&self) -> Result<(), Vec<String>> {
        <M as Machine>::check(self)
    }
}

fn restore_whole<M: Machine>(mut reader: Reader<'_>) -> Result<M, Malformed> {
    let machine = M::restore_from(&mut reader)?;
    reader.finish("end of the snapshot")?;
    Ok(machine)
}

impl<M: Machine> Hosts<M> for M {
    fn machine(&self) -> &M {
        self
    }

    fn machine_mut(&mut self) -> &mut M {
        self
    }
}

/// Where a snapshot goes, piece by piece.
pub trait Sink {
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

struct Hasher(Xxh3);

impl Sink for Hasher {
    fn put(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

/// The hash of the whole state of one machine or several: XXH3-128 of their snapshot.
#[must_use]
pub fn hash_of<M: Machines>(machines: &M) -> u128 {
    let mut hasher = Hasher(Xxh3::new());
    machines.snapshot(&mut hasher);
    hasher.0.digest128()
}
