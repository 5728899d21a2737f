//! `turnstile backup`, `restore` and `follow` with real servers, which are killed.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use turnstile_client::Connection;

use crate::process::{Ended, Server, ask, dev_with, run, turnstile, words};

const TIMEOUT: Duration = Duration::from_secs(60);

/// A server on free ports.
const SERVE: [&str; 7] = [
    "serve",
    "--resp",
    "127.0.0.1:0",
    "--http",
    "127.0.0.1:0",
    "--data",
    "PATH",
];

fn program(arguments: &[&str], paths: &[&Path]) -> Command {
    let mut command = turnstile();
    let mut paths = paths.iter();
    for argument in arguments {
        if *argument == "PATH" {
            command.arg(paths.next().unwrap());
        } else {
            command.arg(argument);
        }
    }
    command
}

fn done(arguments: &[&str], paths: &[&Path]) -> Ended {
    let ended = run(&mut program(arguments, paths));
    assert_eq!(ended.code, Some(0), "{arguments:?}: {ended:?}");
    ended
}

fn url(server: &Server) -> String {
    format!("http://{}", server.door("http").unwrap())
}

/// Makes so many accounts, each of which is acknowledged.
fn add_accounts(server: &Server, begin: u32, end: u32) {
    let mut door = server.connect();
    for number in begin..end {
        let line = format!("EXCHANGE.CREATE-ACCOUNT account-{number} 0");
        assert!(words(&ask(&mut door, &line)).starts_with('1'));
    }
}

/// Whether a server has this account.
fn has_account(door: &mut Connection, number: u32) -> bool {
    let told = words(&ask(
        door,
        &format!("EXCHANGE.GET-ACCOUNT account-{number}"),
    ));
    !told.is_empty() && !told.starts_with('-')
}

fn folder() -> (tempfile::TempDir, impl Fn(&str) -> PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_owned();
    (folder, move |name: &str| root.join(name))
}

#[test]
fn a_running_server_is_backed_up_by_directory_and_over_http_and_restored() {
    let (_folder, path) = folder();
    let data = path("data");
    let server = Server::dev(&data);
    add_accounts(&server, 0, 20);
    let (by_directory, by_http) = (path("by-directory"), path("by-http"));
    let passphrase = path("passphrase");
    fs::write(&passphrase, "correct horse battery\n").unwrap();
    let take = |increment: bool| {
        let first: &[&str] = if increment {
            &[]
        } else {
            &["--passphrase-file", "PATH"]
        };
        let arguments = [&["backup", "--from", "PATH", "--to", "PATH"], first].concat();
        done(&arguments, &[&data, &by_directory, &passphrase]);
        let first: &[&str] = if increment {
            &[]
        } else {
            &["--without-id-key"]
        };
        let from = url(&server);
        let arguments = [&["backup", "--from", &from, "--to", "PATH"], first].concat();
        done(&arguments, &[&by_http]);
    };
    take(false);
    add_accounts(&server, 20, 40);
    take(true);
    drop(server);
    for backup in [&by_directory, &by_http] {
        let checked = done(&["backup", "verify", "PATH"], &[backup]);
        assert!(
            checked.out.contains("every byte is as it was backed up"),
            "{checked:?}"
        );
    }
    let segment = |folder: &Path| fs::read(folder.join("segment-00000001")).unwrap();
    assert_eq!(segment(&by_directory), segment(&by_http));
    let (one, other) = (path("one"), path("other"));
    done(
        &[
            "restore",
            "--from",
            "PATH",
            "--to",
            "PATH",
            "--passphrase-file",
            "PATH",
        ],
        &[&by_directory, &one, &passphrase],
    );
    let key = data.join("id.key");
    done(
        &[
            "restore", "--from", "PATH", "--to", "PATH", "--id-key", "PATH",
        ],
        &[&by_http, &other, &key],
    );
    for restored in [&one, &other] {
        done(&["verify", "PATH"], &[restored]);
        let server = Server::dev(restored);
        let mut door = server.connect();
        assert!((0..40).all(|number| has_account(&mut door, number)));
        server.stop();
    }
}

#[test]
fn what_is_wrong_with_a_command_line_is_told_before_anything_is_written() {
    let (_folder, path) = folder();
    let data = path("data");
    Server::dev(&data).stop();
    let backup = path("backup");
    let unsaid = run(&mut program(
        &["backup", "--from", "PATH", "--to", "PATH"],
        &[&data, &backup],
    ));
    assert_eq!(unsaid.code, Some(2), "{unsaid:?}");
    assert!(unsaid.err.contains("--without-id-key"), "{unsaid:?}");
    let short = path("short");
    fs::write(&short, "swordfish").unwrap();
    let arguments = [
        "backup",
        "--from",
        "PATH",
        "--to",
        "PATH",
        "--passphrase-file",
        "PATH",
    ];
    let refused = run(&mut program(&arguments, &[&data, &backup, &short]));
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("too short"), "{refused:?}");
    assert!(!refused.err.contains("swordfish"), "{refused:?}");
    let none = run(&mut program(
        &["backup", "verify", "PATH"],
        &[&path("nowhere")],
    ));
    assert_eq!(none.code, Some(2), "{none:?}");
    let ftp = [
        "backup",
        "--from",
        "ftp://x",
        "--to",
        "PATH",
        "--without-id-key",
    ];
    assert_eq!(run(&mut program(&ftp, &[&backup])).code, Some(2));
    let away = [
        "backup",
        "--from",
        "http://127.0.0.1:1",
        "--to",
        "PATH",
        "--without-id-key",
    ];
    assert_eq!(run(&mut program(&away, &[&backup])).code, Some(1));
}

/// The key must have a role, or the journal of a guarded server stays there.
#[test]
fn a_guarded_server_gives_its_journal_to_operators_only() {
    let (_folder, path) = folder();
    let (data, admin, backup) = (path("data"), path("admin.key"), path("backup"));
    done(&["init", "PATH", "--key-file", "PATH"], &[&data, &admin]);
    let server = Server::start(&mut program(&SERVE, &[&data]));
    let resp = server.door("resp").unwrap().to_string();
    let keys = ["operator", "reader"].map(|role| {
        let file = path(&format!("{role}.key"));
        let create = [
            "key", "create", role, "--role", role, "-o", "PATH", "--resp", &resp,
        ];
        done(
            &[&create[..], &["--key-file", "PATH"]].concat(),
            &[&file, &admin],
        );
        file
    });
    let from = url(&server);
    let take = |key: Option<&Path>| {
        let mut command = program(
            &[
                "backup",
                "--from",
                &from,
                "--to",
                "PATH",
                "--without-id-key",
            ],
            &[&backup],
        );
        if let Some(key) = key {
            command.arg("--key-file").arg(key);
        }
        run(&mut command)
    };
    assert_eq!(take(None).code, Some(77));
    assert_eq!(take(Some(&keys[1])).code, Some(77));
    assert_eq!(take(Some(&keys[0])).code, Some(0));
    assert_eq!(take(Some(&admin)).code, Some(0));
    server.stop();
}

/// Kills a command at many moments, until it has ended by itself before.
fn kill_at_many_moments(mut command: impl FnMut() -> Command, mut after: impl FnMut()) {
    for round in 0_u32.. {
        let mut child = command()
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        let wait = Duration::from_millis(2) * round * round / 4;
        let ended = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if begun.elapsed() >= wait {
                break None;
            }
            thread::yield_now();
        };
        if let Some(status) = ended {
            assert!(status.success(), "{status}");
            return;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        after();
    }
}

#[test]
fn a_backup_that_is_killed_leaves_the_one_before_it_and_a_restore_nothing_that_starts() {
    let (_folder, path) = folder();
    let (data, backup) = (path("data"), path("backup"));
    let server = Server::dev(&data);
    add_accounts(&server, 0, 5);
    let from = url(&server);
    let first = [
        "backup",
        "--from",
        &from,
        "--to",
        "PATH",
        "--without-id-key",
    ];
    kill_at_many_moments(
        || program(&first, &[&backup]),
        || {
            let checked = run(&mut program(&["backup", "verify", "PATH"], &[&backup]));
            assert!(matches!(checked.code, Some(0 | 2)), "{checked:?}");
        },
    );
    add_accounts(&server, 5, 60);
    kill_at_many_moments(
        || program(&["backup", "--from", &from, "--to", "PATH"], &[&backup]),
        || {
            done(&["backup", "verify", "PATH"], &[&backup]);
        },
    );
    drop(server);
    let (target, key) = (path("restored"), data.join("id.key"));
    let restore = [
        "restore", "--from", "PATH", "--to", "PATH", "--id-key", "PATH", "--again",
    ];
    kill_at_many_moments(
        || program(&restore, &[&backup, &target, &key]),
        || {
            let is_begun = target.join("segment-00000001").exists();
            if is_begun && !target.join("unfinished-copy").exists() {
                // It was done before the signal came.
                done(&["verify", "PATH"], &[&target]);
                fs::remove_dir_all(&target).unwrap();
            } else if is_begun {
                let refused = run(&mut program(&SERVE, &[&target]));
                assert_ne!(refused.code, Some(0), "{refused:?}");
                assert!(refused.err.contains("`restore`"), "{refused:?}");
            }
        },
    );
    let server = Server::dev(&target);
    let mut door = server.connect();
    assert!((0..60).all(|number| has_account(&mut door, number)));
    server.stop();
}

/// A program that follows a server. It is killed when it is dropped.
struct Following(Child);

impl Following {
    fn start(from: &str, to: &Path, metrics: &Path, key: &Path) -> Self {
        let arguments = [
            "follow",
            "--from",
            from,
            "--to",
            "PATH",
            "--metrics-file",
            "PATH",
            "--id-key",
            "PATH",
        ];
        let mut command = program(&arguments, &[to, metrics, key]);
        Self(command.stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A figure of the metrics file; nothing before there is one.
fn metric(file: &Path, name: &str) -> Option<f64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(&format!("turnstile_follow_{name} ")))?;
    line.parse().ok()
}

fn await_that(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < TIMEOUT, "it does not come");
        thread::yield_now();
    }
}

fn unix_now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs_f64()
}

/// Makes accounts until the server is gone; says when each was acknowledged.
fn load(resp: SocketAddr, ends: Arc<AtomicBool>) -> thread::JoinHandle<Vec<(u32, f64)>> {
    thread::spawn(move || {
        let mut door = Connection::connect(resp, TIMEOUT).unwrap();
        let mut acknowledged = Vec::new();
        for number in 0.. {
            if ends.load(Ordering::Relaxed) {
                break;
            }
            let line = format!("EXCHANGE.CREATE-ACCOUNT account-{number} 0");
            let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
            if door.command(&words).is_err() {
                break;
            }
            acknowledged.push((number, unix_now()));
        }
        acknowledged
    })
}

/// The first server is killed under load, and the copy takes over: what was acknowledged before the instant
/// that the copy told is there.
#[test]
fn a_standby_has_what_it_said_when_the_first_server_is_killed_under_load() {
    for round in 0..3 {
        let (_folder, path) = folder();
        let (data, copy, metrics) = (path("data"), path("copy"), path("metrics.prom"));
        let server = Server::dev(&data);
        let key = data.join("id.key");
        let following = Following::start(&url(&server), &copy, &metrics, &key);
        let load = load(server.door("resp").unwrap(), Arc::default());
        await_that(|| metric(&metrics, "position").is_some_and(|position| position > 400.0));
        if round == 2 {
            // It goes on where it was after it was killed itself.
            drop(following);
            let before = metric(&metrics, "position").unwrap();
            let _again = Following::start(&url(&server), &copy, &metrics, &key);
            await_that(|| metric(&metrics, "position").is_some_and(|now| now > before + 200.0));
            drop(server);
        } else {
            drop(server);
            await_that(|| metric(&metrics, "connected") == Some(0.0));
            drop(following);
        }
        let acknowledged = load.join().unwrap();
        let complete = metric(&metrics, "complete_until_seconds").unwrap();
        let said = acknowledged.iter().filter(|(_, at)| *at < complete).count();
        assert!(said > 0, "the load began before");
        let promoted = Server::dev(&copy);
        let mut door = promoted.connect();
        let there = acknowledged
            .iter()
            .filter(|(number, _)| has_account(&mut door, *number))
            .count();
        assert!(there >= said, "{there} of {said} accounts are there");
        // What is there is a beginning of what was done.
        for (number, _) in &acknowledged[..there] {
            assert!(has_account(&mut door, *number), "{number}");
        }
        promoted.stop();
        done(&["verify", "PATH"], &[&copy]);
    }
}

/// Nothing was written before the first connection, and a file that could not be written ended it.
#[test]
fn a_follower_writes_its_metrics_from_its_start_on_and_goes_on_without_them() {
    let (_folder, path) = folder();
    let (data, copy, absent) = (path("data"), path("copy"), path("absent"));
    let metrics = absent.join("metrics.prom");
    let server = Server::dev(&data);
    let key = data.join("id.key");
    let following = Following::start(&url(&server), &copy, &metrics, &key);
    await_that(|| copy.join("durable-end").exists());
    fs::create_dir(&absent).unwrap();
    let complete = || metric(&metrics, "complete_until_seconds");
    await_that(|| complete().is_some_and(|until| until > 0.0));
    drop(following);
    // The copy stays as complete as it was said to be, also while the server is not reached.
    let from = url(&server);
    server.stop();
    let before = complete();
    assert_eq!(metric(&metrics, "connected"), Some(1.0));
    let _again = Following::start(&from, &copy, &metrics, &key);
    await_that(|| metric(&metrics, "connected") == Some(0.0));
    assert_eq!(complete(), before);
    let other = path("other.prom");
    let _other = Following::start(&from, &path("empty"), &other, &key);
    await_that(|| metric(&other, "connected") == Some(0.0));
    let figures = ["complete_until_seconds", "position"].map(|name| metric(&other, name));
    assert_eq!(figures, [Some(0.0), None]);
}

/// A file that cannot be read was taken for a server that is not reached, and tried again for ever.
#[test]
fn a_follower_with_a_wrong_file_ends() {
    let (_folder, path) = folder();
    let copy = path("copy");
    for (from, option) in [
        ("http://127.0.0.1:1", "--key-file"),
        ("https://127.0.0.1:1", "--ca"),
    ] {
        let arguments = ["follow", "--from", from, "--to", "PATH", option, "PATH"];
        let ended = run(&mut program(&arguments, &[&copy, &path("absent.pem")]));
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.err.contains("absent.pem"), "{ended:?}");
    }
}

#[test]
fn a_copy_catches_up_and_says_so_after_the_server_was_away() {
    let (_folder, path) = folder();
    let (data, copy, metrics) = (path("data"), path("copy"), path("metrics.prom"));
    let server = Server::dev(&data);
    let (http, resp) = (server.door("http").unwrap(), server.door("resp").unwrap());
    let _following = Following::start(&url(&server), &copy, &metrics, &data.join("id.key"));
    await_that(|| metric(&metrics, "lag_positions") == Some(0.0));
    server.stop();
    await_that(|| metric(&metrics, "connected") == Some(0.0));
    let (resp, http) = (resp.to_string(), http.to_string());
    let mut command = dev_with(&["--resp", &resp, "--http", &http, "--data"]);
    let server = Server::start(command.arg(&data));
    add_accounts(&server, 0, 50);
    let since = unix_now();
    await_that(|| metric(&metrics, "complete_until_seconds").is_some_and(|until| until > since));
    assert_eq!(metric(&metrics, "connected"), Some(1.0));
    // Nobody starts on a directory that still follows.
    let busy = run(&mut program(&SERVE, &[&copy]));
    assert_ne!(busy.code, Some(0));
    assert!(busy.err.contains("another process"), "{busy:?}");
    server.stop();
}
