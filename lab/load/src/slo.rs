//! Objectives: what a run should reach, as `--slo` has it.

use std::{collections::BTreeMap, fmt, str::FromStr};

use turnstile_result::{Distribution, Objective, OfferedLoad, Outcome, Point};
use turnstile_stats::{
    Interval, percentile,
    units::{Nanos, PerSecond, to_float},
};

use crate::validity;

/// One objective: `p99<50ms`, `mean<2ms`, `errors<0.1%`, `rate>1000`, `book p99<10ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Slo {
    /// As it was written.
    text: String,
    /// Of one operation, else of all.
    operation: Option<String>,
    figure: Indicator,
    /// In nanoseconds, as a share, or a second.
    limit: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Indicator {
    Percentile(f64),
    Mean,
    /// Errors, answers that never came, and late ones, as a share of all.
    Errors,
    /// Answers a second; at least.
    Rate,
}

/// A text that is no objective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoObjective(String);

impl Slo {
    /// Several, separated by commas.
    ///
    /// # Errors
    /// One of them is none.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, NoObjective> {
        text.split(',').map(|one| one.trim().parse()).collect()
    }

    /// Whether a point reaches it, by what was measured.
    #[must_use]
    pub fn judge(&self, place: u32, point: &Point) -> Objective {
        let (outcome, found) = match self.found(point) {
            Ok(found) => {
                let reached = self.allows(found);
                let outcome = if reached {
                    Outcome::Holds
                } else {
                    Outcome::Fails
                };
                (outcome, self.figure.shown(found))
            }
            Err(why) => (Outcome::NotTestable, why),
        };
        Objective {
            asked: self.text.clone(),
            point: place,
            outcome,
            found,
        }
    }

    /// Whether a point surely reaches it (or surely not); nothing when chance decides. A server that
    /// cannot keep up with its schedule reaches nothing.
    #[must_use]
    pub fn surely(&self, point: &Point) -> Option<bool> {
        if falls_behind(point) {
            return Some(false);
        }
        let interval = match (self.figure, &self.operation) {
            (Indicator::Percentile(quantile), None) if is_p99(quantile) => point.p99_interval,
            (Indicator::Mean, None) => point.response_interval,
            (Indicator::Rate, None) => point.throughput_interval,
            _ => None,
        };
        let found = self.found(point).ok()?;
        let interval = interval.unwrap_or_else(|| Interval::about(found, 0.0));
        match (self.allows(interval.low), self.allows(interval.high)) {
            (true, true) => Some(true),
            (false, false) => Some(false),
            (true, false) | (false, true) => None,
        }
    }

    fn allows(&self, found: f64) -> bool {
        match self.figure {
            Indicator::Rate => found > self.limit,
            Indicator::Percentile(_) | Indicator::Mean | Indicator::Errors => found < self.limit,
        }
    }

    /// What it is about: an operation or a whole by its name, else all that users began.
    fn counted<'a>(&self, point: &'a Point) -> Vec<ObjectiveMeasure<'a>> {
        let named = |name: &String| self.operation.as_ref().is_none_or(|asked| asked == name);
        // A request without an answer has left its whole without an end.
        let lost = point.operations.iter().map(|one| one.unknown).sum::<u64>();
        let wholes = point.wholes.iter().filter(|one| named(&one.name));
        let mut counted: Vec<ObjectiveMeasure<'a>> = wholes
            .map(|one| {
                let counts = [one.done, lost, one.late];
                ObjectiveMeasure::of([&one.errors, &one.refused], counts, &one.response)
            })
            .collect();
        if self.operation.is_some() || counted.is_empty() {
            let operations = point.operations.iter().filter(|one| named(&one.name));
            counted.extend(operations.map(|one| {
                let counts = [one.done, one.unknown, one.late];
                ObjectiveMeasure::of([&one.errors, &one.refused], counts, &one.response)
            }));
        }
        counted
    }

    fn found(&self, point: &Point) -> Result<f64, String> {
        let counted = self.counted(point);
        let response: &Distribution = match &self.operation {
            None => &point.times.response,
            Some(name) => {
                let none = || format!("there is no operation `{name}`");
                counted.first().ok_or_else(none)?.response
            }
        };
        match self.figure {
            Indicator::Mean if response.count > 0 => Ok(response.mean_ns),
            Indicator::Percentile(quantile) => {
                response.at(quantile).map(to_float).ok_or_else(|| {
                    let (count, needed) = (response.count, percentile::needed(quantile));
                    format!("{count} samples, {needed} are needed")
                })
            }
            Indicator::Mean => Err("no samples".to_owned()),
            Indicator::Rate => Ok(to_float(response.count) / point.window_s),
            Indicator::Errors => {
                let (mut failed, mut all) = (0, 0);
                for one in counted {
                    failed += one.failed;
                    all += one.all;
                }
                if all == 0 {
                    return Err("no answers".to_owned());
                }
                Ok(to_float(failed) / to_float(all))
            }
        }
    }
}

/// What an objective is about: one operation or whole.
struct ObjectiveMeasure<'a> {
    /// Errors, those without an answer, and late ones; and with all others.
    failed: u64,
    all: u64,
    response: &'a Distribution,
}

impl<'a> ObjectiveMeasure<'a> {
    /// Of answers by word that were errors and refusals, and of how many were done, never answered
    /// and late.
    fn of(
        [errors, refused]: [&BTreeMap<String, u64>; 2],
        [done, unknown, late]: [u64; 3],
        response: &'a Distribution,
    ) -> Self {
        let failed = errors.values().sum::<u64>() + unknown;
        Self {
            failed: failed + late,
            all: failed + refused.values().sum::<u64>() + done,
            response,
        }
    }
}

/// Whether much of what was due was not answered in the window.
fn falls_behind(point: &Point) -> bool {
    let OfferedLoad::Open { .. } = point.load else {
        return false;
    };
    let planned = to_float(point.planned.unwrap_or(0));
    let missing = planned - validity::answered(point);
    missing > (0.05 * planned).max(4.0 * planned.sqrt())
}

fn is_p99(quantile: f64) -> bool {
    (quantile - 0.99).abs() < 1e-9
}

impl Indicator {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "mean" => return Some(Self::Mean),
            "errors" => return Some(Self::Errors),
            "rate" => return Some(Self::Rate),
            _ => {}
        }
        let percent: f64 = text.strip_prefix('p')?.parse().ok()?;
        let quantile = percent / 100.0;
        let kept = turnstile_result::PERCENTILES
            .into_iter()
            .find(|kept| (kept - quantile).abs() < 1e-9);
        kept.map(Self::Percentile)
    }

    fn parse_limit(self, text: &str) -> Option<f64> {
        let (number, unit) = match self {
            Self::Rate => (text, 1.0),
            Self::Errors => (text.strip_suffix('%')?, 0.01),
            Self::Percentile(_) | Self::Mean => {
                let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
                units
                    .into_iter()
                    .find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?
            }
        };
        let number: f64 = number.trim().parse().ok()?;
        (number.is_finite() && number >= 0.0).then_some(number * unit)
    }

    fn shown(self, found: f64) -> String {
        match self {
            Self::Percentile(_) | Self::Mean => Nanos(found).to_string(),
            Self::Errors => format!("{:.3} %", found * 100.0),
            Self::Rate => PerSecond(found).to_string(),
        }
    }
}

impl FromStr for Slo {
    type Err = NoObjective;

    fn from_str(text: &str) -> Result<Self, NoObjective> {
        let invalid = || NoObjective(text.to_owned());
        let sign = text.find(['<', '>']).ok_or_else(invalid)?;
        let (left, right) = (text[..sign].trim(), text[sign + 1..].trim());
        let (operation, figure) = match left.rsplit_once(' ') {
            None => (None, left),
            Some((operation, figure)) => (Some(operation.trim().to_owned()), figure),
        };
        let figure = Indicator::parse(figure).ok_or_else(invalid)?;
        let right_way = (figure == Indicator::Rate) == text[sign..].starts_with('>');
        let limit = figure.parse_limit(right).filter(|_limit| right_way);
        Ok(Self {
            text: text.to_owned(),
            operation,
            figure,
            limit: limit.ok_or_else(invalid)?,
        })
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for NoObjective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no objective: write p99<50ms, mean<2ms, errors<0.1%, rate>1000 or book p99<10ms",
            self.0
        )
    }
}

impl std::error::Error for NoObjective {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use turnstile_result::{Arrivals, Operation};
    use turnstile_stats::Histogram;

    use super::*;

    /// 2,000 answers of 1 to 2 ms in two seconds, of which 20 had an error code instead.
    fn point() -> Point {
        let mut histogram = Histogram::new();
        for step in 0..2_000 {
            histogram.record(1_000_000 + step * 500);
        }
        let response = Distribution::of(&histogram);
        let mut point = Point::blank("rooms");
        point.window_s = 2.0;
        point.throughput = 1_000.0;
        point.times.response = response.clone();
        point.operations.push(Operation {
            name: "book".to_owned(),
            done: 1_980,
            refused: BTreeMap::new(),
            errors: BTreeMap::from([("BUSY".to_owned(), 18)]),
            unknown: 1,
            late: 1,
            response,
        });
        point
    }

    fn outcome(text: &str) -> Outcome {
        text.parse::<Slo>().unwrap().judge(0, &point()).outcome
    }

    #[test]
    fn each_figure_is_held_against_its_limit() {
        let reached = [
            "p99<2ms",
            "p99 < 1990us",
            "mean<1.6ms",
            "errors<1.1%",
            "rate>999",
            "book p50<1.6ms",
            "p1<1100000ns",
        ];
        for text in reached {
            assert_eq!(outcome(text), Outcome::Holds, "{text}");
        }
        for text in [
            "p99<1.9ms",
            "mean<1ms",
            "errors<1%",
            "rate>1000",
            "book p50<1ms",
        ] {
            assert_eq!(outcome(text), Outcome::Fails, "{text}");
        }
        // Of 2,000 samples only two lie above p99.9.
        for text in ["p99.9<1s", "cancel p50<1s"] {
            assert_eq!(outcome(text), Outcome::NotTestable, "{text}");
        }
    }

    #[test]
    fn what_is_no_objective_is_refused() {
        let wrong = [
            "",
            "p99",
            "p99<",
            "p99>1ms",
            "p98<1ms",
            "rate<5",
            "errors<1",
            "p99<1",
            "p99<-1ms",
            "mean<NaNms",
            "x<1ms",
        ];
        for text in wrong {
            assert!(text.parse::<Slo>().is_err(), "{text}");
        }
        let both = Slo::parse_all("p99<1ms, errors<1%").unwrap();
        assert_eq!(both.len(), 2);
        assert!(Slo::parse_all("p99<1ms,").is_err());
    }

    #[test]
    fn an_interval_about_the_limit_leaves_it_open() {
        let slo: Slo = "p99<2ms".parse().unwrap();
        let mut point = point();
        assert_eq!(slo.surely(&point), Some(true), "without an interval");
        for (estimate, known) in [(1.8e6, Some(true)), (1.95e6, None), (2.3e6, Some(false))] {
            point.p99_interval = Some(Interval::about(estimate, 1e5));
            assert_eq!(slo.surely(&point), known, "{estimate}");
        }
        point.p99_interval = Some(Interval::about(1e6, 1e3));
        point.load = OfferedLoad::Open {
            rate: 2_000.0,
            arrivals: Arrivals::Fixed,
            connections: 1,
            deadline_ns: None,
        };
        point.planned = Some(4_000);
        assert_eq!(
            slo.surely(&point),
            Some(false),
            "half of it was not answered"
        );
    }
}
