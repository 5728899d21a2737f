//! Foreign clients against the doors, each as its users run it.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use turnstile_tests::Turnstile;

use crate::door::{door, redis_cli};
use crate::program::output;

/// What `cargo xtask test` installed and told us about.
pub(crate) fn installed(variable: &str) -> PathBuf {
    let path = env::var_os(variable);
    path.unwrap_or_else(|| panic!("{variable} is not set: run `cargo xtask test`"))
        .into()
}

fn session(name: &str) -> String {
    let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients");
    sessions
        .join(name)
        .to_str()
        .expect("the path is UTF-8")
        .to_owned()
}

#[test]
fn redis_cli_books_reads_back_and_cancels() {
    let door = door();
    let book = [
        "ROOMS.BOOK",
        "bench",
        "101",
        "2027-03-01",
        "2027-03-03",
        "ada",
        "234123412346",
    ];
    let booked = redis_cli(&door, &book, "");
    let [outcome, reference, room, position] = booked.lines().collect::<Vec<_>>()[..] else {
        panic!("not four lines: {booked}");
    };
    assert_eq!((outcome, room), ("1", "101"));
    let sold_out = "0\nsold_out\n2027-03-01\n2027-03-02\n";
    assert_eq!(redis_cli(&door, &book, ""), sold_out);

    let shown = redis_cli(&door, &["-3", "ROOMS.LOOK-UP", reference], "");
    assert!(shown.contains(&format!("position {position}\n")), "{shown}");
    let cancelled = redis_cli(&door, &["ROOMS.CANCEL", reference, "234123412346"], "");
    assert!(
        cancelled.starts_with("1\n101\n2027-03-01\n2027-03-03\n"),
        "{cancelled}"
    );
}

#[test]
fn redis_cli_sells_a_journey_and_shows_who_waits() {
    let door = door();
    let session = "TRAVEL.START\nTRAVEL.ADD-ITEM 1 \"car-new york\" 1 40\nTRAVEL.ADD-CUSTOMER 1 CUSTOMER 42\n\
                   TRAVEL.COMMIT 1\nTRAVEL.BOOK 42 \"car-New York\" KEY journey\n\
                   TRAVEL.BOOK 42 \"car-new york\"\nTRAVEL.LIST-TRANSACTIONS\nTRAVEL.GET-TRANSACTION 2\n";
    let answers = redis_cli(&door, &[], session);
    // There is something in the journal already.
    let first: u64 = answers
        .lines()
        .nth(2)
        .and_then(|line| line.parse().ok())
        .unwrap();
    let [second, third, fourth, fifth] = [1, 2, 3, 4].map(|more| first + more);
    let expected = format!(
        "1\n1\n{first}\n1\n{second}\n1\n42\n{third}\n1\n{fourth}\n1\nAB6X5T\n40\n\n{fifth}\n\
         0\nsold_out\ncar-new york\ntransactions\n\nnext\n\nxid\n2\nstate\ncommitted\n"
    );
    assert!(answers.starts_with(&expected), "{answers}");
    let again = "TRAVEL.BOOK 42 \"car-New York\" KEY journey\n";
    let replayed = redis_cli(&door, &[], again);
    assert_eq!(replayed, format!("1\nAB6X5T\n40\n\n{fifth}\nreplayed\n"));
}

#[test]
fn redis_cli_plays_both_sides_and_is_told_where_a_match_stands() {
    let door = door();
    let begun = redis_cli(
        &door,
        &[
            "GAMES.BEGIN",
            "ada",
            "bob",
            "connect-four",
            "KEY",
            "evening",
        ],
        "",
    );
    assert!(
        begun.starts_with("1\nmatch\n1\ngame\nconnect-four\n"),
        "{begun}"
    );
    let session = "GAMES.MOVE 1 ada 0 4\nGAMES.MOVE 1 ada 1 4\nGAMES.OFFER-DRAW 1 ada\n\
                   GAMES.ACCEPT-DRAW 1 bob\nGAMES.GET-TALLY ada bob\n";
    let answers = redis_cli(&door, &[], session);
    assert!(
        answers.starts_with("1\n1\n1\n1\n39\nbob\n\n\n"),
        "{answers}"
    );
    assert!(
        answers.contains("0\nnot_your_turn\nmatch\n1\n"),
        "{answers}"
    );
    let tally = "played\n1\nwon\n0\nlost\n0\ndrawn\n1\n";
    assert!(answers.ends_with(tally), "{answers}");
}

#[test]
fn redis_cli_shows_live_help() {
    shows_help(
        "rooms.book",
        "ROOMS.BOOK property ROOM|type:TYPE|any arrival departure guest id_number [KEY key] \
         summary: Books a room for every night of a stay, or for none",
    );
    shows_help(
        "travel.book",
        "TRAVEL.BOOK customer flight-NUMBER|car-LOCATION|room-LOCATION \
         [flight-NUMBER|car-LOCATION|room-LOCATION ...] [HOLD_MS hold_ms] [KEY key] \
         summary: Books a trip, all or nothing",
    );
    shows_help(
        "games.challenge",
        "GAMES.CHALLENGE player opponent TIC-TAC-TOE|CONNECT-FOUR|GOMOKU [KEY key] \
         summary: Names an opponent",
    );
}

fn shows_help(command: &str, expected: &str) {
    let help = redis_cli(&door(), &[], &format!("help {command}\n"));
    // What follows an escape, up to the `m`, is a colour.
    let parts = help.split('\u{1b}').enumerate();
    let plain = parts.map(|(n, part)| {
        if n == 0 {
            part
        } else {
            part.split_once('m').expect("a colour ends").1
        }
    });
    let words = plain
        .collect::<String>()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(words.starts_with(expected), "{words}");
}

#[test]
fn redis_cli_pipes_a_thousand_bookings() {
    let commands: String = (0..1_000)
        .map(|room| format!("ROOMS.BOOK bench {room} 2027-03-01 2027-03-03 ada 234123412346\r\n"))
        .collect();
    let report = redis_cli(&door(), &["--pipe"], &commands);
    assert!(report.contains("errors: 0, replies: 1000"), "{report}");
}

#[test]
fn redis_benchmark_drives_bookings_without_an_error() {
    let door = door();
    let book = "ROOMS.BOOK bench room:__rand_int__ 2027-01-01 2027-01-02 ada 234123412346";
    let mut arguments = vec!["-p", &door.port, "-n", "10000", "-c", "20", "-P", "8"];
    arguments.extend(["-r", "1000000", "--csv"]);
    arguments.extend(book.split(' '));
    let report = output("redis-benchmark", &arguments, b"");
    assert!(report.contains(&format!("\"{book}\"")), "{report}");
    assert!(!report.to_lowercase().contains("error"), "{report}");
}

#[test]
fn redis_py_holds_a_session_in_both_protocols() {
    let (door, python) = (door(), installed("TURNSTILE_TEST_PYTHON"));
    for protocol in ["2", "3"] {
        let arguments = [&session("redis_py.py"), &door.port, protocol];
        assert_eq!(output(&python, &arguments, b""), "ok\n", "RESP{protocol}");
    }
}

#[test]
fn prometheus_client_parses_the_metrics() {
    let (door, python) = (door(), installed("TURNSTILE_TEST_PYTHON"));
    let arguments = [&*session("openmetrics.py"), &door.url, &door.port];
    assert_eq!(output(&python, &arguments, b""), "ok\n");
}

#[test]
fn websockets_py_follows_a_book_and_leaves_no_order_behind() {
    let (door, python) = (door(), installed("TURNSTILE_TEST_PYTHON"));
    let address = door.url.trim_start_matches("http://");
    let arguments = [&session("websockets_py.py"), address, &door.port];
    assert_eq!(output(&python, &arguments, b""), "ok\n");
}

#[test]
fn node_redis_holds_a_session() {
    let door = door();
    let folder = installed("TURNSTILE_TEST_NODE_FOLDER");
    assert!(
        folder.join("node_modules/redis").is_dir(),
        "{folder:?} has no node-redis"
    );
    assert_eq!(
        output("node", &[&session("node_redis.mjs"), &door.port], b""),
        "ok\n"
    );
}

#[test]
fn go_redis_holds_a_session() {
    let program = installed("TURNSTILE_TEST_GO_REDIS");
    assert_eq!(output(program, &[&door().port], b""), "ok\n");
}

/// A library by its defaults: the steps are in `clients/defaults.md`. Each has a server of its own.
#[track_caller]
fn holds_by_its_defaults(program: impl Into<OsString>, arguments: &[&str]) {
    let door = door();
    let arguments = [arguments, &[&door.port]].concat();
    assert_eq!(output(program, &arguments, b""), "ok\n", "{arguments:?}");
}

#[test]
fn python_clients_hold_a_session_by_their_defaults() {
    let python = installed("TURNSTILE_TEST_PYTHON");
    for library in ["redis", "valkey", "coredis", "glide"] {
        holds_by_its_defaults(&python, &[&session("defaults.py"), library]);
    }
}

#[test]
fn node_clients_hold_a_session_by_their_defaults() {
    installed("TURNSTILE_TEST_NODE_FOLDER");
    for library in ["redis", "ioredis", "iovalkey", "glide"] {
        holds_by_its_defaults("node", &[&session("defaults.mjs"), library]);
    }
}

#[test]
fn go_clients_hold_a_session_by_their_defaults() {
    let program = installed("TURNSTILE_TEST_GO_DEFAULTS");
    for library in ["go-redis", "rueidis", "valkey"] {
        holds_by_its_defaults(&program, &[library]);
    }
}

#[test]
fn java_clients_hold_a_session_by_their_defaults() {
    let jars = installed("TURNSTILE_TEST_JAVA_FOLDER").join("*");
    let jars = jars.to_str().expect("the path is UTF-8");
    for library in ["jedis", "lettuce", "redisson"] {
        holds_by_its_defaults(
            "java",
            &["-cp", jars, &session("java/Defaults.java"), library],
        );
    }
}

#[test]
fn rust_clients_hold_a_session_by_their_defaults() {
    let program = installed("TURNSTILE_TEST_RUST_DEFAULTS");
    for library in ["redis", "fred"] {
        holds_by_its_defaults(&program, &[library]);
    }
}

#[test]
fn hiredis_redis_rb_and_phpredis_hold_a_session_by_their_defaults() {
    holds_by_its_defaults(installed("TURNSTILE_TEST_HIREDIS"), &[]);
    holds_by_its_defaults("ruby", &[&session("redis_rb.rb")]);
    holds_by_its_defaults("php", &[&session("phpredis.php")]);
}

#[test]
fn a_python_client_plays_the_worked_example_of_the_course() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Turnstile::serve_exchange(data.path(), 0);
    let port = server.xml().port().to_string();
    let arguments = [&session("course_xml.py"), &port];
    let arguments = arguments.map(String::as_str);
    assert_eq!(output("python3", &arguments, b""), "ok\n");
}
