//! The two directions of a connection, for two threads that block.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::TcpStream,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rustls::ClientConnection;

use crate::{PeerStream, tls};

/// One read of what is encrypted takes at most so much: a record.
const READ_BYTES: usize = 17 * 1_024;

/// What both directions share of TLS. It is locked while bytes are encrypted or decrypted, never while a
/// thread waits for the socket: so neither direction waits for the other.
type SharedTls = Arc<Mutex<Box<ClientConnection>>>;

/// What comes from the server.
#[derive(Debug)]
pub struct PeerReader {
    /// One descriptor for both directions, and for whoever ends them.
    pub socket: Arc<TcpStream>,
    tls: Option<SharedTls>,
    encrypted: Vec<u8>,
    /// What was decrypted, and how much of that was read.
    plain: Vec<u8>,
    read: usize,
}

/// What goes to the server.
#[derive(Debug)]
pub struct PeerWriter {
    pub socket: Arc<TcpStream>,
    tls: Option<SharedTls>,
    encrypted: Vec<u8>,
}

impl PeerStream<TcpStream> {
    /// Splits a connection that has logged in and agreed on how to encrypt.
    #[must_use]
    pub fn split(self) -> (PeerReader, PeerWriter) {
        let (socket, tls) = self.into_parts();
        let socket = Arc::new(socket);
        let tls = tls.map(|tls| Arc::new(Mutex::new(tls)));
        let writer = PeerWriter {
            socket: Arc::clone(&socket),
            tls: tls.clone(),
            encrypted: Vec::new(),
        };
        let reader = PeerReader {
            socket,
            tls,
            encrypted: vec![0; READ_BYTES],
            plain: Vec::new(),
            read: 0,
        };
        (reader, writer)
    }
}

fn lock(tls: &SharedTls) -> MutexGuard<'_, Box<ClientConnection>> {
    tls.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes what has been decrypted; whether the server has said that no more comes.
fn take(tls: &mut ClientConnection, plain: &mut Vec<u8>) -> io::Result<bool> {
    match tls.reader().read_to_end(plain) {
        Ok(_) => Ok(true),
        // Many servers close without saying so first.
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(true),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

impl Read for PeerReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &self.tls else {
            return (&*self.socket).read(buffer);
        };
        if self.read == self.plain.len() {
            self.plain.clear();
            self.read = 0;
            let mut has_ended = take(&mut lock(tls), &mut self.plain)?;
            while self.plain.is_empty() && !has_ended {
                let length = (&*self.socket).read(&mut self.encrypted)?;
                let mut encrypted = &self.encrypted[..length];
                let mut tls = lock(tls);
                has_ended = length == 0;
                while !encrypted.is_empty() {
                    tls.read_tls(&mut encrypted)?;
                    let processed = tls.process_new_packets();
                    processed
                        .map_err(io::Error::other)
                        .map_err(tls::explained)?;
                    has_ended |= take(&mut tls, &mut self.plain)?;
                }
            }
        }
        let length = buffer.len().min(self.plain.len() - self.read);
        buffer[..length].copy_from_slice(&self.plain[self.read..self.read + length]);
        self.read += length;
        Ok(length)
    }
}

impl Write for PeerWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(tls) = &self.tls else {
            return (&*self.socket).write(bytes);
        };
        self.encrypted.clear();
        let taken = {
            let mut tls = lock(tls);
            let taken = tls.writer().write(bytes)?;
            while tls.wants_write() {
                tls.write_tls(&mut self.encrypted)?;
            }
            taken
        };
        (&*self.socket).write_all(&self.encrypted)?;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.socket).flush()
    }
}
