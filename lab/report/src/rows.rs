//! The points of a run as rows: `points.csv`, and the table of a text.

use csv::Writer;
use turnstile_result::{OfferedLoad, Outcome, Point, Run};
use turnstile_stats::Interval;

use crate::text;

const HEAD: [&str; 28] = [
    "series",
    "repeat",
    "cores",
    "quota",
    "loop",
    "users",
    "rate",
    "throughput",
    "throughput_low",
    "throughput_high",
    "response_mean_ns",
    "response_mean_low_ns",
    "response_mean_high_ns",
    "p50_ns",
    "p90_ns",
    "p99_ns",
    "p99_low_ns",
    "p99_high_ns",
    "p999_ns",
    "max_ns",
    "service_mean_ns",
    "service_p99_ns",
    "lag_p99_ns",
    "errors",
    "unknown",
    "server_cpu",
    "steady",
    "verdict",
];

/// `points.csv`: one row for each point, in the order in which they were measured. What is not
/// known is empty.
///
/// # Panics
/// Never: memory takes what is written.
#[must_use]
pub fn csv(run: &Run) -> String {
    let mut writer = Writer::from_writer(Vec::new());
    let rows = std::iter::once(HEAD.map(str::to_owned)).chain(run.points.iter().map(row));
    for row in rows {
        writer
            .write_record(row)
            .expect("memory takes what is written");
    }
    let bytes = writer.into_inner().expect("memory takes what is written");
    String::from_utf8(bytes).expect("texts are UTF-8")
}

fn row(point: &Point) -> [String; 28] {
    let (users, rate) = match &point.load {
        OfferedLoad::Closed { users, .. } | OfferedLoad::Count { users, .. } => {
            (users.to_string(), String::new())
        }
        OfferedLoad::Open { rate, .. } => (String::new(), rate.to_string()),
    };
    let ends = |interval: &Option<Interval>| {
        let end = |of: fn(&Interval) -> f64| {
            interval
                .as_ref()
                .map_or_else(String::new, |one| of(one).to_string())
        };
        [end(|interval| interval.low), end(|interval| interval.high)]
    };
    let [rate_low, rate_high] = ends(&point.throughput_interval);
    let [mean_low, mean_high] = ends(&point.response_interval);
    let [p99_low, p99_high] = ends(&point.p99_interval);
    let (response, service) = (&point.times.response, &point.times.service);
    let at = |of: &turnstile_result::Distribution, quantile| {
        of.at(quantile)
            .map_or_else(String::new, |nanos| nanos.to_string())
    };
    let errors: u64 = point
        .operations
        .iter()
        .flat_map(|one| one.errors.values())
        .sum();
    let unknown: u64 = point.operations.iter().map(|one| one.unknown).sum();
    let server = point
        .resources
        .processes
        .iter()
        .find(|process| process.role == "server");
    [
        point.series.clone(),
        point.repeat.to_string(),
        point
            .cores
            .map_or_else(String::new, |cores| cores.to_string()),
        point
            .quota
            .map_or_else(String::new, |quota| quota.to_string()),
        text::loop_of(&point.load).to_owned(),
        users,
        rate,
        point.throughput.to_string(),
        rate_low,
        rate_high,
        response.mean_ns.to_string(),
        mean_low,
        mean_high,
        at(response, 0.5),
        at(response, 0.9),
        at(response, 0.99),
        p99_low,
        p99_high,
        at(response, 0.999),
        response.max_ns.to_string(),
        service.mean_ns.to_string(),
        at(service, 0.99),
        at(&point.times.lag, 0.99),
        errors.to_string(),
        unknown.to_string(),
        server.map_or_else(String::new, |server| {
            (server.user + server.system).to_string()
        }),
        point.steady.steady.to_string(),
        text::verdict(point.verdict).to_owned(),
    ]
}

/// The rows that people want in a text.
pub(crate) fn markdown(run: &Run) -> String {
    let mut text =
        "\n| load | answers | mean | p50 | p99 | generator's lag p99 | little | verdict |\n"
            .to_owned();
    text += "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for point in &run.points {
        let response = &point.times.response;
        let at = |quantile| {
            response
                .at(quantile)
                .map_or_else(|| "-".to_owned(), text::nanos)
        };
        let lag = point
            .times
            .lag
            .at(0.99)
            .map_or_else(|| "-".to_owned(), text::nanos);
        let rate = point.throughput_interval.as_ref().map_or_else(
            || text::per_second(point.throughput),
            |interval| {
                format!(
                    "{} \u{b1} {}",
                    text::per_second(point.throughput),
                    text::share(interval.relative())
                )
            },
        );
        text += &format!(
            "| {} | {rate} | {} | {} | {} | {lag} | {} | {} |\n",
            text::point(point, &run.points),
            text::time(response.mean_ns),
            at(0.5),
            at(0.99),
            little(point),
            text::verdict(point.verdict)
        );
    }
    text
}

/// Found over expected, of Little's law.
pub(crate) fn little(point: &Point) -> String {
    use turnstile_stats::operational::{Law, Verdict};
    let check = point.laws.iter().find(|check| check.law == Law::Little);
    check.map_or_else(
        || "-".to_owned(),
        |check| match check.verdict {
            Verdict::NotTestable => "-".to_owned(),
            Verdict::Holds => format!("{:.2}", check.found / check.expected),
            Verdict::Fails => format!("{:.2} FAILS", check.found / check.expected),
        },
    )
}

/// Checks of a point that failed.
pub(crate) fn failures(point: &Point) -> usize {
    let failed = point
        .validity
        .iter()
        .filter(|check| check.outcome == Outcome::Fails);
    failed.count()
}
