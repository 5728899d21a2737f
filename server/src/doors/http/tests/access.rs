//! Keys, browser sessions and tickets, and what each caller may do.

use std::time::Instant;

use serde_json::json;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client::client};
use turnstile_access::SecretKey;

use super::{
    super::limits::SESSIONS_OF_PRINCIPAL,
    events::{block, event, open_stream},
    *,
};

/// A key that nobody guesses, for tests.
fn key(number: u8) -> SecretKey {
    SecretKey::new("test", [number; 8], [number; 32]).unwrap()
}

/// The header that shows a key.
pub(super) fn bearer(number: u8) -> String {
    format!("Authorization: Bearer {}\r\n", key(number).expose())
}

/// Has one thing done, as whoever has this key.
#[track_caller]
fn done(peer: &mut Peer, number: u8, (method, path): (&str, &str), body: &Value) -> Reply {
    let headers = format!("Content-Type: application/json\r\n{}", bearer(number));
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let reply = peer.request(method, path, &headers, &body);
    assert!(reply.status < 300, "{method} {path}: {reply:?}");
    reply
}

/// Adds a principal with one role and the key of this number, as `chief`.
fn add(peer: &mut Peer, name: &str, (role, only): (&str, &[&str]), number: u8) {
    let principal = format!("/v1/access/principals/{name}");
    let add = json!({"principal": name});
    done(peer, 1, ("POST", "/v1/access/principals"), &add);
    let grant = format!("{principal}/grants/{role}");
    done(peer, 1, ("PUT", &grant), &json!({"only": only}));
    add_key(peer, name, number);
}

fn add_key(peer: &mut Peer, name: &str, number: u8) {
    let keys = format!("/v1/access/principals/{name}/keys");
    let key = json!({"id": key(number).id().as_str(), "digest": key(number).digest().hex()});
    done(peer, 1, ("POST", &keys), &key);
}

fn revoke(peer: &mut Peer, number: u8) {
    let path = format!("/v1/access/keys/{}", key(number).id().as_str());
    done(peer, 1, ("DELETE", &path), &Value::Null);
}

/// A door of a directory with keys: `chief` has key 1 and may do everything. There are the properties
/// `bench` and `other`.
fn guarded() -> Site {
    let site = Site::open();
    let mut peer = site.peer();
    let other = json!({"property": "other", "open": true}).to_string();
    assert_eq!(peer.post("/v1/rooms/properties", "", &other).status, 201);
    guard(&mut peer);
    site
}

/// Gives key 1 to `chief`, who may do everything from now on, and nobody else anything.
pub(super) fn guard(peer: &mut Peer) {
    let chief = json!({"principal": "chief"}).to_string();
    assert_eq!(peer.post("/v1/access/principals", "", &chief).status, 201);
    let headers = "Content-Type: application/json\r\n";
    let grant = "/v1/access/principals/chief/grants/admin";
    let reply = peer.request("PUT", grant, headers, r#"{"only":["*"]}"#);
    assert_eq!(reply.status, 200, "{reply:?}");
    let first = json!({"id": key(1).id().as_str(), "digest": key(1).digest().hex()});
    let keys = "/v1/access/principals/chief/keys";
    assert_eq!(peer.post(keys, "", &first.to_string()).status, 201);
    // The thread of this door hears of it after the answer.
    let hears = |peer: &mut Peer| peer.get("/v1/rooms/totals", "").status == 401;
    assert!((0..10_000).any(|_| hears(peer)));
}

const CHALLENGE: &str = "Bearer realm=\"turnstile\"";
const INVALID: &str = "Bearer realm=\"turnstile\", error=\"invalid_token\"";

#[test]
fn a_directory_with_a_key_asks_for_one_except_for_what_is_public() {
    let site = guarded();
    let mut peer = site.peer();
    for (method, path) in [
        ("GET", "/v1/rooms/totals"),
        ("POST", "/v1/rooms/bookings"),
        ("GET", "/v1/rooms/events"),
        ("GET", "/v1/exchange/feed"),
        ("GET", "/v1/games/play?player=ada"),
        ("POST", "/v1/session"),
        ("GET", "/v1/sessions"),
        ("POST", "/v1/tickets"),
        ("GET", "/metrics"),
        ("GET", "/no/such/path"),
    ] {
        let reply = peer.request(method, path, "", "");
        assert_eq!(reply.problem(), (401, "not_logged_in".to_owned()), "{path}");
        assert_eq!(reply.header("www-authenticate").as_deref(), Some(CHALLENGE));
    }
    for path in [
        "/livez",
        "/readyz",
        "/version",
        "/openapi.json",
        "/docs",
        "/docs/style.css",
    ] {
        assert_eq!(peer.get(path, "").status, 200, "{path}");
        assert_eq!(peer.get(path, &bearer(9)).status, 200, "{path}");
    }
    site.close();
}

#[test]
fn a_key_is_taken_whole_and_once_and_no_other_is() {
    let site = guarded();
    let mut peer = site.peer();
    let text = key(1).expose().to_owned();
    for right in [
        format!("Authorization: Bearer {text}\r\n"),
        format!("authorization: bEaReR   {text}\r\n"),
    ] {
        assert_eq!(peer.get("/v1/rooms/totals", &right).status, 200, "{right}");
    }
    let shorter = &text[..text.len() - 1];
    for (wrong, code, challenge) in [
        (
            format!("Authorization: Bearer {shorter}\r\n"),
            "wrong_key",
            INVALID,
        ),
        (
            format!("Authorization: Bearer {text}a\r\n"),
            "wrong_key",
            INVALID,
        ),
        (bearer(9), "wrong_key", INVALID),
        (
            "Authorization: Bearer \r\n".to_owned(),
            "not_logged_in",
            CHALLENGE,
        ),
        (
            format!("Authorization: Basic {text}\r\n"),
            "not_logged_in",
            CHALLENGE,
        ),
        (
            format!("{}{}", bearer(1), bearer(1)),
            "not_logged_in",
            CHALLENGE,
        ),
    ] {
        let reply = peer.get("/v1/rooms/totals", &wrong);
        assert_eq!(reply.problem(), (401, code.to_owned()), "{wrong}");
        assert_eq!(reply.header("www-authenticate").as_deref(), Some(challenge));
        assert!(!reply.body.contains("ts_"), "{reply:?}");
    }
    site.close();
}

#[test]
fn a_directory_without_keys_asks_for_none_and_knows_none() {
    let site = Site::open();
    let mut peer = site.peer();
    assert_eq!(peer.get("/v1/rooms/totals", "").status, 200);
    assert_eq!(peer.get("/metrics", "").status, 200);
    let basic = "Authorization: Basic abc\r\n";
    assert_eq!(peer.get("/v1/rooms/totals", basic).status, 200);
    let reply = peer.get("/v1/rooms/totals", &bearer(1));
    assert_eq!(reply.problem(), (401, "wrong_key".to_owned()));
    site.close();
}

#[test]
fn a_caller_does_what_its_rights_are_for_and_hears_what_is_missing() {
    let site = guarded();
    let mut peer = site.peer();
    add(&mut peer, "desk", ("rooms.user", &["bench"]), 2);
    add(&mut peer, "watch", ("operator", &["*"]), 3);
    add(&mut peer, "books", ("reader", &["*"]), 4);
    let stay = booking("1", "2027-01-01", "2027-01-02");
    done(
        &mut peer,
        2,
        ("POST", "/v1/rooms/bookings"),
        &serde_json::from_str(&stay).unwrap(),
    );
    let other = stay.replace("bench", "other");
    let json = "Content-Type: application/json\r\n";
    for (number, (method, path), body, missing) in [
        (2, ("POST", "/v1/rooms/bookings"), &*other, "rooms.use"),
        (
            2,
            (
                "GET",
                "/v1/rooms/properties/other/bookings?from=2027-01-01&to=2027-01-02",
            ),
            "",
            "rooms.read",
        ),
        (
            2,
            ("POST", "/v1/rooms/properties"),
            r#"{"property":"third"}"#,
            "rooms.manage",
        ),
        (2, ("GET", "/v1/rooms/events"), "", "rooms.read"),
        (2, ("GET", "/v1/exchange/totals"), "", "exchange.read"),
        (2, ("GET", "/metrics"), "", "operate"),
        (3, ("GET", "/v1/rooms/totals"), "", "rooms.read"),
        (3, ("GET", "/v1/access/principals"), "", "access"),
        (4, ("POST", "/v1/rooms/bookings"), &stay, "rooms.use"),
    ] {
        let headers = format!("{json}{}", bearer(number));
        let reply = peer.request(method, path, &headers, body);
        assert_eq!(reply.problem(), (403, "missing_right".to_owned()), "{path}");
        let detail = reply.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(missing), "{number} {path}: {detail}");
    }
    for (number, path) in [
        (2, "/v1/rooms/totals"),
        (
            2,
            "/v1/rooms/properties/bench/bookings?from=2027-01-01&to=2027-01-02",
        ),
        (3, "/metrics"),
        (4, "/v1/rooms/totals"),
        (4, "/v1/exchange/totals"),
    ] {
        let reply = peer.get(path, &bearer(number));
        assert_eq!(reply.status, 200, "{number} {path}: {reply:?}");
    }
    site.close();
}

/// Opens a session: the header of its cookie, and its token for changes.
fn session(peer: &mut Peer, number: u8) -> (String, String) {
    let reply = peer.request("POST", "/v1/session", &bearer(number), "");
    assert_eq!(reply.status, 200, "{reply:?}");
    let cookie = reply.header("set-cookie").unwrap();
    let (pair, attributes) = cookie.split_once("; ").unwrap();
    assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Strict");
    assert_eq!(reply.header("cache-control").as_deref(), Some("no-store"));
    let token = reply.json()["csrf_token"].as_str().unwrap().to_owned();
    assert!(!pair.contains(&token) && !reply.body.contains(pair));
    (
        format!("Cookie: {pair}\r\n"),
        format!("X-CSRF-Token: {token}\r\n"),
    )
}

#[test]
fn a_session_reads_by_its_cookie_and_changes_with_its_token() {
    let site = guarded();
    let mut peer = site.peer();
    add(&mut peer, "desk", ("rooms.user", &["bench"]), 2);
    let (cookie, token) = session(&mut peer, 2);
    let own = peer.get("/v1/session", &cookie).json();
    assert_eq!(own["principal"], "desk");
    assert_eq!(own["key"], key(2).id().as_str());
    assert_eq!(
        format!("X-CSRF-Token: {}\r\n", own["csrf_token"].as_str().unwrap()),
        token
    );
    assert_eq!(peer.get("/v1/rooms/totals", &cookie).status, 200);

    let (path, body) = (
        "/v1/rooms/bookings",
        booking("1", "2027-01-01", "2027-01-02"),
    );
    let (_, other) = session(&mut peer, 2);
    for wrong in ["", "X-CSRF-Token: \r\n", "X-CSRF-Token: abc\r\n", &other] {
        let reply = peer.post(path, &format!("{cookie}{wrong}"), &body);
        assert_eq!(
            reply.problem(),
            (403, "csrf_token_needed".to_owned()),
            "{wrong}"
        );
    }
    let both = format!("{cookie}{token}");
    assert_eq!(peer.post(path, &both, &body).status, 201);
    let foreign = format!("{both}Origin: https://evil.example\r\n");
    let reply = peer.post(path, &foreign, &body);
    assert_eq!(reply.problem(), (403, "foreign_origin".to_owned()));
    // A key in the header is no session, and no browser sends it by itself.
    let keyed = format!("{cookie}{}", bearer(2));
    assert_ne!(
        peer.post(path, &keyed, &body).problem().1,
        "csrf_token_needed"
    );
    site.close();
}

#[test]
fn a_session_opens_no_other_so_that_a_stolen_cookie_ends() {
    let site = guarded();
    let mut peer = site.peer();
    add(&mut peer, "desk", ("rooms.user", &["bench"]), 2);
    let (cookie, token) = session(&mut peer, 2);
    let both = format!("{cookie}{token}");
    let reply = peer.request("POST", "/v1/session", &both, "");
    assert_eq!(reply.problem(), (403, "key_needed".to_owned()));
    assert_eq!(reply.header("set-cookie"), None);
    let listed = peer.get("/v1/sessions", &cookie).json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    // A login in a browser that has a session shows both.
    let keyed = format!("{both}{}", bearer(2));
    let reply = peer.request("POST", "/v1/session", &keyed, "");
    assert_eq!(reply.status, 200, "{reply:?}");
    site.close();
}

#[test]
fn sessions_are_listed_and_ended_by_those_whose_they_are_and_by_administrators() {
    let site = guarded();
    let mut peer = site.peer();
    add(&mut peer, "desk", ("rooms.user", &["bench"]), 2);
    add(&mut peer, "till", ("rooms.user", &["bench"]), 3);
    let (desk, token) = session(&mut peer, 2);
    let (till, _) = session(&mut peer, 3);
    let listed = |peer: &mut Peer, headers: &str| {
        let listed = peer.get("/v1/sessions", headers).json();
        let sessions = listed["sessions"].as_array().unwrap().clone();
        assert!(!listed.to_string().contains("csrf"), "{listed}");
        sessions
    };
    let of_desk = listed(&mut peer, &desk);
    assert_eq!(of_desk.len(), 1);
    assert_eq!(listed(&mut peer, &bearer(1)).len(), 2);
    let id = of_desk[0]["session"].as_str().unwrap();
    let path = format!("/v1/sessions/{id}");

    let reply = peer.request("DELETE", &path, &bearer(3), "");
    assert_eq!(reply.problem(), (404, "unknown_session".to_owned()));
    assert_eq!(peer.get("/v1/rooms/totals", &desk).status, 200);
    done(&mut peer, 1, ("DELETE", &path), &Value::Null);
    let over = peer.get("/v1/rooms/totals", &desk);
    assert_eq!(over.problem(), (401, "not_logged_in".to_owned()));
    let late = peer.request("DELETE", "/v1/session", &format!("{desk}{token}"), "");
    assert_eq!(late.status, 401);

    let own = peer.get("/v1/session", &till).json();
    let token = own["csrf_token"].as_str().unwrap();
    let both = format!("{till}X-CSRF-Token: {token}\r\n");
    let reply = peer.request("DELETE", "/v1/session", &both, "");
    assert_eq!(reply.status, 200, "{reply:?}");
    let cookie = reply.header("set-cookie").unwrap();
    assert!(cookie.starts_with("turnstile_session=; ") && cookie.ends_with("; Max-Age=0"));
    assert_eq!(peer.get("/v1/rooms/totals", &till).status, 401);
    site.close();
}

fn ticket(peer: &mut Peer, headers: &str) -> String {
    let reply = peer.request("POST", "/v1/tickets", headers, "");
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["ticket"].as_str().unwrap().to_owned()
}

#[test]
fn a_ticket_opens_one_stream_and_nothing_else() {
    let site = guarded();
    let mut peer = site.peer();
    add(&mut peer, "books", ("reader", &["*"]), 2);
    let first = ticket(&mut peer, &bearer(2));
    let elsewhere = format!("/v1/rooms/totals?ticket={first}");
    assert_eq!(peer.get(&elsewhere, "").status, 401);
    let target = format!("/v1/rooms/events?ticket={first}&since=1");
    let _stream = open_stream(site.peer(), &target, "");
    let again = peer.get(&target, "");
    assert_eq!(again.problem(), (401, "wrong_key".to_owned()));
    assert_eq!(again.json()["instance"], "/v1/rooms/events");

    let socket = ticket(&mut peer, &bearer(2));
    let address = format!("ws://localhost/v1/exchange/feed?ticket={socket}");
    let (mut socket, _) = client(address, site.peer().stream).unwrap();
    socket.send(Message::text(r#"{"op":"ping"}"#)).unwrap();
    assert!(socket.read().unwrap().is_text());
    site.close();
}

#[test]
fn a_key_that_is_revoked_ends_its_streams_its_sockets_and_its_sessions() {
    let site = guarded();
    let mut peer = site.peer();
    add(&mut peer, "books", ("reader", &["*"]), 2);
    add_key(&mut peer, "books", 3);
    let (cookie, token) = session(&mut peer, 2);
    let mut by_key = open_stream(site.peer(), "/v1/rooms/events", &bearer(2));
    let mut by_cookie = open_stream(site.peer(), "/v1/travel/events", &cookie);
    let target = format!(
        "/v1/seats/events?ticket={}",
        ticket(&mut peer, &format!("{cookie}{token}"))
    );
    let mut by_ticket = open_stream(site.peer(), &target, "");
    let mut other = open_stream(site.peer(), "/v1/rooms/events", &bearer(3));
    let address = format!(
        "ws://localhost/v1/exchange/feed?ticket={}",
        ticket(&mut peer, &bearer(2))
    );
    let (mut socket, _) = client(address, site.peer().stream).unwrap();
    let unused = ticket(&mut peer, &bearer(2));

    revoke(&mut peer, 2);
    for stream in [&mut by_key, &mut by_cookie, &mut by_ticket] {
        // The last chunk of the body: the stream ends as one that is whole.
        assert!(stream.read_to("0\r\n\r\n").is_some());
    }
    loop {
        match socket.read().unwrap() {
            Message::Close(Some(frame)) => {
                assert_eq!(u16::from(frame.code), 1008, "{frame:?}");
                break;
            }
            Message::Close(None) => panic!("no reason"),
            _ => {}
        }
    }
    for headers in [&*cookie, &bearer(2)] {
        let reply = peer.get("/v1/rooms/totals", headers);
        assert_eq!(reply.problem(), (401, "wrong_key".to_owned()));
    }
    let late = peer.get(&format!("/v1/rooms/events?ticket={unused}"), "");
    assert_eq!(late.problem(), (401, "wrong_key".to_owned()));

    // Whoever has another key goes on.
    site.feed.publish([event(9)]);
    assert!(block(&mut other).starts_with("id: 9.0\nevent: booked\n"));
    site.close();
}

#[test]
fn a_session_that_is_ended_ends_its_streams_and_a_right_that_is_withdrawn_too() {
    let site = guarded();
    let mut peer = site.peer();
    add(&mut peer, "books", ("reader", &["*"]), 2);
    let (cookie, token) = session(&mut peer, 2);
    let mut of_session = open_stream(site.peer(), "/v1/rooms/events", &cookie);
    let mut of_key = open_stream(site.peer(), "/v1/rooms/events", &bearer(2));
    let closed = peer.request("DELETE", "/v1/session", &format!("{cookie}{token}"), "");
    assert_eq!(closed.status, 200);
    assert!(of_session.read_to("0\r\n\r\n").is_some());
    let grant = "/v1/access/principals/books/grants/reader";
    done(&mut peer, 1, ("DELETE", grant), &Value::Null);
    assert!(of_key.read_to("0\r\n\r\n").is_some());
    site.close();
}

#[test]
fn a_cancellation_that_is_sent_again_is_known_to_who_may_use_some_properties() {
    let site = guarded();
    let mut peer = site.peer();
    add(&mut peer, "desk", ("rooms.user", &["bench"]), 2);
    let stay = booking("1", "2027-01-01", "2027-01-02");
    let made = peer.post("/v1/rooms/bookings", &bearer(2), &stay);
    let path = made.header("location").unwrap();
    let etag = peer.get(&path, &bearer(2)).header("etag").unwrap();
    let headers = format!("{}If-Match: {etag}\r\nIdempotency-Key: c\r\n", bearer(2));
    let cancel = format!("{path}/cancel");
    let id = r#"{"id_number":"234123412346"}"#;
    assert_eq!(peer.post(&cancel, &headers, id).status, 200);
    let again = peer.post(&cancel, &headers, id);
    assert_eq!(again.status, 200, "{again:?}");
    assert_eq!(again.json()["replayed"], true);
    site.close();
}

/// A cancellation of one version looks the booking up first, and is one request all the same.
#[test]
fn a_cancellation_of_one_version_counts_as_one_request() {
    let site = guarded();
    let mut peer = site.peer();
    add(&mut peer, "desk", ("rooms.user", &["bench"]), 2);
    let stay = booking("1", "2027-01-01", "2027-01-02");
    let made = peer.post("/v1/rooms/bookings", &bearer(2), &stay);
    let cancel = format!("{}/cancel", made.header("location").unwrap());
    let quota = json!({"requests_per_second": 1});
    let path = "/v1/access/principals/desk/quota";
    done(&mut peer, 1, ("PUT", path), &quota);
    let headers = format!("{}If-Match: *\r\n", bearer(2));
    let id = r#"{"id_number":"234123412346"}"#;
    let end = Instant::now() + PATIENCE;
    let cancelled = loop {
        let reply = peer.post(&cancel, &headers, id);
        if reply.status != 429 {
            break reply;
        }
        assert!(Instant::now() < end, "{reply:?}");
    };
    assert_eq!(cancelled.status, 200, "{cancelled:?}");
    site.close();
}

/// The feed of the exchange, for whoever has this key.
fn feed_of(site: &Site, peer: &mut Peer, number: u8) -> WebSocket<TcpStream> {
    let ticket = ticket(peer, &bearer(number));
    let address = format!("ws://localhost/v1/exchange/feed?ticket={ticket}");
    client(address, site.peer().stream).unwrap().0
}

/// The next message of a feed.
fn hear(socket: &mut WebSocket<TcpStream>) -> Value {
    let end = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < end, "nothing is told");
        if let Message::Text(text) = socket.read().unwrap() {
            return serde_json::from_str(&text).unwrap();
        }
    }
}

#[test]
fn the_orders_of_an_account_are_followed_as_long_as_the_right_for_it() {
    let site = guarded();
    let mut peer = site.peer();
    for account in ["a", "b"] {
        let body = json!({"account": account, "cash": "100"});
        done(&mut peer, 1, ("POST", "/v1/exchange/accounts"), &body);
    }
    add(&mut peer, "desk", ("exchange.user", &["a", "b"]), 2);
    let mut socket = feed_of(&site, &mut peer, 2);
    for account in ["a", "b"] {
        let asked = json!({"op": "subscribe", "channel": "orders", "account": account});
        socket.send(Message::text(asked.to_string())).unwrap();
        assert_eq!(hear(&mut socket)["op"], "snapshot");
    }
    let grant = "/v1/access/principals/desk/grants/exchange.user";
    done(&mut peer, 1, ("PUT", grant), &json!({"only": ["b"]}));
    let told = [hear(&mut socket), hear(&mut socket)];
    assert_eq!(told[0]["code"], "missing_right", "{told:?}");
    let ended = json!({"op": "unsubscribed", "channel": "orders", "account": "a"});
    assert_eq!(told[1], ended);
    // The other goes on.
    let again = json!({"op": "unsubscribe", "channel": "orders", "account": "b"});
    socket.send(Message::text(again.to_string())).unwrap();
    assert_eq!(hear(&mut socket)["account"], "b");
    site.close();
}

#[test]
fn a_session_that_makes_room_for_another_ends_its_streams() {
    let site = guarded();
    let mut peer = site.peer();
    add(&mut peer, "books", ("reader", &["*"]), 2);
    let (cookie, _) = session(&mut peer, 2);
    let mut stream = open_stream(site.peer(), "/v1/rooms/events", &cookie);
    // Of those that were used in the same millisecond, any one makes room.
    for _ in 0..2 * SESSIONS_OF_PRINCIPAL {
        session(&mut peer, 2);
    }
    assert!(stream.read_to("0\r\n\r\n").is_some());
    site.close();
}

/// What the data of an event has, without what differs from run to run.
fn told(block: &str) -> (String, Value) {
    let mut lines = block.lines();
    let id = lines
        .next()
        .unwrap()
        .strip_prefix("id: ")
        .unwrap()
        .to_owned();
    let data = lines.nth(1).unwrap().strip_prefix("data: ").unwrap();
    let mut data: Value = serde_json::from_str(data).unwrap();
    for name in ["run", "at"] {
        assert!(
            data.as_object_mut().unwrap().remove(name).is_some(),
            "{data}"
        );
    }
    (id, data)
}

#[test]
fn failed_logins_are_a_stream_that_resumes_and_never_shows_a_key() {
    let site = guarded();
    let path = "/v1/security/events";
    let mut live = open_stream(site.peer(), path, &bearer(1));
    let mut peer = site.peer();
    for number in 0..10 {
        assert_eq!(
            peer.get("/v1/rooms/totals", &bearer(9)).status,
            401,
            "{number}"
        );
    }
    let blocks = [block(&mut live), block(&mut live)];
    let secret = key(9).expose().rsplit('_').next().unwrap().to_owned();
    assert!(
        blocks.iter().all(|block| !block.contains(&secret)),
        "{blocks:?}"
    );
    let [(first, one), (second, ten)] = blocks.each_ref().map(|block| told(block));
    let failed = |seq: u32, failures: u32| {
        json!({
            "seq": seq, "kind": "login_failed", "door": "http", "address_class": "loopback",
            "reason": "there is no such key", "failures": failures,
        })
    };
    assert_eq!([one, ten], [failed(1, 1), failed(2, 10)]);
    let seen = |id: &str| format!("{}Last-Event-ID: {id}\r\n", bearer(1));
    let mut resumed = open_stream(site.peer(), path, &seen(&first));
    assert_eq!(told(&block(&mut resumed)).0, second);
    // An event of another run is not one of these: the stream begins again.
    let mut other = open_stream(site.peer(), path, &seen("7.1"));
    let reset = format!("event: reset\ndata: {{\"first\":\"{first}\"}}\n\n");
    assert_eq!(block(&mut other), reset);
    assert_eq!(told(&block(&mut other)).0, first);
    // Only those who may see who may do what are told.
    add(&mut peer, "books", ("reader", &["*"]), 4);
    let reply = peer.get(path, &bearer(4));
    assert_eq!(reply.problem(), (403, "missing_right".to_owned()));
    site.close();
}
