//! Replays what was told in the order of the positions, as soon as nothing can come before it.

use std::{cmp::Reverse, collections::BinaryHeap, fmt};

use turnstile_stats::units::Count;

use crate::{
    Charge, Model,
    compact::Compact,
    doubts::Doubts,
    horizon::{KnownUpTo, Record, Seen},
};

/// How many records may wait for one that has not been answered. A server that lets one client wait
/// while it serves so many requests of others cannot be checked.
const HELD_MAX: usize = 1 << 20;

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

/// Bytes that nobody told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GarbledRecord;

/// The state of a replay.
///
/// It owns the model. Records come in any order and are kept until the horizon has passed them. A
/// reading has no position: it is held against the state at its floor, and when that does not agree,
/// against each later one, up to the first operation that was asked after its answer.
#[derive(Debug)]
pub(crate) struct HistoryReplay<M: Model> {
    model: M,
    held: HeldRecords<M::Operation>,
    doubts: Doubts<M::Operation>,
    last: Option<ReplayedAt>,
    findings: Findings,
}

/// Records that wait. What is put in order is small; the records stay where they are.
#[derive(Debug)]
struct HeldRecords<O> {
    /// By their places in the replay: what has no position comes behind all that stands at its floor, in
    /// the order in which it was asked. One may follow from the other's answer.
    order: BinaryHeap<Reverse<(u64, bool, u64, u32)>>,
    records: Vec<Option<Record<O>>>,
    /// Which of them are nothing.
    free: Vec<u32>,
    /// The highest place that any has had.
    highest: u64,
}

/// A position, who had it, and when.
#[derive(Clone, Copy, Debug)]
struct ReplayedAt {
    told: ToldPosition,
    user: u32,
    asked: u64,
    done: u64,
}

/// A position as the server tells it, and the place within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ToldPosition {
    position: u64,
    within: u64,
}

impl<O> HeldRecords<O> {
    const fn new() -> Self {
        Self {
            order: BinaryHeap::new(),
            records: Vec::new(),
            free: Vec::new(),
            highest: 0,
        }
    }

    fn len(&self) -> usize {
        self.order.len()
    }

    fn push(&mut self, record: Record<O>) {
        let (place, is_behind) = match record.seen {
            Seen::At(position) => (position, false),
            Seen::Reading | Seen::Unknown => (record.asked.floor, true),
        };
        self.highest = self.highest.max(place);
        let number = self.free.pop().unwrap_or_else(|| {
            self.records.push(None);
            u32::try_from(self.records.len() - 1).expect("a million are held at most")
        });
        let asked = record.asked.at;
        self.records[number as usize] = Some(record);
        self.order.push(Reverse((place, is_behind, asked, number)));
    }

    /// The next that stands at or below this position.
    fn pop(&mut self, position: u64) -> Option<Record<O>> {
        let Reverse((place, _, _, number)) = *self.order.peek()?;
        if place > position {
            return None;
        }
        self.order.pop();
        self.free.push(number);
        self.records[number as usize].take()
    }

    fn clear(&mut self) {
        *self = Self::new();
    }
}

impl<M: Model> HistoryReplay<M> {
    pub(crate) fn new(model: M) -> Self {
        Self {
            model,
            held: HeldRecords::new(),
            doubts: Doubts::default(),
            last: None,
            findings: Findings::default(),
        }
    }

    /// Takes a piece of what was told.
    ///
    /// # Errors
    /// It is not whole, or nobody told it.
    pub(crate) fn take(&mut self, mut piece: &[u8]) -> Result<(), GarbledRecord> {
        while !piece.is_empty() {
            let record = Record::take(&mut piece).ok_or(GarbledRecord)?;
            if self.findings.overflowed {
                continue;
            }
            self.held.push(record);
            if self.held.len() > HELD_MAX {
                self.findings.overflowed = true;
                self.held.clear();
            }
        }
        self.findings.held_max = self.findings.held_max.max(self.held.len());
        Ok(())
    }

    /// Replays what nothing can come before any more.
    pub(crate) fn advance(&mut self, known: KnownUpTo) {
        self.doubts.limit(known.instant, self.held.highest);
        while let Some(record) = self.held.pop(known.position) {
            match record.seen {
                Seen::At(position) => self.apply(position, &record),
                Seen::Reading => self.hold_against(record),
                Seen::Unknown => {
                    self.findings.unknown += 1;
                    self.model.suspect(&record.operation);
                    let anywhere = (false, None);
                    self.doubts.clear(&self.model, record.asked.at, anywhere);
                }
            }
        }
        let (model, seen) = (&self.model, &mut self.findings.seen);
        self.doubts.judge(known.position, |reading| {
            seen.add(|| {
                format!(
                    "user {} from {} to {} saw {:?}, which was not true at any instant of that; \
                     later {}",
                    reading.user,
                    Instant(reading.asked.at),
                    Instant(reading.done),
                    reading.operation,
                    model.shown(&reading.operation)
                )
            });
        });
    }

    /// What was found so far.
    pub(crate) const fn findings(&self) -> &Findings {
        &self.findings
    }

    /// The model as the replay leaves it, and what was found.
    pub(crate) fn end(self) -> (M, Findings) {
        (self.model, self.findings)
    }

    fn apply(&mut self, position: u64, record: &Record<M::Operation>) {
        self.findings.replayed += 1;
        let place = ReplayedAt {
            told: ToldPosition::of::<M>(position),
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
            let floor = ToldPosition::of::<M>(record.asked.floor);
            self.findings.order.add(|| {
                format!(
                    "{place}, {:?}, was asked when {floor} had been answered",
                    record.operation
                )
            });
        }
        let part = self.model.part(&record.operation);
        if let Err(sentence) = self.model.apply(position, &record.operation) {
            self.findings.answers.add(|| format!("{place}: {sentence}"));
        }
        self.last = Some(place);
        let changed = (true, part);
        self.doubts.clear(&self.model, record.asked.at, changed);
        if let Some(now) = self.model.time_of(&record.operation) {
            self.doubts.tell(record.asked.at, now);
        }
    }

    fn hold_against(&mut self, reading: Record<M::Operation>) {
        self.findings.readings += 1;
        if !self.model.agrees(&reading.operation) {
            self.doubts.add(&self.model, reading);
        }
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

impl ToldPosition {
    const fn of<M: Model>(position: u64) -> Self {
        Self {
            position: position / M::PLACES,
            within: position % M::PLACES,
        }
    }
}

impl fmt::Display for ToldPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "position {}", self.position)?;
        if self.within > 0 {
            write!(f, " (place {} within)", self.within)?;
        }
        Ok(())
    }
}

impl fmt::Display for ReplayedAt {
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

impl fmt::Display for GarbledRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("these bytes are nothing that was told")
    }
}

impl std::error::Error for GarbledRecord {}

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
