//! A stop is announced, and everybody is told, in order.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use crate::{
    process::{Server, ask, turnstile, words},
    reload::asked,
};

/// Longer than any test runs: only a second signal ends it.
const LONG_MS: &str = "600000";

fn opened(door: SocketAddr, request: &str) -> BufReader<TcpStream> {
    let mut socket = TcpStream::connect(door).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    write!(socket, "GET {request} HTTP/1.1\r\nHost: {door}\r\n").unwrap();
    let socket_head = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let head = if request.ends_with("/feed") {
        socket_head
    } else {
        ""
    };
    write!(socket, "{head}\r\n").unwrap();
    let mut reader = BufReader::new(socket);
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap() > 2 {
        line.clear();
    }
    reader
}

#[test]
fn a_stop_is_announced_then_streams_and_sockets_are_told_and_closed() {
    let mut command = turnstile();
    command.args(["serve", "--durability", "memory", "--drain-ms", LONG_MS]);
    command.args(["--resp", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
    let server = Server::start(&mut command);
    let http = server.door("http").unwrap();
    let streams = [
        "/v1/rooms/events",
        "/v1/security/events",
        "/v1/games/matches/1/events",
    ];
    let mut resp = server.connect();
    let begun = words(&ask(&mut resp, "GAMES.BEGIN ada bob gomoku"));
    assert!(!begun.starts_with('-'), "{begun}");
    let mut streams = streams.map(|path| opened(http, path));
    let mut socket = opened(http, "/v1/exchange/feed");
    assert_eq!(asked(http, "GET /readyz", "").0, 200);

    server.terminate();
    server.await_logged("the server stops");
    let (status, problem) = asked(http, "GET /readyz", "");
    assert_eq!(status, 503);
    assert_eq!(problem["detail"], "the server is stopping");
    // Whoever comes is served as before.
    assert_eq!(asked(http, "GET /livez", "").0, 200);
    for mut client in [server.connect(), resp] {
        assert_eq!(words(&ask(&mut client, "PING")), "PONG");
    }

    server.terminate();
    for stream in &mut streams {
        let mut told = String::new();
        stream.read_to_string(&mut told).unwrap();
        assert!(told.contains("event: stopping\ndata: {}\n\n"), "{told}");
        assert!(told.ends_with("0\r\n\r\n"), "the body ends whole: {told}");
    }
    let mut told = Vec::new();
    socket.read_to_end(&mut told).unwrap();
    // 1001, going away.
    let goodbye = [&[0x88, 18, 3, 0xe9][..], b"the server stops"].concat();
    assert!(told.ends_with(&goodbye), "{told:?}");
    let (status, _) = server.ended();
    assert!(status.success(), "{status:?}");
}

#[test]
fn a_client_that_takes_nothing_does_not_keep_a_server_that_stops() {
    let mut command = turnstile();
    command.args(["serve", "--durability", "memory", "--farewell-ms", "1"]);
    command.args(["--resp", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
    let server = Server::start(&mut command);
    let mut deaf = TcpStream::connect(server.door("resp").unwrap()).unwrap();
    // More answers than the buffers of both sockets and of the connection hold.
    deaf.set_nonblocking(true).unwrap();
    let request = format!("ECHO {}\r\n", "x".repeat(10_000)).repeat(100);
    while deaf.write(request.as_bytes()).is_ok() {}
    server.terminate();
    let (status, _) = server.ended();
    assert!(status.success(), "{status:?}");
}
