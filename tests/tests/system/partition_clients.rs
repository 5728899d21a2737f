//! What clients of nodes of two partitions hear and ask together: events, batches, and limited keys.

use std::{collections::BTreeSet, fs, path::Path};

use turnstile_brokers::Brokers;
use turnstile_client::{Connection, resp::Value};
use turnstile_tests::Turnstile;

use crate::{
    cluster::make_room,
    cluster_snapshots::scene,
    crash::listing::{ask, connect},
    guards::{self, add, guard, with_key},
    partitions::{ask_patiently, first_event, followed, name_on, of_two, start_http, words},
};

/// Two nodes: one relays what the second partition decides, the other holds both.
struct SplitPair {
    relaying: Turnstile,
    holding: Turnstile,
    _brokers: Brokers,
}

impl SplitPair {
    fn begin(folder: &Path) -> Self {
        let (brokers, places) = scene::<2>(folder, "268435456");
        let mut places = places.map(of_two);
        places[0].set("--cluster-holds", "main");
        fs::create_dir(&places[0].data).expect("a folder for a node");
        let relaying = start_http(&places[0]);
        make_room(&places[1].data, &places[0].data);
        let holding = start_http(&places[1]);
        Self {
            relaying,
            holding,
            _brokers: brokers,
        }
    }

    fn end(self) {
        assert!(self.holding.stop().success(), "a node ends well");
        assert!(self.relaying.stop().success(), "a node ends well");
    }
}

/// Asks again until the node that holds the second partition was heard.
fn refused_with_holder(mut refused: impl FnMut() -> String) -> String {
    loop {
        let why = refused();
        if why.contains("n1 at") {
            return why;
        }
        assert!(why.contains("was heard of late"), "{why}");
    }
}

fn book<'a>(property: &'a str, room: &'a str) -> [&'a str; 7] {
    let stay = ("2026-10-01", "2026-10-02");
    [
        "ROOMS.BOOK",
        property,
        room,
        stay.0,
        stay.1,
        "ann",
        "234123412346",
    ]
}

fn text<'a>(answer: &'a Value, field: &str) -> Option<&'a str> {
    answer.at(field).and_then(Value::as_str)
}

/// The next message that a subscriber hears: its channel and its text.
fn heard(subscriber: &mut Connection) -> (String, String) {
    let pushed = subscriber.receive().expect("a message");
    let Value::Push(parts) = &pushed else {
        panic!("no message: {pushed:?}");
    };
    let texts: Vec<_> = parts.iter().filter_map(Value::as_str).collect();
    match &*texts {
        ["message", channel, text] => ((*channel).to_owned(), (*text).to_owned()),
        other => panic!("no message: {other:?}"),
    }
}

/// The ids and the data of so many events.
fn events(node: &Turnstile, query: &str, count: usize) -> Vec<(String, String)> {
    let mut lines = followed(node.http(), query);
    let mut next = |prefix| {
        let line = lines.find_map(|line| Some(line.strip_prefix(prefix)?.trim().to_owned()));
        line.unwrap_or_else(|| panic!("{query} tells {count} events"))
    };
    (0..count).map(|_| (next("id:"), next("data:"))).collect()
}

#[test]
fn subscribers_and_streams_hear_of_both_partitions() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pair = SplitPair::begin(folder.path());
    let mut subscriber = connect(pair.holding.resp()).expect("a node");
    subscriber.send(&[b"SUBSCRIBE", b"rooms.events"]);
    subscriber.flush().expect("a node");
    let confirmed = subscriber.receive().expect("an answer");
    assert!(matches!(confirmed, Value::Push(_)), "{confirmed:?}");
    let mut asking = connect(pair.relaying.resp()).expect("a node");
    words(&mut asking, &["ROOMS.ADD-PROPERTY", "hotel", "OPEN"]);
    ask_patiently(&mut asking, &["ROOMS.ADD-PROPERTY", "bench", "OPEN"]);
    let mut references = Vec::new();
    for (property, room) in [
        ("hotel", "1"),
        ("bench", "1"),
        ("bench", "2"),
        ("hotel", "2"),
    ] {
        let booked = words(&mut asking, &book(property, room));
        references.push(text(&booked, "reference").expect("a reference").to_owned());
    }
    let messages: Vec<_> = (0..6).map(|_| heard(&mut subscriber)).collect();
    let of_one = |name: &str| -> Vec<&str> {
        let partition = format!("{{\"partition\":\"{name}\",");
        let told = messages.iter().map(|(_, text)| text.as_str());
        told.filter(|text| text.starts_with(&partition)).collect()
    };
    assert!(
        messages
            .iter()
            .all(|(channel, _)| channel == "rooms.events")
    );
    for (name, property, booked) in [("main", "hotel", [0, 3]), ("b", "bench", [1, 2])] {
        let told = of_one(name);
        assert_eq!(told.len(), 3, "{messages:?}");
        assert!(
            told.iter()
                .all(|text| text.contains(&format!("\"{property}\"")))
        );
        // The order of a partition is that of its positions.
        for (text, number) in told.iter().skip(1).zip(booked) {
            assert!(text.contains(&references[number]), "{text}");
        }
    }
    check_streams(&pair, &of_one);
    // A node that lacks a partition tells nothing rather than half of it.
    let mut at_relaying = connect(pair.relaying.resp()).expect("a node");
    for request in [["SUBSCRIBE", "rooms.events"], ["PSUBSCRIBE", "*"]] {
        let why = refused_with_holder(|| {
            ask(&mut at_relaying, &request).expect_err("it would tell half of it")
        });
        for word in [
            "UNSUPPORTED",
            "partition b",
            &pair.holding.resp().to_string(),
        ] {
            assert!(why.contains(word), "{word}: {why}");
        }
    }
    // The channels of other services are whole on the first partition.
    at_relaying.send(&[b"SUBSCRIBE", b"travel.events"]);
    at_relaying.flush().expect("a node");
    let confirmed = at_relaying.receive().expect("an answer");
    assert!(matches!(confirmed, Value::Push(_)), "{confirmed:?}");
    pair.end();
}

/// One stream tells what all partitions tell, and goes on behind what its client has seen of each.
fn check_streams<'a>(pair: &SplitPair, of_one: &impl Fn(&str) -> Vec<&'a str>) {
    let all = events(&pair.holding, "since=0.0,0.0", 6);
    let told: BTreeSet<&str> = all.iter().map(|(_, data)| data.as_str()).collect();
    let expected: BTreeSet<&str> = of_one("main").into_iter().chain(of_one("b")).collect();
    assert_eq!(told, expected, "the same as subscribers hear, each once");
    for (seen, (id, _)) in all.iter().enumerate().take(5) {
        let rest = events(&pair.holding, &format!("since={id}"), 5 - seen);
        let rest: BTreeSet<&str> = rest.iter().map(|(_, data)| data.as_str()).collect();
        let expected: BTreeSet<&str> = all[seen + 1..].iter().map(|(_, data)| &**data).collect();
        assert_eq!(rest, expected, "behind {id}");
    }
    let one = events(&pair.holding, "partition=b&since=0.0", 3);
    assert!(one.iter().all(|(id, _)| !id.contains(',')), "{one:?}");
    let refused = first_event(pair.holding.http(), "since=0.0");
    assert!(refused.contains("2 feeds (main, b)"), "{refused}");
    let why = refused_with_holder(|| first_event(pair.relaying.http(), "since=0.0,0.0"));
    let address = pair.holding.http().to_string();
    assert!(
        why.contains("partition b") && why.contains(&address),
        "{why}"
    );
}

/// Has a batch decided.
fn batch(connection: &mut Connection, requests: &[&[&str]]) -> Vec<Value> {
    words(connection, &["MULTI"]);
    for request in requests {
        words(connection, request);
    }
    let answers = words(connection, &["EXEC"]);
    answers.as_array().expect("an answer to each").to_vec()
}

/// Queries stand between the commands of a batch, where the node holds the partition.
fn check_queries(here: &mut Connection, relayed: &mut Connection) {
    let reference = words(here, &book("bench", "5"));
    let reference = text(&reference, "reference")
        .expect("a reference")
        .to_owned();
    let look_up: &[&str] = &["ROOMS.LOOK-UP", &reference];
    let cancel: &[&str] = &["ROOMS.CANCEL", &reference, "234123412346"];
    let sixth = book("bench", "6");
    let answers = batch(here, &[look_up, cancel, look_up, &sixth]);
    assert_eq!(
        text(&answers[0], "reference"),
        Some(&*reference),
        "{answers:?}"
    );
    assert_eq!(text(&answers[1], "outcome"), Some("done"), "{answers:?}");
    assert_ne!(
        answers[0], answers[2],
        "the second look is behind the command"
    );
    assert_eq!(text(&answers[3], "outcome"), Some("done"), "{answers:?}");
    let why = refused_with_holder(|| {
        words(relayed, &["MULTI"]);
        let refused = ask(relayed, look_up).expect_err("another node decides it");
        words(relayed, &["DISCARD"]);
        refused
    });
    assert!(
        why.contains("commands of one service and nothing else"),
        "{why}"
    );
}

#[test]
fn a_batch_is_one_run_of_the_partition_that_decides_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pair = SplitPair::begin(folder.path());
    let mut relayed = connect(pair.relaying.resp()).expect("a node");
    let mut here = connect(pair.holding.resp()).expect("a node");
    words(&mut here, &["ROOMS.ADD-PROPERTY", "hotel", "OPEN"]);
    ask_patiently(&mut relayed, &["ROOMS.ADD-PROPERTY", "bench", "OPEN"]);
    let totals = ["ROOMS.GET-TOTALS"];
    for (connection, rooms) in [(&mut relayed, ["1", "2"]), (&mut here, ["3", "4"])] {
        let [first, second] = rooms.map(|room| book("bench", room));
        let answers = batch(connection, &[&first, &second, &second]);
        let positions: Vec<_> = answers
            .iter()
            .map(|one| {
                one.at("position")
                    .and_then(Value::as_integer)
                    .expect("a position")
            })
            .collect();
        assert_eq!(
            [1, 2],
            [1, 2].map(|at| positions[at] - positions[0]),
            "one run"
        );
        let outcomes: Vec<_> = answers.iter().map(|one| text(one, "outcome")).collect();
        assert_eq!(outcomes, [Some("done"), Some("done"), Some("refused")]);
        // What another order decides is refused when it is queued, and the batch is not executed.
        words(connection, &["MULTI"]);
        words(connection, &book("bench", "9"));
        let refused = ask(connection, &book("hotel", "9")).expect_err("another order");
        assert!(
            refused.contains("UNSUPPORTED partition main decides this"),
            "{refused}"
        );
        let refused = ask(connection, &["EXEC"]).expect_err("a spoiled batch");
        assert!(refused.contains("EXECABORT"), "{refused}");
        words(connection, &["MULTI"]);
        let refused = ask(connection, &totals).expect_err("all orders");
        assert!(
            refused.contains("several partitions answer this"),
            "{refused}"
        );
        words(connection, &["DISCARD"]);
        let answers = batch(connection, &[&book("hotel", rooms[0]), &["PING"]]);
        assert_eq!(text(&answers[0], "outcome"), Some("done"), "{answers:?}");
        let known = words(connection, &totals);
        let properties = known.at("properties").and_then(Value::as_integer);
        assert_eq!(properties, Some(2));
    }
    check_queries(&mut here, &mut relayed);
    pair.end();
}

#[test]
fn a_limited_key_is_judged_where_the_request_is_decided() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pair = SplitPair::begin(folder.path());
    let mut root = guard(pair.relaying.resp());
    let others = name_on(1, (0..).map(|number| format!("other-{number}")));
    for property in ["bench", &others] {
        ask_patiently(&mut root, &["ROOMS.ADD-PROPERTY", property, "OPEN"]);
    }
    let foreign = words(&mut root, &book(&others, "1"));
    let foreign = text(&foreign, "reference").expect("a reference").to_owned();
    add(&mut root, "ann", "rooms.user bench", 1);
    let login = |node: &Turnstile| {
        let connected = guards::connect(with_key(node.resp(), 1));
        connected.unwrap_or_else(|failure| panic!("{failure}"))
    };
    let mut ann = login(&pair.relaying);
    let booked = words(&mut ann, &book("bench", "1"));
    assert_eq!(text(&booked, "outcome"), Some("done"), "its own is relayed");
    let look_up = ["ROOMS.LOOK-UP", &foreign];
    for request in [&book(&others, "2")[..], &look_up] {
        let refused = ask(&mut ann, request).expect_err("another's property");
        assert!(refused.contains("NOPERM"), "{refused}");
        assert!(refused.contains("rooms"), "it names the right: {refused}");
    }
    // Of a batch nothing is done, also where a query is in it and the node holds the partition.
    let mut there = login(&pair.holding);
    let (own, another) = (book("bench", "2"), book(&others, "2"));
    for (connection, last) in [(&mut ann, &another[..]), (&mut there, &look_up)] {
        let answers = batch(connection, &[&own, last]);
        let denied = |one: &Value| matches!(one, Value::Error(why) if why.starts_with("NOPERM"));
        assert!(denied(&answers[1]), "{answers:?}");
        assert!(matches!(&answers[0], Value::Error(_)), "{answers:?}");
    }
    let free = words(&mut ann, &own);
    assert_eq!(text(&free, "outcome"), Some("done"), "nobody had booked it");
    // What the other node has acknowledged counts, whatever this one has applied.
    let mut root = guards::logged_in(pair.holding.resp());
    words(&mut root, &["ACCESS.WITHDRAW-GRANT", "ann", "rooms.user"]);
    let refused = ask(&mut ann, &book("bench", "3")).expect_err("the right is gone");
    assert!(refused.contains("NOPERM"), "{refused}");
    words(&mut root, &["ACCESS.GRANT", "ann", "rooms.user", "bench"]);
    let again = words(&mut ann, &book("bench", "3"));
    assert_eq!(text(&again, "outcome"), Some("done"), "the right is back");
    let id = guards::key(1).id().to_string();
    words(&mut root, &["ACCESS.REVOKE-KEY", &id]);
    let refused = ask(&mut ann, &book("bench", "4")).expect_err("the key is revoked");
    assert!(!refused.contains("UNKNOWN"), "nothing was done: {refused}");
    let found = words(&mut root, &book("bench", "4"));
    assert_eq!(
        text(&found, "outcome"),
        Some("done"),
        "nobody had booked it"
    );
    pair.end();
}
