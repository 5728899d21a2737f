//! Three nodes on three brokers, while nodes and brokers are killed: nothing that was acknowledged is lost,
//! nothing is sold twice, the history is linearizable, and all nodes come to the same.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Instant,
};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use turnstile_brokers::{Brokers, BrokersSetup, NatsServer};
use turnstile_client::{Connection, Error, resp::Value};
use turnstile_tests::{Turnstile, run};

use crate::crash::{
    answer::Answer,
    books::Books as _,
    hotel::Hotel,
    listing::{ask, connect},
    request::Request,
};

const NODES: usize = 3;
const CLIENTS: u64 = 6;

/// Requests that are answered between two faults.
const ANSWERS_BETWEEN: usize = 150;

/// Faults in a run; more by night.
fn faults() -> u32 {
    if std::env::var_os("TURNSTILE_TEST_NIGHT").is_some() {
        200
    } else {
        6
    }
}

/// The brokers that tests share, built once.
fn server() -> NatsServer {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let cache = target.expect("it is in the target folder").join("nats");
    NatsServer::install(&cache).expect("`cargo xtask test` installs Go")
}

/// What a node is started with.
struct NodePlace {
    data: PathBuf,
    arguments: Vec<String>,
}

impl NodePlace {
    fn of(folder: &Path, brokers: &Brokers, number: usize) -> Self {
        let mut arguments = vec!["--cluster-node".to_owned(), format!("n{number}")];
        arguments.extend(["--cluster-stream-bytes", "268435456"].map(str::to_owned));
        // Some starts load a snapshot.
        arguments.extend(["--snapshot-records", "500"].map(str::to_owned));
        for url in brokers.urls() {
            arguments.extend(["--cluster-nats".to_owned(), url]);
        }
        for monitor in brokers.monitors() {
            arguments.extend(["--cluster-monitor".to_owned(), monitor]);
        }
        let data = folder.join(format!("node-{number}"));
        Self { data, arguments }
    }

    fn start(&self) -> Turnstile {
        Turnstile::begin(&self.data, &self.arguments).ready()
    }
}

/// Where nodes can be reached at the moment, and how far the clients are.
struct ClusterScene {
    addresses: Mutex<Vec<Option<SocketAddr>>>,
    answers: Mutex<usize>,
    /// Somebody was answered.
    bell: Condvar,
    is_over: AtomicBool,
}

impl ClusterScene {
    fn set(&self, number: usize, address: Option<SocketAddr>) {
        let mut addresses = self
            .addresses
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        addresses[number] = address;
    }

    /// Some node that runs.
    fn some(&self, rng: &mut StdRng) -> Option<SocketAddr> {
        let addresses = self
            .addresses
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        addresses[rng.random_range(0..NODES)]
    }
}

/// A request with its answer, and when it was asked and answered.
struct Answered {
    request: Request,
    answer: Answer,
    asked: Instant,
    answered: Instant,
}

/// One that books at whichever node answers, and asks again under the same key when none did.
fn book(number: u64, scene: &ClusterScene) -> Vec<Answered> {
    let mut rng = StdRng::seed_from_u64(number);
    let mut books = Hotel::default();
    let mut history = Vec::new();
    let mut connection = None;
    while !scene.is_over.load(Ordering::Relaxed) {
        let request = books.next(&mut rng);
        let key = format!("{number}-{}", history.len());
        let asked = Instant::now();
        let words = Hotel::words(&request, &key);
        let answer = loop {
            if let Some(answer) = sent(&mut connection, &words, scene, &mut rng) {
                break answer;
            }
        };
        books.learn(&request, &answer);
        *scene.answers.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        scene.bell.notify_all();
        history.push(Answered {
            request,
            answer,
            asked,
            answered: Instant::now(),
        });
        // Clients change their nodes also while all is well.
        if rng.random_range(0..20) == 0 {
            connection = None;
        }
    }
    history
}

/// Sends a request once; nothing if it is not known what has become of it.
fn sent(
    connection: &mut Option<Connection>,
    words: &[String],
    scene: &ClusterScene,
    rng: &mut StdRng,
) -> Option<Answer> {
    if connection.is_none() {
        *connection = connect(scene.some(rng)?).ok();
    }
    let bytes: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
    match connection.as_mut()?.command(&bytes) {
        Ok(Value::Error(error)) => {
            let is_for_later = ["UNAVAILABLE", "UNKNOWN", "LOADING"]
                .iter()
                .any(|word| error.starts_with(word));
            assert!(is_for_later, "{words:?} was answered -{error}");
            *connection = None;
            None
        }
        Ok(value) => Some(Answer::parse(&value).expect("an outcome")),
        Err(Error::Io(_) | Error::Closed) => {
            *connection = None;
            None
        }
        Err(other) => panic!("{words:?}: {other}"),
    }
}

/// Kills a node or a broker again and again, and starts it again, while clients are answered.
fn disturb(
    scene: &ClusterScene,
    brokers: &mut Brokers,
    nodes: &mut [Option<Turnstile>],
    places: &[NodePlace],
) {
    let mut rng = StdRng::seed_from_u64(4_711);
    for fault in 0..faults() {
        await_answers(scene, ANSWERS_BETWEEN);
        let number = rng.random_range(0..NODES);
        if fault % 2 == 0 {
            scene.set(number, None);
            nodes[number].take().expect("it runs").kill();
            await_answers(scene, ANSWERS_BETWEEN);
            let node = places[number].start();
            scene.set(number, Some(node.resp()));
            nodes[number] = Some(node);
        } else {
            brokers.kill(number);
            await_answers(scene, ANSWERS_BETWEEN);
            brokers.restart(number).expect("a broker starts again");
            brokers.await_ready().expect("brokers serve again");
        }
    }
    await_answers(scene, ANSWERS_BETWEEN);
}

fn await_answers(scene: &ClusterScene, more: usize) {
    let answers = scene.answers.lock().unwrap_or_else(PoisonError::into_inner);
    let goal = *answers + more;
    let waited = scene.bell.wait_while(answers, |answers| *answers < goal);
    drop(waited.unwrap_or_else(PoisonError::into_inner));
}

/// Judges what clients were told: positions are one order, in which every answer is right, and no request
/// stands before one that had been answered when it was asked.
fn judge(mut history: Vec<Answered>) -> Hotel {
    history.sort_by_key(|one| one.answer.position);
    let mut books = Hotel::default();
    for pair in history.windows(2) {
        let positions = (pair[0].answer.position, pair[1].answer.position);
        assert!(
            positions.0 < positions.1,
            "two requests are at {positions:?}"
        );
    }
    let mut earliest_later: Option<Instant> = None;
    for one in history.iter().rev() {
        assert!(
            earliest_later.is_none_or(|answered| answered >= one.asked),
            "{:?} at {} stands before one that had been answered when it was asked",
            one.request,
            one.answer.position
        );
        let earliest = earliest_later.map_or(one.answered, |later| later.min(one.answered));
        earliest_later = Some(earliest);
    }
    for one in &history {
        let entered = books.enter(&one.request, &one.answer);
        entered.unwrap_or_else(|why| panic!("{why}"));
    }
    books
}

#[test]
fn nothing_is_lost_or_sold_twice_while_nodes_and_brokers_are_killed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = server();
    let started = Brokers::start(&server, folder.path(), &BrokersSetup::of(3));
    let mut brokers = started.expect("brokers start");
    let places: Vec<_> = (0..NODES)
        .map(|number| NodePlace::of(folder.path(), &brokers, number))
        .collect();
    let mut nodes: Vec<Option<Turnstile>> = Vec::new();
    for place in &places {
        fs::create_dir(&place.data).expect("a folder for a node");
        if !nodes.is_empty() {
            let key = places[0].data.join("id.key");
            fs::copy(key, place.data.join("id.key")).expect("the key of the first node");
        }
        nodes.push(Some(place.start()));
    }
    let addresses = nodes.iter().flatten().map(|node| Some(node.resp()));
    let scene = ClusterScene {
        addresses: Mutex::new(addresses.collect()),
        answers: Mutex::new(0),
        bell: Condvar::new(),
        is_over: AtomicBool::new(false),
    };
    let first = nodes[0].as_ref().expect("it runs").resp();
    let mut opening = connect(first).expect("a node");
    for words in Hotel::opening() {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        ask(&mut opening, &words).expect("a new property");
    }
    let history = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                scope.spawn({
                    let scene = &scene;
                    move || book(number, scene)
                })
            })
            .collect();
        disturb(&scene, &mut brokers, &mut nodes, &places);
        scene.is_over.store(true, Ordering::Relaxed);
        let joined = clients.into_iter().map(|client| client.join());
        let histories = joined.map(|history| history.expect("a client does not panic"));
        histories.flatten().collect::<Vec<_>>()
    });
    assert!(history.len() > ANSWERS_BETWEEN, "{} answers", history.len());
    let mut books = judge(history);
    for node in nodes.iter().flatten() {
        let mut connection = connect(node.resp()).expect("a node");
        let compared = books.compare(&mut connection);
        compared.unwrap_or_else(|why| panic!("{why}"));
    }
    // All of them have applied the same by now, or do when they start again.
    for node in nodes.into_iter().flatten() {
        assert!(node.stop().success(), "a node ends well");
    }
    for place in &places {
        let verified = run(&["verify"], &place.data);
        assert!(verified.status.success(), "{verified:?}");
    }
}

#[test]
fn a_node_with_another_key_of_the_id_numbers_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let started = Brokers::start(&server(), folder.path(), &BrokersSetup::of(1));
    let brokers = started.expect("a broker starts");
    let places = [0, 1].map(|number| {
        let mut place = NodePlace::of(folder.path(), &brokers, number);
        let alone = ["--cluster-replicas".to_owned(), "1".to_owned()];
        place.arguments.extend(alone);
        fs::create_dir(&place.data).expect("a folder for a node");
        place
    });
    let first = places[0].start();
    let mut connection = connect(first.resp()).expect("a node");
    ask(&mut connection, &["ROOMS.ADD-PROPERTY", "hotel"]).expect("a new property");
    // It stops at the first entry that it reads, and decides nothing.
    let other = Turnstile::begin(&places[1].data, &places[1].arguments);
    assert!(!other.ended().success(), "it stops");
    let listed = ask(&mut connection, &["ROOMS.LIST-PROPERTIES"]).expect("a list");
    assert!(listed.to_string().contains("hotel"), "{listed}");
    let ended = first.stop();
    assert!(ended.success(), "{ended:?}");
    // Without its cluster, the directory is no server of its own.
    let alone = Turnstile::begin(&places[0].data, &[]);
    assert!(!alone.ended().success(), "it is refused");
    let written = run(&["key", "list", "--data"], &places[0].data);
    let told = String::from_utf8_lossy(&written.stderr);
    assert!(told.contains("a node's copy of a shared log"), "{told}");
}

#[test]
fn a_server_with_data_becomes_a_cluster_by_copies_of_its_directory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let started = Brokers::start(&server(), folder.path(), &BrokersSetup::of(1));
    let brokers = started.expect("a broker starts");
    let before = folder.path().join("before");
    fs::create_dir(&before).expect("a folder for a server");
    let alone = Turnstile::serve(&before, "sync");
    let mut connection = connect(alone.resp()).expect("a server");
    ask(&mut connection, &["ROOMS.ADD-PROPERTY", "first"]).expect("a new property");
    assert!(alone.stop().success(), "it ends well");
    let places = [0, 1].map(|number| {
        let mut place = NodePlace::of(folder.path(), &brokers, number);
        let single = ["--cluster-replicas".to_owned(), "1".to_owned()];
        place.arguments.extend(single);
        copy_folder(&before, &place.data);
        place
    });
    let one = places[0].start();
    let mut connection = connect(one.resp()).expect("a node");
    ask(&mut connection, &["ROOMS.ADD-PROPERTY", "second"]).expect("a new property");
    // The other begins with the same, though the log has entries already.
    let other = places[1].start();
    let mut connection = connect(other.resp()).expect("a node");
    ask(&mut connection, &["ROOMS.ADD-PROPERTY", "third"]).expect("a new property");
    for node in [one, other] {
        let mut connection = connect(node.resp()).expect("a node");
        let listed = ask(&mut connection, &["ROOMS.LIST-PROPERTIES"]).expect("a list");
        let listed = listed.to_string();
        let has = |name: &&str| listed.contains(*name);
        assert!(["first", "second", "third"].iter().all(has), "{listed}");
        assert!(node.stop().success(), "a node ends well");
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder for a node");
    for file in fs::read_dir(from).expect("a folder") {
        let file = file.expect("a file").path();
        let name = file.file_name().expect("a name");
        fs::copy(&file, to.join(name)).expect("a copy");
    }
}
