//! The conclusions of the two reports on room booking.

use turnstile_published::{
    BOOKING_MYSQL, BOOKING_REDIS, MIXED, Source, bookings, processor, stated,
};
use turnstile_stats::{
    Interval,
    units::{Nanos, PerSecond},
};

use super::{
    evidence::{
        self, Knee, Level, above, both, enough, gain, judge, levels, mean, number, pairs, ratio,
        response, shown, throughput, told, users, within,
    },
    on,
};
use crate::{Conclusion, Fate, SeriesColumn, Storage, column::is_at};

pub(crate) const BOOK: &str = "book";

/// How far throughput x response may be from the users before a point breaks Little's law.
const TOLERANCE: f64 = 0.1;

/// Processors that a server must use to be held up by them: a loop of its own has one.
const BUSY: f64 = 0.85;

/// So much of a processor that both share is all of it.
const FULL: f64 = 0.95;

/// Two rates within this share of each other are the same.
const SAME: f64 = 0.1;

/// What falls by less falls slightly.
const SLIGHT: f64 = 0.15;

/// Before saturation a processor is used less than this share of what it is used there.
const PARTLY: f64 = 0.8;

/// One of the two reports.
#[derive(Clone, Copy)]
struct Report {
    source: Source,
    storage: Storage,
    /// As the claims call it.
    name: &'static str,
}

const MYSQL: Report = Report {
    source: BOOKING_MYSQL,
    storage: Storage::Mysql,
    name: "MySQL",
};
const REDIS: Report = Report {
    source: BOOKING_REDIS,
    storage: Storage::Redis,
    name: "Redis",
};

pub(super) fn mysql(columns: &[SeriesColumn]) -> Vec<Conclusion> {
    vec![
        little(BOOKING_MYSQL),
        MYSQL.knee(BOOK, columns),
        MYSQL.knee(MIXED, columns),
        database(BOOK, columns),
        database(MIXED, columns),
        by_users(columns),
        falls(columns),
        mixes(columns),
        in_memory(columns),
    ]
}

pub(super) fn redis(columns: &[SeriesColumn], known: &[SeriesColumn]) -> Vec<Conclusion> {
    vec![
        little(BOOKING_REDIS),
        REDIS.knee(BOOK, columns),
        REDIS.knee(MIXED, columns),
        front_end(BOOK, columns),
        front_end(MIXED, columns),
        faster(columns, known),
        earlier(columns, known),
        units(columns, known),
        cancels(columns),
    ]
}

/// The table against itself: no run is needed.
fn little(source: Source) -> Conclusion {
    let points = bookings(source);
    let breaks = |point: &&turnstile_published::Bookings| {
        (point.throughput * point.response / number(point.users) - 1.0).abs() > TOLERANCE
    };
    let broken = points.iter().filter(breaks).count();
    let all = points.len();
    let why = format!(
        "in a closed loop without think time users = throughput x response; {broken} of the {all} \
         published points break that by more than 10 %, so most of each user's time was not timed"
    );
    Conclusion::new(
        "throughput and response describe the same users".to_owned(),
        Fate::if_so(broken == 0),
        why,
    )
}

/// What requests a series has, for a sentence.
fn with(series: &str) -> &'static str {
    if series == BOOK {
        "books alone"
    } else {
        "books and 30 % cancels"
    }
}

impl Report {
    fn stated(self, series: &str, name: &str) -> f64 {
        let name = if series == BOOK {
            name.to_owned()
        } else {
            format!("mixed {name}")
        };
        stated(self.source, &name).0
    }

    /// From which users on it is saturated, as they say.
    fn saturation(self, series: &str) -> f64 {
        self.stated(series, "saturation users")
    }

    /// Its column, or why there is none, and what the embedded journal does instead.
    fn column(
        self,
        columns: &[SeriesColumn],
        beside: impl Fn(&SeriesColumn) -> Option<String>,
    ) -> Result<&SeriesColumn, String> {
        on(columns, self.storage).ok_or_else(|| {
            let beside = columns.first().and_then(beside);
            let beside = beside.map_or_else(String::new, |beside| format!("; {beside}"));
            format!("{} was not measured{beside}", self.storage.name())
        })
    }

    /// Points at so many users that it is saturated, as they say.
    fn saturated(self, column: &SeriesColumn, series: &str) -> Vec<Level> {
        let mut levels = levels(column, series, throughput);
        levels.retain(|level| level.x >= self.saturation(series));
        levels
    }

    fn knee(self, series: &str, columns: &[SeriesColumn]) -> Conclusion {
        let published = self.saturation(series);
        let claim = format!(
            "{} saturates at {published} users with {}, {}/s",
            self.name,
            with(series),
            PerSecond(self.stated(series, "saturation rate"))
        );
        let tell = |column: &SeriesColumn| {
            let knee = Knee::of(&levels(column, series, throughput), published)?;
            let why = format!(
                "{} reaches 95 % of its {}/s at {} users",
                column.name,
                PerSecond(knee.most.estimate),
                users(knee.users)
            );
            Ok::<_, String>((knee.is_near(published), why))
        };
        let beside = |column: &SeriesColumn| Some(tell(column).ok()?.1);
        judge(claim, self.column(columns, beside).and_then(tell))
    }

    /// Its column here, or in its own experiment before.
    fn here_or<'a>(
        self,
        columns: &'a [SeriesColumn],
        known: &'a [SeriesColumn],
    ) -> Result<&'a SeriesColumn, String> {
        let column = on(columns, self.storage).or_else(|| on(known, self.storage));
        column.ok_or_else(|| format!("{} was not measured", self.storage.name()))
    }
}

/// Processors of the database and of the server at saturation, point by point.
fn busy(report: Report, column: &SeriesColumn, series: &str) -> Vec<(f64, f64)> {
    let least = report.saturation(series);
    let figures = column.usable(series).into_iter();
    let figures = figures.filter(|figure| figure.x >= least);
    figures
        .filter_map(|figure| Some((figure.database_busy?, figure.server_busy?)))
        .collect()
}

/// The mean over points, with Student's interval.
fn over(points: &[(f64, f64)], of: fn(&(f64, f64)) -> f64) -> Result<Interval, String> {
    enough(points.len())?;
    let each: Vec<f64> = points.iter().map(of).collect();
    Interval::of_mean(&each).ok_or_else(|| "no points".to_owned())
}

fn database(series: &str, columns: &[SeriesColumn]) -> Conclusion {
    let claim = format!("with {} mysqld's processor is the bottleneck", with(series));
    let found = MYSQL.column(columns, |_| None).and_then(|column| {
        let points = busy(MYSQL, column, series);
        let (mysqld, server) = (over(&points, |one| one.0)?, over(&points, |one| one.1)?);
        let more = over(&points, |one| one.0 - one.1)?;
        // Full alone, or with the server on one processor.
        let full = over(&points, |one| (one.0 / BUSY).max((one.0 + one.1) / FULL))?;
        let why = format!(
            "at saturation mysqld uses {} processors, the server {}",
            told(mysqld),
            told(server)
        );
        Ok((both(above(more, 0.0), above(full, 1.0)), why))
    });
    judge(claim, found)
}

fn front_end(series: &str, columns: &[SeriesColumn]) -> Conclusion {
    let claim = format!(
        "with {} the front end's processor is the bottleneck, not the storage ({:.0} % of two cores)",
        with(series),
        stated(BOOKING_REDIS, "front end percent").0
    );
    let found = REDIS.column(columns, |_| None).and_then(|column| {
        let points = busy(REDIS, column, series);
        let (storage, server) = (over(&points, |one| one.0)?, over(&points, |one| one.1)?);
        let more = over(&points, |one| one.1 - one.0)?;
        let why = format!(
            "on {} the server uses {} processors at saturation, the storage {}",
            column.name,
            told(server),
            told(storage)
        );
        Ok((both(above(more, 0.0), above(server, BUSY)), why))
    });
    judge(claim, found)
}

/// How much of what it uses at saturation mysqld uses before.
fn by_users(columns: &[SeriesColumn]) -> Conclusion {
    let table = processor();
    let (first, last) = (table[0], table[table.len() - 1]);
    let claim = format!(
        "mysqld's processor use grows with the users, from {} to {} % at {} to {} to {} % at {}",
        first.low, first.high, first.users, last.low, last.high, last.users
    );
    let found = MYSQL.column(columns, |_| None).and_then(|column| {
        let levels = levels(column, BOOK, evidence::database);
        let at = |users: usize| levels.iter().find(|level| is_at(level.x, number(users)));
        let most = at(last.users)
            .ok_or_else(|| format!("too few valid points: none with {} users", last.users))?
            .value;
        // One user alone leaves it idle on any machine.
        let between = table[1..table.len() - 1].iter();
        let shares: Vec<(f64, Interval)> = between
            .filter_map(|busy| at(busy.users))
            .map(|level| (level.x, ratio(level.value, most)))
            .collect();
        enough(shares.len())?;
        let words = shares.iter();
        let words = words.map(|(users, share)| format!("{} with {users}", told(*share)));
        let why = format!(
            "mysqld uses {} processors with {} users, and as a share of that {}",
            told(most),
            last.users,
            words.collect::<Vec<_>>().join(", ")
        );
        let less = shares.iter().map(|(_, share)| within(*share, 0.0, PARTLY));
        Ok((less.reduce(both).flatten(), why))
    });
    judge(claim, found)
}

/// Beyond saturation: the last point against the first.
fn falls(columns: &[SeriesColumn]) -> Conclusion {
    let beyond = stated(BOOKING_MYSQL, "users beyond which it falls").0;
    let claim = format!("beyond {beyond} users the throughput of MySQL falls very slightly");
    let found = MYSQL.column(columns, |_| None).and_then(|column| {
        let mut points = levels(column, BOOK, throughput);
        points.retain(|level| level.x >= MYSQL.saturation(BOOK));
        enough(points.len())?;
        let (first, last) = (points[0], points[points.len() - 1]);
        if last.x <= beyond {
            return Err(format!("too few valid points: none beyond {beyond}"));
        }
        let change = ratio(last.value, first.value);
        let why = format!(
            "{} books {} times as many a second with {} users as with {}",
            column.name,
            told(change),
            last.x,
            first.x
        );
        Ok((within(change, 1.0 - SLIGHT, 1.0), why))
    });
    judge(claim, found)
}

/// The mix against books alone at equal numbers of users from saturation on.
fn of_mix(report: Report, column: &SeriesColumn) -> Result<Interval, String> {
    gain(&pairs(
        &report.saturated(column, BOOK),
        &report.saturated(column, MIXED),
    ))
}

fn told_of_mix(column: &SeriesColumn, gain: Interval) -> String {
    format!(
        "on {} the mix does {} times as many a second as books alone, with as many users",
        column.name,
        told(gain)
    )
}

fn mixes(columns: &[SeriesColumn]) -> Conclusion {
    let claim = "books and cancels saturate at the same rate as books alone".to_owned();
    let beside = |column: &SeriesColumn| Some(told_of_mix(column, of_mix(MYSQL, column).ok()?));
    let found = MYSQL.column(columns, beside).and_then(|column| {
        let gain = of_mix(MYSQL, column)?;
        let is_same = within(gain, 1.0 - SAME, 1.0 + SAME);
        Ok((is_same, told_of_mix(column, gain)))
    });
    judge(claim, found)
}

fn cancels(columns: &[SeriesColumn]) -> Conclusion {
    let rate = |series| REDIS.stated(series, "saturation rate");
    let claim = format!(
        "with 30 % cancels it does more a second than with books alone ({:.1} times)",
        rate(MIXED) / rate(BOOK)
    );
    let beside = |column: &SeriesColumn| Some(told_of_mix(column, of_mix(REDIS, column).ok()?));
    let found = REDIS.column(columns, beside).and_then(|column| {
        let gain = of_mix(REDIS, column)?;
        Ok((above(gain, 1.0), told_of_mix(column, gain)))
    });
    judge(claim, found)
}

/// MySQL's own two ways to keep a table, at equal numbers of users.
fn in_memory(columns: &[SeriesColumn]) -> Conclusion {
    let claim = "with ENGINE=MEMORY the throughput of MySQL is higher".to_owned();
    let found = MYSQL.column(columns, |_| None).and_then(|disk| {
        let memory = on(columns, Storage::MysqlMemory)
            .ok_or_else(|| "MySQL in memory was not measured".to_owned())?;
        let of = |column: &SeriesColumn| levels(column, BOOK, throughput);
        let gain = gain(&pairs(&of(disk), &of(memory)))?;
        let why = format!(
            "with as many users {} books {} times as many a second as {}",
            memory.name,
            told(gain),
            disk.name
        );
        Ok((above(gain, 1.0), why))
    });
    judge(claim, found)
}

/// Each at saturation, as they compared them: Redis here, and MySQL here or in its own experiment before.
fn faster(columns: &[SeriesColumn], known: &[SeriesColumn]) -> Conclusion {
    let rate = |report: Report| report.stated(BOOK, "saturation rate");
    let theirs = rate(REDIS) / rate(MYSQL);
    let claim = format!("in memory (Redis) it is {theirs:.0} times as fast as on a disk (MySQL)");
    let of = |report: Report| {
        let column = report.here_or(columns, known)?;
        mean(&report.saturated(column, BOOK)).map_err(|why| format!("{}: {why}", column.name))
    };
    let found = of(REDIS).and_then(|redis| {
        let mysql = of(MYSQL)?;
        let ratio = ratio(redis, mysql);
        let why = format!(
            "saturated, Redis books {} times as many a second as MySQL ({}/s and {}/s)",
            told(ratio),
            PerSecond(redis.estimate),
            PerSecond(mysql.estimate)
        );
        Ok((within(ratio, theirs / 2.0, theirs * 2.0), why))
    });
    judge(claim, found)
}

fn earlier(columns: &[SeriesColumn], known: &[SeriesColumn]) -> Conclusion {
    let claim = format!(
        "Redis saturates with fewer users than MySQL ({} instead of {})",
        REDIS.saturation(BOOK),
        MYSQL.saturation(BOOK)
    );
    let of = |report: Report| {
        let column = report.here_or(columns, known)?;
        let knee = Knee::of(&levels(column, BOOK, throughput), report.saturation(BOOK));
        knee.map_err(|why| format!("{}: {why}", column.name))
    };
    let found = of(REDIS).and_then(|redis| {
        let mysql = of(MYSQL)?;
        let why = format!(
            "Redis reaches 95 % of its most at {} users, MySQL at {}",
            users(redis.users),
            users(mysql.users)
        );
        let is_so = if redis.users.high < mysql.users.low {
            Some(true)
        } else if redis.users.low >= mysql.users.high {
            Some(false)
        } else {
            None
        };
        Ok((is_so, why))
    });
    judge(claim, found)
}

/// The pair that the claim is about: each at the users with which it is saturated.
fn units(columns: &[SeriesColumn], known: &[SeriesColumn]) -> Conclusion {
    let claim = "a request takes hundreds of ms on MySQL and hundreds of us on Redis".to_owned();
    let of = |report: Report| {
        let column = report.here_or(columns, known)?;
        let users = report.saturation(BOOK);
        let mut there = levels(column, BOOK, response);
        there.retain(|level| is_at(level.x, users));
        let level = there.first();
        level.map(|level| level.value).ok_or_else(|| {
            format!(
                "{}: too few valid points: none with {users} users",
                column.name
            )
        })
    };
    let found = of(REDIS).and_then(|redis| {
        let mysql = of(MYSQL)?;
        let shown = |time| shown(time, |seconds| Nanos(seconds * 1e9));
        let why = format!(
            "{} on MySQL with {} users, {} on Redis with {}",
            shown(mysql),
            MYSQL.saturation(BOOK),
            shown(redis),
            REDIS.saturation(BOOK)
        );
        let is_within = |time, name| {
            let (low, high) = stated(BOOKING_REDIS, name);
            within(time, low, high)
        };
        let is_so = both(
            is_within(mysql, "response on mysql"),
            is_within(redis, "response there"),
        );
        Ok((is_so, why))
    });
    judge(claim, found)
}

#[cfg(test)]
pub(crate) mod tests;
