//! The address of a database.

use std::{fmt, time::Duration};

use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};
use turnstile_contract::Unready;

/// How long a connection to a host may take to be made, unless the address says so: beyond it the host
/// is as good as gone.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// How long bytes that we sent may stay unconfirmed before the network counts as broken.
const UNCONFIRMED_MAX: Duration = Duration::from_secs(10);

/// A database's address, with user and password, which are never shown.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) config: Config,
    shown: String,
}

/// Some text that is not the address of a database. The text itself is not kept: it may hold a
/// password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InvalidPlace {
    /// Not `postgres://user:password@host:port/database`, or an option of it is unknown.
    Form,
    /// It asks for an encrypted connection, which is not offered.
    Encrypted,
}

impl Place {
    pub(crate) fn parse(url: &str) -> Result<Self, InvalidPlace> {
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(InvalidPlace::Form);
        }
        let mut config: Config = url.parse().map_err(|_invalid| InvalidPlace::Form)?;
        if config.get_hosts().is_empty() {
            return Err(InvalidPlace::Form);
        }
        if config.get_ssl_mode() == SslMode::Require {
            return Err(InvalidPlace::Encrypted);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_MAX);
        }
        config.tcp_user_timeout(UNCONFIRMED_MAX);
        config.application_name(format!("turnstile, process {}", std::process::id()));
        let shown = shown(&config);
        Ok(Self { config, shown })
    }

    /// How long a connection may take until statements can be sent on it: as long as each host may take to
    /// be reached, and as long again. A host that was reached may still never answer.
    pub(crate) fn opening_max(&self) -> Duration {
        let connecting = self.config.get_connect_timeout().copied();
        let hosts = u32::try_from(self.config.get_hosts().len()).unwrap_or(u32::MAX);
        connecting
            .unwrap_or(CONNECT_MAX)
            .saturating_mul(hosts.saturating_add(1))
    }
}

/// Hosts, ports and the database: nothing of who asks.
fn shown(config: &Config) -> String {
    let ports = config.get_ports();
    let hosts: Vec<String> = config
        .get_hosts()
        .iter()
        .enumerate()
        .map(|(number, host)| {
            let port = ports.get(number).or_else(|| ports.first()).unwrap_or(&5432);
            match host {
                Host::Tcp(name) => format!("{name}:{port}"),
                Host::Unix(folder) => format!("{}:{port}", folder.display()),
            }
        })
        .collect();
    let database = config.get_dbname().or_else(|| config.get_user());
    format!("{}/{}", hosts.join(","), database.unwrap_or_default())
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({self})")
    }
}

impl fmt::Display for InvalidPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => {
                "a PostgreSQL database is named as postgres://USER:PASSWORD@HOST:PORT/DATABASE"
            }
            Self::Encrypted => "encrypted connections to PostgreSQL are not offered",
        })
    }
}

impl std::error::Error for InvalidPlace {}

impl From<InvalidPlace> for Unready {
    fn from(invalid: InvalidPlace) -> Self {
        Self::Address(invalid.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_shows_neither_user_nor_password() {
        let rows = [
            (
                "postgres://ada:secret@db.example:6000/hotel",
                "db.example:6000/hotel",
            ),
            (
                "postgresql://ada:secret@10.0.0.1/hotel",
                "10.0.0.1:5432/hotel",
            ),
            ("postgres://ada@a,b:7/hotel", "a:5432,b:7/hotel"),
        ];
        for (url, expected) in rows {
            let place = Place::parse(url).unwrap();
            assert_eq!(place.to_string(), expected);
            assert_eq!(format!("{place:?}"), format!("Place({expected})"));
        }
    }

    #[test]
    fn an_opening_takes_no_longer_than_the_address_allows() {
        let rows = [
            ("postgres://a/hotel", 10),
            ("postgres://a,b/hotel", 15),
            ("postgres://a/hotel?connect_timeout=1", 2),
            ("postgres://a/hotel?connect_timeout=0", 10),
        ];
        for (url, seconds) in rows {
            let place = Place::parse(url).unwrap();
            assert_eq!(place.opening_max(), Duration::from_secs(seconds), "{url}");
        }
    }

    #[test]
    fn what_is_no_place_is_refused_without_being_repeated() {
        let rows = [
            ("mysql://ada:secret@host/hotel", InvalidPlace::Form),
            ("postgres://", InvalidPlace::Form),
            ("postgres://ada:secret@host:port/hotel", InvalidPlace::Form),
            (
                "postgres://ada:secret@host/hotel?color=red",
                InvalidPlace::Form,
            ),
            (
                "postgres://ada:secret@host/hotel?sslmode=require",
                InvalidPlace::Encrypted,
            ),
        ];
        for (url, expected) in rows {
            let refused = Place::parse(url).unwrap_err();
            assert_eq!(refused, expected, "{url}");
            assert!(!refused.to_string().contains("secret"), "{refused}");
        }
    }
}
