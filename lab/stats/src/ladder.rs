//! How many users to try next, until more of them surely bring nothing.

use crate::{interval::Interval, units::count};

/// Twice the users must bring at least this share more; else the system is full.
const GAIN_MIN: f64 = 0.05;

/// Rungs on the level before the search looks between those below: a fit needs three, and the
/// first of them may still be rising by less than 5 %.
const LEVEL_RUNGS: usize = 4;

/// A pure state machine: it says which number of users is next, and is told what they reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    least: usize,
    most: usize,
    /// Users and their throughput, in increasing order of users.
    tried: Vec<(usize, Interval)>,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextUsers {
    Try(usize),
    Stop(StopReason),
}

/// Why there is nothing more to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// More users surely bring less than 5 % more.
    Full,
    /// So many users were the most that was allowed, and more of them might bring more.
    Most,
}

impl Ladder {
    /// From `least` to at most `most` users.
    ///
    /// # Panics
    /// When `least` is 0 or above `most`.
    #[must_use]
    pub fn new(least: usize, most: usize) -> Self {
        assert!(0 < least && least <= most, "{least} to {most} users");
        let tried = Vec::new();
        Self { least, most, tried }
    }

    /// So many users reached this throughput.
    pub fn note(&mut self, users: usize, throughput: Interval) {
        let at = self.tried.partition_point(|(tried, _)| *tried < users);
        self.tried.insert(at, (users, throughput));
    }

    /// What has been tried, in increasing order of users.
    #[must_use]
    pub fn tried(&self) -> &[(usize, Interval)] {
        &self.tried
    }

    /// What to try next.
    #[must_use]
    pub fn next(&self) -> NextUsers {
        let Some(&(last, _)) = self.tried.last() else {
            return NextUsers::Try(self.least);
        };
        let level = self.level();
        if level < LEVEL_RUNGS && last < self.most {
            return NextUsers::Try((2 * last).min(self.most));
        }
        if let Some(between) = self.gap() {
            return NextUsers::Try(between);
        }
        NextUsers::Stop(if level > 1 {
            StopReason::Full
        } else {
            StopReason::Most
        })
    }

    /// How many rungs at the end stand on the level: none brought surely 5 % more than the first.
    fn level(&self) -> usize {
        let rungs = self.tried.iter().rev();
        let flat = rungs
            .clone()
            .zip(rungs.skip(1))
            .take_while(|((_, more), (_, fewer))| is_flat(fewer, more));
        flat.count() + 1
    }

    /// The number in the middle of two neighbours about the bend, where nothing was tried.
    fn gap(&self) -> Option<usize> {
        let bend = self.tried.len() - self.level();
        let from = bend.saturating_sub(1);
        let near = self.tried.get(from..(bend + 2).min(self.tried.len()))?;
        near.windows(2).find_map(|pair| {
            let (fewer, more) = (pair[0].0, pair[1].0);
            let middle = fewer.midpoint(more);
            // The rungs of the climb double; what was put between them is close enough.
            (count(more) / count(fewer) > 1.6 && middle > fewer).then_some(middle)
        })
    }
}

/// Whether `more` is surely less than 5 % above `fewer`, both errors taken together.
fn is_flat(fewer: &Interval, more: &Interval) -> bool {
    let gain = (more.estimate / fewer.estimate).ln();
    let error = more.relative().hypot(fewer.relative());
    gain + error < GAIN_MIN.ln_1p()
}

#[cfg(test)]
mod tests {
    use turnstile_seed::Random;

    use super::{Ladder, NextUsers, StopReason};
    use crate::{
        Interval,
        capacity::Segments,
        chance::normal,
        knee,
        truth::{Network, QueueingStation},
        units::count,
    };

    /// Climbs on a network whose throughput is measured within `error`.
    fn climb(network: &Network, error: f64, most: usize, seed: u64) -> (Ladder, StopReason) {
        let truth = network.up_to(most);
        let mut random = Random::new(seed);
        let mut ladder = Ladder::new(1, most);
        loop {
            match ladder.next() {
                NextUsers::Stop(stop) => return (ladder, stop),
                NextUsers::Try(users) => {
                    let noise = 1.0 + error / 2.0 * normal(&mut || random.draw());
                    let found = truth[users - 1].throughput * noise;
                    ladder.note(users, Interval::about(found, found * error));
                }
            }
            assert!(ladder.tried().len() < 20, "{ladder:?}");
        }
    }

    fn network(demand: f64, servers: usize, think: f64) -> Network {
        let stations = vec![QueueingStation { demand, servers }];
        Network { stations, think }
    }

    #[test]
    fn capacity_and_knee_of_known_systems_are_found() {
        let networks = [
            network(0.001, 1, 0.0),
            network(0.001, 1, 0.004),
            network(0.004, 4, 0.001),
            network(0.002, 2, 0.010),
        ];
        let (mut off, mut off_knee) = (Vec::new(), Vec::new());
        for network in &networks {
            for seed in 0..50 {
                let (ladder, stop) = climb(network, 0.01, 256, seed);
                assert_eq!(stop, StopReason::Full, "{ladder:?}");
                let curve: Vec<(f64, f64)> = ladder
                    .tried()
                    .iter()
                    .map(|(users, found)| (count(*users), found.estimate))
                    .collect();
                let level = Segments::through(&curve).unwrap().level;
                off.push((level.estimate / network.capacity() - 1.0).abs());
                let lone = ladder.tried()[0].1.estimate;
                let round = Interval::about(1.0 / lone, 0.01 / lone);
                let found = knee(&level, &round).estimate;
                off_knee.push((found / network.knee() - 1.0).abs());
            }
        }
        let worst = |off: &[f64]| crate::sample::quantile(off, 0.95);
        assert!(worst(&off) < 0.03, "capacity within {:.3}", worst(&off));
        assert!(
            worst(&off_knee) < 0.1,
            "knee within {:.3}",
            worst(&off_knee)
        );
    }

    #[test]
    fn it_climbs_by_twos_and_then_looks_about_the_bend() {
        let (ladder, _) = climb(&network(0.001, 1, 0.009), 0.001, 512, 1);
        let users: Vec<usize> = ladder.tried().iter().map(|(users, _)| *users).collect();
        assert_eq!(users, [1, 2, 4, 8, 12, 16, 24, 32, 64, 128]);
    }

    #[test]
    fn who_may_not_try_enough_users_says_so() {
        let (ladder, stop) = climb(&network(0.001, 4, 0.1), 0.001, 8, 1);
        assert_eq!(stop, StopReason::Most);
        assert_eq!(ladder.tried().last().unwrap().0, 8);
        let (_, stop) = climb(&network(0.001, 1, 0.0), 0.001, 1, 1);
        assert_eq!(stop, StopReason::Most);
    }
}
