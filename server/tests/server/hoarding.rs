//! Clients who begin large requests and do not end them: of all together the server keeps a bounded
//! amount, and the others are served.

use turnstile_server::{Counters, DoorCounters, Limits};

use super::client::{Client, Server, book};

/// What the server of these tests keeps of unfinished requests.
const INPUT_BYTES: usize = 2 * 1_024 * 1_024;

/// What one client sends of its request, in pieces. A server that grows a buffer as it is filled
/// keeps up to twice as much.
const PIECES: usize = 7;
const PIECE_BYTES: usize = 60_000;

const CLIENTS: usize = 10;

const SENTENCE: &str = "the server keeps too much unfinished input, try again later";

const EMPTY: &str = "<results></results>";

fn server() -> Server {
    Server::with(Limits {
        input_bytes: INPUT_BYTES,
        ..Limits::STANDARD
    })
}

/// How many were told that too much is kept.
fn refusals(counters: &Counters) -> u64 {
    let mut errors = counters.errors.iter();
    errors.find(|(word, _)| *word == "busy").unwrap().1
}

/// Sends pieces and waits for each until the server has read it, or has refused to keep it; answers
/// whether it keeps all. `other` is served meanwhile.
fn keeps(
    client: &mut Client,
    pieces: &[&[u8]],
    (counters, door): (&Counters, &DoorCounters),
    other: &mut Client,
) -> bool {
    let refused = refusals(counters);
    for piece in pieces {
        let read = door.bytes_in.get() + piece.len() as u64;
        client.send(piece);
        while door.bytes_in.get() < read && refusals(counters) == refused {
            other.exchange("PING\n", "+PONG|");
        }
    }
    // The turn that has read the last piece is over when the next one has answered.
    other.exchange("PING\n", "+PONG|");
    refusals(counters) == refused
}

/// Sends `begun` from each client; those that are not kept hear `refusal` last, those that are end
/// their requests with `end` and hear `answer`.
fn hoard(server: &Server, door: &str, begun: &[&[u8]], (refusal, end, answer): (&str, &str, &str)) {
    let counters = server.running().counters();
    let counted = if door == "xml" {
        &counters.xml
    } else {
        &counters.resp
    };
    let refused_before = refusals(counters);
    let mut other = server.client_of("xml");
    let mut pinger = server.client();
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let mut client = server.client_of(door);
        let is_kept = keeps(&mut client, begun, (counters, counted), &mut pinger);
        clients.push((client, is_kept));
    }
    // Small requests are served, also those that come in pieces.
    for byte in "17\n<create></create>".bytes() {
        assert!(keeps(
            &mut other,
            &[&[byte]],
            (counters, &counters.xml),
            &mut pinger
        ));
    }
    other.expect(EMPTY);
    let kept = clients.iter().filter(|(_, is_kept)| *is_kept).count();
    assert!(clients[0].1, "there is room for the first");
    assert!(
        kept * PIECES * PIECE_BYTES <= INPUT_BYTES,
        "{kept} are kept"
    );
    let refused = refusals(counters) - refused_before;
    assert_eq!(refused, (CLIENTS - kept) as u64);
    for (client, is_kept) in &mut clients {
        if *is_kept {
            client.send(end);
            client.until(answer);
        } else {
            let last = client.rest();
            assert!(last.ends_with(refusal), "{last}");
        }
    }
}

#[test]
fn unfinished_xml_requests_of_all_clients_together_are_bounded() {
    let server = server();
    let xml = " ".repeat(PIECES * PIECE_BYTES - EMPTY.len());
    let request = format!("{}\n{xml}<create></create>", xml.len() + 17);
    let (begun, end) = request.split_at(request.len() - 1);
    let pieces: Vec<&[u8]> = begun.as_bytes().chunks(PIECE_BYTES).collect();
    let refusal = format!("<results><error>{SENTENCE}</error></results>");
    hoard(&server, "xml", &pieces, (&refusal, end, EMPTY));
    // When they have ended there is room again.
    hoard(&server, "xml", &pieces, (&refusal, end, EMPTY));
    server.stop();
}

#[test]
fn unfinished_batches_of_all_clients_together_are_bounded() {
    let server = server();
    let echo = [
        b"*2\r\n$4\r\nECHO\r\n$59000\r\n".to_vec(),
        vec![b'x'; 59_000],
        b"\r\n".to_vec(),
    ];
    let echo = echo.concat();
    let mut pieces = vec![&echo[..]; PIECES];
    pieces.insert(0, b"MULTI\n");
    let refusal = format!("-ERR {SENTENCE}|");
    hoard(&server, "resp", &pieces, (&refusal, "DISCARD\n", "+OK\r\n"));
    server
        .client()
        .exchange(&book("r1"), "*4|:1|$3|R00|$2|r1|:2|");
    server.stop();
}
