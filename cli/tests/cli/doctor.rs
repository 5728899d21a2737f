//! `turnstile doctor`: what it finds in directories and servers that are well, and in planted bad ones.

use std::{
    fs::{self, File},
    path::Path,
};

use turnstile_trial::SmallDisk;

use crate::process::{Ended, Server, ask, run, turnstile, turnstile_with_descriptors, words};

/// A directory with one booking.
fn booked(data: &Path) {
    let server = Server::dev(data);
    let mut door = server.connect();
    let line = "ROOMS.BOOK bench 7 2027-01-01 2027-01-02 ada 234123412346";
    assert!(words(&ask(&mut door, line)).starts_with("1 R"));
    server.stop();
}

fn doctor(subject: impl AsRef<std::ffi::OsStr>) -> Ended {
    run(turnstile().args(["doctor", "--json"]).arg(subject))
}

/// The health and the words of a check.
fn found(ended: &Ended, check: &str) -> (String, String) {
    let report: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let symptoms = report["symptoms"].as_array().unwrap();
    // 94 says that something is wrong, and only that.
    let is_wrong = symptoms.iter().any(|symptom| symptom["health"] == "wrong");
    assert_eq!(ended.code, Some(if is_wrong { 94 } else { 0 }), "{ended:?}");
    for symptom in symptoms {
        assert_explained(symptom["page"].as_str().unwrap());
    }
    let symptom = symptoms.iter().find(|symptom| symptom["check"] == check);
    let symptom = symptom.unwrap_or_else(|| panic!("{check} is not in {}", ended.out));
    let text = |name: &str| symptom[name].as_str().unwrap().to_owned();
    (text("health"), text("found"))
}

/// Makes sure that the book has the page, and the heading on it.
fn assert_explained(page: &str) {
    let (file, anchor) = page.split_once('#').unwrap_or((page, ""));
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let text = fs::read_to_string(docs.join(file)).unwrap();
    let heads = text
        .lines()
        .filter_map(|line| Some(line.strip_prefix('#')?.trim_start_matches('#')));
    let mut anchors = heads.map(|head| {
        let kept = head.trim().to_lowercase();
        let kept = kept
            .chars()
            .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        kept.collect::<String>().replace(' ', "-")
    });
    assert!(
        anchor.is_empty() || anchors.any(|found| found == anchor),
        "{page} is not in the book"
    );
}

#[test]
fn a_sound_directory_is_looked_at_and_left_as_it_was() {
    let data = tempfile::tempdir().unwrap();
    booked(data.path());
    let names = || {
        let entries = fs::read_dir(data.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let ended = doctor(data.path());
    let this = env!("CARGO_PKG_VERSION");
    let (health, words) = found(&ended, "versions");
    assert_eq!(health, "ok", "{ended:?}");
    assert!(
        words.starts_with(&format!("written by {this}, up to position ")),
        "{words}"
    );
    for check in [
        "id.key",
        "open transactions",
        "idempotency keys",
        "clock",
        "memlock",
    ] {
        assert_eq!(found(&ended, check).0, "ok", "{check}: {ended:?}");
    }
    for check in [
        "file system",
        "O_DIRECT",
        "sync",
        "descriptors",
        "memory",
        "disk left",
    ] {
        assert!(!found(&ended, check).1.is_empty(), "{check}");
    }
    assert_eq!(names(), before);

    fs::remove_file(data.path().join("id.key")).unwrap();
    let ended = doctor(data.path());
    assert_eq!(found(&ended, "id.key").0, "wrong");
    assert!(ended.err.contains("error: wrong: "), "{ended:?}");
    assert!(ended.err.contains("id.key"), "{ended:?}");
}

/// The default limits had grown, and 11,024 were still enough.
#[test]
fn descriptors_are_judged_by_the_default_limits() {
    let data = tempfile::tempdir().unwrap();
    let mut command = turnstile_with_descriptors(12_000);
    let ended = run(command.args(["doctor", "--json"]).arg(data.path()));
    let expected =
        "a program started here may open 12 000; a server with the default limits needs 17 408";
    assert_eq!(
        found(&ended, "descriptors"),
        ("note".to_owned(), expected.to_owned())
    );
}

#[test]
fn few_descriptors_are_found() {
    let data = tempfile::tempdir().unwrap();
    let mut command = turnstile_with_descriptors(256);
    let ended = run(command.args(["doctor", "--json"]).arg(data.path()));
    let (health, words) = found(&ended, "descriptors");
    assert_eq!(health, "wrong");
    assert!(
        words.starts_with("a program started here may open 256;"),
        "{words}"
    );
    assert_eq!(found(&ended, "versions").1, "there is no journal yet");
}

#[test]
fn a_file_system_in_memory_and_a_full_disk_are_found() {
    let Some(disk) = SmallDisk::mount(300, "the doctor finds a full disk") else {
        return;
    };
    let data = disk.path().join("data");
    booked(&data);
    let (health, words) = found(&doctor(&data), "file system");
    assert_eq!(health, "wrong");
    assert!(words.starts_with("tmpfs: "), "{words}");
    let filler = disk.fill();
    let ended = doctor(&data);
    assert_eq!(found(&ended, "disk left").0, "wrong");
    let (health, words) = found(&ended, "sync");
    assert_eq!(health, "wrong");
    assert!(words.starts_with("nothing can be written: "), "{words}");
    drop(filler);
}

#[test]
fn damage_is_found_and_named() {
    let data = tempfile::tempdir().unwrap();
    booked(data.path());
    let segment = data.path().join("segment-00000001");
    let mut bytes = fs::read(&segment).unwrap();
    bytes[5_000] ^= 1;
    fs::write(&segment, bytes).unwrap();
    let (health, words) = found(&doctor(data.path()), "versions");
    assert_eq!(health, "wrong");
    assert!(words.contains("segment-00000001"), "{words}");
}

/// Takes a directory as a server does before it makes or reads its journal.
fn taken(data: &Path) -> File {
    let lock = File::create(data.join("lock")).unwrap();
    lock.lock().unwrap();
    lock
}

#[test]
fn a_directory_that_a_server_is_making_is_not_called_corrupt() {
    let data = tempfile::tempdir().unwrap();
    let lock = taken(data.path());
    let ended = doctor(data.path());
    let (health, words) = found(&ended, "use");
    assert_eq!(health, "note", "{words}");
    let process = format!("process {} (", std::process::id());
    assert!(words.starts_with(&process), "{words}");
    assert!(words.contains("it starts there, or copies"), "{words}");
    // What can be looked at is.
    assert!(!found(&ended, "sync").1.is_empty());
    assert!(!ended.out.contains("corrupt"), "{ended:?}");
    assert!(!ended.out.contains("id.key"), "{ended:?}");
    drop(lock);

    // It has a segment, and does not say yet how far it is durable.
    booked(data.path());
    fs::remove_file(data.path().join("durable-end")).unwrap();
    let lock = taken(data.path());
    let ended = doctor(data.path());
    assert_eq!(found(&ended, "use").0, "note");
    assert!(!ended.out.contains("corrupt"), "{ended:?}");
    drop(lock);
}

#[test]
fn copies_that_are_not_whole_are_no_damage() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("unfinished-copy"), "restore").unwrap();
    let ended = doctor(data.path());
    let (health, words) = found(&ended, "use");
    assert_eq!(health, "wrong");
    assert!(words.starts_with("a copy was begun here"), "{words}");
    let lock = taken(data.path());
    let (health, words) = found(&doctor(data.path()), "use");
    assert_eq!(health, "note");
    assert!(words.contains("makes a copy here"), "{words}");
    drop(lock);
}

#[test]
fn a_running_server_is_asked_at_its_door() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let ended = doctor(format!("http://{}", server.door("http").unwrap()));
    for (check, words) in [
        ("readiness", "ready"),
        ("read only", "commands are taken"),
        ("durability", "sync: an answer waits for the disk"),
    ] {
        assert_eq!(found(&ended, check), ("ok".to_owned(), words.to_owned()));
    }
    assert_eq!(found(&ended, "versions").0, "ok");
    let live = doctor(data.path());
    assert_eq!(found(&live, "versions").0, "ok", "{live:?}");
    let (health, words) = found(&live, "use");
    assert_eq!(health, "ok");
    assert_eq!(
        words,
        format!("process {} (turnstile) has it", server.pid())
    );
    server.stop();
    assert_eq!(found(&doctor(data.path()), "use").1, "no process has it");

    let table = run(turnstile().arg("doctor").arg(data.path()));
    assert!(table.out.contains("id.key  "), "{table:?}");
    let nowhere = run(turnstile().args(["doctor", "/does/not/exist"]));
    assert_eq!(nowhere.code, Some(1), "{nowhere:?}");
}
