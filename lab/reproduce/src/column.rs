//! What was measured on one back end.

use serde::Serialize;
use turnstile_result::{OfferedLoad, Outcome, Point, Verdict};
use turnstile_stats::{
    Interval,
    units::{count, to_float},
};

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
pub struct SeriesColumn {
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
    /// Where the truth of that lies.
    pub database_busy_range: Option<(f64, f64)>,
    /// The share of the time in which somebody waited for memory, where that is known.
    pub memory_wait: Option<f64>,
    /// Bytes a second over all network devices in one direction, where that is known.
    pub network_bytes: Option<f64>,
    /// Mean response of each slot of the window that has answers, in seconds.
    pub slots: Vec<f64>,
    /// How long all of it took, in seconds.
    pub took: f64,
    /// Whether the figure may be used.
    pub is_usable: bool,
    /// Whether it may not be used for the only reason that less was answered than was due: the server is
    /// saturated.
    pub is_behind: bool,
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
        let parts = WindowBins::of(point);
        Self {
            series: series.to_owned(),
            x: match point.load {
                OfferedLoad::Closed { users, .. } | OfferedLoad::Count { users, .. } => {
                    f64::from(users)
                }
                OfferedLoad::Open { rate, .. } => rate,
            },
            throughput: point.throughput,
            throughput_range: point
                .throughput_interval
                .or_else(|| parts.throughput(point))
                .map(|interval| scaled(interval, 1.0)),
            response: point.times.response.mean_ns / 1e9,
            response_range: point
                .response_interval
                .or_else(|| parts.response(point))
                .map(|interval| scaled(interval, 1e9)),
            server_busy: busy("server"),
            database_busy: busy("database"),
            database_busy_range: busy_of_database(point).map(|interval| scaled(interval, 1.0)),
            memory_wait: point.resources.pressure.map(|all| all.memory.some),
            network_bytes: point.resources.network_bytes,
            slots: parts.slots(),
            took: point.window_s,
            is_usable: !matches!(point.verdict, Verdict::Invalid | Verdict::Violated),
            is_behind: is_behind(point),
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

/// Whether a point is invalid for no other reason than that less was answered than was due.
fn is_behind(point: &Point) -> bool {
    let failed = point.validity.iter();
    let mut failed = failed.filter(|check| check.outcome == Outcome::Fails);
    let first = failed.next();
    point.verdict == Verdict::Invalid
        && first.is_some_and(|check| check.check == "delivered")
        && failed.next().is_none()
}

/// Processors that the database kept busy, known by how the parts of the window differ.
fn busy_of_database(point: &Point) -> Option<Interval> {
    let mut processes = point.resources.processes.iter();
    let process = processes.find(|process| process.role == "database")?;
    let from = usize::try_from(point.steady.from_bin).ok()?;
    let bins = process
        .busy
        .get(from..process.busy.len().saturating_sub(1))?;
    let parts = bins.chunks_exact((bins.len() / PARTS).max(1));
    let parts =
        parts.map(|bins| bins.iter().map(|busy| f64::from(*busy)).sum::<f64>() / count(bins.len()));
    about(process.used(), &parts.collect::<Vec<_>>())
}

/// A short run has no steady state to be shown, and so no interval of its own: then it is in so many
/// equal parts, and Student's interval of their means tells how well the whole is known.
const PARTS: usize = 10;

/// The window of a point in bins.
struct WindowBins<'a> {
    width_s: f64,
    answered: &'a [u64],
    response_ns: &'a [u64],
}

impl<'a> WindowBins<'a> {
    fn of(point: &'a Point) -> Self {
        let from = usize::try_from(point.steady.from_bin).unwrap_or(usize::MAX);
        let bins = &point.bins;
        let width_s = to_float(bins.width_ns) / 1e9;
        // The last bin may be cut short.
        let whole = bins.answered.len().saturating_sub(1);
        let within = |bins: &'a [u64]| bins.get(from..whole.min(bins.len())).unwrap_or_default();
        Self {
            width_s,
            answered: within(&bins.answered),
            response_ns: within(&bins.response_ns),
        }
    }

    /// Answers and the sum of their responses in each part.
    fn parts(&self) -> Vec<(f64, f64, f64)> {
        let each = (self.answered.len() / PARTS).max(1);
        let answered = self.answered.chunks_exact(each);
        let response = self.response_ns.chunks_exact(each);
        let parts = answered.zip(response).map(|(answered, response)| {
            let sums = answered.iter().zip(response);
            let all = sums.map(|(count, mean)| to_float(*count) * to_float(*mean));
            let done = to_float(answered.iter().sum());
            (done, all.sum(), count(answered.len()) * self.width_s)
        });
        parts.collect()
    }

    /// About the throughput of the point, by how its parts differ.
    fn throughput(&self, point: &Point) -> Option<Interval> {
        let rates = self.parts().into_iter();
        let rates: Vec<f64> = rates.map(|(count, _, seconds)| count / seconds).collect();
        about(point.throughput, &rates)
    }

    /// Likewise about its mean response, in nanoseconds.
    fn response(&self, point: &Point) -> Option<Interval> {
        let parts = self.parts().into_iter().filter(|(count, ..)| *count > 0.0);
        let means: Vec<f64> = parts.map(|(count, all, _)| all / count).collect();
        about(point.times.response.mean_ns, &means)
    }

    fn slots(&self) -> Vec<f64> {
        let means = self.response_ns.iter().filter(|mean| **mean > 0);
        means.map(|mean| to_float(*mean) / 1e9).collect()
    }
}

/// As wide as the interval of the mean of these; nothing for fewer than three.
fn about(estimate: f64, parts: &[f64]) -> Option<Interval> {
    let width = Interval::of_mean(parts)?.half_width();
    (parts.len() >= 3).then(|| Interval::about(estimate, width))
}

impl SeriesColumn {
    /// How many of its figures may not be used, and how many there are.
    #[must_use]
    pub fn left_out(&self) -> (usize, usize) {
        let spoilt = self.figures.iter().filter(|figure| !figure.is_usable);
        (spoilt.count(), self.figures.len())
    }

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
        of.retain(|figure| is_at(figure.x, x));
        of
    }
}

/// Whether both are the same place on an axis.
pub(crate) fn is_at(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[cfg(test)]
mod tests {
    use turnstile_result::{Bins, Pressure, Process, Stall, Validity};

    use super::*;

    /// Two seconds after half a one to warm up, too short to be shown to be steady.
    fn short() -> Point {
        let mut point = Point::blank("rooms");
        (point.throughput, point.window_s) = (1_000.0, 2.0);
        point.times.response.mean_ns = 5e6;
        point.steady.from_bin = 5;
        let wave = |bin: u64| 90 + 10 * (bin % 3);
        point.bins = Bins {
            width_ns: 100_000_000,
            answered: (0..26).map(wave).collect(),
            response_ns: (0..26).map(|bin| wave(bin) * 50_000).collect(),
            ..Bins::default()
        };
        point.resources.processes = vec![Process {
            role: "database".to_owned(),
            user: 0.5,
            busy: [0.4, 0.5, 0.6].repeat(9),
            ..Process::default()
        }];
        let stall = Stall {
            some: 0.02,
            full: 0.0,
        };
        point.resources.pressure = Some(Pressure {
            cpu: stall,
            memory: stall,
            io: stall,
        });
        point
    }

    #[test]
    fn a_short_run_is_known_by_how_its_parts_differ() {
        let figure = Figure::of(&short(), "book");
        for (estimate, range) in [
            (figure.throughput, figure.throughput_range),
            (figure.response, figure.response_range),
            (0.5, figure.database_busy_range),
        ] {
            let (low, high) = range.unwrap();
            assert!(low < estimate && estimate < high, "{figure:?}");
            assert!((high - low) / estimate < 0.2, "{figure:?}");
        }
        assert_eq!((figure.slots.len(), figure.memory_wait), (20, Some(0.02)));
        // What a long run says of itself is better.
        let mut long = short();
        long.throughput_interval = Some(Interval::about(1_000.0, 3.0));
        let range = Figure::of(&long, "book").throughput_range;
        assert_eq!(range, Some((997.0, 1_003.0)));
        // Of two bins nothing can be said.
        let mut brief = short();
        brief.bins.answered.truncate(8);
        brief.bins.response_ns.truncate(8);
        assert_eq!(Figure::of(&brief, "book").throughput_range, None);
    }

    #[test]
    fn only_what_was_not_answered_makes_a_point_behind() {
        let failed = |names: &[&str]| {
            let mut point = short();
            point.verdict = Verdict::Invalid;
            point.validity = names
                .iter()
                .map(|name| Validity {
                    check: (*name).to_owned(),
                    outcome: Outcome::Fails,
                    found: String::new(),
                    cure: None,
                })
                .collect();
            let figure = Figure::of(&point, "2 clients");
            (figure.is_usable, figure.is_behind)
        };
        assert_eq!(failed(&["delivered"]), (false, true));
        assert_eq!(failed(&["delivered", "run_delay"]), (false, false));
        assert_eq!(failed(&["run_delay"]), (false, false));
    }
}
