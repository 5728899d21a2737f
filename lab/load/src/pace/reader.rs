//! Who looks at what has been counted while it comes, and ends the run when that suffices.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use turnstile_stats::{
    fit::{AndersonDarling, poisson_gaps},
    precision::Step,
};

use super::{
    Law, Length, Pace, RecentTimes, Rhythm, Schedule, Totals, User,
    agenda::ArrivalSample,
    desk::nanos,
    slices::{Album, BIN_NANOS},
    worker::WorkerOutcome,
};

#[derive(Debug)]
pub(super) struct Reader {
    album: Album,
    open: bool,
    look_at: usize,
    decided: Option<Step>,
}

impl Reader {
    pub(super) fn new(pace: &Pace, album: Album) -> Self {
        Self {
            album,
            open: matches!(pace.rhythm, Rhythm::Open { .. }),
            look_at: pace.length.first_look(),
            decided: None,
        }
    }

    pub(super) fn look(&mut self, pace: &Pace, until: &AtomicU64) {
        let bins = self.album.collect();
        if bins < self.look_at || matches!(self.decided, Some(Step::Enough(_) | Step::GiveUp(_))) {
            return;
        }
        let step = pace
            .length
            .judge(&self.album.bins[..self.look_at], self.open);
        match step {
            Step::Enough(_) => until.store(0, Ordering::Relaxed),
            Step::RunOn { bins, .. } => self.look_at = bins,
            Step::GiveUp(_) => {}
        }
        self.decided = Some(step);
    }

    /// Response times of about the last second.
    pub(super) const fn recent_times(&self) -> Option<RecentTimes> {
        self.album.recent_times()
    }

    /// The result, when all have ended.
    pub(super) fn totals<U: User>(
        mut self,
        pace: &Pace,
        slots: u64,
        ends: Vec<WorkerOutcome<U>>,
    ) -> Totals<U> {
        let started = ends.iter().map(|end| end.started).min();
        let sample = ends.first().and_then(|end| end.sample.as_ref());
        let arrivals = sample.and_then(|sample| fit(sample, pace));
        let (mut users, mut took, mut over) = (Vec::new(), Duration::ZERO, Duration::ZERO);
        for end in ends {
            self.album.close(end.thread, &end.slice);
            users.extend(end.users);
            took = took.max(end.took);
            over = over.max(end.over);
        }
        // What came in the grace after the end is no bin of the run.
        let end = match self.decided {
            Some(Step::Enough(_) | Step::GiveUp(_)) => self.look_at,
            Some(Step::RunOn { .. }) | None => pace.length.bins_max(),
        };
        let bins = &self.album.bins[..end.min(self.album.bins.len())];
        if matches!(self.decided, Some(Step::RunOn { .. }) | None) && end != usize::MAX {
            self.decided = Some(pace.length.judge(bins, self.open));
        }
        let length = pace.length;
        let known = length.know(bins, self.decided.as_ref(), self.open, self.album.grain);
        let (warm_up, window, tally) = match length {
            Length::Fixed { warm_up, duration } => (
                warm_up,
                measured(over.saturating_sub(warm_up), duration),
                self.album.tally(0, usize::MAX),
            ),
            Length::Precise { .. } => {
                let time = |bins: usize| {
                    let bins = u64::try_from(bins).expect("a run has few bins");
                    Duration::from_nanos(bins * BIN_NANOS)
                };
                let window = time(known.to - known.from);
                (
                    time(known.from),
                    window,
                    self.album.tally(known.from, known.to),
                )
            }
        };
        let in_window = bins.get(known.from..).filter(|bins| !bins.is_empty());
        let cpu = in_window
            .unwrap_or(&self.album.bins)
            .iter()
            .map(|bin| u64::from(bin.cpu));
        Totals {
            started: started.unwrap_or_else(Instant::now),
            tally,
            users,
            slots,
            warm_up,
            window,
            p99: self.album.percentile(0.99, known.from, known.to),
            arrivals,
            planned: planned(pace, warm_up, window),
            cpu: Duration::from_micros(cpu.sum()),
            took,
            bins: bins.to_vec(),
            known,
        }
    }
}

/// The window of a run that was over so long after its warm-up: nothing comes after a trace, or after
/// stages that end at nobody. What was over in the warm-up did nothing for the whole window.
fn measured(over: Duration, duration: Duration) -> Duration {
    if over.is_zero() {
        duration
    } else {
        over.min(duration)
    }
}

/// How many operations were due in the window of an open loop.
fn planned(pace: &Pace, warm_up: Duration, window: Duration) -> Option<u64> {
    let Rhythm::Open { law, rate } = &pace.rhythm else {
        return None;
    };
    let schedule = Schedule::new(law.clone(), rate.clone(), pace.seed);
    let from = nanos(warm_up);
    Some(schedule.count(from, from + nanos(window)))
}

/// Fewer gaps say little.
const GAPS_MIN: usize = 50;

/// Shorter gaps are those of a generator that takes what is due in turns.
const GAP_NANOS_MIN: f64 = 2e6;

/// How well the arrivals of one thread follow their law.
fn fit(sample: &ArrivalSample, pace: &Pace) -> Option<AndersonDarling> {
    let Rhythm::Open {
        law: Law::Poisson,
        rate,
    } = &pace.rhythm
    else {
        return None;
    };
    let rate = rate.level()?;
    let (gaps, step) = sample.gaps(rate, GAP_NANOS_MIN);
    (gaps.len() >= GAPS_MIN)
        .then(|| poisson_gaps(&gaps, step, rate / 1e9))
        .flatten()
}
