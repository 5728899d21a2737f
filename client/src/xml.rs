//! One blocking connection to the XML door.

use std::{
    fmt,
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    ops::Range,
    time::Duration,
};

use turnstile_xml::{Framed, client::frame};

/// How much is read at a time; grows with what has already come of a long answer.
const READ_BYTES: usize = 16 * 1024;

/// A blocking connection. Requests may be pipelined: each is answered by one
/// [`receive`](Self::receive), in order. What is put into the [`outbox`](Self::outbox) waits in
/// memory until then, so that a batch costs one write; the caller bounds the batch.
///
/// After an error the connection is of no further use.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    outbox: Vec<u8>,
    inbox: Vec<u8>,
    /// How many bytes of `inbox` have been handed out.
    used: usize,
    /// How many bytes of `inbox` have been read.
    filled: usize,
}

/// Why a connection gave no answer.
#[derive(Debug)]
pub enum Error {
    /// The socket failed, or a timeout passed.
    Io(io::Error),
    /// The peer closed the connection while an answer was owed.
    Closed,
    /// The peer sent something that begins no answer.
    Broken,
}

impl Connection {
    /// Connects with `TCP_NODELAY`; `timeout` bounds the connect, and each later read and write.
    ///
    /// # Errors
    /// Nobody listens at the address, or not in time.
    pub fn connect(address: SocketAddr, timeout: Duration) -> Result<Self, Error> {
        let stream = TcpStream::connect_timeout(&address, timeout)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(timeout))?;
        stream.set_write_timeout(Some(timeout))?;
        Ok(Self {
            stream,
            outbox: Vec::new(),
            inbox: Vec::new(),
            used: 0,
            filled: 0,
        })
    }

    /// Where requests are appended, whole ones, as by [`turnstile_xml::client::Outgoing`].
    pub const fn outbox(&mut self) -> &mut Vec<u8> {
        &mut self.outbox
    }

    /// Sends what is queued and waits for the XML of the next answer.
    ///
    /// # Errors
    /// The connection failed.
    pub fn receive(&mut self) -> Result<&[u8], Error> {
        if !self.outbox.is_empty() {
            self.stream.write_all(&self.outbox)?;
            self.outbox.clear();
        }
        let answer = self.wait()?;
        Ok(&self.inbox[answer])
    }

    /// Where the next answer lies in the inbox, when it has come whole.
    fn wait(&mut self) -> Result<Range<usize>, Error> {
        loop {
            match frame(&self.inbox[self.used..self.filled]) {
                Framed::Frame { xml, consumed } => {
                    let start = self.used;
                    self.used += consumed;
                    return Ok(start + xml.start..start + xml.end);
                }
                Framed::Incomplete { .. } => self.read()?,
                Framed::Broken(_) => return Err(Error::Broken),
            }
        }
    }

    /// Reads at least one byte more. Room doubles with what waits, so that an answer of n bytes is
    /// looked at log n times and not n times.
    fn read(&mut self) -> Result<(), Error> {
        self.inbox.copy_within(self.used..self.filled, 0);
        self.filled -= self.used;
        self.used = 0;
        let room = self.filled + self.filled.max(READ_BYTES);
        if self.inbox.len() < room {
            self.inbox.resize(room, 0);
        }
        let read = self.stream.read(&mut self.inbox[self.filled..])?;
        if read == 0 {
            return Err(Error::Closed);
        }
        self.filled += read;
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the connection failed: {error}"),
            Self::Closed => f.write_str("the server closed the connection"),
            Self::Broken => f.write_str("the server sent what begins no answer in XML"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Closed | Self::Broken => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write as _, net::TcpListener, thread};

    use super::*;

    fn peer(pieces: Vec<Vec<u8>>) -> (Connection, thread::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let peer = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_nodelay(true).unwrap();
            for piece in pieces {
                stream.write_all(&piece).unwrap();
            }
        });
        let connection = Connection::connect(address, Duration::from_secs(20)).unwrap();
        (connection, peer)
    }

    #[test]
    fn answers_come_in_order_whole_and_with_or_without_a_length() {
        let long = format!("<results>{}</results>", "<created id=\"7\"/>".repeat(5_000));
        let (mut connection, peer) = peer(vec![
            b"<results></res".to_vec(),
            b"ults>\n19\n<results></results>".to_vec(),
            long.clone().into_bytes(),
        ]);
        assert_eq!(connection.receive().unwrap(), b"<results></results>");
        assert_eq!(connection.receive().unwrap(), b"<results></results>");
        assert_eq!(connection.receive().unwrap(), long.as_bytes());
        assert!(matches!(connection.receive(), Err(Error::Closed)));
        peer.join().unwrap();
    }

    #[test]
    fn what_begins_no_answer_ends_the_connection() {
        let (mut connection, peer) = peer(vec![b"HTTP/1.1 400".to_vec()]);
        assert!(matches!(connection.receive(), Err(Error::Broken)));
        peer.join().unwrap();
    }
}
