//! Why a run could not be made at all. What goes wrong during a run is counted in its report.

use std::{fmt, io};

use turnstile_client::{self as client, Denied, descriptors::OpenFilesLimited};

use crate::priority;

#[derive(Debug)]
pub enum Error {
    /// A setting that makes no sense, in words.
    Setting(&'static str),
    /// A trace that makes no sense, in words.
    Trace(&'static str),
    /// The system does not allow so many sockets.
    Descriptors(OpenFilesLimited),
    /// A user could not connect before the start.
    Connect { user: usize, error: io::Error },
    /// Real-time priority was asked for, and the system refuses it.
    RealTime(priority::Refused),
    /// The poller could not be made or failed.
    Poll(io::Error),
    /// What users told could not be kept in a file, or read again.
    Spool(io::Error),
    /// The connection that prepares and proves failed.
    Door(client::ConnectionError),
    /// `INFO` does not have this field: the server cannot be reconciled with.
    Field(&'static str),
    /// The server did not do what the run needs first; its whole answer.
    Preparation {
        command: &'static str,
        answer: String,
    },
}

/// The server answered a command otherwise than the load needs it.
pub(crate) fn unfit(command: &'static str, answer: &impl fmt::Display) -> Error {
    let answer = answer.to_string();
    let denied = answer.strip_prefix("(error) ").and_then(Denied::of);
    match denied {
        Some(denied) => client::ConnectionError::from(denied).into(),
        None => Error::Preparation { command, answer },
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(reason) | Self::Trace(reason) => f.write_str(reason),
            Self::Descriptors(error) => error.fmt(f),
            Self::Connect { user, error } => write!(f, "user {user} cannot connect: {error}"),
            Self::RealTime(error) => error.fmt(f),
            Self::Poll(error) => write!(f, "waiting for sockets failed: {error}"),
            Self::Spool(error) => write!(f, "the file of what users told: {error}"),
            Self::Door(error) => write!(f, "the connection to the server: {error}"),
            Self::Field(field) => write!(f, "INFO has no usable field `{field}`"),
            Self::Preparation { command, answer } => write!(f, "{command} was answered {answer}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Connect { error, .. } | Self::Poll(error) | Self::Spool(error) => Some(error),
            Self::Descriptors(error) => Some(error),
            Self::RealTime(error) => Some(error),
            Self::Door(error) => Some(error),
            Self::Setting(_) | Self::Trace(_) | Self::Field(_) | Self::Preparation { .. } => None,
        }
    }
}

impl From<client::ConnectionError> for Error {
    fn from(error: client::ConnectionError) -> Self {
        Self::Door(error)
    }
}
