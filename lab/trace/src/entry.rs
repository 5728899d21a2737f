//! One entry of a trace, and its bytes.

use xxhash_rust::xxh3::xxh3_64;

/// What a trace begins with: its name and its version.
pub(crate) const HEAD: [u8; 16] = *b"TSTTRACE\x01\0\0\0\0\0\0\0";

/// Of an entry before its payload.
pub(crate) const ENTRY_HEAD_BYTES: usize = 32;

/// The longest payload: more than any request or answer of ours, and a bound on what a damaged length
/// can make a reader hold.
pub const ENTRY_BYTES_MAX: usize = 64 << 20;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A client connected.
    Opened,
    /// One whole request was sent.
    Request,
    /// One whole answer came.
    Answer,
    /// The connection ended.
    Closed,
}

/// One thing that happened on one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    pub kind: Kind,
    /// From 0, in the order in which they were opened.
    pub connection: u32,
    /// Nanoseconds since the recording began.
    pub at: u64,
    /// The bytes on the wire; none of an opening or an end.
    pub payload: &'a [u8],
}

/// Why there is no whole entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// The bytes end before it does, or were never written.
    Torn,
    /// Its bytes are not those that were written.
    Damaged,
}

impl Kind {
    const fn byte(self) -> u8 {
        match self {
            Self::Opened => 1,
            Self::Request => 2,
            Self::Answer => 3,
            Self::Closed => 4,
        }
    }

    const fn of_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::Opened,
            2 => Self::Request,
            3 => Self::Answer,
            4 => Self::Closed,
            _ => return None,
        })
    }
}

impl<'a> Entry<'a> {
    /// Appends its bytes.
    ///
    /// # Panics
    /// The payload is longer than [`ENTRY_BYTES_MAX`].
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        assert!(
            self.payload.len() <= ENTRY_BYTES_MAX,
            "a payload is bounded"
        );
        let length = u32::try_from(self.payload.len()).expect("it is below 2^32");
        let start = out.len();
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&[self.kind.byte(), 0, 0, 0]);
        out.extend_from_slice(&self.connection.to_le_bytes());
        let head = head_checksum(&out[start + 8..]);
        out.extend_from_slice(&head.to_le_bytes());
        out.extend_from_slice(&self.at.to_le_bytes());
        out.extend_from_slice(self.payload);
        let checksum = xxh3_64(&out[start + 8..]);
        out[start..start + 8].copy_from_slice(&checksum.to_le_bytes());
    }

    /// Reads the entry at the front of `bytes`, and how many bytes it takes.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<(Self, usize), Unread> {
        let torn = bytes.iter().all(|byte| *byte == 0) || bytes.len() < ENTRY_HEAD_BYTES;
        if torn {
            return Err(Unread::Torn);
        }
        let field = |at: usize| {
            let bytes = bytes[at..at + 4].try_into().expect("the head is there");
            u32::from_le_bytes(bytes)
        };
        let wide = |at: usize| {
            let bytes = bytes[at..at + 8].try_into().expect("the head is there");
            u64::from_le_bytes(bytes)
        };
        let length = usize::try_from(field(8)).expect("32 bits fit");
        let kind = Kind::of_byte(bytes[12]).ok_or(Unread::Damaged)?;
        if head_checksum(&bytes[8..20]) != field(20) || length > ENTRY_BYTES_MAX {
            return Err(Unread::Damaged);
        }
        // The length is what was written.
        let whole = bytes.get(..ENTRY_HEAD_BYTES + length).ok_or(Unread::Torn)?;
        if xxh3_64(&whole[8..]) != wide(0) {
            return Err(Unread::Damaged);
        }
        let entry = Self {
            kind,
            connection: field(16),
            at: wide(24),
            payload: &whole[ENTRY_HEAD_BYTES..],
        };
        Ok((entry, whole.len()))
    }
}

/// Of length, kind and connection: a length that can be trusted tells a torn end from damage.
fn head_checksum(head: &[u8]) -> u32 {
    u32::try_from(xxh3_64(head) & 0xffff_ffff).expect("masked to 32 bits")
}
