//! `turnstile dev`: from `ready` to the last answer.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use turnstile_client::ConnectionError;
use turnstile_trial::MariaServer;

use crate::process::{Server, ask, dev_with, run, turnstile, words};

#[test]
fn dev_has_a_hotel_and_an_open_property_and_prints_what_to_paste() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let (resp, http) = (server.door("resp").unwrap(), server.door("http").unwrap());
    assert_eq!(
        server.printed[0],
        format!("console      http://{http}/console/")
    );
    let data_line = format!("data         {}", data.path().display());
    assert_eq!(
        server.printed[7..9],
        [data_line, "loopback only, no key needed".to_owned()]
    );
    let paste: Vec<&str> = server.printed[9..].iter().map(String::as_str).collect();
    let [curl, redis_cli, _answer, rush, ..] = paste.as_slice() else {
        panic!("{paste:?}")
    };
    assert!(
        curl.contains(&format!("curl 'http://{http}/v1/rooms/")),
        "{curl}"
    );
    assert!(redis_cli.contains(&format!("redis-cli -h {} -p {}", resp.ip(), resp.port())));
    // In no folder of the search path, it is called by its path.
    let program = env!("CARGO_BIN_EXE_turnstile");
    let line = format!("try   {program} lab rush --rooms 1 --clients 500 --resp {resp}");
    assert_eq!(*rush, line);
    let mut door = server.connect();
    let pasted = redis_cli.split_once("ROOMS.BOOK").unwrap().1;
    let booked = words(&ask(&mut door, &format!("ROOMS.BOOK{pasted}")));
    assert_eq!(
        booked.split(' ').nth(2),
        Some("104"),
        "the first double: {booked}"
    );
    let suite = "ROOMS.BOOK hotel type:suite 2027-01-01 2027-01-03 ada 234123412346";
    assert_eq!(words(&ask(&mut door, suite)).split(' ').nth(2), Some("301"));
    assert_eq!(
        words(&ask(&mut door, suite)),
        "0 sold_out 2027-01-01 2027-01-02"
    );
    let anything = "ROOMS.BOOK bench whatever 2027-01-01 2027-01-02 ada 234123412346";
    assert_eq!(
        words(&ask(&mut door, anything)).split(' ').nth(2),
        Some("whatever")
    );
    server.stop();
}

/// Asked at once, they came in any order, about one time in thirty the other way round. Then the same statements
/// met another state in another database.
#[test]
fn the_sample_properties_come_in_one_order_in_a_database() {
    let database = MariaServer::start();
    for number in 0..5 {
        let mut command = dev_with(&["--durability", "memory", "--rooms-backend"]);
        command.arg(database.database());
        command.args(["--resp", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
        let server = Server::start(&mut command);
        let names = format!("SELECT name FROM test_{number}.properties ORDER BY number");
        let made = database.sql(&names);
        assert_eq!(made, "bench\nhotel\n");
        server.stop();
    }
}

#[test]
fn dev_has_open_books_and_prints_what_to_paste_at_either_door() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let (resp, xml) = (server.door("resp").unwrap(), server.door("xml").unwrap());
    let [.., depth, order, _answer, printf, _travel] = server.printed.as_slice() else {
        panic!("{:?}", server.printed)
    };
    let mut door = server.connect();
    let mut paste = |line: &str| {
        let shell = format!("try   redis-cli -h {} -p {} ", resp.ip(), resp.port());
        words(&ask(&mut door, line.strip_prefix(&shell).unwrap()))
    };
    let open = paste(depth);
    let bids = "bids price 99.9 quantity 15 orders 1 price 99.75 quantity 50 orders 1 price 99.5";
    let asks = "asks price 100.1 quantity 15 orders 1 price 100.25 quantity 50 orders 1 price";
    assert!(open.contains(bids) && open.contains(asks), "{open}");
    let bought = paste(order);
    assert!(bought.contains(" filled 10 1001 0 "), "{bought}");
    let sold = pipe(printf, xml);
    assert!(
        sold.starts_with("<results><opened sym=\"ACME\" amount=\"-10\" limit=\"99.9\" id="),
        "{sold}"
    );
    let rest = paste(depth);
    assert!(rest.contains("bids price 99.9 quantity 5 "), "{rest}");
    assert!(rest.contains("asks price 100.1 quantity 5 "), "{rest}");
    for symbol in ["BOLT", "CORN"] {
        let open = words(&ask(&mut door, &format!("EXCHANGE.GET-DEPTH {symbol}")));
        assert_eq!(open.matches(" orders 1").count(), 6, "{open}");
    }
    server.stop();
    // Another start finds the market as it was left.
    let server = Server::dev(data.path());
    let again = words(&ask(&mut server.connect(), "EXCHANGE.GET-DEPTH ACME"));
    assert_eq!(again, rest);
    server.stop();
}

/// Does what a line with `printf ... | nc -N` does: all is sent, and the end of it told, before the
/// answer is read.
fn pipe(line: &str, door: SocketAddr) -> String {
    let (request, address) = line.split_once(" | nc -N ").unwrap();
    assert_eq!(address, format!("{} {}", door.ip(), door.port()));
    let request = request.strip_prefix("try   printf '").unwrap();
    let request = request.strip_suffix('\'').unwrap().replace("\\n", "\n");
    let mut stream = TcpStream::connect(door).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn dev_sells_seats_by_the_lines_that_it_prints() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let travel = server.door("travel").unwrap();
    let answer = pipe(server.printed.last().unwrap(), travel);
    assert_eq!(
        answer,
        "Transaction 3 started\nBundle Reserved\nBill for customer 1\n1 car-new york $30\n\
         1 flight-1001 $103\n1 room-new york $62\n\nTransaction 3 committed\n"
    );
    server.stop();
    // Another start sells what the first has left, and has a line of its own.
    let server = Server::dev(data.path());
    let travel = server.door("travel").unwrap();
    let answer = pipe(server.printed.last().unwrap(), travel);
    assert!(answer.contains("Bundle Reserved\n"), "{answer}");
    assert!(answer.contains("\n2 flight-1001 $103\n"), "{answer}");
    assert!(answer.ends_with(" committed\n"), "{answer}");
    server.stop();
}

#[test]
fn a_restart_keeps_bookings_and_samples() {
    let data = tempfile::tempdir().unwrap();
    let suite = "ROOMS.BOOK hotel type:suite 2027-01-01 2027-01-02 ada 234123412346";
    let server = Server::dev(data.path());
    assert!(words(&ask(&mut server.connect(), suite)).starts_with("1 R"));
    server.stop();
    let server = Server::dev(data.path());
    assert_eq!(
        words(&ask(&mut server.connect(), suite)),
        "0 sold_out 2027-01-01"
    );
    server.stop();
}

#[test]
fn sigterm_leaves_nothing_accepted_unanswered() {
    const REQUESTS: usize = 200;
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let mut door = server.connect();
    ask(&mut door, "PING");
    for room in 0..REQUESTS {
        let room = format!("room-{room}");
        let id: &[u8] = b"234123412346";
        door.send(&[
            b"ROOMS.BOOK",
            b"bench",
            room.as_bytes(),
            b"2027-01-01",
            b"2027-01-02",
            b"ada",
            id,
        ]);
    }
    door.flush().unwrap();
    server.terminate();
    for room in 0..REQUESTS {
        let answer = words(&door.receive().unwrap());
        assert_eq!(
            answer.split(' ').nth(2),
            Some(&*format!("room-{room}")),
            "{answer}"
        );
    }
    assert!(matches!(door.receive(), Err(ConnectionError::Closed)));
    let (status, log) = server.ended();
    assert_eq!(status.code(), Some(0), "{log}");
}

#[test]
fn a_temporary_directory_goes_with_the_server_and_a_named_one_stays() {
    let mut command = turnstile();
    let server = Server::start(command.args([
        "dev",
        "--resp",
        "127.0.0.1:0",
        "--http",
        "off",
        "--xml",
        "off",
        "--travel",
        "off",
        "--games-arena",
        "off",
        "--games-scores",
        "off",
    ]));
    let data = server
        .printed
        .iter()
        .find_map(|line| line.strip_prefix("data"))
        .unwrap();
    let data = std::path::PathBuf::from(data.trim());
    assert!(data.is_dir());
    server.stop();
    assert!(!data.exists());
    let named = tempfile::tempdir().unwrap();
    Server::dev(named.path()).stop();
    assert!(fs::read_dir(named.path()).unwrap().count() > 0);
}

#[test]
fn an_attached_server_stops_when_its_input_ends() {
    let mut command = turnstile();
    command.args([
        "dev",
        "--attached",
        "--resp",
        "127.0.0.1:0",
        "--xml",
        "off",
        "--travel",
        "off",
        "--games-arena",
        "off",
        "--games-scores",
        "off",
        "--http",
        "off",
    ]);
    let mut server = Server::start(&mut command);
    server.close_input();
    let (status, log) = server.ended();
    assert_eq!(status.code(), Some(0), "{log}");
}

#[test]
fn the_second_server_of_a_directory_or_a_door_says_why_it_does_not_start() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let mut command = turnstile();
    command.args([
        "dev",
        "--resp",
        "127.0.0.1:0",
        "--http",
        "off",
        "--xml",
        "off",
        "--travel",
        "off",
        "--games-arena",
        "off",
        "--games-scores",
        "off",
        "--data",
    ]);
    let ended = run(command.arg(data.path()));
    assert_eq!((ended.code, &*ended.out), (Some(1), ""), "{ended:?}");
    assert!(
        ended.err.contains(&data.path().display().to_string()),
        "{ended:?}"
    );
    assert!(
        ended
            .err
            .contains("another process has the journal's directory"),
        "{ended:?}"
    );
    let taken = server.door("resp").unwrap().to_string();
    let off = [
        "--http",
        "--xml",
        "--travel",
        "--games-arena",
        "--games-scores",
    ];
    let others = off.iter().flat_map(|flag| [*flag, "off"]);
    let ended = run(turnstile().arg("dev").args(others).args(["--resp", &taken]));
    assert_eq!((ended.code, &*ended.out), (Some(1), ""), "{ended:?}");
    assert!(ended.err.contains(&taken), "{ended:?}");
    server.stop();
}

/// Posts to an operation of rooms; the whole answer.
fn post(door: SocketAddr, path: &str, body: &str) -> String {
    let request = format!(
        "POST /v1/rooms/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(door).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn an_id_number_is_in_no_log_line() {
    let data = tempfile::tempdir().unwrap();
    let mut command = turnstile();
    command.args([
        "dev",
        "--log",
        "trace",
        "--resp",
        "127.0.0.1:0",
        "--xml",
        "off",
        "--travel",
        "off",
        "--games-arena",
        "off",
        "--games-scores",
        "off",
        "--http",
        "127.0.0.1:0",
        "--data",
    ]);
    let server = Server::start(command.arg(data.path()));
    let mut door = server.connect();
    for line in [
        "ROOMS.BOOK bench 1 2027-01-01 2027-01-02 ada 234123412346",
        "ROOMS.BOOK bench 1 2027-01-01 2027-01-02 ada 234123412346",
        "ROOMS.BOOK nowhere 1 2027-01-01 2027-01-02 ada 234123412346",
        "ROOMS.BOOK bench 1 never 2027-01-02 ada 234123412346",
        "ROOMS.LIST-GUEST-BOOKINGS 234123412346",
        "ROOMS.CANCEL R0 234123412346",
    ] {
        ask(&mut door, line);
    }
    for (path, body) in [
        (
            "bookings",
            r#"{"property":"bench","wish":"any","arrival":"2027-01-01","departure":"2027-01-02","guest":"ada","id_number":"234123412346"}"#,
        ),
        ("bookings/R11/cancel", r#"{"id_number":234123412346}"#),
        ("guests/search", r#"{"id_number":"234123412346"}"#),
    ] {
        let answer = post(server.door("http").unwrap(), path, body);
        assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
        assert!(!answer.contains("234123412346"), "{answer}");
    }
    let log = server.stop();
    assert!(log.contains("stopped"), "{log}");
    assert!(!log.contains("234123412346"), "{log}");
}

#[test]
fn a_server_for_measurements_is_slower_by_what_it_was_told() {
    let data = tempfile::tempdir().unwrap();
    let mut command = turnstile();
    command.args(["dev", "--attached", "--resp", "127.0.0.1:0"]);
    for door in ["http", "xml", "travel", "games-arena", "games-scores"] {
        command.args([&format!("--{door}"), "off"]);
    }
    command.args(["--slow-sync-us", "30000", "--slow-command-ns", "20000000"]);
    let server = Server::start(command.arg("--data").arg(data.path()));
    let told = "slowed       each sync takes 30ms longer, each command 20ms";
    assert!(
        server.printed.contains(&told.to_owned()),
        "{:?}",
        server.printed
    );
    let mut door = server.connect();
    let mut count = |name: &str| {
        let info = ask(&mut door, "INFO persistence");
        let mut lines = info.as_str().unwrap().lines();
        let count = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        count.unwrap().trim().parse::<u64>().unwrap()
    };
    let (groups, nanos) = (count("groups"), count("commit_ns_total"));
    assert!(
        groups > 0 && nanos >= groups * 30_000_000,
        "{groups} {nanos}"
    );
    let begun = Instant::now();
    for night in 1..=3 {
        let line = format!(
            "ROOMS.BOOK hotel 101 2027-01-0{night} 2027-01-0{} ada 234123412346",
            night + 1
        );
        assert!(words(&ask(&mut door, &line)).starts_with('1'), "{line}");
    }
    // Less than what was planted cannot be.
    assert!(begun.elapsed() >= Duration::from_millis(3 * (30 + 20)));
    server.stop();
}

#[test]
fn no_server_but_one_for_measurements_can_be_slowed_or_told_to_fail() {
    for (arguments, sentence) in [
        (&["dev", "--slow-sync-us", "200"][..], "--attached"),
        (&["dev", "--slow-command-ns", "200"], "--attached"),
        (
            &["dev", "--attached", "--slow-sync-us", "1000001"],
            "not in 0..=1000000",
        ),
        (&["dev", "--disk-orders", "true"], "--attached"),
        (
            &["serve", "--slow-sync-us", "200"],
            "unexpected argument '--slow-sync-us'",
        ),
        (
            &["serve", "--disk-orders", "true"],
            "unexpected argument '--disk-orders'",
        ),
    ] {
        let ended = run(turnstile().args(arguments));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(sentence), "{ended:?}");
    }
}
