//! Why a connection gave no answer.

use std::{fmt, io, time::Duration};

use turnstile_resp::catalogue::Misnamed;

use crate::{Denied, resp::MalformedReply};

/// What a server of TLS begins its answer with when what it was sent is none.
const TLS_ALERT: u8 = 0x15;

/// Why a connection gave no answer.
#[derive(Debug)]
pub enum ConnectionError {
    /// The socket failed, or no server let the client connect in time.
    Io(io::Error),
    /// The server took longer than this for its answer, or to take a request.
    TimedOut(Duration),
    /// The server does not let this client in, or do this.
    Denied(Denied),
    /// The peer closed the connection while an answer was owed.
    Closed,
    /// The peer sent something that is no reply in RESP.
    Malformed(MalformedReply),
    /// The peer sent something that begins no answer in XML.
    NotXml,
    /// The peer sent something that is no answer in HTTP.
    NotHttp,
    /// No service declares this operation.
    UnknownOperation(String),
    /// The fields are not those of the operation.
    Misnamed(Misnamed),
    /// The server answered with this error.
    Server(String),
}

impl ConnectionError {
    /// Whether the server recovers its data still, and knows no key before it has.
    #[must_use]
    pub fn is_loading(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::ResourceBusy)
    }

    /// Whether the server may have executed the request: its answer is lost or unreadable, or says that the
    /// outcome is unknown. Any other error of a server says that nothing was done.
    #[must_use]
    pub fn is_outcome_unknown(&self) -> bool {
        match self {
            Self::Io(_)
            | Self::TimedOut(_)
            | Self::Closed
            | Self::Malformed(_)
            | Self::NotXml
            | Self::NotHttp => true,
            Self::Server(error) => {
                let code = error.split(' ').next();
                code.is_some_and(|code| is_outcome_unknown(code.as_bytes()))
            }
            Self::Denied(_) | Self::UnknownOperation(_) | Self::Misnamed(_) => false,
        }
    }
}

/// Whether nobody knows what became of a request that a server answered by an error with this code. Any other
/// says that nothing was done.
#[must_use]
pub fn is_outcome_unknown(code: &[u8]) -> bool {
    matches!(code, b"UNKNOWN" | b"BROKEN")
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the connection failed: {error}"),
            Self::TimedOut(timeout) => write!(
                f,
                "no answer within {timeout:?}: the server may have carried out the request or not"
            ),
            Self::Denied(denied) => denied.fmt(f),
            Self::Closed => f.write_str("the server closed the connection"),
            Self::Malformed(MalformedReply::Type(TLS_ALERT)) => {
                f.write_str("the server sent no RESP: it may speak TLS (rediss://)")
            }
            Self::Malformed(malformed) => write!(f, "the server sent no RESP: {malformed}"),
            Self::NotXml => f.write_str("the server sent what begins no answer in XML"),
            Self::NotHttp => f.write_str("the server sent no HTTP: it may speak TLS (https://)"),
            Self::UnknownOperation(name) => write!(f, "unknown operation \"{name}\""),
            Self::Misnamed(misnamed) => misnamed.fmt(f),
            Self::Server(error) => f.write_str(error),
        }
    }
}

impl std::error::Error for ConnectionError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Denied(denied) => Some(denied),
            Self::Malformed(malformed) => Some(malformed),
            Self::Misnamed(misnamed) => Some(misnamed),
            Self::TimedOut(_)
            | Self::Closed
            | Self::NotXml
            | Self::NotHttp
            | Self::UnknownOperation(_)
            | Self::Server(_) => None,
        }
    }
}

impl From<io::Error> for ConnectionError {
    fn from(error: io::Error) -> Self {
        match Denied::within(&error) {
            Some(denied) => Self::Denied(denied.clone()),
            None => Self::Io(error),
        }
    }
}

impl From<Denied> for ConnectionError {
    fn from(denied: Denied) -> Self {
        Self::Denied(denied)
    }
}

impl From<Misnamed> for ConnectionError {
    fn from(misnamed: Misnamed) -> Self {
        Self::Misnamed(misnamed)
    }
}

impl From<MalformedReply> for ConnectionError {
    fn from(malformed: MalformedReply) -> Self {
        Self::Malformed(malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_whether_the_request_may_have_been_executed() {
        let server = |text: &str| ConnectionError::Server(text.to_owned());
        let rows = [
            (ConnectionError::Closed, true),
            (io::Error::from(io::ErrorKind::TimedOut).into(), true),
            (server("UNKNOWN the command was done or not"), true),
            (server("BROKEN the database gave an invalid answer"), true),
            (server("UNAVAILABLE nothing was done"), false),
            (server("ERR principal: too long"), false),
            (Denied::WrongKey.into(), false),
        ];
        for (error, unknown) in rows {
            assert_eq!(error.is_outcome_unknown(), unknown, "{error}");
        }
    }
}
