//! Whether groups are carried to the disk beside the loop.

use std::time::Duration;

/// Groups are carried beside the loop when the work on one takes so many halves of a sync. Below,
/// the clients are what everybody waits for, and smaller groups would cost more than they gain.
const BEGIN_HALVES: u64 = 4;

/// They no longer are when the work takes less than so many: an overlap makes groups smaller.
const END_HALVES: u64 = 3;

/// How slowly the averages follow: a new value counts one part in so many.
const INERTIA: u64 = 8;

/// Moving averages of what a group costs the loop and the disk, and what follows from them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OverlapPolicy {
    work_ns: u64,
    sync_ns: u64,
    overlaps: bool,
}

/// A group on its way to the disk.
#[derive(Debug, Default)]
pub(crate) struct GroupJourney {
    pub(crate) records: u64,
    /// How long the loop worked on it.
    pub(crate) work: Duration,
    pub(crate) has_landed: bool,
}

impl OverlapPolicy {
    /// Notes a group: how long the loop worked on it, and how long its write and sync took.
    pub(crate) fn note(&mut self, work: Duration, sync: Duration) {
        follow(&mut self.work_ns, work);
        follow(&mut self.sync_ns, sync);
        self.overlaps = if self.overlaps {
            self.work_ns * 2 >= self.sync_ns * END_HALVES
        } else {
            self.work_ns * 2 >= self.sync_ns * BEGIN_HALVES
        };
    }

    /// Whether groups are carried beside the loop.
    pub(crate) const fn overlaps(&self) -> bool {
        self.overlaps
    }
}

fn follow(average: &mut u64, value: Duration) {
    *average = match *average {
        0 => ns(value),
        before => (before * (INERTIA - 1) + ns(value)) / INERTIA,
    };
}

/// Nanoseconds; a second stands for everything longer, so that sums stay small.
fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos())
        .unwrap_or(u64::MAX)
        .min(1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNC: Duration = Duration::from_micros(100);

    fn after(pace: &mut OverlapPolicy, work_us: u64, groups: usize) -> bool {
        for _ in 0..groups {
            pace.note(Duration::from_micros(work_us), SYNC);
        }
        pace.overlaps()
    }

    #[test]
    fn much_work_begins_to_overlap_and_little_work_ends_it() {
        let mut pace = OverlapPolicy::default();
        assert!(!after(&mut pace, 195, 100), "too little to begin");
        assert!(after(&mut pace, 205, 100));
        assert!(after(&mut pace, 155, 100), "enough to go on");
        assert!(!after(&mut pace, 145, 100));
        assert!(!after(&mut pace, 195, 100));
    }

    #[test]
    fn one_odd_group_changes_nothing() {
        let mut pace = OverlapPolicy::default();
        assert!(!after(&mut pace, 100, 50));
        assert!(!after(&mut pace, 800, 1));
        assert!(!after(&mut pace, 100, 10));
    }
}
