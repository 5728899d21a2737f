//! TLS at the doors: what is served, what is refused, and certificates that change.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use futures_util::FutureExt as _;
use rustls::{ClientConfig, HandshakeKind, version::TLS13};
use tokio::sync::oneshot;
use turnstile_server::{
    Counter, DoorName, Duels, Durability, HandshakeCounters, Limits, Options, Running, ScoresWire,
    Settings, StartError, TlsFiles, start,
};

use super::{
    access::key,
    certificates::{Authority, Issued, SecureClient, VERSIONS},
    client::{Client, PATIENCE, book},
};

/// A server in memory whose doors speak TLS.
pub(crate) fn settings(tls: TlsFiles) -> Settings {
    let anywhere = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    Settings {
        resp: anywhere,
        http: anywhere,
        xml: anywhere,
        lines: anywhere,
        duels: Duels {
            arena: anywhere,
            ..Duels::default()
        },
        tls: Some(tls),
        ..Settings::closed(Options::with(Durability::Memory))
    }
}

/// A server with a certificate of an authority.
pub(crate) struct Site {
    pub(crate) authority: Authority,
    own: Issued,
    running: Running,
}

impl Site {
    fn new() -> Self {
        Self::with(&Limits::STANDARD)
    }

    pub(crate) fn with(limits: &Limits) -> Self {
        let authority = Authority::new();
        let own = authority.issue("server", &["localhost"]);
        let settings = Settings {
            limits: *limits,
            ..settings(authority.files(&own))
        };
        let running = start(&settings).unwrap();
        Self {
            authority,
            own,
            running,
        }
    }

    pub(crate) fn address(&self, door: &str) -> SocketAddr {
        let mut doors = self.running.doors().iter();
        doors.find(|(name, _)| *name == door).unwrap().1
    }

    pub(crate) fn client_with(&self, door: &str, config: ClientConfig) -> SecureClient {
        SecureClient::connect(self.address(door), &Arc::new(config))
    }

    /// A client that shows no certificate.
    pub(crate) fn client(&self, door: &str) -> SecureClient {
        self.client_with(door, self.authority.trusted(None, &TLS13))
    }

    pub(crate) fn plain(&self, door: &str) -> Client {
        let socket = TcpStream::connect(self.address(door)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Client { socket }
    }

    pub(crate) fn stop(self) {
        self.running.stopper().stop();
        self.running.join().unwrap();
    }
}

#[test]
fn pipelines_are_answered_in_both_versions() {
    let site = Site::new();
    for (number, version) in VERSIONS.into_iter().enumerate() {
        let mut client = site.client_with("resp", site.authority.trusted(None, version));
        client.exchange("PING\nECHO hello\n", "+PONG|$5|hello|");
        if number == 0 {
            client.exchange("ROOMS.ADD-PROPERTY bench OPEN\n", "*2|:1|:1|");
        }
        let rooms = (0..1_000).map(|room| book(&format!("r{number}-{room}")));
        client.send(rooms.collect::<String>() + "QUIT\n");
        let answers = client.rest();
        assert_eq!(answers.matches("*4|:1|").count(), 1_000);
        assert!(answers.ends_with("+OK|"), "{answers}");
    }
    site.stop();
}

#[test]
fn large_requests_and_answers_pass_in_many_records() {
    let site = Site::new();
    let large = "x".repeat(65_000);
    for version in VERSIONS {
        let mut client = site.client_with("resp", site.authority.trusted(None, version));
        let request = format!("*2\r\n$4\r\nECHO\r\n$65000\r\n{large}\r\n");
        client.send(request.repeat(10));
        for _ in 0..10 {
            client.expect(&format!("$65000|{large}|"));
        }
        // More than the sockets, the records and the output of the connection hold.
        client.send("INFO\n".repeat(10_000) + "QUIT\n");
        let answers = client.rest();
        assert_eq!(answers.matches("# Keyspace|").count(), 10_000);
        assert!(answers.ends_with("+OK|"));
    }
    site.stop();
}

#[test]
fn records_may_come_byte_by_byte() {
    let site = Site::new();
    for version in VERSIONS {
        let mut client = site.client_with("resp", site.authority.trusted(None, version));
        client.stream.sock.set_nodelay(true).unwrap();
        let send = |client: &mut SecureClient| {
            let mut records = Vec::new();
            while client.stream.conn.wants_write() {
                client.stream.conn.write_tls(&mut records).unwrap();
            }
            for byte in records {
                client.stream.sock.write_all(&[byte]).unwrap();
            }
        };
        while client.stream.conn.is_handshaking() {
            send(&mut client);
            if client.stream.conn.is_handshaking() {
                client
                    .stream
                    .conn
                    .read_tls(&mut client.stream.sock)
                    .unwrap();
                client.stream.conn.process_new_packets().unwrap();
            }
        }
        client
            .stream
            .conn
            .writer()
            .write_all(b"PING\nECHO")
            .unwrap();
        send(&mut client);
        client.expect("+PONG|");
        client.stream.conn.writer().write_all(b" late\n").unwrap();
        send(&mut client);
        client.expect("$4|late|");
    }
    site.stop();
}

#[test]
fn who_says_that_nothing_more_will_come_is_answered_and_told_the_same() {
    let site = Site::new();
    for version in VERSIONS {
        let mut client = site.client_with("resp", site.authority.trusted(None, version));
        client.shake().unwrap();
        client
            .stream
            .conn
            .writer()
            .write_all(b"PING\nPING\n*1\r\n")
            .unwrap();
        client.stream.conn.send_close_notify();
        client.stream.flush().unwrap();
        assert_eq!(client.rest(), "+PONG|+PONG|");
    }
    site.stop();
}

#[test]
fn bytes_that_are_no_tls_get_a_clear_end() {
    let site = Site::new();
    let sentence = "this address serves TLS only: connect with TLS";
    for (door, request, answer) in [
        ("resp", "PING\r\n", format!("-ERR {sentence}|")),
        (
            "xml",
            "17\n<create></create>",
            format!("<results><error>{sentence}</error></results>"),
        ),
        (
            "travel",
            "NewTransaction\n",
            format!("Command exception: {sentence}\n"),
        ),
        ("games-arena", "\0", String::new()),
    ] {
        let mut plain = site.plain(door);
        plain.send(request);
        assert_eq!(plain.rest(), answer, "{door}");
    }
    let mut plain = site.plain("http");
    plain.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let answer = plain.rest();
    assert!(answer.starts_with("HTTP/1.1 400 Bad Request|"), "{answer}");
    assert!(
        answer.contains("this address serves HTTPS only"),
        "{answer}"
    );
    // A record of a handshake with a message that is none.
    for door in ["resp", "http"] {
        let mut plain = site.plain(door);
        plain.send([22, 3, 1, 0, 4, 0x63, 0, 0, 0]);
        let mut rest = Vec::new();
        plain.socket.read_to_end(&mut rest).unwrap();
        assert_eq!(rest.first(), Some(&21), "{door}: an alert, not {rest:?}");
    }
    site.client("resp").exchange("PING\n", "+PONG|");
    site.stop();
}

#[test]
fn certificates_that_are_not_known_are_refused() {
    let site = Site::new();
    let other = Authority::new();
    // The client does not know the server.
    for door in ["resp", "http", "xml"] {
        let mut client = site.client_with(door, other.trusted(None, &TLS13));
        let failure = client.shake().unwrap_err().to_string();
        assert!(failure.contains("UnknownIssuer"), "{door}: {failure}");
    }
    // The server does not know the client, or no more.
    let rows = [
        (other.issue("stranger", &[]), "UnknownCA"),
        (
            site.authority.issue_expired("guest", &[]),
            "CertificateExpired",
        ),
    ];
    for (own, reason) in rows {
        for version in VERSIONS {
            for door in ["resp", "http"] {
                let config = site.authority.trusted(Some(&own), version);
                let mut client = site.client_with(door, config);
                // The newer version says it after the client's part of the handshake.
                let failure = match client.shake() {
                    Ok(()) => client.failure(),
                    Err(failure) => failure.to_string(),
                };
                assert!(failure.contains(reason), "{door}: {failure}");
            }
        }
    }
    let own = site.authority.issue("guest", &[]);
    for door in ["resp", "http"] {
        let config = site.authority.trusted(Some(&own), &TLS13);
        site.client_with(door, config).shake().unwrap();
    }
    site.client("resp").exchange("PING\n", "+PONG|");
    site.stop();
}

#[test]
fn a_door_whose_protocol_carries_no_key_asks_for_a_certificate() {
    let site = Site::new();
    let own = site.authority.issue("guest", &[]);
    for version in VERSIONS {
        for door in ["xml", "travel", "games-arena"] {
            let mut stranger = site.client_with(door, site.authority.trusted(None, version));
            let failure = match stranger.shake() {
                Ok(()) => stranger.failure(),
                Err(failure) => failure.to_string(),
            };
            let reasons = ["CertificateRequired", "HandshakeFailure"];
            assert!(
                reasons.iter().any(|one| failure.contains(one)),
                "{door}: {failure}"
            );
        }
        let config = site.authority.trusted(Some(&own), version);
        let mut guest = site.client_with("travel", config);
        guest.send("Start\n");
        assert!(guest.until("started\n").starts_with("Transaction "));
    }
    site.stop();
}

#[test]
fn a_client_certificate_stands_for_its_principal_until_it_is_removed() {
    let site = Site::new();
    let own = site.authority.issue("till", &["till.example"]);
    let secret = key(1);
    let (id, digest) = (secret.id(), secret.digest().hex());
    let mut root = site.client("resp");
    root.send(format!(
        "ROOMS.ADD-PROPERTY bench OPEN\nACCESS.ADD-PRINCIPAL root\nACCESS.GRANT root admin *\n\
         ACCESS.ADD-PRINCIPAL shop\nACCESS.GRANT shop rooms.user bench\n\
         ACCESS.ADD-CERTIFICATE shop till.example\n\
         ACCESS.ADD-KEY root {id} {digest}\nAUTH {}\n",
        secret.expose()
    ));
    root.until("+OK|");
    for version in VERSIONS {
        let config = site.authority.trusted(Some(&own), version);
        let mut till = site.client_with("resp", config);
        till.exchange("ACL WHOAMI\n", "$4|shop|");
        till.exchange(
            "ROOMS.ADD-PROPERTY other OPEN\n",
            "-NOPERM this needs the right rooms.manage|",
        );
    }
    let over_http = |path: &str| {
        let config = site.authority.trusted(Some(&own), &TLS13);
        let mut till = site.client_with("http", config);
        till.send(format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        ));
        till.rest()
    };
    assert!(over_http("/v1/access/whoami").contains(r#""principal":"shop""#));
    assert!(over_http("/v1/access/keys").starts_with("HTTP/1.1 403 "));
    // Who has shown it may not go on either.
    let config = site.authority.trusted(Some(&own), &TLS13);
    let mut till = site.client_with("resp", config);
    till.exchange("ACL WHOAMI\n", "$4|shop|");
    root.send("ACCESS.REMOVE-CERTIFICATE till.example\nECHO removed\n");
    root.until("removed|");
    assert_eq!(till.rest(), "");
    assert!(over_http("/v1/access/whoami").starts_with("HTTP/1.1 401 "));
    site.stop();
}

#[test]
fn the_names_in_the_certificate_are_names_of_the_server() {
    let authority = Authority::new();
    let own = authority.issue("server", &["localhost", "desk.example", "*.rooms.example"]);
    let settings = Settings {
        http_hosts: vec!["old.example".to_owned()],
        ..settings(authority.files(&own))
    };
    let running = start(&settings).unwrap();
    let mut doors = running.doors().iter();
    let http = doors.find(|(name, _)| *name == "http").unwrap().1;
    let config = Arc::new(authority.trusted(None, &TLS13));
    for (host, origin, status) in [
        ("desk.example:8470", None, 404),
        ("DESK.example", None, 404),
        ("old.example", None, 404),
        ("a.rooms.example", None, 404),
        ("rooms.example", None, 421),
        ("b.a.rooms.example", None, 421),
        ("evil.example", None, 421),
        ("10.1.2.3", None, 421),
        // A page of the server is one of its own, by whichever name; any other is not.
        ("desk.example:8470", Some("https://desk.example:8470"), 404),
        ("desk.example:8470", Some("http://desk.example:8470"), 403),
        ("desk.example:8470", Some("https://desk.example"), 403),
        ("desk.example:8470", Some("https://evil.example"), 403),
    ] {
        let origin = origin.map_or_else(String::new, |origin| format!("Origin: {origin}\r\n"));
        let request = format!("POST /nothing HTTP/1.1\r\nHost: {host}\r\n{origin}\r\n");
        let mut client = SecureClient::connect(http, &config);
        client.send(request);
        client.expect(&format!("HTTP/1.1 {status} "));
    }
    running.stopper().stop();
    running.join().unwrap();
}

#[test]
fn a_client_that_comes_back_goes_on_with_its_session() {
    let site = Site::new();
    for version in VERSIONS {
        let config = Arc::new(site.authority.trusted(None, version));
        let kind = |door| {
            let mut client = SecureClient::connect(site.address(door), &config);
            if door == "resp" {
                client.exchange("PING\n", "+PONG|");
            } else {
                client.send("GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
                assert!(client.rest().starts_with("HTTP/1.1 200 "));
            }
            client.stream.conn.handshake_kind().unwrap()
        };
        assert_ne!(kind("resp"), HandshakeKind::Resumed);
        assert_eq!(kind("resp"), HandshakeKind::Resumed);
    }
    site.stop();
}

#[test]
fn handshakes_are_counted_by_door_and_how_they_end() {
    let site = Site::new();
    let counted = |door| {
        let handshakes = &site.running.counters().of(door).handshakes;
        let HandshakeCounters {
            done,
            resumed,
            failed,
            ..
        } = handshakes;
        [done, resumed, failed].map(Counter::get)
    };
    for (door, name) in [("resp", DoorName::Resp), ("http", DoorName::Http)] {
        let config = Arc::new(site.authority.trusted(None, &TLS13));
        let client = || {
            let mut client = SecureClient::connect(site.address(door), &config);
            if door == "resp" {
                client.exchange("PING\n", "+PONG|");
            } else {
                client.send("GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
                client.rest();
            }
        };
        client();
        assert_eq!(counted(name), [1, 0, 0], "{door}");
        client();
        assert_eq!(counted(name), [2, 1, 0], "{door}");
        // No TLS, and TLS that breaks off.
        let mut plain = site.plain(door);
        plain.send("GET / HTTP/1.1\r\n\r\n");
        plain.rest();
        let mut broken = site.plain(door);
        broken.send([22, 3, 1, 0, 5, 9, 9, 9, 9, 9]);
        broken.rest();
        while counted(name) != [2, 1, 2] {
            assert!(counted(name)[2] <= 2, "{door}: {:?}", counted(name));
            thread::yield_now();
        }
        let open = &site.running.counters().of(name).handshakes.open;
        assert_eq!(open.get(), 0, "{door}");
    }
    let mut client = site.client("resp");
    client.send("INFO stats\nINFO server\nQUIT\n");
    let info = client.rest();
    assert!(info.contains("|tls_handshakes_resumed:2|"), "{info}");
    let left = info
        .split_once("tls_certificate_expires_in_seconds:")
        .unwrap()
        .1;
    let left: i64 = left.split('|').next().unwrap().parse().unwrap();
    assert!(left > 0, "{left}");
    let mut client = site.client("http");
    client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let metrics = client.rest();
    let expires = "turnstile_tls_certificate_expires_seconds{file=\"certificate\"} ";
    assert!(metrics.contains(expires), "{metrics}");
    site.stop();
}

#[test]
fn a_new_certificate_is_for_new_connections() {
    let site = Site::new();
    let shown = |client: &SecureClient| client.stream.conn.peer_certificates().unwrap()[0].clone();
    let doors = ["resp", "http"];
    let ask = |door: &str, client: &mut SecureClient| match door {
        "resp" => client.exchange("PING\n", "+PONG|"),
        _ => {
            client.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
            client.expect("HTTP/1.1 200 OK|");
        }
    };
    let mut before = doors.map(|door| site.client(door));
    for (door, client) in doors.into_iter().zip(&mut before) {
        ask(door, client);
    }
    let reload = || site.running.stopper().take_over(&Limits::STANDARD, &[]);
    assert!(!reload().unwrap(), "nothing is new");

    // A file that is not whole is refused, and everything stays.
    let whole = fs::read(&site.own.certificate).unwrap();
    for (content, reason) in [
        (&whole[..whole.len() / 2], "no certificate in PEM"),
        (&b""[..], "the file holds no certificate in PEM"),
        (&fs::read(site.authority.file()).unwrap(), "KeyMismatch"),
    ] {
        fs::write(&site.own.certificate, content).unwrap();
        let refused = reload().unwrap_err().to_string();
        assert!(refused.contains(reason), "{refused}");
        assert!(refused.contains("server."), "the file: {refused}");
    }
    for door in doors {
        let mut client = site.client(door);
        ask(door, &mut client);
        assert_eq!(shown(&client), shown(&before[0]));
    }

    site.authority.issue("server", &["localhost"]);
    assert!(reload().unwrap());
    for (door, old) in doors.into_iter().zip(&mut before) {
        let mut client = site.client(door);
        ask(door, &mut client);
        assert_ne!(shown(&client), shown(old));
        match door {
            "resp" => ask(door, old),
            _ => {
                old.send("GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
                assert_eq!(old.rest().matches("HTTP/1.1 200 OK").count(), 1);
            }
        }
    }
    site.stop();
}

#[test]
fn a_certificate_that_was_renewed_is_loaded_without_a_signal() {
    let site = Site::new();
    let shown = || {
        let mut client = site.client("resp");
        client.exchange("PING\n", "+PONG|");
        client.stream.conn.peer_certificates().unwrap()[0].clone()
    };
    let stopper = site.running.stopper();
    let timers = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    // The first look comes at once, and the second never.
    let look = || {
        let _entered = timers.enter();
        let ended = stopper.watch_certificates(PATIENCE).now_or_never();
        assert_eq!(ended, None, "the watch goes on");
        shown()
    };
    let first = shown();
    fs::write(&site.own.certificate, "no certificate").unwrap();
    assert_eq!(look(), first, "a broken file changes nothing");
    site.authority.issue("server", &["localhost"]);
    let second = look();
    assert_ne!(second, first);

    let (end, ended) = oneshot::channel::<()>();
    let watcher = stopper.clone();
    let watching = thread::spawn(move || {
        timers.block_on(async {
            tokio::select! {
                () = watcher.watch_certificates(Duration::from_millis(1)) => {}
                _ = ended => {}
            }
        });
    });
    site.authority.issue("server", &["localhost"]);
    let deadline = Instant::now() + PATIENCE;
    while shown() == second {
        assert!(
            Instant::now() < deadline,
            "the renewed certificate is shown"
        );
    }
    end.send(()).unwrap();
    watching.join().unwrap();
    site.stop();
}

#[test]
fn a_server_without_room_ends_a_handshake_before_it_begins() {
    let site = Site::with(&Limits {
        connections: 1,
        ..Limits::STANDARD
    });
    let mut first = site.client("resp");
    first.exchange("PING\n", "+PONG|");
    let failure = site.client("resp").shake().unwrap_err().to_string();
    assert!(failure.contains("InternalError"), "{failure}");
    first.exchange("PING\n", "+PONG|");
    site.stop();
}

#[test]
fn a_handshake_that_is_not_done_gives_way_to_others() {
    let site = Site::with(&Limits {
        connections: 1,
        ..Limits::STANDARD
    });
    let mut half = site.plain("resp");
    half.send([22, 3, 1]);
    let mut whole = site.client("resp");
    whole.exchange("PING\n", "+PONG|");
    let mut rest = Vec::new();
    assert_eq!(
        half.socket.read_to_end(&mut rest).map_or(0, |count| count),
        0
    );
    whole.exchange("PING\n", "+PONG|");
    site.stop();
}

#[test]
fn a_stop_waits_for_no_handshake() {
    let site = Site::new();
    let mut halves = ["resp", "http"].map(|door| site.plain(door));
    for half in &mut halves {
        half.send([22, 3, 1]);
    }
    let mut whole = site.client("resp");
    whole.exchange("PING\n", "+PONG|");
    site.stop();
    assert_eq!(whole.rest(), "");
}

#[test]
fn files_that_cannot_be_used_stop_the_start() {
    let authority = Authority::new();
    let own = authority.issue("server", &["localhost"]);
    let other = authority.issue("other", &["localhost"]);
    let nowhere = own.key.with_file_name("nowhere.pem");
    let good = authority.files(&own);
    let rows = [
        (
            TlsFiles {
                certificate: nowhere,
                ..good.clone()
            },
            "tls.certificate `",
            "nowhere.pem`: No such file",
        ),
        (
            TlsFiles {
                key: other.key,
                ..good.clone()
            },
            "tls.key `",
            "KeyMismatch",
        ),
        (
            TlsFiles {
                key: own.certificate.clone(),
                ..good.clone()
            },
            "tls.key `",
            "server.pem`: the file holds no private key in PEM",
        ),
        (
            TlsFiles {
                client_ca: Some(own.key),
                ..good
            },
            "tls.client_ca `",
            "server.key`: the file holds no certificate in PEM",
        ),
    ];
    for (files, option, reason) in rows {
        let refused = start(&settings(files)).unwrap_err();
        assert!(matches!(refused, StartError::Tls(_)));
        let refused = refused.to_string();
        assert!(refused.starts_with(option), "{refused}");
        assert!(refused.contains(reason), "{refused}");
    }
}

#[test]
fn a_line_to_scores_needs_authorities_and_a_name() {
    let authority = Authority::new();
    let nameless = authority.issue("nameless", &["127.0.0.1"]);
    let lines = |files: TlsFiles| {
        let scores = SocketAddr::from(([127, 0, 0, 1], 1));
        let settings = Settings {
            duels: Duels {
                tells: Some((scores, ScoresWire::Numbered)),
                ..Duels::default()
            },
            ..settings(files)
        };
        start(&settings).unwrap_err().to_string()
    };
    let refused = lines(TlsFiles {
        client_ca: None,
        ..authority.files(&nameless)
    });
    assert!(refused.contains("set tls.client_ca"), "{refused}");
    let refused = lines(authority.files(&nameless));
    assert!(
        refused.contains("the certificate has no DNS name"),
        "{refused}"
    );
}
