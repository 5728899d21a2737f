//! The laws, point by point.

use serde::Serialize;
use turnstile_stats::{
    sample,
    units::{Nanos, PerSecond},
};

use crate::{AuditFinding, Law, RoundedFigure, Row, Weight};

/// How far what is printed of runs may be from what follows from them: rounding.
const ROUNDING: f64 = 0.01;

/// What is known of how the figures came about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Whether a fixed number of users each waited for the answer before it asked again. If that
    /// is not known, only what holds for any loop is checked.
    pub closed: bool,
    /// The mean time from an answer to the user's next request in seconds, where the table has no
    /// column for it.
    pub think: f64,
    /// How far the sides of a law may lie apart, as a share: what rounding and noise may do.
    pub tolerance: f64,
}

/// One row with what the laws say of it. Times are seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// In the file, from 1.
    pub line: u64,
    /// Its place on the axis in words: `80 users`, `line 3`.
    pub name: String,
    pub users: Option<f64>,
    pub throughput: Option<f64>,
    pub response: Option<f64>,
    /// Throughput x (response + think time) over users: 1 where Little's law holds.
    pub little: Option<f64>,
    pub findings: Vec<AuditFinding>,
}

impl Point {
    #[must_use]
    pub fn is_broken(&self) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|finding| finding.weight == Weight::Broken)
    }

    /// Whether it breaks this law, not only looks odd.
    #[must_use]
    pub fn breaks(&self, law: Law) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|finding| finding.law == law && finding.weight == Weight::Broken)
    }
}

/// `rows` are of one series, in increasing order of users.
pub(crate) fn check(rows: &[&Row], settings: &Settings) -> Vec<Point> {
    let lowest = rows.first().copied();
    let mut points = Vec::with_capacity(rows.len());
    let mut before: Option<&Row> = None;
    for &row in rows {
        let mut findings = Vec::new();
        findings.extend(little(row, settings));
        findings.extend(utilization(row, settings));
        findings.extend(lowest.and_then(|lowest| throughput_bound(lowest, row, settings)));
        findings.extend(before.map_or_else(Vec::new, |before| falls(before, row, settings)));
        findings.extend(statistics(row));
        points.push(Point {
            line: row.line,
            name: name(row),
            users: row.users,
            throughput: row.throughput,
            response: row.response,
            little: ratio(row, settings),
            findings,
        });
        before = Some(row);
    }
    points
}

fn name(row: &Row) -> String {
    match (row.users, row.requests, row.cores) {
        (Some(users), ..) => format!("{users} users"),
        (None, Some(requests), Some(cores)) => format!("{requests} requests, {cores} cores"),
        (None, ..) => format!("line {}", row.line),
    }
}

fn think(row: &Row, settings: &Settings) -> f64 {
    row.think.unwrap_or(settings.think)
}

fn ratio(row: &Row, settings: &Settings) -> Option<f64> {
    let users = row.users.filter(|users| *users > 0.0)?;
    Some(row.throughput? * (row.response? + think(row, settings)) / users)
}

fn little(row: &Row, settings: &Settings) -> Option<AuditFinding> {
    let ratio = ratio(row, settings)?;
    let (users, throughput, response) = (row.users?, row.throughput?, row.response?);
    let (rate, printed) = (PerSecond(throughput), Nanos(response * 1e9));
    if ratio > 1.0 + settings.tolerance {
        let found = ratio * users;
        return Some(AuditFinding::broken(
            Law::Little,
            format!(
                "{rate}/s of {printed} each keep {found:.1} users waiting at any time, and there \
                 are {users}"
            ),
        ));
    }
    if !settings.closed || ratio >= 1.0 - settings.tolerance {
        return None;
    }
    let expected = Nanos((users / throughput - think(row, settings)) * 1e9);
    let lost = (1.0 - ratio) * 100.0;
    Some(AuditFinding::broken(
        Law::Little,
        format!(
            "{users} users at {rate}/s take {expected} each, {printed} is printed: {lost:.0} % of \
             each user's time was not timed"
        ),
    ))
}

fn utilization(row: &Row, settings: &Settings) -> Option<AuditFinding> {
    let (busy, servers) = (row.utilization?, row.cores.unwrap_or(1.0));
    (busy > servers * (1.0 + settings.tolerance)).then(|| {
        AuditFinding::broken(
            Law::Utilization,
            format!("{:.0} % of {servers} is busy", busy * 100.0),
        )
    })
}

/// Odd, not impossible: a server may take less for a request when more come at once.
fn throughput_bound(lowest: &Row, row: &Row, settings: &Settings) -> Option<AuditFinding> {
    let (users, throughput) = (row.users?, row.throughput?);
    let alone = lowest.response? + think(lowest, settings);
    let bound = users / alone;
    (settings.closed && throughput > bound * (1.0 + settings.tolerance)).then(|| {
        AuditFinding::odd(
            Law::ThroughputBound,
            format!(
                "{users} users could do {}/s if each took the {} of {} users, the fewest; {}/s is \
                 printed",
                PerSecond(bound),
                Nanos(alone * 1e9),
                lowest.users.unwrap_or_default(),
                PerSecond(throughput)
            ),
        )
    })
}

/// Against the point with the next fewer users.
fn falls(before: &Row, row: &Row, settings: &Settings) -> Vec<AuditFinding> {
    let mut findings = Vec::new();
    let grows = before.users.zip(row.users).filter(|(a, b)| b > a);
    let rises = |(a, b): &(f64, f64)| *b > a * (1.0 + settings.tolerance);
    let sinks = |(a, b): &(f64, f64)| *b < a * (1.0 - settings.tolerance);
    if let Some((fewer, users)) = grows {
        if let Some((a, b)) = before.response.zip(row.response).filter(sinks) {
            findings.push(AuditFinding::odd(
                Law::Monotonicity,
                format!(
                    "the response falls from {} to {} as users grow from {fewer} to {users}",
                    Nanos(a * 1e9),
                    Nanos(b * 1e9)
                ),
            ));
        }
        let each = before.throughput.zip(row.throughput);
        let each = each.map(|(a, b)| (a / fewer, b / users));
        if let Some((a, b)) = each.filter(|pair| settings.closed && rises(pair)) {
            findings.push(AuditFinding::odd(
                Law::Monotonicity,
                format!(
                    "each user gets {:.2} times what it got with {fewer}; with more users it gets \
                     less",
                    b / a
                ),
            ));
        }
    }
    let more = before
        .throughput
        .zip(row.throughput)
        .is_some_and(|pair| rises(&pair));
    let busy = before.utilization.zip(row.utilization);
    if let Some((a, b)) = busy.filter(|pair| more && sinks(pair)) {
        findings.push(AuditFinding::odd(
            Law::Utilization,
            format!(
                "it does more than the point before and is busy {:.0} % instead of {:.0} %",
                b * 100.0,
                a * 100.0
            ),
        ));
    }
    findings
}

/// What is printed about the runs of a row.
fn statistics(row: &Row) -> Vec<AuditFinding> {
    if row.runs.len() < 2 {
        return Vec::new();
    }
    let runs = f64::from(u32::try_from(row.runs.len()).expect("a row is short"));
    let mean = sample::mean(&row.runs);
    let deviation = sample::variance(&row.runs).sqrt();
    // Some divide by the number of runs, others by one less, as is right for a sample.
    let of_all = deviation * ((runs - 1.0) / runs).sqrt();
    let deviations = [deviation, of_all];
    let times: [(_, _, &[f64]); 3] = [
        ("mean", row.mean, &[mean]),
        ("standard deviation", row.deviation, &deviations),
        (
            "standard error",
            row.error,
            &deviations.map(|deviation| deviation / runs.sqrt()),
        ),
    ];
    let broken = |what: &str, follows: String, printed: String| {
        AuditFinding::broken(
            Law::Statistics,
            format!("the {what} of its runs is {follows}, {printed} is printed"),
        )
    };
    let time = |seconds: f64| Nanos(seconds * 1e9).to_string();
    let mut findings = Vec::new();
    for (what, printed, follows) in times {
        let agrees = |printed: RoundedFigure| {
            let mut follows = follows.iter();
            follows.any(|follows| {
                (printed.value - follows).abs() <= printed.rounding.max(ROUNDING * follows)
            })
        };
        if let Some(printed) = printed.filter(|&printed| !agrees(printed)) {
            findings.push(broken(what, time(follows[0]), time(printed.value)));
        }
    }
    let rates = row
        .throughput
        .zip(row.requests.map(|requests| requests / mean));
    if let Some((printed, follows)) = rates
        && (printed - follows).abs() > ROUNDING * follows
    {
        let [follows, printed] = [follows, printed].map(|rate| format!("{}/s", PerSecond(rate)));
        findings.push(broken("rate", follows, printed));
    }
    findings
}
