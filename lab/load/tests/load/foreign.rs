//! Servers of somebody else.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use turnstile_load::{
    foreign::{self, Request},
    pace::Pace,
};

use crate::toy::{Fault, Toy};

fn pace(address: SocketAddr) -> Pace {
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

fn get(address: SocketAddr, path: &str) -> turnstile_result::Point {
    let request = Request {
        method: "GET".to_owned(),
        host: address.to_string(),
        path: path.to_owned(),
        headers: Vec::new(),
        body: None,
    };
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
