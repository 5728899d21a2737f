//! Directories of nodes: they begin with a snapshot of their cluster, and leave with their data.

use std::{fs, io::Read as _, path::Path, sync::mpsc::channel};

use turnstile_embedded::{
    ArrivedSnapshot, BackendOpenError, Durability, Embedded, LeaveError, Options, install,
    installation_of, leave_cluster, verify,
};
use turnstile_record::{EntryBuilder, EntryHead, RecordRef, SharedEntry};
use turnstile_replica::{AppliedEntry, ProposalLimits, Replica, ServerRun};
use turnstile_rooms::{Command, Rooms};
use turnstile_types::{Author, Machine as _, Name, Position, Principal, Timestamp, hash_of};

const CLUSTER: Options = Options {
    segment_bytes: 256 * 1024,
    snapshot_records: 0,
    ..Options::with(Durability::Cluster)
};

const ALONE: Options = Options {
    durability: Durability::Sync,
    ..CLUSTER
};

fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).expect("a name of the test")
}

/// The entry that adds a property.
fn entry(number: u64) -> Vec<u8> {
    let principal = Principal::local();
    let command = Command::AddProperty {
        property: name(&format!("p{number}")),
        open: true,
    };
    let mut payload = Vec::new();
    Rooms::encode_command(&command, &mut payload);
    let mut builder = EntryBuilder::default();
    builder.push(&RecordRef {
        service: Rooms::SERVICE,
        author: Author::server(&principal),
        key: None,
        payload: &payload,
    });
    let head = EntryHead {
        node: name("n1"),
        incarnation: 1,
        number,
        epoch: Position(0),
        installation: 5,
        applied: (number - 1, 0),
        version: 1,
        reads: 1,
    };
    builder.finish(&head, Timestamp(1_000 * number))
}

/// Applies entries of a log from the next one that a directory lacks up to this.
fn follow(backend: &mut Embedded, last: u64) {
    let run = ServerRun {
        node: name("n2"),
        incarnation: 1,
        after: 0,
        installation: 5,
        reads: 1,
    };
    let mut replica: Replica<()> = Replica::new(run, ProposalLimits::USUAL);
    let place = backend.sequencer().state().shared();
    for number in place.map_or(1, |place| place.sequence + 1)..=last {
        let bytes = entry(number);
        let applied = backend.apply_entry(&mut replica, (number, &bytes), &mut |_job, _state| {});
        applied.expect("it follows");
        backend.commit().expect("a working disk");
    }
}

/// A node lost its directory while its clock was set back, and took the time for the number of its run:
/// that was lower than the number of its earlier run, and all that it proposed was void.
#[test]
fn a_run_has_a_higher_number_than_any_before_it_whatever_the_clock_says() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut backend = open(directory.path(), CLUSTER);
    let run = ServerRun {
        node: name("n1"),
        incarnation: 0,
        after: 3,
        installation: 5,
        reads: 1,
    };
    let mut replica: Replica<()> = Replica::new(run, ProposalLimits::USUAL);
    let now = Timestamp(9_000);
    for number in 1..=3 {
        let early = replica.propose(now, backend.sequencer().state());
        assert_eq!(early, None, "entry {number} may be of an earlier run");
        let bytes = entry(number);
        let applied = backend.apply_entry(&mut replica, (number, &bytes), &mut |_job, _state| {});
        assert!(matches!(applied, Ok(AppliedEntry::Foreign)), "{applied:?}");
    }
    let first = replica.propose(now, backend.sequencer().state());
    let first = first.expect("a run says at once that it has begun");
    let head = SharedEntry::parse(&first.bytes).expect("an entry").head;
    assert_eq!((head.incarnation, replica.run().incarnation), (2, 2));
    let applied = backend.apply_entry(&mut replica, (4, &first.bytes), &mut |_job, _state| {});
    assert!(matches!(applied, Ok(AppliedEntry::Own)), "{applied:?}");
    // Its own entries do not make it another run.
    let due = replica.put((now, backend.sequencer().state()), &[]);
    replica.wait(due.expect("it is small"), [((), 0)]);
    let second = replica.propose(now, backend.sequencer().state());
    let second = second.expect("somebody waits");
    let head = SharedEntry::parse(&second.bytes).expect("an entry").head;
    assert_eq!((head.incarnation, head.number), (2, 2));
}

fn open(directory: &Path, options: Options) -> Embedded {
    Embedded::open(Some(directory), options)
        .expect("a sound directory")
        .0
}

fn hash(backend: &Embedded) -> u128 {
    hash_of(backend.sequencer().state().machines())
}

/// The bytes of a snapshot of the state as it is.
fn snapshot_of(backend: &mut Embedded) -> Vec<u8> {
    let (tell, told) = channel();
    backend.want_snapshot(move |file| {
        tell.send(file).expect("the test waits");
    });
    let mut file = told.recv().expect("it comes").expect("a snapshot");
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).expect("a file");
    bytes
}

#[test]
fn a_node_leaves_with_the_state_that_it_had() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut backend = open(directory.path(), CLUSTER);
    follow(&mut backend, 7);
    let expected = hash(&backend);
    backend.close().expect("a working disk");
    fs::write(directory.path().join("shared-log"), "1").expect("a file");
    let left = leave_cluster(directory.path()).expect("it leaves");
    assert_eq!((left.entry, left.hash), (Some(7), expected));
    assert!(!directory.path().join("shared-log").exists());
    let verdict = verify(directory.path()).expect("a sound directory");
    assert!(verdict.holds(), "{verdict:?}");
    assert_eq!(verdict.hash, expected);
    // As any other directory, it goes on alone, and does not leave twice.
    let mut backend = open(directory.path(), ALONE);
    assert!(backend.sequencer().state().shared().is_none());
    let add = Command::AddProperty {
        property: name("later"),
        open: true,
    };
    let local = Principal::local();
    let added =
        backend.execute::<Rooms>(Timestamp(9_000), Author::unknown(&local), None, &add, None);
    added.expect("a working disk");
    backend.close().expect("a working disk");
    let again = leave_cluster(directory.path());
    assert!(matches!(again, Err(LeaveError::NotANode)), "{again:?}");
}

#[test]
fn leaving_goes_on_after_a_crash() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut backend = open(directory.path(), CLUSTER);
    follow(&mut backend, 3);
    backend.close().expect("a working disk");
    leave_cluster(directory.path()).expect("it leaves");
    // The file was still there when the power went.
    fs::write(directory.path().join("shared-log"), "1").expect("a file");
    let left = leave_cluster(directory.path()).expect("it goes on");
    assert_eq!(left.entry, None);
    assert!(!directory.path().join("shared-log").exists());
    let nothing = tempfile::tempdir().expect("a directory");
    let refused = leave_cluster(nothing.path());
    assert!(matches!(refused, Err(LeaveError::NotANode)), "{refused:?}");
    let names = fs::read_dir(nothing.path()).expect("a directory").count();
    assert_eq!(names, 0, "nothing was made there");
}

#[test]
fn a_directory_begins_with_a_snapshot_in_the_place_of_all_that_it_had() {
    let one = tempfile::tempdir().expect("a directory");
    let mut first = open(one.path(), CLUSTER);
    follow(&mut first, 40);
    let bytes = snapshot_of(&mut first);
    follow(&mut first, 50);
    let other = tempfile::tempdir().expect("a directory");
    let mut second = open(other.path(), CLUSTER);
    follow(&mut second, 5);
    let secret = second.id_key().installation();
    second.close().expect("a working disk");
    let arrived = ArrivedSnapshot::parse(bytes).expect("it is whole");
    assert_eq!(arrived.place().map(|place| place.sequence), Some(40));
    install(other.path(), &arrived, CLUSTER).expect("a working disk");
    let mut second = open(other.path(), CLUSTER);
    assert_eq!(second.id_key().installation(), secret, "the secret stays");
    follow(&mut second, 50);
    assert_eq!(hash(&second), hash(&first));
    for backend in [first, second] {
        backend.close().expect("a working disk");
    }
    for directory in [&one, &other] {
        let verdict = verify(directory.path()).expect("a sound directory");
        assert!(verdict.holds(), "{verdict:?}");
    }
}

#[test]
fn bytes_that_are_no_whole_snapshot_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut backend = open(directory.path(), CLUSTER);
    follow(&mut backend, 4);
    let whole = snapshot_of(&mut backend);
    assert!(ArrivedSnapshot::parse(whole.clone()).is_ok());
    for length in [0, 10, 61, 62, whole.len() / 2, whole.len() - 1] {
        let cut = ArrivedSnapshot::parse(whole[..length].to_vec());
        assert!(cut.is_err(), "{length} bytes");
    }
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 4;
        let read = ArrivedSnapshot::parse(flipped);
        // The number of its journal alone says nothing of the state, and is in the checksum too.
        assert!(read.is_err(), "byte {at}");
    }
}

#[test]
fn an_unfinished_join_begins_anew_as_a_node_and_is_no_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut backend = open(directory.path(), CLUSTER);
    follow(&mut backend, 4);
    let secret = backend.id_key().installation();
    backend.close().expect("a working disk");
    fs::write(directory.path().join("unfinished-join"), "").expect("a file");
    let alone = Embedded::open(Some(directory.path()), ALONE);
    let told = alone.expect_err("it is no server");
    assert!(
        matches!(told, BackendOpenError::UnfinishedJoin { .. }),
        "{told}"
    );
    let backend = open(directory.path(), CLUSTER);
    assert_eq!(backend.sequencer().state().position(), Position(0));
    assert_eq!(backend.id_key().installation(), secret);
    assert!(!directory.path().join("unfinished-join").exists());
    backend.close().expect("a working disk");
}

#[test]
fn a_snapshot_at_a_start_comes_though_a_reserve_is_just_being_made() {
    let directory = tempfile::tempdir().expect("a directory");
    let options = Options {
        snapshot_records: 500,
        ..CLUSTER
    };
    let mut backend = open(directory.path(), options);
    // The first commit has the reserve made.
    backend.commit().expect("a working disk");
    let file = backend.make_snapshot();
    assert!(file.is_ok(), "{file:?}");
    backend.close().expect("a working disk");
}

#[test]
fn an_installation_is_of_a_state_with_its_position() {
    let directories = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let opened = directories
        .each_ref()
        .map(|directory| open(directory.path(), ALONE));
    let [mut first, mut second] = opened;
    let add = |backend: &mut Embedded, ms: u64| {
        let command = Command::AddProperty {
            property: name("p"),
            open: true,
        };
        let done = backend.execute::<Rooms>(
            Timestamp(ms),
            Author::server(&Principal::local()),
            None,
            &command,
            None,
        );
        done.expect("it is decided");
        backend.commit().expect("a working disk");
    };
    add(&mut first, 5);
    add(&mut second, 5);
    let of = |backend: &Embedded| installation_of(backend.sequencer().state(), 7);
    assert_eq!(of(&first), of(&second));
    // A refusal is a record, and changes no machine.
    add(&mut second, 5);
    assert_eq!(hash(&first), hash(&second));
    assert_ne!(of(&first), of(&second));
    // Who begins with its snapshot is of the same.
    let arrived = ArrivedSnapshot::parse(snapshot_of(&mut second)).expect("it is whole");
    assert_eq!(arrived.installation_under(7), of(&second));
    for backend in [first, second] {
        backend.close().expect("a working disk");
    }
}
