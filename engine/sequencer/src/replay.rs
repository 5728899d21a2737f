//! Replays a whole journal: machines on the calling thread, keys on a second one.

use std::{
    io,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

use turnstile_record::{Group, Record};
use turnstile_types::{Effect, Key, Machines, Position, Principal, Reader, Timestamp};

use crate::{
    RecordReplayError, State,
    keys::Keys,
    remembered::{First, Remembered},
    state::content_of,
};

/// Notes that go to the second thread together: enough that waking it costs nothing.
const BATCH_NOTES: usize = 1_024;

/// Batches that may wait for the second thread. Beyond it the first one waits.
const BATCHES_MAX: usize = 8;

/// Records whose commands are read together. What they will ask of memory is prefetched meanwhile: enough for
/// a chain of cache lines to arrive one after the other, as for commands that wait in a server.
const RECORDS_AHEAD: usize = 16;

/// A state that replays many groups, and remembers their keys on a thread of its own.
///
/// Machines never look at the memory of keys, and the memory of keys needs of the machines only
/// their answers. Both wait for memory at nearly every record, so that two threads are almost twice
/// as fast as one. What comes out is what [`State::replay`] gives: one thread takes the notes, in the
/// order of the records. A replay that is dropped takes its state with it.
#[derive(Debug)]
pub struct Replay<S> {
    state: State<S>,
    batch: NoteBatch,
    batches: SyncSender<NoteBatch>,
    keys: thread::JoinHandle<Keys>,
    /// Whether a command under a key may wait for its final answer.
    may_wait: bool,
}

/// What keys are to remember, with the text of keys and answers one behind the other.
#[derive(Debug, Default)]
struct NoteBatch {
    notes: Vec<Note>,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Note {
    time: Timestamp,
    position: Position,
    effect: Effect,
    outcome_bytes: usize,
    /// Nothing for the final answer to a command that waited.
    asked: Option<Asked>,
}

#[derive(Debug)]
struct Asked {
    principal: Principal,
    key_bytes: usize,
    content: u64,
    service: u8,
}

impl<S: Machines> Replay<S> {
    /// Begins a replay after the state's last record.
    ///
    /// # Errors
    /// The second thread does not start.
    pub fn begin(mut state: State<S>) -> io::Result<Self> {
        let keys = state.take_keys();
        let may_wait = keys.has_pending();
        let (batches, taken) = sync_channel(BATCHES_MAX);
        let keys = thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || remember(keys, &taken))?;
        Ok(Self {
            state,
            batch: NoteBatch::default(),
            batches,
            keys,
            may_wait,
        })
    }

    /// Applies every record of a group that was read from a journal.
    ///
    /// # Errors
    /// As [`State::replay`].
    pub fn replay(&mut self, group: &Group<'_>) -> Result<(), RecordReplayError> {
        let mut coming = group.records();
        let mut ahead = Vec::with_capacity(coming.size_hint().0.min(RECORDS_AHEAD));
        loop {
            for record in coming.by_ref().take(RECORDS_AHEAD) {
                let command = State::<S>::read(&record)?;
                if let Some(command) = &command {
                    self.state.machines().prefetch_record(command);
                }
                ahead.push((record, command));
            }
            if ahead.is_empty() {
                return Ok(());
            }
            for (record, command) in &ahead {
                let applied = self
                    .state
                    .apply_to_machines(record, command.as_ref(), false);
                self.note(record, applied?);
                if self.batch.notes.len() >= BATCH_NOTES {
                    self.send();
                }
            }
            ahead.clear();
        }
    }

    fn note(&mut self, record: &Record<'_>, effect: Option<Effect>) {
        let Self { state, batch, .. } = self;
        if let Some((effect, key)) = effect.zip(record.key) {
            self.may_wait |= effect == Effect::Pending;
            let asked = Asked {
                principal: record.principal,
                key_bytes: key.as_str().len(),
                content: content_of(record.service, record.payload),
                service: record.service,
            };
            batch.bytes.extend_from_slice(key.as_str().as_bytes());
            let place = (record.time, record.position);
            batch.put(place, effect, state.last_outcome(), Some(asked));
        }
        if self.may_wait {
            let position = record.position;
            let machines = state.machines();
            machines.each_late_outcome(position, &mut |of, effect, outcome| {
                batch.put((record.time, of), effect, outcome, None);
            });
        }
    }

    fn send(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        let sent = self.batches.send(batch);
        sent.expect("the second thread takes batches until there are no more");
    }

    #[must_use]
    pub const fn state(&self) -> &State<S> {
        &self.state
    }

    #[must_use]
    pub const fn machines_mut(&mut self) -> &mut S {
        self.state.machines_mut()
    }

    /// The state after the last group, with all keys.
    ///
    /// # Panics
    /// When the second thread did.
    #[must_use]
    pub fn finish(mut self) -> State<S> {
        self.send();
        let Self {
            mut state,
            batches,
            keys,
            ..
        } = self;
        drop(batches);
        state.set_keys(keys.join().expect("keys are remembered without a panic"));
        state
    }
}

impl NoteBatch {
    fn put(
        &mut self,
        (time, position): (Timestamp, Position),
        effect: Effect,
        outcome: &[u8],
        asked: Option<Asked>,
    ) {
        self.bytes.extend_from_slice(outcome);
        self.notes.push(Note {
            time,
            position,
            effect,
            outcome_bytes: outcome.len(),
            asked,
        });
    }
}

/// The second thread: remembers what comes, until no more can come.
fn remember(mut keys: Keys, batches: &Receiver<NoteBatch>) -> Keys {
    for NoteBatch { notes, bytes } in batches {
        let mut bytes = Reader::new(&bytes);
        let mut take = |length| bytes.take(length, "note").expect("a note has its text");
        for note in &notes {
            let key = note.asked.as_ref().map(|asked| take(asked.key_bytes));
            let outcome = take(note.outcome_bytes);
            note.put(&mut keys, key, outcome);
        }
    }
    keys
}

impl Note {
    fn put(&self, keys: &mut Keys, key: Option<&[u8]>, outcome: &[u8]) {
        let Some((asked, key)) = self.asked.as_ref().zip(key) else {
            keys.settle(self.time, self.position, self.effect, outcome);
            return;
        };
        let known = Remembered {
            time: self.time,
            principal: asked.principal,
            key: Key::parse(key).expect("it was a record's key"),
            first: First {
                position: self.position,
                content: asked.content,
                service: asked.service,
                outcome,
            },
            is_late: false,
        };
        keys.insert(&known, self.effect);
    }
}
