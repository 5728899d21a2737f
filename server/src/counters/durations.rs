//! How long requests take, by door and operation, counted without a clock read for each request.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use turnstile_types::Position;

use super::Counter;
use crate::registry::{OPERATIONS, Registered, SERVICES};

/// The upper bounds of the buckets for request durations, in nanoseconds; one more bucket is open.
pub const DURATION_BOUNDS_NS: [u64; 11] = [
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    100_000_000,
    1_000_000_000,
    10_000_000_000,
];

const BUCKETS: usize = DURATION_BOUNDS_NS.len() + 1;

/// The doors, as metrics name them.
pub const DOORS: [&str; 7] = [
    "resp",
    "http",
    "xml",
    "travel",
    "desk",
    "games_arena",
    "games_scores",
];

/// A door, by its place among [`DOORS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoorName {
    Resp,
    Http,
    Xml,
    /// Command lines of travel.
    Lines,
    /// Between the processes of travel.
    Desk,
    /// Where two play on the ancestor's wire.
    Arena,
    /// Where arenas send results.
    Scores,
}

/// The histogram of one operation at one door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HistogramIndex(usize);

impl DoorName {
    /// The histogram of this operation of a machine.
    pub(crate) const fn slot<M: Registered>(self, operation: usize) -> HistogramIndex {
        HistogramIndex(self as usize * OPERATIONS + M::FIRST_OPERATION + operation)
    }
}

/// A histogram for each door and operation.
#[derive(Debug)]
pub struct Durations {
    buckets: Box<[Counter]>,
    sums_ns: Box<[Counter]>,
}

/// The durations of one operation at one door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurationHistogram {
    pub door: &'static str,
    pub service: &'static str,
    pub operation: &'static str,
    /// The sum of all durations, in nanoseconds.
    pub sum_ns: u64,
    /// Requests by their duration; see [`DURATION_BOUNDS_NS`].
    pub buckets: [u64; BUCKETS],
}

impl Default for Durations {
    fn default() -> Self {
        let counters = |count| (0..count).map(|_| Counter::default()).collect();
        let slots = DOORS.len() * OPERATIONS;
        Self {
            buckets: counters(slots * BUCKETS),
            sums_ns: counters(slots),
        }
    }
}

impl Durations {
    /// Counts requests that all took so long.
    pub(crate) fn add(&self, slot: HistogramIndex, requests: u64, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = DURATION_BOUNDS_NS.partition_point(|&bound| bound < ns);
        let sum = self.sums_ns.get(slot.0).expect("a slot has a sum");
        sum.add(ns.saturating_mul(requests));
        let bucket = self.buckets.get(slot.0 * BUCKETS + bucket);
        bucket.expect("a slot has its buckets").add(requests);
    }

    /// The histograms of what was ever asked.
    pub fn iter(&self) -> impl Iterator<Item = DurationHistogram> {
        let operations = SERVICES.iter().flat_map(|service| {
            let words = service.operations.iter();
            words.map(move |&word| (service.name, word))
        });
        let names = DOORS
            .into_iter()
            .flat_map(move |door| operations.clone().map(move |(of, word)| (door, of, word)));
        let counted = self.buckets.chunks_exact(BUCKETS).zip(&self.sums_ns);
        let histograms = names.zip(counted);
        let histograms = histograms.map(|((door, service, operation), (buckets, sum))| {
            let mut counts = [0; BUCKETS];
            for (count, bucket) in counts.iter_mut().zip(buckets) {
                *count = bucket.get();
            }
            DurationHistogram {
                door,
                service,
                operation,
                sum_ns: sum.get(),
                buckets: counts,
            }
        });
        histograms.filter(|one| one.buckets.iter().any(|&count| count > 0))
    }
}

/// Requests of one operation at one door that came in the same turn.
#[derive(Clone, Copy, Debug)]
struct Served {
    slot: HistogramIndex,
    requests: u32,
    since: Instant,
}

/// Requests that a group answers, until it has.
#[derive(Debug, Default)]
pub(crate) struct ServedRequests(Vec<Served>);

impl ServedRequests {
    /// The answers have left.
    pub(crate) fn end(&mut self, durations: &Durations) {
        if self.0.is_empty() {
            return;
        }
        let now = Instant::now();
        for served in self.0.drain(..) {
            let took = now.saturating_duration_since(served.since);
            durations.add(served.slot, served.requests.into(), took);
        }
    }
}

/// Requests that are answered on their own, and not with a group.
#[derive(Debug)]
pub(crate) struct TimedRequests {
    slots: Vec<HistogramIndex>,
    since: Instant,
}

impl TimedRequests {
    /// The answers leave now.
    pub(crate) fn end(&self, durations: &Durations) {
        let took = self.since.elapsed();
        for &slot in &self.slots {
            durations.add(slot, 1, took);
        }
    }
}

/// Counts the requests of a turn.
///
/// A request costs an addition here. What has a clock read is a turn, which all of its requests began
/// with, and a group, with which all of their answers leave.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    door: DoorName,
    /// When the turn began.
    since: Instant,
    requests: Box<[u32]>,
    /// Those that are not zero.
    slots: Vec<HistogramIndex>,
    /// Requests that wait for a late answer, by their tickets: at most one for each transaction.
    late: BTreeMap<Position, (HistogramIndex, Instant)>,
}

impl Stopwatch {
    pub(crate) fn new() -> Self {
        Self {
            door: DoorName::Resp,
            since: Instant::now(),
            requests: vec![0; DOORS.len() * OPERATIONS].into(),
            slots: Vec::new(),
            late: BTreeMap::new(),
        }
    }

    /// What is counted next came now.
    pub(crate) const fn begin(&mut self, now: Instant) {
        self.since = now;
    }

    /// What is counted next came through this door.
    pub(crate) const fn enter(&mut self, door: DoorName) {
        self.door = door;
    }

    /// The door through which comes what is counted.
    pub(crate) const fn door(&self) -> DoorName {
        self.door
    }

    /// Counts a request that is answered with its group.
    #[inline]
    pub(crate) fn count<M: Registered>(&mut self, operation: usize) {
        let slot = self.door.slot::<M>(operation);
        let requests = self.requests.get_mut(slot.0).expect("a slot has its count");
        if *requests == 0 {
            self.slots.push(slot);
        }
        *requests += 1;
    }

    /// A request is answered late, under this ticket.
    pub(crate) fn postpone<M: Registered>(&mut self, operation: usize, ticket: Position) {
        let slot = self.door.slot::<M>(operation);
        self.late.insert(ticket, (slot, self.since));
    }

    /// A late answer leaves now. What was asked before a restart is not known any more.
    pub(crate) fn end_late(&mut self, ticket: Position, durations: &Durations) {
        if let Some((slot, since)) = self.late.remove(&ticket) {
            durations.add(slot, 1, since.elapsed());
        }
    }

    /// Times these operations of a machine, which somebody else than the loop decides.
    pub(crate) fn time<M: Registered>(
        &self,
        operations: impl Iterator<Item = usize>,
    ) -> TimedRequests {
        let slots = operations.map(|operation| self.door.slot::<M>(operation));
        TimedRequests {
            slots: slots.collect(),
            since: self.since,
        }
    }

    /// Hands what was counted in this turn to the group that answers it.
    pub(crate) fn hand_over(&mut self, to: &mut ServedRequests) {
        for slot in self.slots.drain(..) {
            let requests = self.requests.get_mut(slot.0).expect("a slot has its count");
            to.0.push(Served {
                slot,
                requests: std::mem::take(requests),
                since: self.since,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use turnstile_exchange::Exchange;
    use turnstile_games::Games;
    use turnstile_rooms::Rooms;
    use turnstile_travel::Travel;

    use super::*;

    #[test]
    fn each_operation_at_each_door_has_a_histogram_of_its_own() {
        let durations = Durations::default();
        let mut watch = Stopwatch::new();
        let mut served = ServedRequests::default();
        watch.enter(DoorName::Scores);
        watch.count::<Games>(Games::OPERATIONS.len() - 1);
        watch.enter(DoorName::Http);
        watch.count::<Exchange>(0);
        watch.count::<Exchange>(0);
        watch.hand_over(&mut served);
        assert_eq!(durations.iter().count(), 0, "nothing is answered yet");
        served.end(&durations);
        served.end(&durations);
        let found: Vec<_> = durations
            .iter()
            .map(|one| {
                let requests: u64 = one.buckets.iter().sum();
                (one.door, one.service, one.operation, requests)
            })
            .collect();
        let first = *Exchange::OPERATIONS.first().unwrap();
        let last = *Games::OPERATIONS.last().unwrap();
        assert_eq!(
            found,
            [
                ("http", "exchange", first, 2),
                ("games_scores", "games", last, 1)
            ]
        );
    }

    #[test]
    fn a_duration_falls_into_its_bucket() {
        let durations = Durations::default();
        let slot = DoorName::Resp.slot::<Rooms>(0);
        for (us, requests) in [(100, 3), (101, 1), (20_000_000, 1)] {
            durations.add(slot, requests, Duration::from_micros(us));
        }
        let found = durations.iter().next().unwrap();
        assert_eq!(found.buckets, [3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(found.sum_ns, 300_000 + 101_000 + 20_000_000_000);
    }

    #[test]
    fn a_late_answer_is_counted_once_when_it_leaves() {
        let durations = Durations::default();
        let mut watch = Stopwatch::new();
        watch.enter(DoorName::Lines);
        let book = Travel::OPERATIONS.iter().position(|word| *word == "book");
        watch.postpone::<Travel>(book.unwrap(), Position(7));
        watch.end_late(Position(6), &durations);
        assert_eq!(durations.iter().count(), 0);
        watch.end_late(Position(7), &durations);
        watch.end_late(Position(7), &durations);
        let found: Vec<_> = durations.iter().collect();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].door, found[0].operation), ("travel", "book"));
        assert_eq!(found[0].buckets.iter().sum::<u64>(), 1);
    }
}
