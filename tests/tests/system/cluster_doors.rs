//! The doors of nodes of one cluster: command lines, batches, players and settings.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use tempfile::TempDir;
use turnstile_brokers::{Brokers, BrokersSetup, Carriage, FaultyPath};
use turnstile_client::{Connection, resp::Value};
use turnstile_tests::{Turnstile, run};
use turnstile_trial::Chromium;

use crate::{
    cluster::{NodePlace, end_all, make_room, server, start_all},
    console::{assert_accessible, until},
    crash::listing::{ask, connect},
    games::pair::Pair,
    travel::{clerk::Clerk, glance},
};

const NODES: usize = 3;

/// How long nodes may take to do what a test waits for.
const PATIENCE: Duration = Duration::from_secs(90);

/// Nodes on one broker, each with these doors.
struct SmallCluster {
    nodes: Vec<Turnstile>,
    places: Vec<NodePlace>,
    /// The way of each node to the broker.
    paths: Vec<FaultyPath>,
    _brokers: Brokers,
    folder: TempDir,
}

impl SmallCluster {
    fn begin(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let started = Brokers::start(&server(), folder.path(), &BrokersSetup::of(1));
        let brokers = started.expect("a broker starts");
        let broker = brokers.clients()[0];
        let paths: Result<Vec<_>, _> = (0..NODES).map(|_| FaultyPath::to(broker)).collect();
        let paths = paths.expect("free ports");
        let places: Vec<_> = (0..NODES)
            .map(|number| {
                let mut place = NodePlace::of(folder.path(), &brokers, number);
                let url = format!("nats://{}", paths[number].address());
                place.set("--cluster-nats", &url);
                let own = ["--cluster-replicas", "1"].iter().chain(arguments);
                place.arguments.extend(own.map(|word| (*word).to_owned()));
                place
            })
            .collect();
        let nodes = start_all(&places);
        Self {
            nodes,
            places,
            paths,
            _brokers: brokers,
            folder,
        }
    }

    fn connect(&self, number: usize) -> Connection {
        connect(self.nodes[number].resp()).expect("a node")
    }

    /// Kills a node, and starts it again with this door where it was.
    fn restart_at(&mut self, number: usize, door: &str, address: SocketAddr) {
        self.nodes.remove(number).kill();
        let mut place = self.places[number].clone();
        let flag = format!("--{door}");
        let at = place.arguments.iter().position(|word| *word == flag);
        place.arguments[at.expect("the door is open") + 1] = address.to_string();
        self.nodes.insert(number, place.start());
    }

    /// Ends all nodes; each directory is sound.
    fn end(self) {
        end_all(self.nodes, self.places.into_iter().map(|place| place.data));
        drop(self.folder);
    }
}

/// Waits until a node has so many clients that wait for a late answer.
fn await_blocked(connection: &mut Connection, clients: u64) {
    let fact = format!("blocked_clients:{clients}");
    let end = Instant::now() + PATIENCE;
    loop {
        let facts = ask(connection, &["INFO", "clients"]).expect("facts");
        if facts.to_string().contains(&fact) {
            return;
        }
        assert!(Instant::now() < end, "not {fact} within {PATIENCE:?}");
        glance();
    }
}

#[test]
fn command_lines_at_different_nodes_wait_for_each_others_locks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = folder.path().join("access.log");
    let log_of_all = log.to_str().expect("a path of ASCII");
    let cluster = SmallCluster::begin(&["--travel", "127.0.0.1:0", "--access-log", log_of_all]);
    let clerk = |number: usize| Clerk::at(cluster.nodes[number].door("travel"));
    let (mut one, mut other) = (clerk(0), clerk(1));
    let (first, second) = (one.starts().unwrap(), other.starts().unwrap());
    assert_ne!(first, second);
    assert_eq!(
        one.says(&format!("AddFlight,{first},7,20,100")),
        "Flight added"
    );
    // What the first node has locked, a client of the second waits for.
    thread::scope(|scope| {
        let waits = scope.spawn(|| other.says(&format!("QueryFlight,{second},7")));
        await_blocked(&mut cluster.connect(1), 1);
        assert_eq!(
            one.says(&format!("Commit,{first}")),
            format!("Transaction {first} committed")
        );
        assert_eq!(waits.join().unwrap(), "Number of seats available: 20");
    });
    // A transaction goes on at a third node, and a deadlock over two nodes is found.
    let mut third = clerk(2);
    assert_eq!(
        third.says(&format!("QueryFlightPrice,{second},7")),
        "Price of a seat: 100"
    );
    assert_eq!(
        third.says(&format!("Commit,{second}")),
        format!("Transaction {second} committed")
    );
    let totals: Vec<_> = (0..NODES)
        .map(|number| {
            ask(&mut cluster.connect(number), &["TRAVEL.GET-TOTALS"])
                .unwrap()
                .to_string()
        })
        .collect();
    assert!(totals.iter().all(|one| *one == totals[0]), "{totals:?}");
    let refused = Clerk::at(cluster.nodes[0].door("travel")).says("Commit,999");
    assert!(!refused.starts_with("Command exception: UN"), "{refused}");
    drop((one, other, third));
    cluster.end();

    // What the order of the log has decided has lines too.
    let log = fs::read_to_string(&log).expect("an access log");
    let of_travel = log.lines().filter(|line| line.contains(" door=travel "));
    let commits = of_travel.filter(|line| line.contains(" operation=travel.commit "));
    let outcomes: Vec<_> = commits
        .filter_map(|line| line.split(' ').find(|word| word.starts_with("outcome=")))
        .collect();
    assert_eq!(
        outcomes,
        [
            "outcome=done",
            "outcome=done",
            "outcome=unknown_transaction"
        ],
        "{log}"
    );
}

/// The names of the properties in a list.
fn lists(value: &Value, name: &str) -> bool {
    value.to_string().contains(name)
}

fn position(value: &Value) -> i64 {
    let position = value.at("position").and_then(Value::as_integer);
    position.unwrap_or_else(|| panic!("no position in {value}"))
}

#[test]
fn a_batch_is_one_run_of_the_order_and_its_queries_are_answered_between() {
    let cluster = SmallCluster::begin(&[]);
    let batches: u64 = 20;
    thread::scope(|scope| {
        for number in 0..NODES {
            let mut connection = cluster.connect(number);
            scope.spawn(move || {
                for batch in 0..batches {
                    let [first, second] =
                        ["a", "b"].map(|part| format!("p-{number}-{batch}-{part}"));
                    let ok = |connection: &mut Connection, words: &[&str], expected: &str| {
                        assert_eq!(ask(connection, words).unwrap().as_str(), Some(expected));
                    };
                    ok(&mut connection, &["MULTI"], "OK");
                    for words in [
                        vec!["ROOMS.ADD-PROPERTY", &first],
                        vec!["ROOMS.LIST-PROPERTIES", "LIMIT", "1000"],
                        vec!["EXCHANGE.GET-TOTALS"],
                        vec!["ROOMS.ADD-PROPERTY", &second],
                        vec!["ROOMS.ADD-PROPERTY", &second],
                        vec!["ROOMS.LIST-PROPERTIES", "LIMIT", "1000"],
                    ] {
                        ok(&mut connection, &words, "QUEUED");
                    }
                    let told = ask(&mut connection, &["EXEC"]).unwrap();
                    let told = told.as_array().expect("an array of answers");
                    assert_eq!(told.len(), 6);
                    let positions = [&told[0], &told[3], &told[4]].map(position);
                    assert_eq!(
                        [positions[1] - positions[0], positions[2] - positions[1]],
                        [1, 1],
                        "{told:?}"
                    );
                    assert!(lists(&told[1], &first), "{told:?}");
                    assert!(!lists(&told[1], &second), "{told:?}");
                    assert!(lists(&told[5], &second), "{told:?}");
                }
            });
        }
    });
    for number in 0..NODES {
        let listed = ask(
            &mut cluster.connect(number),
            &["ROOMS.LIST-PROPERTIES", "LIMIT", "1000"],
        )
        .unwrap();
        let last = format!("p-0-{}-b", batches - 1);
        assert!(lists(&listed, &last), "{listed}");
    }
    cluster.end();
}

/// Waits until so many more games were told. A pair that has ended ends the test, with what it says.
fn await_games(told: &AtomicU64, games: u64, tables: &mut Vec<JoinHandle<Pair>>) {
    let enough = told.load(Ordering::Relaxed) + games;
    let end = Instant::now() + PATIENCE;
    while told.load(Ordering::Relaxed) < enough {
        if let Some(ended) = tables.iter().position(JoinHandle::is_finished) {
            let pair = leave(tables.swap_remove(ended));
            panic!("a pair has ended before it was to stop: {}", pair.counted());
        }
        let now = told.load(Ordering::Relaxed);
        assert!(
            Instant::now() < end,
            "{now} of {enough} games after {PATIENCE:?}"
        );
        glance();
    }
}

/// The pair of a table that ends; if it has panicked, so does the test.
fn leave(table: JoinHandle<Pair>) -> Pair {
    table.join().unwrap_or_else(|panic| resume_unwind(panic))
}

#[test]
fn players_at_different_nodes_play_while_nodes_are_killed() {
    let mut cluster = SmallCluster::begin(&["--games-arena", "127.0.0.1:0"]);
    let (stops, told) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let arena = |cluster: &SmallCluster, number: usize| -> SocketAddr {
        cluster.nodes[number].door("games-arena")
    };
    let pairs = [[0, 1], [1, 0], [0, 0], [1, 2], [2, 1]];
    let mut tables = Vec::new();
    for (number, [one, other]) in (0_u32..).zip(pairs) {
        let arenas = [arena(&cluster, one), arena(&cluster, other)];
        let mut pair = Pair::new(arenas, [2 * number + 1, 2 * number + 2]);
        let (stops, told) = (Arc::clone(&stops), Arc::clone(&told));
        tables.push(thread::spawn(move || {
            pair.play(&stops, &told);
            pair
        }));
    }
    await_games(&told, 20, &mut tables);
    stops.store(true, Ordering::Relaxed);
    let counted: u64 = tables.into_iter().map(|table| leave(table).counted()).sum();
    for number in 0..NODES {
        let totals = ask(&mut cluster.connect(number), &["GAMES.GET-TOTALS"]).unwrap();
        let results = totals.at("results_total").and_then(Value::as_integer);
        assert_eq!(results, i64::try_from(counted).ok(), "{totals}");
    }
    // A player is at a node that is killed: the match ends, and the pair goes on when the node is back.
    let arenas = [arena(&cluster, 0), arena(&cluster, 2)];
    let before = told.load(Ordering::Relaxed);
    let again = Arc::new(AtomicBool::new(false));
    let mut playing = {
        let (stops, told) = (Arc::clone(&again), Arc::clone(&told));
        vec![thread::spawn(move || {
            let mut pair = Pair::new(arenas, [101, 102]);
            pair.play(&stops, &told);
            pair
        })]
    };
    await_games(&told, 3, &mut playing);
    cluster.restart_at(2, "games-arena", arenas[1]);
    await_games(&told, 3, &mut playing);
    again.store(true, Ordering::Relaxed);
    let pair = leave(playing.remove(0));
    assert!(pair.counted() >= told.load(Ordering::Relaxed) - before);
    cluster.end();
}

#[test]
fn a_node_with_other_settings_of_travel_is_refused_and_both_are_named() {
    let mut cluster = SmallCluster::begin(&["--travel-lifetime-ms", "4321"]);
    let last = cluster.nodes.remove(2);
    assert!(last.stop().success(), "a node ends well");
    let place = cluster.places.remove(2);
    // A node that has been there, and one that is new.
    refuse(&place, "5000");
    make_room(&place.data, &cluster.places[0].data);
    // The default is a setting, too.
    refuse(&place, "15000");
    let mut connection = cluster.connect(0);
    ask(&mut connection, &["ROOMS.ADD-PROPERTY", "hotel"]).expect("the others go on");
    make_room(&place.data, &cluster.places[0].data);
    show(&place);
    cluster.end();
}

/// A node that comes back shows on its page how all of them stand.
fn show(place: &NodePlace) {
    let arguments: Vec<&str> = place.arguments.iter().map(String::as_str).collect();
    let node = Turnstile::serve_http(&place.data, &arguments);
    let mut browser = Chromium::start();
    browser.open(&format!("http://{}/console/#/overview", node.http()));
    let cells = "[...document.querySelectorAll('[aria-label=\"Nodes of the cluster\"] tbody tr')]\
                 .map(row => [row.cells[0].innerText, row.cells[1].innerText])";
    let rows = until(
        &mut browser,
        &format!("(cells => cells.length === 3 && cells)({cells})"),
    );
    let version = env!("CARGO_PKG_VERSION");
    let names: Vec<&str> = (0..3).filter_map(|at| rows[at][0].as_str()).collect();
    assert_eq!(names, ["n0", "n1", "n2"]);
    assert_eq!(rows[2][1], version, "{rows}");
    let report = browser.value("fetch('/v1/cluster').then(answer => answer.json())");
    assert_eq!([&report["node"], &report["version"]], ["n2", version]);
    assert_accessible(&mut browser);
    assert!(node.stop().success(), "a node ends well");
}

/// A node with another lifetime than its cluster names both, and ends.
fn refuse(place: &NodePlace, lifetime_ms: &str) {
    let mut words = vec!["serve", "--resp", "127.0.0.1:0", "--http", "off"];
    words.extend(place.arguments.iter().map(String::as_str));
    let value = words.iter_mut().find(|word| **word == "4321");
    *value.expect("it is set") = lifetime_ms;
    words.push("--data");
    let ended = run(&words, &place.data);
    let complaint = String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success(), "{complaint}");
    for named in [
        "lifetime_ms = 4321",
        &format!("lifetime_ms = {lifetime_ms}"),
    ] {
        assert!(complaint.contains(named), "{complaint}");
    }
}

/// What a booking under this key comes to; in no hotel, which is decided only when its turn has come.
fn book(connection: &mut Connection, key: &str) -> String {
    let words = [
        "ROOMS.BOOK",
        "nowhere",
        "101",
        "2027-03-01",
        "2027-03-02",
        "ada",
        "234123412346",
        "KEY",
        key,
    ];
    let told = ask(connection, &words).expect("an outcome");
    let outcome = told.at("outcome").and_then(Value::as_str);
    outcome.expect("an outcome").to_owned()
}

#[test]
fn each_node_has_a_waiting_room_of_its_own() {
    let cluster = SmallCluster::begin(&["--waiting-room-rate", "1"]);
    let mut one = cluster.connect(0);
    let first = book(&mut one, "first");
    assert_ne!(first, "waiting");
    // Turns come each second, and the log may need one.
    let mut keys = 0;
    let end = Instant::now() + PATIENCE;
    let waits = loop {
        keys += 1;
        let key = format!("key-{keys}");
        if book(&mut one, &key) == "waiting" {
            break key;
        }
        assert!(Instant::now() < end, "nobody waits after {keys} bookings");
    };
    assert_eq!(book(&mut cluster.connect(1), "other"), first);
    let end = Instant::now() + PATIENCE;
    while book(&mut one, &waits) == "waiting" {
        assert!(Instant::now() < end, "no turn within {PATIENCE:?}");
        glance();
    }
    // What was decided needs no turn at any node.
    assert_eq!(book(&mut cluster.connect(2), &waits), first);
    cluster.end();
}

/// Sits down at a node's arena; what it hears there comes from the stream.
fn sit(arena: SocketAddr, own: u32, opponent: u32) -> TcpStream {
    let mut seat = TcpStream::connect(arena).expect("an arena");
    seat.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let greeting = format!("\u{1}{own}:{opponent}:");
    seat.write_all(greeting.as_bytes()).expect("an arena");
    seat
}

/// Waits until a node knows so many open matches.
fn await_matches(connection: &mut Connection, matches: i64) {
    let end = Instant::now() + PATIENCE;
    loop {
        let totals = ask(connection, &["GAMES.GET-TOTALS"]).expect("totals");
        if totals.at("open_matches").and_then(Value::as_integer) == Some(matches) {
            return;
        }
        assert!(Instant::now() < end, "{totals}");
        glance();
    }
}

#[test]
fn a_player_has_left_whose_node_was_cut_off_while_rights_changed() {
    let cluster = SmallCluster::begin(&["--games-arena", "127.0.0.1:0"]);
    let arena = cluster.nodes[0].door("games-arena");
    let (leaving, mut staying) = (sit(arena, 1, 2), sit(arena, 2, 1));
    staying.read_exact(&mut [0]).expect("a match begins");
    let mut other = cluster.connect(1);
    await_matches(&mut other, 1);
    let path = &cluster.paths[0];
    path.set_both(Carriage::Held);
    drop(leaving);
    // The node has seen it when it answers what came later.
    let mut own = cluster.connect(0);
    ask(&mut own, &["PING"]).expect("it answers without the log");
    ask(&mut other, &["ACCESS.ADD-PRINCIPAL", "shop"]).expect("the others decide");
    path.set_both(Carriage::Open);
    await_matches(&mut other, 0);
    cluster.end();
}
