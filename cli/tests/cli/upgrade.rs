//! `turnstile upgrade --check`, and directories of newer versions, which nothing changes.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::process::{Ended, Server, ask, run, turnstile, words};

fn serve(data: &Path) -> Command {
    let mut command = turnstile();
    command.args(["serve", "--resp", "127.0.0.1:0", "--http", "off"]);
    command.args([
        "--segment-bytes",
        "4194304",
        "--snapshot-records",
        "10",
        "--data",
    ]);
    command.arg(data);
    command
}

fn is_snapshot(name: &str) -> bool {
    name.starts_with("snapshot-") && !name.ends_with(".new")
}

/// A directory with a snapshot and records behind it.
fn booked() -> TempDir {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(&mut serve(data.path()));
    let mut door = server.connect();
    assert_eq!(words(&ask(&mut door, "ROOMS.ADD-PROPERTY inn OPEN")), "1 1");
    for room in 0..12 {
        let line = format!("ROOMS.BOOK inn {room} 2027-01-01 2027-01-02 ada 234123412346");
        assert!(words(&ask(&mut door, &line)).starts_with("1 R"));
    }
    while !content(data.path())
        .keys()
        .any(|path| is_snapshot(&name_of(path)))
    {
        ask(&mut door, "PING");
    }
    server.stop();
    data
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Every file and its bytes.
fn content(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    paths
        .filter_map(|path| Some((path.clone(), fs::read(path).ok()?)))
        .collect()
}

fn check(dir: &Path) -> Ended {
    run(turnstile().args(["upgrade", "--check"]).arg(dir))
}

#[test]
fn a_check_says_who_wrote_a_directory_and_in_which_formats_also_while_it_is_served() {
    let this = env!("CARGO_PKG_VERSION");
    let data = booked();
    let before = content(data.path());
    let expected = format!(
        "written by       {this} from position 1 on
this program     {this}
last position    13
format journal   1 (read up to 1)
format record    2 (read up to 2)
format snapshot  1 (read up to 1)
format state     2 (read up to 5)
format id key    1 (read up to 1)
reads it         yes
a start          changes no format and makes no file
also read by     no other version has written here
"
    );
    let checked = check(data.path());
    assert_eq!((checked.code, checked.out), (Some(0), expected.clone()));
    assert_eq!(content(data.path()), before);
    let server = Server::start(&mut serve(data.path()));
    let live = check(data.path());
    assert_eq!((live.code, live.out), (Some(0), expected));
    server.stop();
}

#[test]
fn a_directory_that_others_wrote_says_up_to_where_they_read_it_and_what_a_start_changes() {
    let this = env!("CARGO_PKG_VERSION");
    let data = booked();
    fs::remove_file(data.path().join("id.check")).unwrap();
    fs::write(data.path().join("program-versions"), "0.0.8 1\n0.0.9 5\n").unwrap();
    let checked = check(data.path());
    assert_eq!(
        checked.rows("written by"),
        ["0.0.8fromposition1on", "0.0.9fromposition5on"]
    );
    assert_eq!(
        checked.rows("also read by"),
        ["0.0.8uptoposition4", "0.0.9uptoposition13"]
    );
    let changes = [
        "makesid.check,whichbindsid.keytothejournal".to_owned(),
        format!("notesthat{this}writesfromhereon"),
    ];
    assert_eq!(checked.rows("a start"), changes);
    Server::start(&mut serve(data.path())).stop();
    let noted = fs::read_to_string(data.path().join("program-versions")).unwrap();
    assert_eq!(noted, format!("0.0.8 1\n0.0.9 5\n{this} 14\n"));

    // A newer version may have written commands that have no format of their own.
    fs::write(data.path().join("program-versions"), "9.0.0 1\n").unwrap();
    let checked = check(data.path());
    let expected = "itsformats,yes;9.0.0wroteitlast:proveitbyturnstileverify";
    assert_eq!(
        (checked.code, checked.row("reads it").as_str()),
        (Some(0), expected)
    );
}

#[test]
fn without_a_journal_there_is_nothing_to_check() {
    let empty = tempfile::tempdir().unwrap();
    let checked = check(empty.path());
    assert_eq!(checked.code, Some(1));
    assert!(checked.err.contains("there is no journal"), "{checked:?}");
    assert_eq!(content(empty.path()), BTreeMap::new());
}

/// Makes a directory one of a newer version.
type Spoil<'a> = &'a dyn Fn(&Path);

/// Sets the version in a file of the directory and renews the checksum of what is before it.
fn raise(dir: &Path, name: &str, begin: usize, checksum_at: usize) {
    let path = dir.join(name);
    let mut bytes = fs::read(&path).unwrap();
    bytes[begin + 4] = 9;
    let checksum = crc32c::crc32c(&bytes[begin..checksum_at]);
    bytes[checksum_at..checksum_at + 4].copy_from_slice(&checksum.to_le_bytes());
    fs::write(&path, bytes).unwrap();
}

/// Raises the first byte of a snapshot's state, with the checksums over it.
fn raise_state(dir: &Path, name: &str) {
    let path = dir.join(name);
    let mut bytes = fs::read(&path).unwrap();
    bytes[62] = 9;
    let state = crc32c::crc32c(&bytes[62..]);
    bytes[54..58].copy_from_slice(&state.to_le_bytes());
    let header = crc32c::crc32c(&bytes[..58]);
    bytes[58..62].copy_from_slice(&header.to_le_bytes());
    fs::write(&path, bytes).unwrap();
}

#[test]
fn a_directory_of_a_newer_version_is_refused_and_no_byte_of_it_changes() {
    let snapshot = |dir: &Path| {
        let names = content(dir);
        let names = names.keys().map(|path| name_of(path));
        names.filter(|name| is_snapshot(name)).max().unwrap()
    };
    let newer: [(&str, Spoil<'_>); 6] = [
        ("segment-00000001", &|dir| {
            raise(dir, "segment-00000001", 0, 22)
        }),
        ("segment-00000001", &|dir| {
            raise(dir, "segment-00000001", 4_096, 4_096 + 56)
        }),
        ("durable-end", &|dir| {
            for slot in [0, 4_096] {
                raise(dir, "durable-end", slot, slot + 22);
            }
        }),
        ("snapshot-", &|dir| raise(dir, &snapshot(dir), 0, 58)),
        ("the state in snapshot-", &|dir| {
            raise_state(dir, &snapshot(dir))
        }),
        ("id.check", &|dir| raise(dir, "id.check", 0, 30)),
    ];
    for (file, raise) in newer {
        let data = booked();
        raise(data.path());
        let before = content(data.path());
        let dir = data.path();
        let ended = [
            run(&mut serve(dir)),
            run(turnstile().arg("verify").arg(dir)),
            check(dir),
        ];
        for ended in ended {
            assert_eq!(ended.code, Some(2), "{file}: {ended:?}");
            let expected = "was written by a newer version of this program: it has format 9";
            assert!(ended.err.contains(expected), "{file}: {ended:?}");
            assert!(ended.err.contains(file), "{file}: {ended:?}");
        }
        assert!(content(dir) == before, "{file}: something has changed");
    }
}
