//! The audit of a directory: every command with its origin, as far back as the journal goes.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::{ops::ControlFlow, path::Path};

use turnstile_embedded::{AuditExtent, Durability, Embedded, Options, audit};
use turnstile_rooms::{Command, Rooms};
use turnstile_types::{
    AddressPolicy, Audited, Author, CallerAddress, DoorKind, Effect, Name, Origin, Position,
    Principal, RequestId, Timestamp,
};

const NOW: Timestamp = Timestamp(1_780_272_000_000);

fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).unwrap()
}

fn open(directory: &Path, snapshot_records: u64) -> Embedded {
    let options = Options {
        segment_bytes: 256 * 1_024,
        snapshot_records,
        ..Options::with(Durability::Os)
    };
    Embedded::open(Some(directory), options).unwrap().0
}

/// Adds a property `bench`, over and over again: all but the first are refused.
fn add(backend: &mut Embedded, (principal, origin): (&str, &Origin<'_>), times: u64) {
    let command = Command::AddProperty {
        property: name("bench"),
        open: true,
    };
    let author = Author {
        principal: &Principal(name(principal)),
        origin,
    };
    for _ in 0..times {
        backend
            .execute::<Rooms>(NOW, author, None, &command, None)
            .unwrap();
    }
    backend.commit().unwrap();
    backend.await_snapshot();
}

/// The extent of an audit, and of each command who sent it, from where, and what it came to.
fn audited(directory: &Path) -> (AuditExtent, Vec<(u64, String, String, Effect)>) {
    let mut commands = Vec::new();
    let extent = audit(directory, |audited| {
        let Audited::Command(command) = audited else {
            panic!("rooms answer at once: {audited:?}");
        };
        let origin = command.origin;
        let id = origin.request_id.map_or("", |id| id.as_str());
        let class = origin.address.class.word();
        let whence = format!(
            "{} {class} {} {id}",
            origin.door.word(),
            origin.address.kept
        );
        let principal = command.principal.to_string();
        commands.push((command.position.0, principal, whence, command.effect));
        ControlFlow::Continue(())
    });
    (extent.unwrap(), commands)
}

#[test]
fn each_command_says_who_sent_it_from_where_and_what_it_came_to() {
    let directory = tempfile::tempdir().unwrap();
    let mut backend = open(directory.path(), 0);
    let origin = Origin {
        door: DoorKind::Http,
        address: CallerAddress::of([203, 0, 113, 7].into(), AddressPolicy::Network),
        request_id: Some(RequestId::parse(b"req-1").unwrap()),
    };
    add(&mut backend, ("ada", &origin), 1);
    add(&mut backend, ("bob", &Origin::UNKNOWN), 1);
    backend.close().unwrap();
    let (extent, commands) = audited(directory.path());
    let expected = AuditExtent {
        from: Position(0),
        last: Position(2),
        is_live: false,
        torn_bytes: 0,
    };
    assert_eq!(extent, expected);
    let row = |position, principal: &str, whence: &str, effect| {
        (position, principal.to_owned(), whence.to_owned(), effect)
    };
    let whence = "http public 203.0.113.0/24 req-1";
    let rows = [
        row(1, "ada", whence, Effect::Done),
        row(2, "bob", "unknown none  ", Effect::Refused),
    ];
    assert_eq!(commands, rows);
}

#[test]
fn an_audit_ends_when_its_caller_has_enough() {
    let directory = tempfile::tempdir().unwrap();
    let mut backend = open(directory.path(), 0);
    add(&mut backend, ("ada", &Origin::UNKNOWN), 5);
    backend.close().unwrap();
    let mut seen = 0;
    let extent = audit(directory.path(), |_audited| {
        seen += 1;
        ControlFlow::Break(())
    });
    assert_eq!((seen, extent.unwrap().last), (1, Position(5)));
}

#[test]
fn where_old_segments_were_removed_an_audit_begins_with_the_oldest_snapshot() {
    let directory = tempfile::tempdir().unwrap();
    let mut backend = open(directory.path(), 4_000);
    let times = 20_000;
    for _ in 0..5 {
        add(&mut backend, ("ada", &Origin::UNKNOWN), times / 5);
    }
    backend.close().unwrap();
    assert!(!directory.path().join("segment-00000001").exists());
    let (extent, commands) = audited(directory.path());
    let from = extent.from.0;
    assert!(0 < from && from < times, "{extent:?}");
    assert_eq!(extent.last, Position(times));
    let positions: Vec<u64> = commands.iter().map(|(position, ..)| *position).collect();
    assert_eq!(positions, (from + 1..=times).collect::<Vec<_>>());
    // The snapshot knows the property.
    assert!(
        commands
            .iter()
            .all(|(.., effect)| *effect == Effect::Refused)
    );
}

#[test]
fn a_directory_in_use_is_read_up_to_what_was_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options::with(Durability::Sync);
    let (mut backend, _recovery) = Embedded::open(Some(directory.path()), options).unwrap();
    for times in 1..4 {
        add(&mut backend, ("ada", &Origin::UNKNOWN), 1);
        let (extent, commands) = audited(directory.path());
        assert_eq!((extent.last, extent.is_live), (Position(times), true));
        assert_eq!(commands.len() as u64, times);
    }
    backend.close().unwrap();
    assert!(!audited(directory.path()).0.is_live);
}
