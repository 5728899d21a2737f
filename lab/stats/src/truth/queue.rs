//! One server and a line before it, with arrivals and services at random (M/M/1).

use crate::chance::exponential;

/// The simplest open system. The time in it is exponential with mean 1 / (service rate - arrival
/// rate); D. Kendall, "Stochastic processes occurring in the theory of queues", 1953.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// Requests that come in a second.
    pub arrivals: f64,
    /// Requests that could be served in a second; more than arrive.
    pub services: f64,
}

impl Queue {
    /// The mean time of a request in the system, in seconds.
    #[must_use]
    pub fn response(&self) -> f64 {
        1.0 / (self.services - self.arrivals)
    }

    /// Below which the share `quantile` of the times lies, in seconds.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> f64 {
        -self.response() * (1.0 - quantile).ln()
    }

    /// The share of time in which the server is busy.
    #[must_use]
    pub fn utilization(&self) -> f64 {
        self.arrivals / self.services
    }

    /// The times of so many requests in seconds, in the order in which they came, from an empty
    /// system on.
    pub fn responses(&self, draw: &mut impl FnMut() -> u64, requests: usize) -> Vec<f64> {
        let mut left_over = 0.0_f64;
        (0..requests)
            .map(|_| {
                let response = left_over + exponential(draw, 1.0 / self.services);
                left_over = (response - exponential(draw, 1.0 / self.arrivals)).max(0.0);
                response
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use turnstile_seed::Random;

    use super::Queue;
    use crate::sample;

    #[test]
    fn the_simulation_agrees_with_the_theory() {
        let queue = Queue {
            arrivals: 500.0,
            services: 1_000.0,
        };
        assert!((queue.response() - 0.002).abs() < 1e-12);
        assert!((queue.utilization() - 0.5).abs() < 1e-12);
        let mut random = Random::new(5);
        let responses = queue.responses(&mut || random.draw(), 200_000);
        let ratio = sample::mean(&responses) / queue.response();
        assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
        let ratio = sample::quantile(&responses, 0.99) / queue.quantile(0.99);
        assert!((ratio - 1.0).abs() < 0.04, "{ratio}");
    }
}
