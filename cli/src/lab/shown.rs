//! A run as lines for people.

use std::fmt;

use turnstile_result::{Load, Objective, Outcome, Point, Run, Verdict};
use turnstile_stats::{
    Interval,
    units::{Nanos, PerSecond, to_float},
};

/// The table of all points, and what is wrong with them.
pub(super) struct Shown<'a>(pub(super) &'a Run);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(run) = self;
        writeln!(
            f,
            "{:>12} {:>9} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>6} {:>6}",
            "load",
            "req/s",
            "+-95%",
            "mean",
            "p50",
            "p99",
            "p99.9",
            "lag p99",
            "warm-up",
            "server",
            "gen"
        )?;
        for point in &run.points {
            row(f, point)?;
        }
        for (number, point) in (1..).zip(&run.points) {
            complaints(f, number, run.points.len(), point)?;
        }
        for Objective {
            asked,
            outcome,
            found,
            ..
        } in &run.objectives
        {
            let said = match outcome {
                Outcome::Holds => "met",
                Outcome::Fails => "MISSED",
                Outcome::NotTestable => "NOT TESTABLE",
            };
            writeln!(f, "objective {asked}: {said} ({found})")?;
        }
        let checks = run.points.iter().flat_map(|point| &point.validity);
        let held = checks
            .clone()
            .filter(|check| check.outcome == Outcome::Holds);
        let tested = checks.filter(|check| check.outcome != Outcome::NotTestable);
        write!(f, "checks: {} of {} hold", held.count(), tested.count())
    }
}

fn row(f: &mut fmt::Formatter<'_>, point: &Point) -> fmt::Result {
    let response = &point.times.response;
    let nanos = |nanos: Option<u64>| {
        nanos.map_or_else(
            || "-".to_owned(),
            |nanos| Nanos(to_float(nanos)).to_string(),
        )
    };
    let busy = |role: &str| {
        let found = point
            .resources
            .processes
            .iter()
            .find(|one| one.role == role);
        found.map_or_else(
            || "-".to_owned(),
            |one| format!("{:.0}%", (one.user + one.system) * 100.0),
        )
    };
    let mark = match point.verdict {
        Verdict::Fine | Verdict::Missed => "",
        Verdict::Unsteady => " ~",
        Verdict::Invalid | Verdict::Violated => " !",
    };
    writeln!(
        f,
        "{:>12} {:>9} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>6} {:>6}{mark}",
        load(point),
        PerSecond(point.throughput).to_string(),
        point
            .throughput_interval
            .map_or_else(|| "-".to_owned(), relative),
        Nanos(response.mean_ns).to_string(),
        nanos(response.at(0.5)),
        nanos(response.at(0.99)),
        nanos(response.at(0.999)),
        nanos(point.times.lag.at(0.99)),
        format!("{:.1}s", point.warm_up_s),
        busy("server"),
        busy("generator"),
    )
}

fn relative(interval: Interval) -> String {
    format!("{:.1}%", interval.relative() * 100.0)
}

/// What the load of a point is called.
pub(super) fn load(point: &Point) -> String {
    let load = match &point.load {
        Load::Closed { users, .. } => format!("{users} users"),
        Load::Open { rate, .. } => format!("{}/s", PerSecond(*rate)),
        Load::Count { requests, .. } => format!("{requests} in all"),
    };
    match point.cores {
        None => load,
        Some(cores) => format!("{cores} cores, {load}"),
    }
}

/// Each check that fails, with its cure.
fn complaints(f: &mut fmt::Formatter<'_>, number: u32, of: usize, point: &Point) -> fmt::Result {
    let which = if of > 1 {
        format!("point {number} ({})", load(point))
    } else {
        "the run".to_owned()
    };
    for rule in point
        .proof
        .iter()
        .filter(|rule| rule.outcome != Outcome::Holds)
    {
        let word = match rule.outcome {
            Outcome::Fails => "VIOLATED",
            Outcome::Holds | Outcome::NotTestable => "NOT PROVEN",
        };
        writeln!(
            f,
            "{word}: {which}: {}: {}",
            rule.rule,
            rule.violations.join("; ")
        )?;
    }
    for check in point
        .validity
        .iter()
        .filter(|check| check.outcome == Outcome::Fails)
    {
        let cure = check.cure.as_deref().unwrap_or_default();
        writeln!(f, "INVALID: {which}: {}. Try: {cure}", check.found)?;
    }
    if point.verdict == Verdict::Unsteady {
        writeln!(f, "UNSTEADY: {which}: {}", point.steady.why)?;
    }
    Ok(())
}

/// Why the verdict is not fine: the first reason, in words.
pub(super) fn reason(run: &Run) -> String {
    let worst = run.points.iter().find(|point| point.verdict == run.verdict);
    let Some(point) = worst else {
        let missed = run
            .objectives
            .iter()
            .find(|one| one.outcome != Outcome::Holds);
        return missed.map_or_else(String::new, |one| format!("{}: {}", one.asked, one.found));
    };
    match run.verdict {
        Verdict::Unsteady => point.steady.why.clone(),
        Verdict::Invalid => {
            let failed = point
                .validity
                .iter()
                .find(|one| one.outcome == Outcome::Fails);
            failed.map_or_else(|| "not all was proven".to_owned(), |one| one.found.clone())
        }
        Verdict::Violated | Verdict::Fine | Verdict::Missed => {
            let broken = point
                .proof
                .iter()
                .find(|rule| rule.outcome == Outcome::Fails);
            broken.map_or_else(String::new, |rule| rule.rule.clone())
        }
    }
}
