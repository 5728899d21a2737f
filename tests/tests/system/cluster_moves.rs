//! The data of a server moves into a cluster, and that of a node out of it, by the commands for that.

use std::{fs, path::Path, process::Output};

use turnstile_brokers::{Brokers, BrokersSetup};
use turnstile_tests::{Starting, Turnstile, call, run};

use crate::{
    cluster::{NodePlace, make_room, server},
    cluster_snapshots::{Additions, scene, store},
    crash::listing::{ask, connect},
};

/// The digest of a directory that no server uses, which holds together.
fn digest(data: &Path) -> u128 {
    let verdict = turnstile_embedded::verify(data).expect("a directory");
    assert!(verdict.holds(), "{verdict:?}");
    verdict.hash
}

/// Makes the data of a server the beginning of a cluster, by the configuration of a node.
fn move_in(from: &Path, place: &NodePlace) -> Output {
    let mut arguments = vec!["cluster", "move-in", "--from", text(from)];
    arguments.extend(place.arguments.iter().map(String::as_str));
    call(&arguments)
}

fn move_out(data: &Path) -> Output {
    call(&["cluster", "move-out", text(data)])
}

fn text(path: &Path) -> &str {
    path.to_str().expect("folders of tests have plain names")
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Why a command was refused: as a wrong command line is.
fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A server that had some commands, and is stopped.
fn server_with_data(data: &Path, additions: &mut Additions) {
    fs::create_dir(data).expect("a folder for a server");
    let alone = Turnstile::serve(data, "sync");
    for _ in 0..5 {
        additions.add(&mut connect(alone.resp()).expect("a server"));
    }
    assert!(alone.stop().success(), "it ends well");
}

#[test]
fn data_moves_into_a_cluster_and_out_of_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_brokers, places): (Brokers, [_; 2]) = scene(folder.path(), "268435456");
    let from = folder.path().join("alone");
    let mut additions = Additions { count: 0 };
    server_with_data(&from, &mut additions);
    let before = digest(&from);

    let told = printed(&move_in(&from, &places[0]));
    assert!(
        told.starts_with("the cluster main begins at position "),
        "{told}"
    );
    assert!(told.contains("id.key alone"), "{told}");
    assert_eq!(digest(&from), before);

    for place in &places {
        make_room(&place.data, &from);
    }
    let nodes = places.each_ref().map(NodePlace::start);
    for node in &nodes {
        additions.check(node.resp());
    }
    for node in nodes {
        assert!(node.stop().success(), "a node ends well");
    }
    for place in &places {
        assert_eq!(digest(&place.data), before);
    }

    let [stays, leaves] = &places;
    let node = stays.start();
    let mut connection = connect(node.resp()).expect("a node");
    let other = leaves.start();
    additions.add(&mut connection);
    additions.check(other.resp());
    assert!(other.stop().success(), "a node ends well");
    let as_node = digest(&leaves.data);
    let told = printed(&move_out(&leaves.data));
    assert!(told.contains(&format!("hash {as_node:032x}")), "{told}");
    assert!(told.contains(" up to entry "), "{told}");
    assert_eq!(digest(&leaves.data), as_node);
    let verified = run(&["verify"], &leaves.data);
    assert!(verified.status.success(), "{verified:?}");
    let alone = Turnstile::serve(&leaves.data, "sync");
    additions.check(alone.resp());
    assert!(alone.stop().success(), "it ends well");
    // The cluster goes on.
    additions.add(&mut connection);
    additions.check(node.resp());
    assert!(node.stop().success(), "a node ends well");
}

/// Why a node stops that is to join. One that serves instead is ended after a while.
fn stopped(place: &NodePlace) -> String {
    let mut arguments = vec!["serve", "--resp", "127.0.0.1:0", "--http", "off"];
    arguments.extend(["--data", text(&place.data)]);
    arguments.extend(place.arguments.iter().map(String::as_str));
    let output = call(&arguments);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The first entry decides with what a cluster begins. Without the state that moved in, an empty one would
/// begin, which sells again what is sold.
#[test]
fn a_node_that_cannot_have_the_state_that_moved_in_begins_no_empty_cluster() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut brokers, [place]) = scene(folder.path(), "268435456");
    let from = folder.path().join("alone");
    let mut additions = Additions { count: 0 };
    server_with_data(&from, &mut additions);
    printed(&move_in(&from, &place));

    // It makes an id.key of its own.
    fs::create_dir(&place.data).expect("a folder for a node");
    let told = stopped(&place);
    assert!(told.contains("begin without it"), "{told}");
    assert!(told.contains("another id.key"), "{told}");

    let store = store(&brokers);
    let [sound] = &store.list().expect("a list")[..] else {
        panic!("the state that moved in is the only snapshot");
    };
    let mut bytes = Vec::new();
    store.get(&sound.name, &mut bytes).expect("it is there");
    let put = |bytes: &mut &[u8]| {
        let put = store.put(&sound.name, &sound.metadata, bytes);
        put.expect("it is stored");
    };
    put(&mut &bytes[..bytes.len() / 2]);
    make_room(&place.data, &from);
    let told = stopped(&place);
    assert!(told.contains("begin without it"), "{told}");

    let (entries, _) = brokers.stream_size("LOG_main").expect("a size");
    assert_eq!(entries, 0);
    put(&mut &bytes[..]);
    make_room(&place.data, &from);
    let node = place.start();
    additions.check(node.resp());
    assert!(node.stop().success(), "a node ends well");
}

/// Moves data into clusters until one has its log and its store on different brokers; says on which the
/// store is.
fn move_apart(from: &Path, place: &mut NodePlace, brokers: &mut Brokers) -> usize {
    for partition in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        place.set("--cluster-partition", partition);
        printed(&move_in(from, place));
        let mut leader = |stream: String| brokers.await_stream_leader(&stream).expect("a leader");
        let log = leader(format!("LOG_{partition}"));
        let store = leader(format!("OBJ_SNAPSHOTS_{partition}"));
        if log != store {
            return store;
        }
    }
    panic!("the brokers put everything on one of them");
}

/// Starts a node, and waits until it has its log and waits for the store.
fn waiting(place: &NodePlace) -> Starting {
    let mut node = Turnstile::begin(&place.data, &place.arguments);
    let mut connection = connect(node.resp()).expect("a door");
    let mut told = String::new();
    while !told.contains("the brokers do not give what is needed")
        || !place.data.join("shared-log").exists()
    {
        let facts = ask(&mut connection, &["INFO", "persistence"]);
        told = facts.expect("it waits").to_string();
    }
    node
}

#[test]
fn a_node_that_joins_waits_for_the_store_of_snapshots_and_can_be_stopped_meanwhile() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let started = Brokers::start(&server(), folder.path(), &BrokersSetup::of(3));
    let mut brokers = started.expect("brokers start");
    let mut place = NodePlace::of(folder.path(), &brokers, 0);
    place.set("--cluster-replicas", "1");
    let from = folder.path().join("alone");
    let mut additions = Additions { count: 0 };
    server_with_data(&from, &mut additions);
    let away = move_apart(&from, &mut place, &mut brokers);
    brokers.kill(away);
    make_room(&place.data, &from);
    assert!(waiting(&place).stop().success(), "a wait ends well");
    let node = waiting(&place);
    brokers.restart(away).expect("a broker starts again");
    let node = node.ready();
    additions.check(node.resp());
    assert!(node.stop().success(), "a node ends well");
}

#[test]
fn what_can_begin_no_cluster_or_leave_none_is_refused_and_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_brokers, places): (Brokers, [_; 2]) = scene(folder.path(), "268435456");
    let from = folder.path().join("alone");
    server_with_data(&from, &mut Additions { count: 0 });

    let unconfigured = refused(&call(&["cluster", "move-in", "--from", text(&from)]));
    assert!(unconfigured.contains("cluster.nats"), "{unconfigured}");
    let nothing = folder.path().join("nothing");
    let told = refused(&move_in(&nothing, &places[0]));
    assert!(told.contains("it is no data directory"), "{told}");
    assert!(!nothing.exists(), "a mistyped name makes no directory");
    for data in [&nothing, &from] {
        let told = refused(&move_out(data));
        assert!(
            told.contains("it is no node's copy of a shared log"),
            "{told}"
        );
    }

    fs::create_dir(&places[0].data).expect("a folder for a node");
    let node = places[0].start();
    let used = move_out(&places[0].data);
    assert_eq!(used.status.code(), Some(1), "{used:?}");
    let told = refused(&move_in(&from, &places[1]));
    assert!(
        told.contains("the shared log has entries already"),
        "{told}"
    );
    assert!(node.stop().success(), "a node ends well");
    let told = refused(&move_in(&places[0].data, &places[1]));
    assert!(
        told.contains("a node's copy of a shared log already"),
        "{told}"
    );

    // It is the same once it was stopped as a node, and no more once it has left.
    printed(&move_out(&places[0].data));
    let mut elsewhere = places[1].clone();
    elsewhere.set("--cluster-partition", "second");
    printed(&move_in(&places[0].data, &elsewhere));
    make_room(&elsewhere.data, &places[0].data);
    let node = elsewhere.start();
    assert!(node.stop().success(), "a node ends well");
    assert_eq!(digest(&elsewhere.data), digest(&places[0].data));
}
