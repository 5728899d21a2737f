//! Builds a group: adds records, then computes the checksums once.

use turnstile_types::{Position, Timestamp};

use crate::{BODY_BYTES_MAX, HEADER_BYTES, Header, Kind, Link, Place, RecordRef, VERSION};

/// The open group. Its buffers are reused, so that building allocates nothing once they have grown.
#[derive(Debug)]
pub struct GroupBuilder {
    /// Room for the header, then the records.
    bytes: Vec<u8>,
    /// Where the header is made before it is copied to the front.
    header: Vec<u8>,
    first: Position,
    time: Timestamp,
    records: u32,
}

impl GroupBuilder {
    /// A group with no records.
    #[must_use]
    pub fn new() -> Self {
        Self {
            bytes: vec![0; HEADER_BYTES],
            header: Vec::with_capacity(HEADER_BYTES),
            first: Position(1),
            time: Timestamp(0),
            records: 0,
        }
    }

    /// Forgets the last group and begins one whose first record gets the position `first`.
    pub fn begin(&mut self, time: Timestamp, first: Position) {
        self.bytes.truncate(HEADER_BYTES);
        self.first = first;
        self.time = time;
        self.records = 0;
    }

    /// Sets the time of a group that was begun before it was known.
    pub const fn set_time(&mut self, time: Timestamp) {
        self.time = time;
    }

    /// Adds a record and says its position.
    ///
    /// # Panics
    /// When the payload is longer than [`PAYLOAD_BYTES_MAX`](crate::PAYLOAD_BYTES_MAX), or the body
    /// would be longer than [`BODY_BYTES_MAX`]: callers ask first.
    pub fn push(&mut self, record: &RecordRef<'_>) -> Position {
        record.encode(&mut self.bytes);
        assert!(
            self.body_bytes() <= BODY_BYTES_MAX,
            "a record is added only where it fits"
        );
        let position = Position(self.first.0 + u64::from(self.records));
        self.records += 1;
        position
    }

    /// Makes the header and the checksums; says the bytes to write and what comes after them.
    ///
    /// `after_sync` says that everything before is durable.
    pub fn finish(&mut self, place: Place, chain: u32, after_sync: bool) -> (&[u8], Link) {
        let mut header = Header {
            version: VERSION,
            kind: Kind::Records,
            after_sync,
            place,
            first: self.first,
            time: self.time,
            records: self.records,
            body_bytes: u32::try_from(self.body_bytes()).expect("a body is within its limit"),
            chain,
            body_checksum: crc32c::crc32c(&self.bytes[HEADER_BYTES..]),
            checksum: 0,
        };
        self.header.clear();
        header.encode(&mut self.header);
        self.bytes[..HEADER_BYTES].copy_from_slice(&self.header);
        (&self.bytes, header.link())
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// How many records there are.
    #[must_use]
    pub const fn records(&self) -> u32 {
        self.records
    }

    #[must_use]
    pub const fn time(&self) -> Timestamp {
        self.time
    }

    /// How many bytes the records take.
    #[must_use]
    pub fn body_bytes(&self) -> usize {
        self.bytes.len() - HEADER_BYTES
    }
}

impl Default for GroupBuilder {
    fn default() -> Self {
        Self::new()
    }
}

/// The bytes of a seal at `place` after `link`, and what comes after it. All before it is durable.
#[must_use]
pub fn seal(place: Place, link: Link) -> (Vec<u8>, Link) {
    let mut header = Header {
        version: VERSION,
        kind: Kind::Seal,
        after_sync: true,
        place,
        first: link.position,
        time: link.time,
        records: 0,
        body_bytes: 0,
        chain: link.chain,
        body_checksum: crc32c::crc32c(&[]),
        checksum: 0,
    };
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    header.encode(&mut bytes);
    (bytes, header.link())
}
