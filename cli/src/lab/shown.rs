//! A run as lines for people.

mod complaints;

use std::{collections::BTreeMap, fmt};

use turnstile_result::{
    Bottleneck, Capacity, Change, Comparison, Curve, Objective, OfferedLoad, Operation, Outcome,
    Point, Run, Usl, Verdict,
};
use turnstile_stats::{
    Interval,
    units::{Count, Nanos, PerSecond, to_float},
};

/// The table of all points, and what is wrong with them.
pub(super) struct RunTable<'a>(pub(super) &'a Run);

impl fmt::Display for RunTable<'_> {
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
        complaints::write(f, &run.points)?;
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
        if let Some(sweep) = &run.sweep {
            sweep.curves.iter().try_for_each(|curve| found(f, curve))?;
            if let Some(law) = &sweep.scaling {
                scalability(f, "over processors", law)?;
            }
        }
        if let Some(capacity) = &run.capacity {
            highest(f, capacity)?;
        }
        if let Some(found) = &run.bottleneck {
            limits(f, found)?;
        }
        if let Some(comparison) = &run.comparison {
            differences(f, comparison)?;
        }
        failures(f, &run.points)?;
        let checks = run.points.iter().flat_map(|point| &point.validity);
        let held = checks
            .clone()
            .filter(|check| check.outcome == Outcome::Holds);
        let tested = checks.filter(|check| check.outcome != Outcome::NotTestable);
        write!(f, "checks: {} of {} hold", held.count(), tested.count())
    }
}

/// The operations of points in which some failed: what was answered how often, and the connections
/// that servers closed.
fn failures(f: &mut fmt::Formatter<'_>, points: &[Point]) -> fmt::Result {
    for (number, point) in (1..).zip(points) {
        if point.reconnects > 0 {
            let closed = Count(point.reconnects);
            writeln!(
                f,
                "point {number}: the server closed {closed} connections after an answer; each was made again"
            )?;
        }
        let is_odd = |one: &&Operation| !one.errors.is_empty() || one.unknown + one.late > 0;
        if point.operations.iter().all(|one| !is_odd(&one)) {
            continue;
        }
        writeln!(
            f,
            "point {number}: {:>24} {:>10} {:>10} {:>10} {:>10} {:>10}",
            "operation", "done", "refused", "errors", "no answer", "late"
        )?;
        for one in &point.operations {
            let sum = |counts: &BTreeMap<String, u64>| Count(counts.values().sum()).to_string();
            writeln!(
                f,
                "{:>33} {:>10} {:>10} {:>10} {:>10} {:>10}",
                one.name,
                Count(one.done).to_string(),
                sum(&one.refused),
                sum(&one.errors),
                Count(one.unknown).to_string(),
                Count(one.late).to_string(),
            )?;
            for (code, times) in &one.errors {
                writeln!(
                    f,
                    "{:>33} {:>32}",
                    format!("error {code}"),
                    Count(*times).to_string()
                )?;
            }
        }
    }
    Ok(())
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

/// A point in one line, on the way.
pub(super) fn one_line(point: &Point) -> String {
    let interval = point
        .throughput_interval
        .map_or_else(String::new, |interval| format!(" +-{}", relative(interval)));
    let p99 = point
        .times
        .response
        .at(0.99)
        .map_or_else(String::new, |p99| format!(", p99 {}", Nanos(to_float(p99))));
    let mark = match point.verdict {
        Verdict::Fine | Verdict::Missed => "",
        Verdict::Unsteady => "  unsteady",
        Verdict::Invalid => "  INVALID",
        Verdict::Violated => "  VIOLATED",
    };
    format!(
        "{}: {}/s{interval}, mean {}{p99}{mark}",
        load(point),
        PerSecond(point.throughput),
        Nanos(point.times.response.mean_ns)
    )
}

/// What holds the server back.
fn limits(f: &mut fmt::Formatter<'_>, found: &Bottleneck) -> fmt::Result {
    let Bottleneck {
        users,
        named,
        probability,
        why,
        ..
    } = found;
    if found.is_known() {
        writeln!(
            f,
            "bottleneck at {users} users: {named}, P = {probability:.2}: {why}"
        )?;
    } else if named == Bottleneck::NOTHING {
        writeln!(f, "no bottleneck is named at {users} users: {why}")?;
    } else {
        writeln!(
            f,
            "no bottleneck of the server is named at {users} users, for what limits is {named}, P = \
             {probability:.2}: {why}"
        )?;
    }
    writeln!(f, "what can be done: {}", found.cure)?;
    for suspect in &found.suspects {
        let used = suspect.used;
        writeln!(
            f,
            "{:>18}: {:.0} % busy ({:.0} .. {:.0}) of {}, {} ({} .. {}) of each request, P = {:.2}",
            suspect.resource,
            used.estimate * 100.0,
            used.low * 100.0,
            used.high * 100.0,
            suspect.servers,
            Nanos(suspect.busy_ns.estimate),
            Nanos(suspect.busy_ns.low),
            Nanos(suspect.busy_ns.high),
            suspect.probability
        )?;
    }
    let stages = found.stages.iter();
    let stages: Vec<String> = stages
        .map(|stage| format!("{} {:.1}", stage.name, stage.users))
        .collect();
    if !stages.is_empty() {
        writeln!(f, "where the users stand: {}", stages.join(", "))?;
    }
    for one in &found.changes {
        writeln!(f, "{}", change(one))?;
    }
    match found.confirmed {
        Some(true) => writeln!(f, "confirmed: a change of it changes the throughput"),
        Some(false) => writeln!(f, "NOT confirmed: a change of it brings nothing"),
        None if found.changes.is_empty() => Ok(()),
        None => writeln!(f, "not confirmed: nothing here changes it alone"),
    }
}

/// What a change brought, in one line.
pub(super) fn change(change: &Change) -> String {
    let ratio = change.throughput;
    let brings = change.elasticity.map_or_else(String::new, |elasticity| {
        format!(", elasticity {elasticity}")
    });
    format!("{}: x{ratio:.3}{brings}", change.changed)
}

/// What a curve says.
fn found(f: &mut fmt::Formatter<'_>, curve: &Curve) -> fmt::Result {
    let of = curve
        .cores
        .map_or_else(String::new, |cores| format!(" of {cores} cores"));
    let within = curve.quota.map_or_else(String::new, |quota| {
        format!(" within a quota of {quota} processors")
    });
    let of = format!("{of}{within}");
    match curve.capacity {
        Some(Interval {
            low,
            estimate,
            high,
        }) => write!(
            f,
            "capacity{of} {}/s ({} .. {})",
            PerSecond(estimate),
            PerSecond(low),
            PerSecond(high)
        )?,
        None => write!(
            f,
            "capacity{of}: not found, for too few points may be used or none is full"
        )?,
    }
    if let Some(knee) = curve.knee {
        write!(f, ", knee {knee:.1} users")?;
    }
    writeln!(f, "; {}", curve.stopped)?;
    for demand in &curve.demands {
        let busy = demand.busy_ns;
        write!(
            f,
            "demand: {} {} of each request",
            demand.resource,
            Nanos(busy.estimate)
        )?;
        match demand.capacity {
            Some(most) => writeln!(f, ", enough for {}/s", PerSecond(most.estimate))?,
            None => writeln!(f)?,
        }
    }
    let other = &curve.other_rules;
    let rules = [
        ("two segments", other.two_segments),
        ("kneedle", other.kneedle),
        ("95 % of the most", other.share_of_most),
    ];
    for (number, (name, users)) in rules
        .iter()
        .filter_map(|(name, users)| Some((name, (*users)?)))
        .enumerate()
    {
        let begin = if number == 0 {
            "other rules for the knee: "
        } else {
            ", "
        };
        write!(f, "{begin}{name} {users:.1}")?;
    }
    if rules.iter().any(|(_, users)| users.is_some()) {
        writeln!(f)?;
    }
    curve
        .usl
        .as_ref()
        .map_or(Ok(()), |law| scalability(f, "over users", law))
}

fn scalability(f: &mut fmt::Formatter<'_>, over: &str, law: &Usl) -> fmt::Result {
    write!(
        f,
        "usl {over}: sigma {:.3}, kappa {:.6}",
        law.sigma, law.kappa
    )?;
    match law.peak {
        Some(peak) => writeln!(f, ", peak at {peak:.0}"),
        None => writeln!(f, ", no certain peak"),
    }
}

fn highest(f: &mut fmt::Formatter<'_>, capacity: &Capacity) -> fmt::Result {
    let aims = capacity.objectives.join(", ");
    match capacity.rate {
        Some(Interval {
            low,
            estimate,
            high,
        }) => writeln!(
            f,
            "{aims}: up to {}/s ({} surely met it, {} surely missed it); {}",
            PerSecond(estimate),
            PerSecond(low),
            PerSecond(high),
            capacity.stopped
        ),
        None => writeln!(f, "{aims}: {}", capacity.stopped),
    }
}

fn differences(f: &mut fmt::Formatter<'_>, comparison: &Comparison) -> fmt::Result {
    let how = comparison.caution().map_or_else(
        || "interleaved".to_owned(),
        |caution| format!("NOT interleaved: {caution}"),
    );
    let Comparison {
        a,
        b,
        pairs,
        margin,
        ..
    } = comparison;
    writeln!(
        f,
        "b against a in {} pairs, {how}; a = {a}, b = {b}, differences below {:.1} % do not matter",
        pairs.len(),
        margin * 100.0
    )?;
    for metric in &comparison.metrics {
        writeln!(
            f,
            "{:>24} x {:.3}  p {:.3} ({:.3} with all)  {}",
            metric.name, metric.ratio, metric.chance, metric.chance_of_all, metric.verdict
        )?;
    }
    if let Some(apart) = comparison.apart {
        let chance = apart
            .chance
            .map_or_else(String::new, |chance| format!("  p {chance:.3}"));
        writeln!(
            f,
            "{:>24} {:.1} % at {}{chance}",
            "responses are apart by",
            apart.distance.share * 100.0,
            Nanos(to_float(apart.distance.at_ns))
        )?;
    }
    if comparison.metrics.is_empty() {
        f.write_str(match pairs.len() {
            1 => {
                "one pair tells nothing: a point is invalid, or has no interval; measure for longer, or \
                 without -d\n"
            }
            _ => "too few pairs may be used\n",
        })?;
    }
    Ok(())
}

fn relative(interval: Interval) -> String {
    format!("{:.1}%", interval.relative() * 100.0)
}

/// What the load of a point is called.
pub(super) fn load(point: &Point) -> String {
    let load = match &point.load {
        OfferedLoad::Closed { users, .. } => format!("{users} users"),
        OfferedLoad::Open { rate, .. } => format!("{}/s", PerSecond(*rate)),
        OfferedLoad::Count { requests, .. } => format!("{requests} in all"),
    };
    match point.allowed() {
        None => load,
        Some(allowed) => format!("{allowed}, {load}"),
    }
}

/// Why the verdict is not fine: the first reason, in words.
pub(super) fn reason(run: &Run) -> String {
    if let Some(found) = &run.bottleneck {
        return match found.named.as_str() {
            Bottleneck::NOTHING => format!("no bottleneck is named: {}", found.why),
            named => format!("{named}: {}", found.why),
        };
    }
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
