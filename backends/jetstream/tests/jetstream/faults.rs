//! Faults while nodes propose: brokers killed, paused, cut off; answers lost. Each acknowledged entry is
//! there once, where the broker said, and all nodes see the same.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use serde_json::Value;
use turnstile_brokers::{Brokers, BrokersSetup, Carriage, FaultyPath, PathWay};
use turnstile_jetstream::{LogEntry, Sequence};

use crate::{
    Cluster,
    node::{Node, settings},
    operate, with_client,
};

/// Proposals of a node that are under way at once.
const OUTSTANDING: usize = 8;

/// How long the longest silence after a fault may be until the test has failed.
const DEADLINE: Duration = Duration::from_secs(120);

/// Nodes that propose while something happens to their brokers.
struct Ordeal {
    cluster: Cluster,
    nodes: Vec<Node>,
}

impl Ordeal {
    fn with(setup: &BrokersSetup) -> Self {
        let cluster = Cluster::with(setup);
        let nodes = ["a", "b", "c"].map(|name| Node::of(&cluster.brokers, name));
        let mut ordeal = Self {
            cluster,
            nodes: nodes.into(),
        };
        ordeal.see_more(100);
        ordeal
    }

    const fn brokers(&mut self) -> &mut Brokers {
        &mut self.cluster.brokers
    }

    fn leader(&mut self) -> usize {
        let leader = self.brokers().await_stream_leader("LOG_main");
        leader.expect("the stream has a leader")
    }

    /// A broker that does not lead the stream.
    fn follower(&mut self) -> usize {
        (self.leader() + 1) % 3
    }

    /// Proposes all the time, until something holds.
    fn propose_until(&mut self, mut holds: impl FnMut(&[Node]) -> bool) {
        loop {
            for node in &mut self.nodes {
                while node.outstanding() < OUTSTANDING {
                    node.propose();
                }
                node.take_for(Duration::from_millis(2));
                assert_eq!(node.fatal, None);
            }
            if holds(&self.nodes) {
                return;
            }
        }
    }

    /// Proposes for a while, whatever becomes of it.
    fn propose_for(&mut self, time: Duration) {
        let end = Instant::now() + time;
        self.propose_until(|_| Instant::now() >= end);
    }

    /// Proposes until each node has seen so many entries more.
    fn see_more(&mut self, count: usize) {
        let deadline = Instant::now() + DEADLINE;
        let wanted: Vec<usize> = self
            .nodes
            .iter()
            .map(|node| node.entries.len() + count)
            .collect();
        self.propose_until(|nodes| {
            let states = || {
                nodes
                    .iter()
                    .map(|node| node.log.state())
                    .collect::<Vec<_>>()
            };
            assert!(Instant::now() < deadline, "no progress: {:#?}", states());
            let mut both = nodes.iter().zip(&wanted);
            both.all(|(node, wanted)| node.entries.len() >= *wanted)
        });
    }

    /// Stops proposing, and compares what all nodes and one that comes late have seen.
    fn check(mut self) {
        for node in &mut self.nodes {
            node.until("without proposals", |node| node.outstanding() == 0);
        }
        let mut late = Node::of(&self.cluster.brokers, "late");
        let last = self.nodes.iter().map(|node| node.entries.len()).max();
        let last = last.expect("there are nodes");
        late.until_entries(last);
        late.check();
        for node in &mut self.nodes {
            node.until_entries(last);
            assert!(
                node.entries == late.entries,
                "{} has seen something else",
                node.name()
            );
            late.check_acknowledged(node);
            let is_own = |entry: &&LogEntry| entry.id.as_ref().is_some_and(|id| node.is_of(id));
            let own = node.entries.iter().filter(is_own).count();
            let acknowledged = node.published.len();
            assert!(
                2 * acknowledged > own,
                "{acknowledged} of {own} are acknowledged"
            );
        }
    }
}

#[test]
fn killed_brokers_lose_and_double_nothing() {
    let mut ordeal = Ordeal::with(&BrokersSetup::of(3));
    let leader = ordeal.leader();
    ordeal.brokers().kill(leader);
    ordeal.see_more(100);
    ordeal.brokers().restart(leader).expect("it starts");
    ordeal.see_more(100);
    let follower = ordeal.follower();
    ordeal.brokers().kill(follower);
    ordeal.see_more(100);
    ordeal.brokers().restart(follower).expect("it starts");
    ordeal.see_more(100);
    ordeal.brokers().kill_all();
    ordeal.propose_for(Duration::from_secs(1));
    ordeal.brokers().restart_all().expect("they start");
    ordeal.see_more(100);
    ordeal.check();
}

#[test]
fn paused_brokers_and_new_leaders_lose_and_double_nothing() {
    let mut ordeal = Ordeal::with(&BrokersSetup::of(3));
    for _ in 0..3 {
        ordeal
            .brokers()
            .step_down("LOG_main")
            .expect("there is a leader");
        ordeal.see_more(50);
    }
    let leader = ordeal.leader();
    ordeal.brokers().pause(leader);
    ordeal.see_more(50);
    ordeal.brokers().resume(leader);
    ordeal.see_more(50);
    for number in 0..3 {
        ordeal.brokers().pause(number);
    }
    ordeal.propose_for(Duration::from_secs(3));
    for number in 0..3 {
        ordeal.brokers().resume(number);
    }
    ordeal.see_more(50);
    ordeal.check();
}

#[test]
fn brokers_that_are_cut_off_lose_and_double_nothing() {
    let mut ordeal = Ordeal::with(&BrokersSetup {
        are_wired: true,
        ..BrokersSetup::of(3)
    });
    let leader = ordeal.leader();
    ordeal.brokers().carry_all(leader, Carriage::Held);
    // The others choose a leader, and nodes of the one that is cut off move to them.
    ordeal.see_more(50);
    ordeal.brokers().carry_all(leader, Carriage::Open);
    ordeal.see_more(50);
    let leader = ordeal.leader();
    for other in (0..3).filter(|other| *other != leader) {
        ordeal.brokers().carry(other, leader, Carriage::Held);
    }
    ordeal.propose_for(Duration::from_secs(3));
    ordeal.brokers().carry_all(leader, Carriage::Open);
    ordeal.see_more(50);
    ordeal
        .brokers()
        .carry_all(leader, Carriage::Slow(Duration::from_millis(30)));
    ordeal.see_more(20);
    ordeal
        .brokers()
        .carry_all(leader, Carriage::Flapping(Duration::from_millis(700)));
    ordeal.propose_for(Duration::from_secs(5));
    ordeal.brokers().carry_all(leader, Carriage::Open);
    ordeal.brokers().reset(leader, (leader + 1) % 3);
    ordeal.see_more(50);
    ordeal.check();
}

/// A node behind a path of its own to each broker.
pub(crate) fn wired_node(brokers: &Brokers, name: &str) -> (Node, Vec<FaultyPath>) {
    let paths = brokers.clients().into_iter().map(FaultyPath::to);
    let paths: Vec<FaultyPath> = paths.collect::<Result<_, _>>().expect("free ports");
    let mut settings = settings(brokers, name);
    let urls = paths
        .iter()
        .map(|path| format!("nats://{}", path.address()));
    settings.servers = urls.map(|url| url.parse().expect("a URL")).collect();
    (Node::open(&settings, 0).expect("the log opens"), paths)
}

#[test]
fn an_entry_whose_answers_are_lost_is_there_once() {
    let cluster = Cluster::of(1);
    let mut other = Node::of(&cluster.brokers, "other");
    let (mut node, paths) = wired_node(&cluster.brokers, "a");
    node.propose();
    node.until_entries(1);
    // From here on the broker takes what the node sends, and the node hears nothing.
    paths[0].set(PathWay::Back, Carriage::Held);
    for _ in 0..5 {
        node.propose();
    }
    other.until_entries(6);
    node.until("publishing again", |node| node.log.state().retries > 0);
    other.propose();
    other.until_entries(7);
    assert_eq!(node.entries.len(), 1);
    paths[0].reset();
    paths[0].set(PathWay::Back, Carriage::Open);
    node.until_entries(7);
    node.propose();
    for node in [&mut node, &mut other] {
        node.until_entries(8);
        node.check();
    }
    assert_eq!(node.entries, other.entries);
}

#[test]
fn a_node_whose_network_flaps_sees_what_all_see() {
    let cluster = Cluster::of(3);
    let mut steady = Node::of(&cluster.brokers, "steady");
    let (mut node, paths) = wired_node(&cluster.brokers, "flapping");
    for path in &paths {
        path.set_both(Carriage::Flapping(Duration::from_millis(150)));
    }
    for round in 0..12 {
        paths[round % 3].reset();
        for _ in 0..10 {
            node.until("room", Node::has_room);
            node.propose();
            steady.until("room", Node::has_room);
            steady.propose();
        }
    }
    for path in &paths {
        path.set_both(Carriage::Open);
    }
    for node in [&mut node, &mut steady] {
        node.until_entries(240);
        node.check();
    }
    assert_eq!(node.entries, steady.entries);
    steady.check_acknowledged(&node);
}

#[test]
fn a_slow_reader_holds_the_brokers_back_and_loses_nothing() {
    const ENTRIES: usize = 60;
    const BYTES: usize = 500_000;
    let cluster = Cluster::of(1);
    let mut writer = Node::of(&cluster.brokers, "writer");
    let mut reader = Node::of(&cluster.brokers, "reader");
    let mut ids = BTreeSet::new();
    for number in 0..ENTRIES {
        writer.until("room", Node::has_room);
        let id = writer.id(10_000 + number as u64);
        let bytes = vec![u8::try_from(number).expect("few"); BYTES];
        writer
            .log
            .propose(id.clone(), bytes.into())
            .expect("there is room");
        ids.insert(id);
        writer.until("seen", |node| node.entries.len() > number);
    }
    let state = operate(&cluster.brokers, "STREAM.INFO.LOG_main", &Value::Null);
    assert_eq!(state["state"]["last_seq"], ENTRIES);
    // The reader has asked for nothing so far; at most what one request brings waits for it.
    reader.until_entries(ENTRIES);
    assert_eq!(reader.entries, writer.entries);
    let seen: BTreeSet<_> = reader
        .entries
        .iter()
        .filter_map(|entry| entry.id.clone())
        .collect();
    assert_eq!(seen, ids);
    assert_eq!(reader.log.last_sequence_hint(), Sequence(ENTRIES as u64));
}

#[test]
fn a_message_of_another_program_is_an_entry_without_an_id() {
    let cluster = Cluster::of(1);
    let mut node = Node::of(&cluster.brokers, "a");
    with_client(&cluster.brokers, async |client| {
        client
            .publish("log.main.x", "foreign".into())
            .await
            .expect("it is sent");
        client.flush().await.expect("it has arrived");
    });
    node.until_entries(1);
    node.propose();
    node.until_entries(2);
    assert_eq!(node.entries[0].id, None);
    assert_eq!(&node.entries[0].bytes[..], b"foreign");
    assert_eq!(node.entries[1].sequence, Sequence(2));
}
