//! Configuration: which layer wins, what each value changes, and what is refused.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    net::TcpStream,
    path::PathBuf,
    time::Duration,
};

use tempfile::TempDir;

use crate::process::{Ended, Server, ask, dev_with, run, turnstile, words};

/// A directory with a file in it.
fn file(content: &str) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("turnstile.toml");
    fs::write(&path, content).unwrap();
    (directory, path)
}

/// The line of a key in what `config print` printed, as value and origin.
fn printed(ended: &Ended, section: &str, key: &str) -> (String, String) {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let mut lines = ended
        .out
        .lines()
        .skip_while(|line| *line != format!("[{section}]"));
    let line = lines
        .find(|line| line.starts_with(&format!("{key} = ")))
        .unwrap();
    let (value, origin) = line.split_once(" # ").unwrap();
    let value = value.split_once(" = ").unwrap().1;
    (value.trim().to_owned(), origin.to_owned())
}

#[test]
fn each_layer_covers_the_one_below_it() {
    let durability =
        |command: &mut std::process::Command| printed(&run(command), "storage", "durability");
    let expected = |value: &str, origin: &str| (value.to_owned(), origin.to_owned());
    let (_directory, path) = file("[storage]\ndurability = \"os\"\n");
    let shown = path.display().to_string();
    let mut command = turnstile();
    command.args(["config", "print"]);
    assert_eq!(durability(&mut command), expected("\"sync\"", "default"));
    command.args(["--config", &shown]);
    let origin = format!("{shown}:2");
    assert_eq!(durability(&mut command), expected("\"os\"", &origin));
    let variable = "TURNSTILE__STORAGE__DURABILITY";
    command.env(variable, "memory");
    let origin = format!("environment {variable}");
    assert_eq!(durability(&mut command), expected("\"memory\"", &origin));
    command.arg("--durability=os");
    let origin = "flag --durability";
    assert_eq!(durability(&mut command), expected("\"os\"", origin));
}

/// `turnstile config print | head -1` ended with "error: Broken pipe (os error 32)".
#[test]
fn a_reader_who_has_gone_ends_the_output_silently() {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let output = turnstile()
        .args(["config", "print"])
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn rust_log_counts_less_than_our_own_variable_and_more_than_the_file() {
    let (_directory, path) = file("[log]\nlevel = \"warn\"\n");
    let mut command = turnstile();
    command
        .args(["config", "print", "--config"])
        .arg(&path)
        .env("RUST_LOG", "debug");
    let expected = ("\"debug\"".to_owned(), "environment RUST_LOG".to_owned());
    assert_eq!(printed(&run(&mut command), "log", "level"), expected);
    command.env("TURNSTILE__LOG__LEVEL", "error");
    assert_eq!(printed(&run(&mut command), "log", "level").0, "\"error\"");
}

#[test]
fn what_is_printed_reads_back_as_the_same_values() {
    let mut command = turnstile();
    command.args([
        "config",
        "print",
        "--data",
        "/with \"quotes\" and \\",
        "--verhoeff",
        "--resp",
        "off",
    ]);
    let first = run(&mut command);
    let (_directory, path) = file(&first.out);
    let second = run(turnstile().args(["config", "print", "--config"]).arg(&path));
    let values = |ended: &Ended| -> Vec<String> {
        let values = ended
            .out
            .lines()
            .map(|line| line.split(" # ").next().unwrap().trim_end());
        values.map(str::to_owned).collect()
    };
    assert_eq!(values(&first), values(&second));
}

#[test]
fn an_unknown_name_is_an_error_with_its_place_and_a_suggestion() {
    let rows = [
        (
            "[storage]\ndurabilty = \"os\"\n",
            ":2: unknown key `durabilty` in [storage]; did you mean `durability`?",
        ),
        (
            "\n[door]\nresp = \"off\"\n",
            ":2: unknown section `door`; did you mean `doors`?",
        ),
        (
            "[storage]\nresp = \"off\"\n",
            ":2: unknown key `resp` in [storage]; it belongs to [doors]",
        ),
        (
            "[doors]\nxyzzy = 1\n",
            ":2: unknown key `xyzzy` in [doors]\n",
        ),
        (
            "durability = \"os\"\n",
            ":1: unknown section `durability`\n",
        ),
        (
            "storage = \"x\"\n",
            ":1: `storage` is a section: write [storage] and its keys below it",
        ),
        (
            "[rooms]\nverhoeff = \"true\"\n",
            ":2: `rooms.verhoeff` is true or false, without quotes, not string",
        ),
        (
            "[doors]\n\nhttp = 8470\n",
            ":3: `doors.http` is a string in quotes, not integer",
        ),
        (
            "[http]\norigins = \"http://a.example\"\n",
            ":2: `http.origins` is a list of strings in brackets, not string",
        ),
        (
            "[http]\norigins = [\n\"http://a.example\", 1]\n",
            ":3: `http.origins` holds strings, not integer",
        ),
        ("[doors]\nhttp = \n", ":2: "),
    ];
    for (content, expected) in rows {
        let (_directory, path) = file(content);
        let ended = run(turnstile().args(["serve", "--config"]).arg(&path));
        let expected = format!("error: {}{expected}", path.display());
        assert!(ended.err.starts_with(&expected), "{ended:?}\n{expected}");
        assert_eq!(ended.code, Some(2));
    }
    let ended = run(turnstile()
        .args(["config", "print"])
        .env("TURNSTILE__DOOR__HTTP", "off"));
    let expected = "error: unknown variable `TURNSTILE__DOOR__HTTP` in the environment; \
                    did you mean `TURNSTILE__DOORS__HTTP`?\n";
    assert_eq!((ended.code, &*ended.err), (Some(2), expected));
}

/// Each value was checked, but not whether they make sense together.
#[test]
fn what_a_server_would_refuse_to_start_with_is_not_printed() {
    for (flag, told) in [
        (
            "--tls-certificate=a.pem",
            "tls.certificate needs its private key",
        ),
        ("--role=arena", "set games.scores"),
    ] {
        let ended = run(turnstile().args(["config", "print", flag]));
        assert_eq!((ended.code, &*ended.out), (Some(2), ""), "{ended:?}");
        assert!(ended.err.contains(told), "{ended:?}");
    }
}

#[test]
fn an_invalid_value_names_its_origin_and_the_reason() {
    let rows = [
        ("--resp=localhost", "write an address as HOST:PORT"),
        ("--http=127.0.0.1", "write an address as HOST:PORT"),
        (
            "--http-host=console.example:8470",
            "`console.example:8470` is no name of a host",
        ),
        ("--durability=always", "durability is sync, os or memory"),
        (
            "--http-origin=console.example",
            "an origin is http:// or https://, a host",
        ),
        (
            "--http-origin=https://console.example/path",
            "an origin is http:// or https://, a host",
        ),
        ("--verhoeff=yes", "it is either true or false"),
        (
            "--role=clerk",
            "a role is all, middleware, flights, cars, rooms, customers, arena or scores",
        ),
        ("--travel-wait-ms=0", "it is from 1 to 86400000 ms"),
        ("--peer-cars=off", "write an address as HOST:PORT"),
        ("--rooms-backend=hotel", "a back end is postgres://"),
        (
            "--exchange-backend=mysql://root@127.0.0.1/market",
            "an exchange is kept in postgres://user@host:port/database, or embedded",
        ),
        (
            "--exchange-backend=redis://127.0.0.1/0",
            "an exchange is kept in postgres://user@host:port/database, or embedded",
        ),
        ("--exchange-backend=market", "a back end is postgres://"),
        ("--data=", "a directory is needed"),
        ("--log=loud=very", "error parsing level filter"),
        ("--log-format=xml", "a log format is text or json"),
    ];
    for (argument, reason) in rows {
        let flag = argument.split('=').next().unwrap();
        let ended = run(turnstile().args(["serve", argument]));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(
            ended
                .err
                .starts_with(&format!("error: flag {flag}: invalid value `")),
            "{ended:?}"
        );
        assert!(ended.err.contains(reason), "{argument}: {ended:?}");
    }
    let ended = run(turnstile().args(["serve"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended.err.starts_with("error: storage.data is not set: "),
        "{ended:?}"
    );
}

/// A server of this configuration, on free ports.
fn serve(content: &str) -> (TempDir, Server) {
    let (directory, path) = file(content);
    let mut command = turnstile();
    command.args(["serve", "--config"]).arg(path);
    let data = directory.path().join("data");
    command.env("TURNSTILE__STORAGE__DATA", data);
    (directory, Server::start(&mut command))
}

const FREE_PORTS: &str = "[doors]\nresp = \"127.0.0.1:0\"\nhttp = \"127.0.0.1:0\"\n";

#[test]
fn data_is_where_the_journal_is_and_outlives_the_server() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("deep/data");
    let start = || {
        let mut command = turnstile();
        command.args(["serve", "--resp", "127.0.0.1:0", "--http", "off", "--data"]);
        Server::start(command.arg(&data))
    };
    let first = start();
    assert_eq!(
        words(&ask(&mut first.connect(), "ROOMS.ADD-PROPERTY inn")),
        "1 1"
    );
    first.stop();
    assert!(fs::read_dir(&data).unwrap().count() > 0);
    let second = start();
    assert_eq!(
        words(&ask(&mut second.connect(), "ROOMS.ADD-PROPERTY inn")),
        "0 property_exists"
    );
    second.stop();
}

#[test]
fn durability_is_what_info_says() {
    for durability in ["sync", "os", "memory"] {
        let (_directory, server) = serve(&format!(
            "{FREE_PORTS}[storage]\ndurability = \"{durability}\"\n"
        ));
        let info = words(&ask(&mut server.connect(), "INFO"));
        let line = format!("durability:{durability}");
        assert!(info.lines().any(|text| text.trim_end() == line), "{info}");
        server.stop();
    }
}

#[test]
fn resp_and_http_open_their_doors_unless_they_are_off() {
    let (_directory, both) = serve(FREE_PORTS);
    assert!(
        both.door("resp").is_some() && both.door("http").is_some(),
        "{both:?}"
    );
    both.stop();
    let (_directory, resp) = serve("[doors]\nresp = \"127.0.0.1:0\"\nhttp = \"off\"\n");
    assert!(
        resp.door("resp").is_some() && resp.door("http").is_none(),
        "{resp:?}"
    );
    resp.stop();
    let (_directory, http) = serve("[doors]\nresp = \"off\"\nhttp = \"127.0.0.1:0\"\n");
    assert!(
        http.door("resp").is_none() && http.door("http").is_some(),
        "{http:?}"
    );
    http.stop();
}

#[test]
fn verhoeff_decides_whether_a_wrong_check_digit_is_refused() {
    let book = "ROOMS.BOOK inn 1 2027-01-01 2027-01-02 ada 234123412345";
    for (verhoeff, expected) in [(false, "1 R"), (true, "-ERR ")] {
        let (_directory, server) = serve(&format!("{FREE_PORTS}[rooms]\nverhoeff = {verhoeff}\n"));
        let mut door = server.connect();
        ask(&mut door, "ROOMS.ADD-PROPERTY inn OPEN");
        let answer = words(&ask(&mut door, book));
        assert!(answer.starts_with(expected), "{answer}");
        server.stop();
    }
}

#[test]
fn level_and_format_decide_what_is_logged_and_how() {
    let (_directory, server) = serve(FREE_PORTS);
    let text = server.stop();
    assert!(text.contains("INFO") && text.contains("stopped"), "{text}");
    assert!(!text.contains('\x1b'), "colours in a file: {text}");
    let (_directory, server) = serve(&format!("{FREE_PORTS}[log]\nformat = \"json\"\n"));
    let json = server.stop();
    let messages: Vec<String> = json
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| line["fields"]["message"].as_str().unwrap().to_owned())
        .collect();
    assert!(messages.contains(&"stopped".to_owned()), "{messages:?}");
    let (_directory, server) = serve(&format!("{FREE_PORTS}[log]\nlevel = \"error\"\n"));
    assert_eq!(server.stop(), "");
}

#[test]
fn connections_and_players_beyond_their_limits_are_told_so() {
    let (_directory, server) = serve(&format!(
        "{FREE_PORTS}[limits]\nconnections = 1\nplayers = 1\n"
    ));
    let mut first = server.connect();
    assert_eq!(words(&ask(&mut first, "PING")), "PONG");
    let mut second = TcpStream::connect(server.door("resp").unwrap()).unwrap();
    let mut told = String::new();
    second.read_to_string(&mut told).unwrap();
    assert_eq!(told, "-ERR max number of clients reached\r\n");
    let http = server.door("http").unwrap();
    let come = |player: &str| {
        let mut stream = TcpStream::connect(http).unwrap();
        let request = format!(
            "GET /v1/games/play?player={player} HTTP/1.1\r\nHost: {http}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        (stream, String::from_utf8(status.to_vec()).unwrap())
    };
    let ada = come("ada");
    assert_eq!(ada.1, "HTTP/1.1 101");
    assert_eq!(come("bob").1, "HTTP/1.1 503");
    drop(ada);
    server.stop();
}

#[test]
fn half_a_request_is_waited_for_as_long_as_the_limit_says() {
    let (_directory, server) = serve(&format!("{FREE_PORTS}[limits]\nrequest_ms = 1\n"));
    let mut half = TcpStream::connect(server.door("resp").unwrap()).unwrap();
    half.write_all(b"PI").unwrap();
    let mut told = String::new();
    half.read_to_string(&mut told).unwrap();
    assert_eq!(told, "-ERR the request did not arrive whole within 1ms\r\n");
    server.stop();
}

#[test]
fn pages_of_every_listed_origin_and_of_no_other_are_let_in() {
    let (_directory, server) = serve(&format!(
        "{FREE_PORTS}[http]\norigins = [\"https://a.example\", \"http://b.example:3000\"]\n"
    ));
    let http = server.door("http").unwrap();
    for (origin, status) in [
        ("https://a.example", "HTTP/1.1 201"),
        ("http://b.example:3000", "HTTP/1.1 201"),
        ("http://b.example", "HTTP/1.1 403"),
    ] {
        let mut stream = TcpStream::connect(http).unwrap();
        let request = format!(
            "POST /v1/travel/transactions HTTP/1.1\r\nHost: {http}\r\nOrigin: {origin}\r\n\
             Content-Length: 0\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(String::from_utf8_lossy(&answer), status, "{origin}");
    }
    server.stop();
}

#[test]
fn the_slow_log_keeps_what_takes_as_long_as_the_limit_says() {
    for (micros, kept) in [(0, "1"), (60_000_000, "0")] {
        let limits = format!("{FREE_PORTS}[limits]\nslow_command_us = {micros}\n");
        let (_directory, server) = serve(&limits);
        let mut door = server.connect();
        assert_eq!(words(&ask(&mut door, "PING")), "PONG");
        assert_eq!(words(&ask(&mut door, "SLOWLOG LEN")), kept);
        server.stop();
    }
    let ended = run(turnstile().args(["config", "print", "--slow-command-us", "60000001"]));
    let bounds = "it is from 0, for every command, to 60000000 microseconds";
    assert!(ended.err.contains(bounds), "{ended:?}");
}

#[test]
fn a_door_may_be_named_and_must_still_be_on_loopback() {
    let doors = ["--http", "off", "--resp", "localhost:0"];
    let mut command = dev_with(&["--durability", "memory"]);
    let server = Server::start(command.args(doors));
    assert!(server.door("resp").unwrap().ip().is_loopback());
    server.stop();
}

#[test]
fn a_server_that_looks_for_more_before_it_sleeps_still_sleeps() {
    let (_directory, server) = serve(&format!("{FREE_PORTS}[limits]\nbusy_poll_us = 10000\n"));
    let mut stream = TcpStream::connect(server.door("resp").unwrap()).unwrap();
    let ping = |stream: &mut TcpStream| {
        stream.write_all(b"PING\r\n").unwrap();
        let mut answer = [0; 7];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"+PONG\r\n");
    };
    // In ticks of 10 ms, threads that have ended included.
    let used = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", server.pid())).unwrap();
        let (_, behind_the_name) = stat.rsplit_once(')').unwrap();
        let times = behind_the_name.split_whitespace().skip(11).take(2);
        times
            .map(|ticks| ticks.parse::<u64>().unwrap())
            .sum::<u64>()
    };
    let before = used();
    ping(&mut stream);
    let once = used() - before;
    // For a hundred times as long as it looks it is not asked again.
    let second = Some(Duration::from_secs(1));
    stream.set_read_timeout(second).unwrap();
    let nothing = stream.read(&mut [0]).unwrap_err();
    assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
    assert!(used() - before < once + 50);
    ping(&mut stream);
    server.stop();
}

#[test]
fn how_long_to_look_for_more_is_bounded() {
    for micros in ["-1", "10001", "long"] {
        let ended = run(turnstile().args(["config", "print", "--busy-poll-us", micros]));
        assert_eq!(ended.code, Some(2), "{ended:?}");
    }
    let ended = run(turnstile().args(["config", "print", "--busy-poll-us", "10001"]));
    assert!(
        ended
            .err
            .contains("it is from 0, for never, to 10000 microseconds")
    );
}

#[test]
fn keys_have_room_for_some_or_a_part_of_the_memory() {
    for bytes in ["-1", "1", "1048575", "1GiB"] {
        let flag = format!("--limit-key-bytes={bytes}");
        let ended = run(turnstile().args(["config", "print", &flag]));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let reason = "it is 0, or at least 1048576 bytes";
        assert!(ended.err.contains(reason), "{ended:?}");
    }
}

#[test]
fn a_limit_is_a_number_of_connections() {
    for number in ["0", "65536", "many"] {
        let ended = run(turnstile().args(["config", "print", "--limit-players", number]));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains("it is from 1 to 65535"), "{ended:?}");
    }
}

/// Two clients come after the first: one asks over RESP, the other over HTTP, each again and again.
#[test]
fn a_waiting_room_tells_each_client_its_place_and_lets_it_in_later() {
    let (_directory, server) = serve(&format!("{FREE_PORTS}[waiting_room]\nrate = 1\n"));
    let mut door = server.connect();
    let mut booked = |room: &str, key: &str| {
        let stay = "2027-01-01 2027-01-02 ada 234123412346";
        words(&ask(
            &mut door,
            &format!("ROOMS.BOOK inn {room} {stay}{key}"),
        ))
    };
    assert!(booked("1", "").starts_with("0 unknown_property"));
    let place = booked("2", " KEY two");
    assert_eq!(place, "2 1 1 1");
    let no_key = booked("3", "");
    assert!(no_key.contains("ask with an idempotency key"), "{no_key}");
    let http = server.door("http").unwrap();
    let body = r#"{"property":"inn","wish":"4","arrival":"2027-01-01","departure":"2027-01-02","guest":"bob","id_number":"234123412346"}"#;
    let post = || {
        let mut stream = TcpStream::connect(http).unwrap();
        let request = format!(
            "POST /v1/rooms/bookings HTTP/1.1\r\nHost: {http}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nIdempotency-Key: \"four\"\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let first = post();
    assert!(first.starts_with("HTTP/1.1 503 "), "{first}");
    assert!(
        first.to_lowercase().contains("\r\nretry-after: "),
        "{first}"
    );
    assert!(
        first.contains(r#""code":"in_line","retryable":true"#),
        "{first}"
    );
    let place_of = |answer: &str| {
        let (_, rest) = answer.split_once(r#""place":"#)?;
        rest.split([',', '}']).next()?.parse::<u64>().ok()
    };
    let mut place = place_of(&first).unwrap();
    assert!(place <= 2, "{first}");
    let end = std::time::Instant::now() + Duration::from_secs(30);
    loop {
        let answer = post();
        let Some(next) = place_of(&answer) else {
            assert!(answer.contains("unknown_property"), "{answer}");
            break;
        };
        assert!(next <= place, "a place never grows: {answer}");
        place = next;
        assert!(std::time::Instant::now() < end, "{answer}");
    }
    // Its turn came before.
    assert!(booked("2", " KEY two").starts_with("0 unknown_property"));
    // What was answered needs no turn.
    assert!(booked("2", " KEY two").starts_with("0 unknown_property"));
    server.stop();
}

#[test]
fn a_call_that_has_to_wait_shows_its_place_and_fails() {
    let (_directory, server) = serve(&format!("{FREE_PORTS}[waiting_room]\nrate = 1\n"));
    let mut door = server.connect();
    let line = "ROOMS.BOOK inn 1 2027-01-01 2027-01-02 ada 234123412346 KEY";
    // So many are before it that their turns do not come meanwhile.
    for other in 0..100 {
        ask(&mut door, &format!("{line} other-{other}"));
    }
    let info = words(&ask(&mut door, "INFO stats"));
    let figure = |name: &str| {
        let mut figures = info
            .split_whitespace()
            .filter_map(|row| row.split_once(':'));
        let found = figures.find(|(key, _)| *key == name);
        found
            .unwrap_or_else(|| panic!("{info}"))
            .1
            .parse::<u64>()
            .unwrap()
    };
    let (waiting, let_in) = (
        figure("waiting_room_waiting"),
        figure("waiting_room_let_in"),
    );
    assert_eq!((figure("waiting_room_rate"), waiting + let_in), (1, 100));
    assert!(waiting > 90, "{info}");
    let mut call = turnstile();
    call.args(["call", "rooms.book", "property=inn", "wish=2", "guest=ada"]);
    call.args(["arrival=2027-01-01", "departure=2027-01-02", "key=mine"]);
    call.args(["id_number=234123412346", "--resp"]);
    let called = run(call.arg(server.door("resp").unwrap().to_string()));
    assert_eq!(called.code, Some(1), "{called:?}");
    let rows: Vec<&str> = called.out.lines().collect();
    let ["outcome: waiting", place, wait, again] = rows[..] else {
        panic!("{called:?}");
    };
    let number = |row: &str| row.split_once(": ").unwrap().1.parse::<u64>().unwrap();
    assert_eq!(number(place), number(wait), "one a second: {called:?}");
    assert!((20..=30).contains(&number(again)), "{called:?}");
    let said = "in line: nothing was done, call again with the same key after that time";
    assert!(called.err.contains(said), "{called:?}");
    server.stop();
}
