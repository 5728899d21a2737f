//! The number of users from which on they wait for each other.

use crate::interval::Interval;

/// Where both asymptotes of a closed system meet: capacity x (response of a lone user + think
/// time). L. Kleinrock, "Queueing Systems, volume 2", 1976 (the saturation number).
///
/// `capacity` in requests a second, `lone` in seconds: the mean round of a single user, with its
/// think time. Both were measured apart, so the relative errors add as squares.
///
/// # Panics
/// When an estimate or its lower end is not above 0.
#[must_use]
pub fn knee(capacity: &Interval, lone: &Interval) -> Interval {
    assert!(
        capacity.low > 0.0 && lone.low > 0.0,
        "{capacity} and {lone} are above 0"
    );
    let both = |one: f64, other: f64| one.ln().hypot(other.ln()).exp();
    let estimate = capacity.estimate * lone.estimate;
    let down = both(capacity.estimate / capacity.low, lone.estimate / lone.low);
    let up = both(capacity.high / capacity.estimate, lone.high / lone.estimate);
    Interval {
        low: estimate / down,
        estimate,
        high: estimate * up,
    }
}

#[cfg(test)]
mod tests {
    use super::knee;
    use crate::{
        interval::Interval,
        truth::{Network, Station},
    };

    #[test]
    fn the_knee_of_a_known_system_is_found() {
        let stations = vec![
            Station {
                demand: 0.008,
                servers: 4,
            },
            Station {
                demand: 0.001,
                servers: 1,
            },
        ];
        let network = Network {
            stations,
            think: 0.02,
        };
        let lone = network.up_to(1)[0].response + network.think;
        let exact = |value| Interval::about(value, 0.0);
        let found = knee(&exact(network.capacity()), &exact(lone));
        assert!(
            (found.estimate / network.knee() - 1.0).abs() < 1e-9,
            "{found}"
        );
        assert!(found.half_width() < 1e-9);
    }

    #[test]
    fn errors_add_as_squares() {
        let percent = |value: f64, percent: f64| Interval {
            low: value / (1.0 + percent / 100.0),
            estimate: value,
            high: value * (1.0 + percent / 100.0),
        };
        let found = knee(&percent(500.0, 3.0), &percent(0.01, 4.0));
        assert_eq!(format!("{found:.2}"), "5.00 (4.76 .. 5.25)");
    }
}
