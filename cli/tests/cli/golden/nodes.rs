//! Directories of nodes of released versions: copies of a log that nodes share, which began with the golden
//! directory of the version. Every later version reads them and makes them a server's own.

use std::{fs, path::Path, process::Command};

use turnstile_brokers::{Brokers, BrokersSetup, NatsServer};
use turnstile_embedded::verify;

use super::{answers, golden, log_in, packed, unpack, unpacked};
use crate::process::{Server, ask, run, turnstile, words};

const NODE: &str = "node.tar.gz";

/// What a server answers on the directory once it has left its cluster.
pub(super) const NODE_ANSWERS: &str = "node.txt";

/// What is done through the node.
const SHARED: [&str; 2] = [
    "ROOMS.BOOK inn 9 2027-12-24 2027-12-27 Eve 234123412346 KEY by-a-node",
    "EXCHANGE.CREATE-ACCOUNT shared 7",
];

const QUESTIONS: &str = "ROOMS.LIST-GUEST-BOOKINGS 234123412346\n\
                         ROOMS.LIST-PROPERTIES\n\
                         EXCHANGE.GET-ACCOUNT ada\n\
                         EXCHANGE.GET-ACCOUNT shared\n\
                         ACCESS.LIST-PRINCIPALS\n";

/// Makes the directory of a node whose cluster begins with the directory of a version. It needs Go, which
/// builds brokers.
pub(super) fn make(version: &str) {
    let golden = golden().join(version);
    let (data, folder) = (unpacked(version), tempfile::tempdir().unwrap());
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let broker = NatsServer::install(&target.join("nats")).unwrap();
    let brokers = Brokers::start(&broker, folder.path(), &BrokersSetup::of(1)).unwrap();
    let node = folder.path().join("node");
    let configured = |command: &mut Command| {
        command.args(["--cluster-node", "n0", "--cluster-replicas", "1"]);
        command.args(["--cluster-stream-bytes", "268435456"]);
        for url in brokers.urls() {
            command.args(["--cluster-nats", &url]);
        }
    };
    let mut move_in = turnstile();
    move_in
        .args(["cluster", "move-in", "--from"])
        .arg(data.path());
    configured(&mut move_in);
    let ended = run(&mut move_in);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    fs::create_dir(&node).unwrap();
    fs::copy(data.path().join("id.key"), node.join("id.key")).unwrap();
    let mut command = super::serve(&node);
    configured(&mut command);
    let server = Server::start(&mut command);
    let mut door = server.connect();
    log_in(&mut door);
    for line in SHARED {
        let answer = words(&ask(&mut door, line));
        assert!(!answer.starts_with(['-', '0']), "{line}: {answer}");
    }
    server.stop();
    packed(&node, &golden.join(NODE));
    let told = told_of(&node);
    fs::write(golden.join(NODE_ANSWERS), told).unwrap();
}

/// What a node's directory comes to, and what a server answers on it that is none of the cluster any more.
fn told_of(node: &Path) -> String {
    let before = verify(node).unwrap().hash;
    let left = run(turnstile().args(["cluster", "move-out"]).arg(node));
    assert_eq!(left.code, Some(0), "{left:?}");
    let left = verify(node).unwrap().hash;
    assert_eq!(left, before, "leaving changes nothing of the state");
    answers(node, QUESTIONS)
}

#[test]
fn the_node_of_every_version_is_read_and_becomes_a_server_of_its_own() {
    for version in super::versions() {
        let golden = golden().join(&version);
        let folder = tempfile::tempdir().unwrap();
        let node = folder.path().join("node");
        unpack(&golden.join(NODE), &node);
        let checked = run(turnstile().args(["upgrade", "--check"]).arg(&node));
        assert_eq!(checked.row("reads it"), "yes", "{version}: {checked:?}");
        let expected = fs::read_to_string(golden.join(NODE_ANSWERS)).unwrap();
        assert_eq!(told_of(&node), expected, "{version}");
    }
}
