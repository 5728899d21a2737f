//! Clients of the XML door that are slow, deaf, cut off or malicious: they are answered or closed,
//! and the others are served.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use turnstile_server::{Counters, DoorName, Limits};

use super::client::{Client, Server};

const EMPTY: &str = "<results></results>";

fn framed(xml: &str) -> String {
    format!("{}\n{xml}", xml.len())
}

/// A server whose account 1 has cash, and a client of its XML door.
fn opened(limits: &Limits) -> (Server, Client) {
    let server = Server::with(limits);
    let mut client = server.client_of("xml");
    client.exchange(
        &framed("<create><account id=\"1\" balance=\"1000\"/></create>"),
        "<results><created id=\"1\"/></results>",
    );
    (server, client)
}

/// Another client is served as if nobody else were there.
fn serves(other: &mut Client) {
    other.exchange(&framed("<create></create>"), EMPTY);
}

/// Waits until only so many connections to the XML door are open.
fn closed_but(counters: &Counters, open: u64, other: &mut Client) {
    while counters.of(DoorName::Xml).open.get() > open {
        serves(other);
    }
}

#[test]
fn an_xml_request_may_come_byte_by_byte() {
    let (server, mut other) = opened(&Limits::STANDARD);
    let mut slow = server.client_of("xml");
    slow.socket.set_nodelay(true).unwrap();
    let order = "<transactions id=\"1\"><order sym=\"X\" amount=\"1\" limit=\"2\"/></transactions>";
    let stream = format!("\r\n{}\n {}", framed(order), framed("<create/>"));
    for (at, byte) in stream.bytes().enumerate() {
        slow.send([byte]);
        if at % 16 == 0 {
            serves(&mut other);
        }
    }
    let opened = "<results><opened sym=\"X\" amount=\"1\" limit=\"2\" id=\"1\"/></results>";
    slow.expect(&format!("{opened}{EMPTY}"));
    server.stop();
}

/// A length that cannot be believed is told, and ends its connection only: nobody knows where the
/// next request begins.
#[test]
fn a_broken_length_line_gets_one_error_and_the_end() {
    let (server, mut other) = opened(&Limits::STANDARD);
    let line = "a request begins with a line that holds the number of bytes that follow";
    let digits = "the length line has more than 10 digits";
    let most = "a request has at most 16777216 bytes";
    let rows = [
        ("<create/>", line),
        ("-9\n<create/>", line),
        ("+9\n<create/>", line),
        ("0x9\n<create/>", line),
        ("9 \n<create/>", line),
        ("9\r<create/>", line),
        ("GET / HTTP/1.1\r\n\r\n", line),
        ("*1\r\n$4\r\nPING\r\n", line),
        ("\u{0}\u{0}x", line),
        ("99999999999", digits),
        ("00000000009\n<create/>", digits),
        ("16777217", most),
        ("4294967296\n<create/>", most),
        ("9999999999\n<create/>", most),
    ];
    for (stream, sentence) in rows {
        let mut client = server.client_of("xml");
        client.send(stream);
        let told = format!("<results><error>{sentence}</error></results>");
        assert_eq!(client.rest(), told, "{stream:?}");
        serves(&mut other);
    }
    let counters = server.running().counters().clone();
    closed_but(&counters, 1, &mut other);
    server.stop();
}

/// A length that is too short splits a request in two: the first part is no XML, and what follows
/// is no length. Nothing of it is done.
#[test]
fn a_length_that_is_too_short_does_nothing() {
    let (server, mut other) = opened(&Limits::STANDARD);
    let xml = "<create><account id=\"2\" balance=\"1\"/></create>";
    let mut client = server.client_of("xml");
    client.send(format!("{}\n{xml}", xml.len() - 3));
    let answer = client.rest();
    assert_eq!(answer.matches("<results><error>").count(), 2, "{answer}");
    assert_eq!(answer.matches("<created").count(), 0, "{answer}");
    let query = "<transactions id=\"2\"><query id=\"1\"/></transactions>";
    let unknown = "<error id=\"1\">there is no such account</error>";
    other.exchange(&framed(query), &format!("<results>{unknown}</results>"));
    server.stop();
}

#[test]
fn half_an_xml_connection_is_answered_to_its_end() {
    let (server, mut other) = opened(&Limits::STANDARD);
    let create = framed("<create><account id=\"2\" balance=\"1\"/></create>");
    let mut client = server.client_of("xml");
    // The second request never comes whole.
    client.send(format!("{create}{}", &create[..create.len() - 1]));
    client.end_writing();
    assert_eq!(client.rest(), "<results><created id=\"2\"/></results>");
    serves(&mut other);
    server.stop();
}

#[test]
fn a_request_that_is_cut_off_is_not_begun() {
    let (server, mut other) = opened(&Limits::STANDARD);
    let counters = server.running().counters().clone();
    let request = framed(
        "<transactions id=\"1\"><order sym=\"X\" amount=\"1\" limit=\"1\"/><cancel id=\"1\"/>\
         </transactions>",
    );
    for cut in 1..request.len() {
        let mut client = server.client_of("xml");
        client.send(&request[..cut]);
    }
    closed_but(&counters, 1, &mut other);
    let query = "<transactions id=\"1\"><query id=\"1\"/></transactions>";
    let unknown = "<error id=\"1\">there never was such an order, or it is forgotten</error>";
    other.exchange(&framed(query), &format!("<results>{unknown}</results>"));
    server.stop();
}

/// What XML can be abused for is refused while it is read, and the connection goes on.
#[test]
fn abuse_of_xml_is_refused_and_the_connection_goes_on() {
    let (server, mut other) = opened(&Limits::STANDARD);
    let deep = "<a>".repeat(200_000);
    let attributes: String = (0..100_000).map(|n| format!(" a{n}=\"\"")).collect();
    let long = "9".repeat(1_000_000);
    let items = "<query id=\"1\"/>".repeat(100_001);
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;\">]>";
    let outside = "<!DOCTYPE x SYSTEM \"file:///etc/passwd\">";
    let rows = [
        (format!("<create>{deep}"), "elements nest more than 8 deep"),
        (
            format!("<create><account{attributes}/></create>"),
            "an element has more than 16 attributes",
        ),
        (
            format!("<create><account id=\"{long}\"/></create>"),
            "an attribute has more than 1024 bytes",
        ),
        (
            format!("<transactions id=\"1\">{items}</transactions>"),
            "the request holds more than 100000 items",
        ),
        (
            format!("{bomb}<create>&b;</create>"),
            "a document type is not allowed",
        ),
        (
            format!("{outside}<create/>"),
            "a document type is not allowed",
        ),
        (
            "<create>&bomb;</create>".to_owned(),
            "only the five predefined entities and character references are known",
        ),
        (
            "<?php echo 1 ?><create/>".to_owned(),
            "a processing instruction is not allowed",
        ),
    ];
    let mut client = server.client_of("xml");
    for (xml, sentence) in rows {
        client.send(framed(&xml));
        let answer = client.until("</results>");
        let told = format!("<results><error>{sentence} (near byte ");
        assert!(answer.starts_with(&told), "{answer} is not {told}");
        serves(&mut client);
        serves(&mut other);
    }
    server.stop();
}

/// A client that asks and never reads is not read from any more; what it asked for waits.
#[test]
fn a_deaf_client_of_the_xml_door_is_owed_a_bounded_amount() {
    let (server, mut other) = opened(&Limits {
        connection_output_bytes: 64 * 1_024,
        ..Limits::STANDARD
    });
    let mut deaf = server.client_of("xml");
    deaf.socket.set_nonblocking(true).unwrap();
    let queries = "<query id=\"1\"/>".repeat(1_000);
    let request = framed(&format!("<transactions id=\"1\">{queries}</transactions>"));
    let request = request.as_bytes();
    // It writes until the server has stopped reading and the system takes no more: that this comes
    // to an end is the rule.
    let (mut written, mut refusals) = (0, 0);
    while refusals < 100 {
        match deaf.socket.write(&request[written % request.len()..]) {
            Ok(count) => (written, refusals) = (written + count, 0),
            Err(failure) => {
                assert_eq!(failure.kind(), ErrorKind::WouldBlock);
                refusals += 1;
                serves(&mut other);
            }
        }
    }
    deaf.socket.set_nonblocking(false).unwrap();
    let error = "<error id=\"1\">there never was such an order, or it is forgotten</error>";
    let expected = format!("<results>{}</results>", error.repeat(1_000));
    let mut answer = vec![0; expected.len()];
    for _ in 0..written / request.len() {
        deaf.socket.read_exact(&mut answer).unwrap();
        assert!(answer == expected.as_bytes());
    }
    server.stop();
}

#[test]
fn a_client_of_the_xml_door_that_takes_nothing_for_too_long_is_closed() {
    let (server, mut other) = opened(&Limits {
        connection_output_bytes: 1,
        stall: Duration::ZERO,
        ..Limits::STANDARD
    });
    let counters = server.running().counters().clone();
    let mut deaf = server.client_of("xml");
    let orders = "<order sym=\"X\" amount=\"0\" limit=\"1\"/>".repeat(10_000);
    let request = framed(&format!("<transactions id=\"1\">{orders}</transactions>"));
    // The server closes while the client still writes, or after: both are an end.
    while deaf.socket.write_all(request.as_bytes()).is_ok() {
        serves(&mut other);
    }
    closed_but(&counters, 1, &mut other);
    server.stop();
}

/// The limit holds for both doors together; whoever is beyond it is told so, and a place that
/// becomes free is given away.
#[test]
fn thousands_of_connections_are_served_and_the_next_ones_are_told() {
    const MOST: usize = 2_000;
    let (server, mut first) = opened(&Limits {
        connections: MOST,
        ..Limits::STANDARD
    });
    let counters = server.running().counters().clone();
    // The client that opened the property at the other door may not be gone yet.
    while counters.of(DoorName::Resp).open.get() > 0 {
        serves(&mut first);
    }
    let mut clients: Vec<Client> = (1..MOST).map(|_| server.client_of("xml")).collect();
    for client in &mut clients {
        serves(client);
    }
    let full = "<results><error>too many connections are open</error></results>";
    for _ in 0..20 {
        assert_eq!(server.client_of("xml").rest(), full);
        serves(&mut first);
    }
    assert_eq!(
        server.client().rest(),
        "-ERR max number of clients reached|"
    );
    clients.truncate(MOST / 2);
    closed_but(&counters, (MOST / 2 + 1) as u64, &mut first);
    serves(&mut server.client_of("xml"));
    for client in &mut clients {
        serves(client);
    }
    server.stop();
}
