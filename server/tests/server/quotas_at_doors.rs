//! How much a principal may ask for at every door together, with real sockets.

use std::{
    io::{ErrorKind, Read},
    net::SocketAddr,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use turnstile_access::SecretKey;
use turnstile_server::{Duels, Durability, ListenerPrincipals, Options, Settings};
use turnstile_types::{Name, Principal};

use super::{
    access::{guarded, is_done, key, logged_in, said, with_role},
    client::{Client, Server, book},
};

/// A server in memory with keys and all doors, at which `shop` comes to those that know no keys; a client
/// of its administrator, and one of `shop`, which may use everything.
pub(crate) fn busy_server() -> (Server, Client, Client) {
    let anywhere = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    let shop = Some(Principal(Name::parse(b"shop").unwrap()));
    let server = Server::started(&Settings {
        resp: anywhere,
        http: anywhere,
        xml: anywhere,
        lines: anywhere,
        duels: Duels {
            arena: anywhere,
            scores: anywhere,
            ..Duels::default()
        },
        principals: ListenerPrincipals {
            xml: shop,
            lines: shop,
            arena: shop,
            scores: shop,
        },
        ..Settings::closed(Options::with(Durability::Memory))
    });
    let mut root = guarded(&server);
    let shop = with_role(&server, &mut root, ("shop", "rooms.user *", 2));
    for role in ["exchange.manager", "travel.manager", "games.manager"] {
        is_done(&mut root, &format!("ACCESS.GRANT shop {role} *"));
    }
    (server, root, shop)
}

/// Sends a request with a key, and receives the head of its answer.
fn head(http: &mut Client, path: &str, key: &SecretKey) -> String {
    http.send(format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
        key.expose()
    ));
    http.until("\r\n\r\n")
}

/// The same, and its body.
pub(crate) fn get(http: &mut Client, path: &str, key: &SecretKey) -> (String, String) {
    let head = head(http, path, key);
    let length = header(&head, "content-length").expect("a length");
    let mut body = vec![0; length.parse().expect("a number")];
    http.socket.read_exact(&mut body).unwrap();
    (head, String::from_utf8(body).unwrap())
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines
        .find(|(found, _)| *found == name)
        .map(|(_, value)| value)
}

pub(crate) fn is_refused(head: &str) -> bool {
    head.starts_with("HTTP/1.1 429 ")
}

pub(crate) const TOTALS: &str = "/v1/rooms/totals";

#[test]
fn http_tells_what_is_left_of_a_quota_and_nothing_to_others() {
    let (server, mut root, _shop) = busy_server();
    let mut http = server.client_of("http");
    let (before, _) = get(&mut http, TOTALS, &key(2));
    assert_eq!(header(&before, "ratelimit"), None);
    is_done(
        &mut root,
        "ACCESS.SET-QUOTA shop REQUESTS_PER_SECOND 1000000 BYTES_OUT_PER_SECOND 1000000000",
    );
    let mut left = 1_000_001;
    // The thread of HTTP hears of the quota when the loop has told it.
    while left > 1_000_000 {
        let (head, _) = get(&mut http, TOTALS, &key(2));
        let Some(policy) = header(&head, "ratelimit-policy") else {
            continue;
        };
        assert_eq!(
            policy,
            "\"requests\";q=1000000;w=1, \"bytes-out\";q=1000000000;w=1;qu=\"content-bytes\""
        );
        let limit = header(&head, "ratelimit").unwrap();
        let rest = limit.strip_prefix("\"requests\";r=").unwrap();
        left = rest.split_once(';').unwrap().0.parse().unwrap();
    }
    assert!((900_000..1_000_000).contains(&left) || left == 1_000_000);
    let (head, _) = get(&mut http, TOTALS, &key(1));
    assert_eq!(header(&head, "ratelimit"), None, "of another principal");
    server.stop();
}

#[test]
fn streams_and_sockets_count_among_the_connections_of_a_principal() {
    let (server, mut root, shop) = busy_server();
    is_done(&mut root, "ACCESS.SET-QUOTA shop CONNECTIONS 3");
    let [mut one, mut two, mut three] = [(); 3].map(|()| server.client_of("http"));
    let stream = "/v1/rooms/events";
    assert!(head(&mut one, stream, &key(2)).starts_with("HTTP/1.1 200 "));
    two.send(format!(
        "GET /v1/exchange/feed HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\
         Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer {}\r\n\r\n",
        key(2).expose()
    ));
    assert!(two.until("\r\n\r\n").starts_with("HTTP/1.1 101 "));
    let (refused, body) = get(&mut three, stream, &key(2));
    assert!(is_refused(&refused), "{refused}");
    assert!(body.contains("your quota is 3 connections; end one and retry"));
    assert_eq!(
        header(&refused, "ratelimit-policy"),
        Some("\"connections\";q=3")
    );
    // Requests need no place, and other doors count the same connections.
    assert!(
        get(&mut three, TOTALS, &key(2))
            .0
            .starts_with("HTTP/1.1 200 ")
    );
    let login = format!("AUTH {}", key(2).expose());
    let busy = "-BUSY your quota is 3 connections; end one and retry";
    assert_eq!(said(&mut server.client(), &login), busy);
    let xml = server.client_of("xml").rest();
    assert!(xml.contains("your quota is 3 connections"), "{xml}");
    let lines = server.client_of("travel").rest();
    assert!(lines.contains("your quota is 3 connections"), "{lines}");
    // Each end gives its place back.
    drop((one, shop));
    let (mut open, mut room) = (Vec::new(), 0);
    while open.len() < 2 {
        // A stream whose client has gone is noticed when it is told something.
        room += 1;
        is_done(&mut root, &book(&room.to_string()));
        let mut again = server.client_of("http");
        if !is_refused(&head(&mut again, stream, &key(2))) {
            open.push(again);
        }
    }
    drop((two, three, open));
    let mut xml = server.client_of("xml");
    let create = "<create><account id=\"1\" balance=\"10\"/></create>";
    loop {
        xml.send(format!("{}\n{create}", create.len()));
        xml.end_writing();
        if !xml.rest().contains("your quota") {
            break;
        }
        xml = server.client_of("xml");
    }
    server.stop();
}

#[test]
fn answers_over_http_are_paid_for_at_every_door() {
    let (server, mut root, mut shop) = busy_server();
    is_done(&mut root, "ACCESS.SET-QUOTA shop BYTES_OUT_PER_SECOND 100");
    let mut http = server.client_of("http");
    // A long answer is not cut.
    let (document, body) = get(&mut http, "/openapi.json", &key(2));
    assert!(document.starts_with("HTTP/1.1 200 ") && body.ends_with('}'));
    let (refused, body) = get(&mut http, TOTALS, &key(2));
    assert!(is_refused(&refused), "{refused}");
    let wait: u32 = header(&refused, "retry-after").unwrap().parse().unwrap();
    assert!((50..=60).contains(&wait), "{refused}");
    assert!(body.contains("your quota is 100 bytes of answers a second; retry in "));
    let begin = "-BUSY your quota is 100 bytes of answers a second; retry in ";
    let told = said(&mut shop, "ROOMS.GET-TOTALS");
    assert!(told.starts_with(begin), "{told}");
    // Another principal notices nothing.
    assert!(
        get(&mut http, TOTALS, &key(1))
            .0
            .starts_with("HTTP/1.1 200 ")
    );
    server.stop();
}

/// How long a compressed answer is, shows only as it is made.
#[test]
fn an_answer_that_is_compressed_is_paid_for() {
    let (server, mut root, _shop) = busy_server();
    is_done(&mut root, "ACCESS.SET-QUOTA shop BYTES_OUT_PER_SECOND 100");
    let mut http = server.client_of("http");
    http.send(format!(
        "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\
         Authorization: Bearer {}\r\n\r\n",
        key(2).expose()
    ));
    let head = http.until("\r\n\r\n");
    assert_eq!(header(&head, "content-encoding"), Some("gzip"), "{head}");
    let mut body = Vec::new();
    while !body.ends_with(b"\r\n0\r\n\r\n") {
        let mut byte = [0];
        http.socket.read_exact(&mut byte).unwrap();
        body.extend(byte);
    }
    let (refused, _) = get(&mut http, TOTALS, &key(2));
    assert!(is_refused(&refused), "{refused}");
    server.stop();
}

/// What a follower is told waits until it is paid for. It is not lost.
#[test]
fn events_are_held_back_until_they_are_paid_for() {
    let (server, mut root, mut shop) = busy_server();
    let mut free = logged_in(&server, &key(1));
    for client in [&mut shop, &mut free] {
        client.exchange(
            "SUBSCRIBE rooms.events\n",
            "*3|$9|subscribe|$12|rooms.events|:1|",
        );
    }
    let mut stream = server.client_of("http");
    assert!(head(&mut stream, "/v1/rooms/events", &key(2)).starts_with("HTTP/1.1 200 "));
    // The first event takes more than comes back in a minute.
    is_done(&mut root, "ACCESS.SET-QUOTA shop BYTES_OUT_PER_SECOND 1");
    for room in 0..40 {
        is_done(&mut root, &book(&room.to_string()));
        free.until("\"room\":");
    }
    let events = |seen: &[u8]| String::from_utf8_lossy(seen).matches("\"room\":").count();
    let mut seen = [shop.socket, stream.socket].map(|socket| {
        socket.set_nonblocking(true).unwrap();
        (socket, Vec::new())
    });
    let mut read = || {
        seen.each_mut().map(|(socket, seen)| {
            let mut bytes = [0; 4_096];
            match socket.read(&mut bytes) {
                Ok(count) => seen.extend_from_slice(&bytes[..count]),
                Err(failure) => assert_eq!(failure.kind(), ErrorKind::WouldBlock),
            }
            events(seen)
        })
    };
    for _ in 0..10 {
        let each = read();
        assert!(each.iter().all(|count| *count < 10), "{each:?}");
    }
    let told = said(&mut logged_in(&server, &key(2)), "ROOMS.GET-TOTALS");
    assert!(
        told.contains("bytes of answers a second; retry in "),
        "{told}"
    );
    is_done(&mut root, "ACCESS.SET-QUOTA shop");
    while read() != [40; 2] {
        thread::yield_now();
    }
    server.stop();
}

#[test]
fn a_principal_has_no_more_requests_under_way_than_its_quota() {
    let (server, mut root, mut shop) = busy_server();
    is_done(&mut root, "ACCESS.SET-QUOTA shop REQUESTS_UNDER_WAY 1");
    is_done(&mut root, "TRAVEL.START");
    is_done(&mut root, "TRAVEL.ADD-ITEM 1 flight-7 5 100");
    is_done(&mut shop, "TRAVEL.START");
    is_done(&mut shop, "TRAVEL.START");
    // It waits for the lock of the first transaction.
    shop.send("TRAVEL.QUERY-ITEM 2 flight-7\r\n");
    let busy = "your quota is 1 requests under way; retry when one is answered";
    let mut again = logged_in(&server, &key(2));
    let late = &server.running().counters().late_waiters;
    while late.get() == 0 {
        thread::yield_now();
    }
    let told = said(&mut again, "TRAVEL.QUERY-ITEM 3 car-paris");
    assert_eq!(told, format!("-BUSY {busy}"));
    let mut http = server.client_of("http");
    let (refused, body) = get(&mut http, TOTALS, &key(2));
    assert!(
        is_refused(&refused) && body.contains(busy),
        "{refused}{body}"
    );
    assert_eq!(
        header(&refused, "ratelimit-policy"),
        Some("\"requests-under-way\";q=1;qu=\"concurrent-requests\"")
    );
    // What is answered at once needs no room, nor does what ends a transaction.
    is_done(&mut again, "ROOMS.GET-TOTALS");
    is_done(&mut again, "TRAVEL.ABORT 3");
    is_done(&mut root, "TRAVEL.COMMIT 1");
    shop.until("\r\n");
    assert!(!is_refused(&get(&mut http, TOTALS, &key(2)).0));
    // A client that goes while its command waits leaves nothing behind when that is answered.
    shop.send("PING end\r\n");
    shop.until("end\r\n");
    is_done(&mut shop, "TRAVEL.COMMIT 2");
    is_done(&mut root, "TRAVEL.START");
    is_done(&mut shop, "TRAVEL.START");
    is_done(&mut root, "TRAVEL.ADD-ITEM 4 flight-7 1 1");
    shop.send("TRAVEL.QUERY-ITEM 5 flight-7\r\n");
    while late.get() == 0 {
        thread::yield_now();
    }
    assert!(is_refused(&get(&mut http, TOTALS, &key(2)).0));
    drop(shop);
    is_done(&mut root, "TRAVEL.COMMIT 4");
    while is_refused(&get(&mut http, TOTALS, &key(2)).0) {}
    server.stop();
}

/// What a principal at its quota is told, and how often.
#[derive(Debug, Default)]
struct Refusals {
    with_time: AtomicUsize,
    without: AtomicUsize,
}

impl Refusals {
    fn note(&self, told: &str) {
        if told.contains("retry in ") && told.contains(" ms") {
            self.with_time.fetch_add(1, Ordering::Relaxed);
        } else if told.contains("your quota") {
            self.without.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn one_at_its_quota_hammers_at_all_doors_and_another_notices_nothing() {
    let (server, mut root, shop) = busy_server();
    let mut desk = with_role(&server, &mut root, ("desk", "rooms.user *", 3));
    is_done(
        &mut root,
        "ACCESS.SET-QUOTA shop REQUESTS_PER_SECOND 5 BYTES_OUT_PER_SECOND 2000",
    );
    drop(shop);
    let refusals = [(); 4].map(|()| Refusals::default());
    let [by_resp, by_http, by_xml, by_lines] = &refusals;
    let is_over = AtomicBool::new(false);
    let goes_on = || !is_over.load(Ordering::Relaxed);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut client = logged_in(&server, &key(2));
            while goes_on() {
                by_resp.note(&said(&mut client, "ROOMS.ADD-PROPERTY x OPEN"));
                by_resp.note(&said(&mut client, "TRAVEL.ABORT 77"));
            }
        });
        scope.spawn(|| {
            let mut client = server.client_of("http");
            while goes_on() {
                let (head, body) = get(&mut client, TOTALS, &key(2));
                if is_refused(&head) {
                    let wait = header(&head, "retry-after").expect("a time to wait");
                    assert!(wait.parse::<u32>().unwrap() >= 1);
                }
                by_http.note(&body);
            }
        });
        scope.spawn(|| {
            let create = "<create><account id=\"1\" balance=\"10\"/></create>";
            while goes_on() {
                let mut client = server.client_of("xml");
                client.send(format!("{}\n{create}", create.len()));
                client.end_writing();
                by_xml.note(&client.rest());
            }
        });
        scope.spawn(|| {
            while goes_on() {
                let mut client = server.client_of("travel");
                client.send("Start\nStart\nStart\n");
                client.end_writing();
                by_lines.note(&client.rest());
            }
        });
        let mut http = server.client_of("http");
        let mut room = 0;
        // It works until every door has refused the other some times.
        let is_hammered = |one: &Refusals| one.with_time.load(Ordering::Relaxed) >= 5;
        while room < 100 || !refusals.iter().all(is_hammered) {
            room += 1;
            is_done(&mut desk, &book(&format!("{room}")));
            let (head, _) = get(&mut http, TOTALS, &key(3));
            assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    for one in &refusals {
        assert_eq!(one.without.load(Ordering::Relaxed), 0, "{refusals:?}");
    }
    server.stop();
}
