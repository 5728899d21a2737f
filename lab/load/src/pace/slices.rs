//! What threads count, in slices that are handed over while they go on: memory stays the same
//! however long a run is, and the window may be chosen when it is over.

use std::{
    hint,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    time::Duration,
};

use turnstile_stats::{Histogram, Interval, percentile, units::to_float};

use super::{RecentTimes, Tally};

/// The run is looked at in pieces of 100 ms.
pub(super) const BIN_NANOS: u64 = 100_000_000;

/// So many bins are handed over at once.
const SLICE_BINS: usize = 5;

/// Percentiles of the last second are of so many bins.
const RECENT_BINS: usize = 10;

/// Slices that a thread can fill before the first must have come back: two seconds.
const SLICES: usize = 4;

/// Bins that a slice has room for, when nobody takes it for a minute.
const SLICE_BINS_MAX: usize = 600;

/// So many pieces of a run are kept apart; when there are more, pairs become one.
const PIECES_MAX: usize = 32;

/// When all pieces are there, with a second for the last to come: from then on a run takes no more memory.
pub const MEMORY_TAKEN: Duration = Duration::from_secs(17);

const _: () = assert!(PIECES_MAX * SLICE_BINS == 160, "they are there after 16 s");

/// Bins beyond the last in which something is due: those of the grace, in which late answers come.
const BINS_AFTER: usize = 128;

/// Bins of a day, the longest run.
const BINS_MAX: usize = 864_000;

/// Fewer pieces do not tell how a percentile varies.
const PIECES_MIN: usize = 8;

/// A tenth of a second of all threads, in 24 bytes, which are there from the start for all of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// The sum of all responses in nanoseconds.
    pub response: u64,
    /// Done and refused; of wholes, done.
    pub answered: u32,
    /// Errors, late answers, and answers that will never come.
    pub failed: u32,
    /// Processor time of the generator's threads in microseconds.
    pub cpu: u32,
}

/// What a thread has counted in some bins.
#[derive(Debug)]
pub(super) struct Slice {
    pub(super) tally: Tally,
    bins: Vec<Bin>,
}

/// The pen of one thread.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) slice: Box<Slice>,
    pub(super) bin: Bin,
    ends: u64,
    full: SyncSender<Box<Slice>>,
    empty: Receiver<Box<Slice>>,
}

/// Where the slices of one thread arrive.
#[derive(Debug)]
pub(super) struct SliceInbox {
    full: Receiver<Box<Slice>>,
    empty: SyncSender<Box<Slice>>,
    /// Bins that have come.
    bins: usize,
}

/// What was answered lately, for somebody who watches.
#[derive(Debug, Default)]
struct RecentResponses {
    /// Since the last percentiles were taken.
    responses: Histogram,
    /// The bins that they are of, and all before.
    bins: usize,
    times: Option<RecentTimes>,
}

/// All threads' counts so far.
#[derive(Debug)]
pub(super) struct Album {
    inboxes: Vec<SliceInbox>,
    pub(super) bins: Vec<Bin>,
    /// Each of `grain` bins, the first from the start on.
    pieces: Vec<Tally>,
    /// Pieces that became part of others: their memory is that of later ones.
    spare: Vec<Tally>,
    pub(super) grain: usize,
    recent: RecentResponses,
    blank: fn() -> Tally,
}

impl Bin {
    /// The mean response in nanoseconds; zero when nothing was answered.
    #[must_use]
    pub fn response(&self) -> f64 {
        to_float(self.response) / f64::from(self.answered.max(1))
    }

    const fn add(&mut self, other: &Self) {
        self.answered += other.answered;
        self.response += other.response;
        self.failed += other.failed;
        self.cpu += other.cpu;
    }
}

impl Slice {
    fn new(tally: Tally) -> Box<Self> {
        let bins = Vec::with_capacity(SLICE_BINS_MAX);
        Box::new(Self { tally, bins })
    }
}

/// A pen and where its slices arrive; `blank` makes a tally of nothing.
pub(super) fn pair(blank: fn() -> Tally) -> (Recorder, SliceInbox) {
    let (full, filled) = sync_channel(SLICES + 1);
    let (back, empty) = sync_channel(SLICES + 1);
    for _ in 1..SLICES {
        back.try_send(Slice::new(blank()))
            .expect("the channel has room for all slices");
    }
    let recorder = Recorder {
        slice: Slice::new(blank()),
        bin: Bin::default(),
        ends: BIN_NANOS,
        full,
        empty,
    };
    let inbox = SliceInbox {
        full: filled,
        empty: back,
        bins: 0,
    };
    (recorder, inbox)
}

impl Recorder {
    /// Turns the page when the bin is over. `used` tells the processor time since the last call.
    pub(super) fn turn(&mut self, now: u64, used: impl FnOnce() -> u32) {
        if now < self.ends {
            return;
        }
        self.bin.cpu += used();
        while now >= self.ends {
            let bin = std::mem::take(&mut self.bin);
            self.slice.bins.push(bin);
            self.ends += BIN_NANOS;
        }
        let last = self.ends / BIN_NANOS - 1;
        let whole = last.is_multiple_of(u64::try_from(SLICE_BINS).expect("it is small"));
        if whole && let Ok(empty) = self.empty.try_recv() {
            let full = std::mem::replace(&mut self.slice, empty);
            // The channel has room for all slices; nobody takes them any more when the run is over.
            self.full.try_send(full).ok();
        }
    }

    /// What is left when the run is over.
    pub(super) fn close(mut self, used: u32) -> Box<Slice> {
        self.bin.cpu += used;
        self.slice.bins.push(self.bin);
        self.slice
    }
}

impl RecentResponses {
    /// Takes percentiles when a second is over.
    fn turn(&mut self, bins: usize) {
        if bins < self.bins + RECENT_BINS {
            return;
        }
        let count = self.responses.count();
        let supported = |quantile| {
            let is_supported = percentile::supported(count, quantile).is_ok();
            is_supported.then(|| self.responses.quantile(quantile))
        };
        let p99 = supported(0.99);
        self.times = supported(0.5).map(|p50| RecentTimes { p50, p99 });
        self.bins = bins;
        self.responses.clear();
    }
}

impl Album {
    /// Of a run of so many bins.
    pub(super) fn new(blank: fn() -> Tally, inboxes: Vec<SliceInbox>, bins: usize) -> Self {
        Self {
            inboxes,
            bins: room(bins.min(BINS_MAX) + BINS_AFTER),
            pieces: Vec::new(),
            spare: Vec::new(),
            grain: SLICE_BINS,
            recent: RecentResponses::default(),
            blank,
        }
    }

    /// Takes what has come, and says how many bins are there of all threads.
    pub(super) fn collect(&mut self) -> usize {
        let bins = self.take();
        self.recent.turn(bins);
        bins
    }

    /// Response times of about the last second.
    pub(super) const fn recent_times(&self) -> Option<RecentTimes> {
        self.recent.times
    }

    fn take(&mut self) -> usize {
        for thread in 0..self.inboxes.len() {
            while let Ok(mut slice) = self.inboxes[thread].full.try_recv() {
                self.paste(thread, &slice);
                slice.tally.clear();
                slice.bins.clear();
                // A thread that has ended takes none back.
                self.inboxes[thread].empty.try_send(slice).ok();
            }
        }
        self.inboxes
            .iter()
            .map(|inbox| inbox.bins)
            .min()
            .unwrap_or(0)
    }

    /// The last slice of a thread.
    pub(super) fn close(&mut self, thread: usize, slice: &Slice) {
        self.collect();
        self.paste(thread, slice);
    }

    fn paste(&mut self, thread: usize, slice: &Slice) {
        let from = self.inboxes[thread].bins;
        let to = from + slice.bins.len();
        self.inboxes[thread].bins = to;
        if self.bins.len() < to {
            self.bins.resize(to, Bin::default());
        }
        for (own, theirs) in self.bins[from..to].iter_mut().zip(&slice.bins) {
            own.add(theirs);
        }
        while from / self.grain >= PIECES_MAX {
            self.halve();
        }
        let piece = from / self.grain;
        while self.pieces.len() <= piece {
            let next = self.spare.pop();
            self.pieces.push(next.unwrap_or_else(self.blank));
        }
        self.pieces[piece].merge(&slice.tally);
        slice.tally.add_response(&mut self.recent.responses);
    }

    /// Makes one piece of two.
    fn halve(&mut self) {
        let mut halved: Vec<Tally> = Vec::with_capacity(PIECES_MAX);
        for (at, mut piece) in self.pieces.drain(..).enumerate() {
            if at % 2 == 0 {
                halved.push(piece);
            } else if let Some(last) = halved.last_mut() {
                last.merge(&piece);
                piece.clear();
                self.spare.push(piece);
            }
        }
        self.pieces = halved;
        self.grain *= 2;
    }

    /// The counts of the whole run, with the times of the bins from `from` on and before `to`.
    pub(super) fn tally(&self, from: usize, to: usize) -> Tally {
        let mut tally = (self.blank)();
        for (at, piece) in self.pieces.iter().enumerate() {
            if (from..to).contains(&(at * self.grain)) {
                tally.merge(piece);
            } else {
                tally.merge_counts(piece);
            }
        }
        tally
    }

    /// The percentile of the response in these bins, from one percentile of each piece.
    pub(super) fn percentile(&self, quantile: f64, from: usize, to: usize) -> Option<Interval> {
        let pieces = self.pieces.iter().enumerate();
        let within = pieces.filter(|(at, _)| {
            let begins = at * self.grain;
            begins >= from && begins + self.grain <= to
        });
        let each: Vec<f64> = within
            .map(|(_, piece)| {
                let times = piece.response();
                percentile::supported(times.count(), quantile)
                    .is_ok()
                    .then(|| to_float(times.quantile(quantile)))
            })
            .collect::<Option<_>>()?;
        (each.len() >= PIECES_MIN)
            .then(|| Interval::of_mean(&each))
            .flatten()
    }
}

/// Room for so many bins. The system gives memory where it is written to for the first time: here and
/// now.
fn room(bins: usize) -> Vec<Bin> {
    let mut room = Vec::with_capacity(bins);
    // Otherwise the optimiser would ask for zeros instead of writing them.
    hint::black_box(&mut room).resize(bins, Bin::default());
    room.clear();
    room
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use turnstile_seed::Random;

    use super::{Album, BIN_NANOS, BINS_MAX, Bin, PIECES_MAX, SLICE_BINS, Slice, pair};
    use crate::pace::tally::Tally;

    static TALLIES: AtomicUsize = AtomicUsize::new(0);

    fn blank() -> Tally {
        TALLIES.fetch_add(1, Ordering::Relaxed);
        Tally::new(&["ask"], &[])
    }

    /// Five bins in which so many requests had a connection lost.
    fn slice(lost: u64) -> Slice {
        let mut tally = Tally::new(&["ask"], &[]);
        tally.connections_lost = lost;
        Slice {
            tally,
            bins: vec![Bin::default(); SLICE_BINS],
        }
    }

    #[test]
    fn a_long_run_takes_no_more_memory_than_a_short_one_and_loses_nothing() {
        let (_recorder, inbox) = pair(|| Tally::new(&["ask"], &[]));
        let mut album = Album::new(blank, vec![inbox], 100);
        for at in 0..100 * PIECES_MAX {
            album.paste(0, &slice(u64::from(at % 2 == 0)));
        }
        assert!(TALLIES.load(Ordering::Relaxed) <= PIECES_MAX);
        let bins = album.bins.len();
        assert_eq!(bins, 100 * PIECES_MAX * SLICE_BINS);
        let lost = album.tally(0, bins).connections_lost;
        assert_eq!(usize::try_from(lost), Ok(50 * PIECES_MAX));
        assert_eq!(size_of::<Bin>(), 24);
    }

    /// How often this thread has touched memory that the system had not given it yet.
    fn touched() -> u64 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let (_name, rest) = stat.rsplit_once(") ").unwrap();
        rest.split(' ').nth(7).unwrap().parse().unwrap()
    }

    /// Memory grew by the bins, 0.8 MiB an hour.
    #[test]
    fn the_bins_of_a_day_are_there_from_the_start() {
        let (_recorder, inbox) = pair(|| Tally::new(&["ask"], &[]));
        let mut album = Album::new(|| Tally::new(&["ask"], &[]), vec![inbox], usize::MAX);
        let mut slice = slice(0);
        slice.bins = vec![Bin::default(); 600];
        // The first pieces are made.
        for _ in 0..PIECES_MAX {
            album.paste(0, &slice);
        }
        touched();
        let before = touched();
        while album.bins.len() < BINS_MAX {
            album.paste(0, &slice);
        }
        let more = touched() - before;
        assert!(more < 64, "{more} of 5,000 pages");
    }

    /// However rare a duration is, its counter is there, and pieces that become one leave theirs to others.
    #[test]
    fn once_all_pieces_are_there_no_memory_is_touched_for_the_first_time() {
        let (mut recorder, inbox) = pair(|| Tally::new(&["ask"], &[]));
        let mut album = Album::new(|| Tally::new(&["ask"], &[]), vec![inbox], 1_000);
        let mut random = Random::new(7);
        let mut before = 0;
        for bin in 1..1_000_u64 {
            // The longer it goes on, the longer is what can happen.
            for _ in 0..20 {
                let nanos = (random.draw() >> (44 + random.draw() % 20)) * bin;
                let tally = &mut recorder.slice.tally;
                for times in [
                    &mut tally.operations[0].times,
                    &mut tally.lag,
                    &mut tally.service,
                    &mut tally.wait,
                    &mut tally.censored,
                ] {
                    times.record(nanos);
                }
            }
            recorder.turn(bin * BIN_NANOS, || 1);
            album.collect();
            if bin == u64::try_from((PIECES_MAX + 2) * SLICE_BINS).unwrap() {
                before = touched();
            }
        }
        let more = touched() - before;
        assert!(before > 0 && more < 64, "{more} pages");
        assert_eq!(album.tally(0, 1_000).lag.count(), 995 * 20);
    }
}
