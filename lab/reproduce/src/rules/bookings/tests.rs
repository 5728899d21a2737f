//! Columns with known truth, and what becomes of each claim.

use super::*;
use crate::Figure;

/// How well each figure is known.
const KNOWN: f64 = 0.02;

/// Figures of users and rates.
pub(crate) fn column(storage: Storage, series: &[(&str, &[(f64, f64)])]) -> SeriesColumn {
    let about = |value: f64| Some((value * (1.0 - KNOWN), value * (1.0 + KNOWN)));
    let mut figures = Vec::new();
    for (series, points) in series {
        figures.extend(points.iter().map(|&(x, throughput)| Figure {
            series: (*series).to_owned(),
            x,
            throughput,
            throughput_range: about(throughput),
            response: x / throughput,
            response_range: about(x / throughput),
            server_busy: Some(0.97),
            database_busy: (storage != Storage::Embedded).then_some(0.4),
            database_busy_range: (storage != Storage::Embedded).then_some((0.39, 0.41)),
            memory_wait: Some(0.0),
            network_bytes: Some(1e6),
            slots: Vec::new(),
            took: x,
            is_usable: true,
            is_behind: false,
            is_proven: true,
        }));
    }
    SeriesColumn {
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
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(
            told.0 == expected.0 && told.1.contains(expected.1),
            "{told:?} is not {expected:?}"
        );
    }
}

/// The same column in which only these loads of a series are valid.
fn valid(column: &SeriesColumn, series: &str, loads: &[f64]) -> SeriesColumn {
    let mut column = column.clone();
    for figure in &mut column.figures {
        if figure.series == series {
            figure.is_usable = loads.contains(&figure.x);
        }
    }
    column
}

const REDIS_CURVE: [(f64, f64); 6] = [
    (1.0, 4_000.0),
    (10.0, 6_800.0),
    (25.0, 7_660.0),
    (40.0, 7_700.0),
    (60.0, 7_650.0),
    (80.0, 7_690.0),
];

/// As MySQL was seen to be, 18 times slower.
const MYSQL_CURVE: [(f64, f64); 8] = [
    (1.0, 15.0),
    (50.0, 130.0),
    (100.0, 250.0),
    (200.0, 370.0),
    (300.0, 425.0),
    (400.0, 418.0),
    (500.0, 406.0),
    (600.0, 395.0),
];

fn times(curve: &[(f64, f64)], by: f64) -> Vec<(f64, f64)> {
    curve.iter().map(|(x, y)| (*x, y * by)).collect()
}

fn of_redis() -> SeriesColumn {
    let more = times(&REDIS_CURVE, 1.2);
    column(Storage::Redis, &[(BOOK, &REDIS_CURVE), (MIXED, &more)])
}

/// With a processor that is as busy as they saw it.
fn of_mysql() -> SeriesColumn {
    let mut found = column(
        Storage::Mysql,
        &[(BOOK, &MYSQL_CURVE), (MIXED, &MYSQL_CURVE)],
    );
    for figure in &mut found.figures {
        let table = processor();
        let seen = table.iter().rfind(|busy| number(busy.users) <= figure.x);
        figure.database_busy = seen.map(|busy| f64::midpoint(busy.low, busy.high) / 100.0);
        figure.database_busy_range = figure.database_busy.map(|busy| (busy - 0.02, busy + 0.02));
        figure.server_busy = Some(0.1);
        // The response that was printed, not that of a closed loop.
        let printed = figure.x * 0.000_55;
        (figure.response, figure.response_range) = (printed, Some((printed * 0.9, printed * 1.1)));
    }
    found
}

#[test]
fn what_was_seen_again_is_confirmed() {
    let memory = column(Storage::MysqlMemory, &[(BOOK, &times(&MYSQL_CURVE, 1.5))]);
    check(
        &mysql(&[of_mysql(), memory]),
        &[
            (Fate::Refuted, "26 of the 28"),
            (Fate::Confirmed, "95 % of its 425/s at 300 users"),
            (Fate::Confirmed, "at 300 users"),
            (Fate::Confirmed, "mysqld uses 0.95"),
            (Fate::Confirmed, "the server 0.10"),
            (Fate::Confirmed, "0.71 (0.69 to 0.74) with 200"),
            (
                Fate::Confirmed,
                "times as many a second with 600 users as with 300",
            ),
            (Fate::Confirmed, "the mix does 1.00"),
            (Fate::Confirmed, "MySQL in memory books 1.50"),
        ],
    );
    let mut found = of_redis();
    for figure in &mut found.figures {
        (figure.response, figure.response_range) = (0.000_5, Some((0.000_4, 0.000_6)));
    }
    check(
        &redis(&[found], &[of_mysql()]),
        &[
            (Fate::Refuted, "24 of the 26"),
            (Fate::Confirmed, "95 % of its 7 700/s at 25 users"),
            (Fate::Confirmed, "at 25"),
            (Fate::Confirmed, "the server uses 0.97"),
            (Fate::Confirmed, "the storage 0.40"),
            (Fate::Confirmed, "times as many a second as MySQL"),
            (Fate::Confirmed, "at 25 users, MySQL at 300"),
            (
                Fate::Confirmed,
                "165ms (149ms to 182ms) on MySQL with 300 users, 500us",
            ),
            (Fate::Confirmed, "the mix does 1.20"),
        ],
    );
}

#[test]
fn what_was_not_seen_again_is_refuted() {
    // Level from 50 users on, faster with cancels, slower in memory, and never busy.
    let curve: Vec<(f64, f64)> = MYSQL_CURVE
        .iter()
        .map(|(x, _)| (*x, if *x < 50.0 { 850.0 } else { 8_000.0 + 4.0 * x }))
        .collect();
    let level = column(
        Storage::Mysql,
        &[(BOOK, &times(&curve, 1.0)), (MIXED, &times(&curve, 1.3))],
    );
    let memory = column(Storage::MysqlMemory, &[(BOOK, &times(&curve, 0.5))]);
    let mut level = level;
    for figure in &mut level.figures {
        figure.server_busy = Some(0.1);
        figure.throughput_range = Some((figure.throughput * 0.999, figure.throughput * 1.001));
    }
    check(
        &mysql(&[level, memory])[1..],
        &[
            (Fate::Refuted, "at 500 users"),
            (Fate::Refuted, "users"),
            (Fate::Refuted, "mysqld uses 0.40"),
            (Fate::Refuted, "mysqld uses 0.40"),
            (Fate::Refuted, "1.00"),
            (Fate::Refuted, "times as many a second with 600 users"),
            (Fate::Refuted, "1.30"),
            (Fate::Refuted, "0.50"),
        ],
    );
}

#[test]
fn one_user_of_one_storage_is_not_compared_with_six_hundred_of_the_other() {
    let faster = |redis_column: &SeriesColumn, mysql_column: &SeriesColumn| {
        redis(
            std::slice::from_ref(redis_column),
            std::slice::from_ref(mysql_column),
        )
        .remove(5)
    };
    let one_user = valid(&of_redis(), BOOK, &[1.0]);
    let few = "Redis: too few valid points: 0, and 3 are needed";
    check(
        &[faster(&one_user, &of_mysql())],
        &[(Fate::NotTestable, few)],
    );
    let two = valid(&of_mysql(), BOOK, &[1.0, 300.0, 600.0]);
    let few = "MySQL: too few valid points: 2, and 3 are needed";
    check(&[faster(&of_redis(), &two)], &[(Fate::NotTestable, few)]);
}

#[test]
fn a_mix_with_one_user_is_not_compared_with_books_of_ten() {
    let found = valid(&of_redis(), MIXED, &[1.0]);
    let found = valid(&found, BOOK, &[1.0, 10.0]);
    let few = "too few valid points: 0, and 3 are needed";
    check(&redis(&[found], &[])[8..], &[(Fate::NotTestable, few)]);
}

#[test]
fn intervals_that_hold_both_answers_decide_nothing() {
    let mut found = of_redis();
    for (place, figure) in found.figures.iter_mut().enumerate() {
        let scatter = if place % 2 == 0 { 0.5 } else { 1.6 };
        figure.throughput *= if figure.series == MIXED { scatter } else { 1.0 };
    }
    let wide = "the intervals are too wide to decide it";
    check(&redis(&[found], &[])[8..], &[(Fate::NotTestable, wide)]);
}

#[test]
fn claims_about_a_storage_need_it() {
    let embedded = column(
        Storage::Embedded,
        &[(BOOK, &REDIS_CURVE), (MIXED, &REDIS_CURVE)],
    );
    for conclusion in &redis(std::slice::from_ref(&embedded), &[])[1..] {
        assert_eq!(conclusion.fate, Fate::NotTestable);
        assert!(
            conclusion.why.starts_with("Redis was not measured"),
            "{conclusion:?}"
        );
    }
    let beside = "Redis was not measured; the embedded journal reaches 95 % of its 7 700/s at 25";
    check(
        &redis(&[embedded], &[])[1..2],
        &[(Fate::NotTestable, beside)],
    );
    check(
        &redis(&[of_redis()], &[])[5..6],
        &[(Fate::NotTestable, "MySQL was not measured")],
    );
}

#[test]
fn without_usable_figures_nothing_is_decided() {
    let mut spoilt = of_redis();
    for figure in &mut spoilt.figures {
        figure.is_usable = false;
    }
    for conclusion in &redis(&[spoilt], &[of_mysql()])[1..] {
        assert_eq!(conclusion.fate, Fate::NotTestable, "{conclusion:?}");
        assert!(
            conclusion.why.contains("too few valid points"),
            "{conclusion:?}"
        );
    }
}
