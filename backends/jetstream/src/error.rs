//! Why a log was not opened.

use std::fmt;

use crate::{event::Fatal, stream::Difference, version::RefusedVersion};

/// Why a log was not opened.
#[derive(Debug)]
pub enum OpenLogError {
    /// A file of the settings is not what it should be.
    Settings(String),
    /// No broker answers, or not all that is needed was done in time. To be tried again.
    Unavailable(String),
    /// A broker has a version that no log is trusted to.
    Version {
        broker: String,
        refused: RefusedVersion,
    },
    /// There is a stream of that name, and it is another kind of stream.
    Configuration {
        stream: String,
        differences: Vec<Difference>,
    },
    /// The stream is not the one that was asked for, or not whole.
    Stream(Fatal),
    /// A broker takes no messages of 1 MiB.
    SmallMessages { broker: String, max_payload: usize },
    /// The brokers do not make the stream.
    NotMade { stream: String, reason: String },
    /// The system gives us no thread.
    Thread(std::io::Error),
    /// Its [`LogOpening`](crate::LogOpening) was ended.
    Ended,
}

impl fmt::Display for OpenLogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(reason) => f.write_str(reason),
            Self::Unavailable(reason) => write!(f, "the brokers cannot be used: {reason}"),
            Self::Version { broker, refused } => write!(f, "broker {broker}: {refused}"),
            Self::Configuration {
                stream,
                differences,
            } => {
                write!(f, "stream {stream} is not a log: ")?;
                for (number, difference) in differences.iter().enumerate() {
                    let separator = if number == 0 { "" } else { "; " };
                    write!(f, "{separator}{difference}")?;
                }
                Ok(())
            }
            Self::Stream(fatal) => fatal.fmt(f),
            Self::SmallMessages {
                broker,
                max_payload,
            } => write!(
                f,
                "broker {broker} takes messages of {max_payload} bytes at most: set \
                 `max_payload: 1MB`"
            ),
            Self::NotMade { stream, reason } => {
                write!(f, "the brokers do not make stream {stream}: {reason}")
            }
            Self::Thread(error) => write!(f, "no thread for the log: {error}"),
            Self::Ended => f.write_str("the start was ended before"),
        }
    }
}

impl std::error::Error for OpenLogError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Version { refused, .. } => Some(refused),
            Self::Stream(fatal) => Some(fatal),
            Self::Thread(error) => Some(error),
            _ => None,
        }
    }
}
