//! What was measured on one back end.

use serde::Serialize;
use turnstile_result::{Load, Outcome, Point, Verdict};
use turnstile_stats::{Interval, units::to_float};

/// What keeps the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Storage {
    /// Our journal.
    Embedded,
    /// On a disk, as the ancestor had it.
    Mysql,
    /// With tables in memory.
    MysqlMemory,
    Redis,
    Postgres,
}

/// All figures of one back end, or of one way to run it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// For people: `embedded`, `MariaDB InnoDB`, `five processes`.
    pub name: String,
    pub storage: Storage,
    pub figures: Vec<Figure>,
}

/// One figure: a rate, a mean response, where both are known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Which curve of the experiment it belongs to.
    pub series: String,
    /// Its place on the axis: users, cores, a rate; of parts of a whole their number.
    pub x: f64,
    /// A second.
    pub throughput: f64,
    pub throughput_range: Option<(f64, f64)>,
    /// Mean, in seconds.
    pub response: f64,
    pub response_range: Option<(f64, f64)>,
    /// How many processors the server kept busy, where that is known.
    pub server_busy: Option<f64>,
    /// The same of a database behind it.
    pub database_busy: Option<f64>,
    /// How long all of it took, in seconds.
    pub took: f64,
    /// Whether the figure may be used.
    pub is_usable: bool,
    /// Whether nothing that was promised was broken.
    pub is_proven: bool,
}

impl Storage {
    /// As it stands in sentences.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Embedded => "the embedded journal",
            Self::Mysql => "MySQL",
            Self::MysqlMemory => "MySQL in memory",
            Self::Redis => "Redis",
            Self::Postgres => "Postgres",
        }
    }
}

impl Figure {
    /// Of a point as it is. Users are the place on the axis; of an open loop the rate.
    #[must_use]
    pub fn of(point: &Point, series: &str) -> Self {
        let busy = |role: &str| {
            let of = point.resources.processes.iter();
            let of = of.filter(|process| process.role == role);
            of.map(|process| process.user + process.system)
                .reduce(|a, b| a + b)
        };
        let scaled = |interval: Interval, by: f64| (interval.low / by, interval.high / by);
        let broken = |outcome: Outcome| outcome == Outcome::Fails;
        Self {
            series: series.to_owned(),
            x: match point.load {
                Load::Closed { users, .. } | Load::Count { users, .. } => f64::from(users),
                Load::Open { rate, .. } => rate,
            },
            throughput: point.throughput,
            throughput_range: point
                .throughput_interval
                .map(|interval| scaled(interval, 1.0)),
            response: point.times.response.mean_ns / 1e9,
            response_range: point
                .response_interval
                .map(|interval| scaled(interval, 1e9)),
            server_busy: busy("server"),
            database_busy: busy("database"),
            took: point.window_s,
            is_usable: !matches!(point.verdict, Verdict::Invalid | Verdict::Violated),
            is_proven: !point.proof.iter().any(|rule| broken(rule.outcome)),
        }
    }

    /// Of a point of games, of which each is one of two players.
    #[must_use]
    pub fn of_games(point: &Point, series: &str) -> Self {
        let pairs = Self::of(point, series);
        Self {
            x: 2.0 * pairs.x,
            throughput: 2.0 * pairs.throughput,
            throughput_range: pairs
                .throughput_range
                .map(|(low, high)| (2.0 * low, 2.0 * high)),
            ..pairs
        }
    }

    /// The mean of one kind of request, or of several together.
    #[must_use]
    pub fn of_requests(point: &Point, series: &str, x: f64, names: &[&str]) -> Self {
        let of = point.operations.iter();
        let of = of.filter(|operation| names.contains(&operation.name.as_str()));
        let (count, all) = of.fold((0, 0.0), |(count, all), operation| {
            let response = &operation.response;
            (
                count + response.count,
                all + to_float(response.count) * response.mean_ns,
            )
        });
        Self {
            x,
            response: all / to_float(count.max(1)) / 1e9,
            response_range: None,
            throughput_range: None,
            ..Self::of(point, series)
        }
    }
}

impl Column {
    /// The usable figures of a series, in increasing order along the axis.
    pub(crate) fn usable(&self, series: &str) -> Vec<&Figure> {
        let of = self.figures.iter();
        let mut of: Vec<&Figure> = of
            .filter(|figure| figure.series == series && figure.is_usable)
            .collect();
        of.sort_by(|a, b| a.x.total_cmp(&b.x));
        of
    }

    /// The usable figures at one place.
    pub(crate) fn at(&self, series: &str, x: f64) -> Vec<&Figure> {
        let mut of = self.usable(series);
        of.retain(|figure| (figure.x - x).abs() < 1e-9);
        of
    }
}
