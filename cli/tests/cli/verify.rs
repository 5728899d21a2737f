//! `turnstile verify`: the verdict on good, damaged and busy directories.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::process::{Ended, Server, ask, run, turnstile, words};

/// A directory with five bookings, each durable before the next was asked for.
fn booked() -> TempDir {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let mut door = server.connect();
    for room in 0..5 {
        let line = format!("ROOMS.BOOK bench room-{room} 2027-01-01 2027-01-02 ada 234123412346");
        assert!(words(&ask(&mut door, &line)).starts_with("1 R"));
    }
    server.stop();
    data
}

fn verify(dir: &Path) -> Ended {
    run(turnstile().arg("verify").arg(dir))
}

/// Every file and its bytes, but for the lock, which is there to be taken.
fn content(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().is_some_and(|name| name != "lock"));
    files
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

#[test]
fn a_good_directory_is_proven_and_left_as_it_was() {
    let data = booked();
    let before = content(data.path());
    let ended = verify(data.path());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    // Two properties, thirteen rooms, the 36 commands of the sample market, five bookings; and the
    // sample journeys: 156 items, each asked for and added, a customer, and two transactions.
    assert!(ended.out.starts_with("373 records in "), "{ended:?}");
    let rest = " groups replayed twice, hash equal, 0 violations, 5 bookings stand, \
                3 accounts have 2100000 in cash, 18 orders are open, 0 itineraries stand, \
                0 transactions are open\n";
    assert!(ended.out.ends_with(rest), "{ended:?}");
    assert_eq!(content(data.path()), before);
}

#[test]
fn a_flipped_bit_in_the_middle_is_a_violation() {
    let data = booked();
    let needle = b"room-2";
    let (path, mut bytes) = content(data.path())
        .into_iter()
        .find(|(_, bytes)| bytes.windows(needle.len()).any(|window| window == needle))
        .unwrap();
    let at = bytes
        .windows(needle.len())
        .position(|window| window == needle)
        .unwrap();
    bytes[at] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let ended = verify(data.path());
    assert_eq!((ended.code, &*ended.out), (Some(97), ""), "{ended:?}");
    let file = path.file_name().unwrap().to_str().unwrap();
    assert!(ended.err.contains(file), "the place is named: {ended:?}");
}

/// A server that is killed leaves a last group of which nobody can tell whether it is whole by design:
/// where it is not, it is cut, and whoever asks or reads the log is told how much.
#[test]
fn a_torn_tail_is_counted_and_its_cut_is_in_the_log() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let mut door = server.connect();
    let line = "ROOMS.BOOK bench room 2027-01-01 2027-01-02 ada 234123412346";
    assert!(words(&ask(&mut door, line)).starts_with("1 R"));
    drop(server);
    let path = data.path().join("segment-00000001");
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.iter().rposition(|&byte| byte != 0).unwrap();
    bytes[last] = 0;
    fs::write(&path, &bytes).unwrap();
    let ended = verify(data.path());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let (_, tail) = ended.out.split_once("torn tail of ").unwrap();
    let (cut, _) = tail.split_once(" bytes, never acknowledged").unwrap();
    let log = Server::dev(data.path()).stop();
    let expected = format!("a torn tail was cut: it was never acknowledged bytes={cut} file=");
    assert!(log.contains(&expected), "{expected}: {log}");
    assert!(log.contains("recovered position="), "{log}");
    let log = Server::dev(data.path()).stop();
    assert!(!log.contains("torn tail"), "{log}");
}

/// It could be proven and not be served.
#[test]
fn a_directory_that_lost_its_id_key_is_not_sound() {
    let data = booked();
    let key = data.path().join("id.key");
    for (content, sentence) in [(Some("short"), "has 5 bytes"), (None, "is missing")] {
        match content {
            Some(content) => fs::write(&key, content).unwrap(),
            None => fs::remove_file(&key).unwrap(),
        }
        let ended = verify(data.path());
        assert_eq!((ended.code, &*ended.out), (Some(97), ""), "{ended:?}");
        let expected = format!("id.key {sentence}");
        assert!(ended.err.contains(&expected), "{ended:?}");
    }
}

#[test]
fn a_directory_in_use_or_without_a_journal_has_no_verdict() {
    let data = tempfile::tempdir().unwrap();
    let ended = verify(data.path());
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("there is no journal"), "{ended:?}");
    assert_eq!(content(data.path()), BTreeMap::new());
    let server = Server::dev(data.path());
    let ended = verify(data.path());
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended
            .err
            .contains("another process has the journal's directory"),
        "{ended:?}"
    );
    server.stop();
}
