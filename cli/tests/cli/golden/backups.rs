//! Backups of released versions, which every later version restores: one file with everything, and a directory
//! with an increment. In both the secret of the id numbers is sealed.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use turnstile_embedded::verify;

use super::{ANSWERS, answers, golden, head, log_in, packed, serve, told, unpack, unpacked};
use crate::process::{Ended, Server, ask, run, turnstile, words};

const FULL: &str = "backup.tar.gz";
const INCREMENTS: &str = "increments.tar.gz";

/// What a server answers on the restored increment.
pub(super) const LATER_ANSWERS: &str = "increments.txt";

const PASSPHRASE: &str = "correct horse battery";

/// What is done between the first backup and its increment.
const LATER: [&str; 2] = [
    "ROOMS.BOOK inn 9 2027-12-24 2027-12-27 Eve 234123412346",
    "EXCHANGE.CREATE-ACCOUNT later 7",
];

const LATER_QUESTIONS: &str =
    "ROOMS.LIST-GUEST-BOOKINGS 234123412346\nEXCHANGE.GET-ACCOUNT later\n";

fn done(arguments: &[&str]) -> Ended {
    let ended = run(turnstile().args(arguments));
    assert_eq!(ended.code, Some(0), "{arguments:?}: {ended:?}");
    ended
}

/// A file with the passphrase.
fn passphrase(folder: &Path) -> String {
    let path = folder.join("passphrase");
    fs::write(&path, PASSPHRASE).unwrap();
    text(path)
}

fn text(path: PathBuf) -> String {
    path.into_os_string().into_string().unwrap()
}

/// Takes a backup of a directory.
fn back_up(data: &Path, to: &str, passphrase: &str) {
    let from = text(data.to_owned());
    let take = ["backup", "--from", &from, "--to", to];
    done(&[&take[..], &["--passphrase-file", passphrase]].concat());
}

/// Makes the backups of a version from its directory.
pub(super) fn make(version: &str) {
    let golden = golden().join(version);
    let data = unpacked(version);
    let folder = tempfile::tempdir().unwrap();
    let passphrase = passphrase(folder.path());
    let full = folder.path().join("backup.tar");
    back_up(data.path(), &text(full.clone()), &passphrase);
    let file = File::create(golden.join(FULL)).unwrap();
    let mut gzip = GzEncoder::new(file, Compression::best());
    io::copy(&mut File::open(full).unwrap(), &mut gzip).unwrap();
    gzip.finish().unwrap();

    let increments = folder.path().join("increments");
    back_up(data.path(), &text(increments.clone()), &passphrase);
    let server = Server::start(&mut serve(data.path()));
    let mut door = server.connect();
    log_in(&mut door);
    for line in LATER {
        let answer = words(&ask(&mut door, line));
        assert!(!answer.starts_with(['-', '0']), "{line}: {answer}");
    }
    server.stop();
    let (from, to) = (text(data.path().to_owned()), text(increments.clone()));
    done(&["backup", "--from", &from, "--to", &to]);
    packed(&increments, &golden.join(INCREMENTS));
    let told = answers(data.path(), LATER_QUESTIONS);
    fs::write(golden.join(LATER_ANSWERS), told).unwrap();
}

#[test]
fn the_backups_of_every_version_are_restored_and_answer_as_they_did() {
    for version in super::versions() {
        let golden = golden().join(&version);
        let expected = head(&fs::read_to_string(golden.join(ANSWERS)).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| text(folder.path().join(name));
        let passphrase = passphrase(folder.path());
        let restore = |from: &str, to: &str, more: &[&str]| {
            let (from, to) = (path(from), path(to));
            done(&["backup", "verify", &from]);
            let restore = ["restore", "--from", &from, "--to", &to];
            let key = ["--passphrase-file", &passphrase];
            done(&[&restore[..], &key[..], more].concat());
            folder.path().join(to)
        };
        let mut full = GzDecoder::new(File::open(golden.join(FULL)).unwrap());
        io::copy(&mut full, &mut File::create(path("backup.tar")).unwrap()).unwrap();
        let restored = restore("backup.tar", "full", &[]);
        assert_eq!(told(&verify(&restored).unwrap()), expected, "{version}");

        unpack(&golden.join(INCREMENTS), &folder.path().join("increments"));
        let before = expected
            .split(['n', ','])
            .find_map(|part| part.trim().parse::<u64>().ok());
        let before = before.unwrap().to_string();
        let restored = restore("increments", "before", &["--until", &before]);
        assert_eq!(told(&verify(&restored).unwrap()), expected, "{version}");
        let restored = restore("increments", "whole", &[]);
        let expected = fs::read_to_string(golden.join(LATER_ANSWERS)).unwrap();
        assert_eq!(answers(&restored, LATER_QUESTIONS), expected, "{version}");
    }
}
