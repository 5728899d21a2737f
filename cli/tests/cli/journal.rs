//! `turnstile journal`: the records of directories of running, stopped and killed servers.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::Stdio,
};

use serde_json::{Value, json};

use crate::process::{Ended, Server, ask, dev_with, run, turnstile, words};

const ID_NUMBER: &str = "234123412346";

fn journal(arguments: &[&str], dir: &Path) -> Ended {
    let ended = run(turnstile().arg("journal").args(arguments).arg(dir));
    assert!(
        !ended.out.contains(ID_NUMBER),
        "an id number is shown nowhere"
    );
    ended
}

fn lines(dir: &Path, options: &[&str]) -> Vec<Value> {
    let ended = journal(&[&["dump", "--json"], options].concat(), dir);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines = ended.out.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn book(server: &Server, room: u32) {
    let line = format!("ROOMS.BOOK bench room-{room} 2027-01-01 2027-01-03 ada {ID_NUMBER}");
    assert!(words(&ask(&mut server.connect(), &line)).starts_with("1 R"));
}

#[test]
fn records_are_shown_in_words_while_the_server_runs_and_after_it_was_killed() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    book(&server, 1);
    let live = lines(data.path(), &[]);
    let last = live.last().unwrap();
    let fields = json!({
        "property": "bench", "wish": "room-1", "arrival": "2027-01-01", "departure": "2027-01-03",
        "guest": "ada",
    });
    assert_eq!(
        [
            &last["service"],
            &last["operation"],
            &last["fields"],
            &last["door"]
        ],
        [&json!("rooms"), &json!("book"), &fields, &json!("resp")]
    );
    let positions: Vec<u64> = live
        .iter()
        .map(|line| line["position"].as_u64().unwrap())
        .collect();
    let expected: Vec<u64> = (1..=positions.len() as u64).collect();
    assert_eq!(positions, expected, "every record, ticks included");
    book(&server, 2);
    drop(server);
    let killed = lines(data.path(), &[]);
    assert_eq!(killed[..live.len()], live);
    assert_eq!(killed.last().unwrap()["fields"]["wish"], "room-2");
    let table = journal(&["dump", "--service", "rooms"], data.path());
    let row = table.out.lines().last().unwrap();
    let said =
        "rooms.book property=bench wish=room-2 arrival=2027-01-01 departure=2027-01-03 guest=ada";
    assert!(row.ends_with(said), "{row}");
    assert!(
        table.err.contains("records shown, up to position"),
        "{table:?}"
    );
}

#[test]
fn records_are_chosen_by_position_service_and_principal() {
    let data = tempfile::tempdir().unwrap();
    Server::dev(data.path()).stop();
    let all = lines(data.path(), &[]);
    let some = lines(data.path(), &["--position", "10..20"]);
    assert_eq!(some, all[9..20]);
    assert_eq!(lines(data.path(), &["--position", "10"]), all[9..10]);
    assert_eq!(lines(data.path(), &["--position", "..3"]), all[..3]);
    let services: BTreeSet<&str> = all
        .iter()
        .filter_map(|line| line["service"].as_str())
        .collect();
    assert_eq!(
        services,
        BTreeSet::from(["exchange", "rooms", "travel"]),
        "the sample market"
    );
    let mut shown = 0;
    for service in services {
        let of_it = lines(data.path(), &["--service", service]);
        assert!(of_it.iter().all(|line| line["service"] == service));
        shown += of_it.len();
    }
    assert_eq!(shown, all.len());
    assert_eq!(
        lines(data.path(), &["--principal", "nobody"]),
        [Value::Null; 0]
    );
    for wrong in [
        ["--position", "0"],
        ["--position", "9..3"],
        ["--service", "hotel"],
    ] {
        let ended = journal(&[&["dump"], &wrong[..]].concat(), data.path());
        assert_eq!(ended.code, Some(2), "{ended:?}");
    }
}

/// A journal that is not synced has no mark of what was acknowledged, but its groups say so themselves.
#[test]
fn what_a_server_has_written_without_a_sync_is_shown_while_it_runs() {
    let data = tempfile::tempdir().unwrap();
    let mut command = dev_with(&["--durability", "os", "--resp", "127.0.0.1:0"]);
    command.args(["--http", "127.0.0.1:0", "--data"]);
    let server = Server::start(command.arg(data.path()));
    for room in 1..4 {
        book(&server, room);
        let last = lines(data.path(), &[]).pop().unwrap();
        assert_eq!(last["fields"]["wish"], format!("room-{room}"));
    }
    server.stop();
}

#[test]
fn a_tail_shows_the_last_records_and_those_that_come() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    book(&server, 1);
    let mut command = turnstile();
    command
        .args(["journal", "tail", "--json", "-n", "1"])
        .arg(data.path());
    let mut tail = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(tail.stdout.take().unwrap());
    let mut next = || {
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    assert_eq!(next()["fields"]["wish"], "room-1");
    book(&server, 2);
    assert_eq!(next()["fields"]["wish"], "room-2");
    // Across a restart, with nobody in between.
    server.stop();
    let server = Server::dev(data.path());
    book(&server, 3);
    let mut last = next();
    while last["operation"] != "book" {
        last = next();
    }
    assert_eq!(last["fields"]["wish"], "room-3");
    tail.kill().unwrap();
    tail.wait().unwrap();
}

#[test]
fn figures_are_those_of_the_records() {
    let data = tempfile::tempdir().unwrap();
    Server::dev(data.path()).stop();
    let all = lines(data.path(), &[]);
    let ended = journal(&["stat", "--json"], data.path());
    let stat: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(stat["records"], all.len());
    assert_eq!(stat["last_position"], all.len());
    assert_eq!(stat["is_live"], false);
    let services = stat["services"].as_object().unwrap();
    for (name, figures) in services {
        let of_it = all.iter().filter(|line| line["service"] == name.as_str());
        assert_eq!(figures["records"], of_it.count(), "{name}");
    }
    let table = journal(&["stat"], data.path());
    assert_eq!(table.row("used by a server"), "no");
    assert!(
        table.row("records").starts_with(&all.len().to_string()),
        "{table:?}"
    );
}

#[test]
fn damage_is_named_with_its_place() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    for room in 1..4 {
        book(&server, room);
    }
    server.stop();
    let path = data.path().join("segment-00000001");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes
        .windows(6)
        .position(|window| window == b"room-2")
        .unwrap();
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    let ended = journal(&["dump"], data.path());
    assert_eq!(ended.code, Some(97), "{ended:?}");
    assert!(ended.err.contains("segment-00000001"), "{ended:?}");
    let none = journal(&["stat"], &data.path().join("nowhere"));
    assert_eq!(none.code, Some(1), "{none:?}");
}
