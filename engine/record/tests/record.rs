//! Records and groups: what is written reads back, and what is not exactly that is refused.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use turnstile_record::{
    Broken, Group, GroupBuilder, HEADER_BYTES, Header, Link, Place, RecordRef, seal,
};
use turnstile_types::{Key, Name, Position, Principal, Timestamp};

const PLACE: Place = Place {
    journal: 0x0123_4567_89ab_cdef,
    segment: 3,
    offset: 8192,
};

const LINK: Link = Link {
    position: Position(1_000),
    time: Timestamp(1_798_106_645_678),
    chain: 0xdead_beef,
};

/// Service, principal, key and payload.
type Row = (u8, String, Option<String>, Vec<u8>);

fn build(rows: &[Row], link: Link) -> (Vec<u8>, Link) {
    let mut group = GroupBuilder::new();
    group.begin(link.time, link.position);
    for (index, (service, principal, key, payload)) in rows.iter().enumerate() {
        let record = RecordRef {
            service: *service,
            principal: &Principal(Name::parse(principal.as_bytes()).unwrap()),
            key: key.as_ref().map(|key| Key::parse(key.as_bytes()).unwrap()),
            payload,
        };
        let before = group.body_bytes();
        let position = group.push(&record);
        assert_eq!(position.0, link.position.0 + u64::try_from(index).unwrap());
        assert_eq!(group.body_bytes() - before, record.size());
    }
    let (bytes, link) = group.finish(PLACE, link.chain, true);
    (bytes.to_vec(), link)
}

fn rows_of(group: &Group<'_>) -> Vec<Row> {
    group
        .records()
        .map(|record| {
            (
                record.service,
                record.principal.to_string(),
                record.key.map(|key| key.as_str().to_owned()),
                record.payload.to_vec(),
            )
        })
        .collect()
}

fn sample() -> Vec<Row> {
    vec![
        (1, "local".into(), None, b"book 101".to_vec()),
        (0, "engine".into(), None, vec![]),
        (
            1,
            "front-desk".into(),
            Some("9f-2\"x".into()),
            vec![0, 255, 7],
        ),
        (1, "front-desk".into(), Some("k".repeat(128)), vec![9; 300]),
    ]
}

fn row() -> impl Strategy<Value = Row> {
    (
        any::<u8>(),
        "[A-Za-z0-9._:-]{1,64}",
        proptest::option::of("[!-~]{1,128}"),
        proptest::collection::vec(any::<u8>(), 0..400),
    )
}

proptest! {
    #[test]
    fn what_is_built_reads_back_with_its_positions(rows in proptest::collection::vec(row(), 0..20)) {
        let (bytes, after) = build(&rows, LINK);
        let group = Group::parse(&bytes, PLACE, Some(LINK)).unwrap();
        prop_assert_eq!(&rows_of(&group), &rows);
        let positions: Vec<u64> = group.records().map(|record| record.position.0).collect();
        let end = 1_000 + u64::try_from(rows.len()).unwrap();
        prop_assert_eq!(positions, (1_000..end).collect::<Vec<_>>());
        prop_assert!(group.records().all(|record| record.time == LINK.time));
        prop_assert_eq!(after.position, Position(end));
        prop_assert_eq!(group.header().link(), after);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Group::parse(&bytes, PLACE, None).is_err());
    }
}

#[test]
fn every_flipped_bit_and_every_cut_breaks_the_group() {
    let (bytes, _) = build(&sample(), LINK);
    for bit in 0..bytes.len() * 8 {
        let mut rotten = bytes.clone();
        rotten[bit / 8] ^= 1 << (bit % 8);
        assert!(
            Group::parse(&rotten, PLACE, Some(LINK)).is_err(),
            "bit {bit}"
        );
    }
    for length in 0..bytes.len() {
        assert!(
            Group::parse(&bytes[..length], PLACE, Some(LINK)).is_err(),
            "length {length}"
        );
    }
}

#[test]
fn a_group_is_only_itself_in_its_place_and_after_its_link() {
    let (bytes, _) = build(&sample(), LINK);
    let broken = |place: Place, link: Link| Group::parse(&bytes, place, Some(link)).err();
    assert_eq!(broken(PLACE, LINK), None);
    let rows = [
        (
            Place {
                journal: 1,
                ..PLACE
            },
            LINK,
            Broken::Journal,
        ),
        (
            Place {
                segment: 4,
                ..PLACE
            },
            LINK,
            Broken::Place {
                segment: 3,
                offset: 8192,
            },
        ),
        (
            Place {
                offset: 8191,
                ..PLACE
            },
            LINK,
            Broken::Place {
                segment: 3,
                offset: 8192,
            },
        ),
        (
            PLACE,
            Link {
                position: Position(999),
                ..LINK
            },
            Broken::Position {
                expected: Position(999),
                found: Position(1_000),
            },
        ),
        (PLACE, Link { chain: 0, ..LINK }, Broken::Chain),
        (
            PLACE,
            Link {
                time: LINK.time.plus_ms(1),
                ..LINK
            },
            Broken::Time,
        ),
    ];
    for (place, link, expected) in rows {
        assert_eq!(broken(place, link), Some(expected));
    }
}

#[test]
fn a_seal_has_no_records_and_continues_the_chain() {
    let (bytes, after) = seal(PLACE, LINK);
    let group = Group::parse(&bytes, PLACE, Some(LINK)).unwrap();
    assert!(group.is_seal() && group.header().after_sync);
    assert_eq!((group.records().count(), bytes.len()), (0, HEADER_BYTES));
    assert_eq!((after.position, after.time), (LINK.position, LINK.time));
    assert_ne!(after.chain, LINK.chain);
}

#[test]
fn the_next_version_is_recognised_and_not_taken_for_rot() {
    let (mut bytes, _) = seal(PLACE, LINK);
    bytes[4] = 2;
    let checksum = crc32c::crc32c(&bytes[..HEADER_BYTES - 4]);
    bytes[HEADER_BYTES - 4..].copy_from_slice(&checksum.to_le_bytes());
    assert_eq!(Header::parse(&bytes), Err(Broken::Version(2)));
}

#[test]
fn a_kind_or_a_flag_outside_this_version_is_unknown_and_no_rot() {
    for (at, value) in [(6, 2), (7, 2)] {
        let (mut bytes, _) = seal(PLACE, LINK);
        bytes[at] = value;
        let checksum = crc32c::crc32c(&bytes[..HEADER_BYTES - 4]);
        bytes[HEADER_BYTES - 4..].copy_from_slice(&checksum.to_le_bytes());
        assert_eq!(Header::parse(&bytes), Err(Broken::Unknown), "byte {at}");
    }
}

#[test]
fn what_another_version_wrote_is_no_damage() {
    let place = Broken::Place {
        segment: 1,
        offset: 4_096,
    };
    for damage in [Broken::Short, Broken::Magic, Broken::HeaderChecksum, place] {
        assert!(damage.is_damage(), "{damage}");
    }
    for other in [Broken::Version(2), Broken::Unknown, Broken::Records] {
        assert!(!other.is_damage(), "{other}");
    }
}

/// Golden files are written once for each version and never again: `golden/group-1.hex` is what
/// version 1 wrote on the day it was released.
#[test]
fn the_bytes_of_version_1_stay_what_they_are() {
    let (group, link) = build(&sample(), LINK);
    let after = Place {
        offset: PLACE.offset + u32::try_from(group.len()).unwrap(),
        ..PLACE
    };
    let (seal, _) = seal(after, link);
    let written = hex(&[group, seal].concat());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/group-1.hex");
    let golden = fs::read_to_string(&path).unwrap();
    assert_eq!(written, golden, "written bytes and {}", path.display());

    let bytes = unhex(&golden);
    let group = Group::parse(&bytes, PLACE, Some(LINK)).unwrap();
    assert_eq!(rows_of(&group), sample());
    let rest = &bytes[group.header().group_bytes()..];
    assert!(Group::parse(rest, after, Some(link)).unwrap().is_seal());
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .chunks(16)
        .map(|line| {
            let digits: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
            digits.join(" ") + "\n"
        })
        .collect()
}

fn unhex(text: &str) -> Vec<u8> {
    text.split_ascii_whitespace()
        .map(|digits| u8::from_str_radix(digits, 16).unwrap())
        .collect()
}
