//! Replays operations in the order of their positions, as soon as nothing can come before them.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::Receiver,
    },
    thread,
    time::Duration,
};

use turnstile_stats::units::Count;

use crate::{
    Charge,
    horizon::{Horizon, Known, Record, Seen},
};

/// How often it looks for records.
const PAUSE: Duration = Duration::from_millis(2);

/// How many records may wait for one that has not been answered. A server that lets one client wait
/// while it serves so many requests of others cannot be checked.
const HELD_MAX: usize = 1 << 20;

/// A service in its plainest form, which knows how each operation must have been answered.
pub trait Model {
    /// An operation with its answer.
    type Operation: fmt::Debug;

    /// So many places has each position of the server, where one record may decide several operations:
    /// what is called a position here is that of the server times this, and the place within. Place 0
    /// is what the record itself asked for.
    const PLACES: u64 = 1;

    /// Carries out an operation; an answer that it cannot have had is told in a sentence.
    ///
    /// # Errors
    /// The answer contradicts what was replayed.
    fn apply(&mut self, position: u64, operation: &Self::Operation) -> Result<(), String>;

    /// Whether what a reading saw is true now.
    fn agrees(&self, reading: &Self::Operation) -> bool;

    /// What is true now where a reading looked, in words.
    fn shown(&self, reading: &Self::Operation) -> String;

    /// Takes note of an operation of which nobody knows whether it is carried out, now or later.
    fn suspect(&mut self, operation: &Self::Operation);
}

/// What was checked, and what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Operations that were replayed at their positions.
    pub replayed: u64,
    /// Readings that were held against the states between question and answer.
    pub readings: u64,
    /// Operations whose answer never came.
    pub unknown: u64,
    /// The most records that waited for others at a time.
    pub held_max: usize,
    /// Whether more records waited than may: nothing is proven then.
    pub overflowed: bool,
    /// Positions out of order, or given twice.
    pub order: Charge,
    /// Answers that the replay does not give.
    pub answers: Charge,
    /// Readings of what was never there in their time.
    pub seen: Charge,
}

/// Replays a history while it is made.
///
/// It owns the model. Records come in any order and are kept in a heap until the horizon has passed
/// them. A reading has no position: it is held against the state at its floor, and when that does not
/// agree, against each later one, up to the first operation that was asked after its answer.
#[derive(Debug)]
pub struct Checker<M: Model> {
    model: M,
    horizon: Arc<Horizon>,
    records: Receiver<Record<M::Operation>>,
    held: BinaryHeap<Reverse<Held<M::Operation>>>,
    /// Readings that have not agreed yet.
    doubtful: Vec<Doubt<M::Operation>>,
    last: Option<Place>,
    findings: Findings,
}

/// A position, who had it, and when.
#[derive(Clone, Copy, Debug)]
struct Place {
    told: Told,
    user: u32,
    asked: u64,
    done: u64,
}

/// A position as the server tells it, and the place within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Told {
    position: u64,
    within: u64,
}

/// A record by its place in the replay: a reading comes behind all that stands at its floor.
#[derive(Debug)]
struct Held<O> {
    key: (u64, bool),
    record: Record<O>,
}

#[derive(Debug)]
struct Doubt<O> {
    reading: Record<O>,
    /// The last position that may make it true, once that is known.
    until: Option<u64>,
    /// Whether something was replayed that was asked after it was answered.
    is_over: bool,
}

impl<O> PartialEq for Held<O> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<O> Eq for Held<O> {}

impl<O> PartialOrd for Held<O> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<O> Ord for Held<O> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl<M: Model> Checker<M> {
    #[must_use]
    pub fn new(model: M, horizon: Arc<Horizon>, records: Receiver<Record<M::Operation>>) -> Self {
        Self {
            model,
            horizon,
            records,
            held: BinaryHeap::new(),
            doubtful: Vec::new(),
            last: None,
            findings: Findings::default(),
        }
    }

    /// Checks until the load is over, then the rest; the model as the replay leaves it, and what was
    /// found.
    pub fn run(mut self, over: &AtomicBool) -> (M, Findings) {
        while !over.load(Ordering::SeqCst) {
            self.advance();
            thread::park_timeout(PAUSE);
        }
        self.finish()
    }

    /// Replays what nothing can come before any more.
    pub fn advance(&mut self) {
        let known = self.horizon.known();
        self.fetch();
        self.replay(known);
    }

    /// Replays the rest: nobody asks any more.
    #[must_use]
    pub fn finish(mut self) -> (M, Findings) {
        self.fetch();
        self.replay(Known {
            position: u64::MAX,
            instant: u64::MAX,
        });
        (self.model, self.findings)
    }

    fn fetch(&mut self) {
        while let Ok(record) = self.records.try_recv() {
            let key = match record.seen {
                Seen::At(position) => (position, false),
                Seen::Reading | Seen::Unknown => (record.asked.floor, true),
            };
            self.held.push(Reverse(Held { key, record }));
            if self.held.len() > HELD_MAX {
                self.findings.overflowed = true;
            }
            if self.findings.overflowed {
                self.held.clear();
            }
        }
        self.findings.held_max = self.findings.held_max.max(self.held.len());
    }

    fn replay(&mut self, known: Known) {
        self.limit_doubts(known.instant);
        while let Some(Reverse(held)) = self.held.peek()
            && held.key.0 <= known.position
        {
            let Some(Reverse(held)) = self.held.pop() else {
                return;
            };
            match held.record.seen {
                Seen::At(position) => self.apply(position, &held.record),
                Seen::Reading => self.hold_against(held.record),
                Seen::Unknown => {
                    self.findings.unknown += 1;
                    self.model.suspect(&held.record.operation);
                    self.clear_doubts(held.record.asked.at, false);
                }
            }
        }
        self.judge_doubts(known.position);
    }

    /// Whatever was asked before a reading was answered has been handed over, once nobody waits for
    /// an answer since then: nothing above that can make it true.
    fn limit_doubts(&mut self, known: u64) {
        if self.doubtful.is_empty() {
            return;
        }
        let highest = self.held.iter().map(|Reverse(held)| held.key.0).max();
        let highest = highest.unwrap_or(0);
        for doubt in &mut self.doubtful {
            if doubt.reading.done <= known {
                doubt.until.get_or_insert(highest);
            }
        }
    }

    fn apply(&mut self, position: u64, record: &Record<M::Operation>) {
        self.findings.replayed += 1;
        let place = Place {
            told: Told::of::<M>(position),
            user: record.user,
            asked: record.asked.at,
            done: record.done,
        };
        if let Some(last) = self.last
            && place.told == last.told
        {
            let order = &mut self.findings.order;
            order.add(|| format!("{place} and {last} have the same position"));
        }
        if position <= record.asked.floor {
            let floor = Told::of::<M>(record.asked.floor);
            self.findings.order.add(|| {
                format!(
                    "{place}, {:?}, was asked when {floor} had been answered",
                    record.operation
                )
            });
        }
        if let Err(sentence) = self.model.apply(position, &record.operation) {
            self.findings.answers.add(|| format!("{place}: {sentence}"));
        }
        self.last = Some(place);
        self.clear_doubts(record.asked.at, true);
    }

    /// An operation that was asked then has changed the state: readings that were answered later may
    /// have seen that. Those answered before come before it, and see nothing of what follows, if its
    /// position is known.
    fn clear_doubts(&mut self, asked: u64, has_position: bool) {
        let model = &self.model;
        self.doubtful.retain_mut(|doubt| {
            let in_time = asked <= doubt.reading.done;
            doubt.is_over |= has_position && !in_time;
            doubt.is_over || !(in_time && model.agrees(&doubt.reading.operation))
        });
    }

    fn hold_against(&mut self, reading: Record<M::Operation>) {
        self.findings.readings += 1;
        if !self.model.agrees(&reading.operation) {
            self.doubtful.push(Doubt {
                reading,
                until: None,
                is_over: false,
            });
        }
    }

    /// Readings that nothing can make true any more are false.
    fn judge_doubts(&mut self, known: u64) {
        let (model, seen) = (&self.model, &mut self.findings.seen);
        self.doubtful.retain(|doubt| {
            let late = doubt.is_over
                || known == u64::MAX
                || doubt.until.is_some_and(|until| until <= known);
            if late {
                let reading = &doubt.reading;
                seen.add(|| {
                    format!(
                        "user {} from {} to {} saw {:?}, which was not true at any instant of \
                         that; later {}",
                        reading.user,
                        Instant(reading.asked.at),
                        Instant(reading.done),
                        reading.operation,
                        model.shown(&reading.operation)
                    )
                });
            }
            !late
        });
    }
}

/// Nanoseconds since the beginning, told in seconds to the microsecond.
struct Instant(u64);

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0 / 1_000;
        write!(f, "{}.{:06} s", micros / 1_000_000, micros % 1_000_000)
    }
}

impl Told {
    const fn of<M: Model>(position: u64) -> Self {
        Self {
            position: position / M::PLACES,
            within: position % M::PLACES,
        }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "position {}", self.position)?;
        if self.within > 0 {
            write!(f, " (place {} within)", self.within)?;
        }
        Ok(())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} (user {}, asked at {}, answered at {})",
            self.told,
            self.user,
            Instant(self.asked),
            Instant(self.done)
        )
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} operations replayed, {} readings held against them, {} unknown",
            Count(self.replayed),
            Count(self.readings),
            Count(self.unknown)
        )
    }
}
