//! `turnstile travel import`: every kind of row, twice.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpStream},
    path::Path,
};

use crate::process::{Ended, Server, open_flights, run, turnstile};

const AIRPORTS: [&str; 10] = [
    r#"1,"North","N","X","NNN","XNNN",60.0,10.0,5,1,"U","Europe/Oslo","airport","OurAirports""#,
    r#"2,"South \"S\", with quotes","S","X",\N,"XSSS",51.0,10.0,5,1,"U",\N,"airport","O""#,
    r#"3,"Island","I","X","III","XIII",60.0,-170.0,5,1,"U",\N,"airport","O""#,
    r#"4,"Pole","P","X","PPP",\N,90.5,10.0,5,1,"U",\N,"airport","O""#,
    r#"5,"East","E","X","EEE",\N,9.5,-180.1,5,1,"U",\N,"airport","O""#,
    r#"x,"No number","X","X","XXX",\N,9.5,0,5,1,"U",\N,"airport","O""#,
    r#"6,"No code","X","X",\N,\N,9.5,0,5,1,"U",\N,"airport","O""#,
    r#"7,"Odd code","X","X","A,B",\N,9.5,0,5,1,"U",\N,"airport","O""#,
    r#"8,"Short","X","X""#,
    r#"9,"Second of its code","X","X","NNN",\N,0.0,0.0,5,1,"U",\N,"airport","O""#,
];

/// The lines are numbered: line 1 is flight 100001.
const ROUTES: [&str; 12] = [
    "AA,1,NNN,1,XSSS,2,,0,320",
    "AA,1,XSSS,2,NNN,1,,0,CR2 320",
    "AA,1,NNN,1,III,3,,1,",
    "AA,1,NNN,\\N,XSSS,\\N,,0,ZZZ 738",
    "BB,2,NNN,1,XSSS,2,Y,0,320",
    "BB,2,NNN,1,NNN,1,,0,320",
    "BB,2,NNN,1,PPP,4,,0,320",
    "BB,2,QQQ,\\N,NNN,1,,0,320",
    "BB,2,NNN,1,XSSS,2,N,0,320",
    "BB,2,NNN,1,XSSS,2,,0",
    "BB,2,NNN,1,XSSS,2,,0,ZZZ",
    "BB,2,XSSS,2,NNN,77,,0,388",
];

/// What is said of bad rows: the file, the line, and what stands behind it.
const COMPLAINTS: [(&str, u32, &str); 12] = [
    ("airports.dat", 4, "7: no such place on earth: `90.5`"),
    ("airports.dat", 5, "8: no such place on earth: `-180.1`"),
    ("airports.dat", 6, "1: no number: `x`"),
    ("airports.dat", 7, "5: no code: `\\N`"),
    ("airports.dat", 8, "5: no code: `A,B`"),
    (
        "airports.dat",
        9,
        " wrong number of fields: `4 instead of 14`",
    ),
    ("routes.dat", 6, "5: ends where it begins: `NNN`"),
    ("routes.dat", 7, "5: unknown airport: `PPP`"),
    ("routes.dat", 8, "3: unknown airport: `QQQ`"),
    ("routes.dat", 9, "7: neither a codeshare nor none: `N`"),
    (
        "routes.dat",
        10,
        " wrong number of fields: `8 instead of 9`",
    ),
    ("routes.dat", 13, " not UTF-8: "),
];

/// What is counted.
const COUNTS: [(&str, &str); 20] = [
    ("airports read", "10"),
    ("  not usable: no such place on earth", "2"),
    ("  not usable: no number", "1"),
    ("  not usable: no code", "2"),
    ("  not usable: wrong number of fields", "1"),
    ("routes read", "13"),
    ("  not importable: codeshare, sold by another airline", "1"),
    ("  not importable: ends where it begins", "1"),
    ("  not importable: unknown airport", "2"),
    ("  not importable: neither a codeshare nor none", "1"),
    ("  not importable: wrong number of fields", "1"),
    ("  not importable: not UTF-8", "1"),
    ("  of unknown aircraft", "2"),
    ("flights", "6"),
    ("  seats", "1087"),
    ("locations", "3"),
    ("  cars", "110"),
    ("  rooms", "272"),
    ("added", "12"),
    ("  in transactions", "1"),
];

fn import(files: &Path, travel: SocketAddr) -> Ended {
    let mut command = turnstile();
    command.args(["travel", "import", "--travel", &travel.to_string()]);
    command.arg("--routes").arg(files.join("routes.dat"));
    run(command.arg("--airports").arg(files.join("airports.dat")))
}

fn write(files: &Path, routes: &[u8]) {
    fs::write(files.join("airports.dat"), AIRPORTS.join("\n")).unwrap();
    fs::write(files.join("routes.dat"), routes).unwrap();
}

/// What the door of travel answers to lines.
fn pipe(travel: SocketAddr, lines: &str) -> String {
    let mut stream = TcpStream::connect(travel).unwrap();
    stream.write_all(lines.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Free counts and prices of what was imported, in a new transaction.
fn sold(travel: SocketAddr) -> Vec<u32> {
    let started = pipe(travel, "Start\n");
    let xid = started.split(' ').nth(1).unwrap();
    let mut lines = String::new();
    for flight in 100_001..=100_012 {
        lines += &format!("QueryFlight,{xid},{flight}\nQueryFlightPrice,{xid},{flight}\n");
    }
    for place in ["nnn", "XSSS", "iii", "ppp"] {
        for query in [
            "QueryCars",
            "QueryCarsPrice",
            "QueryRooms",
            "QueryRoomsPrice",
        ] {
            lines += &format!("{query},{xid},{place}\n");
        }
    }
    lines += &format!("Commit,{xid}\n");
    let answer = pipe(travel, &lines);
    let numbers = answer.lines().filter_map(|line| line.split_once(": "));
    numbers.map(|(_, number)| number.parse().unwrap()).collect()
}

#[test]
fn every_route_is_a_flight_or_counted_by_reason() {
    let directory = tempfile::tempdir().unwrap();
    let files = directory.path();
    let mut routes = ROUTES.join("\r\n").into_bytes();
    routes.extend_from_slice(b"\r\nB\xff,2,NNN,1,XSSS,2,,0,320\r\n");
    write(files, &routes);
    let server = Server::dev(&files.join("data"));
    let travel = server.door("travel").unwrap();
    let ended = import(files, travel);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for (file, line, complaint) in COMPLAINTS {
        let expected = format!("{}:{line}:{complaint}", files.join(file).display());
        assert!(ended.err.contains(&expected), "{expected}\n{}", ended.err);
    }
    for (label, expected) in COUNTS {
        assert_eq!(ended.row(label), expected, "{label}: {}", ended.out);
    }
    // Nine degrees north are 1,001 km; the island lies 6,672 km beyond the pole.
    let flights = [
        [150, 150],
        [50, 150],
        [100, 717],
        [162, 150],
        [0, 0],
        [0, 0],
        [0, 0],
        [0, 0],
        [0, 0],
        [0, 0],
        [100, 150],
        [525, 150],
    ];
    let places = [
        [58, 30, 144, 60],
        [42, 30, 103, 60],
        [10, 30, 25, 60],
        [0, 0, 0, 0],
    ];
    assert_eq!(sold(travel), [flights.concat(), places.concat()].concat());
    server.stop();
}

#[test]
fn an_import_that_is_run_again_adds_what_is_missing_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let files = directory.path();
    let server = Server::dev(&files.join("data"));
    let travel = server.door("travel").unwrap();
    write(files, ROUTES[..2].join("\n").as_bytes());
    let first = import(files, travel);
    assert_eq!(first.code, Some(0), "{first:?}");
    assert_eq!(first.row("added"), "6");
    assert!(!first.out.contains("there already"), "{first:?}");
    let before = sold(travel);
    let again = import(files, travel);
    assert_eq!((again.code, again.row("added")), (Some(0), "0".to_owned()));
    assert!(
        again.out.contains("6 of 6 items were there already"),
        "{again:?}"
    );
    assert_eq!(sold(travel), before);
    // One more flight is to a place that is there, one to a new one.
    write(
        files,
        [&ROUTES[..3], &[ROUTES[10]]].concat().join("\n").as_bytes(),
    );
    let more = import(files, travel);
    assert_eq!(more.row("added"), "4", "{more:?}");
    assert!(
        more.out.contains("6 of 10 items were there already"),
        "{more:?}"
    );
    assert_eq!(sold(travel)[..4], before[..4]);
    server.stop();
}

#[test]
fn files_that_are_none_and_a_server_that_is_not_there_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let files = directory.path();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let missing = import(files, nobody);
    assert_eq!(missing.code, Some(1));
    assert!(
        missing.err.contains("airports.dat: No such file"),
        "{missing:?}"
    );
    write(files, ROUTES[0].as_bytes());
    let unreachable = import(files, nobody);
    assert_eq!(unreachable.code, Some(1));
    let expected = format!("no travel at {nobody}");
    assert!(unreachable.err.contains(&expected), "{unreachable:?}");
}

/// The figures were computed from the files by an independent program with a parser and a formula of
/// the distance of its own.
#[test]
fn the_public_routes_are_imported_to_the_last_row() {
    let Some([routes, airports]) = open_flights() else {
        return;
    };
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let mut command = turnstile();
    command.args(["travel", "import", "--travel"]);
    command.arg(server.door("travel").unwrap().to_string());
    let ended = run(command
        .arg("--routes")
        .arg(routes)
        .arg("--airports")
        .arg(airports));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for (label, expected) in [
        ("airports read", "7698"),
        ("  not usable: no code", "1"),
        ("routes read", "67663"),
        ("  not importable: ends where it begins", "1"),
        ("  not importable: unknown airport", "482"),
        ("  of unknown aircraft", "121"),
        ("flights", "52583"),
        ("  seats", "7782060"),
        ("locations", "3018"),
        ("  cars", "779076"),
        ("  rooms", "1946523"),
        ("added", "58619"),
        (
            "  not importable: codeshare, sold by another airline",
            "14597",
        ),
    ] {
        assert_eq!(ended.row(label), expected, "{label}: {}", ended.out);
    }
    server.stop();
}
