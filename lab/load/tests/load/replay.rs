//! Streams that are recorded by the proxy and sent again, against toys on real sockets.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    thread,
    time::Duration,
};

use turnstile_client::Connection;
use turnstile_load::{
    Error,
    pace::Pace,
    record::Proxy,
    replay::{self, Config, Report},
};
use turnstile_trace::{Kind, Trace, TraceWriter};

use crate::toy::{Fault, Toy};

/// A file of this test alone, gone when it ends.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("{}-{name}.lab", std::process::id()));
        Self(path)
    }

    fn read(&self) -> Trace {
        Trace::read(&self.0).unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}

fn send_again(trace: &Trace, address: SocketAddr, speed: f64) -> Result<Report, Error> {
    let pace = Pace::closed(address, Duration::ZERO, Duration::from_secs(1));
    let config = Config {
        pace: &pace,
        trace,
        speed,
    };
    replay::run(&config, &mut |_progress| {})
}

#[test]
fn what_is_said_through_the_proxy_is_kept_whole_and_in_order() {
    let (toy, file) = (Toy::start(Fault::Dribbles), File::new("whole"));
    let any = "127.0.0.1:0".parse().unwrap();
    let proxy = Proxy::start(any, toy.address, &file.0).unwrap();
    let mut door = Connection::connect(proxy.address(), Duration::from_secs(60)).unwrap();
    let booked = [
        "ROOMS.BOOK",
        "p",
        "r",
        "2027-01-01",
        "2027-01-02",
        "ada",
        "200000000000",
    ];
    let words = booked.map(str::as_bytes);
    door.send(&words);
    door.send(&[b"PING"]);
    let (first, second) = (door.receive().unwrap(), door.receive().unwrap());
    assert_eq!(
        (first.as_array().unwrap().len(), second.as_str()),
        (4, Some("PONG"))
    );
    // A request in two pieces.
    let mut line = TcpStream::connect(proxy.address()).unwrap();
    line.write_all(b"*1\r\n$4\r\nPI").unwrap();
    line.write_all(b"NG\r\n").unwrap();
    let mut pong = [0; 7];
    line.read_exact(&mut pong).unwrap();
    drop((door, line));
    let recorded = proxy.stop().unwrap();
    assert_eq!((recorded.connections, recorded.requests), (2, 3));
    let trace = file.read();
    let of_second = trace.entries().filter(|entry| entry.connection == 1);
    let texts: Vec<(Kind, String)> = of_second
        .map(|entry| {
            (
                entry.kind,
                String::from_utf8_lossy(entry.payload).into_owned(),
            )
        })
        .collect();
    let row = |kind, text: &str| (kind, text.to_owned());
    let rows = [
        row(Kind::Opened, ""),
        row(Kind::Request, "*1\r\n$4\r\nPING\r\n"),
        row(Kind::Answer, "+PONG\r\n"),
        row(Kind::Closed, ""),
    ];
    assert_eq!(texts, rows);
    assert!(trace.entries().map(|entry| entry.at).is_sorted());

    // The same toy has sold that room: one answer of three is another one.
    let report = send_again(&trace, toy.address, 100.0).unwrap();
    assert_eq!(
        (report.sent, report.same, report.different),
        (3, 2, 1),
        "{report}"
    );
    assert_eq!(report.sent_hash, recorded.hash);
    assert!(report.examples[0].contains("sold_out"), "{report}");
    // A fresh one answers as the first did.
    let report = send_again(&trace, Toy::start(Fault::None).address, 0.5).unwrap();
    assert_eq!(
        (report.sent, report.same, report.different),
        (3, 3, 0),
        "{report}"
    );
    assert_eq!(report.point.operations[0].done, 3);
}

#[test]
fn a_trace_without_its_last_answers_is_sent_whole() {
    let file = File::new("half");
    let mut writer = TraceWriter::create(&file.0).unwrap();
    let connection = writer.open(0).unwrap();
    for at in [1_000, 2_000, 3_000] {
        let ping = b"*1\r\n$4\r\nPING\r\n";
        writer.put(Kind::Request, connection, at, ping).unwrap();
    }
    writer
        .put(Kind::Answer, connection, 4_000, b"+PONG\r\n")
        .unwrap();
    let report = send_again(&file.read(), Toy::start(Fault::None).address, 1.0).unwrap();
    assert_eq!(
        (report.same, report.different, report.unrecorded),
        (1, 0, 2),
        "{report}"
    );
    assert!(report.is_whole(), "{report}");
}

/// A request that was lost with its connection counted as sent, and the replay as whole.
#[test]
fn a_request_that_is_never_answered_makes_a_replay_incomplete() {
    let file = File::new("lost");
    let mut writer = TraceWriter::create(&file.0).unwrap();
    let connection = writer.open(0).unwrap();
    for at in [1_000, 2_000] {
        let ping = b"*1\r\n$4\r\nPING\r\n";
        writer.put(Kind::Request, connection, at, ping).unwrap();
        writer
            .put(Kind::Answer, connection, at + 500, b"+PONG\r\n")
            .unwrap();
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut request = [0; 14];
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut request).unwrap();
        stream.write_all(b"+PONG\r\n").unwrap();
        stream.read_exact(&mut request).unwrap();
        drop(stream);
        // The next connection stays.
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_to_end(&mut Vec::new()).ok();
    });
    let report = send_again(&file.read(), address, 1.0).unwrap();
    assert_eq!(
        (report.sent, report.same, report.unanswered),
        (2, 1, 1),
        "{report}"
    );
    assert!(!report.is_whole(), "{report}");
    assert!(report.to_string().contains("1 never answered"), "{report}");
}

/// The proxy closed both directions as soon as one had ended, and the answer was lost.
#[test]
fn a_client_that_has_finished_sending_gets_its_answers_through_the_proxy() {
    let file = File::new("half-closed");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // It answers when it has all requests.
        stream.read_to_end(&mut Vec::new()).unwrap();
        stream.write_all(b"+PONG\r\n").unwrap();
    });
    let any = "127.0.0.1:0".parse().unwrap();
    let proxy = Proxy::start(any, server, &file.0).unwrap();
    let mut line = TcpStream::connect(proxy.address()).unwrap();
    line.write_all(b"PING\r\n").unwrap();
    line.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    line.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "+PONG\r\n");
    proxy.stop().unwrap();
    let kinds: Vec<Kind> = file.read().entries().map(|entry| entry.kind).collect();
    assert_eq!(
        kinds,
        [Kind::Opened, Kind::Request, Kind::Answer, Kind::Closed]
    );
}

#[test]
fn connections_that_the_proxy_cannot_pass_on_are_counted() {
    let file = File::new("failed");
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = nobody.local_addr().unwrap();
    drop(nobody);
    let any = "127.0.0.1:0".parse().unwrap();
    let proxy = Proxy::start(any, server, &file.0).unwrap();
    let mut line = TcpStream::connect(proxy.address()).unwrap();
    assert_eq!(line.read(&mut [0; 1]).unwrap(), 0);
    let recorded = proxy.stop().unwrap();
    assert_eq!((recorded.connections, recorded.failed), (0, 1));
}

/// Entries by their kind, connection and length.
type Written<'a> = &'a [(Kind, u32, usize)];

#[test]
fn a_trace_that_makes_no_sense_is_refused() {
    let rows: [(&str, Written<'_>, &str); 4] = [
        (
            "answer",
            &[(Kind::Answer, 0, 3)],
            "an answer of a trace comes to a request",
        ),
        ("unopened", &[(Kind::Request, 1, 3)], "is opened first"),
        ("long", &[(Kind::Request, 0, 17_000)], "longer than 16 KiB"),
        ("empty", &[(Kind::Closed, 0, 0)], "no request in the trace"),
    ];
    for (name, entries, sentence) in rows {
        let file = File::new(name);
        let mut writer = TraceWriter::create(&file.0).unwrap();
        writer.open(0).unwrap();
        for (kind, connection, length) in entries {
            writer
                .put(*kind, *connection, 1, &vec![b'x'; *length])
                .unwrap();
        }
        let error = send_again(&file.read(), "127.0.0.1:1".parse().unwrap(), 1.0).unwrap_err();
        assert!(error.to_string().contains(sentence), "{error}");
    }
    let file = File::new("speed");
    TraceWriter::create(&file.0).unwrap();
    let error = send_again(&file.read(), "127.0.0.1:1".parse().unwrap(), 0.0).unwrap_err();
    assert!(error.to_string().contains("above 0"), "{error}");
}
