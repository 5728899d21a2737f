//! Snapshots: they come back as they were, or not at all.

use std::{
    collections::BTreeMap,
    io::{self, Read, Write},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use turnstile_brokers::Brokers;
use turnstile_jetstream::{SnapshotError, SnapshotStore};

use crate::{Cluster, node::settings, operate, with_client};

const STREAM: &str = "OBJ_SNAPSHOTS_main";

/// The bytes of a chunk, as the store cuts.
const CHUNK: usize = 512 << 10;

fn store(brokers: &Brokers) -> SnapshotStore {
    SnapshotStore::open(&settings(brokers, "a")).expect("the store opens")
}

fn bytes(length: usize) -> Vec<u8> {
    let number = |place: usize| u8::try_from(place * 7 % 251).expect("it is small");
    (0..length).map(number).collect()
}

fn metadata() -> BTreeMap<String, String> {
    BTreeMap::from([("sequence".to_owned(), "42".to_owned())])
}

/// How many messages the bucket holds, those of chunks and descriptions.
fn messages(brokers: &Brokers) -> u64 {
    let told = operate(brokers, &format!("STREAM.INFO.{STREAM}"), &Value::Null);
    told["state"]["messages"].as_u64().expect("a number")
}

/// Replaces the only chunk of the bucket by one with a flipped bit.
fn flip(brokers: &Brokers) {
    let filter = json!({ "subjects_filter": "$O.SNAPSHOTS_main.C.>" });
    let told = operate(brokers, &format!("STREAM.INFO.{STREAM}"), &filter);
    let subjects = told["state"]["subjects"].as_object().expect("a chunk");
    let subject = subjects.keys().next().expect("a chunk").clone();
    with_client(brokers, async |client| {
        let jetstream = async_nats::jetstream::new(client);
        let stream = jetstream.get_stream(STREAM).await.expect("a bucket");
        let chunk = stream.get_last_raw_message_by_subject(&subject).await;
        let mut bytes = chunk.expect("a chunk").payload.to_vec();
        bytes[100] ^= 1;
        stream
            .purge()
            .filter(&subject)
            .await
            .expect("the chunk goes");
        let published = jetstream.publish(subject.clone(), bytes.into()).await;
        published.expect("it is sent").await.expect("it is stored");
    });
}

/// Bytes, and something that happens before the last of them are read.
struct Interrupted<'a, F> {
    bytes: &'a [u8],
    happens: Option<F>,
    /// How many bytes are left when it happens.
    left: usize,
}

impl<F: FnOnce() -> io::Result<()>> Read for Interrupted<'_, F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.bytes.len() <= self.left
            && let Some(happens) = self.happens.take()
        {
            happens()?;
        }
        self.bytes.read(into)
    }
}

/// Bytes of one chunk, of which a bit flips once they are stored.
struct Flipping<'a> {
    bytes: &'a [u8],
    brokers: &'a Brokers,
    ends: u32,
}

impl Read for Flipping<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(into)?;
        self.ends += u32::from(read == 0);
        // The first end completes the chunk, the second is that of the snapshot.
        if self.ends == 2 {
            flip(self.brokers);
        }
        Ok(read)
    }
}

#[test]
fn a_snapshot_comes_back_as_it_was() {
    let cluster = Cluster::of(3);
    let store = store(&cluster.brokers);
    for (name, length) in [
        ("one", 1),
        ("chunk", CHUNK),
        ("more", CHUNK + 1),
        ("much", 5 * CHUNK - 7),
    ] {
        let given = bytes(length);
        let put = store
            .put(name, &metadata(), &mut &given[..])
            .expect("it is stored");
        assert_eq!((put.name.as_str(), put.bytes), (name, length as u64));
        assert_eq!(put.metadata, metadata());
        let mut taken = Vec::new();
        assert_eq!(store.get(name, &mut taken).expect("it is there"), put);
        assert!(taken == given, "{name}");
    }
    let names = |store: &SnapshotStore| -> Vec<String> {
        let listed = store.list().expect("a list").into_iter();
        listed.map(|snapshot| snapshot.name).collect()
    };
    assert_eq!(names(&store), ["chunk", "more", "much", "one"]);
    assert!(store.delete("much").expect("it goes"));
    assert!(!store.delete("much").expect("it is gone"));
    let gone = store.get("much", &mut io::sink()).expect_err("it is gone");
    assert_eq!(gone.to_string(), "there is no snapshot \"much\"");
    assert_eq!(names(&store), ["chunk", "more", "one"]);
}

#[test]
fn nothing_stays_of_snapshots_that_are_deleted() {
    let cluster = Cluster::of(1);
    let store = store(&cluster.brokers);
    for number in 0..50 {
        let name = format!("s{number}");
        let put = store.put(&name, &metadata(), &mut &bytes(1_000)[..]);
        put.expect("it is stored");
        assert!(store.delete(&name).expect("it goes"));
    }
    assert_eq!(messages(&cluster.brokers), 0);
}

/// Publishes a message into the bucket, as a program does that ends before it has put its snapshot.
fn leave(brokers: &Brokers, subject: &str, bytes: Vec<u8>) {
    with_client(brokers, async |client| {
        let jetstream = async_nats::jetstream::new(client);
        let subject = format!("$O.SNAPSHOTS_main.{subject}");
        let published = jetstream.publish(subject, bytes.into()).await;
        published.expect("it is sent").await.expect("it is stored");
    });
}

#[test]
fn what_ended_uploads_and_earlier_versions_left_is_removed_and_no_more() {
    let cluster = Cluster::of(3);
    let mut settings = settings(&cluster.brokers, "a");
    let usual = store(&cluster.brokers);
    let given = bytes(2 * CHUNK);
    usual
        .put("s", &metadata(), &mut &given[..])
        .expect("it is stored");
    leave(&cluster.brokers, "C.dead", bytes(CHUNK));
    leave(&cluster.brokers, "C.dead", bytes(CHUNK));
    let tombstone = json!({
        "name": "gone", "bucket": "SNAPSHOTS_main", "nuid": "gone", "size": 0, "chunks": 0,
        "mtime": "2026-01-01T00:00:00Z", "digest": "", "deleted": true,
    });
    leave(&cluster.brokers, "M.Z29uZQ==", tombstone.to_string().into());
    usual.forget_leftovers().expect("the brokers answer");
    assert_eq!(
        messages(&cluster.brokers),
        3 + 2,
        "an upload may go on for two minutes without a chunk"
    );
    settings.timeouts.open = Duration::from_secs(1);
    let patient = SnapshotStore::of(&settings).expect("a store");
    let deadline = Instant::now() + Duration::from_secs(60);
    while messages(&cluster.brokers) > 3 {
        assert!(Instant::now() < deadline, "the chunks stay");
        // It may be that no broker answers within a second.
        patient.forget_leftovers().ok();
    }
    let mut taken = Vec::new();
    usual.get("s", &mut taken).expect("it is there");
    assert!(taken == given);
}

/// A bucket has room for three snapshots. One is left by a node that died before the order knew of it, and
/// chunks by another one.
#[test]
fn a_full_bucket_takes_the_next_snapshot_once_leftovers_are_gone() {
    let cluster = Cluster::of(1);
    let mut settings = settings(&cluster.brokers, "a");
    settings.snapshot_bytes_max = 14 * CHUNK as u64;
    settings.timeouts.open = Duration::from_secs(1);
    let opened = SnapshotStore::open(&settings);
    let store = opened.expect("the store opens");
    let given = bytes(4 * CHUNK);
    for name in ["entry-1", "entry-2"] {
        store
            .put(name, &metadata(), &mut &given[..])
            .expect("it is stored");
    }
    for _ in 0..3 {
        leave(&cluster.brokers, "C.dead", bytes(CHUNK));
    }
    let refused = store.put("entry-3", &metadata(), &mut &given[..]);
    refused.expect_err("there is no room");
    assert_eq!(messages(&cluster.brokers), 2 * 5 + 3, "nothing stays of it");
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        store.forget_leftovers().expect("the broker answers");
        if store.put("entry-3", &metadata(), &mut &given[..]).is_ok() {
            break;
        }
        assert!(Instant::now() < deadline, "there is never room");
    }
    assert_eq!(messages(&cluster.brokers), 3 * 5);
}

#[test]
fn a_bucket_without_snapshots_lists_none() {
    let cluster = Cluster::of(1);
    let store = store(&cluster.brokers);
    assert_eq!(store.list().expect("a list"), []);
    assert!(!store.delete("none").expect("there is none"));
}

#[test]
fn the_same_name_again_replaces_a_snapshot() {
    let cluster = Cluster::of(1);
    let store = store(&cluster.brokers);
    for length in [3 * CHUNK, 2 * CHUNK] {
        let given = bytes(length);
        store
            .put("s", &metadata(), &mut &given[..])
            .expect("it is stored");
    }
    assert_eq!(store.list().expect("a list")[0].bytes, 2 * CHUNK as u64);
    assert_eq!(
        messages(&cluster.brokers),
        3,
        "the chunks of the first are gone"
    );
}

#[test]
fn what_cannot_be_a_snapshot_leaves_nothing() {
    let cluster = Cluster::of(1);
    let store = store(&cluster.brokers);
    for (name, given) in [("empty", &b""[..]), ("a b", b"x"), ("", b"x")] {
        let refused = store.put(name, &metadata(), &mut &*given);
        let refused = refused.expect_err("it is none");
        assert!(
            matches!(refused, SnapshotError::Invalid { .. }),
            "{refused}"
        );
    }
    let given = bytes(2 * CHUNK);
    let mut broken = Interrupted {
        bytes: &given,
        happens: Some(|| Err(io::Error::other("the disk is gone"))),
        left: CHUNK,
    };
    let refused = store.put("broken", &metadata(), &mut broken);
    let refused = refused.expect_err("it cannot be read");
    assert_eq!(
        refused.to_string(),
        "the snapshot cannot be read: the disk is gone"
    );
    assert_eq!(messages(&cluster.brokers), 0);
}

#[test]
fn a_bit_that_flips_while_a_snapshot_is_stored_is_found() {
    let cluster = Cluster::of(1);
    let store = store(&cluster.brokers);
    let given = bytes(1_000);
    let mut flipping = Flipping {
        bytes: &given,
        brokers: &cluster.brokers,
        ends: 0,
    };
    let refused = store.put("s", &metadata(), &mut flipping);
    let refused = refused.expect_err("it is read back");
    assert!(
        matches!(refused, SnapshotError::Damaged { .. }),
        "{refused}"
    );
    assert_eq!(store.list().expect("a list"), []);
}

#[test]
fn a_bit_that_flips_later_is_found() {
    let cluster = Cluster::of(1);
    let store = store(&cluster.brokers);
    let given = bytes(1_000);
    store
        .put("s", &metadata(), &mut &given[..])
        .expect("it is stored");
    flip(&cluster.brokers);
    let refused = store.get("s", &mut io::sink()).expect_err("it is damaged");
    assert_eq!(
        refused.to_string(),
        "snapshot \"s\" is damaged: it is not read as it was written"
    );
}

/// Takes bytes, and kills the broker that they come from.
struct Killing<'a>(&'a mut Brokers);

impl Write for Killing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.kill(0);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_snapshot_is_not_damaged_because_brokers_do_not_answer() {
    let mut cluster = Cluster::of(1);
    // More than one request for chunks brings.
    let given = bytes(20 * CHUNK);
    let put = store(&cluster.brokers).put("s", &metadata(), &mut &given[..]);
    put.expect("it is stored");
    let mut hasty = settings(&cluster.brokers, "a");
    hasty.timeouts.request = Duration::from_millis(500);
    let store = SnapshotStore::of(&hasty).expect("a runtime");
    let unanswered = store.get("s", &mut Killing(&mut cluster.brokers));
    let unanswered = unanswered.expect_err("the broker is gone");
    assert!(
        matches!(unanswered, SnapshotError::Unavailable(_)),
        "{unanswered}"
    );
    cluster.brokers.restart(0).expect("a broker starts again");
    cluster.brokers.await_ready().expect("it serves again");
    let mut taken = Vec::new();
    store.get("s", &mut taken).expect("it is there");
    assert!(taken == given);
}

#[test]
fn a_snapshot_is_stored_over_the_death_of_a_leader() {
    let mut cluster = Cluster::of(3);
    let store = store(&cluster.brokers);
    let given = bytes(8 * CHUNK);
    let brokers = &mut cluster.brokers;
    let mut killing = Interrupted {
        bytes: &given,
        happens: Some(|| {
            let leader = brokers
                .await_stream_leader(STREAM)
                .map_err(io::Error::other)?;
            brokers.kill(leader);
            Ok(())
        }),
        left: 4 * CHUNK,
    };
    store
        .put("s", &metadata(), &mut killing)
        .expect("it is stored");
    let mut taken = Vec::new();
    store.get("s", &mut taken).expect("it is there");
    assert!(taken == given);
}

#[test]
fn a_bucket_of_another_kind_is_refused() {
    let cluster = Cluster::of(1);
    let config = json!({
        "name": STREAM,
        "subjects": ["$O.SNAPSHOTS_main.C.>", "$O.SNAPSHOTS_main.M.>"],
        "storage": "file",
        "discard": "new",
        "num_replicas": 1,
        "max_bytes": 256 << 20,
        "max_age": 60_000_000_000_u64,
        "duplicate_window": 60_000_000_000_u64,
        "allow_rollup_hdrs": true,
        "allow_direct": false,
    });
    let made = operate(
        &cluster.brokers,
        &format!("STREAM.CREATE.{STREAM}"),
        &config,
    );
    assert!(made["error"].is_null(), "{made}");
    let refused = SnapshotStore::open(&settings(&cluster.brokers, "a"));
    assert_eq!(
        refused.expect_err("it forgets snapshots").to_string(),
        "this is no store of snapshots: duplicate_window is 60000000000, not 120000000000; max_age \
         is 60000000000, not 0"
    );
}
