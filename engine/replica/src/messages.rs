//! What nodes send each other: requests for partitions that another one holds, and the answers.
//!
//! The bytes are described in `docs/formats/relay.md`.

use std::sync::Arc;

use turnstile_access::KeyId;
use turnstile_chassis::{Bytes, Decode as _, Encode as _};
use turnstile_record::{EntryBuilder, EntryHead, RecordRef, SERVICE_ENGINE, SharedEntry};
use turnstile_types::{Author, Malformed, Origin, Position, Principal, Timestamp};

/// The version of requests and answers that this code writes and reads.
const RELAY_VERSION: u16 = 1;

/// How a caller has shown who it is. Its bytes go to other nodes, which look at the rights themselves.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub enum Credential {
    /// Not at all. In a directory without keys that is enough to be `local`.
    #[byte(0x00)]
    None,
    /// With this key.
    #[byte(0x01)]
    Key(KeyId),
    /// With a certificate that has this name.
    #[byte(0x02)]
    Certificate(Arc<str>),
    /// By the listener that it came to.
    #[byte(0x03)]
    Named,
    /// It is the server itself, or another process of it.
    #[byte(0x04)]
    Server,
}

/// What stands before the records of a request: the payload of the entry's first record.
#[derive(Debug, PartialEq, Eq, Bytes)]
pub struct RelayHead {
    version: u16,
    /// A hash of the names of all partitions, in the order of their numbers.
    pub list: u64,
    /// The partition that is to decide.
    pub partition: u8,
    /// Whether the records behind it are queries.
    pub is_query: bool,
    /// How the caller has shown who it is, to the node that it is connected to.
    pub credential: Credential,
}

impl RelayHead {
    /// Of a request for a partition, by its number, in a cluster whose partitions have this hash.
    #[must_use]
    pub const fn new(list: u64, (partition, is_query): (u8, bool), credential: Credential) -> Self {
        Self {
            version: RELAY_VERSION,
            list,
            partition,
            is_query,
            credential,
        }
    }

    /// Begins a request.
    pub fn begin(&self, entry: &mut EntryBuilder) {
        let mut payload = Vec::new();
        self.encode(&mut payload);
        let principal = Principal::local();
        entry.push(&RecordRef {
            service: SERVICE_ENGINE,
            author: Author {
                principal: &principal,
                origin: &Origin::SERVER,
            },
            key: None,
            payload: &payload,
        });
    }
}

/// A request that has come from another node.
#[derive(Debug)]
pub struct ReadRelay<'a> {
    /// Who sends it, and what it knew.
    pub by: EntryHead,
    pub head: RelayHead,
    pub entry: SharedEntry<'a>,
}

/// Ends a request, which was [begun](RelayHead::begin).
#[must_use]
pub fn finish_relay(mut entry: EntryBuilder, by: &EntryHead, now: Timestamp) -> Vec<u8> {
    entry.finish(by, now)
}

/// Reads a request.
///
/// # Errors
/// Why it is none that this version reads, in words.
pub fn read_relay(bytes: &[u8]) -> Result<ReadRelay<'_>, String> {
    let entry = SharedEntry::parse(bytes).map_err(|broken| broken.to_string())?;
    let first = entry.records().next();
    let first = first.filter(|record| record.service == SERVICE_ENGINE);
    let head = first.ok_or_else(|| "it has no head".to_owned())?.payload;
    let head = RelayHead::decode_whole(head, "head").map_err(|malformed| malformed.to_string())?;
    if head.version != RELAY_VERSION {
        return Err(format!("it has version {}", head.version));
    }
    Ok(ReadRelay {
        by: entry.head,
        head,
        entry,
    })
}

/// What a node answers to a request.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub enum RelayAnswer {
    /// What became of each command.
    #[byte(0x00)]
    Decided(Vec<RelayedOutcome>),
    /// The answer to each query, in the state behind this position.
    #[byte(0x01)]
    Answered(Position, Vec<RelayedAnswer>),
    /// Nothing was done, for this reason.
    #[byte(0x02)]
    NotTaken(Box<str>),
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub enum RelayedOutcome {
    #[byte(0x00)]
    Decided {
        position: Position,
        replayed: bool,
        outcome: Vec<u8>,
    },
    #[byte(0x01)]
    Failed(RelayedFailure),
}

/// What is answered to a query.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub enum RelayedAnswer {
    #[byte(0x00)]
    Answer(Vec<u8>),
    #[byte(0x01)]
    Failed(RelayedFailure),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub enum RelayedFailure {
    #[byte(0x00)]
    KeyReused(Position),
    #[byte(0x01)]
    Forbidden(RelayedRight),
    #[byte(0x02)]
    Unavailable(Box<str>),
    #[byte(0x03)]
    Unknown(Box<str>),
    #[byte(0x04)]
    Broken(Box<str>),
}

/// The right that is missing: its kind, its service and how strong it is, where it has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub struct RelayedRight {
    pub kind: u8,
    pub service: u8,
    pub right: u8,
}

impl RelayAnswer {
    /// The bytes of the answer.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        RELAY_VERSION.encode(&mut bytes);
        self.encode(&mut bytes);
        bytes
    }

    /// Reads an answer.
    ///
    /// # Errors
    /// The bytes are no answer that this version reads.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let (version, answer) = <(u16, Self)>::decode_whole(bytes, "answer")?;
        Malformed::unless(version == RELAY_VERSION, "version of the answer")?;
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use turnstile_types::Name;

    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written_and_no_flipped_bit_is_taken() {
        let credential = Credential::Certificate("a.example".into());
        let head = RelayHead::new(5, (1, true), credential);
        let mut entry = EntryBuilder::default();
        head.begin(&mut entry);
        let by = EntryHead {
            node: Name::parse(b"n1").unwrap(),
            incarnation: 3,
            number: 4,
            epoch: Position(0),
            installation: 9,
            applied: (12, 0),
            version: 2,
            reads: 2,
        };
        let bytes = finish_relay(entry, &by, Timestamp(5));
        let relay = read_relay(&bytes).unwrap();
        assert_eq!((relay.by, &relay.head), (by, &head));
        for at in 0..bytes.len() {
            let mut broken = bytes.clone();
            broken[at] ^= 1;
            assert!(read_relay(&broken).is_err(), "byte {at}");
        }
    }

    /// What is written here must be read by every later version.
    #[test]
    fn the_golden_bytes_are_written() {
        let mut head = Vec::new();
        RelayHead::new(0x0102, (1, false), Credential::Named).encode(&mut head);
        assert_eq!(head, [1, 0, 2, 1, 0, 0, 0, 0, 0, 0, 1, 0, 3]);
        let answer = RelayAnswer::Decided(vec![RelayedOutcome::Decided {
            position: Position(9),
            replayed: true,
            outcome: vec![7],
        }]);
        let golden = [
            1, 0, 0, 1, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 7,
        ];
        assert_eq!(answer.to_bytes(), golden);
    }
}
