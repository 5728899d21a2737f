//! Storms of connections against a real server: it may be slow, but it keeps nobody out and grows
//! with nothing but what has really come.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use turnstile_tests::Turnstile;

/// Connections of a storm, to each door.
const STORM: usize = 1_000;

/// How long a connection may take that only the system has to make.
const PATIENCE: Duration = Duration::from_secs(60);

fn storm(address: SocketAddr) -> Vec<TcpStream> {
    let connect = |number| {
        let connected = TcpStream::connect_timeout(&address, PATIENCE);
        connected.unwrap_or_else(|error| panic!("connection {number} to {address}: {error}"))
    };
    (1..=STORM).map(connect).collect()
}

fn served(clients: &mut [TcpStream], request: &str, answer: &str) {
    for client in clients {
        let mut found = vec![0; answer.len()];
        let asked = client.write_all(request.as_bytes());
        let heard = asked.and_then(|()| client.read_exact(&mut found));
        heard.expect("the server answers");
        assert_eq!(String::from_utf8_lossy(&found), answer);
    }
}

/// The queue of the doors held 128 connections: when more came while the server was at work, the
/// system dropped them, and their clients tried again a second later.
#[test]
fn a_busy_server_keeps_a_thousand_new_connections_in_line() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Turnstile::serve_exchange(data.path(), 0);
    server.pause();
    let (mut resp, mut xml) = (storm(server.resp()), storm(server.xml()));
    server.go_on();
    served(&mut resp, "PING\r\n", "+PONG\r\n");
    served(&mut xml, "9\n<create/>", "<results></results>");
}

/// What a request may take of memory before its bytes have come: a connection's own share.
const ANNOUNCED_BYTES_MAX: u64 = 16 * 1_024;

#[test]
fn memory_grows_with_what_came_and_not_with_what_was_announced() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Turnstile::serve_exchange(data.path(), 0);
    let mut clients = storm(server.xml());
    served(&mut clients, "9\n<create/>", "<results></results>");
    let before = server.resident_bytes();
    let announced = "16777216\n<create>";
    for client in &mut clients {
        client.write_all(announced.as_bytes()).unwrap();
    }
    // Whoever comes later is served later: then all that was announced has been read.
    let mut last = [TcpStream::connect(server.xml()).unwrap()];
    served(&mut last, "9\n<create/>", "<results></results>");
    let grown = server.resident_bytes().saturating_sub(before);
    let most = clients.len() as u64 * ANNOUNCED_BYTES_MAX;
    assert!(grown < most, "grown by {grown} bytes, at most {most}");
    // The first of them sends all that it announced, and is answered.
    let rest = format!("{}</create>", " ".repeat(16_777_216 - 17));
    let last = clients.first_mut().unwrap();
    last.write_all(rest.as_bytes()).unwrap();
    let mut answer = [0; 19];
    last.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"<results></results>");
}
