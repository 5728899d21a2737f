//! Traces: the spans that a collector is sent.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    thread::{self, JoinHandle},
};

use serde_json::Value;
use turnstile_server::{CollectorUrl, Durability, Options, Settings, Traces};

use super::client::{Server, book};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// A collector for one connection, which answers everything with this line; what it was sent, once the
/// connection has ended.
fn collector(status: &'static str) -> (SocketAddr, JoinHandle<Vec<Value>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let collect = move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut sent = Vec::new();
        loop {
            let (mut head, mut length) = (String::new(), 0);
            while !head.ends_with("\r\n\r\n") {
                if reader.read_line(&mut head).unwrap() == 0 {
                    return sent;
                }
                let line = head.lines().last().unwrap().to_ascii_lowercase();
                if let Some(bytes) = line.strip_prefix("content-length: ") {
                    length = bytes.parse().unwrap();
                }
            }
            assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
            assert!(
                head.to_ascii_lowercase()
                    .contains("\r\ncontent-type: application/json\r\n"),
                "{head}"
            );
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            sent.push(serde_json::from_slice(&body).unwrap());
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\n{{}}");
            stream.write_all(answer.as_bytes()).unwrap();
        }
    };
    (address, thread::spawn(collect))
}

/// A server that traces every request.
fn server(collector: SocketAddr) -> Server {
    let anywhere = Some(([127, 0, 0, 1], 0).into());
    let server = Server::started(&Settings {
        resp: anywhere,
        http: anywhere,
        traces: Some(Traces {
            collector: CollectorUrl::parse(&format!("http://{collector}")).unwrap(),
            one_in: 1,
        }),
        ..Settings::closed(Options::with(Durability::Memory))
    });
    let mut client = server.client();
    client.exchange("ROOMS.ADD-PROPERTY bench OPEN\n", "*2|:1|:1|");
    server
}

/// All spans of these requests to a collector.
fn spans(sent: &[Value]) -> Vec<&Value> {
    let scopes = sent
        .iter()
        .map(|request| &request["resourceSpans"][0]["scopeSpans"][0]);
    scopes
        .flat_map(|scope| scope["spans"].as_array().unwrap())
        .collect()
}

#[test]
fn a_request_is_a_span_of_its_trace_and_the_parts_of_its_time_are_others() {
    let (address, collected) = collector("200 OK");
    let server = server(address);
    let mut client = server.client();
    client.exchange(
        &format!("CLIENT TRACEPARENT 00-{TRACE}-00f067aa0ba902b7-01\n"),
        "+OK|",
    );
    client.exchange(&book("r1"), "*4|:1|$3|R00|$2|r1|:2|");
    client.exchange(
        &format!("CLIENT TRACEPARENT 00-{TRACE}-00f067aa0ba902b7-00\n"),
        "+OK|",
    );
    client.exchange(&book("r2"), "*4|:1|$3|R11|$2|r2|:3|");
    let mut web = server.client_of("http");
    web.send("GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    web.rest();
    server.stop();
    let sent = collected.join().unwrap();
    assert_eq!(
        sent[0]["resourceSpans"][0]["resource"]["attributes"][0],
        serde_json::json!({"key": "service.name", "value": {"stringValue": "turnstile"}})
    );
    let all = spans(&sent);
    let named = |name: &str| -> Vec<&Value> {
        let found = all.iter().filter(|span| span["name"] == name);
        found.copied().collect()
    };
    // The client of the second booking does not record its trace.
    let [booking] = named("rooms.book")[..] else {
        panic!("{all:#?}");
    };
    assert_eq!(
        (&booking["traceId"], &booking["parentSpanId"]),
        (&TRACE.into(), &"00f067aa0ba902b7".into())
    );
    let told = booking["attributes"].as_array().unwrap();
    for (key, value) in [
        ("turnstile.door", "resp"),
        ("turnstile.outcome", "done"),
        ("user.name", "local"),
    ] {
        let found = told.iter().find(|one| one["key"] == key);
        assert_eq!(found.unwrap()["value"]["stringValue"], value);
    }
    let decided = named("decide");
    let decided = decided
        .iter()
        .filter(|span| span["parentSpanId"] == booking["spanId"]);
    assert_eq!(decided.count(), 1);
    assert_eq!(named("GET /readyz").len(), 1);
    assert!(
        !sent
            .iter()
            .any(|one| one.to_string().contains("234123412346"))
    );
}

#[test]
fn a_collector_that_refuses_costs_spans_and_holds_nobody_up() {
    let (address, collected) = collector("503 Service Unavailable");
    let server = server(address);
    let mut client = server.client();
    client.exchange(&book("r1"), "*4|:1|$3|R00|$2|r1|:2|");
    let counters = server.running().counters().clone();
    server.stop();
    assert!(!spans(&collected.join().unwrap()).is_empty());
    let counted = (
        counters.traced_requests.get(),
        counters.traced_requests_dropped.get(),
    );
    assert_eq!(counted, (0, 2));
}
