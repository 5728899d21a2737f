//! When requests are due: a pure function of seed, law and level, known before the run.

use std::sync::Arc;

use turnstile_stats::{chance::uniform, units::to_float};

use crate::{Error, seed::Dice};

/// The law of the gaps between two requests of an open loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Equal gaps.
    Fixed,
    /// Exponential gaps: as many independent people ask.
    Poisson,
    /// Equal gaps, each longer or shorter by up to this share.
    Jitter(f64),
    /// So many at one instant, then a pause that keeps the rate.
    Burst(u32),
    /// These instants, in nanoseconds since the start and in increasing order, whatever the level.
    Trace(Arc<[u64]>),
}

/// A level over time: requests a second of an open loop, or users of a closed one.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    stages: Vec<Stage>,
    /// The level after the last stage.
    last: f64,
}

/// A straight line from one level to another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stage {
    /// In seconds.
    begins: f64,
    takes: f64,
    from: f64,
    to: f64,
    /// What all stages before sum up to, in level x seconds.
    before: f64,
}

/// The instants of one run, in nanoseconds since its start, in order.
#[derive(Clone, Debug)]
pub struct Schedule {
    law: Law,
    profile: Profile,
    dice: Dice,
    number: u64,
    /// What has come of a process with one request a second.
    passed: f64,
}

impl Profile {
    /// The same level all the time.
    #[must_use]
    pub const fn constant(level: f64) -> Self {
        Self {
            stages: Vec::new(),
            last: level,
        }
    }

    /// The level, where it is the same all the time.
    #[must_use]
    pub fn level(&self) -> Option<f64> {
        self.stages.is_empty().then_some(self.last)
    }

    /// From nothing in a straight line to each level in turn, each in so many seconds, and then
    /// that of the last.
    ///
    /// # Errors
    /// No stage, a negative level, or one that takes no time.
    pub fn of_stages(stages: &[(f64, f64)]) -> Result<Self, Error> {
        let sound = |&(takes, level): &(f64, f64)| {
            takes.is_finite() && takes > 0.0 && level.is_finite() && level >= 0.0
        };
        if stages.is_empty() || !stages.iter().all(sound) {
            return Err(Error::Setting(
                "a stage takes some time, and its level is not negative",
            ));
        }
        let (mut begins, mut from, mut before) = (0.0, 0.0, 0.0);
        let mut made = Vec::with_capacity(stages.len());
        for &(takes, to) in stages {
            made.push(Stage {
                begins,
                takes,
                from,
                to,
                before,
            });
            begins += takes;
            before += takes * f64::midpoint(from, to);
            from = to;
        }
        Ok(Self {
            stages: made,
            last: from,
        })
    }

    /// The level at so many seconds after the start.
    #[must_use]
    pub fn at(&self, seconds: f64) -> f64 {
        let over = |stage: &&Stage| seconds < stage.begins + stage.takes;
        self.stages.iter().find(over).map_or(self.last, |stage| {
            stage.from + (stage.to - stage.from) * (seconds - stage.begins) / stage.takes
        })
    }

    /// The highest level of all.
    #[must_use]
    pub fn most(&self) -> f64 {
        self.stages
            .iter()
            .fold(self.last, |most, stage| most.max(stage.to))
    }

    /// When the level is above `level`, at `seconds` or later; nothing when never.
    #[must_use]
    pub fn next_above(&self, level: f64, seconds: f64) -> Option<f64> {
        for stage in &self.stages {
            let ends = stage.begins + stage.takes;
            if seconds >= ends {
                continue;
            }
            let from = seconds.max(stage.begins);
            if self.at(from) > level {
                return Some(from);
            }
            if stage.to > level {
                let share = (level - stage.from) / (stage.to - stage.from);
                return Some((stage.begins + stage.takes * share).max(from));
            }
        }
        let ends = self
            .stages
            .last()
            .map_or(0.0, |stage| stage.begins + stage.takes);
        (self.last > level).then_some(seconds.max(ends))
    }

    /// When the level has summed up to so much, in seconds; nothing when it never does.
    fn reached(&self, sum: f64) -> Option<f64> {
        let mut ends = (0.0, 0.0);
        for stage in &self.stages {
            let own = stage.takes * f64::midpoint(stage.from, stage.to);
            ends = (stage.begins + stage.takes, stage.before + own);
            if sum < ends.1 {
                let left = sum - stage.before;
                let bend = 2.0 * (stage.to - stage.from) * left / stage.takes;
                let root = stage.from.mul_add(stage.from, bend).max(0.0).sqrt();
                return Some(
                    stage.begins + 2.0 * left / (stage.from + root).max(f64::MIN_POSITIVE),
                );
            }
        }
        (self.last > 0.0).then(|| ends.0 + (sum - ends.1) / self.last)
    }
}

impl Schedule {
    #[must_use]
    pub const fn new(law: Law, profile: Profile, seed: u64) -> Self {
        Self {
            law,
            profile,
            // No user has this number.
            dice: Dice::of_user(seed, u64::MAX),
            number: 0,
            passed: 0.0,
        }
    }

    /// How many are due from `from` on and before `to`.
    #[must_use]
    pub fn count(self, from: u64, to: u64) -> u64 {
        let due = self.take_while(|&due| due < to).filter(|&due| due >= from);
        u64::try_from(due.count()).expect("a count has at most 64 bits")
    }

    /// What has come of the process with one request a second when the next is due.
    fn step(&mut self) -> f64 {
        let number = self.number;
        match self.law {
            Law::Fixed | Law::Trace(_) => to_float(number),
            Law::Burst(size) => to_float(number - number % u64::from(size.max(1))),
            Law::Poisson => {
                self.passed -= uniform(&mut || self.dice.next()).ln();
                self.passed
            }
            Law::Jitter(share) => {
                let now = self.passed;
                let off = share * (2.0 * uniform(&mut || self.dice.next()) - 1.0);
                self.passed += 1.0 + off;
                now
            }
        }
    }
}

impl Iterator for Schedule {
    type Item = u64;

    /// Nothing when no more will ever be due.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "nanoseconds of a run are positive and far below 2^64"
    )]
    fn next(&mut self) -> Option<u64> {
        let due = if let Law::Trace(instants) = &self.law {
            let at = usize::try_from(self.number).ok()?;
            *instants.get(at)?
        } else {
            let sum = self.step();
            (self.profile.reached(sum)? * 1e9).round() as u64
        };
        self.number += 1;
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Law, Profile, Schedule};

    fn first(law: Law, profile: &Profile, many: usize) -> Vec<u64> {
        Schedule::new(law, profile.clone(), 7).take(many).collect()
    }

    #[test]
    fn every_law_has_its_instants() {
        let profile = Profile::constant(1_000.0);
        assert_eq!(first(Law::Fixed, &profile, 3), [0, 1_000_000, 2_000_000]);
        let bursts = [0, 0, 2_000_000, 2_000_000];
        assert_eq!(first(Law::Burst(2), &profile, 4), bursts);
        let trace = Law::Trace(Arc::from([5, 9, 9]));
        assert_eq!(first(trace, &profile, 10), [5, 9, 9]);
        let jitter = first(Law::Jitter(0.01), &profile, 10_000);
        let gaps: Vec<u64> = jitter.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let near = |gap: &u64| (989_999..=1_010_001).contains(gap);
        assert!(gaps.iter().all(near), "{gaps:?}");
        assert!(gaps.iter().any(|gap| *gap < 995_000), "{gaps:?}");
    }

    #[test]
    fn poisson_arrivals_keep_their_rate_and_have_exponential_gaps() {
        let due = first(Law::Poisson, &Profile::constant(1_000.0), 100_000);
        let last = *due.last().unwrap();
        assert!(last.abs_diff(100_000_000_000) < 1_000_000_000, "{last}");
        let long = due.windows(2).filter(|pair| pair[1] - pair[0] > 1_000_000);
        // A gap is longer than the mean in a share of 1 / e.
        let share = long.count();
        assert!((36_000..37_600).contains(&share), "{share}");
    }

    #[test]
    fn the_same_seed_gives_the_same_instants_and_another_gives_others() {
        let profile = Profile::constant(10_000.0);
        let of = |seed| -> Vec<u64> {
            Schedule::new(Law::Poisson, profile.clone(), seed)
                .take(1_000)
                .collect()
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert_eq!(of(1)[..3], [92_781, 226_102, 238_721]);
    }

    #[test]
    fn stages_are_straight_lines_from_level_to_level() {
        let profile = Profile::of_stages(&[(10.0, 100.0), (10.0, 100.0), (10.0, 0.0)]).unwrap();
        let levels = [0.0, 5.0, 10.0, 15.0, 25.0, 40.0].map(|seconds| profile.at(seconds));
        assert_eq!(levels, [0.0, 50.0, 100.0, 100.0, 50.0, 0.0]);
        let due: Vec<u64> = Schedule::new(Law::Fixed, profile.clone(), 1).collect();
        // 500 on the way up, 1000 on the level, 500 on the way down.
        assert_eq!(due.len(), 2_000);
        let up_to = |seconds: u64| due.partition_point(|due| *due < seconds * 1_000_000_000);
        assert_eq!([up_to(10), up_to(20)], [500, 1_500]);
        assert!(up_to(5).abs_diff(125) <= 1, "{}", up_to(5));
        assert!(due.is_sorted());
        assert_eq!(
            Schedule::new(Law::Fixed, profile.clone(), 1).count(0, 10_000_000_000),
            500
        );
        let above = [(50.0, 0.0), (50.0, 7.0), (50.0, 26.0), (100.0, 0.0)];
        let found = above.map(|(level, seconds)| profile.next_above(level, seconds));
        assert_eq!(found, [Some(5.0), Some(7.0), None, None]);
        assert!((profile.most() - 100.0).abs() < 1e-9);
    }

    #[test]
    fn stages_that_make_no_sense_are_refused() {
        let rows: [&[(f64, f64)]; 5] = [
            &[],
            &[(0.0, 1.0)],
            &[(1.0, -1.0)],
            &[(f64::NAN, 1.0)],
            &[(1.0, f64::INFINITY)],
        ];
        for stages in rows {
            assert!(Profile::of_stages(stages).is_err(), "{stages:?}");
        }
    }
}
