//! The socket beneath every blocking connection: what waits to be sent, and what has come.

use std::{
    io::{self, ErrorKind, Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use crate::{ConnectionError, PeerStream, ServerAddress};

/// How much is read at a time; grows with what has already come of a long answer.
const READ_BYTES: usize = 16 * 1024;

/// Bytes in both directions. What is put into the outbox waits until [`flush`](Self::flush).
#[derive(Debug)]
pub(crate) struct BufferedSocket {
    stream: PeerStream<TcpStream>,
    /// For each read and write.
    timeout: Duration,
    pub(crate) outbox: Vec<u8>,
    inbox: Vec<u8>,
    /// How many bytes of `inbox` have been handed out.
    used: usize,
    /// How many bytes of `inbox` have been read.
    filled: usize,
}

impl BufferedSocket {
    pub(crate) fn connect(
        address: &ServerAddress,
        timeout: Duration,
    ) -> Result<Self, ConnectionError> {
        Ok(Self {
            stream: address.connect(timeout)?,
            timeout,
            outbox: Vec::new(),
            inbox: Vec::new(),
            used: 0,
            filled: 0,
        })
    }

    /// Writes what waits.
    pub(crate) fn flush(&mut self) -> Result<(), ConnectionError> {
        if !self.outbox.is_empty() {
            let written = self.stream.write_all(&self.outbox);
            let flushed = written.and_then(|()| self.stream.flush());
            flushed.map_err(|error| self.explained(error))?;
            self.outbox.clear();
        }
        Ok(())
    }

    /// What has come and was not handed out.
    pub(crate) fn waiting(&self) -> &[u8] {
        &self.inbox[self.used..self.filled]
    }

    /// Hands out the first bytes of what waits.
    pub(crate) fn take(&mut self, length: usize) -> &[u8] {
        let start = self.used;
        self.used += length;
        &self.inbox[start..self.used]
    }

    /// Reads at least one byte more. Room doubles with what waits, so that an answer of n bytes is
    /// looked at log n times and not n times.
    pub(crate) fn read(&mut self) -> Result<(), ConnectionError> {
        self.inbox.copy_within(self.used..self.filled, 0);
        self.filled -= self.used;
        self.used = 0;
        let room = self.filled + self.filled.max(READ_BYTES);
        if self.inbox.len() < room {
            self.inbox.resize(room, 0);
        }
        let read = self.stream.read(&mut self.inbox[self.filled..]);
        let read = read.map_err(|error| self.explained(error))?;
        if read == 0 {
            return Err(ConnectionError::Closed);
        }
        self.filled += read;
        Ok(())
    }

    /// Linux reports a timeout of a socket as `WouldBlock`.
    fn explained(&self, error: io::Error) -> ConnectionError {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => ConnectionError::TimedOut(self.timeout),
            _ => error.into(),
        }
    }
}
