//! The first administrator of a directory, and a certificate for a first try.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use crate::process::{Ended, Server, run, turnstile};

fn init(dir: &Path, options: &[&str]) -> Ended {
    run(turnstile().arg("init").arg(dir).args(options))
}

/// Whether a text is a key of this environment.
fn is_key(text: &str, environment: &str) -> bool {
    let mut parts = text.split('_');
    parts.next() == Some("ts")
        && parts.next() == Some(environment)
        && parts.next().is_some_and(|id| id.len() == 12)
        && parts.next().is_some_and(|secret| secret.len() == 52)
        && parts.next().is_none()
}

#[test]
fn the_first_key_is_printed_once_and_is_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("hotel");
    let made = init(&dir, &["--env", "test"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let key = made.out.trim_end();
    assert!(is_key(key, "test"), "{made:?}");
    assert!(!made.err.contains(key), "{made:?}");
    assert!(dir.join("id.key").is_file());
    let secret = key.rsplit('_').next().unwrap().as_bytes();
    for file in fs::read_dir(&dir).unwrap() {
        let file = file.unwrap().path();
        let bytes = fs::read(&file).unwrap();
        let is_there = bytes.windows(secret.len()).any(|part| part == secret);
        assert!(!is_there, "the secret is in {}", file.display());
    }
    let again = init(&dir, &[]);
    assert_eq!((again.code, again.out.as_str()), (Some(2), ""), "{again:?}");
    assert!(
        again.err.contains("has an administrator already"),
        "{again:?}"
    );
    let needless = init(&dir, &["--if-needed"]);
    let told = (needless.code, needless.out.as_str(), needless.err.as_str());
    assert_eq!(told, (Some(0), "", ""), "{needless:?}");
    let verified = run(turnstile().arg("verify").arg(&dir));
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn the_first_key_goes_to_a_file_that_only_its_owner_reads() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, file) = (folder.path().join("hotel"), folder.path().join("key"));
    let option = ["--key-file", file.to_str().unwrap()];
    fs::write(&file, "something of somebody").unwrap();
    let taken = init(&dir, &option);
    assert_eq!(taken.code, Some(1), "{taken:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "something of somebody");
    fs::remove_file(&file).unwrap();
    // What was done of the first try stays, and no key was.
    let made = init(&dir, &option);
    assert_eq!((made.code, made.out.as_str()), (Some(0), ""), "{made:?}");
    let key = fs::read_to_string(&file).unwrap();
    assert!(
        is_key(key.trim_end(), "live"),
        "a file of {} bytes",
        key.len()
    );
    assert!(!made.err.contains(key.trim_end()), "{made:?}");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// The key file is written before the directory has the key: a first start that is killed between them leaves
/// a file that stopped every later start of a pod.
#[test]
fn a_key_of_an_interrupted_start_is_replaced_and_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, file) = (folder.path().join("hotel"), folder.path().join("key"));
    let option = ["--if-needed", "--key-file", file.to_str().unwrap()];
    let stale = init(&folder.path().join("other"), &[]).out;
    for left in ["", &stale] {
        // The key of another directory, on the first try here; then what somebody put there.
        for kept in [&*stale, "something of somebody"] {
            fs::write(&file, kept).unwrap();
            assert_eq!(init(&dir, &option).code, Some(1));
            assert_eq!(fs::read_to_string(&file).unwrap(), kept);
        }
        fs::write(&file, left).unwrap();
        let made = init(&dir, &option);
        assert_eq!(made.code, Some(0), "{made:?}");
        let key = fs::read_to_string(&file).unwrap();
        assert!(is_key(key.trim_end(), "live") && key != stale);
        let needless = init(&dir, &option);
        assert_eq!(needless.code, Some(0), "{needless:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), key);
        fs::remove_dir_all(&dir).unwrap();
    }
}

#[test]
fn a_certificate_for_a_first_try_is_good_for_the_hosts_that_were_named() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("hotel");
    let made = init(
        &dir,
        &["--self-signed", "--hosts", "hotel.example,10.1.2.3"],
    );
    assert_eq!(made.code, Some(0), "{made:?}");
    let (certificate, key) = (dir.join("tls/certificate.pem"), dir.join("tls/key.pem"));
    for line in [
        format!("certificate = {:?}", certificate.to_str().unwrap()),
        format!("key = {:?}", key.to_str().unwrap()),
        format!("--ca {}", certificate.display()),
    ] {
        assert!(made.err.contains(&line), "{line}: {made:?}");
    }
    assert_eq!(
        fs::metadata(&key).unwrap().permissions().mode() & 0o777,
        0o600
    );
    for (text, begin) in [(&certificate, "CERTIFICATE"), (&key, "PRIVATE KEY")] {
        let text = fs::read_to_string(text).unwrap();
        assert!(text.starts_with(&format!("-----BEGIN {begin}-----")));
    }
    let alone = init(&folder.path().join("other"), &["--hosts", "x"]);
    assert_eq!(alone.code, Some(2), "{alone:?}");
}

/// The administrator was there before the certificate was made, and a directory that has one is left alone.
#[test]
fn a_certificate_that_is_not_made_leaves_a_directory_without_an_administrator() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, key_file) = (folder.path().join("hotel"), folder.path().join("key"));
    let tls = dir.join("tls");
    let options = ["--self-signed", "--key-file", key_file.to_str().unwrap()];
    let wrong = init(&dir, &["--self-signed", "--hosts", "\u{e4}"]);
    assert_eq!((wrong.code, &*wrong.out), (Some(2), ""), "{wrong:?}");
    fs::create_dir(&tls).unwrap();
    fs::write(tls.join("key.pem"), "a key").unwrap();
    let taken = init(&dir, &options);
    assert_eq!(taken.code, Some(2), "{taken:?}");
    assert!(taken.err.contains("is there already"), "{taken:?}");
    assert_eq!(fs::read_to_string(tls.join("key.pem")).unwrap(), "a key");
    fs::remove_file(tls.join("key.pem")).unwrap();

    fs::write(&key_file, "").unwrap();
    let taken = init(&dir, &options);
    assert_eq!(taken.code, Some(1), "{taken:?}");
    assert_eq!(fs::read_dir(&tls).unwrap().count(), 0, "of a first try");
    fs::remove_file(&key_file).unwrap();
    let made = init(&dir, &options);
    assert_eq!(made.code, Some(0), "{made:?}");
    assert_eq!(fs::read_dir(&tls).unwrap().count(), 2);
}

#[test]
fn a_directory_that_is_served_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::dev(folder.path());
    let refused = init(folder.path(), &[]);
    assert_eq!(
        (refused.code, refused.out.as_str()),
        (Some(1), ""),
        "{refused:?}"
    );
    assert!(refused.err.contains("another process has"), "{refused:?}");
    server.stop();
}
