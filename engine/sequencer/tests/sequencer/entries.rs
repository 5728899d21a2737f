//! Entries of a shared log: every server that applies them comes to the same state, whatever its own
//! disk did meanwhile.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use proptest::prelude::*;
use turnstile_journal::{FaultyDisk, Journal, Log};
use turnstile_record::{
    ENTRY_VERSION, EntryBuilder, EntryHead, RecordRef, SERVICE_ENGINE, SharedEntry,
};
use turnstile_sequencer::{
    EntryFate, ExecuteError, NotOrdered, Reply, Sequencer, SharedPlace, SnapshotStep, State,
};
use turnstile_types::{Author, Key, Machine as _, Name, Position, Principal, Timestamp};

use crate::{
    rules::{bytes_of, in_memory, on_disk},
    seats::{Outcome, Seats, Take},
};

/// One entry: its time, and for each record a seat, for how long, and perhaps a key.
type Asked = (u64, Vec<(u64, u64, Option<u8>)>);

fn entry(number: u64, (time, records): &Asked) -> Vec<u8> {
    let principal = Principal::local();
    let mut builder = EntryBuilder::default();
    for &(seat, ms, key) in records {
        let mut payload = Vec::new();
        let command = Take {
            seat,
            ms,
            padding: 0,
        };
        Seats::encode_command(&command, &mut payload);
        let key = key.map(|key| key.to_string());
        let key = key.as_ref().map(|key| Key::parse(key.as_bytes()).unwrap());
        builder.push(&RecordRef {
            service: Seats::SERVICE,
            author: Author::server(&principal),
            key,
            payload: &payload,
        });
    }
    let head = EntryHead {
        node: Name::parse(b"n1").unwrap(),
        incarnation: 1,
        number,
        epoch: Position(0),
        installation: 5,
        applied: (0, 0),
        version: 1,
        reads: 1,
    };
    builder.finish(&head, Timestamp(*time))
}

type Told = Vec<Result<Reply<Outcome>, ExecuteError>>;

fn apply<L: Log>(sequencer: &mut Sequencer<Seats, L>, sequence: u64, asked: &Asked) -> Told {
    let mut told = Vec::new();
    let bytes = entry(sequence, asked);
    let entry = SharedEntry::parse(&bytes).unwrap();
    let mut seen = Vec::new();
    let mut witness = |state: &State<Seats>, outcome: Option<Result<Reply<&[u8]>, _>>| {
        seen.push(state.position());
        let decode = |bytes: &[u8]| Seats::decode_outcome(bytes).unwrap();
        told.extend(outcome.map(|outcome| outcome.map(|reply| reply.map(decode))));
    };
    let before = sequencer.state().position();
    let decided = sequencer.apply_entry(sequence, &entry, Some(&mut witness));
    // The first look is behind the mark of the entry, each other behind its record.
    assert_eq!(seen.first(), Some(&before.next()));
    for (seen, told) in seen.iter().skip(1).zip(&told) {
        if let Ok(Reply {
            position,
            replayed: false,
            ..
        }) = told
        {
            assert_eq!(seen, position);
        }
    }
    assert_eq!(seen.len(), told.len() + 1);
    assert_eq!(decided, Ok(EntryFate::Decided));
    told
}

fn told(position: u64, replayed: bool, outcome: Outcome) -> Result<Reply<Outcome>, ExecuteError> {
    Ok(Reply {
        position: Position(position),
        replayed,
        outcome,
    })
}

#[test]
fn an_entry_is_decided_as_commands_are_behind_what_is_due() {
    let mut sequencer = in_memory();
    let first = (10, vec![(7, 5, Some(1)), (7, 0, None)]);
    assert_eq!(
        apply(&mut sequencer, 4, &first),
        [
            told(2, false, Outcome::Taken),
            told(3, false, Outcome::Refused(Position(2)))
        ]
    );
    // The clock of this proposer is behind, and its key is known from another server.
    let second = (3, vec![(7, 5, Some(1)), (8, 0, Some(1)), (7, 0, None)]);
    assert_eq!(
        apply(&mut sequencer, 5, &second),
        [
            told(2, true, Outcome::Taken),
            Err(ExecuteError::KeyReused { first: Position(2) }),
            told(5, false, Outcome::Refused(Position(2))),
        ]
    );
    let third = (15, vec![(7, 0, None)]);
    assert_eq!(
        apply(&mut sequencer, 6, &third),
        [told(7, false, Outcome::Taken)]
    );
    assert_eq!(sequencer.state().time(), Timestamp(15));
}

#[test]
fn a_key_without_room_is_not_proposed_and_decided_when_it_was() {
    let mut sequencer = in_memory();
    sequencer.limit_keys(1);
    let (principal, key) = (Principal::local(), Key::parse(b"1").unwrap());
    let now = Timestamp(10);
    let checked = sequencer.check_key(now, &principal, key);
    assert!(matches!(checked, Err(ExecuteError::KeysFull { .. })));
    let asked = (10, vec![(7, 0, Some(1))]);
    assert_eq!(
        apply(&mut sequencer, 1, &asked),
        [told(2, false, Outcome::Taken)]
    );
    assert_eq!(
        sequencer.check_key(now, &principal, key),
        Ok(()),
        "it is known"
    );
}

#[test]
fn an_entry_that_comes_again_is_void() {
    let mut sequencer = in_memory();
    apply(&mut sequencer, 1, &(10, vec![(7, 0, None)]));
    let bytes = entry(1, &(10, vec![(7, 0, None)]));
    let again = SharedEntry::parse(&bytes).unwrap();
    let fate = sequencer.apply_entry(2, &again, None);
    assert_eq!(fate, Ok(EntryFate::Repeated));
    assert_eq!(
        sequencer.state().position(),
        Position(3),
        "only its mark is there"
    );
    apply(&mut sequencer, 3, &(10, vec![(8, 0, None)]));
}

#[test]
fn an_entry_out_of_its_order_stops_the_server() {
    let mut sequencer = in_memory();
    apply(&mut sequencer, 4, &(10, vec![(7, 0, None)]));
    let bytes = entry(5, &(10, vec![(8, 0, None)]));
    let behind = SharedEntry::parse(&bytes).unwrap();
    for (found, expected) in [(4, 5), (6, 5)] {
        let gap = Err(NotOrdered::Gap { expected, found });
        assert_eq!(sequencer.apply_entry(found, &behind, None), gap);
    }
    assert!(sequencer.commit().is_err());
}

#[test]
fn a_place_of_the_version_without_snapshots_is_read() {
    let mut sequencer = in_memory();
    apply(&mut sequencer, 4, &(10, vec![(7, 0, Some(1))]));
    let bytes = bytes_of(sequencer.state());
    // Version, position, time and four numbers; then two bytes for no snapshots and no claim, and two
    // for the version that may be written; then one server: count, name, three numbers, and what is new.
    let (place, runs) = (1 + 2 * 8 + 4 * 8, 8 + (2 + 2) + 3 * 8);
    assert_eq!((bytes[0], &bytes[place..place + 4]), (4, &[0, 0, 1, 0][..]));
    let news = place + 4 + runs;
    let rest = news + 2 * 8 + 2 + 8;
    let old = [
        &[3],
        &bytes[1..place],
        &bytes[place + 4..news],
        &bytes[rest..],
    ]
    .concat();
    let restored = State::<Seats>::restore(turnstile_types::Reader::new(&old)).unwrap();
    let place = |state: &State<Seats>| {
        let place = state.shared().cloned().unwrap();
        (
            place.sequence,
            place.chain,
            place.incarnation(&Name::parse(b"n1").unwrap()),
        )
    };
    assert_eq!(place(&restored), place(sequencer.state()));
    assert_eq!(bytes_of(&restored).len(), bytes.len(), "it is written anew");
}

/// An entry without records, as any node of a log may send it.
fn entry_of(node: &str, (number, version): (u64, u16)) -> Vec<u8> {
    let head = EntryHead {
        node: Name::parse(node.as_bytes()).unwrap(),
        incarnation: 1,
        number,
        epoch: Position(0),
        installation: 5,
        applied: (0, 0),
        version,
        reads: version,
    };
    EntryBuilder::default().finish(&head, Timestamp(10))
}

#[test]
fn after_a_restart_the_same_of_too_many_servers_are_known() {
    for version in 1..=ENTRY_VERSION {
        let disk = FaultyDisk::new(3);
        let mut sequencer = on_disk(&disk);
        for sequence in 1..=200_u64 {
            // One lives all the time, and each of the others says one thing.
            let (node, number) = match sequence % 9 {
                1 => ("m".to_owned(), 1 + sequence / 9),
                _ => (format!("n{sequence}"), 1),
            };
            let bytes = entry_of(&node, (number, version));
            let entry = SharedEntry::parse(&bytes).unwrap();
            let fate = sequencer.apply_entry(sequence, &entry, None);
            assert_eq!(fate, Ok(EntryFate::Decided));
        }
        sequencer.commit().unwrap();
        let place = sequencer.state().shared().cloned();
        let known = place.as_ref().map_or(0, |place| place.servers().count());
        assert_eq!(known, 64);
        let m = Name::parse(b"m").unwrap();
        let is_known = place.as_ref().unwrap().incarnation(&m).is_some();
        // Its name is the first, which decides where only runs are compared.
        assert_eq!(is_known, version >= 3, "version {version}");
        drop(sequencer);
        assert_eq!(on_disk(&disk).state().shared(), place.as_ref());
    }
}

/// An entry with one record of the engine.
fn entry_of_engine(payload: &[u8]) -> Vec<u8> {
    let principal = Principal::local();
    let mut builder = EntryBuilder::default();
    builder.push(&RecordRef {
        service: SERVICE_ENGINE,
        author: Author::server(&principal),
        key: None,
        payload,
    });
    let head = EntryHead {
        node: Name::parse(b"n1").unwrap(),
        incarnation: 1,
        number: 1,
        epoch: Position(0),
        installation: 5,
        applied: (0, 0),
        version: 1,
        reads: 1,
    };
    builder.finish(&head, Timestamp(10))
}

#[test]
fn an_entry_may_speak_of_snapshots_and_of_nothing_else_of_the_engine() {
    let claimed = SnapshotStep::Claimed {
        node: Name::parse(b"n1").unwrap(),
        incarnation: 1,
        newest: 0,
    };
    let mut sequencer = in_memory();
    let bytes = entry_of_engine(&claimed.bytes());
    let entry = SharedEntry::parse(&bytes).unwrap();
    let fate = sequencer.apply_entry(8, &entry, None);
    assert_eq!(fate, Ok(EntryFate::Decided));
    let claim = |state: &State<Seats>| {
        let place = state.shared().cloned().unwrap();
        place.snapshots.claim().map(|claim| claim.sequence)
    };
    assert_eq!(claim(sequencer.state()), Some(8));
    // The mark of an entry, the end of a copy, a founding, and something that nobody knows.
    let founding = [6, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0];
    for payload in [&[1, 0][..], &[5], &founding, &[9]] {
        let mut other = in_memory();
        let bytes = entry_of_engine(payload);
        let entry = SharedEntry::parse(&bytes).unwrap();
        let refused = other.apply_entry(8, &entry, None);
        assert!(
            matches!(refused, Err(NotOrdered::Unreadable(_))),
            "{payload:?}"
        );
    }
}

#[test]
fn a_copy_that_is_left_has_the_same_machines_and_no_place() {
    let disk = FaultyDisk::new(3);
    let mut sequencer = on_disk(&disk);
    apply(&mut sequencer, 1, &(10, vec![(7, 50, Some(1))]));
    let machines = turnstile_types::hash_of(sequencer.state().machines());
    sequencer.leave_shared_log().unwrap();
    sequencer.commit().unwrap();
    drop(sequencer);
    let again = on_disk(&disk);
    assert_eq!(again.state().shared(), None);
    assert_eq!(turnstile_types::hash_of(again.state().machines()), machines);
    assert!(again.state().knows(
        Timestamp(10),
        &Principal::local(),
        Key::parse(b"1").unwrap()
    ));
}

fn asked() -> impl Strategy<Value = Asked> {
    let record = (
        0_u64..12,
        prop_oneof![Just(0), 1_u64..40],
        prop::option::of(0_u8..9),
    );
    (0_u64..200, prop::collection::vec(record, 0..6))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn servers_agree_though_one_loses_its_power(
        entries in prop::collection::vec((asked(), any::<u8>()), 1..40),
        seed in any::<u64>(),
    ) {
        let mut one = in_memory();
        let mut disk = FaultyDisk::new(seed);
        let mut other = on_disk(&disk);
        for (at, (asked, fate)) in entries.iter().enumerate() {
            let sequence = 1 + at as u64;
            let told = apply(&mut one, sequence, asked);
            // What it applies again after a crash, it decides as before.
            while next_of(&other) <= sequence {
                let next = next_of(&other);
                let again = apply(&mut other, next, &entries[index_of(next)].0);
                if next == sequence {
                    prop_assert_eq!(&again, &told);
                }
            }
            if fate % 3 == 0 {
                other.commit().unwrap();
            }
            if fate % 5 == 0 {
                drop(other);
                disk.crash();
                other = on_disk(&disk);
                let shared = other.state().shared().cloned();
                prop_assert!(shared.unwrap_or_default().sequence <= sequence);
            }
        }
        while next_of(&other) <= entries.len() as u64 {
            let next = next_of(&other);
            apply(&mut other, next, &entries[index_of(next)].0);
        }
        prop_assert_eq!(other.state().shared(), one.state().shared());
        prop_assert_eq!(bytes_of(other.state()), bytes_of(one.state()));
        let restored = State::<Seats>::restore(
            turnstile_types::Reader::new(&bytes_of(one.state())),
        ).unwrap();
        prop_assert_eq!(restored.shared(), one.state().shared());
    }
}

/// Where an entry stands in its list.
fn index_of(sequence: u64) -> usize {
    usize::try_from(sequence - 1).unwrap()
}

/// The entry that a server needs next.
fn next_of(sequencer: &Sequencer<Seats, Journal<FaultyDisk>>) -> u64 {
    let shared: Option<&SharedPlace> = sequencer.state().shared();
    shared.map_or(1, |shared| shared.sequence + 1)
}
