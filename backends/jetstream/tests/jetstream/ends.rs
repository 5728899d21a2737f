//! Ends of a log: what makes its promises impossible is told, and nothing comes after it.

use serde_json::{Value, json};
use turnstile_brokers::{Carriage, FaultyPath};
use turnstile_jetstream::{Fatal, OpenLogError, Sequence};

use crate::{
    Cluster,
    faults::wired_node,
    node::{Node, refused, settings},
    operate,
};

/// A node that has so many entries in its log.
fn node_with(cluster: &Cluster, entries: usize) -> Node {
    let mut node = Node::of(&cluster.brokers, "a");
    fill(&mut node, entries);
    node
}

fn fill(node: &mut Node, entries: usize) {
    for _ in 0..entries {
        node.until("room", Node::has_room);
        node.propose();
    }
    node.until_entries(entries);
}

fn set(paths: &[FaultyPath], carriage: Carriage) {
    for path in paths {
        path.set_both(carriage);
        path.reset();
    }
}

fn purge(node: &mut Node, cluster: &Cluster, below: u64) {
    node.log
        .purge_below(Sequence(below))
        .expect("the thread takes orders");
    while operate(&cluster.brokers, "STREAM.INFO.LOG_main", &Value::Null)["state"]["first_seq"]
        != below
    {}
}

#[test]
fn a_node_that_comes_after_a_purge_needs_a_newer_snapshot() {
    let cluster = Cluster::of(3);
    let mut node = node_with(&cluster, 50);
    purge(&mut node, &cluster, 41);
    let settings = settings(&cluster.brokers, "late");
    let refused = refused(settings.clone(), 10, None);
    assert_eq!(
        refused.to_string(),
        "entry 11 was purged, the first is 41: start from a newer snapshot"
    );
    let mut late = Node::open(&settings, 40).expect("nothing is missing");
    late.until_entries(10);
    assert_eq!(late.entries, node.entries[40..]);
    node.propose();
    node.until_entries(51);
    node.check();
}

#[test]
fn a_log_that_is_cut_off_while_others_purge_ends() {
    let cluster = Cluster::of(1);
    let (mut cut, paths) = wired_node(&cluster.brokers, "cut");
    set(&paths, Carriage::Held);
    let mut node = node_with(&cluster, 50);
    purge(&mut node, &cluster, 41);
    set(&paths, Carriage::Open);
    let (wanted, first) = (Sequence(1), Sequence(41));
    assert_eq!(cut.ended(), Fatal::Purged { wanted, first });
    assert!(
        cut.log.next_event().is_none(),
        "nothing comes after the end"
    );
}

#[test]
fn a_stream_that_is_deleted_ends_the_log() {
    let cluster = Cluster::of(1);
    let mut node = node_with(&cluster, 3);
    operate(&cluster.brokers, "STREAM.DELETE.LOG_main", &Value::Null);
    let fatal = node.ended();
    assert_eq!(fatal.to_string(), "stream LOG_main was deleted");
}

#[test]
fn a_stream_that_is_made_anew_is_another_stream() {
    let cluster = Cluster::of(3);
    let (mut node, paths) = wired_node(&cluster.brokers, "a");
    fill(&mut node, 3);
    let ours = node.log.identity().clone();
    // It would see that there is none for a moment.
    set(&paths, Carriage::Held);
    operate(&cluster.brokers, "STREAM.DELETE.LOG_main", &Value::Null);
    let settings = settings(&cluster.brokers, "b");
    let mut other = Node::open(&settings, 0).expect("it makes a stream");
    assert_ne!(other.log.identity(), &ours);
    other.propose();
    other.until_entries(1);
    set(&paths, Carriage::Open);
    let fatal = node.ended();
    assert!(matches!(fatal, Fatal::MadeAnew { .. }), "{fatal}");
    let refused = refused(settings, 0, Some(ours));
    assert!(
        matches!(refused, OpenLogError::Stream(Fatal::MadeAnew { .. })),
        "{refused}"
    );
}

#[test]
fn a_node_makes_no_stream_in_place_of_its_own() {
    let cluster = Cluster::of(1);
    let node = node_with(&cluster, 3);
    let ours = node.log.identity().clone();
    drop(node);
    operate(&cluster.brokers, "STREAM.DELETE.LOG_main", &Value::Null);
    let expected = [
        (Some(ours), "stream LOG_main was deleted"),
        // What it had of the stream is enough to know that there was one.
        (
            None,
            "the stream ends at entry 0, and it had given us 3: the brokers have lost entries",
        ),
    ];
    for (ours, expected) in expected {
        let refused = refused(settings(&cluster.brokers, "a"), 3, ours);
        assert_eq!(refused.to_string(), expected);
    }
    let told = operate(&cluster.brokers, "STREAM.INFO.LOG_main", &Value::Null);
    assert_eq!(told["error"]["err_code"], json!(10_059), "{told}");
}

#[test]
fn a_stream_that_ends_before_what_the_node_has_is_refused() {
    let cluster = Cluster::of(1);
    let node = node_with(&cluster, 3);
    drop(node);
    let refused = refused(settings(&cluster.brokers, "a"), 4, None);
    assert_eq!(
        refused.to_string(),
        "the stream ends at entry 3, and it had given us 4: the brokers have lost entries"
    );
}
