//! The sides of a copy of rooms, as their users write them.

use std::{fmt, path::PathBuf, str::FromStr};

use turnstile_contract::copy::Target;
use turnstile_mysql::Address;

use crate::core::remote::{DatabaseUrl, InvalidUrl, Kind};

/// What a data directory may begin with, to tell it from other things.
const EMBEDDED: &str = "embedded:";

/// Where a state of rooms lies: in a database, or in a data directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyPlace {
    Database(DatabaseUrl),
    Directory(PathBuf),
}

impl FromStr for CopyPlace {
    type Err = InvalidUrl;

    fn from_str(text: &str) -> Result<Self, InvalidUrl> {
        if let Some(directory) = text.strip_prefix(EMBEDDED) {
            let directory = Some(directory).filter(|directory| !directory.is_empty());
            return Ok(Self::Directory(directory.ok_or(InvalidUrl)?.into()));
        }
        if text.is_empty() {
            return Err(InvalidUrl);
        }
        if text.contains("://") {
            return text.parse().map(Self::Database);
        }
        Ok(Self::Directory(text.into()))
    }
}

impl fmt::Display for CopyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(url) => url.fmt(f),
            Self::Directory(directory) => directory.display().fmt(f),
        }
    }
}

impl CopyPlace {
    /// Opens it as a side of a copy. It takes a running tokio runtime.
    ///
    /// # Errors
    /// A database cannot be reached, or its tables are not for us; in a sentence.
    pub async fn open(&self) -> Result<Box<dyn Target>, String> {
        let url = match self {
            Self::Database(url) => url,
            Self::Directory(directory) => {
                let copy = turnstile_embedded::RoomsCopy::new(directory.clone());
                return Ok(Box::new(copy));
            }
        };
        Ok(match url.kind() {
            Kind::Postgres => {
                let opened = turnstile_postgres::PostgresCopy::open(url.text()).await;
                Box::new(opened.map_err(told)?)
            }
            Kind::MySql => {
                let address = Address::parse(url.text()).map_err(told)?;
                let opened = turnstile_mysql::MysqlCopy::open(&address).await;
                Box::new(opened.map_err(told)?)
            }
            Kind::Redis => {
                let opened = turnstile_redis::RedisCopy::open(url.text()).await;
                Box::new(opened.map_err(told)?)
            }
        })
    }
}

fn told(error: impl fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_database_or_a_directory() {
        let directory = |path: &str| Ok(CopyPlace::Directory(path.into()));
        let database = |url: &str| Ok(CopyPlace::Database(url.parse().unwrap()));
        let rows = [
            ("embedded:/var/data", directory("/var/data")),
            ("data", directory("data")),
            ("redis://host", database("redis://host")),
            ("postgres://a@host/b", database("postgres://a@host/b")),
            ("", Err(InvalidUrl)),
            ("embedded:", Err(InvalidUrl)),
            ("sqlite://x", Err(InvalidUrl)),
        ];
        for (text, expected) in rows {
            assert_eq!(text.parse::<CopyPlace>(), expected, "{text}");
        }
    }
}
