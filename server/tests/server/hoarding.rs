//! Clients who begin large requests and do not end them, ask and do not read, or open more and more: of
//! all together the server keeps a bounded amount, and the others are served.

use std::io::{BufRead as _, BufReader, ErrorKind, Write};

use turnstile_server::{Counters, DoorCounters, DoorName, Limits};

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
    Server::with(&Limits {
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
        counters.of(DoorName::Xml)
    } else {
        counters.of(DoorName::Resp)
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
            (counters, counters.of(DoorName::Xml)),
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

/// Each client was bounded, but not all of them together: those who never read took many gigabytes.
///
/// Others are served meanwhile, at every door and with durable work: each waits for its answer before it
/// asks again, so that each is served as often as any is dropped.
#[test]
fn clients_that_never_read_are_dropped_when_all_are_owed_too_much() {
    const DEAF: usize = 12;
    const EACH: usize = 512 * 1_024;
    let limits = Limits {
        connection_output_bytes: EACH,
        output_bytes: 4 * EACH,
        ..Limits::STANDARD
    };
    let server = Server::with(&limits);
    let counters = server.running().counters().clone();
    let (mut healthy, mut booker) = (server.client(), server.client());
    let (mut trader, mut traveller) = (server.client_of("xml"), server.client_of("travel"));
    let mut rounds = 0;
    let echo = "x".repeat(16_000);
    let request = format!("*2\r\n$4\r\nECHO\r\n$16000\r\n{echo}\r\n").into_bytes();
    let mut deaf: Vec<(Client, usize)> = (0..DEAF).map(|_| (server.client(), 0)).collect();
    for (client, _) in &deaf {
        client.socket.set_nonblocking(true).unwrap();
    }
    // All of them fit only in part.
    while counters.of(DoorName::Resp).dropped.get() < 6 {
        deaf.retain_mut(|(client, written)| {
            match client.socket.write(&request[*written % request.len()..]) {
                Ok(count) => *written += count,
                Err(failure) if failure.kind() == ErrorKind::WouldBlock => {}
                Err(_dropped) => return false,
            }
            true
        });
        healthy.exchange("PING\n", "+PONG|");
        rounds += 1;
        booker.send(book(&format!("r{rounds}")) + "ECHO done\n");
        let booked = booker.until("$4\r\ndone\r\n");
        assert!(booked.contains(&format!("r{rounds}")), "{booked}");
        trader.exchange("17\n<create></create>", EMPTY);
        traveller.exchange("Start\n", &format!("Transaction {rounds} started\n"));
        traveller.exchange(
            &format!("Abort,{rounds}\n"),
            &format!("Transaction {rounds} aborted\n"),
        );
        let unsent = counters.fast_unsent_bytes.get();
        // What one connection was owed last comes on top.
        assert!(
            unsent <= (limits.output_bytes + 4 * EACH) as u64,
            "{unsent}"
        );
    }
    server.stop();
}

/// The answer to a large document was counted only when it was whole, so that clients with such documents
/// took as much memory as they liked.
#[test]
fn an_xml_answer_that_is_not_whole_counts_as_unread() {
    let limits = Limits {
        output_bytes: 2 * 1_024 * 1_024,
        ..Limits::STANDARD
    };
    let server = Server::with(&limits);
    let counters = server.running().counters().clone();
    let document = |queries: usize| {
        let queries = "<query id=\"1\"/>".repeat(queries);
        let xml = format!("<transactions id=\"1\">{queries}</transactions>");
        format!("{}\n{xml}", xml.len())
    };
    let mut pinger = server.client();
    // Each answer would take more than there is room for.
    let mut greedy: Vec<_> = (0..2).map(|_| server.client_of("xml")).collect();
    for client in &mut greedy {
        client.send(document(100_000));
    }
    while counters.of(DoorName::Xml).dropped.get() < 2 {
        pinger.exchange("PING\n", "+PONG|");
        let unsent = counters.fast_unsent_bytes.get();
        // A buffer doubles when it grows.
        assert!(unsent <= 4 * limits.output_bytes as u64, "{unsent}");
    }
    for client in &mut greedy {
        assert_eq!(client.rest().len(), 0, "no answer was whole");
    }
    // One that needs several turns and less memory is answered.
    let mut modest = server.client_of("xml");
    modest.send(document(5_000));
    let answer = modest.until("</results>");
    assert_eq!(answer.matches("<error id=\"1\">").count(), 5_000);
    server.stop();
}

/// One client could open all transactions that there may be, and shut travel to everybody else.
#[test]
fn one_connection_may_have_only_so_many_transactions_open() {
    let server = server();
    let full =
        "this connection has 1000 transactions open, as many as one connection may: end some first";
    let mut greedy = server.client_of("travel");
    greedy.send("Start\n".repeat(1_001));
    greedy.until("Transaction 1000 started\n");
    greedy.expect(&format!("Command exception: {full}\n"));
    let mut other = server.client();
    other.exchange("TRAVEL.START\n", "*3|:1|:1001|:1002|");
    greedy.exchange(
        "Abort,7\nStart\n",
        "Transaction 7 aborted\nTransaction 1002 started\n",
    );
    other.send("TRAVEL.START\n".repeat(1_000));
    other.until(":2001\r\n:2003\r\n");
    // A batch is bounded as well, and so is one who begins the session anew.
    other.expect(&format!("-BUSY {full}|"));
    other.exchange("RESET\n", "+RESET|");
    other.exchange(
        "MULTI\nTRAVEL.START\nEXEC\n",
        &format!("+OK|+QUEUED|*1|-BUSY {full}|"),
    );
    assert_eq!(refusals(server.running().counters()), 3);
    server.stop();
}

/// The transactions of closed connections counted for nobody, so a client that connected again and again
/// could open all that there may be.
#[test]
fn a_client_that_reconnects_shuts_travel_to_nobody() {
    // None of them ends by itself, however slow the machine is.
    let server = Server::of_travel(Some(turnstile_travel::Settings {
        lifetime_ms: turnstile_travel::limits::SETTING_MS_MAX,
        ..turnstile_travel::Settings::FIRST
    }));
    let mut started = 0;
    for _ in 0..105 {
        let mut greedy = server.client_of("travel");
        greedy.send("Start\n".repeat(1_000));
        let mut answers = BufReader::new(greedy.socket).lines();
        for _ in 0..1_000 {
            started += 1;
            let answer = answers.next().unwrap().unwrap();
            assert_eq!(answer, format!("Transaction {started} started"));
        }
    }
    let mut other = server.client_of("travel");
    let next = started + 1;
    other.exchange("Start\n", &format!("Transaction {next} started\n"));
    // Those that were left the longest are aborted.
    let evicted =
        "TransactionAborted: transaction 50000: its connection was closed and room was needed\n";
    other.exchange("Commit,50000\n", evicted);
    other.exchange(
        &format!("Commit,{started}\n"),
        &format!("Transaction {started} committed\n"),
    );
    server.stop();
}

#[test]
fn one_connection_may_have_only_so_many_holds_open() {
    let server = server();
    let mut greedy = server.client();
    let hold = |room: usize| format!("ROOMS.HOLD bench r{room} 2027-01-01 2027-01-02\n");
    greedy.send((0..249).map(hold).collect::<String>());
    greedy.send("ECHO done\n");
    greedy.until("$4\r\ndone\r\n");
    let keyed = "ROOMS.HOLD bench last 2027-01-01 2027-01-02 KEY k\nECHO done\n";
    greedy.send(keyed);
    let first = greedy.until("$4\r\ndone\r\n");
    assert!(first.contains("last"), "{first}");
    // What is sent again opens nothing, and is told its first answer.
    greedy.send(keyed);
    let again = greedy.until("$4\r\ndone\r\n");
    assert!(again.contains("last"), "{again}");
    let full = "this connection has 250 holds open, as many as one connection may: end some first";
    greedy.exchange(&hold(250), &format!("-BUSY {full}|"));
    let mut other = server.client();
    other.send(hold(251));
    other.until("r251\r\n");
    server.stop();
}

#[test]
fn one_connection_may_have_only_so_many_matches_open() {
    let server = server();
    let mut greedy = server.client();
    let begin = |pair: usize| format!("GAMES.BEGIN a{pair} b{pair} gomoku\nECHO done\n");
    let done = "$4\r\ndone\r\n";
    for pair in 0..1_000 {
        greedy.send(begin(pair));
        greedy.until(done);
    }
    let full =
        "this connection has 1000 matches open, as many as one connection may: end some first";
    greedy.exchange(&begin(1_000), &format!("-BUSY {full}|$4|done|"));
    greedy.send("GAMES.RESIGN 7 a6\nECHO done\n");
    greedy.until(done);
    greedy.send(begin(1_000));
    let answer = greedy.until(done);
    assert!(!answer.contains("BUSY"), "{answer}");
    server.stop();
}
