//! Writes a trace, entry by entry.

use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::entry::{Entry, HEAD, Kind};

/// A trace that is being written. Each entry is one write: who is killed leaves all but the last.
#[derive(Debug)]
pub struct TraceWriter {
    file: File,
    bytes: Vec<u8>,
    hash: StreamHash,
    connections: u32,
    requests: u64,
}

/// The hash of what one connection sends.
#[derive(Clone)]
pub struct SentHash(Xxh3);

/// The hash of a stream of requests: of the bytes that each connection sends, whatever comes between
/// them and whenever. Same requests on the same connections, same hash.
#[derive(Clone, Debug, Default)]
pub struct StreamHash(Vec<SentHash>);

impl std::fmt::Debug for SentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SentHash({:016x})", self.0.digest())
    }
}

impl Default for SentHash {
    fn default() -> Self {
        Self(Xxh3::new())
    }
}

impl SentHash {
    /// Adds what was sent.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

impl StreamHash {
    /// Of all connections, by their number.
    #[must_use]
    pub const fn of(connections: Vec<SentHash>) -> Self {
        Self(connections)
    }

    /// Adds what a connection sent.
    pub fn add(&mut self, connection: u32, bytes: &[u8]) {
        let place = usize::try_from(connection).expect("connections are few");
        if self.0.len() <= place {
            self.0.resize_with(place + 1, SentHash::default);
        }
        self.0[place].add(bytes);
    }

    #[must_use]
    pub fn value(&self) -> u64 {
        let digests = self.0.iter().flat_map(|one| one.0.digest().to_le_bytes());
        xxh3_64(&digests.collect::<Vec<u8>>())
    }
}

impl TraceWriter {
    /// Begins a trace in a file that is not there yet.
    ///
    /// # Errors
    /// It is there, or cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut file = File::create_new(path)?;
        file.write_all(&HEAD)?;
        Ok(Self {
            file,
            bytes: Vec::new(),
            hash: StreamHash::default(),
            connections: 0,
            requests: 0,
        })
    }

    /// Notes that a client connected, and gives it its number.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn open(&mut self, at: u64) -> io::Result<u32> {
        let connection = self.connections;
        self.connections += 1;
        self.hash.add(connection, &[]);
        self.put(Kind::Opened, connection, at, &[])?;
        Ok(connection)
    }

    /// Notes what else happened.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put(&mut self, kind: Kind, connection: u32, at: u64, payload: &[u8]) -> io::Result<()> {
        if kind == Kind::Request {
            self.requests += 1;
            self.hash.add(connection, payload);
        }
        self.bytes.clear();
        let entry = Entry {
            kind,
            connection,
            at,
            payload,
        };
        entry.put(&mut self.bytes);
        self.file.write_all(&self.bytes)
    }

    /// Connections, requests, and the hash of their stream so far.
    #[must_use]
    pub fn summary(&self) -> (u32, u64, u64) {
        (self.connections, self.requests, self.hash.value())
    }
}
