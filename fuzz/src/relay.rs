//! Messages between nodes: any bytes are refused or read, and what is read is written back as it was.

use turnstile_record::{EntryBuilder, EntryHead, RecordRef, SERVICE_ENGINE};
use turnstile_replica::{RelayAnswer, finish_relay, read_relay};
use turnstile_types::{Author, Name, Origin, Position, Principal, Timestamp};

/// Where the version of an answer ends.
const VERSION_BYTES: usize = 2;

/// Takes `bytes` for a request and for an answer, as they are and with what stands before them put right,
/// so that the fuzzer gets behind that.
pub fn run(bytes: &[u8]) {
    read_answer(bytes);
    if let Some((_, rest)) = bytes.split_at_checked(VERSION_BYTES) {
        let mut repaired = vec![1, 0];
        repaired.extend_from_slice(rest);
        read_answer(&repaired);
    }
    read_request(bytes);
    read_request(&request(bytes));
}

fn read_answer(bytes: &[u8]) {
    if let Ok(answer) = RelayAnswer::parse(bytes) {
        assert_eq!(answer.to_bytes(), bytes);
    }
}

fn read_request(bytes: &[u8]) {
    let Ok(relay) = read_relay(bytes) else {
        return;
    };
    let mut again = EntryBuilder::default();
    relay.head.begin(&mut again);
    let first = relay
        .entry
        .records()
        .next()
        .expect("the head was read from it");
    let written = finish_relay(again, &relay.by, Timestamp(0));
    let written = read_relay(&written).expect("it was written just now");
    let head = written
        .entry
        .records()
        .next()
        .expect("it was begun with one");
    assert_eq!(head.payload, first.payload);
    assert_eq!(
        relay.entry.records().skip(1).count() + 1,
        relay.entry.records().count()
    );
}

/// A sound entry whose head is the beginning of `bytes`, with the rest as a request behind it.
fn request(bytes: &[u8]) -> Vec<u8> {
    let half = bytes
        .first()
        .map_or(0, |first| usize::from(*first).min(bytes.len() - 1));
    let (head, rest) = bytes.get(1..).unwrap_or_default().split_at(half);
    let principal = Principal::local();
    let author = Author {
        principal: &principal,
        origin: &Origin::SERVER,
    };
    let mut entry = EntryBuilder::default();
    for (service, payload) in [(SERVICE_ENGINE, head), (1, rest)] {
        let record = RecordRef {
            service,
            author,
            key: None,
            payload,
        };
        if entry.fits(record.size()) {
            entry.push(&record);
        }
    }
    let by = EntryHead {
        node: Name::parse(b"n1").expect("a name"),
        incarnation: 1,
        number: 1,
        epoch: Position(0),
        installation: 1,
        applied: (0, 0),
        version: 2,
        reads: 2,
    };
    finish_relay(entry, &by, Timestamp(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The head that `docs/formats/relay.md` describes, of a caller with a certificate.
    const HEAD: &[u8] = b"\x01\0\x02\x01\0\0\0\0\0\0\x01\0\x02\x01\0\0\0a";

    /// An outcome, a key that was used, and a missing right.
    const ANSWER: &[u8] = b"\x01\0\0\x03\0\0\0\
        \0\x09\0\0\0\0\0\0\0\x01\x01\0\0\0\x07\
        \x01\0\x07\0\0\0\0\0\0\0\
        \x01\x01\x02\x01\0";

    /// The body must get behind lengths and checksums, or a fuzzer would learn nothing.
    #[test]
    fn sound_bytes_are_read_and_no_change_of_them_breaks_a_promise() {
        assert!(RelayAnswer::parse(ANSWER).is_ok());
        let mut asked = vec![u8::try_from(HEAD.len()).expect("it is short")];
        asked.extend_from_slice(HEAD);
        asked.extend_from_slice(b"a command");
        let relay = request(&asked);
        let relay = read_relay(&relay).expect("it is sound");
        assert_eq!(relay.head.partition, 1);
        assert_eq!(relay.entry.records().count(), 2);
        for sound in [ANSWER, &asked] {
            for at in 0..sound.len() {
                for flip in [0x01, 0x55, 0x80, 0xff] {
                    let mut changed = sound.to_vec();
                    changed[at] ^= flip;
                    run(&changed);
                    run(&changed[at..]);
                    run(&changed[..at]);
                }
            }
        }
    }
}
