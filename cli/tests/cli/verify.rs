//! `turnstile verify`: the verdict on good, damaged and busy directories.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::process::{Ended, Server, ask, run, settled, turnstile, words};

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

fn recount(dir: &Path) -> Ended {
    run(turnstile().args(["games", "recount"]).arg(dir))
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
    // It had the exit code of any other error.
    let recounted = recount(data.path());
    assert_eq!(recounted.code, Some(97), "{recounted:?}");
    assert!(recounted.err.contains(file), "{recounted:?}");
}

/// A judgement that nobody has read was a good one.
#[test]
fn a_judgement_whose_reader_has_gone_is_no_success() {
    let data = booked();
    for judge in [&["verify"][..], &["games", "recount"]] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut command = turnstile();
        let output = command.args(judge).arg(data.path()).stdout(writer).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(1), "{judge:?}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{judge:?}");
    }
}

/// A directory of a killed server with one booking, the last byte of whose group is gone.
fn torn() -> TempDir {
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
    data
}

/// As after a power cut that took the durable mark: whether the torn group was acknowledged is not
/// known. It was called never acknowledged, and the exit code was 0.
#[test]
fn a_torn_tail_is_counted_as_a_doubt_and_its_cut_is_in_the_log() {
    let data = torn();
    fs::remove_file(data.path().join("durable-end")).unwrap();
    let ended = verify(data.path());
    assert_eq!(ended.code, Some(95), "{ended:?}");
    let (_, tail) = ended.out.split_once("torn tail of ").unwrap();
    let (cut, rest) = tail.split_once(" bytes after position ").unwrap();
    assert!(
        rest.ends_with(", which may have been acknowledged\n"),
        "{ended:?}"
    );
    let log = Server::dev(data.path()).stop();
    let expected = format!(
        "a torn tail was cut: what stood in it may have been acknowledged if the power failed \
         bytes={cut} file="
    );
    assert!(log.contains(&expected), "{expected}: {log}");
    assert!(log.contains("recovered position="), "{log}");
    assert_eq!(verify(data.path()).code, Some(0));
    let log = Server::dev(data.path()).stop();
    assert!(!log.contains("torn tail"), "{log}");
}

#[test]
fn a_loss_is_accepted_from_a_position_on() {
    let ended = run(turnstile().args(["serve", "--accept-loss", "x"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended
            .err
            .contains("invalid position `x`: write the whole number"),
        "{ended:?}"
    );
}

fn serve(data: &Path, accept_loss: Option<u64>) -> Command {
    let mut command = turnstile();
    command.args(["serve", "--http", "off", "--resp", "127.0.0.1:0", "--data"]);
    command.arg(data);
    if let Some(position) = accept_loss {
        command.args(["--accept-loss", &position.to_string()]);
    }
    command
}

/// The seal of a clean stop shared its page with the groups that it proves. That page zeroed at rest
/// took acknowledged bookings, and `verify` said that nothing was missing.
#[test]
fn lost_acknowledged_records_are_a_violation_and_served_without_when_that_is_accepted() {
    let data = booked();
    let path = data.path().join("segment-00000001");
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.iter().rposition(|&byte| byte != 0).unwrap();
    bytes[last - last % 4_096..].fill(0);
    fs::write(&path, &bytes).unwrap();
    let before = content(data.path());

    let ended = verify(data.path());
    assert_eq!((ended.code, &*ended.out), (Some(97), ""), "{ended:?}");
    let (_, hint) = ended.err.split_once("--accept-loss ").unwrap();
    let kept: u64 = hint.split(' ').next().unwrap().parse().unwrap();
    for other in [None, Some(kept + 1)] {
        let refused = run(&mut serve(data.path(), other));
        assert_eq!(refused.code, Some(1), "{refused:?}");
        let reason = "acknowledged records are lost: the journal ends at position";
        assert!(refused.err.contains(reason), "{refused:?}");
    }
    assert_eq!(content(data.path()), before, "nothing was changed");

    let log = Server::start(&mut serve(data.path(), Some(kept))).stop();
    let said = "acknowledged records after this position were given up";
    assert!(log.contains(said), "{log}");
    let ended = verify(data.path());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!ended.out.contains("5 bookings stand"), "{ended:?}");
    let log = Server::start(&mut serve(data.path(), None)).stop();
    assert!(!log.contains(said), "{log}");
}

/// It was called damage, with the exit code of something that was sold twice.
#[test]
fn a_directory_of_a_newer_version_is_no_damage() {
    let data = booked();
    let path = data.path().join("segment-00000001");
    let mut bytes = fs::read(&path).unwrap();
    bytes[4] = 9;
    let checksum = crc32c::crc32c(&bytes[..22]);
    bytes[22..26].copy_from_slice(&checksum.to_le_bytes());
    fs::write(&path, &bytes).unwrap();
    for ended in [
        verify(data.path()),
        recount(data.path()),
        run(&mut serve(data.path(), None)),
    ] {
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(!ended.out.contains("ready"), "{ended:?}");
        let expected = "segment-00000001 was written by a newer version of this program: it has \
                        format 9, and this program reads up to 1";
        assert!(ended.err.contains(expected), "{ended:?}");
    }
}

/// The first write of a start failed with the code of any other error. Here a file may have so many
/// blocks of 512 bytes at the most.
#[test]
fn a_start_whose_first_write_fails_ends_as_a_failed_disk_does() {
    let data = tempfile::tempdir().unwrap();
    let program = turnstile();
    let mut limited = settled(Command::new("sh"));
    limited.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\""]);
    limited.arg(program.get_program());
    limited.args(serve(&data.path().join("new"), None).get_args());
    let ended = run(&mut limited);
    assert_eq!(ended.code, Some(74), "{ended:?}");
}

/// A flipped bit in the key, or the key of another directory, passed every check: and then no guest was
/// recognised.
#[test]
fn a_damaged_or_foreign_id_key_is_refused() {
    let (data, other) = (booked(), booked());
    let (key, check) = (data.path().join("id.key"), data.path().join("id.check"));
    let sound = content(data.path());
    let mut wrong = sound[&key].clone();
    wrong[3] ^= 0x10;
    let foreign = |name| fs::read(other.path().join(name)).unwrap();
    for (files, expected) in [
        (
            vec![(&key, wrong)],
            "id.key is damaged or of another directory",
        ),
        (
            vec![(&key, foreign("id.key"))],
            "id.key is damaged or of another directory",
        ),
        (
            vec![(&key, foreign("id.key")), (&check, foreign("id.check"))],
            "id.check is damaged or of another directory",
        ),
    ] {
        for (path, bytes) in files {
            fs::write(path, bytes).unwrap();
        }
        let ended = verify(data.path());
        assert_eq!((ended.code, &*ended.out), (Some(97), ""), "{ended:?}");
        assert!(ended.err.contains(expected), "{ended:?}");
        let ended = run(&mut serve(data.path(), None));
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.err.contains(expected), "{ended:?}");
        fs::write(&key, &sound[&key]).unwrap();
        fs::write(&check, &sound[&check]).unwrap();
    }
    assert_eq!(verify(data.path()).code, Some(0));
}

/// As an earlier version left it.
#[test]
fn a_directory_whose_key_is_not_bound_is_bound_by_the_next_start() {
    let data = booked();
    let check = data.path().join("id.check");
    fs::remove_file(&check).unwrap();
    let unbound = "; id.key cannot be checked before a server has started here once\n";
    let ended = verify(data.path());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.ends_with(unbound), "{ended:?}");
    assert!(!check.exists(), "nothing was changed");
    drop(Server::start(&mut serve(data.path(), None)).stop());
    let ended = verify(data.path());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!ended.out.contains("id.key"), "{ended:?}");
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
