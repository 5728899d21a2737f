//! Order: all nodes see the same entries in the same places, each once.

use std::time::Duration;

use turnstile_jetstream::{LogEvent, Sequence};

use crate::{
    Cluster,
    node::{Node, settings},
};

#[test]
fn all_nodes_see_the_same_entries_in_the_same_order() {
    const EACH: usize = 300;
    let cluster = Cluster::of(3);
    let mut nodes = ["a", "b", "c"].map(|name| Node::of(&cluster.brokers, name));
    for _ in 0..EACH {
        for node in &mut nodes {
            node.until("room", Node::has_room);
            node.propose();
        }
    }
    for node in &mut nodes {
        node.until_entries(3 * EACH);
        node.check();
    }
    let [one, rest @ ..] = &nodes;
    for other in rest {
        assert_eq!(one.entries, other.entries);
        one.check_acknowledged(other);
        assert!(
            other.published.len() > EACH / 2,
            "acknowledgements are told"
        );
    }
    let mut late = Node::open(&settings(&cluster.brokers, "late"), 100).expect("the log opens");
    late.until_entries(3 * EACH - 100);
    assert_eq!(late.entries, one.entries[100..]);
    let state = late.log.state();
    assert_eq!((state.lag, state.taken), (0, Sequence(3 * EACH as u64)));
}

/// The broker ends each request for entries with a status of its own, which says nothing of the next.
#[test]
fn entries_of_several_requests_come_from_one_consumer() {
    const ENTRIES: usize = 2_500;
    let cluster = Cluster::of(1);
    let mut settings = settings(&cluster.brokers, "a");
    settings.timeouts.silence = Duration::from_secs(60);
    settings.timeouts.acknowledgement = Duration::from_secs(60);
    let mut node = Node::open(&settings, 0).expect("the log opens");
    for _ in 0..ENTRIES {
        node.until("room", Node::has_room);
        node.propose();
    }
    node.until_entries(ENTRIES);
    node.check();
    let state = node.log.state();
    assert_eq!((state.reattached, state.retries), (0, 0), "{state:?}");
}

#[test]
fn the_same_id_again_is_no_second_entry() {
    let cluster = Cluster::of(1);
    let mut node = Node::of(&cluster.brokers, "a");
    let first = node.propose();
    node.until_entries(1);
    // A node that did not hear the answer proposes again, over another connection.
    let mut again = Node::of(&cluster.brokers, "a");
    assert_eq!(again.propose(), first);
    again.until("told", |node| !node.published.is_empty());
    assert_eq!(again.published[&first], Sequence(1));
    again.propose();
    again.until_entries(2);
    again.check();
}

#[test]
fn more_than_can_be_outstanding_is_refused_at_once() {
    let cluster = Cluster::of(1);
    let mut node = Node::of(&cluster.brokers, "a");
    // Nothing is taken meanwhile, so that nothing has a fate.
    while node.has_room() {
        node.propose();
    }
    let id = node.id(1_000);
    let bytes = Node::bytes(&id);
    node.log
        .propose(id, bytes.into())
        .expect_err("64 are outstanding");
    node.until_entries(64);
    node.check();
    node.propose();
    node.until_entries(65);
}

#[test]
fn a_withdrawn_proposal_makes_room() {
    let mut cluster = Cluster::of(1);
    let mut node = Node::of(&cluster.brokers, "a");
    cluster.brokers.kill(0);
    while node.has_room() {
        node.propose();
    }
    let (given_up, other) = (node.id(1), node.id(1_000));
    node.log
        .withdraw(&given_up)
        .expect("the thread takes orders");
    let bytes = Node::bytes(&other);
    node.log
        .propose(other.clone(), bytes.into())
        .expect("there is room");
    cluster.brokers.restart(0).expect("it starts");
    node.until("seen", |node| {
        node.entries
            .iter()
            .any(|entry| entry.id.as_ref() == Some(&other))
    });
    assert!(
        node.log
            .next_event()
            .is_none_or(|event| !matches!(event, LogEvent::Fatal(_)))
    );
}
