//! Commands that come to a server through TLS.

use std::{fs, path::Path, process::Command};

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::process::{Ended, Server, run, turnstile};

/// A certificate for a first try, as `init` makes it: its file, and that of its key.
fn certificate(folder: &Path) -> [String; 2] {
    let dir = folder.join("keys");
    let made = run(turnstile().arg("init").arg(&dir).arg("--self-signed"));
    assert_eq!(made.code, Some(0), "{made:?}");
    ["certificate.pem", "key.pem"].map(|file| dir.join("tls").join(file).display().to_string())
}

/// Drives a page; the errors of the run, and what was driven.
fn drive(page: &str, options: &[&str]) -> (Json, Json) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = turnstile();
    command.args(["lab", "run", page, "-c", "2", "-d", "300ms"]);
    // So short a run is invalid: what it found is in its result all the same.
    run(command.args(options).current_dir(folder.path()));
    let kept = fs::read_dir(folder.path().join("runs")).unwrap();
    let kept = kept.map(|one| one.unwrap().path().join("run.json"));
    let kept: Vec<_> = kept.collect();
    let kept: Json = serde_json::from_slice(&fs::read(&kept[0]).unwrap()).unwrap();
    let operation = &kept["points"][0]["operations"][0];
    (operation["errors"].clone(), kept["asked"]["target"].clone())
}

#[test]
fn a_page_is_driven_through_tls_with_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, file) = (folder.path().join("data"), folder.path().join("key"));
    let mut init = turnstile();
    init.arg("init")
        .arg(&dir)
        .args(["--self-signed", "--key-file"]);
    let made = run(init.arg(&file));
    assert_eq!(made.code, Some(0), "{made:?}");
    let [ca, key] =
        ["certificate", "key"].map(|name| dir.join("tls").join(name).with_extension("pem"));
    let (ca, key) = (ca.to_str().unwrap(), key.to_str().unwrap());
    let mut command = turnstile();
    command.args(["serve", "--resp", "off", "--http", "127.0.0.1:0"]);
    command.args(["--tls-certificate", ca, "--tls-key", key]);
    let server = Server::start(command.arg("--data").arg(&dir));
    let port = server.door("http").unwrap().port();
    let page = format!("https://localhost:{port}/v1/rooms/totals");
    let (errors, target) = drive(&page, &["--ca", ca, "--key-file", file.to_str().unwrap()]);
    assert_eq!(errors, serde_json::json!({}));
    assert_eq!(
        (&target["tls"], &target["authenticated"]),
        (&Json::from(true), &Json::from(true))
    );
    let (errors, target) = drive(&page, &["--ca", ca]);
    assert!(errors["401"].as_u64() > Some(0), "{errors}");
    assert_eq!(target["authenticated"], false);
    server.stop();
}

#[test]
fn commands_reach_every_door_of_a_server_that_they_trust() {
    let folder = tempfile::tempdir().unwrap();
    let [ca, key] = certificate(folder.path());
    let mut command = turnstile();
    command.args(["dev", "--games-scores", "off", "--http", "off"]);
    for door in ["--resp", "--xml", "--travel", "--games-arena"] {
        command.args([door, "127.0.0.1:0"]);
    }
    command.args(["--tls-certificate", &ca, "--tls-key", &key]);
    let server = Server::start(&mut command);
    let door = |name: &str| server.door(name).unwrap().port();
    let resp = format!("rediss://localhost:{}", door("resp"));
    let asked = |words: &[&str]| run(turnstile().args(words).args(["--ca", &ca]));
    let fine = |words: &[&str]| -> Ended {
        let ended = asked(words);
        assert_eq!(ended.code, Some(0), "{words:?}: {ended:?}");
        ended
    };
    let totals = fine(&["call", "rooms.get_totals", "--resp", &resp]);
    assert!(totals.out.contains("properties: 2"), "{totals:?}");
    fine(&["tx", "list", "--resp", &resp]);
    fine(&["key", "list", "--resp", &resp]);
    fine(&["lab", "rush", "--resp", &resp, "--clients", "20"]);
    // A message of the arena ends where its record does.
    let arena = format!("tls://localhost:{}", door("games-arena"));
    let games = ["lab", "run", "games", "-c", "4", "-i", "5", "--games-arena"];
    let played = asked(&[&games[..], &[&arena]].concat());
    assert!(played.out.contains("4 players: 10 games"), "{played:?}");
    assert!(!played.out.contains("VIOLATION"), "{played:?}");
    // Whom it does not trust it tells nothing, and says why.
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    let [other, _] = certificate(&other);
    for (address, ca, told) in [
        (&*resp, Some(&other), "no authority that is trusted here"),
        (&*resp, None, "authorit"),
        (&*resp.replace("rediss://", ""), None, "TLS"),
    ] {
        let mut command = turnstile();
        command.args(["call", "rooms.get_totals", "--resp", address]);
        let ended = run(command.args(ca.map(|ca| format!("--ca={ca}"))));
        assert_eq!(ended.code, Some(1), "{address} {ca:?}: {ended:?}");
        assert!(ended.err.contains(told), "{address} {ca:?}: {ended:?}");
    }
    server.stop();
}

/// Loads that operators start over HTTP ask at an address, and no certificate for a name alone let them.
#[test]
fn a_certificate_that_is_known_is_trusted_whatever_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let [ca, key] = certificate(folder.path());
    let mut command = turnstile();
    command.args(["dev", "--resp", "127.0.0.2:0"]);
    for door in [
        "--http",
        "--xml",
        "--travel",
        "--games-arena",
        "--games-scores",
    ] {
        command.args([door, "off"]);
    }
    command.args(["--tls-certificate", &ca, "--tls-key", &key]);
    let server = Server::start(&mut command);
    let resp = format!("rediss://{}", server.door("resp").unwrap());
    let asked = |trust: [&str; 2]| {
        let mut command = turnstile();
        command.args(["call", "rooms.get_totals", "--resp", &resp]);
        run(command.args(trust))
    };
    let by_name = asked(["--ca", &ca]);
    assert_eq!(by_name.code, Some(1), "{by_name:?}");
    assert!(by_name.err.contains("is for another name"), "{by_name:?}");
    let known = asked(["--server-certificate", &ca]);
    assert_eq!(known.code, Some(0), "{known:?}");
    server.stop();
}

/// A server that asks for keys, behind TLS.
struct Guarded {
    folder: TempDir,
    server: Server,
}

impl Guarded {
    /// With keys of somebody who may do whatever the lab needs, and of somebody who may only read.
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let mut init = turnstile();
        init.args(["init", &path("data"), "--self-signed", "--key-file"]);
        assert_eq!(run(init.arg(path("admin"))).code, Some(0));
        let [ca, key] = ["data/tls/certificate.pem", "data/tls/key.pem"].map(path);
        let mut command = turnstile();
        command.args(["serve", "--http", "off", "--data", &path("data")]);
        for door in ["--resp", "--travel", "--games-arena"] {
            command.args([door, "127.0.0.1:0"]);
        }
        command.args([
            "--travel-principal",
            "lab",
            "--games-arena-principal",
            "lab",
        ]);
        command.args(["--tls-certificate", &ca, "--tls-key", &key]);
        let guarded = Self {
            server: Server::start(&mut command),
            folder,
        };
        let services = ["rooms", "exchange", "travel", "games", "seats"];
        let managers = services.map(|service| format!("{service}.manager"));
        for (principal, roles) in [("lab", &managers[..]), ("viewer", &["reader".to_owned()])] {
            let mut create = turnstile();
            create.args(["key", "create", principal, "-o"]);
            create.arg(guarded.folder.path().join(principal));
            create.args(roles.iter().flat_map(|role| ["--role", role]));
            let made = run(guarded.connects(&mut create, "admin"));
            assert_eq!(made.code, Some(0), "{made:?}");
        }
        guarded
    }

    /// A command that comes to the server with a key.
    fn connects<'a>(&self, command: &'a mut Command, key: &str) -> &'a mut Command {
        let ca = self.folder.path().join("data/tls/certificate.pem");
        command
            .args(["--resp", &self.at("rediss", "resp"), "--ca"])
            .arg(ca);
        command.arg("--key-file").arg(self.folder.path().join(key))
    }

    fn at(&self, scheme: &str, door: &str) -> String {
        let port = self.server.door(door).unwrap().port();
        format!("{scheme}://localhost:{port}")
    }

    /// Runs a command of the lab with a key; what it has kept, if anything.
    fn lab(&self, key: &str, words: &[&str]) -> (Ended, Option<Json>) {
        let results = tempfile::tempdir().unwrap();
        let mut command = turnstile();
        command.arg("lab").args(words).arg("-o").arg(results.path());
        let ended = run(self.connects(&mut command, key));
        let kept = fs::read(results.path().join("run.json")).ok();
        (
            ended,
            kept.map(|kept| serde_json::from_slice(&kept).unwrap()),
        )
    }
}

/// What the lab drives at the RESP door, briefly.
const LOADS: [&[&str]; 12] = [
    &["run", "rooms", "-c", "2", "-d", "300ms"],
    &["run", "exchange", "-c", "2", "-d", "300ms"],
    &["run", "seats", "-c", "2", "-d", "300ms"],
    &["run", "games", "--door", "resp", "-c", "2", "-i", "3"],
    &["rush", "--clients", "20"],
    &["check", "rooms", "-c", "2", "-d", "300ms"],
    &["check", "exchange", "-c", "2", "-d", "300ms"],
    &["check", "travel", "-c", "2", "-d", "300ms"],
    &["check", "games", "-c", "2", "-d", "300ms"],
    &["sweep", "rooms", "-c", "1..1", "-d", "300ms"],
    &["bottleneck", "rooms", "-c", "2", "-d", "300ms"],
    &[
        "capacity", "rooms", "-c", "2", "-d", "300ms", "--slo", "p99<9s",
    ],
];

/// Every point is of a server that did what was asked and broke no promise.
#[track_caller]
fn is_served(words: &[&str], (ended, kept): &(Ended, Option<Json>)) {
    let kept = kept
        .as_ref()
        .unwrap_or_else(|| panic!("{words:?}: {ended:?}"));
    let target = &kept["asked"]["target"];
    assert_eq!(
        (&target["tls"], &target["authenticated"]),
        (&Json::from(true), &Json::from(true)),
        "{words:?}"
    );
    let points = kept["points"].as_array().unwrap();
    assert!(!points.is_empty(), "{words:?}: {ended:?}");
    for point in points {
        for operation in point["operations"].as_array().unwrap() {
            assert_eq!(operation["errors"], serde_json::json!({}), "{words:?}");
        }
        for rule in point["proof"].as_array().unwrap() {
            assert_ne!(rule["outcome"], "fails", "{words:?}: {rule}");
        }
        assert!(
            point["operations"][0]["done"].as_u64() > Some(0),
            "{words:?}: {ended:?}"
        );
    }
}

#[test]
fn every_load_of_the_lab_runs_through_tls_with_a_key() {
    let guarded = Guarded::start();
    for words in LOADS {
        is_served(words, &guarded.lab("lab", words));
    }
    let travel = guarded.at("tls", "travel");
    let words = [
        "run", "travel", "-c", "2", "-d", "300ms", "--travel", &travel,
    ];
    let (ended, kept) = guarded.lab("lab", &words);
    let kept = kept.unwrap_or_else(|| panic!("{ended:?}"));
    assert_eq!(kept["asked"]["target"]["tls"], true);
    assert!(
        kept["points"][0]["wholes"][0]["done"].as_u64() > Some(0),
        "{ended:?}"
    );
    guarded.server.stop();
}

#[test]
fn a_key_that_lacks_a_right_ends_every_load_of_the_lab_with_77() {
    let guarded = Guarded::start();
    // The property is there, so that it is not made.
    guarded.lab("lab", &["run", "rooms", "-c", "1", "-d", "100ms"]);
    for words in LOADS {
        let (ended, kept) = guarded.lab("viewer", words);
        assert_eq!(ended.code, Some(77), "{words:?}: {ended:?}");
        assert!(
            ended.err.contains("the key may not do this"),
            "{words:?}: {ended:?}"
        );
        if let Some(kept) = kept {
            assert_eq!(kept["exit_code"], 77, "{words:?}");
        }
    }
    guarded.server.stop();
}

#[test]
fn a_conversation_through_tls_is_recorded_and_sent_again() {
    let guarded = Guarded::start();
    let file = guarded.folder.path().join("run.lab");
    let mut record = turnstile();
    record.args(["lab", "record"]).arg(&file);
    record.args(["rooms", "-c", "1", "-d", "300ms"]);
    let recorded = run(guarded.connects(&mut record, "lab"));
    assert_eq!(recorded.code, Some(0), "{recorded:?}");
    let (_, hash) = recorded.out.trim().rsplit_once("stream ").unwrap();
    let key = fs::read_to_string(guarded.folder.path().join("lab")).unwrap();
    let trace = fs::read(&file).unwrap();
    let secret = key.trim().as_bytes();
    assert!(!trace.windows(secret.len()).any(|bytes| bytes == secret));
    let path = file.display().to_string();
    let (replayed, _) = guarded.lab("lab", &["replay", &path, "--speed", "2x"]);
    assert_eq!(replayed.code, Some(0), "{replayed:?}");
    let line = format!("stream {hash}, as it was recorded");
    assert!(replayed.out.contains(&line), "{replayed:?}");
    // Whoever reaches the proxy has the rights of its key.
    let mut open = turnstile();
    open.args(["lab", "record"])
        .arg(guarded.folder.path().join("open.lab"));
    open.args([
        "--listen",
        "0.0.0.0:0",
        "-d",
        "1s",
        "--to",
        &guarded.at("rediss", "resp"),
    ]);
    open.arg("--key-file")
        .arg(guarded.folder.path().join("lab"));
    open.arg("--ca")
        .arg(guarded.folder.path().join("data/tls/certificate.pem"));
    let refused = run(&mut open);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("--listen on loopback"), "{refused:?}");
    guarded.server.stop();
}
