//! Every answer that is not a success has one form.

use turnstile_http::operations;

use super::*;

/// A request, `->`, the status, the code, and words that the answer holds. BOOK, ORDERS, TX,
/// WHOLE, UNKNOWN and TWICE stand for what the test puts there.
const WRONG: &str = r#"
GET /nothing -> 404 unknown_path stands at /docs
POST / -> 405 method_not_allowed
GET BOOK/ -> 404 unknown_path
GET BOOK -> 405 method_not_allowed GET
PATCH /livez -> 405 method_not_allowed PATCH
POST BOOK none WHOLE -> 415 unsupported_media_type
POST BOOK text/json WHOLE -> 415 unsupported_media_type
POST BOOK application/json -> 400 malformed_json not a JSON object
POST BOOK application/json { -> 400 malformed_json line 1 column 1
POST BOOK application/json [1] -> 400 malformed_json not a JSON object
POST BOOK application/json UNKNOWN -> 400 invalid_request "field":"gest","message":"unknown; known are: property, wish
POST BOOK application/json TWICE -> 400 invalid_request given twice
POST BOOK application/json {"property":1e999} -> 400 malformed_json out of range
POST BOOK application/json {} -> 400 invalid_request missing: property, wish, arrival, departure, guest, id_number
POST BOOK application/json {"property":"bench","wish":"any","arrival":"2027-01-01","departure":"2027-01-02","guest":"ada"} -> 400 invalid_request "detail":"id_number: missing"
POST BOOK application/json {"id_number":234123412346} -> 400 invalid_request "field":"id_number","message":"expected a text, found a number"
POST TX/9/reservations application/json {} -> 400 invalid_request "field":"items"
POST /v1/exchange/symbols/T/grants application/json {} -> 400 invalid_request missing: account, quantity
POST BOOK?x=1 application/json WHOLE -> 400 invalid_request "x"
POST BOOK/R00/cancel application/json {"id_number":"1"} -> 400 invalid_request 12 digits
POST BOOK/R00/cancel application/json;charset=utf-8 {"id_number":"234123412346"} -> 404 not_found
GET BOOK/R00 -> 404 not_found
GET BOOK/R01 -> 400 invalid_request check character
GET BOOK/%FF -> 400 invalid_request percent-encoded
GET /v1/rooms/holds?limit=0 -> 400 invalid_request from 1 to 1000
GET /v1/rooms/holds?cursor=x -> 400 invalid_request "cursor"
GET /v1/rooms/properties/b%20d/bookings -> 400 invalid_request "in":"path"
GET /v1/rooms/properties/bench/bookings?from=2027-01-01 -> 400 invalid_request "to"
GET /v1/rooms/properties/x/availability?arrival=2027-01-01&departure=2027-01-02 -> 404 unknown_property
DELETE /v1/rooms/properties/bench/rooms/1 none x -> 400 invalid_request takes no body
PUT /v1/rooms/properties/bench/rooms/1/stop-sell application/json {"arrival":"2027-01-02"} -> 400 invalid_request "departure"
DELETE /v1/rooms/properties/bench/rooms/1/stop-sell?arrival=2027-01-02 -> 400 invalid_request "departure"
GET /v1/rooms/events?since=x -> 400 invalid_request "since"
POST ORDERS application/json {"account":"a","symbol":"S","side":"up","quantity":"1e3"} -> 400 invalid_request "field":"side","message":"one of buy, sell"},{"in":"body","field":"quantity"
POST ORDERS application/json {"account":"a","symbol":"S","side":"buy","quantity":5} -> 400 invalid_request expected a text, found a number
POST ORDERS application/json {"account":"a","symbol":"S","side":"buy","quantity":"5"} -> 404 unknown_account
POST ORDERS application/json {"account":"a","symbol":"S","side":"buy","quantity":"5","until":"x"} -> 400 invalid_request YYYY-MM-DDThh:mm:ssZ
POST ORDERS/x/cancel application/json {"account":"a"} -> 400 invalid_request "in":"path","field":"order"
POST ORDERS/9/cancel application/json {"account":"a"} -> 404 unknown_account
POST ORDERS/9/replace application/json {"account":"a"} -> 400 invalid_request quantity: missing
POST ORDERS/cancel application/json {"account":"a","symbol":""} -> 400 invalid_request "symbol"
GET ORDERS/9 -> 404 not_found
GET ORDERS/id:x -> 400 invalid_request "account"
GET ORDERS/cancel -> 405 method_not_allowed GET
DELETE ORDERS/9 -> 405 method_not_allowed DELETE
GET /v1/exchange/books/S -> 404 unknown_symbol
GET /v1/exchange/books/S?levels=0 -> 400 invalid_request from 1 to 1000
GET /v1/exchange/books/a%20b -> 400 invalid_request "in":"path","field":"symbol"
GET /v1/exchange/books/S/queue?levels=1 -> 400 invalid_request known are: limit
GET /v1/exchange/accounts/a -> 404 unknown_account
GET /v1/exchange/accounts?cursor=5 -> 400 invalid_request next
POST /v1/exchange/accounts application/json {"account":"a"} -> 400 invalid_request cash: missing
POST /v1/exchange/symbols application/json {"symbol":"T","price_scale":9} -> 400 invalid_request from 0 to 8
POST /v1/exchange/symbols application/json {"symbol":"T","price_scale":8,"quantity_scale":1} -> 400 scale_too_large
PUT /v1/exchange/symbols/T/halt none x -> 400 invalid_request takes no body
PUT /v1/exchange/symbols/T/halt -> 404 unknown_symbol
PUT /v1/exchange/symbols/T/band application/json {"low":"3","high":"2"} -> 404 unknown_symbol
POST TX none x -> 400 invalid_request takes no body
POST TX?x=1 -> 400 invalid_request "x"
POST TX/0x1/commit -> 400 invalid_request "in":"path","field":"xid"
POST TX/9/commit -> 404 unknown_transaction
POST TX/9/abort -> 404 unknown_transaction
POST TX/9/items application/json {"item":"flight-1","count":1,"price":0} -> 404 unknown_transaction
POST TX/9/items application/json {"item":"flight-1","price":0} -> 400 invalid_request count: missing
POST TX/9/items application/json {"item":"flight-1","count":-1,"price":0} -> 400 invalid_request from 0 to 4294967295
POST TX/9/items application/json {"item":"boat-1","count":1,"price":0} -> 400 invalid_request car-LOCATION
POST TX/9/customers application/json {"customer":"x"} -> 400 invalid_request expected a number
POST TX/9/customers -> 404 unknown_transaction
POST TX/9/customers text/plain {} -> 415 unsupported_media_type
POST TX/9/reservations application/json {"customer":1,"items":[]} -> 400 invalid_request from 1 to 64 items
POST TX/9/reservations application/json {"customer":1,"items":["room-"]} -> 400 invalid_request "field":"items[0]"
GET TX/9 -> 404 unknown_transaction
GET TX/x -> 400 invalid_request "in":"path","field":"xid"
GET TX?state=over -> 400 invalid_request one of active, waiting, prepared, in-doubt
GET TX?cursor=5 -> 400 invalid_request next
DELETE TX/9 -> 405 method_not_allowed DELETE
POST TX/9/resolve application/json {"desk":"x","decision":"abort"} -> 400 invalid_request one of flights, cars
POST TX/9/resolve application/json {"desk":"cars","decision":"x"} -> 400 invalid_request one of commit, abort
POST TX/9/resolve application/json {"desk":"cars","decision":"commit"} -> 409 not_in_doubt
GET TX/9/items/flight-x -> 400 invalid_request "in":"path","field":"item"
GET TX/9/items/flight-1?x=1 -> 400 invalid_request "x"
GET TX/9/customers/x -> 400 invalid_request "in":"path","field":"customer"
GET TX/9/customers -> 404 unknown_transaction
DELETE TX/9/items/car-a -> 404 unknown_transaction
DELETE TX/9/customers/1 -> 404 unknown_transaction
POST /v1/travel/itineraries application/json {"customer":1,"items":["flight-1"]} -> 404 no_such_item "item":"flight-1"
POST /v1/travel/itineraries application/json {"customer":1,"items":["flight-1"],"hold_ms":-1} -> 400 invalid_request "hold_ms"
POST /v1/travel/itineraries application/json {"customer":1,"items":["flight-1"],"hold_ms":4000000000} -> 400 hold_too_long "ttl_seconds_max":2592000
POST /v1/travel/itineraries/0000/confirm -> 400 invalid_request six characters
POST /v1/travel/itineraries/7K2M9Q/confirm -> 404 no_such_itinerary
POST /v1/travel/itineraries/7K2M9Q/cancel -> 404 no_such_itinerary
GET /v1/travel/itineraries/7K2M9Q -> 404 no_such_itinerary
GET /v1/travel/items -> 400 invalid_request "desk"
GET /v1/travel/items?desk=trains -> 400 invalid_request one of flights, cars, rooms
GET /v1/travel/items?desk=cars&cursor=bus-1 -> 400 invalid_request car-LOCATION
GET /v1/travel/customers/1 -> 404 no_such_customer "customer":1
GET /v1/travel/totals?x=1 -> 400 invalid_request "x"
GET /v1/travel/events?since=x -> 400 invalid_request "since"
"#;

#[test]
fn every_wrong_request_is_answered_with_its_problem() {
    let site = Site::open();
    let whole = booking("1", "2027-01-01", "2027-01-02");
    let rows = WRONG
        .replace("BOOK", "/v1/rooms/bookings")
        .replace("ORDERS", "/v1/exchange/orders")
        .replace("TX", "/v1/travel/transactions")
        .replace("UNKNOWN", &whole.replace("\"guest\"", "\"gest\""))
        .replace(
            "TWICE",
            &whole.replace("\"wish\":\"1\"", "\"property\":\"x\""),
        )
        .replace("WHOLE", &whole);
    let mut peer = site.peer();
    for row in rows.lines().skip(1) {
        let (request, expected) = row.split_once(" -> ").unwrap();
        let request: Vec<&str> = request.split(' ').collect();
        let part = |at: usize| request.get(at).copied().unwrap_or_default();
        let headers = match part(2) {
            "" | "none" => String::new(),
            media => format!("Content-Type: {media}\r\n"),
        };
        let expected: Vec<&str> = expected.splitn(3, ' ').collect();
        let reply = peer.request(part(0), part(1), &headers, part(3));
        let (status, code) = reply.problem();
        assert_eq!(
            [status.to_string(), code],
            expected[..2],
            "{row}: {reply:?}"
        );
        let words = expected.get(2).copied().unwrap_or_default();
        assert!(reply.body.contains(words), "{row}: {reply:?}");
        assert_eq!(reply.json()["instance"], part(1).split('?').next().unwrap());
    }
    let mut book = |coding: &str| {
        let headers = format!("Content-Type: application/json\r\nContent-Encoding: {coding}\r\n");
        peer.request("POST", "/v1/rooms/bookings", &headers, &whole)
    };
    let encoded = book("gzip");
    let unsupported = (415, "unsupported_media_type".to_owned());
    assert_eq!(encoded.problem(), unsupported);
    assert!(encoded.body.contains("gzip"), "{encoded:?}");
    assert_eq!(book("Identity").status, 201);
    let last_event = peer.get("/v1/rooms/events", "Last-Event-ID: 1.x\r\n");
    assert_eq!(last_event.problem(), (400, "invalid_request".to_owned()));
    assert_eq!(last_event.json()["errors"][0]["field"], "Last-Event-ID");
    let reply = peer.request("DELETE", "/v1/rooms/holds", "", "");
    let allow = reply.header("allow").unwrap();
    let mut allow: Vec<&str> = allow.split(',').map(str::trim).collect();
    allow.sort_unstable();
    assert_eq!(allow, ["GET", "HEAD", "POST"]);
    site.close();
}

#[test]
fn only_names_of_loopback_are_served() {
    let site = Site::open();
    let port = site.address.port();
    let rows = [
        ("GET /nothing HTTP/1.1\r\n", "Host: evil.example\r\n", false),
        ("GET /nothing HTTP/1.1\r\n", "", false),
        (
            "GET /nothing HTTP/1.1\r\n",
            "Host: localhost\r\nHost: localhost\r\n",
            false,
        ),
        (
            "GET /nothing HTTP/1.1\r\n",
            "Host: localhost.evil.example\r\n",
            false,
        ),
        (
            "GET /nothing HTTP/1.1\r\n",
            "Host: localhost:80@evil.example\r\n",
            false,
        ),
        (
            "GET http://evil.example/nothing HTTP/1.1\r\n",
            "Host: localhost\r\n",
            false,
        ),
        ("GET /nothing HTTP/1.1\r\n", "Host: LOCALHOST\r\n", true),
        (
            "GET /nothing HTTP/1.1\r\n",
            &format!("Host: 127.0.0.1:{port}\r\n"),
            true,
        ),
        ("GET /nothing HTTP/1.1\r\n", "Host: [::1]:8470\r\n", true),
        (
            "GET http://localhost/nothing HTTP/1.1\r\n",
            "Host: localhost\r\n",
            true,
        ),
    ];
    for (line, host, served) in rows {
        let mut peer = site.peer();
        peer.send(format!("{line}{host}\r\n").as_bytes());
        let expected = if served {
            (404, "unknown_path".to_owned())
        } else {
            (421, "misdirected_request".to_owned())
        };
        assert_eq!(peer.reply().problem(), expected, "{line}{host}");
    }
    site.close();
}

#[test]
fn every_operation_of_the_document_is_served() {
    let site = Site::open();
    for operation in operations().iter().filter(|one| one.id != "roomsEvents") {
        let reply = site
            .peer()
            .request(operation.method.as_str(), &operation.path, "", "");
        let routed = !reply.body.contains(r#""code":"unknown_path""#) && reply.status != 405;
        assert!(
            routed,
            "{} {}: {reply:?}",
            operation.method.as_str(),
            operation.path
        );
    }
    site.close();
}

#[test]
fn the_doors_own_pages_are_whole_and_load_nothing() {
    let site = Site::open();
    let mut peer = site.peer();
    let root = peer.get("/", "");
    assert_eq!(
        (root.status, root.header("location").as_deref()),
        (307, Some("/docs"))
    );
    let docs = peer.get("/docs", "");
    assert_eq!(
        docs.header("content-type").as_deref(),
        Some("text/html; charset=utf-8")
    );
    let policy = docs.header("content-security-policy").unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"),
        "{policy}"
    );
    assert!(docs.body.ends_with("</html>\n"));
    assert_eq!(peer.get("/openapi.json", "").json()["openapi"], "3.1.0");
    assert_eq!(peer.get("/version", "").json()["name"], "turnstile");
    assert_eq!(peer.get("/readyz", "").json()["status"], "ready");
    assert_eq!(peer.get("/livez", "").json()["status"], "live");
    let metrics = peer.get("/metrics", "").body;
    for sample in [
        "rooms_properties 1",
        "exchange_open_orders 0",
        "travel_customers 0",
    ] {
        let line = format!("\nturnstile_{sample}\n");
        assert!(metrics.contains(&line), "{sample}: {metrics}");
    }
    let lines = metrics.lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let (name, value) = line.rsplit_once(' ').unwrap();
        let bare = name.split('{').next().unwrap();
        let base = bare.trim_end_matches("_bucket").trim_end_matches("_sum");
        let base = base.trim_end_matches("_count");
        assert!(value.parse::<f64>().is_ok(), "{line}");
        assert!(metrics.contains(&format!("# TYPE {base} ")), "{line}");
    }
    let answered = peer.get("/livez", "X-Request-Id: mine-1\r\n");
    assert_eq!(answered.header("x-request-id").as_deref(), Some("mine-1"));
    site.close();
}

#[test]
fn requests_without_an_id_get_one_each_in_hexadecimal_digits() {
    let site = Site::open();
    let mut peer = site.peer();
    let id = |peer: &mut Peer| peer.get("/livez", "").header("x-request-id").unwrap();
    let first = id(&mut peer);
    let (run, number) = first.split_once('-').unwrap();
    let number = u64::from_str_radix(number, 16).unwrap();
    for next in number + 1..number + 40 {
        assert_eq!(id(&mut peer), format!("{run}-{next:x}"));
    }
    site.close();
}

#[test]
fn what_a_client_does_not_accept_is_not_done() {
    let site = Site::open();
    let mut peer = site.peer();
    let body = booking("1", "2027-01-01", "2027-01-02");
    for (accept, status) in [
        ("text/html", 406),
        ("application/json;q=0, */*", 406),
        ("application/*", 201),
        ("text/html, application/json;q=0.1", 409),
        ("", 409),
    ] {
        let reply = peer.post(
            "/v1/rooms/bookings",
            &format!("Accept: {accept}\r\n"),
            &body,
        );
        assert_eq!(reply.status, status, "{accept}: {reply:?}");
    }
    for (target, accept, status) in [
        ("/docs", "text/html,application/xhtml+xml,*/*;q=0.8", 200),
        ("/docs", "application/json", 406),
        ("/openapi.json", "text/html", 406),
        ("/v1/rooms/events", "application/json", 406),
        ("/v1/rooms/bookings/R01", "text/html", 406),
        ("/nothing", "text/html", 404),
    ] {
        let reply = peer.get(target, &format!("Accept: {accept}\r\n"));
        assert_eq!(reply.status, status, "{target} {accept}: {reply:?}");
    }
    let refused = peer.get("/docs", "Accept: application/json\r\n");
    assert_eq!(refused.problem(), (406, "not_acceptable".to_owned()));
    assert_eq!(refused.json()["detail"], "this path answers text/html");
    site.close();
}

#[test]
fn long_answers_are_compressed_for_those_who_ask() {
    let site = Site::open();
    let head = |target: &str, coding: &str| {
        let mut peer = site.peer();
        let headers = format!("Host: localhost\r\nAccept-Encoding: {coding}\r\n");
        peer.send(format!("GET {target} HTTP/1.1\r\n{headers}\r\n").as_bytes());
        let head = peer.read_to("\r\n\r\n").unwrap();
        let reply = Reply {
            status: 200,
            head,
            body: String::new(),
        };
        reply.header("content-encoding")
    };
    for (target, coding, expected) in [
        ("/openapi.json", "gzip", Some("gzip")),
        ("/docs", "gzip, br", Some("gzip")),
        ("/metrics", "gzip", Some("gzip")),
        ("/docs", "br;q=0, gzip;q=0", None),
        ("/docs", "identity", None),
        ("/livez", "gzip, br", None),
        ("/v1/rooms/events", "gzip, br", None),
    ] {
        assert_eq!(
            head(target, coding).as_deref(),
            expected,
            "{target} {coding}"
        );
    }
    site.close();
}
