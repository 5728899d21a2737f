//! A server of a test, and a raw client that waits for exactly what it expects.

use std::{
    io::{ErrorKind, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    time::Duration,
};

use turnstile_server::{
    Databases, Durability, Limits, Options, Running, Settings, StopError, start,
};

/// No answer takes so long: a test that waits longer has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Server {
    running: Running,
}

impl Server {
    pub(crate) fn with(limits: &Limits) -> Self {
        let server = Self::keeping(None, limits, None);
        server
            .client()
            .exchange("ROOMS.ADD-PROPERTY bench OPEN\n", "*2|:1|:1|");
        server
    }

    /// A server that keeps everything in `data`, durably, with all doors open.
    pub(crate) fn durable(data: &Path) -> Self {
        Self::keeping(Some(data.to_owned()), &Limits::STANDARD, None)
    }

    /// A server that plays travel by these settings.
    pub(crate) fn of_travel(travel: Option<turnstile_travel::Settings>) -> Self {
        Self::keeping(None, &Limits::STANDARD, travel)
    }

    /// A server in memory that has room for so many bytes of idempotency keys, with the HTTP door.
    pub(crate) fn with_room_for_keys(bytes: u64) -> Self {
        let mut settings = Self::settings(None, &Limits::STANDARD, None);
        settings.storage.key_bytes = bytes;
        settings.http = settings.resp;
        Self::started(&settings)
    }

    pub(crate) fn keeping(
        data: Option<PathBuf>,
        limits: &Limits,
        travel: Option<turnstile_travel::Settings>,
    ) -> Self {
        Self::started(&Self::settings(data, limits, travel))
    }

    fn settings(
        data: Option<PathBuf>,
        limits: &Limits,
        travel: Option<turnstile_travel::Settings>,
    ) -> Settings {
        let anywhere = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
        let (durability, http) = match data {
            None => (Durability::Memory, None),
            Some(_) => (Durability::Sync, anywhere),
        };
        Settings {
            data,
            resp: anywhere,
            http,
            xml: anywhere,
            lines: anywhere,
            travel,
            duels: turnstile_server::Duels {
                arena: anywhere,
                scores: anywhere,
                ..turnstile_server::Duels::default()
            },
            limits: *limits,
            ..Settings::closed(Options::with(durability))
        }
    }

    /// A server that plays games by these settings.
    pub(crate) fn of_games(games: turnstile_games::Settings) -> Self {
        let anywhere = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
        Self::started(&Settings {
            resp: anywhere,
            games: Some(games),
            duels: turnstile_server::Duels {
                arena: anywhere,
                ..turnstile_server::Duels::default()
            },
            ..Settings::closed(Options::with(Durability::Memory))
        })
    }

    /// A server in memory with the doors of RESP and HTTP.
    pub(crate) fn over_http() -> Self {
        Self::over_http_with(&Limits::STANDARD)
    }

    /// The same, which keeps rooms in a database, if one is given.
    pub(crate) fn over_http_from(rooms: Option<&str>) -> Self {
        let anywhere = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
        Self::started(&Settings {
            resp: anywhere,
            http: anywhere,
            databases: Databases {
                rooms: rooms.map(|url| url.parse().unwrap()),
                ..Databases::default()
            },
            ..Settings::closed(Options::with(Durability::Memory))
        })
    }

    pub(crate) fn over_http_with(limits: &Limits) -> Self {
        let anywhere = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
        Self::started(&Settings {
            resp: anywhere,
            http: anywhere,
            limits: *limits,
            ..Settings::closed(Options::with(Durability::Memory))
        })
    }

    pub(crate) fn started(settings: &Settings) -> Self {
        Self {
            running: start(settings).unwrap(),
        }
    }

    pub(crate) fn new() -> Self {
        Self::with(&Limits::STANDARD)
    }

    pub(crate) fn running(&self) -> &Running {
        &self.running
    }

    pub(crate) fn client(&self) -> Client {
        self.client_of("resp")
    }

    pub(crate) fn client_of(&self, door: &str) -> Client {
        let mut doors = self.running.doors().iter();
        let (_, address) = doors.find(|(name, _)| *name == door).unwrap();
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.set_write_timeout(Some(PATIENCE)).unwrap();
        Client { socket }
    }

    /// Waits for its end by itself, which cannot be a good one.
    pub(crate) fn failure(self) -> StopError {
        self.running.join().unwrap_err()
    }

    /// Waits for its end by itself, which must be a good one.
    pub(crate) fn ended(self) {
        self.running.join().unwrap();
    }

    /// Stops it and waits for its end, which must be a good one.
    pub(crate) fn stop(self) {
        self.running.stopper().stop();
        self.running.join().unwrap();
    }
}

pub(crate) struct Client {
    pub(crate) socket: TcpStream,
}

impl Client {
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.socket.write_all(bytes.as_ref()).unwrap();
    }

    /// Receives exactly these bytes, where `|` stands for a line end.
    #[track_caller]
    pub(crate) fn expect(&mut self, reply: &str) {
        let mut found = vec![0; reply.replace('|', "\r\n").len()];
        let read = self.socket.read_exact(&mut found);
        let shown = String::from_utf8_lossy(&found).replace("\r\n", "|");
        assert!(
            read.is_ok(),
            "{read:?} while waiting for {reply}, got {shown}"
        );
        assert_eq!(shown, reply);
    }

    #[track_caller]
    pub(crate) fn exchange(&mut self, request: &str, reply: &str) {
        self.send(request);
        self.expect(reply);
    }

    /// Receives up to these bytes, and leaves what comes behind them.
    pub(crate) fn until(&mut self, end: &str) -> String {
        let mut found = Vec::new();
        while !found.ends_with(end.as_bytes()) {
            let mut byte = [0];
            let count = self.socket.read(&mut byte).unwrap();
            assert!(count > 0, "the connection ended before {end}");
            found.extend(byte);
        }
        String::from_utf8(found).unwrap()
    }

    /// Sends this or a part of it to a server that may have ended already, and receives whatever
    /// it still says.
    pub(crate) fn last_words(&mut self, bytes: &str) -> String {
        let sent = self.socket.write_all(bytes.as_bytes());
        let mut words = Vec::new();
        let heard = self.socket.read_to_end(&mut words);
        for failure in [sent.err(), heard.err()].into_iter().flatten() {
            let kind = failure.kind();
            assert!(
                matches!(kind, ErrorKind::ConnectionReset | ErrorKind::BrokenPipe),
                "{failure}"
            );
        }
        String::from_utf8_lossy(&words).into_owned()
    }

    /// Receives up to the end of the connection.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        self.socket.read_to_end(&mut rest).unwrap();
        String::from_utf8_lossy(&rest).replace("\r\n", "|")
    }

    /// Says that nothing more comes. The server may have ended the connection before.
    pub(crate) fn end_writing(&self) {
        if let Err(failure) = self.socket.shutdown(Shutdown::Write) {
            assert_eq!(failure.kind(), ErrorKind::NotConnected, "{failure}");
        }
    }
}

/// A booking of room `room` for one night, as a line.
pub(crate) fn book(room: &str) -> String {
    format!("ROOMS.BOOK bench {room} 2027-01-01 2027-01-02 ada 234123412346\n")
}

/// It took two answers that came together for one, so that a test which read them one by one waited for
/// ever, on a machine so loaded that both were there before the first was read.
#[test]
fn a_client_that_reads_up_to_an_end_leaves_the_rest() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut peer, _) = listener.accept().unwrap();
    peer.write_all(b"first\nsecond\n").unwrap();
    drop(peer);
    let mut client = Client { socket };
    assert_eq!(client.until("\n"), "first\n");
    assert_eq!(client.rest(), "second\n");
}
