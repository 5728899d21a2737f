//! Where a database is, as its users write it.

use std::{fmt, str::FromStr};

/// The URL of a database: `postgres://`, `mysql://` or `redis://`. It is shown without user and
/// password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl {
    kind: Kind,
    text: Box<str>,
}

/// A database that can be a back end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Postgres,
    MySql,
    Redis,
}

/// Some text that is not the URL of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidUrl;

impl fmt::Display for InvalidUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a back end is postgres://user@host:port/database, \
             mysql://user@host:port/database or redis://host:port/number",
        )
    }
}

impl std::error::Error for InvalidUrl {}

impl FromStr for DatabaseUrl {
    type Err = InvalidUrl;

    fn from_str(text: &str) -> Result<Self, InvalidUrl> {
        let (scheme, rest) = text.split_once("://").ok_or(InvalidUrl)?;
        let kind = match scheme {
            "postgres" | "postgresql" => Kind::Postgres,
            "mysql" => Kind::MySql,
            "redis" => Kind::Redis,
            _ => return Err(InvalidUrl),
        };
        if rest.is_empty() {
            return Err(InvalidUrl);
        }
        let text = text.into();
        Ok(Self { kind, text })
    }
}

impl DatabaseUrl {
    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether databases of this kind can keep an exchange.
    #[must_use]
    pub const fn keeps_exchange(&self) -> bool {
        matches!(self.kind, Kind::Postgres)
    }

    /// The whole text, secrets included.
    #[must_use]
    pub const fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.text.split_once("://").unwrap_or_default();
        // What is asked of the database may hold a password too.
        let (place, _options) = rest.split_once('?').unwrap_or((rest, ""));
        let place = place.rsplit_once('@').map_or(place, |(_user, place)| place);
        write!(f, "{scheme}://{place}")
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_secrets() {
        let rows = [
            (
                "postgres://ada:s3@cret@db:5432/hotel?password=x",
                "postgres://db:5432/hotel",
            ),
            ("mysql://127.0.0.1/hotel", "mysql://127.0.0.1/hotel"),
            (
                "redis://:s3cret@localhost:6379/2",
                "redis://localhost:6379/2",
            ),
        ];
        for (text, shown) in rows {
            let url: DatabaseUrl = text.parse().unwrap();
            assert_eq!(url.to_string(), shown);
            assert_eq!(format!("{url:?}"), format!("DatabaseUrl({shown})"));
            assert_eq!(url.text(), text);
        }
    }

    #[test]
    fn what_is_no_database_is_refused() {
        for text in [
            "",
            "postgres:",
            "postgres://",
            "sqlite://x",
            "127.0.0.1:5432",
        ] {
            assert_eq!(text.parse::<DatabaseUrl>(), Err(InvalidUrl), "{text}");
        }
    }
}
