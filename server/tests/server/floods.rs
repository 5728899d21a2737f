//! Floods of clients that never say who they are, at every door: whoever has a key or works already is
//! served, and the places come back.

use std::io::{ErrorKind, Read as _, Write as _};

use rustls::version::TLS12;
use turnstile_server::{HttpLimits, Limits};

use super::{
    access::{guarded, is_done, key, logged_in, said},
    certificates::SecureClient,
    client::{Client, Server},
    tls::Site,
};

/// Clients of a flood: some times as many as the servers of these tests have places.
const FLOOD: usize = 100;

/// What HTTP answers first to a request for this path with this key.
fn get(http: &mut Client, path: &str, key: &str) -> String {
    http.send(format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n"
    ));
    let head = http.until("\r\n\r\n");
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length = length.expect("a length").parse().expect("a number");
    let mut body = vec![0; length];
    http.socket.read_exact(&mut body).unwrap();
    head.lines().next().unwrap_or_default().to_owned()
}

/// Whether the server has left a connection open.
fn is_open(client: &mut Client) -> bool {
    client.socket.set_nonblocking(true).unwrap();
    loop {
        match client.socket.read(&mut [0; 4_096]) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(failure) => return failure.kind() == ErrorKind::WouldBlock,
        }
    }
}

const TOTALS: &str = "/v1/rooms/totals";

const OK: &str = "HTTP/1.1 200 OK";

/// Clients that did not log in kept their places for ten seconds each. As many as there are places, and
/// nobody with a key got in.
#[test]
fn who_has_not_logged_in_gives_way_when_all_places_are_taken() {
    let server = Server::with(&Limits {
        connections: 8,
        ..Limits::STANDARD
    });
    let mut root = guarded(&server);
    let mut strangers: Vec<Client> = (0..FLOOD).map(|_| server.client()).collect();
    for (number, stranger) in strangers.iter_mut().enumerate() {
        let gone = number + 8 <= FLOOD;
        if gone {
            assert_eq!(stranger.rest(), "", "{number} of {FLOOD}");
        }
    }
    is_done(&mut root, "PING");
    // Each who logs in takes a place for good, until there are no others.
    let mut known: Vec<Client> = (0..7).map(|_| logged_in(&server, &key(1))).collect();
    for stranger in &mut strangers {
        assert_eq!(stranger.rest(), "");
    }
    let refused = server.client().rest();
    assert_eq!(refused, "-ERR max number of clients reached|");
    for client in known.iter_mut().chain([&mut root]) {
        is_done(client, "PING");
    }
    drop(known);
    let mut attempts = 0;
    while is_full(&server) {
        attempts += 1;
        assert!(attempts < 10_000, "the places do not come back");
    }
    server.stop();
}

/// Whether a newcomer is turned away.
fn is_full(server: &Server) -> bool {
    let mut client = server.client();
    let login = format!("AUTH {}\r\n", key(1).expose());
    !client
        .last_words(&format!("{login}QUIT\r\n"))
        .starts_with("+OK")
}

/// They kept them also where they had done their TLS handshake.
#[test]
fn who_has_done_a_handshake_and_not_logged_in_gives_way_too() {
    let site = Site::with(&Limits {
        connections: 4,
        ..Limits::STANDARD
    });
    let secret = key(1);
    let (id, digest) = (secret.id(), secret.digest().hex());
    let mut root = site.client("resp");
    root.send(format!(
        "ACCESS.ADD-PRINCIPAL root\nACCESS.GRANT root admin *\nACCESS.ADD-KEY root {id} {digest}\n\
         AUTH {}\n",
        secret.expose()
    ));
    root.until("+OK|");
    let stranger = |_| {
        let mut stranger = site.client("resp");
        stranger.exchange("PING\n", "-NOAUTH Authentication required.|");
        stranger
    };
    let strangers: Vec<SecureClient> = (0..20).map(stranger).collect();
    let login = format!("AUTH {}\n", secret.expose());
    let mut known: Vec<SecureClient> = (0..3).map(|_| site.client("resp")).collect();
    for client in &mut known {
        client.exchange(&login, "+OK|");
    }
    drop(strangers);
    let failure = site.client("resp").shake().unwrap_err().to_string();
    assert!(failure.contains("InternalError"), "{failure}");
    for client in known.iter_mut().chain([&mut root]) {
        client.exchange("PING\n", "+PONG|");
    }
    site.stop();
}

/// Half a request, and answers that nobody reads, kept a place of HTTP for as long as they may take.
#[test]
fn over_http_who_shows_no_key_gives_way_whatever_it_does() {
    let http = HttpLimits {
        connections: 4,
        ..HttpLimits::STANDARD
    };
    let server = Server::over_http_with(&Limits {
        http,
        ..Limits::STANDARD
    });
    drop(guarded(&server));
    let mut worker = server.client_of("http");
    assert_eq!(get(&mut worker, TOTALS, key(1).expose()), OK);
    let floods = [
        "",
        "GET /v1/rooms/totals HTTP/1.1\r\nHo",
        "GET /v1/exchange/feed HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upg",
        "POST /v1/rooms/bookings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: 50\r\n\r\n{",
        &"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(50),
    ];
    for flood in floods {
        let stranger = |_| {
            let mut stranger = server.client_of("http");
            stranger.send(flood);
            stranger
        };
        let strangers: Vec<Client> = (0..FLOOD).map(stranger).collect();
        let mut newcomer = server.client_of("http");
        assert_eq!(
            get(&mut newcomer, TOTALS, key(1).expose()),
            OK,
            "{flood:.60}"
        );
        drop(strangers);
    }
    // Whoever has shown a key and waits for something keeps the place.
    let mut streams: Vec<Client> = Vec::new();
    for _ in 0..4 {
        let mut stream = server.client_of("http");
        stream.send(format!(
            "GET /v1/rooms/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
            key(1).expose()
        ));
        assert!(stream.until("\r\n\r\n").starts_with(OK));
        streams.push(stream);
    }
    let refused = server.client_of("http").until("\r\n");
    assert_eq!(refused, "HTTP/1.1 503 Service Unavailable\r\n");
    drop(streams);
    server.stop();
}

/// What a client asks first at a door, and the end of the answer.
const DOORS: [(&str, &str, &str); 5] = [
    ("resp", "PING\n", "+PONG|"),
    (
        "http",
        "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
        r#"{"status":"live"}"#,
    ),
    ("xml", "9\n<create/>", "</results>"),
    ("travel", "Start\n", "started\n"),
    // The handshake says enough.
    ("games-arena", "", ""),
];

#[test]
fn a_flood_of_half_handshakes_at_every_door_keeps_nobody_out() {
    let site = Site::with(&Limits {
        handshakes: 16,
        http: HttpLimits {
            connections: 32,
            ..HttpLimits::STANDARD
        },
        ..Limits::STANDARD
    });
    let own = site.authority.issue("guest", &[]);
    let whole = |(door, request, answer): (&str, &str, &str)| {
        // In this version the server is done when the client is.
        let config = site.authority.trusted(Some(&own), &TLS12);
        let mut client = site.client_with(door, config);
        client.shake().unwrap();
        client.send(request);
        client.until(answer);
        client
    };
    let mut workers = DOORS.map(whole);
    let mut hello = Vec::new();
    let mut session = site.client("resp").stream.conn;
    session.write_tls(&mut hello).unwrap();
    for begun in [&[][..], &[22, 3, 1], &hello[..hello.len() / 2], &hello] {
        let mut halves = Vec::new();
        for _ in 0..FLOOD {
            for (door, _, _) in DOORS {
                let mut half = site.plain(door);
                // One that was let go already is as good.
                drop(half.socket.write_all(begun));
                halves.push(half);
            }
            for (worker, (_, request, answer)) in workers.iter_mut().zip(DOORS) {
                worker.send(request);
                worker.until(answer);
            }
        }
        drop(DOORS.map(whole));
        // Some are left at the fast doors together, and some at that of HTTP.
        let open = halves.iter_mut().map(is_open);
        let open = open.filter(|&is_open| is_open).count();
        assert!(open <= 16 + 32 / 4, "{open} of {}", FLOOD * DOORS.len());
    }
    site.stop();
}

#[test]
fn a_flood_of_wrong_keys_locks_no_right_key_out() {
    let server = Server::over_http();
    let mut root = guarded(&server);
    let unknown = "ts_test_aaaaaaaaaaaa_".to_owned() + &"a".repeat(52);
    let (mut wrong, mut waits) = (0, 0);
    for _ in 0..20 {
        let mut guesser = server.client();
        for _ in 0..50 {
            let told = said(&mut guesser, &format!("AUTH {unknown}"));
            match &*told {
                "-WRONGPASS there is no such key" => wrong += 1,
                _ if told.starts_with("-WRONGPASS too many logins from here have failed, try") => {
                    waits += 1;
                }
                _ => panic!("{told}"),
            }
        }
        // The next comes from the same address.
        is_done(&mut logged_in(&server, &key(1)), "PING");
    }
    assert_eq!((wrong, waits), (200, 800));
    is_done(&mut root, "PING");

    let (mut wrong, mut waits) = (0, 0);
    let mut guesser = server.client_of("http");
    for _ in 0..400 {
        match &*get(&mut guesser, TOTALS, &unknown) {
            "HTTP/1.1 401 Unauthorized" => wrong += 1,
            "HTTP/1.1 429 Too Many Requests" => waits += 1,
            told => panic!("{told}"),
        }
    }
    // All doors count the failures of a source together.
    assert_eq!((wrong, waits), (0, 400));
    let mut worker = server.client_of("http");
    assert_eq!(get(&mut worker, TOTALS, key(1).expose()), OK);
    server.stop();
}
