//! What valid points say for and against a claim: levels with their intervals, ratios, knees, verdicts.

use turnstile_stats::{Interval, units::count};

use crate::{Conclusion, Fate, Figure, SeriesColumn, column::is_at};

/// A rule needs so many valid points on each side: so many loads, or so many equal runs.
pub(super) const POINTS_MIN: usize = 3;

/// A knee within this factor of the published one is the same knee: ladders have such steps.
pub(super) const SAME_KNEE: f64 = 1.5;

/// The share of the most that counts as the level.
const LEVEL: f64 = 0.95;

/// What one place on the axis says of one quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    pub(super) x: f64,
    pub(super) value: Interval,
}

/// What a figure tells, with its interval.
pub(super) type Quantity = fn(&Figure) -> Option<Interval>;

pub(super) fn throughput(figure: &Figure) -> Option<Interval> {
    known(figure.throughput, figure.throughput_range)
}

pub(super) fn response(figure: &Figure) -> Option<Interval> {
    known(figure.response, figure.response_range)
}

/// Processors of the database.
pub(super) fn database(figure: &Figure) -> Option<Interval> {
    known(figure.database_busy?, figure.database_busy_range)
}

/// Nothing without an interval, and for what is not above zero.
fn known(estimate: f64, range: Option<(f64, f64)>) -> Option<Interval> {
    let (low, high) = range?;
    let interval = Interval {
        low: low.max(0.0),
        estimate,
        high,
    };
    (estimate > 0.0).then_some(interval)
}

/// Valid points of a series in increasing order along the axis. Equal runs are one level: their mean,
/// and Student's interval.
pub(super) fn levels(column: &SeriesColumn, series: &str, of: Quantity) -> Vec<Level> {
    let figures = column.usable(series);
    let mut levels: Vec<Level> = Vec::new();
    for figure in &figures {
        if levels.iter().any(|level| is_at(level.x, figure.x)) {
            continue;
        }
        let equal = figures.iter().filter(|other| is_at(other.x, figure.x));
        let equal: Vec<Interval> = equal.filter_map(|figure| of(figure)).collect();
        let estimates: Vec<f64> = equal.iter().map(|one| one.estimate).collect();
        let value = Interval::of_mean(&estimates).or_else(|| equal.first().copied());
        levels.extend(value.map(|value| Level { x: figure.x, value }));
    }
    levels
}

/// Both values at each place where both are known.
pub(super) fn pairs(a: &[Level], b: &[Level]) -> Vec<(Level, Level)> {
    let there = |one: &Level| b.iter().find(|other| is_at(one.x, other.x));
    let pairs = a.iter().filter_map(|one| Some((*one, *there(one)?)));
    pairs.collect()
}

/// How many times as much the second is as the first, as the geometric mean over at least
/// [`POINTS_MIN`] pairs.
pub(super) fn gain(pairs: &[(Level, Level)]) -> Result<Interval, String> {
    enough(pairs.len())?;
    let logs: Vec<f64> = pairs
        .iter()
        .map(|(a, b)| (b.value.estimate / a.value.estimate).ln())
        .collect();
    let mean = Interval::of_mean(&logs).ok_or("no pairs")?;
    Ok(mean.map(f64::exp))
}

/// One value over another, independent one: relative errors add as their squares.
pub(super) fn ratio(above: Interval, below: Interval) -> Interval {
    let estimate = above.estimate / below.estimate;
    let error = above.relative().hypot(below.relative());
    Interval {
        low: estimate * (-error).exp(),
        estimate,
        high: estimate * error.exp(),
    }
}

/// One value less another, independent one.
pub(super) fn difference(from: Interval, less: Interval) -> Interval {
    let error = from.half_width().hypot(less.half_width());
    Interval::about(from.estimate - less.estimate, error)
}

/// The mean of the levels as one of them: how they differ is how well it is known.
pub(super) fn mean(levels: &[Level]) -> Result<Interval, String> {
    enough(levels.len())?;
    let estimates: Vec<f64> = levels.iter().map(|level| level.value.estimate).collect();
    Interval::of_mean(&estimates).ok_or_else(|| "no points".to_owned())
}

/// That there are so many valid points as a rule needs.
pub(super) fn enough(points: usize) -> Result<(), String> {
    if points >= POINTS_MIN {
        return Ok(());
    }
    Err(format!(
        "too few valid points: {points}, and {POINTS_MIN} are needed"
    ))
}

/// From which load on a curve is level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knee {
    /// The first load that may have 95 % of the most, the one that has by the means, and the first that
    /// surely has.
    pub(super) users: Interval,
    /// The most.
    pub(super) most: Interval,
}

impl Knee {
    /// Of a curve whose valid points go as far as a knee near `expected` would be seen.
    pub(super) fn of(levels: &[Level], expected: f64) -> Result<Self, String> {
        enough(levels.len())?;
        let last = levels[levels.len() - 1].x;
        if last < expected / SAME_KNEE {
            return Err(format!(
                "too few valid points: none beyond {last:.0}, and {expected:.0} is what is claimed"
            ));
        }
        let most = levels
            .iter()
            .max_by(|a, b| a.value.estimate.total_cmp(&b.value.estimate));
        let most = most.ok_or("no points")?.value;
        let first = |is_level: &dyn Fn(&Interval) -> bool| {
            let mut those = levels.iter().filter(|level| is_level(&level.value));
            those.next().map_or(last, |level| level.x)
        };
        let users = Interval {
            low: first(&|value| value.high >= LEVEL * most.low),
            estimate: first(&|value| value.estimate >= LEVEL * most.estimate),
            high: first(&|value| value.low >= LEVEL * most.high),
        };
        Ok(Self { users, most })
    }

    /// Whether it is where it was published.
    pub(super) fn is_near(&self, published: f64) -> Option<bool> {
        within(self.users, published / SAME_KNEE, published * SAME_KNEE)
    }
}

/// Whether the whole interval is within these, or none of it; nothing where that is not known.
pub(super) fn within(found: Interval, low: f64, high: f64) -> Option<bool> {
    if found.low >= low && found.high <= high {
        Some(true)
    } else if found.high < low || found.low > high {
        Some(false)
    } else {
        None
    }
}

/// Whether the whole interval is above this, or none of it.
pub(super) fn above(found: Interval, least: f64) -> Option<bool> {
    within(found, least, f64::INFINITY)
}

/// Both must be so; one that is not is enough to refute.
pub(super) fn both(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// What becomes of a claim: an error is why it cannot be tested.
pub(super) fn judge(claim: String, found: Result<(Option<bool>, String), String>) -> Conclusion {
    match found {
        Ok((Some(is_so), why)) => Conclusion::new(claim, Fate::if_so(is_so), why),
        Ok((None, why)) => Conclusion::untested(
            claim,
            format!("{why}: the intervals are too wide to decide it"),
        ),
        Err(why) => Conclusion::untested(claim, why),
    }
}

/// A claim for which this experiment has no measurement.
pub(super) fn never(claim: &str, because: &str) -> Conclusion {
    Conclusion::untested(
        claim.to_owned(),
        format!("not testable here, because {because}"),
    )
}

/// `1.20 (1.10 to 1.30)`.
pub(super) fn told(interval: Interval) -> String {
    let Interval {
        low,
        estimate,
        high,
    } = interval;
    format!("{estimate:.2} ({low:.2} to {high:.2})")
}

/// The same in another unit.
pub(super) fn shown<T: std::fmt::Display>(interval: Interval, unit: fn(f64) -> T) -> String {
    let Interval {
        low,
        estimate,
        high,
    } = interval;
    format!("{} ({} to {})", unit(estimate), unit(low), unit(high))
}

/// A count of users or players for a range of which only measured loads can be ends.
pub(super) fn users(knee: Interval) -> String {
    if is_at(knee.low, knee.high) {
        return format!("{}", knee.estimate);
    }
    format!("{} ({} to {})", knee.estimate, knee.low, knee.high)
}

/// As a number for rules.
pub(super) fn number(of: usize) -> f64 {
    count(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(x: f64, value: f64, half: f64) -> Level {
        Level {
            x,
            value: Interval::about(value, half),
        }
    }

    #[test]
    fn a_claim_is_decided_by_whole_intervals_only() {
        let rows = [
            ((2.0, 3.0), Some(true)),
            ((0.5, 0.9), Some(false)),
            ((4.1, 5.0), Some(false)),
            ((0.5, 2.0), None),
        ];
        for ((low, high), expected) in rows {
            let found = Interval {
                low,
                estimate: low,
                high,
            };
            assert_eq!(within(found, 1.0, 4.0), expected, "{found}");
        }
        assert_eq!(both(Some(true), None), None);
        assert_eq!(both(None, Some(false)), Some(false));
    }

    #[test]
    fn a_knee_has_the_loads_between_which_it_may_be() {
        let levels = [
            level(1.0, 100.0, 1.0),
            level(10.0, 940.0, 20.0),
            level(25.0, 980.0, 30.0),
            level(50.0, 1_000.0, 5.0),
        ];
        let knee = Knee::of(&levels, 25.0).unwrap();
        assert_eq!(users(knee.users), "25 (10 to 50)");
        assert_eq!(knee.is_near(25.0), None);
        // A curve of which only the foot is valid says nothing of a knee.
        let told = Knee::of(&levels[..3], 300.0).unwrap_err();
        assert_eq!(
            told,
            "too few valid points: none beyond 25, and 300 is what is claimed"
        );
        let told = Knee::of(&levels[..2], 1.0).unwrap_err();
        assert_eq!(told, "too few valid points: 2, and 3 are needed");
    }

    #[test]
    fn a_gain_needs_three_pairs_of_equal_loads() {
        let a = [
            level(1.0, 1.0, 0.1),
            level(2.0, 2.0, 0.1),
            level(3.0, 3.0, 0.1),
        ];
        let b = [
            level(2.0, 4.0, 0.1),
            level(3.0, 6.0, 0.1),
            level(4.0, 1.0, 0.1),
        ];
        let told = gain(&pairs(&a, &b)).unwrap_err();
        assert_eq!(told, "too few valid points: 2, and 3 are needed");
        let twice = a.map(|one| level(one.x, 2.0 * one.value.estimate, 0.1));
        let found = gain(&pairs(&a, &twice)).unwrap();
        assert!((found.estimate - 2.0).abs() < 1e-9, "{found}");
    }
}
