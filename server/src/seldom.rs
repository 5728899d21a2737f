//! Lines of the log about what clients can make happen often.

use std::time::{Duration, Instant};

/// No more often does the log say the same.
const EVERY: Duration = Duration::from_secs(10);

/// Counts what happens, and says when a line is due about all of it.
#[derive(Debug, Default)]
pub(crate) struct Seldom {
    told: Option<Instant>,
    count: u64,
}

impl Seldom {
    /// It has happened so many times more. Answers how often it has since the last line, when a line is due.
    pub(crate) fn count(&mut self, more: u64) -> Option<u64> {
        if more == 0 {
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
        let mut seldom = Seldom::default();
        let start = Instant::now();
        assert_eq!(seldom.count(0), None);
        assert_eq!(seldom.count_at(2, start), Some(2));
        for ms in 0..1_000 {
            assert_eq!(seldom.count_at(3, start + Duration::from_millis(ms)), None);
        }
        assert_eq!(seldom.count_at(1, start + EVERY), Some(3_001));
        assert_eq!(seldom.count_at(1, start + EVERY), None);
    }
}
