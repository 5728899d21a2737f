//! Closed interactive systems: users who think, ask, wait and think again.

use crate::units::count;

/// Stations that every request visits, and a time between two requests of a user.
///
/// Its figures are exact: J. Buzen, "Computational algorithms for closed queueing networks with
/// exponential servers", 1973. Mean value analysis gives the same and is shorter, but for stations
/// of many servers it subtracts what is nearly equal, and is 40 % off at sixteen.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    pub stations: Vec<QueueingStation>,
    /// Seconds from a reply to the user's next request.
    pub think: f64,
}

/// A line before one or more equal servers, whose services are exponential.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueingStation {
    /// Seconds of service for one request, over all its visits.
    pub demand: f64,
    /// How many serve at once, at least 1.
    pub servers: usize,
}

/// The steady state of a network with some users.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operating {
    pub users: usize,
    /// Requests a second.
    pub throughput: f64,
    /// Seconds from request to reply.
    pub response: f64,
}

impl Network {
    /// The most that it can do, in requests a second.
    #[must_use]
    pub fn capacity(&self) -> f64 {
        let limits = self.stations.iter().map(QueueingStation::capacity);
        limits.fold(f64::INFINITY, f64::min)
    }

    /// The number of users from which on requests must wait: capacity times what a lone user's
    /// round takes.
    #[must_use]
    pub fn knee(&self) -> f64 {
        let demand: f64 = self.stations.iter().map(|station| station.demand).sum();
        self.capacity() * (demand + self.think)
    }

    /// What it does with 1, 2, ... up to so many users.
    ///
    /// # Panics
    /// When the knee is beyond 600 users, whose weights would leave the range of floats.
    #[must_use]
    pub fn up_to(&self, users: usize) -> Vec<Operating> {
        let knee = self.knee();
        assert!(knee < 600.0, "a knee of {knee} users");
        let unit = 1.0 / self.capacity();
        let mut sums = weights(users, |others| self.think / unit / count(others));
        for station in &self.stations {
            let own = weights(users, |here| {
                station.demand / unit / count(here.min(station.servers))
            });
            sums = convolved(&sums, &own);
        }
        (1..=users)
            .map(|users| {
                let throughput = sums[users - 1] / sums[users] / unit;
                let response = count(users) / throughput - self.think;
                Operating {
                    users,
                    throughput,
                    response,
                }
            })
            .collect()
    }
}

/// The weight of 0, 1, ... requests at a place, each `step` times that of one less.
fn weights(users: usize, step: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut weights = vec![1.0];
    let mut last = 1.0;
    for here in 1..=users {
        last *= step(here);
        weights.push(last);
    }
    weights
}

/// The weights of two places together.
fn convolved(one: &[f64], other: &[f64]) -> Vec<f64> {
    let both = |users: usize| -> f64 {
        let here = one[..=users].iter();
        here.zip(other[..=users].iter().rev())
            .map(|(one, other)| one * other)
            .sum()
    };
    (0..one.len()).map(both).collect()
}

impl QueueingStation {
    fn capacity(&self) -> f64 {
        count(self.servers) / self.demand
    }
}

#[cfg(test)]
mod tests {
    use super::{Network, Operating, QueueingStation};

    fn single(servers: usize, demand: f64, think: f64) -> Network {
        let stations = vec![QueueingStation { demand, servers }];
        Network { stations, think }
    }

    #[test]
    fn one_station_with_thinking_users_is_the_machine_repairman() {
        // Users in the station are a birth and death chain, solved by hand.
        for (servers, users) in [(1_u32, 6_u32), (2, 9), (4, 20), (16, 200)] {
            let (demand, think) = (0.01, 0.05);
            let mut weights = vec![1.0];
            for here in 1..=users {
                let coming = f64::from(users - here + 1) / think;
                let going = f64::from(here.min(servers)) / demand;
                weights.push(weights.last().unwrap() * coming / going);
            }
            let all: f64 = weights.iter().sum();
            let served = weights.iter().zip(0..).map(|(weight, here)| {
                weight / all * f64::from(std::cmp::min::<u32>(here, servers))
            });
            let known = served.sum::<f64>() / demand;
            let network = single(usize::try_from(servers).unwrap(), demand, think);
            let found = *network
                .up_to(usize::try_from(users).unwrap())
                .last()
                .unwrap();
            assert!(
                (found.throughput / known - 1.0).abs() < 1e-9,
                "{found:?} {known}"
            );
        }
    }

    #[test]
    fn two_equal_stations_have_the_textbook_answer() {
        // Balanced, without thinking: X = N / (D (N + K - 1)).
        let station = QueueingStation {
            demand: 0.005,
            servers: 1,
        };
        let network = Network {
            stations: vec![station; 2],
            think: 0.0,
        };
        for Operating {
            users, throughput, ..
        } in network.up_to(30)
        {
            let users = f64::from(u32::try_from(users).unwrap());
            let known = users / (0.005 * (users + 1.0));
            assert!(
                (throughput / known - 1.0).abs() < 1e-9,
                "{users}: {throughput}"
            );
        }
    }

    #[test]
    fn capacity_and_knee_are_where_the_asymptotes_meet() {
        let network = single(4, 0.02, 0.1);
        assert!((network.capacity() - 200.0).abs() < 1e-9);
        assert!((network.knee() - 24.0).abs() < 1e-9);
        let many = *network.up_to(200).last().unwrap();
        assert!((many.throughput / 200.0 - 1.0).abs() < 1e-6, "{many:?}");
    }
}
