//! What version 1 wrote is read, and written, for ever. The files in `golden/` were made from the
//! byte maps in `docs/formats`, not by this code.

use turnstile_journal::snapshot::{self, Draft};
use turnstile_journal::{
    Disk, FaultyDisk, Founding, Inspected, Journal, Log, OpenError, Report, Room, inspect, take,
};
use turnstile_record::{Group, RecordRef};
use turnstile_types::{
    AddressPolicy, Author, CallerAddress, DoorKind, Origin, Position, Principal, RequestId, Sink,
    Timestamp,
};

use crate::{OPTIONS, commit, history, open};

const JOURNAL: u64 = 0x0123_4567_89ab_cdef;

fn golden(hex: &str) -> Vec<u8> {
    hex.split_ascii_whitespace()
        .map(|digits| u8::from_str_radix(digits, 16).unwrap())
        .collect()
}

fn disk_of_version_1() -> FaultyDisk {
    let disk = FaultyDisk::new(1);
    disk.create("segment-00000001", 8_192).unwrap();
    let header = golden(include_str!("../../golden/segment-1.header.hex"));
    let groups = golden(include_str!("../../golden/segment-1.groups.hex"));
    disk.overwrite("segment-00000001", 0, &header);
    disk.overwrite("segment-00000001", 4_096, &groups);
    disk.sync_directory().unwrap();
    disk
}

#[test]
fn a_segment_of_version_1_opens_and_replays() {
    let disk = disk_of_version_1();
    let report = Report {
        created: false,
        clean: true,
        segments: 1,
        groups: 2,
        records: 3,
        last: Position(3),
        time: Timestamp(1_798_106_645_700),
        cut_bytes: 0,
        cut_at: None,
        acknowledged: None,
        lost: 0,
    };
    let inspected = Inspected {
        journal: JOURNAL,
        report: report.clone(),
    };
    let (found, lock) = inspect(&disk).unwrap().unwrap();
    assert_eq!(found, inspected);
    // Nobody changes a journal while somebody looks at it.
    assert!(matches!(open(&disk), Err(OpenError::Locked)));
    drop(lock);
    let (mut journal, opened) = open(&disk).unwrap();
    assert_eq!((journal.id(), opened), (JOURNAL, report));
    let mut groups = vec![
        vec![b"book 101".to_vec(), b"cancel".to_vec()],
        vec![b"hold".to_vec()],
    ];
    assert_eq!(history(&journal), groups);
    groups.push(vec![b"new".to_vec()]);
    commit(&mut journal, &groups[2]).unwrap();
    assert_eq!(history(&journal), groups);
}

/// Groups of version 1 have records without origins; those that follow are of version 2.
#[test]
fn a_journal_that_begins_with_groups_of_version_1_goes_on_with_version_2() {
    let mut disk = disk_of_version_1();
    let origin = Origin {
        door: DoorKind::Http,
        address: CallerAddress::of([203, 0, 113, 77].into(), AddressPolicy::Network),
        request_id: Some(RequestId::parse(b"req-1").unwrap()),
    };
    let (mut journal, _) = open(&disk).unwrap();
    journal.begin(journal.last_time());
    let record = RecordRef {
        service: 1,
        author: Author {
            principal: &Principal::local(),
            origin: &origin,
        },
        key: None,
        payload: b"new",
    };
    assert_eq!(journal.room(record.size()), Room::Fits);
    journal.push(&record);
    journal.commit().unwrap();
    disk.crash();
    let (mut journal, report) = open(&disk).unwrap();
    assert_eq!(
        (report.last, report.clean, report.cut_bytes),
        (Position(4), false, 0)
    );
    let unknown = (1, Origin::UNKNOWN);
    let mut expected = vec![unknown, unknown, unknown, (2, origin)];
    assert_eq!(origins(&journal), expected);
    // What comes after it goes on, too.
    commit(&mut journal, &[b"newer".to_vec()]).unwrap();
    journal.close().unwrap();
    let (journal, report) = open(&disk).unwrap();
    assert!(report.clean);
    expected.push((2, Origin::UNKNOWN));
    assert_eq!(origins(&journal), expected);
}

/// The version of each record's group, and where the record came from; request ids are those of the
/// test above.
fn origins(journal: &Journal<FaultyDisk>) -> Vec<(u16, Origin<'static>)> {
    let mut origins = Vec::new();
    let each = |group: &Group<'_>| {
        for record in group.records() {
            let origin = record.origin();
            let id = |id: RequestId<'_>| {
                assert_eq!(id.as_str(), "req-1");
                RequestId::parse(b"req-1").unwrap()
            };
            let request_id = origin.request_id.map(id);
            let (door, address) = (origin.door, origin.address);
            let origin = Origin {
                door,
                address,
                request_id,
            };
            origins.push((group.header().version, origin));
        }
        Ok::<(), String>(())
    };
    journal.replay(Position(0), each).unwrap();
    origins
}

#[test]
fn a_segment_is_written_as_version_1() {
    let disk = disk_of_version_1();
    let (mut journal, _) = open(&disk).unwrap();
    commit(&mut journal, &[vec![7; 9_000]]).unwrap();
    // The next segment differs from the golden one in number, length and checksum.
    let header = disk.contents("segment-00000002");
    let expected = golden(include_str!("../../golden/segment-1.header.hex"));
    assert_eq!(header[..14], expected[..14]);
    assert_eq!(header[14..22], [2, 0, 0, 0, 0, 0x40, 0, 0]);
    assert_eq!(header[26..4_096], [0; 4_070]);
    assert_eq!(header[4_096..4_100], *b"TSGR");
}

#[test]
fn a_snapshot_is_read_and_written_as_version_1() {
    let bytes = golden(include_str!("../../golden/snapshot-1.hex"));
    let name = "snapshot-00000000000000000003";
    let disk = disk_of_version_1();
    let mut draft = Draft::begin(
        disk.clone(),
        JOURNAL,
        Position(3),
        Timestamp(1_798_106_645_700),
    );
    draft.put(b"the state");
    let title = draft.finish(5).unwrap();
    assert_eq!(disk.contents(name), bytes);
    let read = snapshot::load(&disk, JOURNAL, Position(3)).unwrap();
    assert_eq!(
        (read.title, read.state.as_slice()),
        (title, &b"the state"[..])
    );
    assert_eq!(snapshot::positions(&disk).unwrap(), [Position(3)]);
}

#[test]
fn looking_at_a_journal_changes_nothing() {
    let disk = FaultyDisk::new(1);
    assert!(inspect(&disk).unwrap().is_none());
    assert_eq!(disk.list().unwrap(), [""; 0]);
    let disk = disk_of_version_1();
    let groups = golden(include_str!("../../golden/segment-1.groups.hex"));
    let torn = 4_096 + groups.len() as u64;
    disk.overwrite("segment-00000001", torn, b"torn");
    let before = disk.contents("segment-00000001");
    let report = inspect(&disk).unwrap().unwrap().0.report;
    assert_eq!((report.cut_bytes, report.clean), (4, false));
    assert_eq!(disk.contents("segment-00000001"), before);
    assert_eq!(disk.list().unwrap(), ["segment-00000001"]);
}

#[test]
fn a_founded_journal_has_the_number_that_was_told_and_goes_on_where_it_shall() {
    let disk = FaultyDisk::new(3);
    let founding = Founding::begin_taken(disk.clone(), take(&disk).unwrap()).unwrap();
    let number = founding.journal();
    let mut draft = Draft::begin(disk.clone(), number, Position(41), Timestamp(7));
    draft.put(b"the state");
    draft.finish(5).unwrap();
    founding
        .finish(OPTIONS.segment_bytes, Position(41), Timestamp(7))
        .unwrap();
    let (journal, report) = open(&disk).unwrap();
    assert_eq!(journal.id(), number);
    assert_eq!((report.last, report.time), (Position(41), Timestamp(7)));
}
