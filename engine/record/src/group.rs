//! Reads a group: complete and in its place, or not at all.

use turnstile_types::{Position, Reader, Timestamp};

use crate::record::RecordParts;
use crate::{Broken, HEADER_BYTES, Header, Kind, Link, Place, Record};

/// A group that passed every check: place, link, both checksums, and each record's form.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    header: Header,
    body: &'a [u8],
}

impl<'a> Group<'a> {
    /// Reads the group that begins with the first of `bytes`; more bytes may follow it.
    ///
    /// # Errors
    /// Anything that a group at this place, after this link, is not.
    pub fn parse(bytes: &'a [u8], place: Place, link: Option<Link>) -> Result<Self, Broken> {
        let header = Header::parse(bytes)?;
        header.continues(place, link)?;
        let body = body_of(bytes, &header)?;
        if crc32c::crc32c(body) != header.body_checksum {
            return Err(Broken::BodyChecksum);
        }
        check_records(&header, body)?;
        Ok(Self { header, body })
    }

    /// The group that was [parsed](Self::parse) from these bytes before: nothing is checked again.
    ///
    /// # Panics
    /// The bytes are fewer than then.
    #[must_use]
    pub fn again(header: Header, bytes: &'a [u8]) -> Self {
        let body = body_of(bytes, &header).expect("the same bytes as before");
        Self { header, body }
    }

    /// Reads a group as [`parse`](Self::parse) does, but believes both checksums and the chain: a
    /// planted bug for the simulator.
    ///
    /// # Errors
    /// Bytes that do not even have the form of a group of this place.
    #[cfg(feature = "sabotage")]
    pub fn parse_unchecked(bytes: &'a [u8], place: Place) -> Result<Self, Broken> {
        let head = bytes.first_chunk::<HEADER_BYTES>().ok_or(Broken::Short)?;
        if !head.starts_with(&crate::MAGIC) {
            return Err(Broken::Magic);
        }
        let header = Header::fields(head)?;
        header.lies_at(place)?;
        let body = body_of(bytes, &header)?;
        check_records(&header, body)?;
        Ok(Self { header, body })
    }

    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The logged time of every record in the group.
    #[must_use]
    pub const fn time(&self) -> Timestamp {
        self.header.time
    }

    /// The position of the first record; of a group without records, of the next one.
    #[must_use]
    pub const fn first(&self) -> Position {
        self.header.first
    }

    /// The position after the last record.
    #[must_use]
    pub fn end(&self) -> Position {
        self.header.link().position
    }

    #[must_use]
    pub const fn is_seal(&self) -> bool {
        matches!(self.header.kind, Kind::Seal)
    }

    /// The records, in order.
    #[must_use]
    pub fn records(&self) -> Records<'a> {
        Records {
            version: self.header.version,
            body: Reader::new(self.body),
            next: self.header.first,
            end: self.end(),
            time: self.header.time,
        }
    }
}

fn body_of<'a>(bytes: &'a [u8], header: &Header) -> Result<&'a [u8], Broken> {
    bytes
        .get(HEADER_BYTES..header.group_bytes())
        .ok_or(Broken::Short)
}

/// Checks that the body is exactly as many well-formed records as the header announces.
fn check_records(header: &Header, body: &[u8]) -> Result<(), Broken> {
    let mut body = Reader::new(body);
    let mut principal: &[u8] = &[];
    let mut origin = None;
    for _ in 0..header.records {
        let parts =
            RecordParts::read(header.version, &mut body).map_err(|_malformed| Broken::Records)?;
        let is_known = !principal.is_empty() && parts.principal == principal;
        let is_sound = (is_known || parts.principal().is_some())
            && (origin == Some(parts.origin) || parts.origin.read().is_some())
            && parts.key().is_some();
        if !is_sound {
            return Err(Broken::Records);
        }
        (principal, origin) = (parts.principal, Some(parts.origin));
    }
    if body.is_empty() {
        Ok(())
    } else {
        Err(Broken::Records)
    }
}

/// The records of one group.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    version: u16,
    body: Reader<'a>,
    next: Position,
    end: Position,
    time: Timestamp,
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        if self.next == self.end {
            return None;
        }
        let parts = RecordParts::read(self.version, &mut self.body);
        let parts = parts.expect("the group's records were checked");
        let position = self.next;
        self.next = position.next();
        Some(Record {
            position,
            time: self.time,
            service: parts.service,
            principal: parts.principal().expect("the group's names were checked"),
            key: parts.key().expect("the group's keys were checked"),
            payload: parts.payload,
            origin: parts.origin,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.end.0 - self.next.0).ok();
        (left.unwrap_or(usize::MAX), left)
    }
}
