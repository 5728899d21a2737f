//! An entry: what one server proposes to a log that several servers share, as one message.

use turnstile_types::{
    Author, DoorKind, Name, Origin, Position, Principal, Reader, RequestId, Timestamp, put_u8,
    put_u16, put_u64,
};

use crate::{
    Broken, Group, GroupBuilder, HEADER_BYTES, Link, Place, RECORD_PREFIX_BYTES, Record, RecordRef,
    Records, SERVICE_ENGINE,
};

/// The first bytes of every entry.
const ENTRY_MAGIC: [u8; 4] = *b"TSEN";

/// The newest version of entries, and of the records in them, that this code reads. It writes none that
/// one of the servers of the log does not read.
pub const ENTRY_VERSION: u16 = 3;

/// The version in which heads do not say what their proposer reads.
const WITHOUT_READS: u16 = 1;

/// The request id of an announcement, before the version. It is a tick, which all versions apply as
/// nothing.
const ANNOUNCES: &str = "reads-";

/// The largest entry: brokers take messages of 1 MiB with their headers.
pub const ENTRY_BYTES_MAX: usize = 1024 * 1024 - 1024;

/// How far the number of an entry may be ahead of one of the same run that the log does not have yet.
pub const ENTRIES_AHEAD_MAX: u64 = 64;

/// No head of an entry is longer: the fixed fields and the longest name of a node.
const HEAD_BYTES_MAX: usize = 4 + 2 + 1 + 64 + NUMBERS_BYTES + 2 + 4;

/// The numbers of a head.
const NUMBERS_BYTES: usize = 6 * 8;

/// The records of an entry take at most so many bytes; an [announcement](EntryBuilder::announce) always fits
/// beside them.
pub const ENTRY_BODY_BYTES_MAX: usize =
    ENTRY_BYTES_MAX - HEAD_BYTES_MAX - HEADER_BYTES - ANNOUNCEMENT_BYTES_MAX;

/// No announcement is longer: the fixed part of a record, the longest principal, and a version.
const ANNOUNCEMENT_BYTES_MAX: usize = RECORD_PREFIX_BYTES + 64 + ANNOUNCES.len() + 5;

/// The group inside an entry lies nowhere: its place and positions come with the order.
const NOWHERE: Place = Place {
    journal: 0,
    segment: 0,
    offset: 0,
};

/// Who proposed an entry, and on which state it was admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryHead {
    /// The server that proposed it.
    pub node: Name,
    /// The number of that server's run: later runs have higher ones.
    pub incarnation: u64,
    /// The entry's number in that run, from 1. An entry that is sent again keeps it.
    pub number: u64,
    /// The last change of rights that its proposer had applied. An entry that is ordered behind a later
    /// one is void: what was allowed may be forbidden since.
    pub epoch: Position,
    /// Which installation its proposer is of. Servers of one installation share their secrets, so that
    /// what one seals another can compare.
    pub installation: u64,
    /// The last entry that its proposer had applied, zero before the first; and the hash over all records
    /// up to there. Servers that disagree on it have decided differently.
    pub applied: (u64, u64),
    /// The version in which it is written.
    pub version: u16,
    /// The newest version that its proposer reads. A head of version 1 does not say that, and stands for
    /// 1: see [`SharedEntry::reads`].
    pub reads: u16,
}

/// An entry that passed every check.
#[derive(Clone, Copy, Debug)]
pub struct SharedEntry<'a> {
    pub head: EntryHead,
    group: Group<'a>,
}

impl EntryHead {
    fn encode(&self, out: &mut Vec<u8>) {
        let name = self.node.as_bytes();
        out.extend_from_slice(&ENTRY_MAGIC);
        put_u16(out, self.version);
        put_u8(
            out,
            u8::try_from(name.len()).expect("a name has at most 64 bytes"),
        );
        out.extend_from_slice(name);
        put_u64(out, self.incarnation);
        put_u64(out, self.number);
        put_u64(out, self.epoch.0);
        put_u64(out, self.installation);
        put_u64(out, self.applied.0);
        put_u64(out, self.applied.1);
        if self.version > WITHOUT_READS {
            put_u16(out, self.reads);
        }
        let checksum = crc32c::crc32c(out);
        out.extend_from_slice(&checksum.to_le_bytes());
    }

    /// Reads a head, and says how many bytes it takes.
    fn parse(bytes: &[u8]) -> Result<(Self, usize), Broken> {
        if !bytes.starts_with(&ENTRY_MAGIC) {
            return Err(Broken::Magic);
        }
        let mut reader = Reader::new(bytes);
        let short = |_malformed| Broken::Short;
        reader.take(ENTRY_MAGIC.len(), "magic").map_err(short)?;
        let version = reader.u16("version").map_err(short)?;
        let name_bytes = reader.u8("length of a node's name").map_err(short)?;
        let name = reader
            .take(usize::from(name_bytes), "node")
            .map_err(short)?;
        let incarnation = reader.u64("incarnation").map_err(short)?;
        let number = reader.u64("number").map_err(short)?;
        let epoch = Position(reader.u64("epoch").map_err(short)?);
        let installation = reader.u64("installation").map_err(short)?;
        let applied = reader.u64("last entry applied").map_err(short)?;
        let chain = reader.u64("hash over all records").map_err(short)?;
        let says_reads = version > WITHOUT_READS;
        let reads = if says_reads {
            reader.u16("version that is read").map_err(short)?
        } else {
            WITHOUT_READS
        };
        let covered = 4 + 2 + 1 + name.len() + NUMBERS_BYTES + if says_reads { 2 } else { 0 };
        let checksum = reader.u32("checksum of the head").map_err(short)?;
        if crc32c::crc32c(bytes.get(..covered).ok_or(Broken::Short)?) != checksum {
            return Err(Broken::HeaderChecksum);
        }
        if !(WITHOUT_READS..=ENTRY_VERSION).contains(&version) {
            return Err(Broken::Version(version));
        }
        let node = Name::parse(name).map_err(|_invalid| Broken::Unknown)?;
        let head = Self {
            node,
            incarnation,
            number,
            epoch,
            installation,
            applied: (applied, chain),
            version,
            reads,
        };
        Ok((head, covered + 4))
    }
}

impl<'a> SharedEntry<'a> {
    /// Reads an entry that fills the bytes.
    ///
    /// # Errors
    /// The bytes are no entry of a version that this code reads.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Broken> {
        let (head, length) = EntryHead::parse(bytes)?;
        let group = bytes.get(length..).ok_or(Broken::Short)?;
        let link = Link {
            time: Timestamp(0),
            ..Link::START
        };
        let parsed = Group::parse(group, NOWHERE, Some(link))?;
        if parsed.is_seal() || parsed.header().group_bytes() != group.len() {
            return Err(Broken::Unknown);
        }
        Ok(Self {
            head,
            group: parsed,
        })
    }

    /// The clock of its proposer, when it was proposed.
    #[must_use]
    pub const fn time(&self) -> Timestamp {
        self.group.time()
    }

    /// Its records. Their positions and times are not the ones that they get.
    #[must_use]
    pub fn records(&self) -> Records<'a> {
        self.group.records()
    }

    /// The newest version that its proposer reads, as far as it says so.
    #[must_use]
    pub fn reads(&self) -> u16 {
        let announced = self.records().filter_map(|record| announced(&record)).max();
        self.head.reads.max(announced.unwrap_or(WITHOUT_READS))
    }

    /// Bytes that its records take in a group.
    #[must_use]
    pub fn body_bytes(&self) -> usize {
        self.group.header().group_bytes() - HEADER_BYTES
    }
}

/// The newest version that a server reads, if this record of it says so.
#[must_use]
pub fn announced(record: &Record<'_>) -> Option<u16> {
    if record.service != SERVICE_ENGINE || !record.payload.is_empty() {
        return None;
    }
    let id = record.origin().request_id?;
    id.as_str().strip_prefix(ANNOUNCES)?.parse().ok()
}

/// An entry that is put together. Its buffer is reused.
#[derive(Debug, Default)]
pub struct EntryBuilder {
    group: GroupBuilder,
}

impl EntryBuilder {
    /// Whether a record of so many bytes ([`RecordRef::size`]) fits.
    #[must_use]
    pub fn fits(&self, bytes: usize) -> bool {
        self.group.body_bytes() + bytes <= ENTRY_BODY_BYTES_MAX
    }

    /// Adds a record.
    ///
    /// # Panics
    /// When it does not fit in a group: callers ask first.
    pub fn push(&mut self, record: &RecordRef<'_>) {
        self.group.push(record);
    }

    /// Adds a record by which servers hear what this one reads, also those that read version 1 only.
    /// It is the last of its entry.
    pub fn announce(&mut self, principal: &Principal, reads: u16) {
        let text = format!("{ANNOUNCES}{reads}");
        let request_id = RequestId::parse(text.as_bytes()).expect("visible ASCII");
        let origin = Origin {
            request_id: Some(request_id),
            ..Origin::without_address(DoorKind::Server)
        };
        self.group.push(&RecordRef {
            service: SERVICE_ENGINE,
            author: Author {
                principal,
                origin: &origin,
            },
            key: None,
            payload: &[],
        });
    }

    #[must_use]
    pub const fn records(&self) -> u32 {
        self.group.records()
    }

    /// The bytes of the entry; the next one may begin.
    pub fn finish(&mut self, head: &EntryHead, time: Timestamp) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_BYTES_MAX + HEADER_BYTES + self.group.body_bytes());
        head.encode(&mut bytes);
        self.group.set_time(time);
        bytes.extend_from_slice(self.group.finish(NOWHERE, 0, false).0);
        self.group.begin(Timestamp(0), Position(1));
        bytes
    }
}

#[cfg(test)]
mod tests {
    use turnstile_types::{Author, Principal};

    use super::*;

    fn head() -> EntryHead {
        EntryHead {
            node: Name::parse(b"n1").unwrap(),
            incarnation: 7,
            number: 3,
            epoch: Position(9),
            installation: 11,
            applied: (12, 13),
            version: ENTRY_VERSION,
            reads: 5,
        }
    }

    /// The same, as older servers write it.
    fn head_of_version_1() -> EntryHead {
        EntryHead {
            reads: 1,
            ..head_of_version(1)
        }
    }

    fn head_of_version(version: u16) -> EntryHead {
        EntryHead { version, ..head() }
    }

    fn built() -> Vec<u8> {
        built_as(&head())
    }

    fn built_as(head: &EntryHead) -> Vec<u8> {
        let mut builder = EntryBuilder::default();
        let principal = Principal::local();
        for payload in [&b"one"[..], b"two"] {
            builder.push(&RecordRef {
                service: 1,
                author: Author::server(&principal),
                key: None,
                payload,
            });
        }
        builder.finish(head, Timestamp(55))
    }

    #[test]
    fn an_entry_is_read_as_it_was_built() {
        let bytes = built();
        let entry = SharedEntry::parse(&bytes).unwrap();
        assert_eq!((entry.head, entry.time()), (head(), Timestamp(55)));
        let payloads: Vec<_> = entry.records().map(|record| record.payload).collect();
        assert_eq!(payloads, [b"one", b"two"]);
        let mut empty = EntryBuilder::default();
        let bytes = empty.finish(&head(), Timestamp(1));
        assert_eq!(SharedEntry::parse(&bytes).unwrap().records().count(), 0);
    }

    #[test]
    fn the_golden_entries_are_written_and_read() {
        for (golden, head) in [
            (include_str!("../golden/entry-1.hex"), head_of_version_1()),
            (include_str!("../golden/entry-2.hex"), head_of_version(2)),
            (include_str!("../golden/entry-3.hex"), head()),
        ] {
            let golden: Vec<u8> = golden
                .split_whitespace()
                .map(|byte| u8::from_str_radix(byte, 16).unwrap())
                .collect();
            assert_eq!(built_as(&head), golden, "{:02x?}", built_as(&head));
            assert_eq!(SharedEntry::parse(&golden).unwrap().head, head);
        }
    }

    #[test]
    fn a_server_announces_what_it_reads_in_either_version() {
        for (head, announced, expected) in [
            (head_of_version_1(), None, 1),
            (head_of_version_1(), Some(4), 4),
            (head(), None, 5),
        ] {
            let mut builder = EntryBuilder::default();
            if let Some(reads) = announced {
                builder.announce(&Principal::local(), reads);
            }
            let bytes = builder.finish(&head, Timestamp(1));
            assert_eq!(SharedEntry::parse(&bytes).unwrap().reads(), expected);
        }
        let newer = EntryHead {
            version: ENTRY_VERSION + 1,
            ..head()
        };
        assert!(matches!(
            SharedEntry::parse(&built_as(&newer)),
            Err(Broken::Version(_))
        ));
    }

    #[test]
    fn a_flipped_bit_or_a_cut_is_found_wherever_it_is() {
        let bytes = built();
        for at in 0..bytes.len() {
            assert!(SharedEntry::parse(&bytes[..at]).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut broken = bytes.clone();
                broken[at] ^= 1 << bit;
                assert!(
                    SharedEntry::parse(&broken).is_err(),
                    "bit {bit} of byte {at}"
                );
            }
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(SharedEntry::parse(&longer).is_err());
    }
}
