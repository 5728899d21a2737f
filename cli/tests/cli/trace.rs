//! `turnstile lab record` and `turnstile lab replay`.

use std::{fs, path::Path, process::Stdio};

use crate::process::{Ended, Server, ask, run, turnstile, words};

/// Records a short run of one guest against a fresh server.
fn record(file: &Path, seed: &str) -> Ended {
    let mut command = turnstile();
    command.args(["lab", "record"]).arg(file);
    command.args(["rooms", "-c", "1", "-d", "300ms", "--seed", seed]);
    run(&mut command)
}

fn replay(file: &Path, folder: &Path, arguments: &[&str]) -> Ended {
    let mut command = turnstile();
    command.args(["lab", "replay"]).arg(file).args(arguments);
    run(command.arg("-o").arg(folder))
}

/// How many answers were the same, and how many different.
fn answers(ended: &Ended) -> (u64, u64) {
    let line = ended
        .out
        .lines()
        .find_map(|line| line.strip_prefix("answers: "));
    let parts = line.unwrap_or_else(|| panic!("{ended:?}")).split(", ");
    let counts: Vec<u64> = parts
        .map(|part| {
            let digits = part.chars().filter(char::is_ascii_digit);
            digits.collect::<String>().parse().unwrap()
        })
        .collect();
    (counts[0], counts[1])
}

#[test]
fn a_run_is_recorded_and_sent_again_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.lab");
    let ended = record(&file, "7");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.starts_with("proof: "), "{ended:?}");
    let (_, hash) = ended.out.trim().rsplit_once("stream ").unwrap();
    let ended = replay(&file, folder.path(), &["--speed", "2x"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let line = format!("stream {hash}, as it was recorded");
    assert!(ended.out.contains(&line), "{ended:?}");
    // A fresh server answers one guest as the other did, but for clocks, and for what two connections
    // say at nearly the same time.
    let (same, different) = answers(&ended);
    assert!(same > different, "{ended:?}");
    assert!(ended.out.contains("as it was recorded"), "{ended:?}");
    // What is there is not written over.
    assert_eq!(record(&file, "7").code, Some(1));
}

/// What the proof found was thrown away: a room could be sold twice while a run was recorded, and the code
/// was 0.
#[test]
fn a_recorded_run_is_proven_and_its_code_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::dev(&folder.path().join("data"));
    let resp = server.door("resp").unwrap();
    let file = folder.path().join("run.lab");
    let mut command = turnstile();
    command.args(["lab", "record"]).arg(&file);
    command.args(["rooms", "-c", "1", "-d", "1s", "--resp", &resp.to_string()]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut recorder = command.spawn().unwrap();
    // Somebody else books and cancels all the time, and the server counts that, too.
    let mut door =
        turnstile_client::Connection::connect(resp, std::time::Duration::from_secs(60)).unwrap();
    while recorder.try_wait().unwrap().is_none() {
        let book = "ROOMS.BOOK hotel 101 2027-12-26 2027-12-28 bob 234123412346";
        let booked = ask(&mut door, book);
        let reference = booked.as_array().unwrap()[1].as_str().unwrap();
        ask(&mut door, &format!("ROOMS.CANCEL {reference} 234123412346"));
    }
    let ended = recorder.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(97), "{ended:?}");
    let told = String::from_utf8(ended.stdout).unwrap();
    assert!(told.contains("VIOLATED: the server counts"), "{told}");
    assert!(
        told.contains("run.lab: ") && told.contains(", stream "),
        "{told}"
    );
    server.stop();
}

#[test]
fn the_same_seed_asks_the_same_and_another_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let requests = |name: &str, seed: &str| -> Vec<Vec<u8>> {
        let file = folder.path().join(name);
        assert_eq!(record(&file, seed).code, Some(0));
        let trace = turnstile_trace::Trace::read(&file).unwrap();
        let entries = trace.entries();
        let sent = entries.filter(|entry| entry.kind == turnstile_trace::Kind::Request);
        // The first connection asks for facts; the guest has its own.
        sent.filter(|entry| entry.connection == 1)
            .map(|entry| entry.payload.to_vec())
            .collect()
    };
    let (one, two, other) = (requests("1", "7"), requests("2", "7"), requests("3", "8"));
    let shorter = one.len().min(two.len());
    assert!(shorter > 10);
    assert_eq!(one[..shorter], two[..shorter]);
    assert_ne!(one[..5], other[..5]);
}

#[test]
fn a_conversation_is_recorded_while_it_happens_and_differences_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::dev(&folder.path().join("data"));
    let resp = server.door("resp").unwrap().to_string();
    let file = folder.path().join("live.lab");
    let mut command = turnstile();
    command.args(["lab", "record"]).arg(&file);
    command
        .args(["--to", &resp, "-d", "2s"])
        .stdout(Stdio::piped());
    let mut recorder = command.spawn().unwrap();
    let mut lines = std::io::BufReader::new(recorder.stdout.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut lines, &mut line).unwrap();
    let address: std::net::SocketAddr = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    let mut door =
        turnstile_client::Connection::connect(address, std::time::Duration::from_secs(60)).unwrap();
    assert_eq!(words(&ask(&mut door, "PING")), "PONG");
    let book = "ROOMS.BOOK hotel 101 2027-12-26 2027-12-28 bob 234123412346";
    let booked = words(&ask(&mut door, book));
    assert!(recorder.wait().unwrap().success());
    let trace = fs::read(&file).unwrap();
    assert!(!trace.windows(12).any(|digits| digits == b"234123412346"));
    // The room is sold now.
    let ended = replay(&file, folder.path(), &["--resp", &resp]);
    assert_eq!(ended.code, Some(0), "{ended:?} {booked}");
    assert_eq!(answers(&ended), (1, 1), "{ended:?}");
    assert!(ended.out.contains("sold_out"), "{ended:?}");
    server.stop();
}

#[test]
fn what_is_no_trace_is_refused_and_a_torn_end_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.lab");
    let refused = |bytes: &[u8], sentence: &str| {
        fs::write(&file, bytes).unwrap();
        let ended = run(turnstile().args(["lab", "replay"]).arg(&file));
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.err.contains(sentence), "{ended:?}");
    };
    refused(b"nonsense", "it is no trace of the lab");
    refused(b"TSTTRACE\x02\0\0\0\0\0\0\0", "version 2");
    refused(b"TSTTRACE\x01\0\0\0\0\0\0\0", "there is no request");
    let torn = folder.path().join("torn.lab");
    assert_eq!(record(&torn, "1").code, Some(0));
    let bytes = fs::read(&torn).unwrap();
    fs::write(&torn, &bytes[..bytes.len() - 3]).unwrap();
    let ended = replay(&torn, folder.path(), &["--speed", "10x"]);
    assert!(ended.err.contains("are no whole entry"), "{ended:?}");
    assert_eq!(ended.code, Some(0), "{ended:?}");
}
