//! The conclusions of the two reports on room booking.

use turnstile_published::{BOOKING_MYSQL, BOOKING_REDIS, MIXED, Source, bookings};
use turnstile_stats::units::PerSecond;

use super::{NO_FIGURES, on, on_or_any, saturation};
use crate::{Column, Conclusion, Fate, Figure, Storage};

const BOOK: &str = "book";

/// How far throughput x response may be from the users before a point breaks Little's law.
const TOLERANCE: f64 = 0.1;

/// A knee within this factor of the published one is the same knee: ladders have such steps.
const SAME_KNEE: f64 = 1.5;

/// Processors that a server must use to be held up by them: a loop of its own has one.
const BUSY: f64 = 0.85;

/// So much of a processor that both share is all of it.
const FULL: f64 = 0.95;

pub(super) fn mysql(columns: &[Column]) -> Vec<Conclusion> {
    vec![
        little(BOOKING_MYSQL),
        knee(
            "MySQL saturates at 300 users",
            300.0,
            Storage::Mysql,
            columns,
        ),
        database(columns),
        mixes(
            "books and cancels saturate at the same rate as books alone",
            0.1,
            Storage::Mysql,
            columns,
        ),
    ]
}

pub(super) fn redis(columns: &[Column], known: &[Column]) -> Vec<Conclusion> {
    vec![
        little(BOOKING_REDIS),
        knee("Redis saturates at 25 users", 25.0, Storage::Redis, columns),
        front_end(columns),
        faster(columns, known),
        cancels(columns),
    ]
}

/// The table against itself: no run is needed.
fn little(source: Source) -> Conclusion {
    let points = bookings(source);
    let breaks = |point: &&turnstile_published::Bookings| {
        let users = f64::from(u32::try_from(point.users).expect("tables have few users"));
        (point.throughput * point.response / users - 1.0).abs() > TOLERANCE
    };
    let broken = points.iter().filter(breaks).count();
    let all = points.len();
    let why = format!(
        "in a closed loop without think time users = throughput x response; {broken} of the {all} \
         published points break that by more than 10 %, so most of each user's time was not timed"
    );
    Conclusion::new(
        "throughput and response describe the same users",
        Fate::if_so(broken == 0),
        why,
    )
}

fn knee(claim: &'static str, published: f64, storage: Storage, columns: &[Column]) -> Conclusion {
    let told = |column: &Column| {
        let (users, most) = saturation(&column.usable(BOOK))?;
        let rate = PerSecond(most);
        Some((
            users,
            format!(
                "{} reaches 95 % of its {rate}/s at {users} users",
                column.name
            ),
        ))
    };
    let Some(column) = on(columns, storage) else {
        let beside = columns
            .first()
            .and_then(told)
            .map_or_else(String::new, |(_, told)| format!("; {told}"));
        return Conclusion::untested(
            claim,
            format!("{} was not measured{beside}", storage.name()),
        );
    };
    let Some((users, told)) = told(column) else {
        return Conclusion::untested(claim, NO_FIGURES.to_owned());
    };
    let near = (published / SAME_KNEE..=published * SAME_KNEE).contains(&users);
    Conclusion::new(claim, Fate::if_so(near), told)
}

/// The figure with the highest throughput.
fn busiest<'a>(column: &'a Column, series: &str) -> Option<&'a Figure> {
    let figures = column.usable(series).into_iter();
    figures.max_by(|a, b| a.throughput.total_cmp(&b.throughput))
}

fn database(columns: &[Column]) -> Conclusion {
    let claim = "mysqld's processor is the bottleneck";
    let Some(column) = on(columns, Storage::Mysql) else {
        return Conclusion::untested(claim, "MySQL was not measured".to_owned());
    };
    let busy =
        busiest(column, BOOK).and_then(|figure| Some((figure.database_busy?, figure.server_busy?)));
    let Some((database, server)) = busy else {
        return Conclusion::untested(claim, "what mysqld used is not known".to_owned());
    };
    let why =
        format!("at the highest rate mysqld uses {database:.2} processors, the server {server:.2}");
    Conclusion::new(
        claim,
        Fate::if_so(database > server && (database >= BUSY || database + server >= FULL)),
        why,
    )
}

fn front_end(columns: &[Column]) -> Conclusion {
    let claim = "the front end's processor is the bottleneck, not the storage";
    let Some(column) = on_or_any(columns, Storage::Redis) else {
        return Conclusion::untested(claim, NO_FIGURES.to_owned());
    };
    let Some(figure) = busiest(column, BOOK).filter(|figure| figure.server_busy.is_some()) else {
        return Conclusion::untested(claim, "what the server used is not known".to_owned());
    };
    let server = figure.server_busy.unwrap_or_default();
    let (name, users) = (&column.name, figure.x);
    let mut why = format!(
        "on {name} the server uses {server:.2} processors at the highest rate ({users} users)"
    );
    let mut is_so = server >= BUSY;
    if let Some(database) = figure.database_busy {
        why += &format!(", the storage {database:.2}");
        is_so &= server > database;
    }
    if column.storage == Storage::Embedded {
        why += "; its storage is in the same process, and Redis was not measured";
        return Conclusion::untested(claim, why);
    }
    Conclusion::new(claim, Fate::if_so(is_so), why)
}

/// Both series against each other.
fn most(column: &Column) -> Option<(f64, f64)> {
    let most = |series: &str| busiest(column, series).map(|figure| figure.throughput);
    Some((most(BOOK)?, most(MIXED)?))
}

fn mixes(claim: &'static str, within: f64, storage: Storage, columns: &[Column]) -> Conclusion {
    let column = on_or_any(columns, storage);
    let Some((column, (book, mixed))) = column.and_then(|column| Some((column, most(column)?)))
    else {
        return Conclusion::untested(claim, NO_FIGURES.to_owned());
    };
    let ratio = mixed / book;
    let why = format!(
        "on {} the mix does {ratio:.2} times as many a second as books alone",
        column.name
    );
    if column.storage != storage {
        return Conclusion::untested(claim, format!("{} was not measured; {why}", storage.name()));
    }
    Conclusion::new(claim, Fate::if_so((ratio - 1.0).abs() <= within), why)
}

fn cancels(columns: &[Column]) -> Conclusion {
    let claim = "with 30 % cancels it does more a second than with books alone (1.2 times)";
    let column = on_or_any(columns, Storage::Redis);
    let Some((column, (book, mixed))) = column.and_then(|column| Some((column, most(column)?)))
    else {
        return Conclusion::untested(claim, NO_FIGURES.to_owned());
    };
    let ratio = mixed / book;
    let why = format!(
        "on {} the mix does {ratio:.2} times as many a second",
        column.name
    );
    if column.storage != Storage::Redis {
        return Conclusion::untested(claim, format!("Redis was not measured; {why}"));
    }
    Conclusion::new(claim, Fate::if_so(ratio > 1.05), why)
}

/// Against MySQL as it was measured here, or in its own experiment before: each at its own highest rate,
/// as the ancestor compared them.
fn faster(columns: &[Column], known: &[Column]) -> Conclusion {
    let claim = "in memory (Redis) it is 18 times as fast as on a disk (MySQL)";
    let rate = |storage| {
        let column = on(columns, storage).or_else(|| on(known, storage))?;
        Some(busiest(column, BOOK)?.throughput)
    };
    match (rate(Storage::Redis), rate(Storage::Mysql)) {
        (Some(redis), Some(mysql)) => {
            let ratio = redis / mysql;
            let (redis, mysql) = (PerSecond(redis), PerSecond(mysql));
            let why = format!(
                "Redis books {ratio:.1} times as many a second as MySQL ({redis}/s and {mysql}/s)"
            );
            Conclusion::new(claim, Fate::if_so((9.0..=36.0).contains(&ratio)), why)
        }
        _ => {
            let ours = columns
                .first()
                .and_then(|column| Some((column, busiest(column, BOOK)?.throughput)));
            let beside = ours.map_or_else(String::new, |(column, rate)| {
                let times = rate / 7_740.0;
                format!(
                    "; {} books {times:.1} times as many a second as their Redis, and keeps them \
                     on a disk",
                    column.name
                )
            });
            Conclusion::untested(claim, format!("not both were measured{beside}"))
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Figures of users and rates.
    pub(in crate::rules) fn column(storage: Storage, series: &[(&str, &[(f64, f64)])]) -> Column {
        let mut figures = Vec::new();
        for (series, points) in series {
            figures.extend(points.iter().map(|&(x, throughput)| Figure {
                series: (*series).to_owned(),
                x,
                throughput,
                throughput_range: None,
                response: x / throughput,
                response_range: None,
                server_busy: Some(0.97),
                database_busy: (storage != Storage::Embedded).then_some(0.4),
                took: x,
                is_usable: true,
                is_proven: true,
            }));
        }
        Column {
            name: storage.name().to_owned(),
            storage,
            figures,
        }
    }

    pub(in crate::rules) fn check(found: &[Conclusion], expected: &[(Fate, &str)]) {
        let told: Vec<(Fate, &str)> = found
            .iter()
            .map(|one| (one.fate, one.why.as_str()))
            .collect();
        assert_eq!(told.len(), expected.len());
        for (told, expected) in told.iter().zip(expected) {
            assert!(
                told.0 == expected.0 && told.1.contains(expected.1),
                "{told:?} is not {expected:?}"
            );
        }
    }

    const CURVE: [(f64, f64); 5] = [
        (1.0, 4_000.0),
        (10.0, 7_000.0),
        (25.0, 7_600.0),
        (40.0, 7_700.0),
        (80.0, 7_650.0),
    ];

    #[test]
    fn claims_about_a_storage_need_it() {
        let embedded = column(Storage::Embedded, &[("book", &CURVE), (MIXED, &CURVE)]);
        check(
            &mysql(std::slice::from_ref(&embedded)),
            &[
                (Fate::Refuted, "26 of the 28"),
                (
                    Fate::NotTestable,
                    "MySQL was not measured; the embedded journal reaches 95 % of its 7 700/s at 25 users",
                ),
                (Fate::NotTestable, "MySQL was not measured"),
                (Fate::NotTestable, "1.00 times"),
            ],
        );
        check(
            &redis(&[embedded], &[]),
            &[
                (Fate::Refuted, "24 of the 26"),
                (Fate::NotTestable, "Redis was not measured"),
                (
                    Fate::NotTestable,
                    "0.97 processors at the highest rate (40 users)",
                ),
                (
                    Fate::NotTestable,
                    "not both were measured; the embedded journal books 1.0 times",
                ),
                (Fate::NotTestable, "Redis was not measured"),
            ],
        );
    }

    #[test]
    fn with_the_storage_each_claim_is_decided() {
        let more: Vec<(f64, f64)> = CURVE.iter().map(|(x, y)| (*x, y * 1.2)).collect();
        let redis_column = column(Storage::Redis, &[("book", &CURVE), (MIXED, &more)]);
        let slow: Vec<(f64, f64)> = CURVE.iter().map(|(x, y)| (*x, y / 18.0)).collect();
        let mut mysql_column = column(Storage::Mysql, &[("book", &slow), (MIXED, &slow)]);
        check(
            &redis(&[redis_column.clone(), mysql_column.clone()], &[]),
            &[
                (Fate::Refuted, "24 of the 26"),
                (Fate::Confirmed, "at 25 users"),
                (Fate::Confirmed, "the storage 0.40"),
                (Fate::Confirmed, "18.0 times"),
                (Fate::Confirmed, "1.20 times"),
            ],
        );
        // MySQL may have been measured in its own experiment; its tables in memory are not on a disk.
        let in_memory = column(Storage::MysqlMemory, &[("book", &CURVE)]);
        let known = [in_memory.clone(), mysql_column.clone()];
        let faster = |known: &[Column]| redis(std::slice::from_ref(&redis_column), known).remove(3);
        check(
            &[faster(&known)],
            &[(
                Fate::Confirmed,
                "18.0 times as many a second as MySQL (7 700/s and 428/s)",
            )],
        );
        check(
            &[faster(&[in_memory])],
            &[(Fate::NotTestable, "not both were measured")],
        );
        for figure in &mut mysql_column.figures {
            figure.database_busy = Some(1.4);
        }
        check(
            &mysql(&[mysql_column]),
            &[
                (Fate::Refuted, "26 of the 28"),
                (Fate::Refuted, "at 25 users"),
                (Fate::Confirmed, "mysqld uses 1.40 processors"),
                (Fate::Confirmed, "1.00 times"),
            ],
        );
    }

    #[test]
    fn without_usable_figures_nothing_is_decided() {
        let mut spoilt = column(Storage::Redis, &[("book", &CURVE), (MIXED, &CURVE)]);
        for figure in &mut spoilt.figures {
            figure.is_usable = false;
        }
        let fates: Vec<Fate> = redis(&[spoilt], &[]).iter().map(|one| one.fate).collect();
        assert_eq!(fates[1..], [Fate::NotTestable; 4]);
    }
}
