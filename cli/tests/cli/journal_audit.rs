//! `turnstile audit`: who did what, on directories of servers that were stopped or killed.

use std::{path::Path, time::Duration};

use serde_json::{Value, json};
use turnstile_client::{AccessKey, Connection, ServerAddress, http};

use crate::{
    process::{Ended, Server, ask, run, turnstile, words},
    tx::await_waiting,
};

const ID_NUMBER: &str = "234123412346";

fn audit(dir: &Path, options: &[&str]) -> Ended {
    run(turnstile().args(["audit", "--data"]).arg(dir).args(options))
}

/// The lines of an audit as JSON.
fn lines(dir: &Path, options: &[&str]) -> Vec<Value> {
    let ended = audit(dir, &[&["--format", "jsonl"], options].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        !ended.out.contains(ID_NUMBER),
        "an id number is shown nowhere"
    );
    let lines = ended.out.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Lines without position and time.
fn told(lines: &[Value]) -> Vec<Value> {
    let told = lines.iter().cloned().map(|mut line| {
        let members = line.as_object_mut().unwrap();
        for name in ["position", "time", "principal", "door", "address_class"] {
            assert!(members.remove(name).is_some(), "{name}: {members:?}");
        }
        line
    });
    told.collect()
}

/// A directory of a killed server: a room that was booked, asked for again, cancelled by a stranger, and
/// by its guest; and an order without cash.
fn killed() -> tempfile::TempDir {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let mut door = server.connect();
    let mut ask = |line: &str| words(&ask(&mut door, line));
    let book = format!("ROOMS.BOOK bench room-7 2027-01-01 2027-01-03 ada {ID_NUMBER}");
    let booked = ask(&book);
    let reference = booked.split(' ').nth(1).unwrap();
    assert!(ask(&book).starts_with("0 sold_out"));
    assert!(ask(&format!("ROOMS.CANCEL {reference} 867545239872")).starts_with("0 wrong_guest"));
    assert!(ask(&format!("ROOMS.CANCEL {reference} {ID_NUMBER}")).starts_with('1'));
    assert!(ask("EXCHANGE.CREATE-ACCOUNT audited 0").starts_with('1'));
    drop(server);
    data
}

#[test]
fn every_command_of_a_killed_server_is_told_with_what_it_came_to() {
    let data = killed();
    let all = lines(data.path(), &[]);
    for line in &all[all.len() - 5..] {
        assert_eq!(
            (&line["door"], &line["address_class"]),
            (&json!("resp"), &json!("loopback"))
        );
    }
    let positions: Vec<u64> = all
        .iter()
        .map(|line| line["position"].as_u64().unwrap())
        .collect();
    assert!(positions.is_sorted(), "{positions:?}");
    let last = told(&all[all.len() - 5..]);
    let stay = json!({"arrival": "2027-01-01", "departure": "2027-01-03"});
    let reference = last[0]["answer"]["reference"].as_str().unwrap();
    let book = json!({
        "property": "bench", "wish": "room-7", "arrival": "2027-01-01", "departure": "2027-01-03",
        "guest": "ada",
    });
    let sold_out = "No room is free for all of these nights";
    let wrong = "The id number is not the one that booked";
    let expected = [
        json!({
            "service": "rooms", "operation": "book", "fields": book, "outcome": "done",
            "answer": {"reference": reference, "room": "room-7"},
        }),
        json!({
            "service": "rooms", "operation": "book", "fields": book, "outcome": "refused",
            "code": "sold_out", "reason": sold_out,
            "data": {"nights": ["2027-01-01", "2027-01-02"]},
        }),
        json!({
            "service": "rooms", "operation": "cancel", "fields": {"reference": reference},
            "outcome": "refused", "code": "wrong_guest", "reason": wrong,
        }),
        json!({
            "service": "rooms", "operation": "cancel", "fields": {"reference": reference},
            "outcome": "done",
            "answer": {"room": "room-7", "arrival": stay["arrival"], "departure": stay["departure"]},
        }),
        json!({
            "service": "exchange", "operation": "create_account",
            "fields": {"account": "audited", "cash": "0"}, "outcome": "done",
        }),
    ];
    assert_eq!(last, expected);
}

#[test]
fn an_audit_shows_what_is_asked_for() {
    let data = killed();
    let all = lines(data.path(), &[]);
    let is = |name: &'static str, wanted: &'static str| {
        let one = move |line: &&Value| line[name] == wanted;
        all.iter().filter(one).cloned().collect::<Vec<_>>()
    };
    let refused = lines(data.path(), &["--refused"]);
    assert_eq!(refused, is("outcome", "refused"));
    assert_eq!(refused.len(), 2);
    assert_eq!(
        lines(data.path(), &["--service", "exchange"]),
        is("service", "exchange")
    );
    assert_eq!(lines(data.path(), &["--principal", "local"]), all);
    assert_eq!(
        lines(data.path(), &["--principal", "nobody"]),
        [Value::Null; 0]
    );
    assert_eq!(lines(data.path(), &["--since", "1h"]), all);
    assert_eq!(lines(data.path(), &["--until", "1h"]), [Value::Null; 0]);
    let middle = all[all.len() / 2]["time"].as_str().unwrap();
    let before = lines(data.path(), &["--until", middle]);
    let since = lines(data.path(), &["--since", middle]);
    assert_eq!([before, since].concat(), all);

    let table = audit(data.path(), &["--refused", "--service", "rooms"]);
    let rows: Vec<&str> = table.out.lines().collect();
    let [head, sold_out, wrong_guest] = rows[..] else {
        panic!("{table:?}");
    };
    assert!(head.trim_start().starts_with("POSITION  TIME"), "{head}");
    let book = "rooms.book property=bench wish=room-7 arrival=2027-01-01 departure=2027-01-03 guest=ada: \
                refused, sold_out nights=[\"2027-01-01\",\"2027-01-02\"] (No room is free for all of these \
                nights)";
    assert!(sold_out.ends_with(book), "{sold_out}");
    let wrong = ": refused, wrong_guest (The id number is not the one that booked)";
    assert!(wrong_guest.ends_with(wrong), "{wrong_guest}");
    assert!(table.err.starts_with("2 of "), "{table:?}");
}

/// A query of travel waits for a lock until the other transaction commits.
#[test]
fn a_command_that_waited_is_told_once_with_its_answer() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let [mut first, mut second] = waiting(&server);
    let committed = words(&ask(&mut first, "TRAVEL.COMMIT 3"));
    assert!(committed.starts_with('1'), "{committed}");
    assert!(words(&second.receive().unwrap()).starts_with("1 2 0 100"));
    drop(server);
    let all = lines(data.path(), &["--service", "travel"]);
    let queried = queries(&all);
    let [query] = &queried[..] else {
        panic!("{queried:?}");
    };
    let commit = all
        .iter()
        .find(|line| line["operation"] == "commit" && line["fields"]["xid"] == 3);
    assert_eq!(query["decided_at"], commit.unwrap()["position"]);
    assert_eq!(query["outcome"], "done");
    let answer = json!({"free": 2, "reserved": 0, "price": 100});
    assert_eq!(query["answer"], answer);
}

/// Of a query that still waited when the server was killed, the next start makes an abort.
#[test]
fn a_command_that_nobody_has_answered_is_told_as_waiting_until_a_start_ends_it() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let [mut first, _second] = waiting(&server);
    // Steps of open transactions are no promise: something else has them written.
    assert!(words(&ask(&mut first, "ROOMS.ADD-PROPERTY other")).starts_with('1'));
    drop(server);
    let queried = queries(&lines(data.path(), &[]));
    let [query] = &queried[..] else {
        panic!("{queried:?}");
    };
    assert_eq!(query["outcome"], "waiting");
    assert_eq!(query.get("decided_at"), None);
    Server::dev(data.path()).stop();
    let queried = queries(&lines(data.path(), &["--refused"]));
    let [query] = &queried[..] else {
        panic!("{queried:?}");
    };
    assert_eq!(
        (&query["code"], &query["data"]),
        (&json!("aborted"), &json!({"cause": "restarted"}))
    );
    assert!(query["decided_at"].as_u64() > query["position"].as_u64());
}

/// Two connections; the second waits for what transaction 3 has.
fn waiting(server: &Server) -> [Connection; 2] {
    let [mut first, mut second] = [server.connect(), server.connect()];
    for line in [
        "TRAVEL.START",
        "TRAVEL.START",
        "TRAVEL.ADD-ITEM 3 flight-7 2 100",
    ] {
        let answer = words(&ask(&mut first, line));
        assert!(answer.starts_with('1'), "{line}: {answer}");
    }
    second.send(&[b"TRAVEL.QUERY-ITEM", b"4", b"flight-7"]);
    second.flush().unwrap();
    await_waiting(server);
    [first, second]
}

fn queries(lines: &[Value]) -> Vec<Value> {
    let is_one = |line: &&Value| line["operation"] == "query_item" && line["fields"]["xid"] == 4;
    lines.iter().filter(is_one).cloned().collect()
}

/// The digest of a key would let nobody in, but it is shown nowhere.
#[test]
fn keys_that_are_made_on_a_stopped_directory_are_told_without_secret_and_digest() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("hotel");
    let made = run(turnstile().arg("init").arg(&data));
    assert_eq!(made.code, Some(0), "{made:?}");
    let printed = format!("{}{}", made.out, made.err);
    let key = printed
        .split_whitespace()
        .find(|word| word.starts_with("ts_"));
    let key = key.unwrap_or_else(|| panic!("{made:?}"));
    let secret = key.rsplit('_').next().unwrap();
    let lines = lines(&data, &["--service", "access"]);
    let added = lines
        .iter()
        .find(|line| line["operation"] == "add_key")
        .unwrap();
    assert_eq!(
        (&added["door"], &added["outcome"]),
        (&json!("directory"), &json!("done"))
    );
    let id = key.split('_').nth(2).unwrap();
    assert_eq!(added["fields"]["id"], id);
    let text = Value::from(lines).to_string();
    assert!(!text.contains(secret), "{text}");
    let is_digest =
        |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    assert_eq!(words.filter(|word| is_digest(word)).count(), 0, "{text}");
}

#[test]
fn what_cannot_be_audited_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let none = audit(data.path(), &[]);
    assert_eq!(none.code, Some(1), "{none:?}");
    assert!(
        none.err.contains("there is no journal in this directory"),
        "{none:?}"
    );
    let wrong = audit(data.path(), &["--service", "hotel"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(
        wrong.err.contains("one of rooms, exchange, travel"),
        "{wrong:?}"
    );
}

#[test]
fn what_a_running_server_has_acknowledged_is_told() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let mut door = server.connect();
    for number in 1..4 {
        let account = format!("account-{number}");
        let answer = words(&ask(
            &mut door,
            &format!("EXCHANGE.CREATE-ACCOUNT {account} 0"),
        ));
        assert!(answer.starts_with('1'), "{answer}");
        let last = lines(data.path(), &[]).pop().unwrap();
        assert_eq!(last["fields"]["account"], account);
    }
    let ended = audit(data.path(), &[]);
    let said = "a server uses the directory: what it acknowledged later is not shown";
    assert!(ended.err.contains(said), "{ended:?}");
    server.stop();
}

/// A connection to the HTTP door, with a key or without.
fn http(server: &Server, key: Option<&str>) -> http::Connection {
    let address = ServerAddress::from(server.door("http").unwrap());
    let key = key.map(|key| AccessKey::parse(key).unwrap());
    http::Connection::connect(&address, ("localhost", key), Duration::from_secs(60)).unwrap()
}

/// A page of the audit.
fn page(door: &mut http::Connection, query: &str) -> Value {
    let answer = door.get(&format!("/v1/audit?{query}")).unwrap();
    let text = String::from_utf8(answer.body).unwrap();
    assert_eq!(answer.status, 200, "{text}");
    assert!(!text.contains(ID_NUMBER), "an id number is shown nowhere");
    serde_json::from_str(&text).unwrap()
}

/// The lines of all pages from this cursor on, and how many pages there were.
fn pages(door: &mut http::Connection, query: &str, mut cursor: String) -> (Vec<Value>, usize) {
    let mut lines = Vec::new();
    for count in 1.. {
        let page = page(door, &format!("{query}{cursor}"));
        lines.extend(page["commands"].as_array().unwrap().iter().cloned());
        let Some(next) = page["next"].as_str() else {
            return (lines, count);
        };
        cursor = format!("&cursor={next}");
    }
    (lines, 0)
}

#[test]
fn a_server_tells_over_http_what_its_directory_tells() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let [mut first, _second] = waiting(&server);
    // Steps of open transactions are no promise: something else has them written.
    for answer in ['1', '0'] {
        assert!(words(&ask(&mut first, "ROOMS.ADD-PROPERTY other")).starts_with(answer));
    }
    let http = format!("http://{}", server.door("http").unwrap());
    let rows: [&[&str]; 7] = [
        &[],
        &["--refused"],
        &["--service", "rooms"],
        &["--service", "travel", "--principal", "local"],
        &["--principal", "nobody"],
        &["--since", "1h", "--until", "2100-01-01"],
        &["--until", "2000-01-01"],
    ];
    for options in rows {
        for format in ["table", "jsonl"] {
            let options = [options, &["--format", format]].concat();
            let of_directory = audit(data.path(), &options);
            let of_server = run(turnstile().args(["audit", "--http", &http]).args(&options));
            assert_eq!(of_directory.code, Some(0), "{of_directory:?}");
            assert_eq!(of_server.code, Some(0), "{of_server:?}");
            assert_eq!(of_server.out, of_directory.out, "{options:?}");
            let last = |ended: &Ended| ended.err.lines().last().map(str::to_owned);
            assert_eq!(last(&of_server), last(&of_directory), "{options:?}");
        }
    }
    server.stop();
}

#[test]
fn pages_of_an_audit_follow_each_other_whoever_asks_between_them() {
    let data = killed();
    let server = Server::dev(data.path());
    let all = lines(data.path(), &[]);
    let mut door = http(&server, None);
    let (paged, count) = pages(&mut door, "limit=2", String::new());
    assert!(paged == all, "{} of {}", paged.len(), all.len());
    assert_eq!(count, all.len().div_ceil(2));
    // The same commands from the end.
    let newest = "order=newest&limit=2";
    let (mut backwards, _) = pages(&mut door, newest, String::new());
    backwards.reverse();
    assert!(backwards == all, "{} of {}", backwards.len(), all.len());
    // A page says how many commands were read for it, also where none of them is shown.
    let whole = page(&mut door, "principal=nobody");
    assert_eq!(whole["commands"], json!([]));
    assert_eq!(whole["read"], all.len());
    assert_eq!(whole["position"], all.last().unwrap()["position"]);
    // What is decided later stands behind the position at which the pages ended.
    let end = format!("&cursor=c{:016x}", whole["position"].as_u64().unwrap());
    assert_eq!(pages(&mut door, "", end.clone()).0, [Value::Null; 0]);
    let created = words(&ask(
        &mut server.connect(),
        "EXCHANGE.CREATE-ACCOUNT later 0",
    ));
    assert!(created.starts_with('1'), "{created}");
    let (later, _) = pages(&mut door, "", end);
    assert_eq!(later.len(), 1);
    assert_eq!(later[0]["fields"]["account"], "later");
    // Whoever has the cursor of a page goes on there, also after a restart.
    let first = page(&mut door, "limit=3");
    let cursor = format!("&cursor={}", first["next"].as_str().unwrap());
    server.stop();
    let server = Server::dev(data.path());
    let mut door = http(&server, None);
    let (rest, _) = pages(&mut door, "limit=3", cursor);
    let expected: Vec<&Value> = all[3..].iter().chain(&later).collect();
    // The start has left records of its own behind them.
    let told: Vec<&Value> = rest.iter().take(expected.len()).collect();
    assert!(told == expected, "{}", rest.len());
    server.stop();
}

/// To say what was refused, the commands are decided again: that takes the memory of a second server, so
/// one audit is read at a time.
#[test]
fn one_audit_is_read_at_a_time_and_its_reader_has_it_until_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let made = run(turnstile().arg("init").arg(&data));
    let key = made.out.trim_end();
    let other = ["key", "create", "auditor", "--role", "admin", "--data"];
    let other = run(turnstile().args(other).arg(&data));
    let other = other.out.trim_end();
    let reader = ["key", "create", "books", "--role", "reader", "--data"];
    let reader = run(turnstile().args(reader).arg(&data));
    let mut command = turnstile();
    command.args(["serve", "--resp", "off", "--http", "127.0.0.1:0", "--data"]);
    let server = Server::start(command.arg(&data));
    let [mut one, mut two] = [key, other].map(|key| http(&server, Some(key)));
    let first = page(&mut one, "principal=local&limit=1");
    assert_eq!(two.get("/v1/audit").unwrap().status, 503);
    // Its reader may begin anew, and has it to itself again.
    assert_eq!(page(&mut one, "principal=local&limit=1"), first);
    let cursor = format!("&cursor={}", first["next"].as_str().unwrap());
    let (rest, _) = pages(&mut one, "principal=local", cursor);
    let (all, _) = pages(&mut two, "principal=local", String::new());
    // The server has noted the use of the second key meanwhile.
    assert!(rest.len() > 5 && all[1..].starts_with(&rest), "{all:?}");
    // Nobody else sees it: it tells of everybody's business.
    let mut books = http(&server, Some(reader.out.trim_end()));
    let denied = books.get("/v1/audit").unwrap();
    assert_eq!(denied.status, 403, "{denied:?}");
    let address = format!("http://{}", server.door("http").unwrap());
    for (key, code) in [
        (None, 77),
        (Some(reader.out.trim_end()), 77),
        (Some(key), 0),
    ] {
        let mut command = turnstile();
        command.args(["audit", "--http", &address]);
        let ended = run(command.envs(key.map(|key| ("TURNSTILE_KEY", key))));
        assert_eq!(ended.code, Some(code), "{ended:?}");
    }
    server.stop();
}
