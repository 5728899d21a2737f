//! What backups are given while transactions of travel are open.

use std::io::Read as _;

use super::client::{Client, Server};

/// Transactions that begin, each shortly before a backup asks.
const TRANSACTIONS: usize = 200;

/// The status line of the answer to a backup that asks for all that is durable.
fn pieces(http: &mut Client) -> String {
    http.send(
        "GET /v1/backup/pieces?segment=1&offset=4096&after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    );
    let head = http.until("\r\n\r\n");
    let mut lines = head.lines();
    let status = lines.next().unwrap().to_owned();
    let length = lines.find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    http.socket.read_exact(&mut body).unwrap();
    status
}

/// A transaction that begins promises nothing: it may be told before the journal has it.
#[test]
fn a_backup_is_given_no_record_that_is_not_durable() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::durable(data.path());
    let (mut desk, mut http) = (server.client(), server.client_of("http"));
    for round in 0..TRANSACTIONS {
        desk.send("TRAVEL.START\nECHO marker\n");
        desk.until("$6\r\nmarker\r\n");
        assert_eq!(pieces(&mut http), "HTTP/1.1 200 OK", "{round}");
    }
    server.stop();
}
