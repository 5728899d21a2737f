//! How commands come to a server: with a key that is never shown.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    thread,
};

use crate::process::{Ended, run, turnstile};

const RIGHT: &str = "ts_live_right_secret";
const WRONG: &str = "ts_live_wrong_secret";

/// A server that knows one key, and answers who has it that a right is missing.
fn guarded() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut lines = BufReader::new(stream.unwrap());
            let (mut line, mut known) = (String::new(), false);
            while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
                let said = match line.trim_end() {
                    RIGHT => {
                        known = true;
                        "+OK\r\n"
                    }
                    WRONG => "-WRONGPASS invalid key\r\n",
                    "HELLO" | "INFO" | "ROOMS.GET-AVAILABILITY" if !known => {
                        "-NOAUTH Authentication required.\r\n"
                    }
                    "HELLO" => "%0\r\n",
                    "INFO" | "ROOMS.LIST-PROPERTIES" | "ROOMS.GET-AVAILABILITY" => {
                        "-NOPERM this needs rooms.read\r\n"
                    }
                    _ => "",
                };
                line.clear();
                lines.get_mut().write_all(said.as_bytes()).unwrap();
            }
        }
    });
    address
}

fn key_file(folder: &Path, key: &str, mode: u32) -> PathBuf {
    let file = folder.join(key);
    fs::write(&file, format!("{key}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    file
}

#[track_caller]
fn is_denied(ended: &Ended, told: &str) {
    assert_eq!(ended.code, Some(77), "{ended:?}");
    assert!(ended.err.contains(told), "{ended:?}");
    for secret in [RIGHT, WRONG] {
        let shown = ended.err.replace(&format!("/{secret}"), "");
        assert!(!shown.contains(secret), "{ended:?}");
        assert!(!ended.out.contains(secret), "{ended:?}");
    }
}

#[test]
fn a_key_that_is_missing_or_wrong_or_lacks_a_right_ends_a_command_with_77() {
    let folder = tempfile::tempdir().unwrap();
    let address = guarded().to_string();
    let call = || {
        let mut command = turnstile();
        command.args(["call", "rooms.list_properties", "--resp", &address]);
        command
    };
    is_denied(&run(&mut call()), "asks for a key");
    let no_key = run(turnstile().args(["tx", "list", "--resp", &address]));
    is_denied(&no_key, "asks for a key");
    let no_key = run(turnstile().args(["lab", "run", "rooms", "--resp", &address]));
    is_denied(&no_key, "asks for a key");
    let wrong = run(call().env("TURNSTILE_KEY", WRONG));
    is_denied(&wrong, "does not accept this key");
    let lacks = run(call().env("TURNSTILE_KEY", RIGHT));
    is_denied(&lacks, "this needs rooms.read");
    // A file counts more than the environment.
    let file = key_file(folder.path(), RIGHT, 0o600);
    let mut command = call();
    command.env("TURNSTILE_KEY", WRONG);
    let lacks = run(command.arg("--key-file").arg(&file));
    is_denied(&lacks, "this needs rooms.read");
    assert!(!lacks.err.contains("others may read"), "{lacks:?}");
    let rush = run(turnstile()
        .args(["lab", "rush", "--resp", &address, "--key-file"])
        .arg(&file));
    is_denied(&rush, "this needs rooms.read");
    let read = key_file(folder.path(), WRONG, 0o640);
    let warned = run(call().arg("--key-file").arg(&read));
    is_denied(&warned, "others may read the key");
}

#[test]
fn what_is_no_key_or_no_place_for_one_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let address = guarded().to_string();
    let call = || {
        let mut command = turnstile();
        command.args(["call", "rooms.list_properties", "--resp"]);
        command
    };
    let blank = run(call().arg(&address).env("TURNSTILE_KEY", "a b"));
    assert_eq!(blank.code, Some(2), "{blank:?}");
    assert!(blank.err.contains("TURNSTILE_KEY: a key has"), "{blank:?}");
    let with_key = run(call().arg(format!("rediss://:{WRONG}@{address}")));
    assert_eq!(with_key.code, Some(2), "{with_key:?}");
    assert!(with_key.err.contains("does not stand in"), "{with_key:?}");
    assert!(!with_key.err.contains(WRONG), "{with_key:?}");
    // The name of the host was looked up with the key before it, and then shown.
    let with_key = |scheme: &str| format!("{scheme}x:{WRONG}@localhost:1");
    let (http, resp) = (with_key("https://"), with_key("rediss://"));
    let bare = format!("{WRONG}@localhost:1");
    let backup = folder.path().join("backup").display().to_string();
    for line in [
        vec!["doctor", &http],
        vec!["backup", "--from", &http, "--to", &backup],
        vec!["lab", "compare", &resp, "127.0.0.1:1", "rooms"],
        vec!["lab", "compare", &bare, "127.0.0.1:1", "rooms"],
    ] {
        let with_key = run(turnstile().args(line));
        assert_eq!(with_key.code, Some(2), "{with_key:?}");
        assert!(with_key.err.contains("does not stand in"), "{with_key:?}");
        assert!(!with_key.err.contains(WRONG), "{with_key:?}");
    }
    let missing = folder.path().join("missing");
    let missing = run(call().arg(&address).arg("--key-file").arg(missing));
    assert_eq!(missing.code, Some(1), "{missing:?}");
    let alone = run(call().args(["rediss://localhost:1", "--client-key", "x"]));
    assert_eq!(alone.code, Some(2), "{alone:?}");
    assert!(alone.err.contains("are named together"), "{alone:?}");
}
