//! Nodes with two partitions: properties lie on both, and clients see one server, also while nodes and brokers
//! are killed, and at a node that holds only one of them.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    time::Duration,
};

use turnstile_brokers::{Brokers, BrokersSetup};
use turnstile_client::{Connection, resp::Value};
use turnstile_rooms::Reference;
use turnstile_tests::Turnstile;
use turnstile_types::{Name, PartitionNumber};

use crate::{
    cluster::{
        NODES, NodePlace, begin_scene, disturb, end_all, judge, make_room, server, start_all,
    },
    cluster_snapshots::{figure, scene},
    crash::{
        hotel::Hotel,
        listing::{Entry, ask, connect, everything},
        request::Request,
    },
};

/// What nodes of two partitions are started with.
pub(crate) fn of_two(mut place: NodePlace) -> NodePlace {
    for name in ["main", "b"] {
        let option = ["--cluster-partitions".to_owned(), name.to_owned()];
        place.arguments.extend(option);
    }
    place
}

/// The partition, of two, that has a property.
fn partition_of(property: &str) -> PartitionNumber {
    let name = Name::parse(property.as_bytes()).expect("a name");
    PartitionNumber::of_name(&name, 2)
}

/// The partition that a request is decided by.
fn asked(request: &Request) -> PartitionNumber {
    match request {
        Request::Book { wish, .. } | Request::Hold { wish, .. } => partition_of(wish.property()),
        Request::Confirm { hold: text, .. }
        | Request::Release { hold: text }
        | Request::Cancel { booking: text, .. } => {
            let reference = Reference::parse(text.as_bytes()).expect("a reference");
            reference.partition()
        }
    }
}

pub(crate) fn words(connection: &mut Connection, words: &[&str]) -> Value {
    ask(connection, words).unwrap_or_else(|why| panic!("{why}"))
}

/// All properties, page by page.
fn properties(connection: &mut Connection, limit: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut request = vec!["ROOMS.LIST-PROPERTIES", "LIMIT", limit];
        if let Some(cursor) = &cursor {
            request.extend(["CURSOR", cursor]);
        }
        let page = words(connection, &request);
        let listed = page.at("properties").and_then(Value::as_array);
        for property in listed.expect("a page") {
            let name = property.at("property").and_then(Value::as_str);
            found.push(name.expect("a name").to_owned());
        }
        cursor = page.at("next").and_then(Value::as_str).map(str::to_owned);
        if cursor.is_none() {
            return found;
        }
    }
}

/// The lines in which a node tells the events of its rooms.
pub(crate) fn followed(node: SocketAddr, query: &str) -> impl Iterator<Item = String> {
    let mut stream = TcpStream::connect(node).expect("a node");
    let timeout = Some(Duration::from_secs(60));
    stream.set_read_timeout(timeout).expect("a socket");
    write!(
        stream,
        "GET /v1/rooms/events?{query} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    .expect("a request is sent");
    BufReader::new(stream).lines().map_while(Result::ok)
}

/// The first thing that a node tells of its rooms, or why it tells nothing.
pub(crate) fn first_event(node: SocketAddr, query: &str) -> String {
    let mut lines = followed(node, query);
    let told = lines.find(|line| line.starts_with("data:") || line.starts_with('{'));
    told.expect("it says something")
}

/// The directories of its partitions that a node has.
fn directories(place: &NodePlace) -> impl Iterator<Item = PathBuf> {
    let second = place.data.join("partitions").join("b");
    let all = [place.data.clone(), second];
    all.into_iter().filter(|directory| directory.exists())
}

/// What a node says of both partitions.
fn check_as_one(connection: &mut Connection) {
    let totals = words(connection, &["ROOMS.GET-TOTALS"]);
    assert_eq!(totals.at("properties").and_then(Value::as_integer), Some(2));
    assert_eq!(properties(connection, "1"), ["hotel", "bench"]);
    // Whoever may read what is stale still reads what all partitions have.
    words(connection, &["READONLY"]);
    assert_eq!(properties(connection, "1"), ["hotel", "bench"]);
}

#[test]
fn clients_see_one_server_while_nodes_and_brokers_of_two_partitions_are_killed() {
    assert_ne!(
        partition_of("hotel"),
        partition_of("bench"),
        "both have work"
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = server();
    let started = Brokers::start(&server, folder.path(), &BrokersSetup::of(3));
    let mut brokers = started.expect("brokers start");
    let mut places: Vec<_> = (0..NODES)
        .map(|number| of_two(NodePlace::of(folder.path(), &brokers, number)))
        .collect();
    // Its clients see the second partition, too.
    places[2].set("--cluster-holds", "main");
    let mut nodes = start_all(&places);
    let scene = begin_scene(&nodes);
    let history = scene.while_clients_ask::<Hotel>(|| {
        disturb(&scene, &mut brokers, &mut nodes, &places);
    });
    // Each partition has an order of its own.
    let (on_first, on_second): (Vec<_>, Vec<_>) = history
        .into_iter()
        .partition(|one| asked(&one.wanted) == PartitionNumber::FIRST);
    assert!(
        on_first.len() > 20 && on_second.len() > 20,
        "both have work"
    );
    let mut books = [on_first, on_second].map(|history| judge(&history));
    for node in &nodes {
        let mut connection = connect(node.resp()).expect("a node");
        let listed = everything(&mut connection).unwrap_or_else(|why| panic!("{why}"));
        for (number, books) in (0..).zip(&mut books) {
            let is_there = |entry: &&Entry| partition_of(&entry["property"]).get() == number;
            let there: Vec<_> = listed.iter().filter(is_there).cloned().collect();
            let compared = books.compare_listed(&there);
            compared.unwrap_or_else(|why| panic!("{why}"));
        }
        check_as_one(&mut connection);
    }
    end_all(nodes, places.iter().flat_map(directories));
}

#[test]
fn a_node_with_another_list_of_partitions_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let started = Brokers::start(&server(), folder.path(), &BrokersSetup::of(1));
    let brokers = started.expect("a broker starts");
    let mut place = NodePlace::of(folder.path(), &brokers, 0);
    let alone = ["--cluster-replicas".to_owned(), "1".to_owned()];
    place.arguments.extend(alone);
    fs::create_dir(&place.data).expect("a folder for a node");
    let of_one = place.arguments.clone();
    let place = of_two(place);
    let node = place.start();
    let mut connection = connect(node.resp()).expect("a node");
    words(&mut connection, &["ROOMS.ADD-PROPERTY", "bench", "OPEN"]);
    assert!(node.stop().success(), "it ends well");
    for arguments in [of_one.clone(), {
        let mut other = of_one;
        for name in ["main", "c"] {
            let option = ["--cluster-partitions".to_owned(), name.to_owned()];
            other.extend(option);
        }
        other
    }] {
        let refused = Turnstile::begin(&place.data, &arguments);
        assert!(!refused.ended().success(), "{arguments:?} is refused");
    }
    let arguments: Vec<&str> = place.arguments.iter().map(String::as_str).collect();
    let again = Turnstile::serve_http(&place.data, &arguments);
    let mut connection = connect(again.resp()).expect("a node");
    assert_eq!(properties(&mut connection, "100"), ["bench"]);
    let told = first_event(again.http(), "partition=b&since=0.0");
    assert!(told.contains("\"bench\""), "{told}");
    let told = first_event(again.http(), "since=0.0,0.0");
    assert!(told.contains("\"bench\""), "{told}");
    assert!(again.stop().success(), "it ends well");
}

/// A figure of a further partition, from `INFO cluster`.
fn figure_of(connection: &mut Connection, partition: &str, name: &str) -> u64 {
    let facts = words(connection, &["INFO", "cluster"]);
    let facts = facts.as_str().unwrap_or_default().to_owned();
    let line = format!("cluster_partition_{partition}:");
    let figures = facts.lines().find_map(|fact| fact.strip_prefix(&line));
    let figures = figures.unwrap_or_default().trim().split(',');
    let mut figures = figures.filter_map(|one| one.split_once('='));
    let found = figures.find(|(one, _)| *one == name);
    found.map_or(0, |(_, value)| value.parse().expect("a number"))
}

/// The first of these names that lies on a partition of two.
pub(crate) fn name_on(partition: u8, mut names: impl Iterator<Item = String>) -> String {
    let lies_there = |name: &String| partition_of(name).get() == partition;
    names.find(lies_there).expect("names lie on both")
}

/// The logs of both partitions were purged: who comes then needs a snapshot of each.
#[test]
fn a_node_that_comes_late_begins_with_a_snapshot_of_each_partition() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_brokers, places) = scene::<2>(folder.path(), "268435456");
    let places = places.map(of_two);
    fs::create_dir(&places[0].data).expect("a folder for a node");
    let first = places[0].start();
    let mut connection = connect(first.resp()).expect("a node");
    let mut added = Vec::new();
    let is_purged = |connection: &mut Connection| {
        figure(connection, "cluster_log_first_entry") > 1
            && figure_of(connection, "b", "log_first_entry") > 1
    };
    while !is_purged(&mut connection) {
        let name = format!("p{:06}", added.len());
        words(&mut connection, &["ROOMS.ADD-PROPERTY", &name, "OPEN"]);
        added.push(name);
        assert!(added.len() < 20_000, "both logs let entries go");
    }
    let second = name_on(1, added.iter().cloned());
    let request = [
        "ROOMS.BOOK",
        &second,
        "7",
        "2026-10-01",
        "2026-10-02",
        "ann",
        "234123412346",
    ];
    let booked = words(&mut connection, &request);
    let reference = booked.at("reference").and_then(Value::as_str);
    let reference = reference.expect("a reference").to_owned();
    make_room(&places[1].data, &places[0].data);
    let late = places[1].start();
    let mut at_late = connect(late.resp()).expect("a node");
    let mut found = properties(&mut at_late, "1000");
    found.sort_unstable();
    assert_eq!(found, added, "it has all that was added before it came");
    for entry in ["cluster_snapshot_entry", "cluster_entry"] {
        assert!(figure(&mut at_late, entry) > 1, "{entry}");
    }
    assert!(figure_of(&mut at_late, "b", "snapshot_entry") > 1);
    let seen = words(&mut at_late, &["ROOMS.LOOK-UP", &reference]);
    let room = seen.at("room").and_then(Value::as_str);
    assert_eq!(room, Some("7"));
    end_all([first, late], places.iter().flat_map(directories));
}

/// What a node says of itself and of the others.
fn told(connection: &mut Connection) -> String {
    let told = words(connection, &["CLUSTER", "STATUS"]);
    told.as_str().expect("a text").to_owned()
}

/// A node knows the only booking, which was asked for by these words.
fn check_booking(connection: &mut Connection, book: &[&str; 9], reference: &str) {
    let again = words(connection, book);
    assert_eq!(
        again.at("reference").and_then(Value::as_str),
        Some(reference)
    );
    let seen = words(connection, &["ROOMS.LOOK-UP", reference]);
    assert_eq!(seen.at("room").and_then(Value::as_str), Some("7"));
    assert_eq!(properties(connection, "1"), ["hotel", "bench"]);
    let totals = words(connection, &["ROOMS.GET-TOTALS"]);
    assert_eq!(totals.at("bookings").and_then(Value::as_integer), Some(1));
    let mut taken = *book;
    taken[8] = "k-2";
    let refused = words(connection, &taken);
    assert_eq!(
        refused.at("outcome").and_then(Value::as_str),
        Some("refused")
    );
    taken[6] = "234123412347";
    taken[8] = "k-1";
    let refused = ask(connection, &taken).expect_err("the key was used");
    assert!(refused.contains("IDEMMISMATCH"), "{refused}");
}

/// A booking in the second partition.
const BOOK: [&str; 9] = [
    "ROOMS.BOOK",
    "bench",
    "7",
    "2026-10-01",
    "2026-10-02",
    "ann",
    "234123412346",
    "KEY",
    "k-1",
];

/// Asks until a node that holds the second partition is heard.
pub(crate) fn ask_patiently(connection: &mut Connection, request: &[&str]) -> Value {
    loop {
        match ask(connection, request) {
            Ok(answer) => return answer,
            Err(why) => assert!(why.contains("no node that holds partition b"), "{why}"),
        }
    }
}

pub(crate) fn start_http(place: &NodePlace) -> Turnstile {
    let arguments: Vec<&str> = place.arguments.iter().map(String::as_str).collect();
    Turnstile::serve_http(&place.data, &arguments)
}

#[test]
fn a_node_that_holds_one_partition_serves_clients_of_both() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_brokers, places) = scene::<3>(folder.path(), "268435456");
    let mut places = places.map(of_two);
    places[0].set("--cluster-holds", "main");
    fs::create_dir(&places[0].data).expect("a folder for a node");
    let relaying = start_http(&places[0]);
    let mut connection = connect(relaying.resp()).expect("a node");
    let add = ["ROOMS.ADD-PROPERTY", "bench", "OPEN"];
    let refused = ask(&mut connection, &add).expect_err("nobody holds it");
    assert!(refused.contains("UNAVAILABLE"), "{refused}");
    words(&mut connection, &["ROOMS.ADD-PROPERTY", "hotel", "OPEN"]);
    make_room(&places[1].data, &places[0].data);
    let holding = start_http(&places[1]);
    let mut at_holding = connect(holding.resp()).expect("a node");
    ask_patiently(&mut connection, &add);
    let booked = words(&mut connection, &BOOK);
    let reference = booked.at("reference").and_then(Value::as_str);
    let reference = reference.expect("a reference").to_owned();
    for connection in [&mut connection, &mut at_holding] {
        check_booking(connection, &BOOK, &reference);
    }
    check_announced(&mut connection, &relaying, &holding);
    // Another holder takes the place of one that ends, also for what follows the events there.
    make_room(&places[2].data, &places[0].data);
    let third = start_http(&places[2]);
    assert!(holding.stop().success(), "a node ends well");
    let mut other = BOOK;
    (other[2], other[8]) = ("8", "k-3");
    ask_patiently(&mut connection, &other);
    let ids = event_ids(third.http(), "partition=b&since=0.0", 2);
    let next = event_ids(third.http(), &format!("partition=b&since={}", ids[0]), 1);
    assert_eq!(next[0], ids[1], "it goes on behind the last one");
    third.kill();
    let refused = ask(&mut connection, &["ROOMS.LOOK-UP", &reference]);
    let why = refused.expect_err("nobody holds it");
    assert!(why.contains("UNAVAILABLE"), "{why}");
    let mut on_first = BOOK;
    (on_first[1], on_first[8]) = ("hotel", "k-4");
    words(&mut connection, &on_first);
    assert!(relaying.stop().success(), "a node ends well");
}

/// Nodes say of each other what they hold and where they are; who follows the second partition hears it.
fn check_announced(connection: &mut Connection, relaying: &Turnstile, holding: &Turnstile) {
    let all = "\"holds\":[\"main\",\"b\"]";
    let status = loop {
        let status = told(connection);
        if status.contains(all) {
            break status;
        }
    };
    for word in ["\"holds\":[\"main\"]", &*holding.resp().to_string()] {
        assert!(status.contains(word), "{word}: {status}");
    }
    let refused = first_event(relaying.http(), "partition=b&since=0.0");
    let address = holding.http().to_string();
    assert!(
        refused.contains("n1 at") && refused.contains(&address),
        "{refused}"
    );
    let event = first_event(holding.http(), "partition=b&since=0.0");
    assert!(event.contains("\"bench\""), "{event}");
}

/// The ids of so many events that a node tells of its rooms.
fn event_ids(node: SocketAddr, query: &str, count: usize) -> Vec<String> {
    let lines = followed(node, query);
    let ids = lines.filter_map(|line| Some(line.strip_prefix("id:")?.trim().to_owned()));
    ids.take(count).collect()
}
