//! Nodes of two versions on one log: what the older one cannot read is not written, until it can.

use std::env;

use turnstile_client::{Connection, resp::Value};
use turnstile_tests::Turnstile;

use crate::{
    cluster::{NodePlace, end_all, make_room},
    cluster_snapshots::{figure, scene},
    crash::listing::{ask, connect},
};

/// Names a program of an earlier version for a night run. By day one node is told to be like it.
const OLDER: &str = "TURNSTILE_TEST_OLDER";

/// More entries than lie between two snapshots.
const ROUNDS: usize = 150;

/// A node that reads entries of version 1 and no newer ones.
fn start_older(place: &NodePlace) -> Turnstile {
    let mut place = place.clone();
    let Some(program) = env::var_os(OLDER) else {
        place.set("--cluster-entry-version", "1");
        return place.start();
    };
    // It knows no snapshots of a cluster.
    place.unset("--cluster-snapshot-entries");
    Turnstile::begin_program(&program, &place.data, &place.arguments).ready()
}

fn words(connection: &mut Connection, words: &[&str]) -> Value {
    ask(connection, words).unwrap_or_else(|why| panic!("{why}"))
}

/// The version in which a node writes entries.
fn written(connection: &mut Connection) -> u64 {
    let told = words(connection, &["CLUSTER", "STATUS"]);
    let told = told.as_str().expect("a text");
    let told: serde_json::Value = serde_json::from_str(told).expect("JSON");
    told["entry_version"].as_u64().expect("a number")
}

/// Has each node add properties, one entry after the other.
fn add(nodes: &[&Turnstile], name: &str) {
    let mut connections: Vec<_> = nodes
        .iter()
        .map(|node| connect(node.resp()).expect("a node"))
        .collect();
    for round in 0..ROUNDS {
        for (number, connection) in connections.iter_mut().enumerate() {
            let property = format!("{name}-{number}-{round}");
            words(connection, &["ROOMS.ADD-PROPERTY", &property, "OPEN"]);
        }
    }
}

#[test]
fn nothing_is_written_that_a_node_of_an_older_version_cannot_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_brokers, places) = scene::<3>(folder.path(), "268435456");
    std::fs::create_dir(&places[0].data).expect("a folder for a node");
    // The older program began the cluster. One node keeps it while the others are renewed.
    let older = start_older(&places[0]);
    let newer: Vec<_> = places[1..]
        .iter()
        .enumerate()
        .map(|(number, place)| {
            make_room(&place.data, &places[0].data);
            let before = start_older(place);
            add(&[&before], &format!("first-{number}"));
            assert!(before.stop().success(), "the older node ends well");
            place.start()
        })
        .collect();
    add(&[&older, &newer[0], &newer[1]], "old");
    let mut connection = connect(newer[0].resp()).expect("a node");
    assert_eq!(written(&mut connection), 1, "one node reads nothing newer");
    // Claims of snapshots are records of version 2.
    for name in ["cluster_snapshot_entry", "cluster_snapshots_failed"] {
        assert_eq!(figure(&mut connection, name), 0, "{name}");
    }
    let mut at_older = connect(older.resp()).expect("a node");
    let known = words(&mut at_older, &["ROOMS.GET-TOTALS"]);
    let known = known.at("properties").and_then(Value::as_integer);
    assert_eq!(known, Some(5 * i64::try_from(ROUNDS).expect("a number")));
    // With its program renewed, all read the newer version, and what needs it begins by itself.
    assert!(older.stop().success(), "the older node ends well");
    let renewed = places[0].start();
    while written(&mut connection) < 2 || figure(&mut connection, "cluster_snapshot_entry") == 0 {
        add(
            &[&renewed],
            &format!("new-{}", figure(&mut connection, "cluster_entry")),
        );
    }
    // There is no way back: the older program stops when it meets what it cannot read.
    assert!(renewed.stop().success(), "the node ends well");
    let mut place = places[0].clone();
    place.set("--cluster-entry-version", "1");
    let refused = Turnstile::begin(&place.data, &place.arguments);
    words(&mut connection, &["ROOMS.ADD-PROPERTY", "last", "OPEN"]);
    assert!(!refused.ended().success(), "it is too old");
    end_all(newer, places[1..].iter().map(|place| place.data.clone()));
}
