//! The door over real sockets, with a real loop behind it, or with a test in the loop's place.

mod access;
mod databases;
mod disconnect;
mod errors;
mod events;
mod exchange;
mod feed;
mod framing;
mod games;
mod limits;
mod metrics;
mod operators;
mod origins;
mod play;
mod rooms;
mod socket;
mod stopping;
mod travel;

use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, mpsc},
    time::Duration,
};

use serde_json::Value;
use turnstile_access::Access;
use turnstile_rooms::{IdKey, Rooms};
use turnstile_types::{Machine as _, Position};

use super::{About, Feeds, HttpDoor, HttpLimits, WebOrigin};
use crate::{
    Durability, Options, Running, Settings,
    core::{
        feed::Feed,
        gate::{Gate, GateInbox},
    },
    counters::Counters,
    start,
};

/// No test waits longer for anything.
const PATIENCE: Duration = Duration::from_secs(20);

/// A door on a port of its own.
struct Site {
    address: SocketAddr,
    feed: Arc<Feed<Rooms>>,
    door: HttpDoor,
    counters: Arc<Counters>,
    ended: mpsc::Receiver<()>,
    /// The loop, where it is a real one.
    running: Option<Running>,
}

impl Site {
    /// A door with a loop that keeps everything in memory, and the open property `bench`.
    fn open() -> Self {
        let site = Self::open_with(HttpLimits::STANDARD);
        let added = site.peer().post(
            "/v1/rooms/properties",
            "",
            r#"{"property":"bench","open":true}"#,
        );
        assert_eq!(added.status, 201, "{added:?}");
        site
    }

    fn open_with(limits: HttpLimits) -> Self {
        Self::of(start(&settings(None)).unwrap(), limits)
    }

    fn of(running: Running, limits: HttpLimits) -> Self {
        let mut site = Self::before(running.gate(), limits, &[]);
        site.running = Some(running);
        site
    }

    /// A door whose loop is the test.
    fn with_inbox(limits: HttpLimits) -> (Self, GateInbox, mio::Poll) {
        let poll = mio::Poll::new().unwrap();
        let waker = mio::Waker::new(poll.registry(), mio::Token(0)).unwrap();
        let (gate, inbox) = Gate::new(
            waker,
            Arc::new(crate::core::loading::Loading::over(IdKey::new([7; 16]))),
            false,
        );
        inbox.publish(Arc::new(Access::empty()));
        (Self::before(gate, limits, &[]), inbox, poll)
    }

    fn before(gate: Gate, limits: HttpLimits, origins: &[WebOrigin]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let feed = Arc::new(Feed::new(Position(0)));
        let (ending, ended) = mpsc::sync_channel(1);
        let feeds = Feeds {
            rooms: Arc::clone(&feed),
            ..Feeds::new(limits.events)
        };
        let counters = Arc::new(Counters::default());
        let end = move || ending.send(()).unwrap_or_default();
        let counted = Arc::clone(&counters);
        let limits = (limits, origins, About::default(), None);
        let door = HttpDoor::start(listener, gate, feeds, counted, limits, end).unwrap();
        Self {
            address,
            feed,
            door,
            counters,
            ended,
            running: None,
        }
    }

    fn peer(&self) -> Peer {
        Peer::connect(self.address)
    }

    /// Waits until so many connections keep nothing of the library that speaks HTTP.
    fn until_asleep(&self, count: usize) {
        let end = std::time::Instant::now() + PATIENCE;
        while self.door.stopper.0.lines().asleep() != count {
            assert!(std::time::Instant::now() < end, "{count} do not sleep");
            std::thread::yield_now();
        }
    }

    /// Ends the door, and then the loop; both must end well.
    fn close(self) {
        self.door.stopper().stop();
        self.ended.recv_timeout(PATIENCE).unwrap();
        self.door.join().unwrap();
        if let Some(running) = self.running {
            running.stopper().stop();
            running.join().unwrap();
        }
    }
}

/// A server that keeps everything in memory.
fn settings(http: Option<SocketAddr>) -> Settings {
    Settings {
        http,
        ..Settings::closed(Options::with(Durability::Memory))
    }
}

/// A client that sends what it is told, byte by byte the same.
struct Peer {
    stream: TcpStream,
    kept: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Peer {
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            stream,
            kept: Vec::new(),
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    fn get(&mut self, target: &str, headers: &str) -> Reply {
        self.request("GET", target, headers, "")
    }

    /// A body as JSON.
    fn post(&mut self, target: &str, headers: &str, body: &str) -> Reply {
        let headers = format!("Content-Type: application/json\r\n{headers}");
        self.request("POST", target, &headers, body)
    }

    fn request(&mut self, method: &str, target: &str, headers: &str, body: &str) -> Reply {
        let request = format!(
            "{method} {target} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {}\r\n\r\n\
             {body}",
            body.len()
        );
        self.send(request.as_bytes());
        self.reply()
    }

    /// Reads up to and with `mark`; nothing when the server closes first.
    fn read_to(&mut self, mark: &str) -> Option<String> {
        loop {
            let text = String::from_utf8_lossy(&self.kept).into_owned();
            if let Some(at) = text.find(mark) {
                let rest = self.kept.split_off(at + mark.len());
                self.kept = rest;
                return Some(text[..at + mark.len()].to_owned());
            }
            if self.read_more() == 0 {
                return None;
            }
        }
    }

    fn read_more(&mut self) -> usize {
        let mut room = [0; 16 * 1_024];
        match self.stream.read(&mut room) {
            Ok(length) => {
                self.kept.extend_from_slice(&room[..length]);
                length
            }
            Err(reset) if reset.kind() == ErrorKind::ConnectionReset => 0,
            Err(failure) => panic!("no answer: {failure}"),
        }
    }

    fn reply(&mut self) -> Reply {
        let head = self.read_to("\r\n\r\n").expect("an answer before the end");
        let status = head[9..12].parse().unwrap();
        let mut reply = Reply {
            status,
            head,
            body: String::new(),
        };
        let length = reply.header("content-length").unwrap_or_default();
        let length: usize = length.parse().unwrap_or(0);
        while self.kept.len() < length {
            assert_ne!(self.read_more(), 0, "the body breaks off");
        }
        let rest = self.kept.split_off(length);
        reply.body = String::from_utf8(std::mem::replace(&mut self.kept, rest)).unwrap();
        reply
    }

    /// Asserts that the server closes, without another byte.
    fn expect_end(&mut self) {
        while self.read_more() > 0 {}
        assert_eq!(self.kept.escape_ascii().to_string(), "");
    }
}

impl Reply {
    fn header(&self, name: &str) -> Option<String> {
        let mut lines = self.head.lines().skip(1);
        lines.find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The status and the code of a problem, after checking its form.
    fn problem(&self) -> (u16, String) {
        assert_eq!(
            self.header("content-type").as_deref(),
            Some("application/problem+json"),
            "{self:?}"
        );
        let problem = self.json();
        let code = problem["code"].as_str().unwrap().to_owned();
        assert_eq!(problem["status"], self.status);
        assert_eq!(problem["type"], format!("/docs#{code}"));
        let id = self.header("x-request-id").unwrap();
        assert_eq!(problem["request_id"], id);
        assert!(problem["title"].is_string() && problem["retryable"].is_boolean());
        (self.status, code)
    }
}

/// The body of a booking in `bench`.
fn booking(room: &str, arrival: &str, departure: &str) -> String {
    format!(
        r#"{{"property":"bench","wish":"{room}","arrival":"{arrival}","departure":"{departure}","guest":"ada","id_number":"234123412346"}}"#
    )
}
