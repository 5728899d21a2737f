//! Which pages of a browser may change state, over every operation of the document.
//!
//! A page of another site once committed a transaction and released a hold, because requests
//! without a body were not asked where they came from; a page at another port of localhost placed an
//! order through the WebSocket; and reads inside a transaction of travel lock, though they are GETs.

use super::*;

const CONSOLE: &str = "https://console.example";

const HANDSHAKE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\n\
     Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// Every operation of the document that the door serves: method, path with values, and whether a
/// page of another origin must not use it.
fn operations_served(peer: &mut Peer) -> Vec<(String, String, bool)> {
    let document = peer.get("/openapi.json", "").json();
    let paths = document["paths"].as_object().unwrap();
    let mut served = Vec::new();
    for (path, methods) in paths {
        let segments = path.split('/');
        let segments = segments.map(|part| if part.starts_with('{') { "1" } else { part });
        let target = segments.collect::<Vec<_>>().join("/");
        for (method, operation) in methods.as_object().unwrap() {
            let answers = operation["responses"].as_object().unwrap();
            let done = answers.get("200");
            let is_stream = done.is_some_and(|it| it["content"]["text/event-stream"].is_object());
            let is_lasting = is_stream || answers.contains_key("101");
            let locks = target.starts_with("/v1/travel/transactions/1/");
            let is_guarded = method != "get" || is_lasting || locks;
            served.push((method.to_uppercase(), target.clone(), is_guarded));
        }
    }
    served
}

/// Headers of a page that may not: another host, another port, another scheme, none that can be
/// named, two at once, and what the browser says by itself.
fn foreign(port: u16) -> Vec<String> {
    let other = if port == 3_000 { 3_001 } else { 3_000 };
    let origins = [
        "https://evil.example".to_owned(),
        format!("http://localhost:{other}"),
        "http://localhost".to_owned(),
        format!("https://localhost:{port}"),
        format!("http://localhost.evil.example:{port}"),
        "null".to_owned(),
        format!("http://localhost:{port}\r\nOrigin: https://evil.example"),
    ];
    let named = origins.map(|origin| format!("Origin: {origin}\r\n"));
    let own = format!("Origin: http://localhost:{port}\r\n");
    let sites = ["cross-site", "same-site"].map(|site| format!("Sec-Fetch-Site: {site}\r\n"));
    let both = sites.clone().map(|site| format!("{own}{site}"));
    named.into_iter().chain(sites).chain(both).collect()
}

/// Headers of the door's own pages and of programs.
fn own(port: u16) -> Vec<String> {
    let origins = ["localhost", "127.0.0.1", "[::1]"];
    let origins = origins.map(|host| format!("Origin: http://{host}:{port}\r\n"));
    let sites = ["same-origin", "none"].map(|site| format!("Sec-Fetch-Site: {site}\r\n"));
    let others = [String::new(), format!("{}{}", origins[0], sites[0])];
    others.into_iter().chain(origins).chain(sites).collect()
}

/// The code of a problem; nothing for another answer.
fn code(reply: &Reply) -> Option<String> {
    let is_problem = reply.header("content-type")? == "application/problem+json";
    is_problem.then(|| reply.problem().1)
}

#[test]
fn a_page_of_another_origin_changes_nothing_by_any_operation() {
    let site = Site::open();
    let port = site.address.port();
    let operations = operations_served(&mut site.peer());
    let guarded = operations.iter().filter(|(.., guarded)| *guarded).count();
    assert!((50..operations.len()).contains(&guarded), "{guarded}");
    let position = |peer: &mut Peer| {
        peer.get("/v1/travel/totals", "")
            .header("turnstile-position")
    };
    let before = position(&mut site.peer());
    for (method, target, is_guarded) in &operations {
        for headers in foreign(port) {
            // With a body that fits nothing, without one, and as a handshake.
            for (more, body) in [
                ("Content-Type: application/json\r\n", "{}"),
                ("", ""),
                (HANDSHAKE, ""),
            ] {
                let headers = format!("{headers}{more}");
                let mut peer = site.peer();
                let reply = peer.request(method, target, &headers, body);
                let is_refused = code(&reply).as_deref() == Some("foreign_origin");
                assert_eq!(
                    is_refused, *is_guarded,
                    "{method} {target} {headers} {reply:?}"
                );
                assert_eq!(reply.header("access-control-allow-origin"), None);
            }
        }
    }
    let guarded_reads = operations
        .iter()
        .filter(|(method, _, guarded)| *guarded && method == "GET");
    for (_, target, _) in guarded_reads {
        let mut peer = site.peer();
        let head = format!("HEAD {target} HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n");
        peer.send(head.as_bytes());
        let head = peer.read_to("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 403 "), "{target} {head}");
    }
    assert_eq!(position(&mut site.peer()), before, "no record was made");
    site.close();
}

#[test]
fn pages_of_the_door_and_programs_use_every_operation() {
    let site = Site::open();
    let port = site.address.port();
    for (method, target, _) in operations_served(&mut site.peer()) {
        for headers in own(port) {
            let reply = site.peer().request(&method, &target, &headers, "");
            assert_ne!(
                code(&reply).as_deref(),
                Some("foreign_origin"),
                "{target} {headers}"
            );
        }
    }
    site.close();
}

/// A door that lets pages of one origin in, with the open property `bench`.
fn site_for_console() -> Site {
    let running = start(&settings(None)).unwrap();
    let origins = [CONSOLE.parse().unwrap()];
    let mut site = Site::before(running.gate(), HttpLimits::STANDARD, &origins);
    site.running = Some(running);
    let body = r#"{"property":"bench","open":true}"#;
    assert_eq!(
        site.peer().post("/v1/rooms/properties", "", body).status,
        201
    );
    site
}

#[test]
fn a_page_of_a_configured_origin_may_do_everything_and_read_the_answers() {
    let site = site_for_console();
    let console = format!("Origin: {CONSOLE}\r\nSec-Fetch-Site: cross-site\r\n");
    for (method, target, _) in operations_served(&mut site.peer()) {
        let reply = site.peer().request(&method, &target, &console, "");
        assert_ne!(
            code(&reply).as_deref(),
            Some("foreign_origin"),
            "{method} {target}"
        );
        let allowed = reply.header("access-control-allow-origin");
        assert_eq!(
            allowed.as_deref(),
            Some(CONSOLE),
            "{method} {target} {reply:?}"
        );
        assert!(reply.head.contains("\r\nvary: origin\r\n"), "{reply:?}");
    }
    // By the direct way, and as an answer that is a problem.
    let mut peer = site.peer();
    let body = booking("1", "2027-01-01", "2027-01-02");
    for status in [201, 409] {
        let reply = peer.post("/v1/rooms/bookings", &console, &body);
        assert_eq!(reply.status, status);
        assert_eq!(
            reply.header("access-control-allow-origin").as_deref(),
            Some(CONSOLE)
        );
        let exposed = reply.header("access-control-expose-headers").unwrap();
        assert!(exposed.contains("turnstile-position"), "{exposed}");
    }
    let reply = peer.get("/v1/exchange/feed", &format!("{console}{HANDSHAKE}"));
    assert_eq!(reply.status, 101);
    site.close();
}

#[test]
fn a_list_of_origins_lets_no_others_in_and_tells_caches_that_answers_differ() {
    let site = site_for_console();
    let mut peer = site.peer();
    let evil = "Origin: https://evil.example\r\n";
    let body = booking("1", "2027-01-01", "2027-01-02");
    let refused = peer.post("/v1/rooms/bookings", evil, &body);
    assert_eq!(refused.problem(), (403, "foreign_origin".to_owned()));
    for headers in ["", evil] {
        let reply = peer.get("/v1/travel/totals", headers);
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("access-control-allow-origin"), None);
        assert!(reply.head.contains("\r\nvary: origin\r\n"), "{reply:?}");
    }
    site.close();
}

#[test]
fn pages_of_a_configured_origin_use_keys() {
    let site = site_for_console();
    let mut peer = site.peer();
    access::guard(&mut peer);
    let console = format!("Origin: {CONSOLE}\r\nSec-Fetch-Site: cross-site\r\n");
    let asks = "Access-Control-Request-Method: GET\r\n\
                Access-Control-Request-Headers: authorization\r\n";
    let path = "/v1/rooms/totals";
    let preflight = peer.request("OPTIONS", path, &format!("{console}{asks}"), "");
    assert_eq!(preflight.status, 200, "{preflight:?}");
    let headers = preflight.header("access-control-allow-headers").unwrap();
    assert!(headers.contains("authorization"), "{headers}");
    // The page may read why it is refused, too.
    for (headers, status) in [(access::bearer(1), 200), (String::new(), 401)] {
        let reply = peer.get(path, &format!("{console}{headers}"));
        assert_eq!(reply.status, status, "{reply:?}");
        let allowed = reply.header("access-control-allow-origin");
        assert_eq!(allowed.as_deref(), Some(CONSOLE), "{status}");
    }
    site.close();
}

#[test]
fn a_preflight_is_answered_for_configured_origins_alone() {
    let site = site_for_console();
    let asks = "Access-Control-Request-Method: PUT\r\n\
                Access-Control-Request-Headers: content-type, idempotency-key\r\n";
    let mut peer = site.peer();
    let mut preflight = |origin: &str| {
        let headers = format!("Origin: {origin}\r\nSec-Fetch-Site: cross-site\r\n{asks}");
        peer.request("OPTIONS", "/v1/rooms/holds", &headers, "")
    };
    let granted = preflight(CONSOLE);
    assert_eq!(granted.status, 200);
    assert_eq!(
        granted.header("access-control-allow-origin").as_deref(),
        Some(CONSOLE)
    );
    let methods = granted.header("access-control-allow-methods").unwrap();
    assert_eq!(methods, "GET,POST,PUT,DELETE");
    let headers = granted.header("access-control-allow-headers").unwrap();
    for name in ["content-type", "idempotency-key", "if-match"] {
        assert!(headers.contains(name), "{headers}");
    }
    assert_eq!(granted.header("access-control-allow-credentials"), None);
    let other = preflight("https://evil.example");
    assert_eq!(other.header("access-control-allow-origin"), None);
    site.close();
    let closed = Site::open();
    let headers = format!("Origin: {CONSOLE}\r\n{asks}");
    let none = closed
        .peer()
        .request("OPTIONS", "/v1/rooms/holds", &headers, "");
    assert_eq!(none.problem(), (405, "method_not_allowed".to_owned()));
    closed.close();
}
