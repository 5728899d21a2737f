//! Seats at the doors: RESP and HTTP answer the same, events are told, and nothing is lost by a restart.

use super::client::{Client, Server};

/// One request over HTTP: the status line, a blank line and the body of the answer.
fn http(server: &Server, method: &str, path: &str, body: &str) -> String {
    let mut client = server.client_of("http");
    let length = body.len();
    client.send(format!(
        "{method} /v1/seats{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    ));
    let answer = client.rest();
    let (head, body) = answer.split_once("||").unwrap();
    let status = head.split('|').next().unwrap();
    format!("{status}|{body}")
}

fn add_show(client: &mut Client) {
    client.exchange("SEATS.ADD-SHOW gala 2090-01-01T00:00:00Z\n", "*2|:1|:1|");
    client.exchange("SEATS.ADD-SECTION gala stalls 2 4\n", "*2|:1|:2|");
}

#[test]
fn seats_are_booked_over_resp_and_stay_sold_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::durable(directory.path());
    let mut client = server.client();
    add_show(&mut client);
    client.exchange(
        "SEATS.BOOK gala stalls best:2 ann KEY k\n",
        "*4|:1|$2|S1|*2|$3|1-2|$3|1-3|:3|",
    );
    client.exchange(
        "SEATS.BOOK gala stalls 1-1,1-2 bob\n",
        "*3|:0|$5|taken|*1|$3|1-2|",
    );
    server.stop();
    let server = Server::durable(directory.path());
    let mut client = server.client();
    client.exchange(
        "SEATS.BOOK gala stalls best:2 ann KEY k\n",
        "*5|:1|$2|S1|*2|$3|1-2|$3|1-3|:3|$8|replayed|",
    );
    client.exchange("SEATS.CANCEL S1 bob\n", "*2|:0|$11|wrong_buyer|");
    client.exchange("SEATS.CANCEL S1 ann\n", "*3|:1|*2|$3|1-2|$3|1-3|:6|");
    client.send("INFO seats\nQUIT\n");
    let info = client.rest();
    assert!(
        info.contains("# Seats|seats_shows:1|seats_seats:8|"),
        "{info}"
    );
    assert!(info.contains("|seats_booked_total:1|"), "{info}");
    server.stop();
}

#[test]
fn http_says_the_same_of_seats() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::durable(directory.path());
    add_show(&mut server.client());
    let booked = http(
        &server,
        "POST",
        "/bookings",
        r#"{"show":"gala","section":"stalls","seats":"1-1,1-2","buyer":"ann"}"#,
    );
    let expected = r#"{"reference":"S1","seats":["1-1","1-2"],"position":3}"#;
    assert_eq!(booked, format!("HTTP/1.1 201 Created|{expected}"));
    let map = http(&server, "GET", "/shows/gala/sections/stalls/map", "");
    let expected =
        r#"{"rows":[{"row":1,"free":2,"seats":"xx.."},{"row":2,"free":4,"seats":"...."}]}"#;
    assert_eq!(map, format!("HTTP/1.1 200 OK|{expected}"));
    let taken = http(
        &server,
        "POST",
        "/holds",
        r#"{"show":"gala","section":"stalls","seats":"1-2"}"#,
    );
    assert!(taken.starts_with("HTTP/1.1 409 Conflict|"), "{taken}");
    assert!(taken.contains(r#""code":"taken""#), "{taken}");
    assert!(taken.contains(r#""seats":["1-2"]"#), "{taken}");
    server.stop();
}

#[test]
fn followers_are_told_what_happens_to_seats() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::durable(directory.path());
    let mut follower = server.client();
    follower.exchange(
        "SUBSCRIBE seats.events\n",
        "*3|$9|subscribe|$12|seats.events|:1|",
    );
    add_show(&mut server.client());
    let told = follower.until(r#""section":"stalls"}"#);
    assert!(
        told.contains(r#""kind":"show_added","show":"gala"}"#),
        "{told}"
    );
    assert!(told.contains(r#""kind":"section_added""#), "{told}");
    server.stop();
}
