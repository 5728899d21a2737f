//! Three nodes on three brokers, while nodes and brokers are killed: nothing that was acknowledged is lost,
//! nothing is sold twice, the history is linearizable, and all nodes come to the same.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use turnstile_brokers::{Brokers, BrokersSetup, NatsServer};
use turnstile_tests::{Turnstile, run};

use crate::{
    cluster_scene::{Answered, Asking, ClusterScene, in_order},
    crash::{
        answer::Answer,
        books::Books,
        hotel::Hotel,
        listing::{ask, connect},
        request::Request,
    },
};

pub(crate) const NODES: usize = 3;

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
pub(crate) fn server() -> NatsServer {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let cache = target.expect("it is in the target folder").join("nats");
    NatsServer::install(&cache).expect("`cargo xtask test` installs Go")
}

/// What a node is started with.
#[derive(Clone, Debug)]
pub(crate) struct NodePlace {
    pub(crate) data: PathBuf,
    pub(crate) arguments: Vec<String>,
}

impl NodePlace {
    pub(crate) fn of(folder: &Path, brokers: &Brokers, number: usize) -> Self {
        let mut arguments = vec!["--cluster-node".to_owned(), format!("n{number}")];
        arguments.extend(["--cluster-stream-bytes", "268435456"].map(str::to_owned));
        // Some starts load a snapshot.
        arguments.extend(["--snapshot-records", "500"].map(str::to_owned));
        arguments.extend(["--cluster-snapshot-entries", "200"].map(str::to_owned));
        for url in brokers.urls() {
            arguments.extend(["--cluster-nats".to_owned(), url]);
        }
        for monitor in brokers.monitors() {
            arguments.extend(["--cluster-monitor".to_owned(), monitor]);
        }
        let data = folder.join(format!("node-{number}"));
        Self { data, arguments }
    }

    /// Gives a flag a value, in the place of another one.
    pub(crate) fn set(&mut self, flag: &str, value: &str) {
        self.unset(flag);
        self.arguments.extend([flag, value].map(str::to_owned));
    }

    /// Takes a flag and its value away.
    pub(crate) fn unset(&mut self, flag: &str) {
        if let Some(at) = self.arguments.iter().position(|word| word == flag) {
            self.arguments.drain(at..at + 2);
        }
    }

    pub(crate) fn start(&self) -> Turnstile {
        Turnstile::begin(&self.data, &self.arguments).ready()
    }
}

/// Makes an empty directory for a node, with the secret of another one.
pub(crate) fn make_room(data: &Path, like: &Path) {
    drop(fs::remove_dir_all(data));
    fs::create_dir(data).expect("a folder for a node");
    let key = like.join("id.key");
    fs::copy(key, data.join("id.key")).expect("the key of another node");
}

/// Starts a new node at each place, with the id key of the first.
pub(crate) fn start_all(places: &[NodePlace]) -> Vec<Turnstile> {
    let [first, others @ ..] = places else {
        return Vec::new();
    };
    fs::create_dir(&first.data).expect("a folder for a node");
    let mut nodes = vec![first.start()];
    for place in others {
        make_room(&place.data, &first.data);
        nodes.push(place.start());
    }
    nodes
}

/// Ends all nodes; each of these directories is sound.
pub(crate) fn end_all(
    nodes: impl IntoIterator<Item = Turnstile>,
    directories: impl IntoIterator<Item = PathBuf>,
) {
    for node in nodes {
        assert!(node.stop().success(), "a node ends well");
    }
    for directory in directories {
        let verified = run(&["verify"], &directory);
        assert!(verified.status.success(), "{verified:?}");
    }
}

/// A scene at these nodes, whose clients find the property of the tests.
pub(crate) fn begin_scene(nodes: &[Turnstile]) -> ClusterScene {
    let mut opening = connect(nodes[0].resp()).expect("a node");
    for words in Hotel::opening() {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        ask(&mut opening, &words).expect("a new property");
    }
    let scene = ClusterScene::new(nodes.len(), 0);
    for (number, node) in nodes.iter().enumerate() {
        scene.set(number, Some(node.resp()));
    }
    scene
}

impl Asking for Hotel {
    type Wanted = Request;

    fn next(&mut self, rng: &mut StdRng) -> Request {
        Books::next(self, rng)
    }

    fn words(wanted: &Request, key: &str) -> Vec<String> {
        wanted.words(key)
    }

    fn learn(&mut self, wanted: &Request, answer: &Answer) {
        Books::learn(self, wanted, answer);
    }
}

/// Kills a node or a broker again and again, and starts it again, while clients are answered.
pub(crate) fn disturb(
    scene: &ClusterScene,
    brokers: &mut Brokers,
    nodes: &mut Vec<Turnstile>,
    places: &[NodePlace],
) {
    let mut rng = StdRng::seed_from_u64(4_711);
    for fault in 0..faults() {
        scene.must_see(ANSWERS_BETWEEN);
        let number = rng.random_range(0..NODES);
        if fault % 2 == 0 {
            scene.set(number, None);
            nodes.remove(number).kill();
            scene.must_see(ANSWERS_BETWEEN);
            let node = places[number].start();
            scene.set(number, Some(node.resp()));
            nodes.insert(number, node);
        } else {
            brokers.kill(number);
            scene.must_see(ANSWERS_BETWEEN);
            brokers.restart(number).expect("a broker starts again");
            brokers.await_ready().expect("brokers serve again");
        }
    }
    scene.must_see(ANSWERS_BETWEEN);
}

/// Judges what clients were told: it is one order, in which every answer is right. Gives the books after all of
/// it.
pub(crate) fn judge(history: &[Answered<Request>]) -> Hotel {
    let mut books = Hotel::default();
    for one in in_order(history) {
        let entered = books.enter(&one.wanted, &one.answer);
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
    let mut nodes = start_all(&places);
    let scene = begin_scene(&nodes);
    let history = scene.while_clients_ask::<Hotel>(|| {
        disturb(&scene, &mut brokers, &mut nodes, &places);
    });
    assert!(history.len() > ANSWERS_BETWEEN, "{} answers", history.len());
    let mut books = judge(&history);
    for node in &nodes {
        let mut connection = connect(node.resp()).expect("a node");
        let compared = books.compare(&mut connection);
        compared.unwrap_or_else(|why| panic!("{why}"));
    }
    // All of them have applied the same by now, or do when they start again.
    end_all(nodes, places.into_iter().map(|place| place.data));
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

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder for a node");
    for file in fs::read_dir(from).expect("a folder") {
        let file = file.expect("a file").path();
        let name = file.file_name().expect("a name");
        fs::copy(&file, to.join(name)).expect("a copy");
    }
}
