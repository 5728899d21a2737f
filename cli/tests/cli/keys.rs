//! Keys and principals, in a directory that no server uses and at a server that runs.

use std::{fs, path::Path};

use serde_json::Value as Json;

use crate::process::{Ended, Server, run, turnstile};

/// A directory with its first administrator.
fn directory(folder: &Path) -> (std::path::PathBuf, String) {
    let dir = folder.join("hotel");
    let made = run(turnstile().arg("init").arg(&dir));
    assert_eq!(made.code, Some(0), "{made:?}");
    (dir, made.out.trim_end().to_owned())
}

fn in_directory(dir: &Path, words: &[&str]) -> Ended {
    run(turnstile().args(words).arg("--data").arg(dir))
}

fn id(key: &str) -> &str {
    key.split('_').nth(2).unwrap()
}

fn keys(ended: &Ended) -> Vec<Json> {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    serde_json::from_str(&ended.out).unwrap()
}

#[test]
fn keys_of_a_stopped_directory_are_created_listed_rotated_and_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, first) = directory(folder.path());
    let asked = |words: &[&str]| in_directory(&dir, words);
    let created = asked(&[
        "key",
        "create",
        "desk",
        "--role",
        "rooms.user",
        "--only",
        "hotel-1,acme:*",
        "--name",
        "front",
        "--expires-in",
        "90d",
    ]);
    assert_eq!(created.code, Some(0), "{created:?}");
    let desk = created.out.trim_end().to_owned();
    let listed = keys(&asked(&["key", "list", "--json"]));
    assert_eq!(listed.len(), 2, "{listed:?}");
    let one = &listed[1];
    assert_eq!(one["id"], id(&desk));
    assert_eq!(
        (&one["principal"], &one["name"], &one["state"]),
        (
            &Json::from("desk"),
            &Json::from("front"),
            &Json::from("live")
        )
    );
    assert!(one["expires"].is_string(), "{one}");
    let principals = keys(&asked(&["principal", "list", "--json"]));
    assert_eq!(
        principals[1]["grants"],
        serde_json::json!([{"role": "rooms.user", "only": ["acme:*", "hotel-1"]}])
    );
    // The new key has its principal and name; the old one ends later, or now.
    let rotated = asked(&["key", "rotate", id(&desk), "--overlap", "12h"]);
    assert_eq!(rotated.code, Some(0), "{rotated:?}");
    let of_desk = keys(&asked(&["key", "list", "--principal", "desk", "--json"]));
    let names: Vec<&Json> = of_desk.iter().map(|key| &key["name"]).collect();
    assert_eq!(names, ["front", "front"]);
    assert_eq!(of_desk[0]["state"], "live");
    let new = rotated.out.trim_end().to_owned();
    let again = asked(&["key", "rotate", id(&new), "--overlap", "0m"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    let revoked = asked(&["key", "revoke", id(again.out.trim_end())]);
    assert_eq!(revoked.code, Some(0), "{revoked:?}");
    let of_desk = keys(&asked(&["key", "list", "--principal", "desk", "--json"]));
    let states: Vec<&Json> = of_desk.iter().map(|key| &key["state"]).collect();
    assert_eq!(states, ["live", "revoked", "revoked"]);
    let shown = asked(&["key", "list"]);
    assert!(
        shown.out.contains("live of desk, front, since"),
        "{shown:?}"
    );
    // No list and no file tells a secret.
    for key in [&first, &desk, &new] {
        let secret = key.rsplit('_').next().unwrap();
        assert!(!shown.out.contains(secret) && !shown.err.contains(secret));
    }
}

/// The old key got the time of the overlap although it ended before, and the new one never ended.
#[test]
fn a_key_that_ends_is_rotated_into_one_that_ends_and_does_not_live_longer_itself() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, _first) = directory(folder.path());
    let asked = |words: &[&str]| in_directory(&dir, words);
    let created = asked(&["key", "create", "admin", "--expires-in", "30m"]);
    let old = created.out.trim_end().to_owned();
    let expires = |key: &str| {
        let listed = keys(&asked(&["key", "list", "--json"]));
        let one = listed.into_iter().find(|one| one["id"] == id(key));
        one.unwrap()["expires"].as_str().map(str::to_owned)
    };
    let ends = expires(&old);
    let rotated = asked(&["key", "rotate", id(&old), "--overlap", "12h"]);
    let new = rotated.out.trim_end().to_owned();
    assert_eq!(expires(&old), ends);
    let new_ends = expires(&new);
    assert!(new_ends >= ends && ends.is_some(), "{ends:?} {new_ends:?}");
    for (key, at) in [
        (id(&old), ends.unwrap()),
        ("new key", new_ends.clone().unwrap()),
    ] {
        let told = format!("{key} ends at {at}");
        assert!(rotated.err.contains(&told), "{told}: {rotated:?}");
    }
    // Both may be said.
    let words = ["--overlap", "5m", "--expires-in", "90d"];
    let again = asked(&[&["key", "rotate", id(&new)], &words[..]].concat());
    assert!(expires(&new) < new_ends, "{again:?}");
    assert!(expires(again.out.trim_end()) > new_ends, "{again:?}");
}

#[test]
fn what_would_lock_everybody_out_or_means_nothing_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, first) = directory(folder.path());
    let file = folder.path().join("key");
    let long = "x".repeat(1_000);
    let rows: [(&[&str], i32, &str); 10] = [
        (&["key", "revoke", id(&first)], 1, "last_administrator"),
        (&["principal", "remove", "admin"], 1, "last_administrator"),
        (
            &["principal", "withdraw", "admin", "admin"],
            1,
            "last_administrator",
        ),
        (&["key", "revoke", "aaaaaaaaaaaa"], 1, "unknown_key"),
        (&["key", "rotate", "aaaaaaaaaaaa"], 1, "there is no key"),
        (
            &["key", "create", "nobody", "-o", file.to_str().unwrap()],
            1,
            "unknown_principal",
        ),
        (
            &["key", "create", &long, "-o", file.to_str().unwrap()],
            2,
            "error: access.add_key: principal",
        ),
        (&["key", "create", "x", "--role", "king"], 2, "role"),
        (
            &["key", "create", "admin", "--env", "Live"],
            2,
            "an environment has",
        ),
        (
            &["key", "create", "admin", "--expires-in", "1y"],
            2,
            "30m, 12h or 90d",
        ),
    ];
    for (words, code, told) in rows {
        let ended = in_directory(&dir, words);
        assert_eq!(ended.code, Some(code), "{words:?}: {ended:?}");
        assert_eq!(ended.out, "", "{words:?}");
        assert!(ended.err.contains(told), "{words:?}: {ended:?}");
    }
    assert!(!fs::exists(&file).unwrap(), "nobody knows the key in it");
    let both = in_directory(&dir, &["key", "list", "--resp", "127.0.0.1:1"]);
    assert_eq!(both.code, Some(2), "{both:?}");
    // A mistyped directory is not made.
    let missing = folder.path().join("hotle");
    let ended = in_directory(&missing, &["key", "list"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("is no data directory"), "{ended:?}");
    assert!(!fs::exists(&missing).unwrap());
}

/// `serve` on this directory, over RESP alone.
fn serve(dir: &Path) -> Server {
    let mut command = turnstile();
    command.args(["serve", "--resp", "127.0.0.1:0", "--http", "off", "--data"]);
    Server::start(command.arg(dir))
}

#[test]
fn keys_of_a_running_server_are_made_and_ended_by_an_administrator() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, admin) = directory(folder.path());
    let server = serve(&dir);
    let resp = server.door("resp").unwrap().to_string();
    let asked = |key: &str, words: &[&str]| {
        let mut command = turnstile();
        command.args(words).args(["--resp", &resp]);
        run(command.env("TURNSTILE_KEY", key))
    };
    let who = ["call", "access.who_am_i"];
    let file = folder.path().join("desk.key");
    let created = asked(
        &admin,
        &[
            "key",
            "create",
            "desk",
            "--role",
            "rooms.user",
            "-o",
            file.to_str().unwrap(),
        ],
    );
    assert_eq!((created.code, &*created.out), (Some(0), ""), "{created:?}");
    let desk = fs::read_to_string(&file).unwrap().trim_end().to_owned();
    let found = asked(&desk, &who);
    assert!(found.out.contains("principal: desk"), "{found:?}");
    // The right that it lacks is named.
    let lacks = asked(&desk, &["key", "list"]);
    assert_eq!(lacks.code, Some(77), "{lacks:?}");
    assert!(lacks.err.contains("access.read"), "{lacks:?}");
    // A file stayed with a key that was never added, and might have been for all that was said.
    let other = folder.path().join("other.key");
    let wish = ["key", "create", "desk", "-o", other.to_str().unwrap()];
    let lacks = asked(&desk, &wish);
    assert_eq!(lacks.code, Some(77), "{lacks:?}");
    assert!(lacks.err.contains("access.manage"), "{lacks:?}");
    assert!(!lacks.err.contains("may have been added"), "{lacks:?}");
    assert!(!fs::exists(&other).unwrap());
    assert_eq!(keys(&asked(&admin, &["key", "list", "--json"])).len(), 2);
    // An old key ends when it is rotated without an overlap; the new one is for the same.
    let rotated = asked(&admin, &["key", "rotate", id(&desk), "--overlap", "0m"]);
    assert_eq!(rotated.code, Some(0), "{rotated:?}");
    let new = rotated.out.trim_end();
    assert_eq!(asked(&desk, &who).code, Some(77));
    assert!(asked(new, &who).out.contains("principal: desk"));
    assert_eq!(asked(&admin, &["key", "revoke", id(new)]).code, Some(0));
    assert_eq!(asked(new, &who).code, Some(77));
    let last = asked(&admin, &["key", "revoke", id(&admin)]);
    assert!(last.err.contains("last_administrator"), "{last:?}");
    // A load logs in on each of its connections.
    let rush = asked(&admin, &["lab", "rush", "--clients", "20"]);
    assert!(rush.out.contains("1 sold, 19 refused, 0 twice"), "{rush:?}");
    let log = server.stop();
    for key in [&admin, &desk, &new.to_owned()] {
        let secret = key.rsplit('_').next().unwrap();
        assert!(!log.contains(secret), "a secret is in the log");
        for file in fs::read_dir(&dir).unwrap() {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            let is_there = bytes
                .windows(secret.len())
                .any(|part| part == secret.as_bytes());
            assert!(!is_there, "a secret is in the directory");
        }
    }
}

#[test]
fn where_no_key_is_asked_for_one_does_no_harm_and_dev_asks_for_none() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::dev(&folder.path().join("data"));
    let resp = server.door("resp").unwrap().to_string();
    let mut command = turnstile();
    command.args(["call", "access.who_am_i", "--resp", &resp]);
    let who = run(command.env("TURNSTILE_KEY", "ts_live_abcdefghijkl_x"));
    assert_eq!(who.code, Some(0), "{who:?}");
    assert!(who.out.contains("guarded: false"), "{who:?}");
    server.stop();
    let (dir, _) = directory(folder.path());
    let mut command = turnstile();
    command.args(["dev", "--data"]).arg(&dir);
    for door in [
        "--resp",
        "--http",
        "--xml",
        "--travel",
        "--games-arena",
        "--games-scores",
    ] {
        command.args([
            door,
            if door == "--resp" {
                "127.0.0.1:0"
            } else {
                "off"
            },
        ]);
    }
    let refused = run(&mut command);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("turnstile serve"), "{refused:?}");
}
