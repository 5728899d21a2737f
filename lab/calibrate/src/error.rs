//! Why a calibration could not be made at all.

use std::{fmt, io};

use turnstile_load as load;

#[derive(Debug)]
pub enum CalibrationError {
    /// The server of known delays.
    Server(io::Error),
    /// The generator.
    Load(load::Error),
    /// The system refuses the processors that server and generator should have.
    Processors(io::Error),
    /// Another generator could not be run, or says nothing that can be read.
    Rival { name: &'static str, reason: String },
}

impl fmt::Display for CalibrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(error) => write!(f, "the server of known delays: {error}"),
            Self::Load(error) => error.fmt(f),
            Self::Processors(error) => write!(f, "keeping to a processor: {error}"),
            Self::Rival { name, reason } => write!(f, "{name}: {reason}"),
        }
    }
}

impl std::error::Error for CalibrationError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Server(error) | Self::Processors(error) => Some(error),
            Self::Load(error) => Some(error),
            Self::Rival { .. } => None,
        }
    }
}

impl From<io::Error> for CalibrationError {
    fn from(error: io::Error) -> Self {
        Self::Server(error)
    }
}

impl From<load::Error> for CalibrationError {
    fn from(error: load::Error) -> Self {
        Self::Load(error)
    }
}
