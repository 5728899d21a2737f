//! Clients that are slow, deaf, greedy or malicious: they are answered or closed, and the others
//! are served.

use std::io::{Read, Write};

use turnstile_server::{DoorName, Limits};
use turnstile_trial::PostgresServer;

use super::client::{Client, Server, book};

#[test]
fn a_request_may_come_byte_by_byte() {
    let server = Server::new();
    let (mut slow, mut other) = (server.client(), server.client());
    slow.socket.set_nodelay(true).unwrap();
    let request = "*2\r\n$4\r\nPING\r\n$0\r\n\r\n*2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n";
    for (at, byte) in request.bytes().enumerate() {
        slow.send([byte]);
        if at % 8 == 0 {
            other.exchange("PING\n", "+PONG|");
        }
    }
    slow.expect("$0||$5|hello|");
    server.stop();
}

/// The error overtook the answers that a database still had to give, and they were lost.
#[test]
fn requests_before_a_broken_one_are_answered_first_when_a_database_decides_them() {
    let postgres = PostgresServer::start();
    let server = Server::over_http_from(Some(&postgres.database()));
    let mut client = server.client();
    client.send("ROOMS.ADD-PROPERTY grand OPEN\nROOMS.ADD-PROPERTY plaza OPEN\n*1\r\n+x");
    let told = client.rest();
    let (answers, fault) = told.split_once('-').expect(&told);
    assert_eq!(fault, "ERR Protocol error: expected '$', got '+'|");
    assert_eq!(answers.matches('*').count(), 2, "{answers}");
    server.stop();
}

#[test]
fn a_broken_stream_gets_one_error_and_the_end() {
    let server = Server::new();
    let rows = [
        (
            "*1048576\r\n",
            "-ERR Protocol error: more than 1024 arguments|",
        ),
        (
            "*1\r\n$536870912\r\n",
            "-ERR Protocol error: an argument of more than 65536 bytes|",
        ),
        ("*1\r\n$-1\r\n", "-ERR Protocol error: invalid length|"),
        ("*-1\r\n", "-ERR Protocol error: invalid length|"),
        (
            "PING\n*1\r\n+x",
            "+PONG|-ERR Protocol error: expected '$', got '+'|",
        ),
        ("POST / HTTP/1.1\r\nHost: x\r\n", ""),
    ];
    for (request, reply) in rows {
        let mut client = server.client();
        client.send(request);
        assert_eq!(client.rest(), reply, "{request}");
    }
    let mut client = server.client();
    client.send(vec![b'x'; 4_097]);
    assert_eq!(
        client.rest(),
        "-ERR Protocol error: a typed line of more than 4096 bytes|"
    );
    let counters = server.running().counters().clone();
    server.stop();
    assert!(
        counters
            .errors
            .iter()
            .any(|counted| counted == ("protocol", 7))
    );
    assert_eq!(counters.of(DoorName::Resp).open.get(), 0);
}

#[test]
fn an_error_is_heard_though_the_client_still_talks() {
    let server = Server::new();
    let mut client = server.client();
    client.send([b"*1025\r\n".to_vec(), vec![b'x'; 300_000]].concat());
    assert_eq!(
        client.rest(),
        "-ERR Protocol error: more than 1024 arguments|"
    );
    server.stop();
}

/// A client that was let in. A place that somebody has just left may be free only a moment later,
/// so it tries again.
fn admitted(server: &Server) -> Client {
    for _ in 0..10_000 {
        let mut client = server.client();
        let mut reply = [0; 7];
        let asked = client.socket.write_all(b"PING\n");
        let heard = asked.and_then(|()| client.socket.read_exact(&mut reply));
        if heard.is_ok() && &reply == b"+PONG\r\n" {
            return client;
        }
    }
    panic!("no place became free");
}

#[test]
fn one_connection_too_many_is_told_so() {
    let server = Server::with(&Limits {
        connections: 2,
        ..Limits::STANDARD
    });
    let (mut first, mut second) = (admitted(&server), admitted(&server));
    assert_eq!(
        server.client().rest(),
        "-ERR max number of clients reached|"
    );
    first.send("QUIT\n");
    assert_eq!(first.rest(), "+OK|");
    drop(first);
    admitted(&server).exchange("PING\n", "+PONG|");
    second.exchange("PING\n", "+PONG|");
    server.stop();
}

#[test]
fn a_client_that_never_reads_is_owed_a_bounded_amount() {
    let server = Server::with(&Limits {
        connection_output_bytes: 64 * 1_024,
        ..Limits::STANDARD
    });
    let (mut deaf, mut other) = (server.client(), server.client());
    deaf.socket.set_nonblocking(true).unwrap();
    let request = [
        b"*2\r\n$4\r\nECHO\r\n$60000\r\n".to_vec(),
        vec![b'x'; 60_000],
        b"\r\n".to_vec(),
    ];
    let request = request.concat();
    // It writes until the server has stopped reading and the system takes no more: that this comes
    // to an end is the rule.
    let (mut written, mut refusals) = (0, 0);
    while refusals < 100 {
        match deaf.socket.write(&request[written % request.len()..]) {
            Ok(count) => (written, refusals) = (written + count, 0),
            Err(failure) => {
                assert_eq!(failure.kind(), std::io::ErrorKind::WouldBlock);
                refusals += 1;
                other.exchange("PING\n", "+PONG|");
            }
        }
    }
    let whole = written / request.len();
    assert!(whole > 1, "the kernel buffers some");
    // When it listens at last, everything it asked for is there.
    deaf.socket.set_nonblocking(false).unwrap();
    let mut reply = vec![0; "$60000\r\n".len() + 60_000 + 2];
    for _ in 0..whole {
        deaf.socket.read_exact(&mut reply).unwrap();
        assert!(reply.starts_with(b"$60000\r\nxxx"));
    }
    server.stop();
}

/// The bound on what a follower is owed met the messages of one group: a batch of some hundred bookings
/// dropped followers who read all the time.
#[test]
fn a_large_group_drops_no_follower_who_reads() {
    const BOOKINGS: usize = 1_000;
    let server = Server::with(&Limits {
        connection_output_bytes: 64 * 1_024,
        ..Limits::STANDARD
    });
    let (mut follower, mut guest) = (server.client(), server.client());
    follower.exchange(
        "SUBSCRIBE rooms.events\n",
        "*3|$9|subscribe|$12|rooms.events|:1|",
    );
    guest.exchange("MULTI\n", "+OK|");
    for room in 0..BOOKINGS {
        guest.exchange(&book(&format!("r{room}")), "+QUEUED|");
    }
    guest.send("EXEC\n");
    for _ in 0..BOOKINGS {
        let message = follower.until("\"departure\":\"2027-01-02\"}\r\n");
        assert!(message.starts_with("*3\r\n$7\r\nmessage\r\n"), "{message}");
    }
    server.stop();
}

/// What it is owed grows with what others do, not with what it asks.
#[test]
fn a_follower_that_never_reads_is_dropped() {
    let server = Server::with(&Limits {
        connection_output_bytes: 64 * 1_024,
        ..Limits::STANDARD
    });
    let (mut deaf, mut guest) = (server.client(), server.client());
    deaf.exchange(
        "SUBSCRIBE rooms.events\n",
        "*3|$9|subscribe|$12|rooms.events|:1|",
    );
    let open = &server.running().counters().of(DoorName::Resp).open;
    let before = open.get();
    let mut booked = 0;
    // Until the buffers of the system are full, too: some megabytes of long events.
    while open.get() == before {
        let lines: Vec<String> = (booked..booked + 500)
            .map(|room| book(&format!("{room:064}")))
            .collect();
        booked += lines.len();
        assert!(booked < 500_000, "nobody is dropped");
        guest.exchange("CLIENT REPLY OFF\n", "");
        guest.send(lines.concat());
        guest.exchange("CLIENT REPLY ON\n", "+OK|");
    }
    assert_eq!(open.get(), before - 1);
    guest.exchange("DBSIZE\n", &format!(":{booked}|"));
    server.stop();
}

#[test]
fn a_client_that_takes_nothing_for_too_long_is_closed() {
    let limits = Limits {
        connection_output_bytes: 1,
        stall: std::time::Duration::ZERO,
        ..Limits::STANDARD
    };
    let server = Server::with(&limits);
    let mut deaf = server.client();
    let request = format!("ECHO {}\n", "x".repeat(4_000)).repeat(4_000);
    // The server closes while the client still writes, or after: both are an end.
    if deaf.socket.write_all(request.as_bytes()).is_ok() {
        let counters = server.running().counters();
        let mut other = server.client();
        while counters.of(DoorName::Resp).open.get() > 1 {
            other.exchange("PING\n", "+PONG|");
        }
    }
    server.stop();
}

#[test]
fn a_silent_client_is_closed() {
    let server = Server::with(&Limits {
        idle: std::time::Duration::ZERO,
        ..Limits::STANDARD
    });
    let mut silent = server.client();
    silent.exchange("PING\n", "+PONG|");
    assert_eq!(silent.rest(), "");
    server.stop();
}

/// Half of an XML request kept its connection and its memory for 15 minutes.
#[test]
fn a_request_that_does_not_arrive_whole_in_time_is_refused_and_its_connection_closed() {
    let server = Server::with(&Limits {
        request: std::time::Duration::ZERO,
        ..Limits::STANDARD
    });
    let why = "the request did not arrive whole within 0ns";
    let rows = [
        (
            "resp",
            "PING\n*2\r\n$4\r\nECHO\r\n$3\r\na",
            format!("+PONG|-ERR {why}|"),
        ),
        (
            "xml",
            "20\n<create>",
            format!("<results><error>{why}</error></results>"),
        ),
        ("travel", "Start", format!("Command exception: {why}\n")),
    ];
    let mut rests = server.client();
    rests.exchange("PING\n", "+PONG|");
    for (door, begun, told) in rows {
        let mut client = server.client_of(door);
        client.send(begun);
        assert_eq!(client.rest(), told, "{door}");
    }
    // What trickles in meanwhile makes it no better.
    let mut trickle = server.client_of("xml");
    trickle.send("1000000\n");
    while trickle.socket.write_all(b" ").is_ok() {
        rests.exchange("PING\n", "+PONG|");
    }
    let counters = server.running().counters().clone();
    let mut errors = counters.errors.iter();
    assert!(errors.any(|counted| counted == ("request_timeout", 4)));
    // One that has begun nothing is only idle.
    rests.exchange("PING\n", "+PONG|");
    server.stop();
}

#[test]
fn half_a_connection_is_answered_to_its_end() {
    let server = Server::new();
    let mut client = server.client();
    client.send(book("r1"));
    client.send("PING\n*1\r\n$4\r\nPI");
    client.end_writing();
    assert_eq!(client.rest(), "*4|:1|$3|R00|$2|r1|:2|+PONG|");
    server.stop();
}

#[test]
fn a_batch_is_bounded() {
    let server = Server::new();
    let echo = |length: usize| {
        let message = "x".repeat(length);
        format!("*2\r\n$4\r\nECHO\r\n${length}\r\n{message}\r\n")
    };
    let (ping, list) = ("PING\n".to_owned(), "ROOMS.LIST-PROPERTIES\n".to_owned());
    let rows = [
        (&ping, 1_024, &ping),
        (&list, 16, &list),
        (&echo(64_000), 8, &echo(12_288)),
    ];
    for (request, most, one_more) in rows {
        let mut client = server.client();
        client.exchange("MULTI\n", "+OK|");
        client.exchange(&request.repeat(most), &"+QUEUED|".repeat(most));
        client.exchange(
            one_more,
            "-ERR a batch has at most 1024 commands, 16 of them reads, and 524288 bytes|",
        );
        client.exchange(
            "EXEC\n",
            "-EXECABORT Transaction discarded because of previous errors.|",
        );
    }
    server.stop();
}

#[test]
fn names_and_subscriptions_are_bounded() {
    let server = Server::new();
    let mut client = server.client();
    client.exchange(
        &format!("CLIENT SETNAME {}\n", "n".repeat(257)),
        "-ERR names are at most 256 visible characters without spaces or newlines|",
    );
    client.exchange(&format!("CLIENT SETNAME {}\n", "n".repeat(256)), "+OK|");
    let refusal = "-ERR a connection follows at most 64 channels, with names of at most 256 bytes|";
    let (long, longer) = ("n".repeat(256), "n".repeat(257));
    client.exchange(&format!("SUBSCRIBE {longer}\n"), refusal);
    client.exchange(
        &format!("SUBSCRIBE {long}\n"),
        &format!("*3|$9|subscribe|$256|{long}|:1|"),
    );
    for number in 2..=64 {
        client.exchange(
            &format!("PSUBSCRIBE c{number:02}\n"),
            &format!("*3|$10|psubscribe|$3|c{number:02}|:{number}|"),
        );
    }
    for one_more in ["SUBSCRIBE c64\n", "PSUBSCRIBE c64 c65\n"] {
        client.exchange(one_more, refusal);
    }
    // What is followed already is no more than before.
    client.exchange("PSUBSCRIBE c64\n", "*3|$10|psubscribe|$3|c64|:64|");
    client.exchange("PUNSUBSCRIBE c64\n", "*3|$12|punsubscribe|$3|c64|:63|");
    client.exchange("SUBSCRIBE c65\n", "*3|$9|subscribe|$3|c65|:64|");
    server.stop();
}
