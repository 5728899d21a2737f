//! A group's header: where the group belongs, what comes before it, and its checksums.

use turnstile_types::{Position, Reader, Timestamp, put_u8, put_u16, put_u32, put_u64};

use crate::{BODY_BYTES_MAX, Broken, HEADER_BYTES, MAGIC, VERSION, VERSION_WITHOUT_ORIGINS};

/// Set when everything before the group was durable before the group was written.
const FLAG_AFTER_SYNC: u8 = 1;

/// Where a group lies. Bytes that lie anywhere else are no group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The journal's random number.
    pub journal: u64,
    /// The segment's number, from 1.
    pub segment: u32,
    /// Byte offset in the segment.
    pub offset: u32,
}

/// What a group leaves for the next one to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The position that the next record gets.
    pub position: Position,
    /// The logged time so far; the next group's is not earlier.
    pub time: Timestamp,
    /// The header checksum of the last group, which covers its body's checksum.
    pub chain: u32,
}

impl Link {
    /// What the first group of a journal continues.
    pub const START: Self = Self {
        position: Position(1),
        time: Timestamp(0),
        chain: 0,
    };
}

/// What a group is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Records,
    /// Written on a clean stop: it has no records and proves that all before it was durable.
    Seal,
}

/// A group's header whose own checksum matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The version of the group's records, at most [`VERSION`].
    pub version: u16,
    pub kind: Kind,
    /// Everything before this group was durable before this group was written, so a broken group
    /// before it is no torn tail.
    pub after_sync: bool,
    pub place: Place,
    /// The position of the first record; for a seal, of the next one.
    pub first: Position,
    pub time: Timestamp,
    pub records: u32,
    /// At most [`BODY_BYTES_MAX`].
    pub body_bytes: u32,
    pub chain: u32,
    pub body_checksum: u32,
    /// The checksum of this header.
    pub checksum: u32,
}

impl Header {
    /// Reads a header from the first [`HEADER_BYTES`] of `bytes` and checks everything that can be
    /// checked without knowing the place or the body.
    ///
    /// # Errors
    /// `Short`, `Magic`, `HeaderChecksum`, `Version` or `Unknown`.
    pub fn parse(bytes: &[u8]) -> Result<Self, Broken> {
        let (bytes, _body) = bytes
            .split_first_chunk::<HEADER_BYTES>()
            .ok_or(Broken::Short)?;
        if !bytes.starts_with(&MAGIC) {
            return Err(Broken::Magic);
        }
        let (covered, checksum) = bytes
            .split_last_chunk::<4>()
            .expect("a header is longer than its checksum");
        if crc32c::crc32c(covered) != u32::from_le_bytes(*checksum) {
            return Err(Broken::HeaderChecksum);
        }
        Self::fields(bytes)
    }

    /// Reads the fields, whatever the checksum says.
    pub(crate) fn fields(bytes: &[u8; HEADER_BYTES]) -> Result<Self, Broken> {
        let mut reader = Reader::new(bytes);
        let mut read = || -> Result<Result<Self, Broken>, turnstile_types::Malformed> {
            reader.take(MAGIC.len(), "magic")?;
            let version = reader.u16("version")?;
            let kind = reader.u8("kind")?;
            let flags = reader.u8("flags")?;
            let header = Self {
                version,
                kind: if kind == 0 { Kind::Records } else { Kind::Seal },
                after_sync: flags & FLAG_AFTER_SYNC != 0,
                place: Place {
                    journal: reader.u64("journal")?,
                    segment: reader.u32("segment")?,
                    offset: reader.u32("offset")?,
                },
                first: Position(reader.u64("first position")?),
                time: Timestamp(reader.u64("time")?),
                records: reader.u32("record count")?,
                body_bytes: reader.u32("body length")?,
                chain: reader.u32("chain")?,
                body_checksum: reader.u32("body checksum")?,
                checksum: reader.u32("header checksum")?,
            };
            Ok(if !(VERSION_WITHOUT_ORIGINS..=VERSION).contains(&version) {
                Err(Broken::Version(version))
            } else if kind > 1 || flags > FLAG_AFTER_SYNC || !header.is_within_limits() {
                Err(Broken::Unknown)
            } else {
                Ok(header)
            })
        };
        read().expect("the fields of a header take exactly its length")
    }

    fn is_within_limits(&self) -> bool {
        let body_fits = usize::try_from(self.body_bytes).is_ok_and(|bytes| bytes <= BODY_BYTES_MAX);
        let seal_is_empty = self.kind == Kind::Records || (self.records, self.body_bytes) == (0, 0);
        let positions_end = self.first.0.checked_add(u64::from(self.records));
        body_fits && seal_is_empty && positions_end.is_some()
    }

    /// Checks that the group belongs at `place` and continues `link`; without a link, that of the
    /// first group that is kept, any will do.
    ///
    /// # Errors
    /// `Journal`, `Place`, `Position`, `Chain` or `Time`.
    pub fn continues(&self, place: Place, link: Option<Link>) -> Result<(), Broken> {
        self.lies_at(place)?;
        let Some(link) = link else { return Ok(()) };
        if self.first != link.position {
            return Err(Broken::Position {
                expected: link.position,
                found: self.first,
            });
        }
        if self.chain != link.chain {
            return Err(Broken::Chain);
        }
        if self.time < link.time {
            return Err(Broken::Time);
        }
        Ok(())
    }

    pub(crate) fn lies_at(&self, place: Place) -> Result<(), Broken> {
        if self.place.journal != place.journal {
            return Err(Broken::Journal);
        }
        if self.place != place {
            return Err(Broken::Place {
                segment: self.place.segment,
                offset: self.place.offset,
            });
        }
        Ok(())
    }

    /// What the next group continues.
    #[must_use]
    pub fn link(&self) -> Link {
        Link {
            position: Position(self.first.0 + u64::from(self.records)),
            time: self.time,
            chain: self.checksum,
        }
    }

    /// The group's length with this header, in bytes.
    #[must_use]
    pub fn group_bytes(&self) -> usize {
        HEADER_BYTES + usize::try_from(self.body_bytes).expect("a body is within its limit")
    }

    /// Writes the header with a fresh checksum, and notes it.
    pub(crate) fn encode(&mut self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&MAGIC);
        put_u16(out, self.version);
        put_u8(out, u8::from(self.kind == Kind::Seal));
        put_u8(out, if self.after_sync { FLAG_AFTER_SYNC } else { 0 });
        put_u64(out, self.place.journal);
        put_u32(out, self.place.segment);
        put_u32(out, self.place.offset);
        put_u64(out, self.first.0);
        put_u64(out, self.time.0);
        put_u32(out, self.records);
        put_u32(out, self.body_bytes);
        put_u32(out, self.chain);
        put_u32(out, self.body_checksum);
        self.checksum = crc32c::crc32c(&out[start..]);
        put_u32(out, self.checksum);
    }
}
