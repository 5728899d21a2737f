//! Waiting awake for what is due soon, as far as that costs little.

/// What is due sooner is waited for awake: about what it takes to be woken on a machine whose
/// processors sleep deeply.
const BRIEF: Manner = Manner {
    ahead: 60_000,
    after: 0,
    tenths: 1,
};

/// Ahead: the longest that a thread with real-time priority takes to be woken, but once in a thousand
/// times. After: what comes in answer to what was done just now, or of the same instant.
const ALERT: Manner = Manner {
    ahead: 200_000,
    after: 150_000,
    tenths: 8,
};

/// How much one waits awake. Times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Manner {
    /// Before something is due.
    ahead: u64,
    /// After something was due or has come.
    after: u64,
    /// So many tenths of the run may be spent like that.
    tenths: u64,
}

/// How one thread spends its time awake; instants in nanoseconds since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vigil {
    manner: Manner,
    /// Whether there is a processor to spare.
    allowed: bool,
    /// Nanoseconds of the run that were spent.
    spent: u64,
    /// When it last said that it is awake, while it is.
    awake_at: Option<u64>,
    /// When something was last due soon or came.
    stirred_at: u64,
}

impl Vigil {
    /// Of one that sleeps most of the time.
    #[must_use]
    pub const fn brief(allowed: bool) -> Self {
        Self::new(BRIEF, allowed)
    }

    /// Of one that does not sleep where something may come.
    #[must_use]
    pub const fn alert() -> Self {
        Self::new(ALERT, true)
    }

    const fn new(manner: Manner, allowed: bool) -> Self {
        Self {
            manner,
            allowed,
            spent: 0,
            awake_at: None,
            stirred_at: 0,
        }
    }

    /// How long before something is due one may begin to wait awake; zero when too much has been
    /// spent.
    #[must_use]
    pub const fn ahead(&self, now: u64) -> u64 {
        let tenth = now / 10;
        if self.allowed && self.spent <= tenth.saturating_mul(self.manner.tenths) {
            self.manner.ahead
        } else {
            0
        }
    }

    /// Something has come.
    pub const fn stirs(&mut self, now: u64) {
        self.stirred_at = now;
    }

    /// Whether to stay awake now, if this is what is due next; otherwise it sleeps.
    pub fn stays(&mut self, now: u64, next: Option<u64>) -> bool {
        let ahead = self.ahead(now);
        let soon = next.is_some_and(|next| next <= now.saturating_add(ahead));
        if soon {
            self.stirred_at = now;
        }
        let stays = ahead > 0 && (soon || now < self.stirred_at + self.manner.after);
        if stays && let Some(last) = self.awake_at {
            self.spent += now - last;
        }
        self.awake_at = stays.then_some(now);
        stays
    }
}

#[cfg(test)]
mod tests {
    use super::{ALERT, BRIEF, Vigil};

    /// The microseconds for which it is awake of ten milliseconds, in which something is due each
    /// `period` and nothing comes: it sleeps until shortly before the next.
    fn awake(mut vigil: Vigil, period: u64) -> u64 {
        let (mut now, mut awake) = (0, 0);
        while now < 10_000_000 {
            let due = (now / period + 1) * period;
            if vigil.stays(now, Some(due)) {
                awake += 1;
                now += 1_000;
            } else {
                now = (due - vigil.ahead(now)).max(now + 1_000);
            }
        }
        awake
    }

    #[test]
    fn no_more_of_the_time_is_spent_awake_than_may_be() {
        // Something is due each 100 us, which would take it 60 of them.
        let brief = awake(Vigil::brief(true), 100_000);
        let most = 1_000 * BRIEF.tenths;
        assert!((most * 9 / 10..=most * 11 / 10).contains(&brief), "{brief}");
        // And all of them.
        let alert = awake(Vigil::alert(), 100_000);
        let most = 1_000 * ALERT.tenths;
        assert!((most * 9 / 10..=most * 11 / 10).contains(&alert), "{alert}");
    }

    #[test]
    fn who_is_alert_is_awake_about_what_is_due_and_sleeps_between() {
        // 200 us before each of nine, and 150 after; the first comes before anything may be spent.
        let awake = awake(Vigil::alert(), 1_000_000);
        assert!((2_950..=3_150).contains(&awake), "{awake}");
    }

    #[test]
    fn what_comes_keeps_only_the_alert_awake() {
        for (mut vigil, after) in [(Vigil::alert(), 150_000), (Vigil::brief(true), 0)] {
            let far = Some(9_000_000);
            assert!(!vigil.stays(5_000_000, far));
            vigil.stirs(5_000_000);
            assert_eq!(vigil.stays(5_000_001, far), after > 0);
            assert!(!vigil.stays(5_000_000 + after, far));
            assert!(vigil.stays(8_990_000, far));
        }
    }

    #[test]
    fn without_a_processor_to_spare_it_sleeps() {
        let mut tired = Vigil::brief(false);
        assert!(!tired.stays(1_000_000, Some(1_000_000)));
        assert!(Vigil::brief(true).stays(1_000_000, Some(1_000_000)));
    }
}
