//! Waiting awake for what is due soon, as far as that costs little.

/// What is due sooner is waited for awake: about what it takes to be woken on a machine whose
/// processors sleep deeply.
const BRIEF: SpinPolicy = SpinPolicy {
    ahead_min: 60_000,
    ahead_max: 200_000,
    after: 0,
    tenths: 1,
    spare: u64::MAX,
};

/// Ahead: the longest that a thread with real-time priority takes to be woken, but once in a thousand
/// times. After: what comes in answer to what was done just now, or of the same instant. It sleeps only
/// when it must, for each sleep is a chance to be woken late: the system takes real-time priority off
/// whoever is awake for more than 19 of 20 ms.
const ALERT: SpinPolicy = SpinPolicy {
    ahead_min: 200_000,
    ahead_max: 500_000,
    after: 150_000,
    tenths: 9,
    spare: 1_000_000,
};

/// So much can be saved up for later: a little, for nobody may be awake for long without a rest.
const SAVED_MAX: u64 = 10_000_000;

/// One that was woken too late begins to be awake so much earlier; with one that was not, so much later.
/// That balances where one in two hundred is too late.
const EARLIER: u64 = 20_000;
const LATER: u64 = 100;

/// How much one waits awake. Times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SpinPolicy {
    /// Before something is due: at least, and at most where being woken takes long.
    ahead_min: u64,
    ahead_max: u64,
    /// After something was due or has come.
    after: u64,
    /// So many tenths of the time may be spent awake.
    tenths: u64,
    /// Whoever has saved up more stays awake though nothing is due.
    spare: u64,
}

/// How one thread spends its time awake; instants in nanoseconds since its start. Time awake is saved
/// up while it sleeps, and how long before something is due it must be woken is learnt from how late it
/// was woken before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vigil {
    manner: SpinPolicy,
    /// Whether there is a processor to spare.
    allowed: bool,
    /// How long it may be awake.
    saved: u64,
    /// When that was last reckoned, and whether it was awake then.
    reckoned_at: u64,
    awake: bool,
    /// When something was last due soon or came.
    stirred_at: u64,
    /// How long before something is due it begins to be awake.
    ahead: u64,
    /// When it is to be woken, if it sleeps until then.
    wakes_at: Option<u64>,
}

impl Vigil {
    /// Of one that sleeps most of the time.
    #[must_use]
    pub const fn brief(allowed: bool) -> Self {
        Self::new(BRIEF, allowed)
    }

    /// Of one that sleeps as little as it may.
    #[must_use]
    pub const fn alert() -> Self {
        Self::new(ALERT, true)
    }

    const fn new(manner: SpinPolicy, allowed: bool) -> Self {
        Self {
            manner,
            allowed,
            saved: 0,
            reckoned_at: 0,
            awake: false,
            stirred_at: 0,
            ahead: manner.ahead_min,
            wakes_at: None,
        }
    }

    /// How long before something is due one may begin to wait awake; zero when nothing is saved up.
    #[must_use]
    pub fn ahead(&self) -> u64 {
        if self.allowed {
            self.ahead.min(self.saved)
        } else {
            0
        }
    }

    /// Something has come.
    pub const fn stirs(&mut self, now: u64) {
        self.stirred_at = now;
    }

    /// Whether to stay awake now, if this is what is due next; otherwise it sleeps until the timer rings
    /// [ahead](Self::ahead) of that, or something comes.
    pub fn stays(&mut self, now: u64, next: Option<u64>) -> bool {
        self.reckon(now);
        if let Some(at) = self.wakes_at.take()
            && now >= at
        {
            self.learn(now - at);
        }
        let ahead = self.ahead();
        let soon = next.is_some_and(|next| next <= now.saturating_add(ahead));
        if soon {
            self.stirred_at = now;
        }
        let stirred = now < self.stirred_at + self.manner.after;
        self.awake = ahead > 0 && (soon || stirred || self.saved > self.manner.spare);
        if !self.awake {
            self.wakes_at = next.map(|next| next.saturating_sub(ahead));
        }
        self.awake
    }

    /// Time awake is spent, and saved up all the time.
    fn reckon(&mut self, now: u64) {
        let passed = now.saturating_sub(self.reckoned_at);
        let spent = if self.awake { passed } else { 0 };
        self.saved = (self.saved + passed * self.manner.tenths / 10)
            .saturating_sub(spent)
            .min(SAVED_MAX);
        self.reckoned_at = now;
    }

    /// It was woken so late.
    fn learn(&mut self, late: u64) {
        let ahead = if late > self.ahead {
            self.ahead + EARLIER
        } else {
            self.ahead - LATER
        };
        self.ahead = ahead.clamp(self.manner.ahead_min, self.manner.ahead_max);
    }
}

#[cfg(test)]
mod tests {
    use super::{ALERT, BRIEF, EARLIER, Vigil};

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
                now = (due - vigil.ahead()).max(now + 1_000);
            }
        }
        awake
    }

    #[test]
    fn no_more_of_the_time_is_spent_awake_than_may_be() {
        // Something is due each 100 us, which would take it 60 of them.
        let brief = awake(Vigil::brief(true), 100_000);
        let most = 1_000 * BRIEF.tenths;
        assert!((most * 9 / 10..=most).contains(&brief), "{brief}");
        // And all of them, but what it keeps for later.
        let alert = awake(Vigil::alert(), 100_000);
        let most = 1_000 * ALERT.tenths;
        assert!((most * 9 / 10..=most).contains(&alert), "{alert}");
    }

    #[test]
    fn who_is_alert_sleeps_seldom_and_only_where_nothing_is_due() {
        let mut vigil = Vigil::alert();
        let (mut now, mut awake, mut sleeps) = (0_u64, 0, 0);
        while now < 1_000_000_000 {
            let due = (now / 1_000_000 + 1) * 1_000_000;
            if vigil.stays(now, Some(due)) {
                awake += 1;
                now += 1_000;
            } else {
                sleeps += 1;
                // It is woken on time, before what is due.
                now = (due - vigil.ahead()).max(now + 1_000);
            }
        }
        assert!((890_000..=900_000).contains(&awake), "{awake}");
        assert!((100..=250).contains(&sleeps), "{sleeps} sleeps in a second");
    }

    #[test]
    fn what_comes_keeps_only_the_alert_awake() {
        for (mut vigil, after) in [(Vigil::alert(), 150_000), (Vigil::brief(true), 0)] {
            let far = Some(90_000_000);
            assert!(!vigil.stays(1_000_000, far));
            vigil.stirs(1_000_000);
            assert_eq!(vigil.stays(1_000_001, far), after > 0);
            assert!(!vigil.stays(1_000_000 + after, far));
            assert!(vigil.stays(89_990_000, far));
        }
    }

    #[test]
    fn who_is_woken_late_rises_earlier_and_by_and_by_later_again() {
        let mut vigil = Vigil::brief(true);
        // Each time it is woken so late.
        let mut sleeps = |late: u64, times: u64| {
            for _time in 0..times {
                let now = vigil.reckoned_at;
                let due = now + 10_000_000;
                assert!(!vigil.stays(now, Some(due)));
                vigil.stays(due - vigil.ahead() + late, Some(due + 10_000_000));
            }
            vigil.ahead
        };
        assert_eq!(sleeps(40_000, 50), BRIEF.ahead_min);
        assert_eq!(
            sleeps(130_000, 50),
            BRIEF.ahead_min + 4 * EARLIER - 46 * super::LATER
        );
        assert_eq!(sleeps(900_000, 50), BRIEF.ahead_max);
        assert_eq!(sleeps(40_000, 5_000), BRIEF.ahead_min);
    }

    #[test]
    fn without_a_processor_to_spare_it_sleeps() {
        let mut tired = Vigil::brief(false);
        assert!(!tired.stays(1_000_000, Some(1_000_000)));
        assert!(Vigil::brief(true).stays(1_000_000, Some(1_000_000)));
    }
}
