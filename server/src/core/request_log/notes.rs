//! Notes that the loop makes of requests, from the turn that read them until their answers have left.

use std::{
    borrow::Cow,
    mem,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use turnstile_types::{Position, Principal, Timestamp};

use super::{RequestLine, RequestLogs, TimeParts, TraceParent};
use crate::{
    core::clock,
    counters::DoorName,
    registry::{Registered, SERVICES},
};

/// A request that was decided, and whose answer has not left yet.
#[derive(Debug)]
pub(crate) struct RequestNote {
    line: RequestLine,
    start: RequestStart,
    decided: Instant,
}

/// Where and when a request began.
#[derive(Clone, Copy, Debug)]
struct RequestStart {
    peer: Option<SocketAddr>,
    /// When the turn that read it began.
    arrived: Instant,
    begun: Instant,
}

impl RequestNote {
    /// One that was decided just now. Without a name it is called as counters call it.
    fn of(
        start: RequestStart,
        (door, principal): (DoorName, Option<Principal>),
        decided: Option<DecidedNote>,
        name: Option<Cow<'static, str>>,
        (request_id, trace): (Box<str>, Option<TraceParent>),
    ) -> Self {
        let called = || {
            let (service, word) = decided.map_or(("", "unknown"), |decided| decided.operation);
            Cow::Owned(format!("{service}.{word}"))
        };
        let line = RequestLine {
            at: Timestamp(0),
            door,
            peer: start.peer,
            principal,
            operation: name.unwrap_or_else(called),
            outcome: decided.map_or("ok", |decided| decided.outcome).into(),
            status: None,
            position: decided.and_then(|decided| decided.position),
            bytes: None,
            request_id,
            trace,
            parts: TimeParts::default(),
        };
        Self {
            line,
            start,
            decided: Instant::now(),
        }
    }

    /// What it came to, as far as that is known better now.
    pub(crate) fn decide(&mut self, outcome: Option<&'static str>, position: Option<Position>) {
        if let Some(outcome) = outcome {
            self.line.outcome = outcome.into();
        }
        self.line.position = position.or(self.line.position);
    }

    /// It is answered by so many bytes; by an error, if there is an outcome.
    pub(crate) fn answer(&mut self, outcome: Option<Cow<'static, str>>, bytes: usize) {
        if let Some(outcome) = outcome {
            self.line.outcome = outcome;
        }
        self.line.bytes = u64::try_from(bytes).ok();
    }

    /// The same of one that was decided only now.
    pub(crate) fn answer_late(&mut self, outcome: Option<Cow<'static, str>>, bytes: usize) {
        self.decided = Instant::now();
        self.answer(outcome, bytes);
    }

    fn into_line(mut self, durable: Instant, sent: Instant) -> RequestLine {
        let between = |from: Instant, to: Instant| to.saturating_duration_since(from);
        self.line.at = clock::system().wall;
        self.line.parts = TimeParts {
            queue: between(self.start.arrived, self.start.begun),
            decide: between(self.start.begun, self.decided),
            sync: between(self.decided, durable),
            send: between(durable.max(self.decided), sent),
        };
        self.line
    }
}

/// What the loop knows of the times of a request over HTTP, for the door.
#[derive(Debug)]
pub(crate) struct AskTimes {
    arrived: Instant,
    parts: Mutex<TimeParts>,
}

impl AskTimes {
    pub(crate) fn begin() -> Self {
        Self {
            arrived: Instant::now(),
            parts: Mutex::default(),
        }
    }

    fn parts(&self) -> MutexGuard<'_, TimeParts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The parts of the time until now. What was decided elsewhere, or without the loop, took its time to
    /// be decided.
    pub(crate) fn end(&self) -> TimeParts {
        let total = self.arrived.elapsed();
        let mut parts = *self.parts();
        let rest = total.saturating_sub(parts.total());
        if parts.decide.is_zero() {
            parts.decide = rest;
        } else {
            parts.send = rest;
        }
        parts
    }
}

/// A request of another thread, that its group answers.
#[derive(Debug)]
struct AskNote {
    times: Arc<AskTimes>,
    decided: Instant,
}

/// What a group is to say about its requests when their answers have left.
#[derive(Debug, Default)]
pub(crate) struct OwedNotes {
    requests: Vec<RequestNote>,
    asks: Vec<AskNote>,
    /// Entries of the slow log, and when they were decided.
    slow: Vec<(u64, Instant)>,
}

impl OwedNotes {
    pub(crate) const fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.asks.is_empty() && self.slow.is_empty()
    }

    /// The group is durable: the threads that have asked are answered next.
    pub(crate) fn end_asks(&mut self, durable: Instant) {
        for AskNote { times, decided } in self.asks.drain(..) {
            times.parts().sync += durable.saturating_duration_since(decided);
        }
    }

    /// All answers have left. Says of each entry of the slow log how long it waited for the disk, and until
    /// it was sent.
    pub(crate) fn end(
        &mut self,
        durable: Instant,
        log: &RequestLogs,
        mut end_slow: impl FnMut(u64, (Duration, Duration)),
    ) {
        let sent = Instant::now();
        for (id, decided) in self.slow.drain(..) {
            let sync = durable.saturating_duration_since(decided);
            end_slow(id, (sync, sent.saturating_duration_since(durable)));
        }
        if !self.requests.is_empty() {
            let notes = self.requests.drain(..);
            log.note(notes.map(|note| note.into_line(durable, sent)));
        }
    }
}

/// What came of a command or query, as counters name it.
#[derive(Clone, Copy, Debug)]
struct DecidedNote {
    operation: (&'static str, &'static str),
    outcome: &'static str,
    position: Option<Position>,
}

/// Requests of a client, until they are answered where they were sent to be decided.
#[derive(Debug)]
pub(crate) struct SentNotes {
    door: DoorName,
    principal: Option<Principal>,
    operations: Vec<usize>,
    start: RequestStart,
}

/// The notes of the turn.
#[derive(Debug)]
pub(crate) struct RequestNotes {
    pub(crate) log: Arc<RequestLogs>,
    /// Whether there are to be any, as of the beginning of the turn.
    pub(crate) is_on: bool,
    /// Of the request that is decided now.
    start: RequestStart,
    decided: Option<DecidedNote>,
    turn: OwedNotes,
}

impl RequestNotes {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self {
            log: RequestLogs::off(),
            is_on: false,
            start: RequestStart {
                peer: None,
                arrived: now,
                begun: now,
            },
            decided: None,
            turn: OwedNotes::default(),
        }
    }

    /// What comes from now on came with this turn.
    pub(crate) fn begin_turn(&mut self, now: Instant) {
        self.is_on = self.log.is_on();
        self.start.arrived = now;
    }

    /// What is decided next is of this client.
    pub(crate) fn enter(&mut self, peer: Option<SocketAddr>) {
        self.start.peer = peer;
        self.begin();
    }

    /// The next request is looked at.
    pub(crate) fn begin(&mut self) {
        self.start.begun = Instant::now();
        self.decided = None;
    }

    /// How long it is since the turn began until this.
    pub(crate) fn queued(&self, until: Instant) -> Duration {
        until.saturating_duration_since(self.start.arrived)
    }

    /// A command or query of a service was decided.
    pub(crate) fn decide<M: Registered>(
        &mut self,
        (door, principal): (DoorName, Option<Principal>),
        operation: usize,
        outcome: Option<(usize, Position)>,
    ) {
        let word = |words: &[&'static str], place: usize| words.get(place).copied();
        let service = SERVICES.get(M::PLACE).map_or("", |service| service.name);
        let outcome_word = outcome.and_then(|(place, _)| word(M::OUTCOMES, place));
        self.decided = Some(DecidedNote {
            operation: (service, word(M::OPERATIONS, operation).unwrap_or_default()),
            outcome: outcome_word.unwrap_or("ok"),
            position: outcome.map(|(_, position)| position),
        });
        if !is_noted_when_decided(door) {
            return;
        }
        let note = self.end((door, principal), None, (self.log.next_id(), None));
        self.add(note);
        self.begin();
    }

    /// What will be said of these operations of the client, which somebody else than the loop decides; nothing
    /// where nobody wants to hear it, and at doors that make notes of their own.
    pub(crate) fn send(
        &self,
        (door, principal): (DoorName, Option<Principal>),
        operations: impl Iterator<Item = usize>,
    ) -> Option<Box<SentNotes>> {
        (self.is_on && is_noted_when_decided(door)).then(|| {
            Box::new(SentNotes {
                door,
                principal,
                operations: operations.collect(),
                start: self.start,
            })
        })
    }

    /// Requests that were sent came to this, in their order.
    pub(crate) fn land<M: Registered>(
        &mut self,
        sent: &SentNotes,
        outcomes: impl Iterator<Item = (&'static str, Option<Position>)>,
    ) {
        for (&operation, (outcome, position)) in sent.operations.iter().zip(outcomes) {
            let word = M::OPERATIONS.get(operation).copied().unwrap_or_default();
            let decided = DecidedNote {
                operation: (M::NAME, word),
                outcome,
                position,
            };
            let client = (sent.door, sent.principal);
            let ids = (self.log.next_id(), None);
            let note = RequestNote::of(sent.start, client, Some(decided), None, ids);
            self.add(note);
        }
    }

    /// A note of the request that was begun last. Without a name it is called as counters call it.
    pub(crate) fn end(
        &mut self,
        client: (DoorName, Option<Principal>),
        name: Option<Cow<'static, str>>,
        ids: (Box<str>, Option<TraceParent>),
    ) -> RequestNote {
        RequestNote::of(self.start, client, self.decided.take(), name, ids)
    }

    /// Keeps a note until the answers of its group have left.
    pub(crate) fn add(&mut self, note: RequestNote) {
        self.turn.requests.push(note);
    }

    /// Says at once what is known of a request whose answer needs no group.
    pub(crate) fn tell(&self, note: RequestNote) {
        let now = Instant::now();
        self.log.note([note.into_line(now, now)].into_iter());
    }

    /// A request of another thread was decided, or sent to where that is done.
    pub(crate) fn add_ask(&mut self, times: Arc<AskTimes>, is_decided: bool) {
        let decided = Instant::now();
        {
            let mut parts = times.parts();
            if parts.total().is_zero() {
                parts.queue = self.start.begun.saturating_duration_since(times.arrived);
            }
            if is_decided {
                parts.decide += decided.saturating_duration_since(self.start.begun);
            }
        }
        if is_decided {
            self.turn.asks.push(AskNote { times, decided });
        }
    }

    /// The entry of the slow log with this number is answered with its group.
    pub(crate) fn add_slow(&mut self, id: u64) {
        self.turn.slow.push((id, Instant::now()));
    }

    /// Hands what was noted in this turn to the group that answers it.
    pub(crate) fn hand_over(&mut self, to: &mut OwedNotes) {
        if self.turn.is_empty() {
            return;
        }
        let OwedNotes {
            requests,
            asks,
            slow,
        } = mem::take(&mut self.turn);
        to.requests.extend(requests);
        to.asks.extend(asks);
        to.slow.extend(slow);
    }
}

/// Whether each command and query at a door is a request. RESP and HTTP note their requests themselves, and
/// between processes of travel there are none.
const fn is_noted_when_decided(door: DoorName) -> bool {
    !matches!(door, DoorName::Resp | DoorName::Http | DoorName::Desk)
}
