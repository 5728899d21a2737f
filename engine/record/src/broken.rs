//! Reasons why bytes are not the expected group.

use std::fmt;

use turnstile_types::Position;

/// Why some bytes are not the group that is expected at their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// Fewer bytes than a header, or than the header announces.
    Short,
    /// No group begins here.
    Magic,
    /// The header does not fit its own checksum.
    HeaderChecksum,
    /// Written by a version that this code does not read.
    Version(u16),
    /// A kind or flag that this version does not know, or lengths beyond the limits.
    Unknown,
    /// A group of another journal.
    Journal,
    /// A group that belongs elsewhere: a misdirected write.
    Place { segment: u32, offset: u32 },
    /// The positions are not contiguous.
    Position { expected: Position, found: Position },
    /// The group before this one was not the one that is there.
    Chain,
    /// Logged time went back.
    Time,
    /// The body does not fit its checksum.
    BodyChecksum,
    /// The body fits its checksum but is not the announced number of well-formed records.
    Records,
}

impl Broken {
    /// Whether damage explains it. Otherwise the checksums hold and another version, or another
    /// program, wrote it: nothing of that may ever be cut.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        !matches!(self, Self::Version(_) | Self::Unknown | Self::Records)
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => f.write_str("the group is cut short"),
            Self::Magic => f.write_str("no group begins here"),
            Self::HeaderChecksum => f.write_str("the header's checksum does not match"),
            Self::Version(version) => write!(f, "format version {version} is not known"),
            Self::Unknown => f.write_str("the header has a value outside this version"),
            Self::Journal => f.write_str("the group belongs to another journal"),
            Self::Place { segment, offset } => write!(
                f,
                "the group belongs to segment {segment}, offset {offset}: a misdirected write"
            ),
            Self::Position { expected, found } => {
                write!(f, "position {expected} is expected, {found} is there")
            }
            Self::Chain => f.write_str("the chain to the group before is broken"),
            Self::Time => f.write_str("the logged time goes back"),
            Self::BodyChecksum => f.write_str("the body's checksum does not match"),
            Self::Records => f.write_str("the body is not a list of records"),
        }
    }
}

impl std::error::Error for Broken {}
