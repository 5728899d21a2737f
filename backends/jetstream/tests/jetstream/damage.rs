//! Damage on the disk of one broker: readers get what was written, from another broker if need be.

use std::{
    fs,
    path::{Path, PathBuf},
};

use turnstile_brokers::BrokersSetup;
use turnstile_jetstream::ProposalId;

use crate::{Cluster, node::Node};

const ENTRIES: usize = 300;

/// Readers that come one after the other until one has met the damaged copy: brokers give each a
/// consumer on one of the three.
const READERS_MAX: u32 = 60;

fn written() -> (Cluster, Node) {
    let cluster = Cluster::with(&BrokersSetup::of(3));
    let mut node = Node::of(&cluster.brokers, "a");
    for _ in 0..ENTRIES {
        node.until("room", Node::has_room);
        node.propose();
    }
    node.until_entries(ENTRIES);
    (cluster, node)
}

/// Reads everything with a node that comes anew; says how often it needed another consumer.
fn read(cluster: &Cluster, node: &Node) -> u64 {
    let mut reader = Node::of(&cluster.brokers, "reader");
    reader.until_entries(ENTRIES);
    reader.check();
    assert!(reader.entries == node.entries);
    reader.log.state().reattached
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).expect("the folder can be read");
    let paths = listed.map(|file| file.expect("it is listed").path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// Flips a bit of one entry in the blocks of the stream.
fn flip(data: &Path) {
    let is_block = |path: &PathBuf| {
        let text = path.display().to_string();
        text.contains("LOG_main") && text.ends_with(".blk")
    };
    let block = files(data)
        .into_iter()
        .find(is_block)
        .expect("the stream has a block");
    let mut bytes = fs::read(&block).expect("it can be read");
    let entry = Node::bytes(&ProposalId::parse("a.1.150").expect("an id"));
    let place = bytes
        .windows(entry.len())
        .position(|window| window == entry);
    bytes[place.expect("the entry is there")] ^= 1;
    fs::write(&block, bytes).expect("it can be written");
}

/// A broker that was stopped in order believes its files when it starts again.
#[test]
fn a_flipped_bit_on_one_broker_hides_no_entry() {
    let (mut cluster, node) = written();
    let leader = cluster
        .brokers
        .await_stream_leader("LOG_main")
        .expect("a leader");
    let damaged = (leader + 1) % 3;
    cluster.brokers.stop(damaged);
    flip(cluster.brokers.data(damaged));
    cluster.brokers.restart(damaged).expect("it starts");
    cluster.brokers.await_ready().expect("it serves");
    let has_met = (0..READERS_MAX).any(|_| read(&cluster, &node) > 0);
    assert!(
        has_met,
        "{READERS_MAX} readers did not meet the damaged copy"
    );
}

#[test]
fn a_broker_whose_disk_was_replaced_gets_its_copy_again() {
    let (mut cluster, mut node) = written();
    let leader = cluster
        .brokers
        .await_stream_leader("LOG_main")
        .expect("a leader");
    cluster.brokers.wipe(leader).expect("its data goes");
    cluster.brokers.restart(leader).expect("it starts");
    cluster.brokers.await_ready().expect("it serves");
    for _ in 0..6 {
        read(&cluster, &node);
    }
    node.propose();
    node.until_entries(ENTRIES + 1);
    node.check();
}
