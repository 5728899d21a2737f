//! NATS brokers of one's own: a cluster on this machine, for demonstrations, measurements and tests.
//!
//! [`NatsServer`] builds the server from the Go module proxy, once for each cache directory.
//! [`Brokers`] starts some, kills, pauses and cuts them off, and ends them when it is dropped.
//! [`FaultyPath`] stands between any two processes, and carries bytes well or badly.

#![forbid(unsafe_code)]

mod asking;
mod broker;
mod brokers;
mod build;
mod path;
mod streams;

pub use brokers::{Brokers, BrokersSetup, Syncing};
pub use build::{NatsServer, PINNED_VERSION};
pub use path::{Carriage, FaultyPath, PathWay};

use std::fmt;

/// Why something was not done with brokers.
#[derive(Debug)]
pub enum BrokersError {
    /// There is no Go to build the server with.
    NoGo,
    /// Go did not build the server.
    NotBuilt { version: String, reason: String },
    /// Something of the system has failed.
    System { what: String, error: std::io::Error },
    /// A broker has ended by itself. Its log says why, most often in its last line.
    Ended {
        broker: String,
        log: String,
        last: String,
    },
    /// Something did not come about in time.
    Late { what: String },
}

impl BrokersError {
    fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |error| Self::System { what, error }
    }
}

impl fmt::Display for BrokersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGo => write!(
                f,
                "there is no Go to build the NATS server with: install Go 1.25 or newer (on Debian \
                 the package `golang-go`, or golang.org), or put a `nats-server` of version \
                 {PINNED_VERSION} on the path"
            ),
            Self::NotBuilt { version, reason } => {
                write!(f, "Go did not build nats-server {version}: {reason}")
            }
            Self::System { what, error } => write!(f, "{what}: {error}"),
            Self::Ended { broker, log, last } => {
                write!(f, "broker {broker} has ended; see {log}: {last}")
            }
            Self::Late { what } => write!(f, "{what} did not come about in time"),
        }
    }
}

impl std::error::Error for BrokersError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System { error, .. } => Some(error),
            _ => None,
        }
    }
}
