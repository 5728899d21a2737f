//! Doors while the journal is recovered; the test decides when that is over.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpStream},
    path::Path,
    sync::mpsc::SyncSender,
};

use turnstile_access::{Access, AccessRole, Command, GrantedNames, SecretKey};
use turnstile_embedded::Stage;
use turnstile_types::{Author, Name, Outcome, Principal, Timestamp};

use super::*;
use crate::{BrokerLogin, BrokerTimeouts, Duels, LogSettings, NodeName};

fn settings() -> Settings {
    let door = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    Settings {
        resp: door,
        http: door,
        xml: door,
        lines: door,
        duels: Duels {
            arena: door,
            scores: door,
            tells: None,
        },
        ..Settings::closed(Options::with(Durability::Memory))
    }
}

/// A start that recovers when it is told to, and to what end.
struct Held {
    starting: Starting,
    go_on: SyncSender<Result<(), StartError>>,
}

impl Held {
    fn begin() -> Self {
        Self::of(|_backend| {})
    }

    /// What it recovers is made like this.
    fn of(make: impl FnOnce(&mut Embedded) + Send + 'static) -> Self {
        let (go_on, told) = sync_channel::<Result<(), StartError>>(1);
        let (begun, begins) = sync_channel(1);
        let starting = Starting::recovering(&settings(), (None, None), move |loading| {
            begun.send(()).expect("the test waits");
            told.recv().unwrap_or(Err(StartError::Stopped))?;
            assert!(!loading.is_over());
            let nothing = Embedded::open(None, Options::with(Durability::Memory));
            let (mut backend, found) = nothing.map_err(StartError::Open)?;
            make(&mut backend);
            Ok((backend, found))
        });
        begins.recv().expect("the recovery begins");
        Self {
            starting: starting.expect("free ports"),
            go_on,
        }
    }

    fn connect(&self, door: &str) -> TcpStream {
        let mut doors = self.starting.doors().iter();
        let (_, address) = doors.find(|(name, _)| *name == door).expect("it is open");
        TcpStream::connect(address).expect("the door accepts")
    }
}

/// Sends lines over RESP, and reads as many lines of answers.
fn resp(socket: &TcpStream, requests: &str, lines: usize) -> Vec<String> {
    let mut writer = socket;
    writer
        .write_all(requests.as_bytes())
        .expect("the server reads");
    let mut reader = BufReader::new(socket);
    let line = |_| {
        let mut line = String::new();
        reader.read_line(&mut line).expect("the server answers");
        line.trim_end().to_owned()
    };
    (0..lines).map(line).collect()
}

/// The head and the body of the answer to one request.
fn http(socket: &TcpStream, request: &str) -> (String, String) {
    let mut writer = socket;
    let text = format!("{request} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
    writer.write_all(text.as_bytes()).expect("the server reads");
    let mut reader = BufReader::new(socket);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("the server answers");
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        head.push_str(&line.to_ascii_lowercase());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("the server answers");
    (head, String::from_utf8(body).expect("texts are UTF-8"))
}

const REFUSED: &str = "-LOADING the server recovers its journal, try again later: ";

#[test]
fn http_says_that_it_lives_and_how_far_the_recovery_is() {
    let held = Held::begin();
    let progress = &held.starting.stopper.loading.progress;
    progress.begin(Stage::Replaying, 5_000);
    let socket = held.connect("http");
    assert!(http(&socket, "GET /livez").0.starts_with("http/1.1 200"));
    for request in ["GET /readyz", "POST /v1/rooms/bookings", "GET /metrics"] {
        let (head, body) = http(&socket, request);
        assert!(head.starts_with("http/1.1 503"), "{request}: {head}");
        assert!(head.contains("\r\nretry-after: 1\r\n"), "{request}: {head}");
        assert!(body.contains(r#""code":"recovering""#), "{request}: {body}");
        let detail = "replaying the journal, 0 of 5000 records";
        assert!(body.contains(detail), "{request}: {body}");
    }
    held.go_on.send(Ok(())).expect("it waits");
    let running = held.starting.finish().expect("it recovers");
    assert!(http(&socket, "GET /readyz").0.starts_with("http/1.1 200"));
    running.stopper().stop();
    running.join().expect("a clean end");
}

#[test]
fn resp_answers_for_itself_and_the_connection_goes_on_when_the_services_are_there() {
    let held = Held::begin();
    let socket = held.connect("resp");
    let asked =
        "PING\nCLIENT SETNAME ada\nROOMS.ADD-PROPERTY bench OPEN\nDBSIZE\nSUBSCRIBE rooms.events\n";
    let answers = resp(&socket, asked, 5);
    assert_eq!(answers[..2], ["+PONG", "+OK"]);
    for answer in &answers[2..] {
        assert!(answer.starts_with(REFUSED), "{answer}");
    }
    let facts = resp(&socket, "INFO persistence\n", 8).join("|");
    assert!(
        facts.contains("|loading:1|loading_stage:checking_journal|"),
        "{facts}"
    );
    held.go_on.send(Ok(())).expect("it waits");
    let running = held.starting.finish().expect("it recovers");
    let answers = resp(
        &socket,
        "ROOMS.ADD-PROPERTY bench OPEN\nCLIENT GETNAME\n",
        5,
    );
    assert_eq!(answers, ["*2", ":1", ":1", "$3", "ada"]);
    running.stopper().stop();
    running.join().expect("a clean end");
}

/// Gives a directory its first key.
fn guard(backend: &mut Embedded) {
    let root = Name::parse(b"root").expect("a name");
    let key = SecretKey::new("test", [1; 8], [1; 32]).expect("a key");
    let commands = [
        Command::AddPrincipal { principal: root },
        Command::Grant {
            principal: root,
            role: AccessRole::Admin,
            only: GrantedNames::all(),
        },
        Command::AddKey {
            principal: root,
            key: key.id(),
            digest: key.digest(),
            name: None,
            expires: None,
        },
    ];
    for command in commands {
        let by = Principal::local();
        let author = Author::unknown(&by);
        let decided = backend.execute::<Access>(Timestamp(1), author, None, &command, None);
        let outcome = decided.expect("memory takes it").outcome;
        assert!(
            matches!(outcome, Outcome::Done(_)),
            "{command:?}: {outcome:?}"
        );
    }
    backend.commit().expect("memory takes it");
}

#[test]
fn a_client_that_came_before_the_keys_were_known_has_to_show_one() {
    let held = Held::of(guard);
    let socket = held.connect("resp");
    // Each of these would make the server look at what its caller may do.
    let asked = "PING\nCLIENT LIST\nSLOWLOG GET\nACL LIST\nSUBSCRIBE rooms.events\nDBSIZE\n";
    let answers = resp(&socket, asked, 6);
    assert_eq!(answers[0], "+PONG");
    for answer in &answers[1..] {
        assert!(answer.starts_with(REFUSED), "{answer}");
    }
    held.go_on.send(Ok(())).expect("it waits");
    let running = held.starting.finish().expect("it recovers");
    let asked = "ROOMS.ADD-PROPERTY bench OPEN\nPING\nCLIENT LIST\n";
    for answer in resp(&socket, asked, 3) {
        assert_eq!(answer, "-NOAUTH Authentication required.");
    }
    running.stopper().stop();
    running.join().expect("a clean end");
}

#[test]
fn a_batch_that_began_before_the_services_were_there_is_executed_by_no_part() {
    let held = Held::begin();
    let socket = held.connect("resp");
    let answers = resp(&socket, "MULTI\nROOMS.ADD-PROPERTY early OPEN\n", 2);
    assert_eq!(answers[0], "+OK");
    assert!(answers[1].starts_with(REFUSED), "{answers:?}");
    held.go_on.send(Ok(())).expect("it waits");
    let running = held.starting.finish().expect("it recovers");
    let asked = "ROOMS.ADD-PROPERTY late OPEN\nEXEC\nDBSIZE\n";
    let answers = resp(&socket, asked, 3);
    assert_eq!(answers[0], "+QUEUED");
    assert!(answers[1].starts_with("-EXECABORT"), "{answers:?}");
    assert_eq!(running.counters().records.get(), 0);
    running.stopper().stop();
    running.join().expect("a clean end");
}

#[test]
fn the_other_doors_say_it_where_their_protocol_can_and_close() {
    let held = Held::begin();
    let why = "the server recovers its journal, try again later";
    for (door, said) in [
        ("xml", format!("<results><error>{why}</error></results>")),
        ("travel", format!("Command exception: {why}\n")),
        ("games-arena", String::new()),
        ("games-scores", String::new()),
    ] {
        let mut answer = String::new();
        let read = held.connect(door).read_to_string(&mut answer);
        assert!(read.is_ok(), "{door}: {read:?}");
        assert_eq!(answer, said, "{door}");
    }
    drop(held.go_on);
    held.starting.stopper().stop();
    assert!(matches!(held.starting.finish(), Err(StartError::Stopped)));
}

#[test]
fn a_stop_ends_a_recovery_without_waiting_for_it() {
    let held = Held::begin();
    let socket = held.connect("resp");
    assert_eq!(resp(&socket, "PING\n", 1), ["+PONG"]);
    held.starting.stopper().stop();
    // The recovery still waits for the test.
    assert!(matches!(held.starting.finish(), Err(StartError::Stopped)));
    let mut rest = Vec::new();
    assert!(matches!((&socket).read_to_end(&mut rest), Ok(0) | Err(_)));
    assert!(held.go_on.send(Ok(())).is_ok(), "it was not waited for");
}

#[test]
fn a_recovery_that_fails_closes_the_doors() {
    let held = Held::begin();
    let socket = held.connect("http");
    socket.shutdown(Shutdown::Write).expect("it is connected");
    let failure = StartError::Database {
        service: "rooms",
        cause: "it is away".to_owned(),
    };
    held.go_on.send(Err(failure)).expect("it waits");
    let doors = held.starting.doors().to_vec();
    let ended = held.starting.finish();
    assert!(
        matches!(ended, Err(StartError::Database { .. })),
        "{ended:?}"
    );
    for (door, address) in doors {
        assert!(TcpStream::connect(address).is_err(), "{door}");
    }
}

#[test]
fn the_directory_is_taken_before_any_door_is_opened() {
    let directory = tempfile::tempdir().expect("a directory");
    let kept = Settings {
        data: Some(directory.path().to_owned()),
        storage: Options::with(Durability::Os),
        ..settings()
    };
    let running = start(&kept).expect("free ports");
    let taken = Settings {
        resp: running.doors().first().map(|&(_, address)| address),
        ..kept
    };
    let refused = start(&taken);
    let Err(StartError::Open(why)) = refused else {
        panic!("both the directory and the port are taken: {refused:?}");
    };
    assert_eq!(
        why.to_string(),
        "another process has the journal's directory"
    );
    running.stopper().stop();
    running.join().expect("a clean end");
}

fn name(text: &str) -> NodeName {
    text.parse().expect("a name of a node")
}

fn node_without_brokers(data: &Path) -> Settings {
    let door = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    Settings {
        data: Some(data.to_owned()),
        resp: door,
        http: door,
        cluster: Some(LogSettings {
            // Nothing listens there.
            servers: vec!["nats://127.0.0.1:1".parse().expect("a URL")],
            monitors: Vec::new(),
            partition: name("main"),
            node: name("n1"),
            replicas: 1,
            stream_bytes_max: 16 << 20,
            snapshot_bytes_max: 16 << 20,
            snapshot_entries: 1_000,
            entry_version_max: None,
            login: BrokerLogin::None,
            tls: None,
            timeouts: BrokerTimeouts::USUAL,
        }),
        ..Settings::closed(Options::with(Durability::Os))
    }
}

#[test]
fn a_node_that_cannot_hold_what_it_is_to_hold_says_which_partition() {
    let directory = tempfile::tempdir().expect("a directory");
    for (holds, told) in [
        (&["main", "c"][..], "cluster.holds names c, which is none"),
        (&["b"][..], "cluster.holds must name main, the first"),
    ] {
        let settings = Settings {
            partitions: ["main", "b"].map(name).to_vec(),
            holds: holds.iter().map(|one| name(one)).collect(),
            ..node_without_brokers(directory.path())
        };
        let refused = Starting::begin(&settings).expect_err("it is refused");
        assert!(refused.to_string().starts_with(told), "{refused}");
    }
}

#[test]
fn a_node_without_brokers_says_what_it_waits_for_until_it_is_stopped() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = node_without_brokers(directory.path());
    let starting = Starting::begin(&settings).expect("free ports");
    let held = |door| {
        let mut doors = starting.doors().iter();
        let (_, address) = doors.find(|(name, _)| *name == door).expect("it is open");
        TcpStream::connect(address).expect("the door accepts")
    };
    let why = "the node waits for the shared log: no broker can be reached";
    let http_door = held("http");
    let told = loop {
        let (head, body) = http(&http_door, "GET /readyz");
        assert!(head.starts_with("http/1.1 503"), "{head}");
        if body.contains("no broker") {
            break body;
        }
    };
    assert!(told.contains(why), "{told}");
    let answers = resp(&held("resp"), "ROOMS.LIST-PROPERTIES\n", 1);
    assert!(answers[0].starts_with("-LOADING"), "{answers:?}");
    assert!(answers[0].ends_with(why), "{answers:?}");
    starting.stopper().stop();
    assert!(matches!(starting.finish(), Err(StartError::Stopped)));
    // The wait has ended too: the directory is free again.
    while Claim::new(Some(directory.path()), settings.storage).is_err() {
        std::thread::yield_now();
    }
}
