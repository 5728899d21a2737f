//! The back ends on which an experiment is measured.

use std::str::FromStr;

use turnstile_reproduce::{OriginalExperiment, Storage};
use turnstile_server::{DatabaseUrl, InvalidUrl};

/// A database that keeps rooms or the exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Database {
    storage: Storage,
    url: String,
}

/// One way to run what is measured: a column beside the published one.
#[derive(Clone, Debug)]
pub(super) struct BackendColumn {
    pub(super) name: String,
    pub(super) storage: Storage,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A server of the lab's own.
    Embedded,
    /// Travel in five processes, or games in two.
    Separate,
    /// A server of the lab's own that is told by this flag to keep its service in a database.
    Kept { flag: &'static str, url: String },
}

pub(super) const ROOMS_FLAG: &str = "--rooms-backend";
pub(super) const EXCHANGE_FLAG: &str = "--exchange-backend";

/// The databases that were named.
#[derive(Clone, Copy, Debug)]
pub(super) struct DatabaseUrls<'a> {
    pub(super) rooms: &'a [Database],
    pub(super) exchange: &'a [Database],
}

impl DatabaseUrls<'_> {
    /// The columns of an experiment, the embedded journal first, when these are made in one command. A
    /// database that the other experiment on rooms is about is measured there, not twice.
    pub(super) fn ways(
        self,
        experiment: OriginalExperiment,
        asked: &[OriginalExperiment],
    ) -> Vec<BackendColumn> {
        let is_asked = |other: OriginalExperiment| asked.contains(&other);
        let mut ways = vec![BackendColumn::embedded(experiment)];
        match experiment {
            OriginalExperiment::BookingMysql | OriginalExperiment::BookingRedis => {
                let elsewhere = |database: &&Database| match (experiment, database.storage) {
                    (OriginalExperiment::BookingMysql, Storage::Redis) => {
                        is_asked(OriginalExperiment::BookingRedis)
                    }
                    (OriginalExperiment::BookingRedis, Storage::Mysql | Storage::MysqlMemory) => {
                        is_asked(OriginalExperiment::BookingMysql)
                    }
                    _ => false,
                };
                let here = self.rooms.iter().filter(|database| !elsewhere(database));
                ways.extend(here.map(|database| BackendColumn::kept(database, ROOMS_FLAG)));
            }
            OriginalExperiment::ExchangeCores => {
                let kept = |database| BackendColumn::kept(database, EXCHANGE_FLAG);
                ways.extend(self.exchange.iter().map(kept));
            }
            OriginalExperiment::TravelOps => ways.push(BackendColumn::separate("five processes")),
            OriginalExperiment::GamesUsers => ways.push(BackendColumn::separate("two processes")),
            OriginalExperiment::TravelRate => {}
        }
        // Each has a folder of its own.
        for number in 1..ways.len() {
            let (before, way) = ways.split_at_mut(number);
            if before.iter().any(|other| other.name == way[0].name) {
                way[0].name = format!("{} {}", way[0].name, number + 1);
            }
        }
        ways
    }

    /// The flags that name them, for whoever types the command again: what kind each is, not where.
    pub(super) fn flags(self) -> String {
        let flags = |flag: &str, databases: &[Database]| -> String {
            let one = |database: &Database| format!(" {flag} '{}'", database.kind());
            databases.iter().map(one).collect()
        };
        flags(ROOMS_FLAG, self.rooms) + &flags(EXCHANGE_FLAG, self.exchange)
    }
}

impl BackendColumn {
    fn embedded(experiment: OriginalExperiment) -> Self {
        let name = match experiment {
            OriginalExperiment::TravelOps | OriginalExperiment::GamesUsers => "one process",
            _ => "embedded",
        };
        Self {
            name: name.to_owned(),
            storage: Storage::Embedded,
            kind: Kind::Embedded,
        }
    }

    fn separate(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            storage: Storage::Embedded,
            kind: Kind::Separate,
        }
    }

    fn kept(database: &Database, flag: &'static str) -> Self {
        Self {
            name: database.name().to_owned(),
            storage: database.storage,
            kind: Kind::Kept {
                flag,
                url: database.url.clone(),
            },
        }
    }
}

impl Database {
    /// As it heads a column: of MySQL and MariaDB with the engine of the tables.
    const fn name(&self) -> &'static str {
        match self.storage {
            Storage::Mysql => "MySQL InnoDB",
            Storage::MysqlMemory => "MySQL MEMORY",
            other => other.name(),
        }
    }

    /// Its URL without whose and where it is.
    fn kind(&self) -> String {
        let scheme = self.url.split(':').next().unwrap_or_default();
        match self.storage {
            Storage::Mysql => format!("{scheme}://...?engine=innodb"),
            Storage::MysqlMemory => format!("{scheme}://...?engine=memory"),
            _ => format!("{scheme}://..."),
        }
    }
}

impl FromStr for Database {
    type Err = InvalidUrl;

    fn from_str(text: &str) -> Result<Self, InvalidUrl> {
        // Its own server has to take the URL.
        let _taken: DatabaseUrl = text.parse()?;
        let in_memory = text.to_lowercase().contains("engine=memory");
        let storage = match text.split_once("://").map(|(scheme, _)| scheme) {
            Some("mysql") if in_memory => Storage::MysqlMemory,
            Some("mysql") => Storage::Mysql,
            Some("redis") => Storage::Redis,
            _ => Storage::Postgres,
        };
        Ok(Self {
            storage,
            url: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(experiment: OriginalExperiment, asked: &[OriginalExperiment], expected: &[&str]) {
        let rooms = [
            "mysql://ada:secret@h/a?engine=innodb",
            "mysql://ada:secret@h/b?engine=MEMORY",
            "redis://h/0",
            "postgres://h/c",
        ];
        let rooms: Vec<Database> = rooms.map(|url| url.parse().unwrap()).into();
        let exchange = [
            "postgres://h/d".parse().unwrap(),
            "postgres://h/e".parse().unwrap(),
        ];
        let databases = DatabaseUrls {
            rooms: &rooms,
            exchange: &exchange,
        };
        let ways = databases.ways(experiment, asked);
        let names: Vec<&str> = ways.iter().map(|way| way.name.as_str()).collect();
        assert_eq!(names, expected, "{experiment}");
        assert_eq!(
            databases.flags(),
            " --rooms-backend 'mysql://...?engine=innodb' --rooms-backend 'mysql://...?engine=memory' \
             --rooms-backend 'redis://...' --rooms-backend 'postgres://...' \
             --exchange-backend 'postgres://...' --exchange-backend 'postgres://...'"
        );
    }

    /// `mariadb://` and `rediss://` were accepted, and then no server started.
    #[test]
    fn a_database_has_a_url_that_a_server_takes() {
        for url in ["mariadb://h/a", "rediss://h/0", "mysql://", "h"] {
            assert_eq!(url.parse::<Database>(), Err(InvalidUrl), "{url}");
        }
    }

    #[test]
    fn a_database_is_measured_once_where_its_own_experiment_is_made_too() {
        use OriginalExperiment::{
            BookingMysql, BookingRedis, ExchangeCores, GamesUsers, TravelOps,
        };
        let all = [
            "embedded",
            "MySQL InnoDB",
            "MySQL MEMORY",
            "Redis",
            "Postgres",
        ];
        check(BookingMysql, &[BookingMysql], &all);
        check(BookingRedis, &[BookingRedis], &all);
        let mysql = ["embedded", "MySQL InnoDB", "MySQL MEMORY", "Postgres"];
        check(BookingMysql, &OriginalExperiment::ALL, &mysql);
        check(
            BookingRedis,
            &OriginalExperiment::ALL,
            &["embedded", "Redis", "Postgres"],
        );
        check(
            ExchangeCores,
            &OriginalExperiment::ALL,
            &["embedded", "Postgres", "Postgres 3"],
        );
        check(
            GamesUsers,
            &OriginalExperiment::ALL,
            &["one process", "two processes"],
        );
        check(
            TravelOps,
            &OriginalExperiment::ALL,
            &["one process", "five processes"],
        );
    }
}
