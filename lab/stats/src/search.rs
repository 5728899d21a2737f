//! Which rate to try next, until the highest that meets an objective is known.

use crate::interval::Interval;

/// A pure state machine: it says which rate is next, and is told whether it met the objective surely,
/// surely not, or neither.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Where it begins, and below which it does not look.
    first: f64,
    least: f64,
    /// How near both ends of the result should be, as a share.
    tolerance: f64,
    /// The highest rate that met it, and the lowest that missed it.
    met: Option<f64>,
    missed: Option<f64>,
    /// Those between the two that were neither.
    unsure: Vec<f64>,
    probes: usize,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NextRate {
    Try(f64),
    /// The rate is known.
    Known(Interval),
    /// Even the lowest rate that is tried misses it.
    NoRate,
    /// It was not found in [`PROBES_MAX`] probes; what is known of it.
    GivenUp,
}

/// More probes than this are not made.
pub const PROBES_MAX: usize = 24;

impl Search {
    /// Begins at `first` requests a second.
    ///
    /// # Panics
    /// When a rate or the tolerance is not above 0, or `least` is above `first`.
    #[must_use]
    pub fn new(first: f64, least: f64, tolerance: f64) -> Self {
        assert!(
            0.0 < least && least <= first,
            "{least} is above 0 and below {first}"
        );
        assert!(tolerance > 0.0, "a tolerance of {tolerance}");
        Self {
            first,
            least,
            tolerance,
            met: None,
            missed: None,
            unsure: Vec::new(),
            probes: 0,
        }
    }

    /// What this rate said; nothing: neither surely.
    pub fn note(&mut self, rate: f64, met: Option<bool>) {
        self.probes += 1;
        match met {
            Some(true) => self.met = Some(self.met.map_or(rate, |best| best.max(rate))),
            Some(false) => self.missed = Some(self.missed.map_or(rate, |worst| worst.min(rate))),
            None => self.unsure.push(rate),
        }
        // What is sure says more than what is not.
        let (met, missed) = (self.met, self.missed);
        self.unsure.retain(|&rate| {
            met.is_none_or(|met| rate > met) && missed.is_none_or(|missed| rate < missed)
        });
    }

    /// What to try next.
    #[must_use]
    pub fn next(&self) -> NextRate {
        let middle = |low: f64, high: f64| NextRate::Try((low * high).sqrt());
        let wide = |low: f64, high: f64| high / low > 1.0 + self.tolerance;
        if self.probes >= PROBES_MAX {
            return NextRate::GivenUp;
        }
        let below = self.unsure.iter().copied().reduce(f64::min);
        let above = self.unsure.iter().copied().reduce(f64::max);
        match (self.met, self.missed) {
            (None, None) if self.probes == 0 => NextRate::Try(self.first),
            (None, missed) => {
                let lowest = below.into_iter().chain(missed).fold(self.first, f64::min);
                if lowest <= self.least {
                    // Where chance decided all the way down, nothing was missed.
                    let surely = missed.is_some_and(|missed| missed <= self.least);
                    return if surely {
                        NextRate::NoRate
                    } else {
                        NextRate::GivenUp
                    };
                }
                NextRate::Try((lowest / 2.0).max(self.least))
            }
            (Some(met), None) => NextRate::Try(2.0 * above.unwrap_or(met).max(met)),
            (Some(met), Some(missed)) => {
                let (low, high) = (below.unwrap_or(missed), above.unwrap_or(met));
                if below.is_none() && wide(met, missed) {
                    middle(met, missed)
                } else if below.is_some() && wide(met, low) {
                    middle(met, low)
                } else if above.is_some() && wide(high, missed) {
                    middle(high, missed)
                } else {
                    let estimate = if below.is_some() {
                        (low * high).sqrt()
                    } else {
                        met
                    };
                    NextRate::Known(Interval {
                        low: met.min(estimate),
                        estimate,
                        high: missed.max(estimate),
                    })
                }
            }
        }
    }

    /// The bounds that are known when it is given up; nothing when one of them is not.
    #[must_use]
    pub fn bounds(&self) -> Option<Interval> {
        let (low, high) = (self.met?, self.missed?);
        let estimate = (low * high).sqrt();
        Some(Interval {
            low: low.min(estimate),
            estimate,
            high: high.max(estimate),
        })
    }
}

#[cfg(test)]
mod tests {
    use turnstile_seed::Random;

    use super::{NextRate, PROBES_MAX, Search};
    use crate::{chance::normal, truth::Queue};

    /// Looks for the highest rate at which p99 of a queue is below `limit` seconds, when p99 is
    /// measured with this error.
    fn search(limit: f64, error: f64, first: f64, seed: u64) -> (NextRate, usize) {
        let mut random = Random::new(seed);
        let mut search = Search::new(first, 1.0, 0.03);
        loop {
            let NextRate::Try(rate) = search.next() else {
                return (search.next(), search.probes);
            };
            let met = if rate >= 999.0 {
                Some(false)
            } else {
                let queue = Queue {
                    arrivals: rate,
                    services: 1_000.0,
                };
                let off = 1.0 + error / 2.0 * normal(&mut || random.draw());
                let p99 = queue.quantile(0.99) * off;
                match (p99 * (1.0 + error) < limit, p99 * (1.0 - error) < limit) {
                    (true, _) => Some(true),
                    (false, false) => Some(false),
                    (false, true) => None,
                }
            };
            search.note(rate, met);
        }
    }

    #[test]
    fn the_rate_of_a_known_queue_is_found_from_above_and_from_below() {
        // p99 of a queue is ln 100 / (1000 - rate).
        let limit = 0.020;
        let truth = 1_000.0 - 100.0_f64.ln() / limit;
        for (first, seed) in [(10.0, 1), (700.0, 2), (5_000.0, 3)] {
            let (found, probes) = search(limit, 0.0, first, seed);
            let NextRate::Known(rate) = found else {
                panic!("{found:?}");
            };
            assert!(rate.low <= truth && truth <= rate.high, "{rate} {truth}");
            assert!(rate.high / rate.low < 1.031, "{rate}");
            assert!(probes <= 18, "{probes}");
        }
    }

    #[test]
    fn where_chance_decides_the_interval_is_wider_and_holds_the_truth() {
        let limit = 0.020;
        let truth = 1_000.0 - 100.0_f64.ln() / limit;
        let mut held = 0;
        for seed in 0..100 {
            let (found, probes) = search(limit, 0.1, 500.0, seed);
            if let NextRate::Known(rate) = found {
                held += u32::from(rate.low <= truth && truth <= rate.high);
            }
            assert!(probes <= PROBES_MAX);
        }
        assert!(held >= 93, "{held} of 100");
    }

    #[test]
    fn what_is_not_sure_counts_only_between_what_is() {
        let outcomes = [
            (500.0, Some(true)),
            (700.0, None),
            (800.0, Some(true)),
            (900.0, Some(false)),
        ];
        for shift in [1.0, -1.0] {
            // The same the other way round: the lowest unsure rate lies above one that was missed.
            let mut search = Search::new(500.0, 1.0, 0.03);
            let met = |rate: f64| rate < 850.0;
            for (rate, outcome) in outcomes {
                let (rate, outcome) = if shift > 0.0 {
                    (rate, outcome)
                } else {
                    (1_700.0 - rate, outcome.map(|met| !met))
                };
                search.note(rate, outcome);
            }
            let mut tried = Vec::new();
            while let NextRate::Try(rate) = search.next() {
                assert!(!tried.contains(&rate), "{rate} again");
                tried.push(rate);
                search.note(rate, Some(met(rate)));
            }
            let NextRate::Known(rate) = search.next() else {
                panic!("{:?} after {tried:?}", search.next());
            };
            assert!(rate.low <= 850.0 && 850.0 <= rate.high, "{rate}");
        }
    }

    #[test]
    fn an_objective_that_no_rate_meets_is_said_to_be_so() {
        let (found, probes) = search(0.001, 0.0, 500.0, 1);
        assert_eq!(found, NextRate::NoRate);
        assert!(probes < 15, "{probes}");
    }

    #[test]
    fn where_nothing_is_ever_sure_nothing_is_said() {
        let mut search = Search::new(64.0, 1.0, 0.03);
        while let NextRate::Try(rate) = search.next() {
            search.note(rate, None);
        }
        assert_eq!((search.next(), search.bounds()), (NextRate::GivenUp, None));
        assert_eq!(search.probes, 7);
    }

    #[test]
    fn one_that_every_rate_meets_is_given_up() {
        let mut search = Search::new(1.0, 1.0, 0.03);
        while let NextRate::Try(rate) = search.next() {
            search.note(rate, Some(true));
        }
        assert_eq!((search.next(), search.bounds()), (NextRate::GivenUp, None));
    }
}
