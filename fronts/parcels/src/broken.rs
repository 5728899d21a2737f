//! What can be wrong with the bytes of a peer, and the sentence that says so.

use std::fmt;

use turnstile_types::Malformed;

use crate::{
    limits::FRAME_BYTES_MAX,
    opening::{NAME, VERSION},
};

/// Why a peer cannot be understood. The connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// It does not begin as this protocol does.
    Opening,
    /// It does not begin as an arena's line to its scores does.
    Results,
    /// It speaks another version.
    Version(u16),
    /// A frame is empty or too long.
    Length(u32),
    /// There is no message of this kind.
    Kind(u8),
    /// A message is not what its kind says.
    Content(Malformed),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opening => write!(
                f,
                "this door is for the middleware of travel, whose bytes begin with {NAME}"
            ),
            Self::Results => write!(
                f,
                "an arena's line to its scores begins with tsgame, and its version is 1"
            ),
            Self::Version(theirs) => write!(
                f,
                "version {theirs} of the line is spoken there, and version {VERSION} here"
            ),
            Self::Length(length) => write!(
                f,
                "a frame of {length} bytes was announced, it has 1 to {FRAME_BYTES_MAX}"
            ),
            Self::Kind(kind) => write!(f, "there is no message of the kind {kind}"),
            Self::Content(Malformed { field }) => {
                write!(f, "a message is malformed at its {field}")
            }
        }
    }
}

impl std::error::Error for Broken {}

impl From<Malformed> for Broken {
    fn from(malformed: Malformed) -> Self {
        Self::Content(malformed)
    }
}
