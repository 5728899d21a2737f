//! Reads a trace.

use std::{fmt, fs, io, path::Path};

use crate::entry::{Entry, HEAD, Unread};

/// A trace, all of it in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    bytes: Vec<u8>,
    /// Where the last whole entry ends.
    end: usize,
}

/// Why a file is no trace.
#[derive(Debug)]
pub enum Broken {
    Io(io::Error),
    /// It does not begin as traces do.
    NoTrace,
    /// It was written by a version that this one does not know.
    Version(u8),
    /// The entry at this offset is damaged; that is more than a torn end.
    Damaged {
        offset: usize,
    },
}

impl Trace {
    /// Reads a file. What is torn off at its end is left out, and counted.
    ///
    /// # Errors
    /// It cannot be read, or is no trace.
    pub fn read(path: &Path) -> Result<Self, Broken> {
        Self::of_bytes(fs::read(path).map_err(Broken::Io)?)
    }

    /// The same from bytes.
    ///
    /// # Errors
    /// They are no trace.
    pub fn of_bytes(bytes: Vec<u8>) -> Result<Self, Broken> {
        let head = bytes.get(..HEAD.len()).ok_or(Broken::NoTrace)?;
        if head[..8] != HEAD[..8] {
            return Err(Broken::NoTrace);
        }
        if head != HEAD {
            return Err(Broken::Version(head[8]));
        }
        let mut end = HEAD.len();
        loop {
            match Entry::read(&bytes[end..]) {
                Ok((_, length)) => end += length,
                Err(Unread::Torn) => return Ok(Self { bytes, end }),
                Err(Unread::Damaged) => return Err(Broken::Damaged { offset: end }),
            }
        }
    }

    /// The entries, in the order in which they were written.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut at = HEAD.len();
        std::iter::from_fn(move || {
            let (entry, length) = Entry::read(&self.bytes[at..self.end]).ok()?;
            at += length;
            Some(entry)
        })
    }

    /// Bytes at the end that are no whole entry.
    #[must_use]
    pub fn torn(&self) -> usize {
        self.bytes.len() - self.end
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::NoTrace => f.write_str("it is no trace of the lab"),
            Self::Version(version) => write!(
                f,
                "it is a trace of version {version}, of which this program knows nothing"
            ),
            Self::Damaged { offset } => write!(f, "the entry at byte {offset} is damaged"),
        }
    }
}

impl std::error::Error for Broken {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::NoTrace | Self::Version(_) | Self::Damaged { .. } => None,
        }
    }
}
