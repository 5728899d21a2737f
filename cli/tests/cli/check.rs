//! `turnstile lab check`: servers of its own that are killed and paused, whose disks fail, and one that
//! lies.

use std::{
    fs::{self, Permissions},
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::Value;

use crate::process::{Ended, Server, run, turnstile};

/// Checks so.
fn run_check(folder: &Path, arguments: &[&str]) -> Ended {
    let mut command = turnstile();
    command.args(["lab", "check"]).args(arguments);
    run(command.arg("-o").arg(folder))
}

/// Checks so, and reads what was found.
fn check(folder: &Path, arguments: &[&str]) -> (Ended, Value) {
    let ended = run_check(folder, arguments);
    let found = found(folder, &ended);
    (ended, found)
}

fn found(folder: &Path, ended: &Ended) -> Value {
    let result = fs::read(folder.join("run.json"));
    let result = result.unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    serde_json::from_slice(&result).unwrap()
}

/// The outcome of each rule.
fn outcomes(run: &Value) -> Vec<&str> {
    let rules = run["points"][0]["proof"].as_array().unwrap();
    rules
        .iter()
        .map(|rule| rule["outcome"].as_str().unwrap())
        .collect()
}

/// Checks a server of the lab's own while this is done to it: every promise is kept.
fn survives(folder: &Path, service: &str, faults: &str) -> (Ended, Value) {
    // Who is within a transaction waits for each answer.
    let pipeline = if service == "travel" { "1" } else { "2" };
    let load = ["-c", "8", "-P", pipeline, "-d", "6s"];
    let (ended, run) = check(
        folder,
        &[&[service, "--faults", faults], &load[..]].concat(),
    );
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains("a server of our own at 127.0.0.1:"));
    assert!(!ended.err.contains("started again 0 times"), "{ended:?}");
    assert_eq!(outcomes(&run), ["holds"; 4], "{ended:?}");
    (ended, run)
}

#[test]
fn a_history_that_is_replayed_afterwards_survives_kills_too_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let load = ["-c", "8", "-P", "16", "-d", "4s", "--afterwards"];
    let (ended, run) = check(
        folder.path(),
        &[&["rooms", "--faults", "kill"], &load[..]].concat(),
    );
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!ended.err.contains("started again 0 times"), "{ended:?}");
    assert!(ended.out.contains(" bytes were kept, "), "{ended:?}");
    assert_eq!(outcomes(&run), ["holds"; 4], "{ended:?}");
    assert_eq!(run["asked"]["settings"]["checked"], "afterwards");
    let files = folder.path().read_dir().unwrap();
    let files: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert!(!files.iter().any(|name| name == "told.spool"), "{files:?}");
}

#[test]
fn an_exchange_that_is_killed_answers_what_it_is_asked_again_as_the_first_time() {
    let folder = tempfile::tempdir().unwrap();
    let (ended, run) = survives(folder.path(), "exchange", "kill");
    // What was lost with a connection was asked again, until the answer was known.
    assert!(ended.out.contains(" readings, 0 unknown"), "{ended:?}");
    let order = &run["points"][0]["operations"][0];
    assert!(order["unknown"].as_u64().unwrap() > 0, "{order}");
}

#[test]
fn seats_that_are_killed_and_paused_are_sold_once() {
    let folder = tempfile::tempdir().unwrap();
    let (ended, _) = survives(folder.path(), "seats", "kill,pause");
    assert!(ended.out.contains(" readings, 0 unknown"), "{ended:?}");
}

#[test]
fn travel_that_is_killed_and_paused_keeps_every_transaction_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (ended, run) = survives(folder.path(), "travel", "kill,pause");
    let operations = run["points"][0]["operations"].as_array().unwrap();
    let find = |name| operations.iter().find(|one| one["name"] == name).unwrap();
    // They meet locks, wait, and are in each other's way.
    for name in ["commit", "abort", "book", "cancel"] {
        let done = find(name)["done"].as_u64().unwrap();
        assert!(done > 0, "{name}: {ended:?}");
    }
    let deadlocks = &find("reserve")["refused"]["deadlock"];
    assert!(deadlocks.as_u64().unwrap() > 0, "{ended:?}");
}

#[test]
fn games_that_are_killed_and_paused_count_every_match_once() {
    let folder = tempfile::tempdir().unwrap();
    let (ended, run) = survives(folder.path(), "games", "kill,pause");
    assert!(ended.out.contains(" readings, 0 unknown"), "{ended:?}");
    let operations = run["points"][0]["operations"].as_array().unwrap();
    let moves = operations.iter().find(|one| one["name"] == "move").unwrap();
    assert!(moves["done"].as_u64().unwrap() > 0, "{moves}");
    assert!(moves["refused"]["stale"].as_u64().unwrap() > 0, "{moves}");
}

#[test]
fn rooms_that_are_killed_and_paused_keep_every_promise() {
    let folder = tempfile::tempdir().unwrap();
    let (_, run) = survives(folder.path(), "rooms", "kill,pause");
    assert_eq!(run["asked"]["command"], "check");
    assert_eq!(run["asked"]["settings"]["faults"], "kill,pause");
    let lost = run["points"][0]["connections_lost"].as_u64().unwrap();
    assert!(lost >= 8, "{lost}");
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("no operation stands before one"));
}

/// How often something happened to a server, by the part of the summary that ends with this.
fn times(ended: &Ended, what: &str) -> u32 {
    let told = ended.err.split(['\n', ';']).find_map(|part| {
        let (times, rest) = part.trim().split_once(" times ")?;
        (rest == what).then(|| times.parse().unwrap())
    });
    told.unwrap_or(0)
}

/// The requests of a run that were refused for want of room.
fn without_room(run: &Value) -> u64 {
    let operations = run["points"][0]["operations"].as_array().unwrap();
    let each = operations.iter().map(|one| &one["errors"]["READONLY"]);
    each.filter_map(Value::as_u64).sum()
}

/// Checks a service whose disk fails; says whether the run met a failed sync and a full disk.
fn survives_its_disk(service: &str, seconds: u32) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let pipeline = if service == "travel" { "1" } else { "2" };
    let duration = format!("{seconds}s");
    let load = ["-c", "8", "-P", pipeline, "-d", &duration];
    let faults = [service, "--faults", "sync-error,full-disk"];
    let ended = run_check(folder.path(), &[&faults[..], &load].concat());
    if ended.err.contains("too short for a fault") {
        return false;
    }
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let run = found(folder.path(), &ended);
    assert_eq!(outcomes(&run), ["holds"; 4], "{ended:?}");
    let failed = times(&ended, "a sync failed, it ended and was started again");
    // Each of these servers said so, and ended by itself. One more may have been killed as the load ended.
    let told = ended.err.matches("the journal failed: ").count();
    let told = u32::try_from(told).unwrap();
    assert!((failed..=failed + 1).contains(&told), "{ended:?}");
    failed > 0 && times(&ended, "its disk was full") > 0 && without_room(&run) > 0
}

/// A busy machine has less time for faults, so a run that met too few of them is made longer.
#[test]
fn every_service_keeps_its_promises_when_syncs_fail_and_when_the_disk_is_full() {
    for service in ["rooms", "exchange", "games", "travel"] {
        let mut lengths = [8, 16, 32, 64, 128].into_iter();
        let has_met = lengths.any(|seconds| survives_its_disk(service, seconds));
        assert!(has_met, "{service} met too few faults");
    }
}

/// A disk on which each sync takes half a second: no fault is over within ten seconds, as on a busy machine.
#[test]
fn a_server_on_a_slow_disk_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("slow");
    let lines = format!(
        "#!/bin/sh\nexec {} \"$@\" --slow-sync-us 500000\n",
        env!("CARGO_BIN_EXE_turnstile")
    );
    fs::write(&program, lines).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let of_slow = ["rooms", "--turnstile", program.to_str().unwrap()];
    let load = ["--faults", "full-disk", "-c", "4", "-d", "14s"];
    let ended = run_check(folder.path(), &[&of_slow[..], &load].concat());
    assert!(ended.err.contains("too short for a fault"), "{ended:?}");
}

/// A server that acknowledges what a failed sync was for, because nobody told it, and then dies.
#[test]
fn what_was_acknowledged_and_then_lost_is_found_in_every_service() {
    for service in ["rooms", "exchange", "games", "travel"] {
        let folder = tempfile::tempdir().unwrap();
        let load = ["-c", "8", "-d", "4s"];
        let faults = [service, "--faults", "sync-lost"];
        let (ended, run) = check(folder.path(), &[&faults[..], &load].concat());
        assert_eq!(ended.code, Some(97), "{service} {ended:?}");
        assert!(times(&ended, "its disk lost what was synced, and it was killed") > 0);
        assert!(outcomes(&run).contains(&"fails"), "{service} {ended:?}");
    }
}

/// Passes everything on, but says that whoever asks for what has ended is a wrong guest.
fn liar(server: SocketAddr) -> SocketAddr {
    between(server, |_request| None, lie)
}

/// Stands between clients and a server: answers some requests itself, and changes what the server answers to
/// the others.
fn between(
    server: SocketAddr,
    answer: impl Fn(&[u8]) -> Option<&'static [u8]> + Send + Sync + 'static,
    change: fn(&[u8]) -> Vec<u8>,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut server = TcpStream::connect(server).unwrap();
            let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
            let answer = Arc::clone(&answer);
            thread::spawn(move || {
                each_part(&mut client.try_clone().unwrap(), |request| {
                    match answer(request) {
                        Some(own) => client.write_all(own),
                        None => server.write_all(request),
                    }
                });
            });
            thread::spawn(move || {
                let (mut server, mut client) = back;
                each_part(&mut server, |answer| client.write_all(&change(answer)));
            });
        }
    });
    address
}

/// Does something with each part that comes, until it fails or nothing comes any more.
fn each_part(from: &mut TcpStream, mut take: impl FnMut(&[u8]) -> io::Result<()>) {
    let mut buffer = [0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if take(&buffer[..read]).is_err() {
            return;
        }
    }
}

/// A server whose disk was full looks for room when it is asked for something, and refuses that once more.
#[test]
fn room_that_has_come_back_is_waited_for_before_the_end_is_read() {
    for service in ["rooms", "seats"] {
        let directory = tempfile::tempdir().unwrap();
        let server = Server::dev(&directory.path().join("data"));
        let was_full = AtomicBool::new(false);
        let full_once = move |request: &[u8]| {
            // By a hold of something of this name a server is asked what time it is.
            let names = |word: &[u8]| request.windows(word.len()).any(|text| text == word);
            let asks = names(b".HOLD") && names(b"clock");
            let is_full = asks && !was_full.swap(true, Ordering::Relaxed);
            is_full.then_some(&b"-READONLY the disk is full: only reads are served\r\n"[..])
        };
        let door = between(server.door("resp").unwrap(), full_once, <[u8]>::to_vec).to_string();
        let folder = directory.path().join("run");
        let (ended, run) = check(&folder, &[service, "--resp", &door, "-c", "2", "-d", "1s"]);
        assert_eq!(ended.code, Some(0), "{service} {ended:?}");
        assert_eq!(outcomes(&run), ["holds"; 4], "{service} {ended:?}");
        server.stop();
    }
}

fn lie(bytes: &[u8]) -> Vec<u8> {
    let (truth, lie) = (b"$5\r\nended\r\n", b"$11\r\nwrong_guest\r\n");
    let mut told = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(truth.len()).position(|text| text == truth) {
        told.extend_from_slice(&rest[..at]);
        told.extend_from_slice(lie);
        rest = &rest[at + truth.len()..];
    }
    told.extend_from_slice(rest);
    told
}

#[test]
fn a_server_that_lies_ends_the_check_with_97_and_the_lie_stands_in_the_report() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::dev(&directory.path().join("data"));
    let address = liar(server.door("resp").unwrap()).to_string();
    let folder = directory.path().join("run");
    // The first cancellation that must be refused is before the load, and is of the right person.
    let few = ["rooms", "-c", "4", "-d", "500ms", "--resp", &address];
    let (ended, run) = check(&folder, &few);
    assert_eq!(ended.code, Some(97), "{ended:?}");
    assert_eq!(outcomes(&run), ["fails", "holds", "holds", "holds"]);
    assert!(
        ended.out.contains("VIOLATED: replayed in the order"),
        "{ended:?}"
    );
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    for text in [&ended.out, &page] {
        assert!(text.contains("was refused, but no client has it"), "{text}");
    }
    server.stop();
}

#[test]
fn what_cannot_be_done_is_refused_before_anything_is_started() {
    let rows = [
        (
            &["rooms", "--faults", "flood"][..],
            "a fault is kill, pause, sync-error, full-disk or sync-lost",
        ),
        (
            &["rooms", "--faults", "kill", "--resp", "127.0.0.1:1"],
            "cannot be used with",
        ),
        (&["hotels"], "write rooms, exchange, travel, games, seats"),
        (&["games", "-c", "50", "--rate", "4"], "rest for too long"),
        (&["travel", "-P", "2"], "travel has no pipeline"),
        (
            &["rooms", "-c", "2", "--think", "1s", "--rate", "5"],
            "--think and --stages are about users",
        ),
    ];
    for (arguments, sentence) in rows {
        let mut command = turnstile();
        let ended = run(command.args(["lab", "check"]).args(arguments));
        assert_eq!(ended.code, Some(2), "{arguments:?} {ended:?}");
        assert!(ended.err.contains(sentence), "{arguments:?} {ended:?}");
    }
}
