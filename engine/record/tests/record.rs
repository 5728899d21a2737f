//! Records and groups: what is written reads back, and what is not exactly that is refused.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use proptest::prelude::*;
use turnstile_record::{
    Broken, Group, GroupBuilder, HEADER_BYTES, Header, Link, Place, RECORD_BYTES_MAX, RecordRef,
    VERSION, seal,
};
use turnstile_types::{
    AddressPolicy, Author, CallerAddress, DoorKind, Key, Name, Origin, Position, Principal,
    RequestId, Timestamp,
};

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

/// Service, principal, key, payload and origin.
type Row = (u8, String, Option<String>, Vec<u8>, Whence);

/// Where a row came from: door, address and request id.
#[derive(Clone, Debug, PartialEq)]
struct Whence(DoorKind, CallerAddress, Option<String>);

impl Whence {
    fn of(origin: &Origin<'_>) -> Self {
        let id = origin.request_id.map(|id| id.as_str().to_owned());
        Self(origin.door, origin.address, id)
    }

    fn origin(&self) -> Origin<'_> {
        let id = self.2.as_ref();
        Origin {
            door: self.0,
            address: self.1,
            request_id: id.map(|id| RequestId::parse(id.as_bytes()).unwrap()),
        }
    }
}

fn address(text: &str, policy: AddressPolicy) -> CallerAddress {
    CallerAddress::of(text.parse().unwrap(), policy)
}

fn build(rows: &[Row], link: Link) -> (Vec<u8>, Link) {
    let mut group = GroupBuilder::new();
    group.begin(link.time, link.position);
    for (index, (service, principal, key, payload, whence)) in rows.iter().enumerate() {
        let record = RecordRef {
            service: *service,
            author: Author {
                principal: &Principal(Name::parse(principal.as_bytes()).unwrap()),
                origin: &whence.origin(),
            },
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
                Whence::of(&record.origin()),
            )
        })
        .collect()
}

fn sample() -> Vec<Row> {
    let id = |id: &str| Some(id.to_owned());
    let network = address("203.0.113.77", AddressPolicy::Network);
    let whole = address("2001:db8::7", AddressPolicy::Whole);
    let origins = [
        Whence(
            DoorKind::Resp,
            address("127.0.0.1", AddressPolicy::Network),
            None,
        ),
        Whence::of(&Origin::SERVER),
        Whence(DoorKind::Http, network, id("req-\"1\"")),
        Whence(DoorKind::Directory, whole, id(&"r".repeat(64))),
    ];
    let mut rows = sample_without_origins();
    for (row, whence) in rows.iter_mut().zip(origins) {
        row.4 = whence;
    }
    rows
}

/// What the golden file of version 1 holds.
fn sample_without_origins() -> Vec<Row> {
    let front_desk = || "front-desk".to_owned();
    let rows = [
        (1, "local".to_owned(), None, b"book 101".to_vec()),
        (0, "engine".to_owned(), None, vec![]),
        (1, front_desk(), Some("9f-2\"x".to_owned()), vec![0, 255, 7]),
        (1, front_desk(), Some("k".repeat(128)), vec![9; 300]),
    ];
    let unknown = Whence::of(&Origin::UNKNOWN);
    let row =
        |(service, principal, key, payload)| (service, principal, key, payload, unknown.clone());
    rows.map(row).to_vec()
}

fn row() -> impl Strategy<Value = Row> {
    (
        any::<u8>(),
        "[A-Za-z0-9._:-]{1,64}",
        proptest::option::of("[!-~]{1,128}"),
        proptest::collection::vec(any::<u8>(), 0..400),
        whence(),
    )
}

fn whence() -> impl Strategy<Value = Whence> {
    let policies = [
        AddressPolicy::None,
        AddressPolicy::Network,
        AddressPolicy::Whole,
    ];
    let door = (0_u8..10).prop_map(|number| DoorKind::of_number(number).unwrap());
    let address = (any::<IpAddr>(), proptest::sample::select(policies.to_vec()));
    let address = prop_oneof![
        Just(CallerAddress::NONE),
        address.prop_map(|(ip, policy)| CallerAddress::of(ip, policy)),
    ];
    let id = proptest::option::of("[!-~]{1,64}");
    (door, address, id).prop_map(|(door, address, id)| Whence(door, address, id))
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
    bytes[4] = 3;
    let checksum = crc32c::crc32c(&bytes[..HEADER_BYTES - 4]);
    bytes[HEADER_BYTES - 4..].copy_from_slice(&checksum.to_le_bytes());
    assert_eq!(Header::parse(&bytes), Err(Broken::Version(3)));
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
    for other in [Broken::Version(3), Broken::Unknown, Broken::Records] {
        assert!(!other.is_damage(), "{other}");
    }
}

#[test]
fn a_record_whose_origin_has_no_address_and_no_id_takes_three_bytes_more_than_in_version_1() {
    let rows = sample_without_origins();
    let (bytes, _) = build(&rows, LINK);
    let first = golden(1);
    let (old, _seal) = first.split_at(first.len() - HEADER_BYTES);
    assert_eq!(bytes.len(), old.len() + 3 * rows.len());
}

#[test]
fn the_largest_record_has_the_size_that_is_said() {
    let whence = Whence(
        DoorKind::Http,
        address("2001:db8::7", AddressPolicy::Whole),
        Some("r".repeat(64)),
    );
    let row = (
        1,
        "p".repeat(64),
        Some("k".repeat(128)),
        vec![9; 65_535],
        whence,
    );
    let (bytes, _) = build(std::slice::from_ref(&row), LINK);
    assert_eq!(bytes.len(), HEADER_BYTES + RECORD_BYTES_MAX);
    let group = Group::parse(&bytes, PLACE, Some(LINK)).unwrap();
    assert_eq!(rows_of(&group), [row]);
}

/// The checksums hold, so another program wrote it.
#[test]
fn an_origin_that_no_version_has_written_is_no_record_and_no_rot() {
    let row = &sample()[..1];
    // Door, class and form of the address, length of the request id.
    let rows = [(5, 10), (6, 4), (6, 0x50), (6, 0x11), (7, 1)];
    for (at, value) in rows {
        let (mut bytes, _) = build(row, LINK);
        bytes[HEADER_BYTES + at] = value;
        let body = crc32c::crc32c(&bytes[HEADER_BYTES..]);
        bytes[52..56].copy_from_slice(&body.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..HEADER_BYTES - 4]);
        bytes[HEADER_BYTES - 4..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
        let read = Group::parse(&bytes, PLACE, Some(LINK)).map(|_group| ());
        assert_eq!(read, Err(Broken::Records), "byte {at}");
    }
}

/// Golden files are written once for each version and never again: this is what version 1 wrote on the
/// day it was released.
#[test]
fn version_1_is_read_for_ever() {
    check_golden(1, &sample_without_origins());
}

/// The file was made from the byte map in `docs/formats/record.md`, not by this code.
#[test]
fn the_bytes_of_version_2_stay_what_they_are() {
    let (group, link) = build(&sample(), LINK);
    let (seal, _) = seal(behind(&group), link);
    assert_eq!(hex(&[group, seal].concat()), hex(&golden(2)));
    check_golden(2, &sample());
    assert_eq!(VERSION, 2, "a new version has a golden file of its own");
}

/// A golden file holds these rows in one group, and a seal.
fn check_golden(version: u16, rows: &[Row]) {
    let bytes = golden(version);
    let group = Group::parse(&bytes, PLACE, Some(LINK)).unwrap();
    assert_eq!(group.header().version, version);
    assert_eq!(rows_of(&group), rows);
    let (group_bytes, rest) = bytes.split_at(group.header().group_bytes());
    let seal = Group::parse(rest, behind(group_bytes), Some(group.header().link())).unwrap();
    assert!(seal.is_seal());
}

/// The place behind a group.
fn behind(group: &[u8]) -> Place {
    Place {
        offset: PLACE.offset + u32::try_from(group.len()).unwrap(),
        ..PLACE
    }
}

fn golden(version: u16) -> Vec<u8> {
    let name = format!("golden/group-{version}.hex");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    unhex(&fs::read_to_string(path).unwrap())
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
