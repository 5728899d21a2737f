//! Bytes on which two readers could disagree: an error and the end, never two readings.

use super::*;

/// What a smuggler hides in the body of a first request.
const HIDDEN: &str = "POST /v1/rooms/properties HTTP/1.1\r\nHost: localhost\r\n\
     Content-Type: application/json\r\nContent-Length: 16\r\n\r\n{\"property\":\"g\"}";

#[test]
fn ambiguous_requests_are_refused_and_nothing_in_them_is_done() {
    let rows = [
        ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 400),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", 400),
        (
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
            400,
        ),
        ("Transfer-Encoding: xchunked\r\n", 400),
        ("Transfer-Encoding: chunked, identity\r\n", 400),
        ("Transfer-Encoding : chunked\r\n", 400),
        ("Transfer-Encoding:\x0bchunked\r\n", 400),
        (" Transfer-Encoding: chunked\r\n", 400),
        ("X: y\r\n Transfer-Encoding: chunked\r\n", 400),
        ("Content-Length: 0\r\nContent-Length: 5\r\n", 400),
        ("Content-Length: 0\r\nContent-Length: 0\r\n", 400),
        ("Content-Length: 0, 0\r\n", 400),
        ("Content-Length: +0\r\n", 400),
        ("Content-Length : 0\r\n", 400),
        ("Content-Length: 0\n", 400),
        ("X: y\nContent-Length: 0\r\n", 400),
        ("X: a\rContent-Length: 0\r\n", 400),
        ("X: a\0\r\n", 400),
        ("X\r\n", 400),
        ("Content-Length: 65537\r\n", 413),
        ("Content-Length: 18446744073709551615\r\n", 400),
    ];
    let site = Site::open();
    for (fields, status) in rows {
        let mut peer = site.peer();
        let head = format!("POST /livez HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n");
        peer.send(format!("{head}0\r\n\r\n{HIDDEN}").as_bytes());
        let reply = peer.reply();
        assert_eq!(reply.problem().0, status, "{fields:?}");
        assert_eq!(reply.json()["instance"], "/");
        assert_eq!(reply.header("connection").as_deref(), Some("close"));
        peer.expect_end();
    }
    let properties = site.peer().get("/v1/rooms/properties", "").json();
    assert_eq!(
        properties["properties"].as_array().unwrap().len(),
        1,
        "no g: {properties}"
    );
    site.close();
}

#[test]
fn large_heads_are_refused() {
    let site = Site::open();
    let rows = [
        (
            format!(
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
                "y".repeat(17_000)
            ),
            431,
        ),
        (format!("GET /{} HTTP/1.1\r\n", "y".repeat(17_000)), 431),
        (
            format!(
                "GET /livez HTTP/1.1\r\nHost: localhost\r\n{}\r\n",
                "X: y\r\n".repeat(100)
            ),
            431,
        ),
        (
            format!(
                "GET /livez HTTP/1.1\r\nHost: localhost\r\n{}\r\n",
                "X: y\r\n".repeat(99)
            ),
            200,
        ),
        (
            format!(
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
                "y".repeat(16_000)
            ),
            200,
        ),
    ];
    for (request, status) in rows {
        let mut peer = site.peer();
        peer.send(request.as_bytes());
        let reply = peer.reply();
        assert_eq!(reply.status, status, "{request:.60}: {reply:?}");
    }
    site.close();
}

#[test]
fn requests_before_a_violation_are_answered_and_those_after_are_not() {
    let site = Site::open();
    let mut peer = site.peer();
    let sound = "GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let bad = "GET /livez HTTP/1.1\r\nHost : localhost\r\n\r\n";
    peer.send(format!("{sound}{sound}{bad}{sound}").as_bytes());
    assert_eq!(peer.reply().status, 200);
    assert_eq!(peer.reply().status, 200);
    assert_eq!(peer.reply().problem(), (400, "malformed_head".to_owned()));
    peer.expect_end();
    site.close();
}

#[test]
fn a_request_in_single_bytes_and_a_body_that_waits_for_100_are_read() {
    let site = Site::open();
    let mut peer = site.peer();
    for byte in b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" {
        peer.send(&[*byte]);
    }
    assert_eq!(peer.reply().status, 200);
    let body = booking("1", "2027-01-01", "2027-01-02");
    let head = format!(
        "POST /v1/rooms/bookings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Expect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    peer.send(head.as_bytes());
    assert_eq!(peer.reply().status, 100);
    peer.send(body.as_bytes());
    assert_eq!(peer.reply().status, 201);
    site.close();
}

#[test]
fn a_body_in_chunks_is_the_same_body() {
    let site = Site::open();
    let mut peer = site.peer();
    let head = "POST /v1/rooms/bookings HTTP/1.1\r\nHost: localhost\r\n\
                Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    let body = booking("1", "2027-01-01", "2027-01-02");
    let (first, second) = body.split_at(33);
    let chunks = format!(
        "21\r\n{first}\r\n{:X}\r\n{second}\r\n0\r\n\r\n",
        second.len()
    );
    peer.send(format!("{head}{chunks}{head}{chunks}").as_bytes());
    assert_eq!(peer.reply().status, 201);
    assert_eq!(peer.reply().problem(), (409, "sold_out".to_owned()));
    for byte in format!("{head}{chunks}").into_bytes() {
        peer.send(&[byte]);
    }
    assert_eq!(peer.reply().problem(), (409, "sold_out".to_owned()));
    site.close();
}

#[test]
fn a_body_whose_chunks_break_is_one_error_and_the_end() {
    let site = Site::open();
    let head = "POST /v1/rooms/properties HTTP/1.1\r\nHost: localhost\r\n\
                Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\
                Expect: 100-continue\r\n\r\n";
    let large = format!("10001\r\n{}", "x".repeat(65_537));
    for (chunks, expected) in [
        ("x\r\n", (400, "malformed_head".to_owned())),
        (
            "10;a=b\r\n{\"property\":\"g\"}\r\n0\r\n\r\n",
            (400, "malformed_head".to_owned()),
        ),
        (
            "10\r\n{\"property\":\"g\"}\r\n0\r\nA: b\r\n\r\n",
            (400, "malformed_head".to_owned()),
        ),
        (&large, (413, "body_too_large".to_owned())),
    ] {
        // The head was taken before the body breaks, or with it.
        let mut peer = site.peer();
        peer.send(head.as_bytes());
        assert_eq!(peer.reply().status, 100);
        peer.send(format!("{chunks}{HIDDEN}").as_bytes());
        let reply = peer.reply();
        assert_eq!(reply.problem(), expected, "{chunks:.40} {reply:?}");
        assert_eq!(reply.header("connection").as_deref(), Some("close"));
        peer.expect_end();
        let mut peer = site.peer();
        peer.send(format!("{head}{chunks}{HIDDEN}").as_bytes());
        let reply = peer.reply();
        assert_eq!(reply.problem(), expected, "{chunks:.40} {reply:?}");
        peer.expect_end();
    }
    let properties = site.peer().get("/v1/rooms/properties", "").json();
    assert_eq!(
        properties["properties"].as_array().unwrap().len(),
        1,
        "{properties}"
    );
    site.close();
}
