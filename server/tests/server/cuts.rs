//! Connections that are cut at any byte of a request, by clients that send it again under its key: at
//! either door it happens once, and everybody hears of the same booking.

use super::client::Server;

/// A booking at the RESP door. Its length is the same for every number.
fn at_resp(number: usize) -> String {
    let (room, key) = (format!("room-{number:04}"), format!("key-{number:04}"));
    let words = [
        "ROOMS.BOOK",
        "bench",
        &room,
        "2027-01-01",
        "2027-01-02",
        "ada",
        "234123412346",
        "KEY",
        &key,
    ];
    let framed = words.map(|word| format!("${}\r\n{word}\r\n", word.len()));
    format!("*{}\r\n{}", words.len(), framed.concat())
}

/// The same booking at the HTTP door.
fn at_http(number: usize) -> String {
    let body = format!(
        r#"{{"property":"bench","wish":"room-{number:04}","arrival":"2027-01-01","departure":"2027-01-02","guest":"ada","id_number":"234123412346"}}"#
    );
    format!(
        "POST /v1/rooms/bookings HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Type: application/json\r\nIdempotency-Key: key-{number:04}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn request(door: &str, number: usize) -> String {
    match door {
        "resp" => at_resp(number),
        _ => at_http(number),
    }
}

/// Sends a whole request, and says which booking was made.
fn reference(server: &Server, door: &str, number: usize) -> String {
    let mut client = server.client_of(door);
    client.send(request(door, number));
    client.end_writing();
    let answer = client.rest();
    let found = match door {
        "resp" => answer.split('|').nth(3),
        _ => answer
            .split_once("\"reference\":\"")
            .and_then(|(_, rest)| rest.split('"').next()),
    };
    let found = found.filter(|word| word.starts_with('R'));
    found
        .unwrap_or_else(|| panic!("no booking at {door}: {answer}"))
        .to_owned()
}

#[test]
fn a_request_that_is_cut_at_any_byte_and_sent_again_happens_once() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::durable(directory.path());
    server
        .client()
        .exchange("ROOMS.ADD-PROPERTY bench OPEN\n", "*2|:1|:1|");
    let mut number = 0;
    for door in ["resp", "http"] {
        for cut in 0..=request(door, 0).len() {
            let request = request(door, number);
            let mut broken = server.client_of(door);
            broken.send(&request.as_bytes()[..cut]);
            drop(broken);
            let doors = ["resp", "http", "http", "resp", "resp"];
            let mut heard: Vec<String> = doors[..=cut % doors.len()]
                .iter()
                .map(|again| reference(&server, again, number))
                .collect();
            heard.dedup();
            assert_eq!(heard.len(), 1, "{door}, cut at byte {cut}: {heard:?}");
            number += 1;
        }
    }
    let booked = format!(":{number}|");
    server.client().exchange("DBSIZE\n", &booked);
    server.stop();
}
