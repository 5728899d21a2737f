//! Nodes whose log begins with snapshots: new ones, ones that were away or lost their directory, and what
//! becomes of a log that fills.

use std::{collections::BTreeMap, fs, net::SocketAddr, path::Path, thread, time::Duration};

use turnstile_brokers::{Brokers, BrokersSetup};
use turnstile_client::{Connection, resp::Value};
use turnstile_embedded::leave_cluster;
use turnstile_jetstream::{
    BrokerLogin, BrokerTimeouts, LogSettings, SnapshotStore, StoredSnapshot,
};
use turnstile_tests::{Turnstile, call, run};

use crate::{
    cluster::{NodePlace, copy_folder, make_room, server},
    crash::listing::{ask, connect},
};

/// Entries from one snapshot to the next.
const SNAPSHOT_ENTRIES: &str = "100";

/// More commands than any log here needs until it was purged twice.
const COMMANDS_MAX: u32 = 20_000;

/// One broker, and the places of so many nodes on it.
pub(crate) fn scene<const NODES: usize>(
    folder: &Path,
    stream_bytes: &str,
) -> (Brokers, [NodePlace; NODES]) {
    let started = Brokers::start(&server(), folder, &BrokersSetup::of(1));
    let brokers = started.expect("a broker starts");
    let places = std::array::from_fn(|number| {
        let mut place = NodePlace::of(folder, &brokers, number);
        let more = [
            ("--cluster-replicas", "1"),
            ("--cluster-snapshot-entries", SNAPSHOT_ENTRIES),
            ("--cluster-stream-bytes", stream_bytes),
        ];
        for (flag, value) in more {
            place.set(flag, value);
        }
        place
    });
    (brokers, places)
}

/// Starts the first node of a cluster, and has it purge the beginning of the log.
fn first_node_behind_a_purge(place: &NodePlace) -> (Turnstile, Additions) {
    fs::create_dir(&place.data).expect("a folder for a node");
    let node = place.start();
    let mut additions = Additions { count: 0 };
    additions.until_purged(&mut connect(node.resp()).expect("a node"), 1);
    (node, additions)
}

/// A figure of `INFO cluster`.
pub(crate) fn figure(connection: &mut Connection, name: &str) -> u64 {
    let facts = ask(connection, &["INFO", "cluster"]).expect("facts");
    let facts = facts.as_str().unwrap_or_default().to_owned();
    let found = facts
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(fact, _)| *fact == name);
    let (_, value) = found.unwrap_or_else(|| panic!("no {name} in {facts}"));
    value.trim().parse().expect("a number")
}

/// Properties that were added, so that what a node knows can be judged.
pub(crate) struct Additions {
    pub(crate) count: u32,
}

impl Additions {
    pub(crate) fn add(&mut self, connection: &mut Connection) {
        let name = format!("p{:06}", self.count);
        ask(connection, &["ROOMS.ADD-PROPERTY", &name]).expect("a new property");
        self.count += 1;
    }

    /// Adds until the log has let go entries beyond `before`; says which is the first.
    fn until_purged(&mut self, connection: &mut Connection, before: u64) -> u64 {
        for _ in 0..COMMANDS_MAX {
            self.add(connection);
            let first = figure(connection, "cluster_log_first_entry");
            if first > before {
                return first;
            }
        }
        panic!("nothing was purged beyond {before}");
    }

    /// A node has them all.
    pub(crate) fn check(&self, address: SocketAddr) {
        let mut connection = connect(address).expect("a node");
        assert_eq!(properties(&mut connection), u64::from(self.count));
    }
}

fn properties(connection: &mut Connection) -> u64 {
    let totals = ask(connection, &["ROOMS.GET-TOTALS"]).expect("totals");
    let properties = totals.at("properties").and_then(Value::as_integer);
    let properties = properties.expect("a number of properties");
    properties.try_into().expect("no less than none")
}

#[test]
fn nodes_join_behind_a_purge_whatever_they_had_before() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_brokers, places) = scene::<3>(folder.path(), "268435456");
    fs::create_dir(&places[0].data).expect("a folder for a node");
    let first = places[0].start();
    make_room(&places[1].data, &places[0].data);
    let away = places[1].start();
    let mut connection = connect(first.resp()).expect("a node");
    let mut additions = Additions { count: 0 };
    additions.add(&mut connection);
    additions.check(away.resp());
    assert!(away.stop().success(), "a node ends well");
    let backup = folder.path().join("backup");
    copy_folder(&places[1].data, &backup);
    let second = places[1].start();
    let purged = additions.until_purged(&mut connection, 2);
    assert!(second.stop().success(), "a node ends well");
    // It comes back with what it had long ago.
    fs::remove_dir_all(&places[1].data).expect("a folder");
    copy_folder(&backup, &places[1].data);
    let again = places[1].start();
    additions.check(again.resp());
    make_room(&places[2].data, &places[0].data);
    let new = places[2].start();
    additions.check(new.resp());
    // The new ones go on as any other.
    let purged = additions.until_purged(&mut connect(new.resp()).expect("a node"), purged);
    // One loses its directory, and another its life in the middle of all.
    again.kill();
    make_room(&places[1].data, &places[0].data);
    let again = places[1].start();
    new.kill();
    let new = places[2].start();
    additions.until_purged(&mut connection, purged);
    for node in [&first, &again, &new] {
        additions.check(node.resp());
    }
    for node in [first, again, new] {
        assert!(node.stop().success(), "a node ends well");
    }
    for place in &places {
        let verified = run(&["verify"], &place.data);
        assert!(verified.status.success(), "{verified:?}");
    }
}

#[test]
fn a_node_that_is_killed_while_it_joins_starts_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_brokers, places) = scene::<2>(folder.path(), "268435456");
    let (first, additions) = first_node_behind_a_purge(&places[0]);
    let has = |beginning: &str| {
        let entries = fs::read_dir(&places[1].data).expect("a folder");
        let mut names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
        names.any(|name| name.to_string_lossy().starts_with(beginning))
    };
    let phases: [&dyn Fn() -> bool; 6] = [
        &|| has("segment-"),
        &|| has("unfinished-join"),
        &|| has("snapshot-") && has("unfinished-join"),
        &|| has("segment-00000002"),
        &|| has("snapshot-") && !has("unfinished-join"),
        &|| has("shared-log"),
    ];
    for (number, is_there) in phases.iter().enumerate() {
        make_room(&places[1].data, &places[0].data);
        let starting = Turnstile::begin(&places[1].data, &places[1].arguments);
        let mut looks = 0_u64;
        while !is_there() {
            // A phase may be over before it is seen.
            if has("shared-log") {
                break;
            }
            looks += 1;
            assert!(looks < u64::MAX, "phase {number}");
            thread::yield_now();
        }
        drop(starting);
        let node = places[1].start();
        additions.check(node.resp());
        assert!(node.stop().success(), "a node ends well");
        let verified = run(&["verify"], &places[1].data);
        assert!(verified.status.success(), "phase {number}: {verified:?}");
    }
    assert!(first.stop().success(), "a node ends well");
}

/// The store as a node has it.
pub(crate) fn store(brokers: &Brokers) -> SnapshotStore {
    SnapshotStore::open(&store_settings(brokers)).expect("a store")
}

fn store_settings(brokers: &Brokers) -> LogSettings {
    LogSettings {
        servers: brokers
            .urls()
            .iter()
            .map(|url| url.parse().expect("a URL"))
            .collect(),
        monitors: Vec::new(),
        partition: "main".parse().expect("a name"),
        node: "test".parse().expect("a name"),
        replicas: 1,
        stream_bytes_max: 268_435_456,
        snapshot_bytes_max: 268_435_456,
        snapshot_entries: 100,
        entry_version_max: None,
        login: BrokerLogin::None,
        tls: None,
        timeouts: BrokerTimeouts::USUAL,
    }
}

/// Nodes may end behind the last byte of a snapshot and before the order has it.
#[test]
fn a_store_that_is_full_of_snapshots_nobody_knows_takes_the_next_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (brokers, [mut place]) = scene::<1>(folder.path(), "268435456");
    let bytes_max = 16 << 20;
    place.set("--cluster-snapshot-bytes", &bytes_max.to_string());
    let (node, mut additions) = first_node_behind_a_purge(&place);
    let mut connection = connect(node.resp()).expect("a node");
    let newest = figure(&mut connection, "cluster_snapshot_entry");
    let mut settings = store_settings(&brokers);
    settings.timeouts.open = Duration::from_secs(2);
    let store = SnapshotStore::of(&settings).expect("a store");
    // Each takes half of the room that is left, if that is enough for it.
    for number in 1..=14 {
        let bytes = vec![7; bytes_max >> number];
        let name = format!("entry-{:020}", newest - number);
        store.put(&name, &BTreeMap::new(), &mut &bytes[..]).ok();
    }
    let full: u64 = store
        .list()
        .expect("a list")
        .iter()
        .map(|stored| stored.bytes)
        .sum();
    assert!(full > 15 << 20, "{full} bytes");
    let is_newer =
        |connection: &mut Connection| figure(connection, "cluster_snapshot_entry") > newest;
    for _ in 0..COMMANDS_MAX {
        if is_newer(&mut connection) {
            break;
        }
        additions.add(&mut connection);
    }
    assert!(is_newer(&mut connection), "no snapshot is stored");
    let left: u64 = store
        .list()
        .expect("a list")
        .iter()
        .map(|stored| stored.bytes)
        .sum();
    assert!(left < 1 << 20, "{left} bytes");
    additions.check(node.resp());
    assert!(node.stop().success(), "a node ends well");
}

#[test]
fn snapshots_that_do_not_serve_are_passed_over() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (brokers, places) = scene::<2>(folder.path(), "268435456");
    let (first, additions) = first_node_behind_a_purge(&places[0]);
    let store = store(&brokers);
    let newest = || {
        let listed = store.list().expect("a list");
        listed.into_iter().next_back().expect("a snapshot")
    };
    let sound: StoredSnapshot = newest();
    let mut bytes = Vec::new();
    store.get(&sound.name, &mut bytes).expect("it is there");
    let with = |word: &str, value: &str| -> BTreeMap<String, String> {
        let mut metadata = sound.metadata.clone();
        metadata.insert(word.to_owned(), value.to_owned());
        metadata
    };
    let mut connection = connect(first.resp()).expect("a node");
    let last = figure(&mut connection, "cluster_entry");
    let name = |entry: u64| format!("entry-{entry:020}");
    let half = &bytes[..bytes.len() / 2];
    let mut flipped = bytes.clone();
    flipped[bytes.len() - 3] ^= 1;
    // The newest of all are half a snapshot, one with a flipped bit, one of another log, one of another
    // secret, one that says to be another's, and one from the future.
    for (entry, metadata, bytes) in [
        (last, sound.metadata.clone(), half),
        (last - 1, sound.metadata.clone(), &flipped[..]),
        (last - 2, with("stream", "another"), &bytes[..]),
        (last - 3, with("secret", "00000000000000aa"), &bytes[..]),
        (last - 4, sound.metadata.clone(), &bytes[..]),
        (last + 1_000_000, sound.metadata.clone(), &bytes[..]),
    ] {
        let put = store.put(&name(entry), &metadata, &mut &*bytes);
        put.expect("it is stored");
    }
    make_room(&places[1].data, &places[0].data);
    let new = places[1].start();
    additions.check(new.resp());
    for node in [first, new] {
        assert!(node.stop().success(), "a node ends well");
    }
}

#[test]
fn without_a_snapshot_that_serves_a_new_node_says_why_it_does_not_join() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (brokers, places) = scene::<2>(folder.path(), "268435456");
    let (first, additions) = first_node_behind_a_purge(&places[0]);
    // It has another secret.
    fs::create_dir(&places[1].data).expect("a folder for a node");
    let stranger = Turnstile::begin(&places[1].data, &places[1].arguments);
    assert!(!stranger.ended().success(), "it stops");
    // With the right one it joins.
    make_room(&places[1].data, &places[0].data);
    let new = places[1].start();
    additions.check(new.resp());
    assert!(new.stop().success(), "a node ends well");
    // Nothing is left to join from.
    let store = store(&brokers);
    for snapshot in store.list().expect("a list") {
        assert!(store.delete(&snapshot.name).expect("it goes"));
    }
    make_room(&places[1].data, &places[0].data);
    let new = Turnstile::begin(&places[1].data, &places[1].arguments);
    assert!(!new.ended().success(), "it stops");
    assert!(first.stop().success(), "a node ends well");
}

#[test]
fn a_server_with_data_begins_a_cluster_and_a_node_leaves_with_all_of_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_brokers, places) = scene::<2>(folder.path(), "268435456");
    fs::create_dir(&places[0].data).expect("a folder for a server");
    let alone = Turnstile::serve(&places[0].data, "sync");
    let mut additions = Additions { count: 0 };
    for _ in 0..5 {
        additions.add(&mut connect(alone.resp()).expect("a server"));
    }
    assert!(alone.stop().success(), "it ends well");
    let first = places[0].start();
    make_room(&places[1].data, &places[0].data);
    // Nothing but the secret was given to this one.
    let other = places[1].start();
    additions.check(other.resp());
    for node in [&first, &other] {
        additions.add(&mut connect(node.resp()).expect("a node"));
    }
    for node in [&first, &other] {
        additions.check(node.resp());
    }
    for node in [first, other] {
        assert!(node.stop().success(), "a node ends well");
    }
    let left = leave_cluster(&places[1].data).expect("it leaves");
    assert!(left.entry.is_some(), "{left:?}");
    let verified = run(&["verify"], &places[1].data);
    assert!(verified.status.success(), "{verified:?}");
    let alone = Turnstile::serve(&places[1].data, "sync");
    additions.check(alone.resp());
    additions.add(&mut connect(alone.resp()).expect("a server"));
    additions.check(alone.resp());
    assert!(alone.stop().success(), "it ends well");
    // What has gone its own way is no node any more.
    let refused = Turnstile::begin(&places[1].data, &places[1].arguments);
    assert!(!refused.ended().success(), "it is refused");
}

/// Runs a command on two paths, which are its last two options.
fn done(arguments: &[&str], from: &Path, to: &Path) {
    let [from, to] = [from, to].map(|path| path.to_str().expect("a path of letters"));
    let ended = call(&[arguments, &["--from", from, "--to", to]].concat());
    assert!(ended.status.success(), "{ended:?}");
}

#[test]
fn a_backup_of_a_running_node_is_a_node_again_and_can_leave() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_brokers, [place]) = scene::<1>(folder.path(), "268435456");
    fs::create_dir(&place.data).expect("a folder for a node");
    let node = place.start();
    let mut connection = connect(node.resp()).expect("a node");
    let mut additions = Additions { count: 0 };
    let mut add = |additions: &mut Additions| {
        for _ in 0..5 {
            additions.add(&mut connection);
        }
    };
    let backup = folder.path().join("backup");
    add(&mut additions);
    done(&["backup", "--without-id-key"], &place.data, &backup);
    add(&mut additions);
    done(&["backup"], &place.data, &backup);
    let held = additions.count;
    add(&mut additions);
    node.kill();
    let key = folder.path().join("id.key");
    fs::copy(place.data.join("id.key"), &key).expect("the key of the node");
    let restore = ["restore", "--id-key", key.to_str().expect("letters")];
    fs::remove_dir_all(&place.data).expect("the folder of the node");
    done(&restore, &backup, &place.data);
    let node = place.start();
    // The log has what the backup lacks.
    additions.check(node.resp());
    additions.add(&mut connect(node.resp()).expect("a node"));
    additions.check(node.resp());
    assert!(node.stop().success(), "a node ends well");
    let alone = folder.path().join("alone");
    done(&restore, &backup, &alone);
    let refused = Turnstile::begin(&alone, &[]);
    assert!(!refused.ended().success(), "it is a node's directory");
    leave_cluster(&alone).expect("it leaves");
    let server = Turnstile::serve(&alone, "sync");
    let mut connection = connect(server.resp()).expect("a server");
    assert_eq!(properties(&mut connection), u64::from(held));
    assert!(server.stop().success(), "it ends well");
}

/// Sends many commands at once and reads what they come to: how many were done, and how many refused for
/// want of room.
fn pour(connection: &mut Connection, from: u32, count: u32) -> (u32, u32) {
    for number in from..from + count {
        let name = format!("q{number:059}");
        connection.send(&[b"ROOMS.ADD-PROPERTY", name.as_bytes()]);
    }
    connection.flush().expect("a node");
    let (mut done, mut refused) = (0, 0);
    for _ in 0..count {
        match connection.receive().expect("an answer") {
            Value::Error(error) if error.starts_with("UNAVAILABLE") => refused += 1,
            Value::Error(error) => panic!("{error}"),
            _ => done += 1,
        }
    }
    (done, refused)
}

#[test]
fn a_log_that_fills_makes_room_by_itself() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_brokers, mut places) = scene::<2>(folder.path(), "16777216");
    for place in &mut places {
        place.set("--cluster-snapshot-entries", "1000000");
    }
    fs::create_dir(&places[0].data).expect("a folder for a node");
    let first = places[0].start();
    let mut connection = connect(first.resp()).expect("a node");
    let (mut all, mut done, mut refused_on_end) = (0, 0, 0);
    // More than the log can hold.
    while done < 200_000 {
        // While there is no room, it is only asked whether there is some again.
        let count = if refused_on_end == 0 { 1_000 } else { 1 };
        let (more, refused) = pour(&mut connection, all, count);
        all += count;
        done += more;
        refused_on_end = if more == 0 {
            refused_on_end + refused
        } else {
            0
        };
        let bytes = figure(&mut connection, "cluster_log_bytes");
        assert!(bytes < 16_777_216, "{bytes} bytes after {done} commands");
        assert!(
            refused_on_end < 1_000_000,
            "no room comes after {done} commands"
        );
    }
    assert!(figure(&mut connection, "cluster_log_first_entry") > 1);
    assert_eq!(properties(&mut connection), u64::from(done));
    make_room(&places[1].data, &places[0].data);
    let new = places[1].start();
    let mut other = connect(new.resp()).expect("a node");
    assert_eq!(properties(&mut other), u64::from(done));
    for node in [first, new] {
        assert!(node.stop().success(), "a node ends well");
    }
}
