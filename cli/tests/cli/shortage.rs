//! Servers that run out of what the system gives: they refuse, say why, and go on.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::Command,
};

use crate::process::{Server, ask, turnstile, turnstile_with_descriptors, words};

/// A server's own descriptors, and some for clients.
const DESCRIPTORS: u32 = 48;

/// More bookings than two small segments hold.
const BOOKINGS_MAX: u32 = 4_000;

const WHY: &str = "no room for the journal: only reads are served";

/// A server of small segments, whose disk is told over its standard input what to do.
fn start(mut command: Command, data: &Path) -> Server {
    command.args(["dev", "--attached", "--disk-orders", "true"]);
    command.args(["--http", "off", "--xml", "off", "--travel", "off"]);
    command.args(["--games-arena", "off", "--games-scores", "off"]);
    command.args(["--resp", "127.0.0.1:0", "--data"]);
    Server::start(command.arg(data))
}

fn booking(number: u32) -> String {
    format!("ROOMS.BOOK bench room:{number} 2027-01-01 2027-01-02 ada 234123412346")
}

/// Books until the server takes nothing more; says which booking was the first that it refused.
fn book_until_refused(server: &Server) -> u32 {
    let mut door = server.connect();
    let refused = (1..BOOKINGS_MAX).find(|&number| {
        let answer = words(&ask(&mut door, &booking(number)));
        assert!(
            answer.starts_with("1 ") || answer.starts_with("-READONLY "),
            "{answer}"
        );
        answer.starts_with('-')
    });
    refused.expect("two small segments are full at some time")
}

/// Books until the server takes it.
fn book_until_taken(server: &Server, number: u32) {
    let mut door = server.connect();
    let taken = (0..1_000_000).any(|_| words(&ask(&mut door, &booking(number))).starts_with("1 "));
    assert!(taken, "there is room, and booking {number} is refused");
}

#[test]
fn a_server_without_room_on_its_disk_says_so_in_its_log_once() {
    let data = tempfile::tempdir().unwrap();
    let mut server = start(turnstile(), data.path());
    server.tell("full-disk");
    let refused = book_until_refused(&server);
    let mut door = server.connect();
    for _ in 0..10 {
        let answer = words(&ask(&mut door, &booking(refused)));
        assert!(answer.starts_with("-READONLY "), "{answer}");
    }
    server.tell("room");
    book_until_taken(&server, refused);
    drop(door);
    let log = server.stop();
    let said: Vec<&str> = log.lines().filter(|line| line.contains(WHY)).collect();
    assert_eq!(said.len(), 1, "{log}");
    assert!(said[0].ends_with("error=no storage space"), "{log}");
}

/// Whoever supervises servers can tell a failed disk from everything else.
#[test]
fn a_failed_sync_ends_the_server_with_a_code_of_its_own() {
    let data = tempfile::tempdir().unwrap();
    let mut server = start(turnstile(), data.path());
    server.tell("sync-error 1");
    let mut door = server.connect();
    let line = booking(1);
    let request: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let taken = (0..BOOKINGS_MAX).take_while(|_| door.command(&request).is_ok());
    assert!(taken.count() < 1_000, "the order was not heeded");
    let (status, log) = server.ended();
    assert_eq!(status.code(), Some(74), "{log}");
    assert!(
        log.contains("error: the server failed: the journal failed: the journal cannot be synced"),
        "{log}"
    );
}

/// A client that was let in, or nothing when it was told that there is no place.
fn let_in(resp: SocketAddr) -> Option<TcpStream> {
    let mut client = TcpStream::connect(resp).unwrap();
    let mut answer = [0; 5];
    client.write_all(b"PING\r\n").unwrap();
    client.read_exact(&mut answer).unwrap();
    (&answer == b"+PONG").then_some(client)
}

/// The server opened its directory anew for each sync of it. When clients held every descriptor, the
/// next segment took those of the last one, and none was left for the directory: as a failed sync is
/// final, the server never took anything again.
#[test]
fn clients_that_take_every_descriptor_do_not_stop_the_journal() {
    let data = tempfile::tempdir().unwrap();
    let server = start(turnstile_with_descriptors(DESCRIPTORS), data.path());
    let resp = server.door("resp").unwrap();
    let mut door = server.connect();
    let clients: Vec<TcpStream> = std::iter::from_fn(|| let_in(resp)).collect();
    let most = usize::try_from(DESCRIPTORS).unwrap();
    assert!(clients.len() < most, "{} were let in", clients.len());
    for number in 1..BOOKINGS_MAX {
        let answer = words(&ask(&mut door, &booking(number)));
        assert!(answer.starts_with("1 "), "booking {number}: {answer}");
    }
    drop((door, clients));
    let log = server.stop();
    assert!(log.contains("no file descriptor left"), "{log}");
}
