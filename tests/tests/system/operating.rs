//! Operating a cluster: status, planned restarts, and reads without its brokers.

use std::{
    fs,
    path::PathBuf,
    process::Output,
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::Value as Json;
use turnstile_brokers::{Brokers, BrokersSetup};
use turnstile_client::{Connection, ConnectionError, ServerAddress, http, resp::Value};
use turnstile_tests::{Turnstile, call};

use crate::cluster::{make_room, server};

const TIMEOUT: Duration = Duration::from_secs(60);

/// Nodes on brokers of their own; each has RESP and HTTP.
struct OperatedCluster {
    nodes: Vec<Turnstile>,
    brokers: Brokers,
    folder: tempfile::TempDir,
}

impl OperatedCluster {
    /// So many nodes, on so many brokers.
    fn of(nodes: usize, brokers: usize) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let started = Brokers::start(&server(), folder.path(), &BrokersSetup::of(brokers));
        let mut cluster = Self {
            nodes: Vec::new(),
            brokers: started.expect("brokers start"),
            folder,
        };
        for number in 0..nodes {
            let data = cluster.data(number);
            match number {
                0 => fs::create_dir(&data).expect("a folder for a node"),
                _ => make_room(&data, &cluster.data(0)),
            }
            let node = cluster.start(number);
            cluster.nodes.push(node);
        }
        cluster
    }

    fn data(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("node-{number}"))
    }

    fn start(&self, number: usize) -> Turnstile {
        let mut arguments = vec!["--cluster-node".to_owned(), format!("n{number}")];
        arguments.extend(["--cluster-stream-bytes", "268435456"].map(str::to_owned));
        let replicas = self.brokers.count().to_string();
        arguments.extend(["--cluster-replicas".to_owned(), replicas]);
        for url in self.brokers.urls() {
            arguments.extend(["--cluster-nats".to_owned(), url]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Turnstile::serve_http(&self.data(number), &arguments)
    }

    /// The nodes as a command is told of them.
    fn named(&self, words: &[&str]) -> Output {
        let addresses: Vec<String> = self
            .nodes
            .iter()
            .map(|node| node.resp().to_string())
            .collect();
        let named = addresses.iter().flat_map(|address| ["--resp", address]);
        let arguments: Vec<&str> = words.iter().copied().chain(named).collect();
        call(&arguments)
    }
}

fn connect(node: &Turnstile) -> Result<Connection, ConnectionError> {
    Connection::connect(node.resp(), TIMEOUT)
}

fn ask(connection: &mut Connection, words: &[&str]) -> Value {
    let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    connection.command(&words).expect("an answer")
}

/// The status and the body of an answer over HTTP, and a header of it.
fn fetch(node: &Turnstile, target: &str) -> http::Fetched {
    let address = ServerAddress::from(node.http());
    let connected = http::Connection::connect(&address, ("localhost", None), TIMEOUT);
    connected.expect("a node").get(target).expect("an answer")
}

#[test]
fn status_shows_all_nodes_also_those_that_were_not_named() {
    let mut cluster = OperatedCluster::of(3, 1);
    let other = cluster.nodes.pop().expect("three nodes");
    let mut door = connect(&cluster.nodes[0]).expect("a node");
    ask(&mut door, &["ROOMS.ADD-PROPERTY", "hotel"]);
    let told = cluster.named(&["cluster", "status", "--json"]);
    assert!(told.status.success(), "{told:?}");
    let told: Json = serde_json::from_slice(&told.stdout).expect("JSON");
    let names = |field: &str| -> Vec<String> {
        let nodes = told[field].as_array().expect("a list");
        let names = nodes
            .iter()
            .map(|node| node["node"].as_str().expect("a name"));
        names.map(str::to_owned).collect()
    };
    assert_eq!(names("nodes"), ["n0", "n1"], "{told}");
    assert_eq!(names("others"), ["n2"], "{told}");
    let first = &told["nodes"][0];
    assert_eq!(first["state"], "serves", "{first}");
    assert_eq!(first["leader"], "n1", "the broker, {first}");
    // All have said what they read.
    assert_eq!(first["entry_version"], first["reads"], "{first}");
    assert_eq!(told["concerns"], Json::Array(Vec::new()), "{told}");
    let table = cluster.named(&["cluster", "status"]);
    let table = String::from_utf8(table.stdout).expect("text");
    assert!(table.starts_with("NODE "), "{table}");
    assert_eq!(table.lines().count(), 4, "{table}");
    drop(other);
}

/// What the clients of a drained node have seen.
#[derive(Default)]
struct DrainScene {
    answers: AtomicUsize,
    count: Mutex<usize>,
    bell: Condvar,
    is_over: AtomicBool,
}

impl DrainScene {
    fn await_answers(&self, more: usize) {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let goal = *count + more;
        let waited = self.bell.wait_while(count, |count| *count < goal);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn note(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.bell.notify_all();
    }
}

/// Books one night after the other at the first node of a list that serves. What a node did not answer is
/// asked again at the next one, under the same key; no node may answer with an error.
fn book(number: usize, nodes: &[&Turnstile], scene: &DrainScene) {
    let mut at = number;
    let mut door: Option<Connection> = None;
    for booking in 0.. {
        if scene.is_over.load(Ordering::Relaxed) {
            return;
        }
        let (room, key) = (
            format!("r{number}-{booking}"),
            format!("k{number}-{booking}"),
        );
        let words = [
            "ROOMS.BOOK",
            "hotel",
            &room,
            "2027-05-01",
            "2027-05-02",
            "ada",
            "234123412346",
            "KEY",
            &key,
        ];
        let words = words.map(str::as_bytes);
        loop {
            if door.is_none() {
                at += 1;
                door = connect(nodes[at % nodes.len()]).ok();
            }
            match door.as_mut().map(|door| door.command(&words)) {
                Some(Ok(Value::Error(error))) => panic!("{room} was answered with {error}"),
                Some(Ok(_)) => break,
                Some(Err(_)) | None => door = None,
            }
        }
        scene.note();
    }
}

#[test]
fn a_node_is_drained_under_load_and_no_client_is_told_an_error() {
    let mut cluster = OperatedCluster::of(2, 1);
    let mut door = connect(&cluster.nodes[0]).expect("a node");
    ask(&mut door, &["ROOMS.ADD-PROPERTY", "hotel", "OPEN"]);
    drop(door);
    let scene = DrainScene::default();
    let refused = call(&[
        "cluster",
        "drain",
        "n0",
        "--resp",
        &cluster.nodes[0].resp().to_string(),
    ]);
    assert_eq!(
        refused.status.code(),
        Some(2),
        "clients would have no node: {refused:?}"
    );
    let other = cluster.named(&["cluster", "drain", "n7"]);
    let told = String::from_utf8_lossy(&other.stderr);
    assert!(told.contains("there: n0, n1"), "{told}");
    thread::scope(|scope| {
        let nodes: Vec<&Turnstile> = cluster.nodes.iter().collect();
        let clients: Vec<_> = (0..6)
            .map(|number| {
                let (nodes, scene) = (nodes.clone(), &scene);
                scope.spawn(move || book(number, &nodes, scene))
            })
            .collect();
        scene.await_answers(200);
        let drained = cluster.named(&["cluster", "drain", "n0"]);
        assert!(drained.status.success(), "{drained:?}");
        let ready = fetch(&cluster.nodes[0], "/readyz");
        assert_eq!(ready.status, 503, "{ready:?}");
        assert_eq!(fetch(&cluster.nodes[1], "/readyz").status, 200);
        assert!(connect(&cluster.nodes[0]).is_err(), "it accepts nobody");
        scene.await_answers(200);
        scene.is_over.store(true, Ordering::Relaxed);
        for client in clients {
            client.join().expect("no client was told an error");
        }
    });
    let drained = cluster.nodes.remove(0);
    assert!(drained.stop().success(), "it ends well");
    cluster.nodes.insert(0, cluster.start(0));
    // Everything was booked once, and the node that was restarted knows it.
    let mut door = connect(&cluster.nodes[0]).expect("a node");
    let bookings = ask(&mut door, &["DBSIZE"]);
    assert_eq!(
        bookings,
        Value::Integer(i64::try_from(scene.answers.into_inner()).expect("a few"))
    );
}

#[test]
fn stale_reads_go_on_without_brokers() {
    let mut cluster = OperatedCluster::of(2, 1);
    let mut writer = connect(&cluster.nodes[0]).expect("a node");
    ask(&mut writer, &["ROOMS.ADD-PROPERTY", "hotel"]);
    let node = &cluster.nodes[1];
    let mut door = connect(node).expect("a node");
    // It sees what the other one has answered.
    let seen = ask(&mut door, &["ROOMS.LIST-PROPERTIES"]).to_string();
    assert!(seen.contains("hotel"), "{seen}");
    cluster.brokers.kill(0);
    ask(&mut door, &["READONLY"]);
    assert_eq!(ask(&mut door, &["ROOMS.LIST-PROPERTIES"]).to_string(), seen);
    let age = ask(&mut door, &["CLUSTER", "AGE"]);
    let [
        Value::Integer(1..),
        Value::Integer(1..),
        Value::Integer(0..),
    ] = age.as_array().expect("three numbers")
    else {
        panic!("{age}");
    };
    let listed = fetch(node, "/v1/rooms/properties?consistency=stale");
    assert_eq!(listed.status, 200, "{listed:?}");
    let body = String::from_utf8(listed.body).expect("text");
    assert!(body.contains("hotel"), "{body}");
    for wrong in ["perhaps", "consistency=stale"] {
        let refused = fetch(node, &format!("/v1/rooms/properties?consistency={wrong}"));
        assert_eq!(refused.status, 400, "{refused:?}");
    }
    // Without leave to be stale, the node does not know what others have done.
    ask(&mut door, &["READWRITE"]);
    let refused = ask(&mut door, &["ROOMS.LIST-PROPERTIES"]).to_string();
    assert!(refused.contains("UNAVAILABLE"), "{refused}");
}
