//! Thousands of clients that log in and rest, and as many that never say who they are: each takes little,
//! whoever works is served, and the places come back.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use turnstile_client::{Connection, descriptors, resp::Value};
use turnstile_tests::Turnstile;

use crate::guards::{ROOT, guard, key, put};

/// How long one answer may take; a slow machine needs a fraction of it.
const PATIENCE: Duration = Duration::from_secs(60);

/// After so many newcomers the worker asks for something.
const NEWCOMERS_BETWEEN: usize = 100;

/// How often the server is asked whether the places are free; each time it may have closed some more.
const LOOKS: usize = 100_000;

/// What a connection that rests may take, in bytes: twice what `docs/limits.md` says, and some memory is
/// kept for all.
const RESP_BYTES_MAX: u64 = 4 * 1_024;
const HTTP_BYTES_MAX: u64 = 28 * 1_024;
const SOCKET_BYTES_MAX: u64 = 20 * 1_024;

/// Held by the test that has its thousands: two crowds at once are more files than a system may allow.
static CROWDED: Mutex<()> = Mutex::new(());

/// Waits until no other test has a crowd, and has files allowed for one.
fn alone() -> MutexGuard<'static, ()> {
    let alone = CROWDED.lock().unwrap_or_else(PoisonError::into_inner);
    descriptors::allow(12_000).expect("files can be opened");
    alone
}

/// Whoever works meanwhile.
struct Worker {
    connection: Connection,
    booked: usize,
}

impl Worker {
    fn work(&mut self) {
        self.booked += 1;
        let number = self.booked;
        let book = format!("ROOMS.BOOK bench r{number} 2027-01-01 2027-01-02 ada 234123412346");
        let booked = put(&mut self.connection, &book);
        assert_eq!(booked.at("outcome").and_then(Value::as_str), Some("done"));
    }

    /// How many clients are connected at the RESP door, the worker among them.
    fn clients(&mut self) -> usize {
        let facts = put(&mut self.connection, "INFO clients");
        let mut lines = facts.as_str().expect("INFO is a text").lines();
        let open = lines.find_map(|line| line.strip_prefix("connected_clients:"));
        let open = open.expect("INFO says it");
        open.parse().expect("a number")
    }

    /// Waits until so many are connected.
    fn await_clients(&mut self, count: usize) {
        let looks = (0..LOOKS).any(|_| self.clients() == count);
        assert!(looks, "{} are connected, not {count}", self.clients());
    }
}

/// A server with an administrator who works.
fn site(data: &std::path::Path, arguments: &[&str]) -> (Turnstile, Worker) {
    let server = Turnstile::serve_http(data, arguments);
    let mut connection = guard(server.resp());
    put(&mut connection, "ROOMS.ADD-PROPERTY bench OPEN");
    let worker = Worker {
        connection,
        booked: 0,
    };
    (server, worker)
}

/// One that has been asked for this, and has heard an answer that begins and ends so.
fn client(address: SocketAddr, request: &str, (begin, end): (&str, &str)) -> TcpStream {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).expect("the server is there");
    stream.set_read_timeout(Some(PATIENCE)).expect("it is ours");
    stream.write_all(request.as_bytes()).expect("it is taken");
    let mut heard = Vec::new();
    while !heard.ends_with(end.as_bytes()) {
        let mut bytes = [0; 1_024];
        let count = stream.read(&mut bytes).expect("an answer comes");
        let shown = String::from_utf8_lossy(&heard);
        assert!(count > 0, "the connection ended after {shown}");
        heard.extend_from_slice(&bytes[..count]);
    }
    let heard = String::from_utf8_lossy(&heard);
    assert!(heard.starts_with(begin), "{heard}");
    stream
}

/// Connects so many, and has the worker work now and then. Answers the bytes that each has taken.
fn crowd(
    server: &Turnstile,
    worker: &mut Worker,
    count: usize,
    connect: impl Fn(usize) -> TcpStream,
) -> (Vec<TcpStream>, u64) {
    let before = server.resident_bytes();
    let mut crowd = Vec::new();
    for number in 0..count {
        crowd.push(connect(number));
        if number % NEWCOMERS_BETWEEN == 0 {
            worker.work();
        }
    }
    let grown = server.resident_bytes().saturating_sub(before);
    let each = grown / u64::try_from(count).expect("a number");
    (crowd, each)
}

fn login() -> String {
    format!("AUTH {}\r\n", key(ROOT).expose())
}

/// A request over HTTP with the key.
fn get(path: &str, more: &str) -> String {
    let key = key(ROOT);
    format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n{more}\r\n",
        key.expose()
    )
}

#[test]
fn ten_thousand_who_have_logged_in_and_rest_take_little() {
    let _alone = alone();
    let data = tempfile::tempdir().expect("a temporary folder");
    let (server, mut worker) = site(data.path(), &[]);
    let (resp, login) = (server.resp(), login());
    let connect = |_| client(resp, &login, ("+OK", "\r\n"));
    let (crowd, each) = crowd(&server, &mut worker, 10_000, connect);
    assert!(each < RESP_BYTES_MAX, "each takes {each} bytes");
    assert_eq!(worker.clients(), 10_001);
    drop(crowd);
    worker.await_clients(1);
    worker.work();
}

#[test]
fn thousands_who_have_logged_in_over_http_and_rest_give_way_to_newcomers() {
    let _alone = alone();
    let data = tempfile::tempdir().expect("a temporary folder");
    let (server, mut worker) = site(data.path(), &[]);
    let http = server.http();
    let whoami = get("/v1/access/whoami", "");
    let connect = |_| client(http, &whoami, ("HTTP/1.1 200 OK", "}"));
    let (_kept, each) = crowd(&server, &mut worker, 3_000, connect);
    assert!(each < HTTP_BYTES_MAX, "each takes {each} bytes");
    // More than there are places: the oldest of those that rest go.
    let (_more, _) = crowd(&server, &mut worker, 1_500, connect);
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let connect = |number| {
        let request = get(&format!("/v1/games/play?player=p{number}"), upgrade);
        client(http, &request, ("HTTP/1.1 101 ", "}"))
    };
    let (_players, each) = crowd(&server, &mut worker, 3_000, connect);
    assert!(each < SOCKET_BYTES_MAX, "each takes {each} bytes");
}

/// More than there are places, at either door, in every state before a login.
#[test]
fn thousands_who_never_log_in_keep_nobody_out() {
    let _alone = alone();
    let data = tempfile::tempdir().expect("a temporary folder");
    let (server, mut worker) = site(data.path(), &["--limit-connections", "4000"]);
    let (resp, http) = (server.resp(), server.http());
    let before = server.resident_bytes();
    let begins = |address, request: &'static str| {
        move |_| {
            let stream = TcpStream::connect_timeout(&address, PATIENCE);
            let mut stream = stream.expect("the server is there");
            stream.write_all(request.as_bytes()).expect("it is taken");
            stream
        }
    };
    let states = [
        (resp, "", 2_000),
        (resp, "PING\r\n", 2_000),
        (resp, "*2\r\n$4\r\nAUTH\r\n$74\r\nts_", 2_000),
        (http, "", 1_200),
        (
            http,
            "GET /v1/rooms/totals HTTP/1.1\r\nHost: localhost\r\n\r\n",
            1_200,
        ),
        (http, "GET /v1/rooms/totals HTTP/1.1\r\nHo", 1_200),
        (
            http,
            "GET /v1/games/play?player=p HTTP/1.1\r\nUpgrade: webs",
            1_200,
        ),
    ];
    let mut crowds = Vec::new();
    for (address, request, count) in states {
        let connect = begins(address, request);
        crowds.push(crowd(&server, &mut worker, count, connect).0);
        drop(client(resp, &login(), ("+OK", "\r\n")));
        let whoami = get("/v1/access/whoami", "");
        drop(client(http, &whoami, ("HTTP/1.1 200 OK", "}")));
    }
    let grown = server.resident_bytes().saturating_sub(before);
    let most = 4_000 * RESP_BYTES_MAX + 4_096 * HTTP_BYTES_MAX;
    assert!(grown < most, "{grown} bytes, at most {most}");
    drop(crowds);
    worker.await_clients(1);
    worker.work();
}
