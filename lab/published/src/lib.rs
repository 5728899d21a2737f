//! What the authors of the four ancestors measured, in their five reports: tables as data files.
//!
//! A figure is what was printed, in the unit that its column names; [`Source::text`] is the file
//! itself, whose comments say how it was measured and what was read off plots.

#![forbid(unsafe_code)]

mod bookings;
mod exchange;
mod games;
mod stated;
mod travel;

use serde::de::DeserializeOwned;

pub use bookings::{Bookings, Busy, MIXED, bookings, processor};
pub use exchange::{Timed, exchange};
pub use games::{Level, games};
pub use stated::stated;
pub use travel::{Managers, MeanTimes, saturation, travel};

/// One published table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The name of its file, without `.csv`.
    pub name: &'static str,
    /// What it is about, for people.
    pub title: &'static str,
    /// The file.
    pub text: &'static str,
}

macro_rules! source {
    ($name:literal, $title:literal) => {
        Source {
            name: $name,
            title: $title,
            text: include_str!(concat!("../data/", $name, ".csv")),
        }
    };
}

pub const BOOKING_MYSQL: Source = source!("booking-mysql", "room booking on MySQL, 2017");
pub const BOOKING_REDIS: Source = source!("booking-redis", "room booking on Redis, 2017");
pub const EXCHANGE_CORES: Source = source!("exchange-cores", "exchange on Postgres, 2023");
pub const GAMES_USERS: Source = source!("games-users", "two-player games, 2017");
pub const TRAVEL_OPS: Source = source!("travel-ops", "travel, 2018");
const PROCESSOR: Source = source!(
    "booking-mysql-processor",
    "mysqld's processor under room booking"
);

const STATED: Source = source!("stated", "figures in the text of the reports");

/// The main table of each of the five reports.
pub const SOURCES: [Source; 5] = [
    BOOKING_MYSQL,
    BOOKING_REDIS,
    EXCHANGE_CORES,
    GAMES_USERS,
    TRAVEL_OPS,
];

impl Source {
    fn rows<R: DeserializeOwned>(self) -> Vec<R> {
        let reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .from_reader(self.text.as_bytes());
        let rows: Result<Vec<R>, csv::Error> = reader.into_deserialize().collect();
        rows.expect("the tables are part of this crate, and its tests read them")
    }

    /// What its comments say of how it was measured.
    #[must_use]
    pub fn provenance(self) -> String {
        let comments = self.text.lines().map_while(|line| line.strip_prefix("# "));
        comments.collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_says_where_it_comes_from_and_is_plain() {
        for source in SOURCES.into_iter().chain([PROCESSOR, STATED]) {
            let provenance = source.provenance();
            let said = ["Printed figures", "Read off"].map(|words| provenance.contains(words));
            assert_eq!(
                said.into_iter().filter(|said| *said).count(),
                1,
                "{source:?}"
            );
            assert!(source.text.ends_with('\n') && source.text.is_ascii());
        }
    }
}
