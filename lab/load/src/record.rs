//! A proxy before a RESP server that writes down what is said through it, and when.

mod logins;
mod pseudonyms;

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use turnstile_client::{
    ServerAddress,
    resp::{self, ReplyLimits},
};
use turnstile_trace::{ENTRY_BYTES_MAX, Kind, TraceWriter};

use crate::crew;
use pseudonyms::Pseudonyms;

/// The most connections of a recording: each takes two threads.
const CONNECTIONS_MAX: usize = 1_000;

/// Descriptors of a connection: one at the client, one at the server, and in a run of the lab's own one of
/// its user.
const DESCRIPTORS_EACH: usize = 3;

/// How long nothing is accepted after that has failed: there are no descriptors, and who waits goes on
/// waiting.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// One read takes at most so much.
const READ_BYTES: usize = 64 * 1024;

/// How long the server may take to accept a connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// A recording that goes on.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: JoinHandle<()>,
}

/// What was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub connections: u32,
    pub requests: u64,
    /// Of the stream of requests, in hexadecimal digits.
    pub hash: String,
    /// Connections that were not accepted, for there were too many.
    pub turned_away: u64,
    /// Those for which the server could not be reached.
    pub failed: u64,
    /// Why clients had to wait to be accepted, if they had to.
    pub delayed: Option<String>,
}

#[derive(Debug)]
struct Shared {
    server: ServerAddress,
    began: Instant,
    over: AtomicBool,
    book: Mutex<ProxyRecorder>,
}

#[derive(Debug)]
struct ProxyRecorder {
    writer: TraceWriter,
    pseudonyms: Pseudonyms,
    /// Why nothing is written any more.
    failed: Option<io::Error>,
    connections: Vec<Arc<ProxyConnection>>,
    threads: Vec<JoinHandle<()>>,
    turned_away: u64,
    failures: u64,
    /// The first error of accepting.
    delayed: Option<String>,
}

/// Both ends of a connection that the two threads of its directions share. A direction that ends lets the
/// other go on, as TCP does; the last one closes both ends.
#[derive(Debug)]
struct ProxyConnection {
    number: u32,
    client: TcpStream,
    server: Arc<TcpStream>,
    /// Whether one direction has ended.
    is_half_closed: AtomicBool,
}

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProxyDirection {
    ToServer,
    ToClient,
}

impl Proxy {
    /// Begins to listen, and to write to a file that is not there yet. Where the server's address has a
    /// key, the proxy logs in before its clients ask, and no login is recorded.
    ///
    /// # Errors
    /// The file or the address cannot be had.
    pub fn start(
        listen: SocketAddr,
        server: impl Into<ServerAddress>,
        file: &Path,
    ) -> io::Result<Self> {
        let server = server.into();
        // Where the system allows fewer, connections fail, and are counted.
        crew::allow(DESCRIPTORS_EACH * CONNECTIONS_MAX).ok();
        let listener = TcpListener::bind(listen)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(server, file)?);
        let accepting = Arc::clone(&shared);
        let listener = thread::spawn(move || accept(&accepting, listener.incoming()));
        Ok(Self {
            address,
            shared,
            listener,
        })
    }

    /// Where clients connect.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends all connections; what was recorded.
    ///
    /// # Errors
    /// Something could not be written: the file ends there.
    pub fn stop(self) -> io::Result<Recorded> {
        self.shared.over.store(true, Ordering::SeqCst);
        // It waits for somebody to come.
        TcpStream::connect_timeout(&self.address, PATIENCE).ok();
        self.listener.join().ok();
        let threads = {
            let mut book = self.shared.book();
            for connection in &book.connections {
                connection.close();
            }
            std::mem::take(&mut book.threads)
        };
        for thread in threads {
            thread.join().ok();
        }
        let mut book = self.shared.book();
        if let Some(failed) = book.failed.take() {
            return Err(failed);
        }
        let (connections, requests, hash) = book.writer.summary();
        Ok(Recorded {
            connections,
            requests,
            hash: format!("{hash:016x}"),
            turned_away: book.turned_away,
            failed: book.failures,
            delayed: book.delayed.take(),
        })
    }
}

impl Shared {
    fn new(server: ServerAddress, file: &Path) -> io::Result<Self> {
        Ok(Self {
            server,
            began: Instant::now(),
            over: AtomicBool::new(false),
            book: Mutex::new(ProxyRecorder {
                writer: TraceWriter::create(file)?,
                pseudonyms: Pseudonyms::default(),
                failed: None,
                connections: Vec::new(),
                threads: Vec::new(),
                turned_away: 0,
                failures: 0,
                delayed: None,
            }),
        })
    }

    fn book(&self) -> MutexGuard<'_, ProxyRecorder> {
        // Each entry is written whole or not at all, whoever panicked.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes an entry at this instant. The instant is taken with the lock held: entries are in order.
    fn note(&self, kind: Kind, connection: u32, payload: &[u8]) -> io::Result<()> {
        let mut book = self.book();
        let at = self.now();
        book.note(|writer| writer.put(kind, connection, at, payload))
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).expect("a recording ends within 584 years")
    }
}

impl ProxyRecorder {
    /// A failed write is final.
    fn note<T>(&mut self, write: impl FnOnce(&mut TraceWriter) -> io::Result<T>) -> io::Result<T> {
        if self.failed.is_some() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        write(&mut self.writer).map_err(|error| {
            let kind = error.kind();
            self.failed = Some(error);
            kind.into()
        })
    }
}

impl ProxyConnection {
    fn close(&self) {
        for end in [&self.client, &*self.server] {
            end.shutdown(Shutdown::Both).ok();
        }
    }

    /// Nothing more comes from one end: the other hears that, and may still answer.
    fn finish(&self, way: ProxyDirection) {
        let end = match way {
            ProxyDirection::ToServer => &*self.server,
            ProxyDirection::ToClient => &self.client,
        };
        end.shutdown(Shutdown::Write).ok();
    }
}

/// Connects each client to the server, until the recording is over.
fn accept(shared: &Arc<Shared>, clients: impl Iterator<Item = io::Result<TcpStream>>) {
    for client in clients {
        if shared.over.load(Ordering::SeqCst) {
            return;
        }
        match client {
            Ok(client) => {
                // Who could not be connected finds the connection closed.
                let connected = connect(shared, client);
                shared.book().failures += u64::from(connected.is_err());
            }
            Err(error) => {
                let mut book = shared.book();
                book.delayed.get_or_insert_with(|| error.to_string());
                drop(book);
                thread::park_timeout(ACCEPT_PAUSE);
            }
        }
    }
}

fn connect(shared: &Arc<Shared>, client: TcpStream) -> io::Result<()> {
    {
        let mut book = shared.book();
        if book.connections.len() >= CONNECTIONS_MAX {
            book.turned_away += 1;
            return Ok(());
        }
    }
    let server = shared.server.connect(PATIENCE)?;
    client.set_nodelay(true)?;
    // Who says nothing for a while stays connected.
    server.socket.set_read_timeout(None)?;
    server.socket.set_write_timeout(None)?;
    let (from_server, to_server) = server.split();
    let mut book = shared.book();
    let at = shared.now();
    let one = Arc::new(ProxyConnection {
        number: book.note(|writer| writer.open(at))?,
        client,
        server: Arc::clone(&to_server.socket),
        is_half_closed: AtomicBool::new(false),
    });
    book.connections.push(Arc::clone(&one));
    let (other, shared_too) = (Arc::clone(&one), Arc::clone(shared));
    let there = thread::spawn(move || {
        let (line, way) = ((&other.client, to_server), ProxyDirection::ToServer);
        pass(&shared_too, &other, line, way);
    });
    let shared_too = Arc::clone(shared);
    let back = thread::spawn(move || {
        let (line, way) = ((from_server, &one.client), ProxyDirection::ToClient);
        pass(&shared_too, &one, line, way);
    });
    // Threads that have ended are only forgotten.
    book.threads.retain(|thread| !thread.is_finished());
    book.threads.extend([there, back]);
    Ok(())
}

/// Carries bytes one way until there are no more, or they cannot be read or recorded.
fn pass(
    shared: &Shared,
    connection: &ProxyConnection,
    line: (impl Read, impl Write),
    way: ProxyDirection,
) {
    if carry(shared, connection.number, line, way).is_ok() {
        connection.finish(way);
    } else {
        connection.close();
    }
    if connection.is_half_closed.swap(true, Ordering::SeqCst) {
        connection.close();
        // A failure is kept in the book, and told when the recording stops.
        shared.note(Kind::Closed, connection.number, &[]).ok();
        let is_other = |one: &Arc<ProxyConnection>| one.number != connection.number;
        shared.book().connections.retain(is_other);
    }
}

/// Carries bytes until the end from which they come has finished sending.
fn carry(
    shared: &Shared,
    connection: u32,
    (mut from, mut to): (impl Read, impl Write),
    way: ProxyDirection,
) -> io::Result<()> {
    let mut waiting = Vec::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        waiting.extend_from_slice(&buffer[..read]);
        // What is passed on is written down first: no answer can come before its request.
        note_whole(shared, connection, way, &mut waiting)?;
        to.write_all(&buffer[..read])?;
    }
}

/// Writes down every whole message at the front of `waiting`, without id numbers and secrets, and leaves
/// the rest.
fn note_whole(
    shared: &Shared,
    connection: u32,
    way: ProxyDirection,
    waiting: &mut Vec<u8>,
) -> io::Result<()> {
    let garbled = || io::Error::from(io::ErrorKind::InvalidData);
    let kind = match way {
        ProxyDirection::ToServer => Kind::Request,
        ProxyDirection::ToClient => Kind::Answer,
    };
    let mut used = 0;
    while used < waiting.len() {
        let rest = &mut waiting[used..];
        let Some(length) = length(rest, way).map_err(|_malformed| garbled())? else {
            break;
        };
        let message = &mut rest[..length];
        if way == ProxyDirection::ToServer {
            shared.book().pseudonyms.replace(message);
            logins::hide(message);
        }
        shared.note(kind, connection, message)?;
        used += length;
    }
    waiting.drain(..used);
    if waiting.len() > ENTRY_BYTES_MAX {
        return Err(garbled());
    }
    Ok(())
}

/// How many bytes the first whole message takes. A request that is no array is a line, as people type
/// them.
fn length(bytes: &[u8], way: ProxyDirection) -> Result<Option<usize>, resp::MalformedReply> {
    if way == ProxyDirection::ToServer && bytes.first() != Some(&b'*') {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        return Ok(end.map(|end| end + 1));
    }
    resp::reply_length(bytes, &ReplyLimits::REPLY)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each try to accept the same client was a connection that had failed.
    #[test]
    fn a_client_who_waits_for_descriptors_has_not_failed() {
        let directory = tempfile::tempdir().unwrap();
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let shared = Shared::new(address.into(), &directory.path().join("trace"));
        let shared = Arc::new(shared.unwrap());
        let short = || Err(io::Error::other("too many open files"));
        let client = TcpStream::connect(address);
        accept(&shared, [short(), short(), client].into_iter());
        let book = shared.book();
        assert_eq!((book.failures, book.connections.len()), (0, 1));
        assert_eq!(book.delayed.as_deref(), Some("too many open files"));
        for connection in &book.connections {
            connection.close();
        }
    }
}
