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

use pseudonyms::Pseudonyms;

/// The most connections of a recording: each takes two threads.
const CONNECTIONS_MAX: usize = 1_000;

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
    /// Both ends of every connection, to end them.
    lines: Vec<(u32, TcpStream, TcpStream)>,
    threads: Vec<JoinHandle<()>>,
    turned_away: u64,
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
        let listener = TcpListener::bind(listen)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            server,
            began: Instant::now(),
            over: AtomicBool::new(false),
            book: Mutex::new(ProxyRecorder {
                writer: TraceWriter::create(file)?,
                pseudonyms: Pseudonyms::default(),
                failed: None,
                lines: Vec::new(),
                threads: Vec::new(),
                turned_away: 0,
            }),
        });
        let accepting = Arc::clone(&shared);
        let listener = thread::spawn(move || {
            for client in listener.incoming() {
                if accepting.over.load(Ordering::SeqCst) {
                    return;
                }
                // Who could not be connected finds the connection closed.
                client.and_then(|client| connect(&accepting, client)).ok();
            }
        });
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
            for (_, client, server) in &book.lines {
                client.shutdown(Shutdown::Both).ok();
                server.shutdown(Shutdown::Both).ok();
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
        })
    }
}

impl Shared {
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

fn connect(shared: &Arc<Shared>, client: TcpStream) -> io::Result<()> {
    {
        let mut book = shared.book();
        if book.lines.len() >= CONNECTIONS_MAX {
            book.turned_away += 1;
            return Ok(());
        }
    }
    let server = shared.server.connect(PATIENCE)?;
    client.set_nodelay(true)?;
    // Who says nothing for a while stays connected.
    server.socket.set_read_timeout(None)?;
    server.socket.set_write_timeout(None)?;
    let (from_server, to_server) = server.split()?;
    let to_client = client.try_clone()?;
    let sockets = || io::Result::Ok([client.try_clone()?, to_server.socket.try_clone()?]);
    let (ends, ends_too, [client_end, server_end]) = (sockets()?, sockets()?, sockets()?);
    let mut book = shared.book();
    let at = shared.now();
    let connection = book.note(|writer| writer.open(at))?;
    book.lines.push((connection, client_end, server_end));
    let (one, other) = (Arc::clone(shared), Arc::clone(shared));
    let there = thread::spawn(move || {
        pass(
            &one,
            connection,
            (client, to_server),
            ProxyDirection::ToServer,
            &ends,
        );
    });
    let back = thread::spawn(move || {
        let line = (from_server, to_client);
        pass(
            &other,
            connection,
            line,
            ProxyDirection::ToClient,
            &ends_too,
        );
    });
    // Threads that have ended are only forgotten.
    book.threads.retain(|thread| !thread.is_finished());
    book.threads.extend([there, back]);
    Ok(())
}

/// Carries bytes one way until somebody closes, or they cannot be read or recorded. Then it closes both
/// ends.
fn pass(
    shared: &Shared,
    connection: u32,
    (mut from, mut to): (impl Read, impl Write),
    way: ProxyDirection,
    ends: &[TcpStream; 2],
) {
    let mut waiting = Vec::new();
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        waiting.extend_from_slice(&buffer[..read]);
        // What is passed on is written down first: no answer can come before its request.
        let noted = note_whole(shared, connection, way, &mut waiting);
        if noted.is_err() || to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    // The other way ends, too.
    for end in ends {
        end.shutdown(Shutdown::Both).ok();
    }
    if way == ProxyDirection::ToServer {
        // A failure is kept in the book, and told when the recording stops.
        shared.note(Kind::Closed, connection, &[]).ok();
        shared
            .book()
            .lines
            .retain(|(number, ..)| *number != connection);
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
