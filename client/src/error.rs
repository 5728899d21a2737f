//! Why a connection gave no answer.

use std::{fmt, io};

use turnstile_resp::catalogue::Misnamed;

use crate::resp::Malformed;

/// Why a connection gave no answer.
#[derive(Debug)]
pub enum Error {
    /// The socket failed, or a timeout passed.
    Io(io::Error),
    /// The peer closed the connection while an answer was owed.
    Closed,
    /// The peer sent something that is no reply in RESP.
    Malformed(Malformed),
    /// The peer sent something that begins no answer in XML.
    NotXml,
    /// No service declares this operation.
    UnknownOperation(String),
    /// The fields are not those of the operation.
    Misnamed(Misnamed),
    /// The server answered with this error.
    Server(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the connection failed: {error}"),
            Self::Closed => f.write_str("the server closed the connection"),
            Self::Malformed(malformed) => write!(f, "the server sent no RESP: {malformed}"),
            Self::NotXml => f.write_str("the server sent what begins no answer in XML"),
            Self::UnknownOperation(name) => write!(f, "unknown operation \"{name}\""),
            Self::Misnamed(misnamed) => misnamed.fmt(f),
            Self::Server(error) => f.write_str(error),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Malformed(malformed) => Some(malformed),
            Self::Misnamed(misnamed) => Some(misnamed),
            Self::Closed | Self::NotXml | Self::UnknownOperation(_) | Self::Server(_) => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Misnamed> for Error {
    fn from(misnamed: Misnamed) -> Self {
        Self::Misnamed(misnamed)
    }
}

impl From<Malformed> for Error {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}
