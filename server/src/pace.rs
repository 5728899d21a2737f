//! When to gather a little longer before a commit.
//!
//! A sync costs its CPU time (some 40 us on a virtual disk) whatever it makes durable. When callers
//! come one by one, faster than a sync, each group holds those that came during the last one; a
//! pause of half a sync before reading doubles what shares the next. It is the group-commit delay
//! of databases (Postgres' `commit_delay`), but nobody sets it: it follows the last groups.

use std::time::Duration;

/// With fewer records in a group there is nobody to wait for: a lone caller is answered at once.
const RECORDS_MIN: u64 = 6;

/// With more, the sync is shared by so many that a pause would only cost time.
const RECORDS_MAX: u64 = 40;

/// The longest pause: a slow disk must not make callers wait longer than a turn of the scheduler.
const PAUSE_MAX: Duration = Duration::from_micros(250);

/// A shorter pause is not worth its two switches.
const PAUSE_MIN: Duration = Duration::from_micros(40);

/// Smoothed sizes and lengths of the last commits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    /// Records in a group, times 8.
    records: u64,
    /// Nanoseconds of a commit, times 8.
    commit_ns: u64,
}

impl Pace {
    /// Takes note of a commit.
    pub(crate) const fn note(&mut self, records: u64, commit_ns: u64) {
        self.records = self.records - self.records / 8 + records;
        self.commit_ns = self.commit_ns - self.commit_ns / 8 + commit_ns;
    }

    /// How long to let more come before the next turn; nothing when that would not pay.
    pub(crate) fn pause(&self) -> Option<Duration> {
        let records = self.records / 8;
        let half = Duration::from_nanos(self.commit_ns / 16).min(PAUSE_MAX);
        let pays = (RECORDS_MIN..=RECORDS_MAX).contains(&records) && half >= PAUSE_MIN;
        pays.then_some(half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(commits: &[(u64, u64)]) -> Option<Duration> {
        let mut pace = Pace::default();
        for _ in 0..100 {
            for &(records, commit_ns) in commits {
                pace.note(records, commit_ns);
            }
        }
        pace.pause()
    }

    #[test]
    fn a_pause_is_made_where_it_pays() {
        assert_eq!(after(&[]), None, "nothing is known");
        assert_eq!(after(&[(1, 160_000)]), None, "a lone caller");
        assert_eq!(after(&[(800, 200_000)]), None, "a deep pipeline");
        assert_eq!(after(&[(16, 3_000)]), None, "no sync at all");
        let pause = after(&[(16, 160_000)]).unwrap();
        assert!(
            (70..=80).contains(&pause.as_micros()),
            "half a sync: {pause:?}"
        );
        assert_eq!(after(&[(16, 9_000_000)]), Some(PAUSE_MAX), "a slow disk");
    }
}
