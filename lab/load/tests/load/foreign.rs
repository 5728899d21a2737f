//! Servers of somebody else.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use turnstile_client::{
    AccessKey, ServerAddress,
    tls::{Tls, Trust},
};
use turnstile_load::{
    foreign::{self, Request},
    pace::Pace,
};

use crate::toy::{Fault, Toy};

fn pace(address: impl Into<ServerAddress>) -> Pace {
    Pace {
        threads: 2,
        pipeline: 2,
        ..Pace::closed(address, Duration::ZERO, Duration::from_millis(200))
    }
}

/// A page as long as two reads, for every path but one; it keeps the paths that were asked for.
fn pages() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let seen = Arc::clone(&seen);
            thread::spawn(move || serve(&stream.unwrap(), &seen));
        }
    });
    (address, asked)
}

/// Until the peer closes.
fn serve(mut stream: &TcpStream, seen: &Mutex<Vec<String>>) -> Option<()> {
    let page = "x".repeat(100_000);
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    loop {
        let first = lines.next()?.ok()?;
        while !lines.next()?.ok()?.is_empty() {}
        seen.lock()
            .unwrap()
            .push(first.split(' ').nth(1)?.to_owned());
        let answer = if first.contains("/none") {
            "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned()
        } else {
            format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{page}",
                page.len()
            )
        };
        stream.write_all(answer.as_bytes()).ok()?;
    }
}

/// Answers one request on each connection in these words, and closes it.
fn closing(answer: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                while let Some(Ok(line)) = lines.next() {
                    if line.is_empty() {
                        stream.write_all(answer.as_bytes()).unwrap();
                        return;
                    }
                }
            });
        }
    });
    address
}

#[test]
fn a_server_that_closes_after_each_answer_is_measured_and_its_reconnects_are_counted() {
    let answers = [
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok",
        "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\n\r\nuntil the end",
    ];
    for answer in answers {
        let request = request(closing(answer), "/");
        let pace = Pace {
            pipeline: 1,
            ..pace(request.host.parse::<SocketAddr>().unwrap())
        };
        let point = foreign::run_http(&pace, 3, &request, &mut |_progress| {}).unwrap();
        let operation = &point.operations[0];
        assert!(operation.done > 3, "{answer}: {point:?}");
        assert_eq!(
            (operation.unknown, operation.errors.len()),
            (0, 0),
            "{answer}"
        );
        assert_eq!((point.connections_lost, point.connects_failed), (0, 0));
        // Every answer ends a connection, those after the window too.
        assert!(point.reconnects >= operation.done, "{answer}: {point:?}");
    }
}

/// A server with a certificate for `localhost` that nobody has signed but itself: it answers each line
/// that ends a request in these words, and closes after one or not. And that certificate, in PEM.
fn encrypted(answer: &'static str, closes: bool) -> (SocketAddr, tempfile::NamedTempFile) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(made.cert.pem().as_bytes()).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let config = Arc::clone(&config);
            thread::spawn(move || {
                let tls = rustls::ServerConnection::new(config).unwrap();
                let mut lines = BufReader::new(rustls::StreamOwned::new(tls, stream.unwrap()));
                let mut line = String::new();
                while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
                    let ends = line == "\r\n" || line == "PING\r\n";
                    line.clear();
                    if !ends {
                        continue;
                    }
                    lines.get_mut().write_all(answer.as_bytes()).unwrap();
                    if closes {
                        lines.get_mut().conn.send_close_notify();
                        lines.get_mut().flush().ok();
                        return;
                    }
                }
            });
        }
    });
    (address, file)
}

const PAGE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const LAST_PAGE: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok";

#[test]
fn a_server_behind_tls_is_driven_when_it_is_trusted() {
    for (answer, closes) in [(PAGE, false), (LAST_PAGE, true)] {
        let (address, file) = encrypted(answer, closes);
        for trust in [Trust::File(file.path().to_owned()), Trust::Anybody] {
            let pace = Pace {
                pipeline: 1,
                ..pace(through_tls(address, "localhost", &trust))
            };
            let request = request(address, "/");
            let point = foreign::run_http(&pace, 3, &request, &mut |_progress| {}).unwrap();
            let operation = &point.operations[0];
            assert!(operation.done > 3, "{trust:?}: {point:?}");
            assert_eq!(
                (operation.unknown, operation.errors.len()),
                (0, 0),
                "{trust:?}"
            );
            assert_eq!((point.connections_lost, point.connects_failed), (0, 0));
            assert_eq!(point.reconnects > 0, closes, "{trust:?}");
        }
    }
}

#[test]
fn commands_go_through_tls() {
    let (address, _file) = encrypted("+PONG\r\n", false);
    let pace = pace(through_tls(address, "localhost", &Trust::Anybody));
    let command = ["PING"].map(str::to_owned);
    let point = foreign::run_resp(&pace, 3, &command, &mut |_progress| {}).unwrap();
    assert!(point.operations[0].done > 3, "{point:?}");
    assert_eq!(
        (point.operations[0].unknown, point.connections_lost),
        (0, 0)
    );
}

/// A server that knows one key, and answers one PING on each connection of who has it.
fn guarded() -> ServerAddress {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut lines = BufReader::new(stream.unwrap());
            thread::spawn(move || {
                let (mut line, mut known) = (String::new(), false);
                while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
                    let said = match line.trim_end() {
                        "ts_known" => {
                            known = true;
                            "+OK\r\n"
                        }
                        "ts_unknown" => "-WRONGPASS no such key\r\n",
                        "PING" if known => "+PONG\r\n",
                        "PING" => "-NOAUTH Authentication required.\r\n",
                        _ => "",
                    };
                    line.clear();
                    if lines.get_mut().write_all(said.as_bytes()).is_err() || said == "+PONG\r\n" {
                        return;
                    }
                }
            });
        }
    });
    address.into()
}

#[test]
fn each_connection_begins_with_its_key() {
    let command = ["PING"].map(str::to_owned);
    let with = |key| guarded().with_key(AccessKey::parse(key).unwrap());
    let known = Pace {
        pipeline: 1,
        ..pace(with("ts_known"))
    };
    let point = foreign::run_resp(&known, 3, &command, &mut |_progress| {}).unwrap();
    // The first connection of each user, and others after it.
    assert!(point.operations[0].done > 3, "{point:?}");
    assert_eq!(point.operations[0].errors.len(), 0, "{point:?}");
    let unknown = pace(with("ts_unknown"));
    let told = foreign::run_resp(&unknown, 3, &command, &mut |_progress| {}).unwrap_err();
    let told = format!("{told} {told:?}");
    assert!(told.contains("does not accept this key"), "{told}");
    assert!(!told.contains("ts_unknown"), "{told}");
}

#[test]
fn a_server_that_is_not_trusted_is_not_driven() {
    let (address, _file) = encrypted(PAGE, false);
    let (_, others) = encrypted(PAGE, false);
    let of_others = Trust::File(others.path().to_owned());
    for name in ["localhost", "elsewhere"] {
        let pace = pace(through_tls(address, name, &of_others));
        let request = request(address, "/");
        let error = foreign::run_http(&pace, 3, &request, &mut |_progress| {}).unwrap_err();
        let told = error.to_string();
        assert!(told.contains("user 0 cannot connect"), "{told}");
        assert!(told.contains("certificate"), "{told}");
    }
    let empty = tempfile::NamedTempFile::new().unwrap();
    let told = Tls::new("localhost", &Trust::File(empty.path().to_owned()), None).unwrap_err();
    assert!(told.contains("no certificate in PEM"), "{told}");
    let told = Tls::new("a name", &Trust::Anybody, None).unwrap_err();
    assert!(told.contains("is no name of a server"), "{told}");
}

fn request(address: SocketAddr, path: &str) -> Request {
    Request {
        method: "GET".to_owned(),
        host: address.to_string(),
        path: path.to_owned(),
        headers: Vec::new(),
        body: None,
        key: None,
    }
}

fn through_tls(address: SocketAddr, name: &str, trust: &Trust) -> ServerAddress {
    ServerAddress::from(address).with_tls(Tls::new(name, trust, None).unwrap())
}

fn get(address: SocketAddr, path: &str) -> turnstile_result::Point {
    let request = request(address, path);
    foreign::run_http(&pace(address), 3, &request, &mut |_progress| {}).unwrap()
}

#[test]
fn any_page_is_driven_and_every_request_has_its_number() {
    let (address, asked) = pages();
    let point = get(address, "/rooms/__n__");
    let [request] = &point.operations[..] else {
        panic!("{point:?}");
    };
    assert!(request.done > 0 && request.errors.is_empty(), "{request:?}");
    assert_eq!((request.unknown, point.connections_lost), (0, 0));
    let asked = asked.lock().unwrap();
    let different: BTreeSet<&String> = asked.iter().collect();
    assert_eq!(different.len(), asked.len());
    assert!(different.contains(&"/rooms/0".to_owned()), "{different:?}");
}

#[test]
fn what_is_not_there_is_an_error_with_its_code() {
    let point = get(pages().0, "/none");
    let request = &point.operations[0];
    let codes: Vec<&str> = request.errors.keys().map(String::as_str).collect();
    assert_eq!((request.done, codes), (0, vec!["404"]));
}

#[test]
fn any_command_is_driven_with_its_number() {
    let toy = Toy::start(Fault::None);
    let command = ["PING"].map(str::to_owned);
    let point = foreign::run_resp(&pace(toy.address), 3, &command, &mut |_progress| {}).unwrap();
    assert!(point.operations[0].done > 0, "{point:?}");
    assert!(point.operations[0].errors.is_empty(), "{point:?}");
}
