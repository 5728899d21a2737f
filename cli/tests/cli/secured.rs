//! Commands that come to a server through TLS.

use std::{fs, path::Path};

use serde_json::Value as Json;

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
