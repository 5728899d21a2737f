//! What a server writes about requests: its access log, warnings about slow ones, and their traces.

use std::{fs, path::Path, process::Command};

use rustix::process::Signal;
use serde_json::Value;

use crate::{
    process::{Server, ask, run, turnstile, words},
    reload::asked,
};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// A server on free ports with these options.
fn serve(data: &Path, options: &[&str]) -> Command {
    let mut command = turnstile();
    command.arg("serve").arg("--data").arg(data);
    command.args([
        "--resp",
        "127.0.0.1:0",
        "--http",
        "127.0.0.1:0",
        "--durability",
        "os",
    ]);
    command.args(options);
    command
}

#[test]
fn a_hang_up_opens_the_access_log_again() {
    let folder = tempfile::tempdir().unwrap();
    let [path, old] = ["access.log", "access.log.1"].map(|name| folder.path().join(name));
    let to = path.to_str().unwrap();
    let server = Server::start(&mut serve(
        &folder.path().join("data"),
        &["--access-log", to],
    ));
    let mut door = server.connect();
    assert_eq!(words(&ask(&mut door, "PING")), "PONG");
    while !fs::read_to_string(&path)
        .unwrap()
        .contains("operation=ping")
    {}
    fs::rename(&path, &old).unwrap();
    server.signal(Signal::HUP);
    while !path.exists() {}
    assert_eq!(words(&ask(&mut door, "ECHO again")), "again");
    server.stop();
    let [new, old] = [path, old].map(|path| fs::read_to_string(path).unwrap());
    assert!(!old.contains("operation=echo"), "{old}");
    assert!(new.contains(" door=resp peer=127.0.0.1:"), "{new}");
    assert!(new.contains(" operation=echo outcome=ok bytes="), "{new}");
}

#[test]
fn an_access_log_that_cannot_be_opened_is_no_start() {
    let folder = tempfile::tempdir().unwrap();
    let ended = run(&mut serve(
        &folder.path().join("data"),
        &["--access-log", "/nowhere/at/all"],
    ));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let why = "the access log cannot be opened: No such file or directory";
    assert!(ended.err.contains(why), "{ended:?}");
}

#[test]
fn a_slow_request_is_a_warning_with_the_parts_of_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--slow-request-us", "1"];
    let server = Server::start(&mut serve(&folder.path().join("data"), &options));
    let mut door = server.connect();
    assert_eq!(words(&ask(&mut door, "PING")), "PONG");
    server.await_logged("slow requests: the slowest of them requests=1 operation=\"ping\"");
    let log = server.stop();
    for part in [
        "us=",
        "queue_us=",
        "decide_us=",
        "sync_us=",
        "send_us=",
        "request_id=",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
    let ended = run(turnstile().args(["config", "print", "--slow-request-us", "60000001"]));
    let bounds = "it is from 0, for none, to 60000000 microseconds";
    assert!(ended.err.contains(bounds), "{ended:?}");
}

/// The ids of the requests of clients that an audit of a directory shows.
fn request_ids(data: &Path) -> Vec<String> {
    let ended = run(turnstile()
        .args(["audit", "--format", "jsonl", "--data"])
        .arg(data));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines = ended.out.lines();
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .filter(|line| line["door"] == "resp" || line["door"] == "http")
        .map(|line| line["request_id"].as_str().unwrap_or("-").to_owned())
        .collect()
}

#[test]
fn records_keep_the_trace_of_a_request_in_place_of_an_id() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(&mut serve(&data, &[]));
    let mut door = server.connect();
    let mut told = |line: &str| words(&ask(&mut door, line));
    assert_eq!(told(&format!("CLIENT TRACEPARENT {TRACEPARENT}")), "OK");
    assert!(told("ROOMS.ADD-PROPERTY traced OPEN").starts_with('1'));
    assert!(told("ROOMS.ADD-PROPERTY untraced OPEN").starts_with('1'));
    assert_eq!(told(&format!("CLIENT TRACEPARENT {TRACEPARENT}")), "OK");
    assert_eq!(told("MULTI"), "OK");
    assert_eq!(told("ROOMS.ADD-PROPERTY batched OPEN"), "QUEUED");
    assert!(told("EXEC").starts_with('1'));
    let http = server.door("http").unwrap();
    for head in [
        format!("traceparent: {TRACEPARENT}\r\n"),
        format!("traceparent: {TRACEPARENT}\r\nX-Request-Id: mine\r\n"),
    ] {
        let (status, _) = asked(http, "POST /v1/travel/transactions", &head);
        assert_eq!(status, 201);
    }
    server.stop();
    let ids = request_ids(&data);
    assert_eq!(ids, [TRACE, "-", TRACE, TRACE, "mine"]);
}
