//! A limit on lines of the log about what clients can make happen often.

use std::time::{Duration, Instant};

/// No more often does the log say the same.
const EVERY: Duration = Duration::from_secs(10);

/// Counts what happens, and says when a line is due about all of it.
#[derive(Debug, Default)]
pub(crate) struct LogLimit {
    told: Option<Instant>,
    count: u64,
}

impl LogLimit {
    /// It has happened so many times more, or not again: then what is left of a burst may be due.
    /// Answers how often it has since the last line, when a line is due.
    pub(crate) fn count(&mut self, more: u64) -> Option<u64> {
        if self.count + more == 0 {
            return None;
        }
        self.count_at(more, Instant::now())
    }

    fn count_at(&mut self, more: u64, now: Instant) -> Option<u64> {
        self.count += more;
        let is_due = self
            .told
            .is_none_or(|told| now.saturating_duration_since(told) >= EVERY);
        is_due.then(|| {
            self.told = Some(now);
            std::mem::take(&mut self.count)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_tells_of_all_since_the_last() {
        let mut limit = LogLimit::default();
        let start = Instant::now();
        assert_eq!(limit.count(0), None);
        assert_eq!(limit.count_at(2, start), Some(2));
        for ms in 0..1_000 {
            assert_eq!(limit.count_at(3, start + Duration::from_millis(ms)), None);
        }
        assert_eq!(limit.count_at(1, start + EVERY), Some(3_001));
        assert_eq!(limit.count_at(1, start + EVERY), None);
        // Nothing happens any more, and the rest of the burst is told.
        assert_eq!(limit.count_at(0, start + EVERY), None);
        assert_eq!(limit.count_at(0, start + 2 * EVERY), Some(1));
    }
}
