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

/// Where points `(users, requests a second)` in increasing order of users lie farthest above the
/// straight line between the first and the last. It moves with the range that was swept, so it is
/// never the headline. V. Satopaa and others, "Finding a kneedle in a haystack", 2011.
#[must_use]
pub fn kneedle(points: &[(f64, f64)]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    let (wide, high) = (last.0 - first.0, last.1 - first.1);
    if points.len() < 3 || wide <= 0.0 || high <= 0.0 {
        return None;
    }
    let above = |point: &(f64, f64)| (point.1 - first.1) / high - (point.0 - first.0) / wide;
    let best = points
        .iter()
        .max_by(|one, other| above(one).total_cmp(&above(other)))?;
    (above(best) > 0.0).then_some(best.0)
}

/// The fewest users who reach this share of the highest throughput of all.
#[must_use]
pub fn share_of_most(points: &[(f64, f64)], share: f64) -> Option<f64> {
    let most = points.iter().map(|(_, rate)| *rate).reduce(f64::max)?;
    let reached = points.iter().filter(|(_, rate)| *rate >= share * most);
    reached.map(|(users, _)| *users).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::knee;
    use crate::{
        interval::Interval,
        truth::{Network, QueueingStation},
    };

    #[test]
    fn the_knee_of_a_known_system_is_found() {
        let stations = vec![
            QueueingStation {
                demand: 0.008,
                servers: 4,
            },
            QueueingStation {
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

    #[test]
    fn other_rules_name_other_knees() {
        let curve = [
            (1.0, 100.0),
            (2.0, 190.0),
            (4.0, 300.0),
            (8.0, 330.0),
            (16.0, 340.0),
        ];
        assert_eq!(super::kneedle(&curve), Some(4.0));
        assert_eq!(super::share_of_most(&curve, 0.95), Some(8.0));
        // Half the range, another knee.
        assert_eq!(super::kneedle(&curve[..3]), Some(2.0));
        for (points, knee) in [
            (&curve[..2], None),
            (&[(1.0, 2.0), (2.0, 1.0), (3.0, 0.5)], None),
        ] {
            assert_eq!(super::kneedle(points), knee);
        }
        assert_eq!(super::share_of_most(&[], 0.95), None);
    }
}
