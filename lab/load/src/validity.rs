//! Whether a point may be used: checks of generator and machine, each with a cure.

use std::time::Duration;

use turnstile_result::{
    Distribution, OfferedLoad, Outcome, Point, Process, Resources, Validity, Verdict,
};
use turnstile_stats::{
    operational,
    units::{Count, Nanos, PerSecond, to_float},
};

use crate::{
    pace::{Pace, Wait},
    resources::Sampler,
};

/// A generator later than this, and than a share of the median response, is too late.
pub const LAG_NANOS_MAX: u64 = 200_000;
const LAG_SHARE: u64 = 100;

/// A generator thread busier than this is the bottleneck itself.
const GENERATOR_BUSY_MAX: f64 = 0.8;

/// Time in which a thread could have run but did not, as a share of the window, for each thread that
/// works. Being woken costs some microseconds each time, which are in it.
pub const RUN_DELAY_MAX: f64 = 0.05;

/// The share of the machine's time that its host gave to others.
pub const STEAL_MAX: f64 = 0.02;

/// Requests that failed, as a share of all.
const FAILED_MAX: f64 = 0.01;

/// How far the answers of an open loop may fall behind what was due, as a share.
const BEHIND_MAX: f64 = 0.02;

/// Gaps between arrivals that chance makes more seldom than this were not those that were planned.
const ARRIVALS_CHANCE_MIN: f64 = 0.001;

/// Shorter windows do not tell what the machine did.
const WINDOW_S_MIN: f64 = 1.0;

/// A delayed acknowledgement takes this long; responses gather there.
const DELAYED_ACK_NANOS: (u64, u64) = (38_000_000, 47_000_000);

/// So much of a processor is all of it, but for what the system takes.
const SERVER_FULL: f64 = 0.85;

/// So large a share of them is no chance.
const DELAYED_ACK_SHARE: f64 = 0.05;

/// Adds what was used to a point, checks it, and gives it its verdict. `goal`: how well its mean
/// should be known, as a share; a point that is not is worth nothing.
pub fn judge(point: &mut Point, resources: Resources, pace: &Pace, goal: Option<f64>) {
    let threads = pace.threads.min(users(&point.load));
    point.resources = resources;
    let checks = [
        little(point),
        lag(point),
        // Who sleeps little is always busy; whether it keeps up, its lag tells.
        matches!(pace.wait, Wait::Asleep | Wait::RealTime)
            .then(|| generator_busy(point, threads))
            .flatten(),
        run_delay(point, threads),
        steal(point),
        delivered(point),
        arrivals(point),
        failed(point),
        connections(point),
        delayed_ack(point),
    ];
    point.validity = checks.into_iter().flatten().collect();
    let fails = |outcome: Outcome| outcome == Outcome::Fails;
    let mean = match point.load {
        OfferedLoad::Open { .. } => point.response_interval,
        OfferedLoad::Closed { .. } | OfferedLoad::Count { .. } => point.throughput_interval,
    };
    let known = |goal: f64| mean.is_some_and(|mean| mean.relative() <= goal);
    point.verdict = if point.proof.iter().any(|rule| fails(rule.outcome)) {
        Verdict::Violated
    } else if point.validity.iter().any(|check| fails(check.outcome))
        || point
            .proof
            .iter()
            .any(|rule| rule.outcome == Outcome::NotTestable)
    {
        Verdict::Invalid
    } else if goal.is_some_and(|goal| !known(goal)) {
        Verdict::Unsteady
    } else {
        Verdict::Fine
    };
}

/// How many users or connections a load has: it has no more threads.
fn users(load: &OfferedLoad) -> usize {
    let users = match *load {
        OfferedLoad::Closed { users, .. } | OfferedLoad::Count { users, .. } => users,
        OfferedLoad::Open { connections, .. } => connections,
    };
    usize::try_from(users).expect("32 bits fit")
}

/// The same for a point of this pace, with what was used in its window.
pub fn judge_run(point: &mut Point, sampler: &Sampler, pace: &Pace, goal: Option<f64>) {
    let used = used(point, sampler);
    judge(point, used, pace, goal);
}

/// What was used in the window of a point that is over.
#[must_use]
pub fn used(point: &Point, sampler: &Sampler) -> Resources {
    let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or_default();
    let (from, window) = (seconds(point.warm_up_s), seconds(point.window_s));
    let (answers, bins) = (point.times.response.count, point.bins.answered.len());
    sampler.between(from, from + window, answers, bins)
}

fn check(name: &str, sound: Option<bool>, found: String, cure: &str) -> Validity {
    let outcome = match sound {
        Some(true) => Outcome::Holds,
        Some(false) => Outcome::Fails,
        None => Outcome::NotTestable,
    };
    Validity {
        check: name.to_owned(),
        outcome,
        found,
        cure: (outcome == Outcome::Fails).then(|| cure.to_owned()),
    }
}

fn little(point: &Point) -> Option<Validity> {
    let law = point
        .laws
        .iter()
        .find(|check| check.law == operational::Law::Little)?;
    let sound = match law.verdict {
        operational::Verdict::Holds => Some(true),
        operational::Verdict::Fails => Some(false),
        operational::Verdict::NotTestable => None,
    };
    let found = format!(
        "throughput x response is {:.2} users, {:.0} were asked for",
        law.found, law.expected
    );
    let cure = "part of the users' time was not measured: look for lost connections and stalls";
    Some(check("little", sound, found, cure))
}

fn lag(point: &Point) -> Option<Validity> {
    let lag = &point.times.lag;
    let p99 = lag.at(0.99)?;
    let median = point.times.response.at(0.5).unwrap_or(0);
    let limit = LAG_NANOS_MAX.max(median / LAG_SHARE);
    let found = format!(
        "requests were asked for late by up to {} (p99), the limit is {}",
        Nanos(to_float(p99)),
        Nanos(to_float(limit))
    );
    let cure = "give the generator a processor of its own (--pin), or lower the rate";
    Some(check("generator_lag", Some(p99 <= limit), found, cure))
}

fn process<'a>(point: &'a Point, role: &str) -> Option<&'a Process> {
    point
        .resources
        .processes
        .iter()
        .find(|one| one.role == role)
}

/// Whether the window is long enough to tell what the machine did.
fn told(point: &Point, sound: bool) -> Option<bool> {
    (point.window_s >= WINDOW_S_MIN).then_some(sound)
}

fn generator_busy(point: &Point, threads: usize) -> Option<Validity> {
    let generator = process(point, "generator")?;
    let threads = to_float(u64::try_from(threads.max(1)).ok()?);
    let busy = generator.used() / threads;
    let sound = told(point, busy <= GENERATOR_BUSY_MAX);
    let found = format!(
        "each generator thread was busy {:.0} % of the time",
        busy * 100.0
    );
    let cure = "the generator was the bottleneck: give it more threads (-t) and processors";
    Some(check("generator_busy", sound, found, cure))
}

fn run_delay(point: &Point, threads: usize) -> Option<Validity> {
    let generator = process(point, "generator")?;
    let threads = to_float(u64::try_from(threads.max(1)).ok()?);
    let delay = generator.run_delay? / threads;
    let server = process(point, "server").and_then(|server| server.run_delay);
    let of_server = server.map_or(String::new(), |delay| {
        format!(", the server's {:.1} %", delay * 100.0)
    });
    let found = format!(
        "the generator was runnable but not running {:.1} % of the time{of_server}",
        delay * 100.0
    );
    let cure = "others use these processors: stop them, separate server and generator (--pin), or \
        take another machine";
    let sound = told(point, delay <= RUN_DELAY_MAX);
    Some(check("run_delay", sound, found, cure))
}

fn steal(point: &Point) -> Option<Validity> {
    let steal = point.resources.steal?;
    let found = format!("the host gave {:.1} % of the time to others", steal * 100.0);
    let cure = "the machine is shared: measure again when it is quiet, or elsewhere";
    let sound = told(point, steal <= STEAL_MAX);
    Some(check("steal", sound, found, cure))
}

/// How many of those that were due came to an end in the window. Of wholes the throughput counts what
/// was done alone; as large a share of the others ended as over the whole run.
pub(crate) fn answered(point: &Point) -> f64 {
    let (mut done, mut ended) = (0, 0);
    for whole in &point.wholes {
        let others = whole.refused.values().chain(whole.errors.values());
        done += whole.done;
        ended += whole.done + others.sum::<u64>();
    }
    let done_share = if done > 0 {
        to_float(done) / to_float(ended)
    } else {
        1.0
    };
    point.throughput * point.window_s / done_share
}

fn delivered(point: &Point) -> Option<Validity> {
    let planned = to_float(point.planned?);
    let answered = answered(point);
    // As many more or fewer as chance brings to both ends of the window.
    let allowed = (BEHIND_MAX * planned).max(3.0 * planned.sqrt());
    let found = format!(
        "{} answers a second, {} were due",
        PerSecond(answered / point.window_s),
        PerSecond(planned / point.window_s)
    );
    let cure = "the server or its connections cannot keep up: lower the rate, or raise -c";
    let sound = planned - answered <= allowed;
    Some(check("delivered", Some(sound), found, cure))
}

fn arrivals(point: &Point) -> Option<Validity> {
    let fit = point.arrivals?;
    let found = format!(
        "{} gaps between requests that left fit the law with a chance of {:.3}",
        Count(fit.samples),
        fit.chance
    );
    let cure = "requests left late or in bunches: give the generator a processor of its own (--pin), \
        or real-time priority (--rt)";
    let sound = Some(fit.chance >= ARRIVALS_CHANCE_MIN);
    Some(check("arrivals", sound, found, cure))
}

fn failed(point: &Point) -> Option<Validity> {
    let (mut failed, mut all) = (0, 0);
    for operation in &point.operations {
        let errors = operation.errors.values().sum::<u64>() + operation.unknown;
        let refused: u64 = operation.refused.values().sum();
        failed += errors;
        all += errors + refused + operation.done;
    }
    if all == 0 {
        let cure = "no request was answered: is this the right address?";
        return Some(check("errors", Some(false), "no answers".to_owned(), cure));
    }
    let share = to_float(failed) / to_float(all);
    let found = format!("{} of {} requests failed", Count(failed), Count(all));
    let cure = "the figures are those of errors: see which, under the operations";
    Some(check("errors", Some(share <= FAILED_MAX), found, cure))
}

fn connections(point: &Point) -> Option<Validity> {
    let mut found = format!(
        "{} connections lost, {} attempts to connect again failed",
        Count(point.connections_lost),
        Count(point.connects_failed)
    );
    if point.reconnects > 0 {
        let closed = Count(point.reconnects);
        found.push_str(&format!(
            "; {closed} closed after an answer, and made again"
        ));
    }
    let cure = "the server closed connections: look at its log and its limits";
    let sound = point.connections_lost + point.connects_failed == 0;
    Some(check("connections", Some(sound), found, cure))
}

/// How many processors all but the generator kept busy, together.
fn served(point: &Point) -> f64 {
    let processes = point.resources.processes.iter();
    let others = processes.filter(|process| process.role != "generator");
    others.map(Process::used).sum()
}

fn delayed_ack(point: &Point) -> Option<Validity> {
    let OfferedLoad::Closed { .. } = point.load else {
        return None;
    };
    let (from, to) = DELAYED_ACK_NANOS;
    let times: &Distribution = &point.times.service;
    if times.count == 0 {
        return None;
    }
    let within = |from: u64, to: u64| {
        let buckets = times
            .buckets
            .iter()
            .filter(|(end, _)| (from..to).contains(end));
        to_float(buckets.map(|(_, count)| count).sum()) / to_float(times.count)
    };
    let (there, before) = (within(from, to), within(from / 2, from));
    // Whoever has a processor full of work makes its users wait for as long as it takes.
    let works = served(point) >= SERVER_FULL;
    let gathers = there > DELAYED_ACK_SHARE && before < there / 4.0 && !works;
    let found = format!("{:.1} % of the answers took about 40 ms", there * 100.0);
    let cure = "a delayed acknowledgement, not work: the server should set TCP_NODELAY";
    Some(check("delayed_ack", Some(!gathers), found, cure))
}

#[cfg(test)]
mod tests {
    use turnstile_stats::Histogram;

    use super::*;

    /// Twenty users of whom each waits 40 ms, while the server keeps so much of a processor busy.
    fn forty_ms(server: f64) -> Point {
        let mut times = Histogram::new();
        for _ in 0..1_000 {
            times.record(41_000_000);
        }
        let mut point = Point::blank("rooms");
        point.load = OfferedLoad::Closed {
            users: 20,
            pipeline: 1,
            think_ns: None,
        };
        point.times.service = Distribution::of(&times);
        point.resources.processes = vec![Process {
            role: "server".to_owned(),
            user: server,
            ..Process::default()
        }];
        point
    }

    #[test]
    fn forty_milliseconds_of_an_idle_server_are_a_timer_and_those_of_a_busy_one_are_work() {
        for (server, outcome) in [(0.1, Outcome::Fails), (0.97, Outcome::Holds)] {
            let check = delayed_ack(&forty_ms(server)).unwrap();
            assert_eq!(check.outcome, outcome, "{check:?}");
        }
    }

    /// What they used was divided by the threads that were asked for.
    #[test]
    fn threads_that_have_no_user_are_not_idle_generators() {
        let mut point = forty_ms(0.1);
        point.load = OfferedLoad::Count {
            users: 2,
            requests: 1_000,
        };
        point.window_s = 10.0;
        let resources = Resources {
            processes: vec![Process {
                role: "generator".to_owned(),
                user: 1.8,
                run_delay: Some(0.2),
                ..Process::default()
            }],
            ..Resources::default()
        };
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
        let pace = Pace {
            threads: 8,
            ..Pace::closed(address, Duration::ZERO, Duration::from_secs(10))
        };
        judge(&mut point, resources, &pace, None);
        let failed = point
            .validity
            .iter()
            .filter(|check| check.outcome == Outcome::Fails);
        let failed: Vec<&str> = failed.map(|check| &*check.check).collect();
        assert_eq!(failed, ["generator_busy", "run_delay", "errors"]);
    }

    #[test]
    fn of_wholes_that_come_to_nothing_as_large_a_share_has_ended_in_the_window() {
        let mut point = Point::blank("travel");
        (point.throughput, point.window_s) = (75.0, 4.0);
        assert!((answered(&point) - 300.0).abs() < 1e-9);
        point.wholes = vec![turnstile_result::Whole {
            name: "transaction".to_owned(),
            done: 300,
            refused: [("deadlock".to_owned(), 90)].into(),
            errors: [("exception".to_owned(), 10)].into(),
            late: 0,
            response: Distribution::default(),
            service: Distribution::default(),
        }];
        assert!((answered(&point) - 400.0).abs() < 1e-9);
    }
}
