//! A run as a point of `run.json`.

use std::{collections::BTreeMap, fmt, time::Duration};

use turnstile_result::{
    Arrivals, Bins, Distribution, OfferedLoad, Operation, Outcome, Point, Rule, Server, Split,
    Steady, Times, Whole,
};
use turnstile_stats::{
    operational::{self, Check},
    precision::Shortfall,
    throughput,
    units::{Count, Nanos, to_float},
};

use crate::pace::{self, Bin, Known, Law, Length, Pace, Rhythm, Tally, Think, Totals};

/// Bins of a point are so long.
const BIN_NANOS: u64 = 100_000_000;

impl<U> Totals<U> {
    /// This run as a point of a workload of which nothing can be proven: all but its resources, its
    /// validity and its verdict, which [`judge`](crate::validity::judge) adds.
    #[must_use]
    pub fn point(&self, workload: &str, pace: &Pace) -> Point {
        point(workload, pace, self, Vec::new())
    }
}

/// Of a run of this workload: all but its resources, its validity and its verdict, which
/// [`judge`](crate::validity::judge) adds.
pub(crate) fn point<U>(workload: &str, pace: &Pace, totals: &Totals<U>, proof: Vec<Rule>) -> Point {
    let tally = &totals.tally;
    let response = totals.times();
    let known = &totals.known;
    let planned = totals.planned;
    Point {
        load: load(pace, totals),
        warm_up_s: totals.warm_up.as_secs_f64(),
        window_s: totals.window.as_secs_f64(),
        throughput: totals.figures().throughput,
        throughput_interval: known.throughput,
        response_interval: known.response,
        p99_interval: totals.p99,
        steady: steady(known, pace),
        times: Times {
            response: Distribution::of(&response),
            service: Distribution::of(&tally.service),
            lag: Distribution::of(&tally.lag),
            wait: Distribution::of(&tally.wait),
        },
        split: split(totals),
        operations: operations(tally),
        wholes: wholes(tally),
        bins: bins(&totals.bins),
        connections_lost: tally.connections_lost,
        connects_failed: tally.connects_failed,
        reconnects: tally.reconnects,
        planned,
        arrivals: totals.arrivals,
        censored: planned.map(|_planned| Distribution::of(&tally.censored)),
        laws: laws(pace, totals, response.mean()),
        proof,
        ..Point::blank(workload)
    }
}

/// Of a run that is over when so many have been asked for, and not when its window is.
pub(crate) fn count(point: &mut Point, took: Duration, users: u64, requests: u64) {
    point.window_s = took.as_secs_f64();
    point.throughput = throughput(point.times.response.count, took);
    if let OfferedLoad::Closed { think_ns: None, .. } = point.load {
        point.laws = Vec::new();
        point.load = OfferedLoad::Count {
            users: u32::try_from(users).expect("users are at most 50,000"),
            requests,
        };
    }
}

/// A promise that was checked: by these sentences it was broken; `unproven` says why it could not
/// be checked.
pub(crate) fn rule(rule: &str, violations: &[String], unproven: Option<&str>) -> Rule {
    let (outcome, violations) = match unproven {
        _ if !violations.is_empty() => (Outcome::Fails, violations.to_vec()),
        Some(why) => (Outcome::NotTestable, vec![why.to_owned()]),
        None => (Outcome::Holds, Vec::new()),
    };
    Rule {
        rule: rule.to_owned(),
        outcome,
        violations,
        found: Vec::new(),
    }
}

/// The same with what a proof says of its figures; the violations are there already.
pub(crate) fn found(rule: Rule, proof: &impl fmt::Display) -> Rule {
    let text = proof.to_string();
    let lines = text.lines().map(str::trim);
    let figures = lines.filter(|line| !line.starts_with("VIOLATED"));
    Rule {
        found: figures.map(str::to_owned).collect(),
        ..rule
    }
}

fn load<U>(pace: &Pace, totals: &Totals<U>) -> OfferedLoad {
    let pipeline = u32::try_from(pace.pipeline).expect("pipelines are short");
    let users = totals.slots / u64::from(pipeline);
    let users = u32::try_from(users).expect("users are at most 50,000");
    match &pace.rhythm {
        Rhythm::Closed { think, .. } => OfferedLoad::Closed {
            users,
            pipeline,
            think_ns: mean_thought(*think).map(|think| think.as_secs_f64() * 1e9),
        },
        Rhythm::Open { law, rate } => OfferedLoad::Open {
            rate: rate.most(),
            arrivals: match law {
                Law::Fixed => Arrivals::Fixed,
                Law::Poisson => Arrivals::Poisson,
                Law::Jitter(share) => Arrivals::Jitter { share: *share },
                Law::Burst(size) => Arrivals::Burst { size: *size },
                Law::Trace(instants) => Arrivals::Trace {
                    file: format!("{} instants", instants.len()),
                },
            },
            connections: users,
            deadline_ns: pace
                .deadline
                .map(|deadline| u64::try_from(deadline.as_nanos()).unwrap_or(u64::MAX)),
        },
    }
}

const fn mean_thought(think: Think) -> Option<Duration> {
    match think {
        Think::None => None,
        Think::Fixed(time) | Think::Exponential(time) => Some(time),
    }
}

fn steady(known: &Known, pace: &Pace) -> Steady {
    let from_bin = u32::try_from(known.from).expect("a run has few bins");
    let (steady, why) = match known.shortfall {
        None => (true, "steady".to_owned()),
        Some(Shortfall::Imprecise(steady)) => {
            let reached = steady.mean.relative() * 100.0;
            (
                true,
                format!("steady, but known only within {reached:.1} %"),
            )
        }
        Some(Shortfall::Unsteady(unsteady)) => (false, format!("not steady: {unsteady}")),
    };
    let warm_up = match pace.length {
        Length::Fixed { .. } => "as asked",
        Length::Precise { .. } => "as found",
    };
    let seconds = to_float(u64::from(from_bin)) / 10.0;
    Steady {
        steady,
        from_bin,
        why: format!("{why}; warm-up of {seconds:.1} s {warm_up}"),
    }
}

fn split<U>(totals: &Totals<U>) -> Split {
    let split = totals.figures().split;
    Split {
        backlog_ns: split.backlog,
        lag_ns: split.lag,
        sending_ns: split.sending,
        answering_ns: split.answering,
        reading_ns: split.reading,
    }
}

fn operations(tally: &Tally) -> Vec<Operation> {
    let operations = tally.operations.iter().map(|operation| Operation {
        name: operation.name.to_owned(),
        done: operation.done,
        refused: operation.refused.by_word(),
        errors: operation.errors.by_word(),
        unknown: operation.unknown,
        late: operation.late,
        response: Distribution::of(&operation.times),
    });
    operations.collect()
}

fn wholes(tally: &Tally) -> Vec<Whole> {
    let wholes = tally.wholes.iter().map(|whole| Whole {
        name: whole.name.to_owned(),
        done: whole.done,
        refused: whole.refused.by_word(),
        errors: whole.errors.by_word(),
        late: whole.late,
        response: Distribution::of(&whole.response),
        service: Distribution::of(&whole.service),
    });
    wholes.collect()
}

fn bins(bins: &[Bin]) -> Bins {
    Bins {
        width_ns: BIN_NANOS,
        answered: bins.iter().map(|bin| u64::from(bin.answered)).collect(),
        response_ns: bins
            .iter()
            .map(|bin| bin.response / u64::from(bin.answered.max(1)))
            .collect(),
        failed: bins.iter().map(|bin| u64::from(bin.failed)).collect(),
    }
}

/// Little's law, where the number of users is given: in a closed loop in which all are there all the
/// time, and say themselves when they ask.
fn laws<U>(pace: &Pace, totals: &Totals<U>, response: f64) -> Vec<Check> {
    let Rhythm::Closed {
        think,
        stages: None,
    } = &pace.rhythm
    else {
        return Vec::new();
    };
    let thought = mean_thought(*think).unwrap_or_default().as_secs_f64();
    if thought == 0.0 && totals.tally.lag.count() > 0 {
        // Its users have schedules of their own.
        return Vec::new();
    }
    let ended = |whole: &pace::WholeTally| whole.refused.total() + whole.errors.total() > 0;
    if totals.tally.wholes.iter().any(ended) {
        // What came to nothing took time, too, which is not in the mean.
        return Vec::new();
    }
    let figures = totals.figures();
    let point = operational::Point {
        users: usize::try_from(totals.slots).expect("users are at most 50,000"),
        throughput: figures.throughput,
        response: response / 1e9,
        think: thought,
    };
    let error = |interval: Option<turnstile_stats::Interval>| {
        interval.map_or(0.0, |interval| interval.half_width() / 1.96)
    };
    let of_users = error(totals.known.throughput) * (point.response + point.think);
    vec![Check::little(&point, of_users)]
}

/// What was driven, and what was answered in the whole run: a proof is about these counts.
pub(crate) fn write(
    f: &mut fmt::Formatter<'_>,
    workload: &str,
    server: Option<&Server>,
    point: &Point,
) -> fmt::Result {
    write!(f, "{workload}")?;
    if let Some(server) = server {
        let (version, durability) = (&server.version, &server.durability);
        write!(f, " against server {version}, durability {durability}")?;
    }
    writeln!(f)?;
    for one in point.operations.iter().filter(|one| is_asked(one)) {
        write_ends(f, &one.name, one.done, [&one.refused, &one.errors])?;
        if one.unknown > 0 {
            write!(f, ", {} unknown", Count(one.unknown))?;
        }
        write_times(f, &one.response)?;
    }
    write_wholes(f, "", point)
}

/// How what several requests make ended, and the connections that were lost meanwhile.
pub(crate) fn write_wholes(f: &mut fmt::Formatter<'_>, before: &str, point: &Point) -> fmt::Result {
    for whole in &point.wholes {
        f.write_str(before)?;
        write_ends(f, &whole.name, whole.done, [&whole.refused, &whole.errors])?;
        write_times(f, &whole.response)?;
    }
    let (lost, failed) = (point.connections_lost, point.connects_failed);
    if lost + failed > 0 {
        let (lost, failed) = (Count(lost), Count(failed));
        writeln!(
            f,
            "connections: {lost} lost, {failed} attempts to connect again failed"
        )?;
    }
    Ok(())
}

fn is_asked(one: &Operation) -> bool {
    one.done + one.unknown > 0 || !one.refused.is_empty() || !one.errors.is_empty()
}

fn write_ends(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    done: u64,
    [refused, errors]: [&BTreeMap<String, u64>; 2],
) -> fmt::Result {
    write!(f, "{name}: {} done", Count(done))?;
    for (word, counts) in [("refused", refused), ("errors", errors)] {
        for (why, count) in counts {
            write!(f, ", {} {word} ({why})", Count(*count))?;
        }
    }
    Ok(())
}

fn write_times(f: &mut fmt::Formatter<'_>, times: &Distribution) -> fmt::Result {
    if times.count > 0 {
        write!(f, "; mean {}", Nanos(times.mean_ns))?;
    }
    if let Some(p99) = times.at(0.99) {
        write!(f, ", p99 {}", Nanos(to_float(p99)))?;
    }
    writeln!(f)
}
