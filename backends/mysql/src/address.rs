//! Where a database is, as a user writes it.

use std::fmt;

use mysql_async::{Opts, OptsBuilder, UrlError};

/// The storage engine of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageEngine {
    /// Transactions on disk.
    InnoDb,
    /// Tables in the database server's memory: they end with it, and they are not transactional.
    Memory,
}

/// A parsed `mysql://user:password@host:port/database?engine=innodb`.
#[derive(Clone)]
pub struct Address {
    pub(crate) opts: Opts,
    pub(crate) engine: StorageEngine,
}

/// Why some text is not an [`Address`]. No part of the text is in it: there may be a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidAddress {
    /// Not `mysql://[user[:password]@]host[:port]/database[?engine=...]`.
    Form,
    /// It names no database.
    NoDatabase,
    /// `engine` is neither `innodb` nor `memory`.
    Engine,
    /// It has a parameter that is not known, or known with such a value.
    Parameter { name: String },
}

impl StorageEngine {
    /// Its word in addresses.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::InnoDb => "innodb",
            Self::Memory => "memory",
        }
    }

    /// The engine with this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::InnoDb, Self::Memory]
            .into_iter()
            .find(|engine| engine.word().eq_ignore_ascii_case(word))
    }
}

impl Address {
    /// Parses a URL. `engine` is `innodb` where it is not given.
    ///
    /// # Errors
    /// Another form, no database, or a parameter that is not known.
    pub fn parse(url: &str) -> Result<Self, InvalidAddress> {
        let (place, parameters) = url.split_once('?').unwrap_or((url, ""));
        let mut engine = StorageEngine::InnoDb;
        let mut others = Vec::new();
        for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
            match parameter.split_once('=') {
                Some(("engine", word)) => {
                    engine = StorageEngine::of_word(word).ok_or(InvalidAddress::Engine)?;
                }
                _ => others.push(parameter),
            }
        }
        let url = format!("{place}?{}", others.join("&"));
        let opts = Opts::from_url(&url).map_err(|error| invalid(&error))?;
        match opts.db_name() {
            None | Some("") => Err(InvalidAddress::NoDatabase),
            Some(_) => Ok(Self {
                opts: OptsBuilder::from_opts(opts).prefer_socket(false).into(),
                engine,
            }),
        }
    }

    #[must_use]
    pub const fn engine(&self) -> StorageEngine {
        self.engine
    }

    /// `host:port/database`.
    pub(crate) fn place(&self) -> String {
        let (host, port) = (self.opts.ip_or_hostname(), self.opts.tcp_port());
        format!("{host}:{port}/{}", self.opts.db_name().unwrap_or_default())
    }
}

fn invalid(error: &UrlError) -> InvalidAddress {
    match error {
        UrlError::UnknownParameter { param }
        | UrlError::InvalidParamValue { param, .. }
        | UrlError::FeatureRequired { param, .. } => InvalidAddress::Parameter {
            name: param.clone(),
        },
        UrlError::Invalid
        | UrlError::InvalidPoolConstraints { .. }
        | UrlError::Parse(_)
        | UrlError::UnsupportedScheme { .. } => InvalidAddress::Form,
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, engine) = (self.place(), self.engine.word());
        write!(f, "Address(mysql://{place}?engine={engine})")
    }
}

impl fmt::Display for InvalidAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => {
                write!(f, "an address is mysql://user:password@host:port/database")
            }
            Self::NoDatabase => write!(f, "the address names no database after the host"),
            Self::Engine => write!(f, "engine is innodb or memory"),
            Self::Parameter { name } => {
                write!(
                    f,
                    "the parameter {name} is not known, or not with this value"
                )
            }
        }
    }
}

impl std::error::Error for InvalidAddress {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_everything_but_its_password() {
        let address = Address::parse("mysql://ada:secret@db.example:3307/hotel?engine=memory");
        assert_eq!(
            format!("{:?}", address.unwrap()),
            "Address(mysql://db.example:3307/hotel?engine=memory)"
        );
    }

    #[test]
    fn what_is_no_address_says_why() {
        let parameter = |name: &str| InvalidAddress::Parameter { name: name.into() };
        let rows = [
            ("postgres://localhost/hotel", InvalidAddress::Form),
            ("hotel", InvalidAddress::Form),
            ("mysql://localhost", InvalidAddress::NoDatabase),
            ("mysql://localhost/", InvalidAddress::NoDatabase),
            (
                "mysql://localhost/hotel?engine=aria",
                InvalidAddress::Engine,
            ),
            ("mysql://localhost/hotel?speed=high", parameter("speed")),
            (
                "mysql://localhost/hotel?pool_max=many",
                parameter("pool_max"),
            ),
        ];
        for (url, expected) in rows {
            assert_eq!(Address::parse(url).unwrap_err(), expected, "{url}");
        }
    }
}
