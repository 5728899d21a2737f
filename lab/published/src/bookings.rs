//! The two reports on room booking: MySQL, then Redis.

use serde::{Deserialize, Serialize};

use crate::{BOOKING_MYSQL, BOOKING_REDIS, PROCESSOR, Source};

/// The series of the mixed workload; the other one only books.
pub const MIXED: &str = "book 70 cancel 30";

/// One row: a closed loop without think time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bookings {
    /// `book` or [`MIXED`].
    pub series: String,
    pub users: usize,
    /// Requests a second.
    pub throughput: f64,
    /// Mean response in seconds.
    pub response: f64,
}

/// How busy mysqld was seen to be, in per cent.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Busy {
    pub users: usize,
    #[serde(rename = "low_percent")]
    pub low: f64,
    #[serde(rename = "high_percent")]
    pub high: f64,
}

/// As it stands in the files: the one is in milliseconds, the other in microseconds.
#[derive(Deserialize)]
struct Row {
    series: String,
    users: usize,
    throughput: f64,
    response_ms: Option<f64>,
    response_us: Option<f64>,
}

/// Both series of [`BOOKING_MYSQL`] or [`BOOKING_REDIS`].
///
/// # Panics
/// For any other table.
#[must_use]
pub fn bookings(source: Source) -> Vec<Bookings> {
    assert!(source == BOOKING_MYSQL || source == BOOKING_REDIS);
    let rows = source.rows::<Row>().into_iter();
    rows.map(|row| {
        let of = |figure: Option<f64>, unit: f64| figure.map(|figure| figure / unit);
        let response = of(row.response_ms, 1e3).or_else(|| of(row.response_us, 1e6));
        Bookings {
            series: row.series,
            users: row.users,
            throughput: row.throughput,
            response: response.expect("each table has one of the columns"),
        }
    })
    .collect()
}

/// What mysqld used.
#[must_use]
pub fn processor() -> Vec<Busy> {
    PROCESSOR.rows()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: Source, rows: usize, unit: f64, sums: [f64; 6]) {
        let table = bookings(source);
        let mut found = Vec::new();
        for series in ["book", MIXED] {
            let points = table.iter().filter(|point| point.series == series);
            let points: Vec<&Bookings> = points.collect();
            assert_eq!(points.len(), rows);
            assert!(points.is_sorted_by_key(|point| point.users));
            let users: usize = points.iter().map(|point| point.users).sum();
            found.push(f64::from(u32::try_from(users).unwrap()));
            found.push(points.iter().map(|point| point.throughput).sum());
            found.push(points.iter().map(|point| point.response * unit).sum());
        }
        for (found, sum) in found.into_iter().zip(sums) {
            assert!(
                (found - sum).abs() < 1e-6,
                "{source:?}: {found} is not {sum}"
            );
        }
    }

    #[test]
    fn the_figures_are_whole() {
        check(
            BOOKING_MYSQL,
            14,
            1e3,
            [3021.0, 3877.877, 1913.472, 3021.0, 3346.791, 1887.256],
        );
        check(
            BOOKING_REDIS,
            13,
            1e6,
            [347.0, 89390.345, 11851.286, 347.0, 107586.953, 12641.825],
        );
        let busy = processor();
        let ends = [busy[0], busy[4]].map(|busy| (busy.users, busy.low, busy.high));
        assert_eq!((busy.len(), ends), (5, [(1, 5.0, 8.0), (300, 93.0, 98.0)]));
    }
}
