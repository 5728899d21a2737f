//! `turnstile lab`: with a server of its own, and with one that is given.

use std::fs;

use crate::process::{Server, run, turnstile};

#[test]
fn a_rush_sells_one_room_once() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("rush.json");
    let mut command = turnstile();
    command.args(["lab", "rush", "--rooms", "1", "--clients", "60", "--json"]);
    let ended = run(command.arg(&json));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.err.contains("a server of our own at 127.0.0.1:"),
        "{ended:?}"
    );
    let report: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let figures = ["asked", "sold", "refused", "twice"].map(|name| report[name].as_u64().unwrap());
    assert_eq!(figures, [60, 1, 59, 0]);
}

#[test]
fn a_run_measures_the_server_that_it_is_given() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("run.json");
    let server = Server::dev(&directory.path().join("data"));
    let resp = server.door("resp").unwrap().to_string();
    let mut command = turnstile();
    command.args([
        "lab",
        "run",
        "rooms",
        "-c",
        "4",
        "-d",
        "300ms",
        "--warm-up",
        "100ms",
    ]);
    command.args([
        "-P",
        "2",
        "--mix",
        "book=60,cancel=40",
        "--resp",
        &resp,
        "--json",
    ]);
    let ended = run(command.arg(&json));
    // On a busy machine a run this short may be invalid, but never a violation.
    assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
    assert!(!ended.err.contains("a server of our own"), "{ended:?}");
    let report: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(report["config"]["mix"], "book=60,cancel=40");
    assert_eq!(report["config"]["pipeline"], 2);
    assert!(report["proof"]["sold"].as_u64().unwrap() > 0, "{report}");
    server.stop();
}

#[test]
fn completions_are_written_for_each_shell() {
    for (shell, word) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef turnstile"),
        ("fish", "complete -c turnstile"),
    ] {
        let ended = run(turnstile().args(["completions", shell]));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.out.contains(word), "{shell}: {}", ended.out);
    }
}
