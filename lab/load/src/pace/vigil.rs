//! Waiting awake for what is due soon, as far as that costs little.

/// What is due sooner is waited for awake: about what it takes to be woken on a machine whose
/// processors sleep deeply.
const AWAKE_NANOS: u64 = 60_000;

/// One part in so many of the run may be spent like that.
const PARTS: u64 = 10;

/// How one thread spends its time awake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vigil {
    /// Whether there is a processor to spare.
    allowed: bool,
    /// Nanoseconds of the run that were spent.
    spent: u64,
    /// When it last said that it is awake, while it is.
    awake_at: Option<u64>,
}

impl Vigil {
    pub(super) const fn new(allowed: bool) -> Self {
        Self {
            allowed,
            spent: 0,
            awake_at: None,
        }
    }

    /// How long before something is due one may begin to wait awake; zero when too much has been
    /// spent.
    pub(super) const fn may_begin(&self, now: u64) -> u64 {
        if self.allowed && self.spent.saturating_mul(PARTS) <= now {
            AWAKE_NANOS
        } else {
            0
        }
    }

    /// It is awake now, and has been since it last said so.
    pub(super) const fn goes_on(&mut self, now: u64) {
        if let Some(last) = self.awake_at {
            self.spent += now - last;
        }
        self.awake_at = Some(now);
    }

    /// It sleeps.
    pub(super) const fn ends(&mut self) {
        self.awake_at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::{AWAKE_NANOS, PARTS, Vigil};

    #[test]
    fn a_tenth_of_the_time_at_most_is_spent_awake() {
        let mut vigil = Vigil::new(true);
        // Something is due each 100 us, which would take it 60 of them.
        let mut awake = 0;
        for due in (100_000..100_000_000).step_by(100_000) {
            for now in (due - AWAKE_NANOS..due).step_by(1_000) {
                if vigil.may_begin(now) > 0 {
                    vigil.goes_on(now);
                    awake += 1_000;
                } else {
                    // It sleeps until something is due.
                    break;
                }
            }
            vigil.ends();
        }
        let most = 100_000_000 / PARTS;
        assert!((most * 9 / 10..=most * 11 / 10).contains(&awake), "{awake}");
    }

    #[test]
    fn without_a_processor_to_spare_it_sleeps() {
        assert_eq!(Vigil::new(false).may_begin(1_000_000), 0);
        assert_eq!(Vigil::new(true).may_begin(1_000_000), AWAKE_NANOS);
    }
}
