//! Delays whose distribution is known in closed form.

use turnstile_load::pace;
use turnstile_stats::units::to_float;

/// Around a quantile at which a distribution jumps nobody can say on which side a finite run lies.
const JUMP: f64 = 0.002;

/// A share of the golden ratio of 2^64: its multiples lie evenly in every piece of the sequence
/// (H. Weyl, "Ueber die Gleichverteilung von Zahlen mod. Eins", 1916).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a server does with a request before it answers. Times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// Answers at once.
    None,
    /// Always as long.
    Fixed(u64),
    /// With this mean.
    Exponential { mean: u64 },
    /// Mostly short, with this share of long ones.
    Two { short: u64, long: u64, share: f64 },
    /// Stands still for `lasts` at the beginning of each `every`, and then takes `usual`.
    Freeze { every: u64, lasts: u64, usual: u64 },
    /// Each request comes at one of so many desks with a line before it, where one is served at a
    /// time and takes so long: with Poisson arrivals M/D/1.
    Line { service: u64, desks: usize },
}

/// A delay on a load: what it takes to know all responses before.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayedLoad {
    pub name: &'static str,
    /// In words.
    pub told: &'static str,
    pub delay: Delay,
    /// Requests a second.
    pub rate: f64,
    pub arrivals: pace::Law,
}

/// The delays as they are carried out: a state, for lines remember when they will be empty.
#[derive(Clone, Debug)]
pub struct Clockwork {
    delay: Delay,
    /// When each desk will be free.
    free: Vec<u64>,
}

const MS: u64 = 1_000_000;

/// What most answers take. Requests come each whole millisecond, and so answers leave when both ends
/// are awake: being woken once more would be most of what is off.
const USUAL: u64 = 10 * MS;

/// The six servers of a calibration. Their delays are 10 ms and more, for the way over the loopback
/// and being woken twice is part of every answer, and takes less than a hundredth of that on a
/// machine that is fit for measuring.
pub const CASES: [DelayedLoad; 6] = [
    DelayedLoad {
        name: "fixed",
        told: "10 ms each",
        delay: Delay::Fixed(USUAL),
        rate: 1_000.0,
        arrivals: pace::Law::Fixed,
    },
    DelayedLoad {
        name: "exponential",
        told: "exponential, mean 20 ms",
        delay: Delay::Exponential { mean: 20 * MS },
        rate: 1_000.0,
        arrivals: pace::Law::Fixed,
    },
    DelayedLoad {
        name: "bimodal",
        told: "10 ms, one in five 50 ms",
        delay: Delay::Two {
            short: USUAL,
            long: USUAL + 40 * MS,
            share: 0.2,
        },
        rate: 1_000.0,
        arrivals: pace::Law::Fixed,
    },
    DelayedLoad {
        name: "freeze",
        told: "10 ms, and nothing in 600 ms of each 1.5 s",
        delay: Delay::Freeze {
            every: 1_500 * MS,
            lasts: 600 * MS,
            usual: USUAL,
        },
        rate: 1_000.0,
        arrivals: pace::Law::Fixed,
    },
    DelayedLoad {
        name: "slow 1 %",
        told: "10 ms, one in a hundred 200 ms",
        delay: Delay::Two {
            short: USUAL,
            long: USUAL + 190 * MS,
            share: 0.01,
        },
        rate: 1_000.0,
        arrivals: pace::Law::Fixed,
    },
    DelayedLoad {
        name: "M/D/1",
        told: "Poisson arrivals at 15 lines, 10 ms of service, busy for 0.7 of the time",
        delay: Delay::Line {
            service: 10 * MS,
            desks: 15,
        },
        rate: 1_050.0,
        arrivals: pace::Law::Poisson,
    },
];

impl DelayedLoad {
    /// The response in nanoseconds below which the share `quantile` lies, by the formula; nothing
    /// where the distribution jumps.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Option<f64> {
        match self.delay {
            Delay::None => Some(0.0),
            Delay::Fixed(time) => Some(to_float(time)),
            Delay::Exponential { mean } => Some(-to_float(mean) * (1.0 - quantile).ln()),
            Delay::Two { short, long, share } => {
                let jump = 1.0 - share;
                if quantile < jump - JUMP {
                    Some(to_float(short))
                } else {
                    (quantile > jump + JUMP).then(|| to_float(long))
                }
            }
            Delay::Freeze {
                every,
                lasts,
                usual,
            } => {
                let waits = to_float(lasts) - (1.0 - quantile) * to_float(every);
                Some(to_float(usual) + waits.max(0.0))
            }
            Delay::Line { service, desks } => {
                let desks = to_float(u64::try_from(desks).ok()?);
                let service = to_float(service);
                let busy = self.rate / desks * service / 1e9;
                Some(service * (1.0 + wait_in_line(busy, quantile)))
            }
        }
    }
}

/// Below which the share `quantile` of the waiting times of M/D/1 lies, in services.
fn wait_in_line(busy: f64, quantile: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while waits_at_most(busy, high) < quantile {
        high *= 2.0;
    }
    for _halving in 0..60 {
        let middle = f64::midpoint(low, high);
        if waits_at_most(busy, middle) < quantile {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The share of requests that wait at most so many services in a line that is `busy` for this share
/// of the time. A. Erlang, "The theory of probabilities and telephone conversations", 1909. Its terms
/// cancel each other: good to nine digits up to ten services and a share of 0.8.
fn waits_at_most(busy: f64, services: f64) -> f64 {
    let mut sum = 0.0;
    let mut whole = 0.0;
    while whole <= services {
        let left = busy * (whole - services);
        // left^whole / whole!, which would overflow as a quotient.
        let mut term = (-left).exp();
        let mut factor = 1.0;
        while factor <= whole {
            term *= left / factor;
            factor += 1.0;
        }
        sum += term;
        whole += 1.0;
    }
    (1.0 - busy) * sum
}

impl Clockwork {
    #[must_use]
    pub fn new(delay: Delay) -> Self {
        let desks = match delay {
            Delay::Line { desks, .. } => desks,
            _ => 0,
        };
        Self {
            delay,
            free: vec![0; desks],
        }
    }

    /// When a request with this number that came then is to be answered, in nanoseconds. Requests
    /// are given in the order in which they came.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a delay is positive and shorter than an hour"
    )]
    pub fn answers(&mut self, number: u64, came: u64) -> u64 {
        match self.delay {
            Delay::None => came,
            Delay::Fixed(time) => came + time,
            Delay::Exponential { mean } => {
                came + (-to_float(mean) * (1.0 - even(number)).ln()) as u64
            }
            Delay::Two { short, long, share } => {
                came + if even(number) < 1.0 - share {
                    short
                } else {
                    long
                }
            }
            Delay::Freeze {
                every,
                lasts,
                usual,
            } => {
                let within = came % every;
                came + lasts.saturating_sub(within) + usual
            }
            Delay::Line { service, desks } => {
                let desks = u64::try_from(desks).expect("desks are few");
                let desk = usize::try_from(scattered(number) % desks).expect("desks are few");
                let free = came.max(self.free[desk]) + service;
                self.free[desk] = free;
                free
            }
        }
    }
}

/// Numbers between 0 and 1, of which each stretch of the sequence is spread evenly: what is drawn by
/// them has its distribution in every run, and not only in the mean of many.
fn even(number: u64) -> f64 {
    let turn = number.wrapping_mul(GOLDEN).wrapping_add(GOLDEN / 2);
    (to_float(turn >> 12) + 0.5) * f64::EPSILON
}

/// Numbers without order: those of SplitMix64.
const fn scattered(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(GOLDEN);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use turnstile_load::pace::{Profile, Schedule};

    use super::{CASES, Clockwork, Delay, DelayedLoad, wait_in_line, waits_at_most};

    const QUANTILES: [f64; 6] = [0.5, 0.9, 0.95, 0.99, 0.995, 0.999];

    /// The responses to this many requests in increasing order.
    fn responses(case: &DelayedLoad, requests: usize) -> Vec<u64> {
        let rate = Profile::constant(case.rate);
        let schedule = Schedule::new(case.arrivals.clone(), rate, 1);
        let mut clockwork = Clockwork::new(case.delay);
        let mut responses: Vec<u64> = (0..)
            .zip(schedule.take(requests))
            .map(|(number, due)| clockwork.answers(number, due) - due)
            .collect();
        responses.sort_unstable();
        responses
    }

    #[test]
    fn the_clockworks_do_what_the_formulas_say() {
        for case in &CASES {
            // The line is the only one that chance plays a part in.
            let (requests, within) = match case.delay {
                Delay::Line { .. } => (1_000_000, 0.03),
                _ => (16_000, 0.015),
            };
            let responses = responses(case, requests);
            for quantile in QUANTILES {
                let Some(known) = case.quantile(quantile) else {
                    continue;
                };
                #[expect(
                    clippy::cast_precision_loss,
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a share of few"
                )]
                let at = (quantile * requests as f64).ceil() as usize - 1;
                #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
                let found = responses[at] as f64;
                assert!(
                    (found / known - 1.0).abs() < within,
                    "{} at {quantile}: {found} is not {known}",
                    case.name
                );
            }
        }
    }

    #[test]
    fn a_jump_is_no_quantile() {
        let slow = CASES.iter().find(|case| case.name == "slow 1 %").unwrap();
        assert_eq!(slow.quantile(0.99), None);
        assert_eq!(slow.quantile(0.95), Some(1e7));
        assert_eq!(slow.quantile(0.995), Some(2e8));
    }

    #[test]
    fn a_line_is_that_of_erlang() {
        // Nobody waits when the desk is free, which it is for the rest of the time.
        for busy in [0.3, 0.7] {
            assert!((waits_at_most(busy, 0.0) - (1.0 - busy)).abs() < 1e-12);
        }
        // Pollaczek and Khinchin: the mean wait is busy / 2 (1 - busy) services.
        let (busy, steps) = (0.7, 4_000_u32);
        let mean: f64 = (0..steps)
            .map(|step| (1.0 - waits_at_most(busy, f64::from(step) / 200.0)) / 200.0)
            .sum();
        assert!((mean - busy / (2.0 * (1.0 - busy))).abs() < 5e-3, "{mean}");
        assert!(wait_in_line(0.7, 0.2) < 1e-9);
    }
}
